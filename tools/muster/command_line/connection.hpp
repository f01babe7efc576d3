// SPDX-License-Identifier: BSD-3-Clause
// A tool's connection to a running muster, and its requests: for the commands of muster that are tools
// (tool_commands.hpp). Public API only; blocking, on the caller's thread. Failures throw std::runtime_error
// with a sentence.
#pragma once

#include <pmix_common.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// A whole number above zero, or nothing.
std::optional<int> positive_number(std::string_view text);

/// Throws where the status is no success: "WHAT: PMIX_ERR_...".
void check(pmix_status_t status, const std::string& what);

/// The connection, while it lasts.
class Connection {
  public:
    /// `server`: a process ID or a URI; "": the one that the library finds.
    explicit Connection(const std::string& server);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    const pmix_proc_t& self() const { return self_; }

  private:
    pmix_proc_t self_{};
};

/// The result of a query; the destructor frees it.
struct Found {
    pmix_info_t* info = nullptr;
    size_t count = 0;
    Found() = default;
    Found(const Found&) = delete;
    Found& operator=(const Found&) = delete;
    ~Found();
};

/// One key, about one namespace or (if it is empty) about none.
pmix_status_t query(const char* key, const std::string& nspace, Found& found);

/// The namespaces of the jobs that run.
std::vector<std::string> jobs();

/// Calls `visit` for each process of the job; for none if the job has ended meanwhile.
void for_each_process(const std::string& nspace, const std::function<void(const pmix_proc_info_t&)>& visit);

}  // namespace muster::launcher
