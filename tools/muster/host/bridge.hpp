// SPDX-License-Identifier: BSD-3-Clause
// What the upcalls of a node's server have in common: the way from the library's thread to the node's loop,
// and from there to the launcher, where the services of the host live (services/service.hpp).
#pragma once

#include <pmix_server.h>

#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/muster/exchange/message.hpp"
#include "tools/muster/jobs/job.hpp"
#include "tools/muster/loop.hpp"

namespace muster::launcher {

/// A node, as its upcalls see it. All functions but loop() are for the node's loop.
class Bridge {
  public:
    using Done = std::function<void(pmix_status_t status, std::string_view bytes)>;
    using OnTell = std::function<void(Reader& in)>;

    virtual ~Bridge() = default;
    virtual Loop& loop() = 0;
    /// This node's number.
    virtual uint32_t number() const = 0;
    /// The hosts' names, by number.
    virtual const std::vector<std::string>& node_names() const = 0;
    /// The name of this node's server.
    virtual ProcName server() const = 0;
    /// Whether this is one of the servers themselves.
    virtual bool is_server(const ProcName& proc) const = 0;
    /// The job of a namespace, or null when this node does not know it.
    virtual const Job* job_of(std::string_view nspace) const = 0;
    /// Asks the launcher's service for `topic`; `done` is called once, with PMIX_ERR_LOST_CONNECTION when no
    /// answer comes any more.
    virtual void ask(Topic topic, const Writer& body, Done done) = 0;
    /// Tells the service without waiting for an answer.
    virtual void tell(Topic topic, const Writer& body) = 0;
    /// What to do with what the service tells this node.
    virtual void on_tell(Topic topic, OnTell handler) = 0;

    /// A name for a tool that has none, unique among all nodes.
    virtual ProcName name_of_tool() = 0;

    // Of the node's own processes.
    virtual void client_connected(const ProcName& proc) = 0;
    virtual void client_finalized(const ProcName& proc) = 0;
    virtual void abort(const ProcName& proc, int status, const std::string& text,
                       const std::vector<ProcName>& targets) = 0;
    virtual void fence(std::vector<ProcName> procs, uint32_t seconds, std::string bytes, Done done) = 0;
    virtual void direct_modex(const ProcName& proc, uint32_t seconds, Done done) = 0;
};

/// The node of this process: the C interface has no place for an owner. Set before PMIx_server_init.
Bridge& bridge();
void set_bridge(Bridge& node);

/// Runs `work` of an upcall; no exception reaches the library.
template <typename Work>
pmix_status_t guarded(Work work) noexcept {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    } catch (...) {
        return PMIX_ERROR;
    }
}

ProcName name_of(const pmix_proc_t& proc);
std::vector<ProcName> names_of(const pmix_proc_t procs[], size_t count);
pmix_proc_t to_pmix(const ProcName& name);

/// A number of any integer type that PMIx has; nothing for other types.
std::optional<int64_t> integer_of(const pmix_value_t& value);
/// A boolean attribute: true also where it has no value.
bool is_true(const pmix_info_t& info);
/// The text of a string value, "" for anything else.
std::string text_of(const pmix_value_t& value);
/// The attribute of that key, or null.
const pmix_info_t* find_info(const pmix_info_t info[], size_t count, const char* key);
/// The processes that an event is for (PMIX_EVENT_CUSTOM_RANGE); none where it does not say.
std::vector<ProcName> targets_of(const pmix_info_t info[], size_t count);
/// PMIX_TIMEOUT in seconds, 0 where there is none; nothing where it is no such number.
std::optional<uint32_t> timeout_of(const pmix_info_t info[], size_t count);

/// `count` elements of a PMIx type in the library's own form, for another node's library.
std::string packed(const void* elements, size_t count, pmix_data_type_t type);

/// Attributes that were read from such bytes; frees them.
class UnpackedInfo {
  public:
    explicit UnpackedInfo(std::string_view bytes);
    ~UnpackedInfo();
    UnpackedInfo(const UnpackedInfo&) = delete;
    UnpackedInfo& operator=(const UnpackedInfo&) = delete;
    bool ok() const { return ok_; }
    pmix_info_t* data() { return data_; }
    size_t size() const { return size_; }

  private:
    pmix_info_t* data_ = nullptr;
    size_t size_ = 0;
    bool ok_ = false;
};

/// An answer that has only a status, for a callback of the library; null callbacks are left out.
Bridge::Done done_op(pmix_op_cbfunc_t callback, void* data);

/// Posts `work` to the node's loop. For upcalls, on the library's thread.
inline void on_loop(Loop::Task work) {
    bridge().loop().post(std::move(work));
}

}  // namespace muster::launcher
