// SPDX-License-Identifier: BSD-3-Clause
// What a node's server is told of a job: the arrays that PMIx_server_register_nspace takes.
#pragma once

#include <pmix_server.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

/// An info array under construction; frees what it holds.
class InfoList {
  public:
    InfoList() = default;
    InfoList(InfoList&&) = default;
    InfoList(const InfoList&) = delete;
    InfoList& operator=(const InfoList&) = delete;
    ~InfoList();

    InfoList& text(const char* key, const std::string& value) { return add(key, value.c_str(), PMIX_STRING); }
    InfoList& u16(const char* key, uint32_t value);
    InfoList& u32(const char* key, uint32_t value) { return add(key, &value, PMIX_UINT32); }
    InfoList& rank(const char* key, uint32_t value) { return add(key, &value, PMIX_PROC_RANK); }
    InfoList& u64(const char* key, uint64_t value) { return add(key, &value, PMIX_UINT64); }
    InfoList& flag(const char* key, bool value) { return add(key, &value, PMIX_BOOL); }
    InfoList& add(const char* key, const void* value, pmix_data_type_t type);
    InfoList& array(const char* key, const InfoList& elements);
    InfoList& copy(const pmix_info_t& info);

    pmix_info_t* data() { return list_.data(); }
    size_t size() const { return list_.size(); }

  private:
    std::vector<pmix_info_t> list_;
};

/// The directories of a job on a node: <session>/node<N>/<job>, and below it one a rank.
struct JobDirs {
    std::string session, job;
    std::string of_rank(uint32_t rank) const { return job + "/" + std::to_string(rank); }
};

/// All that is known of `job`, as the server of node `node`, which is a process of `server_nspace`, is told.
InfoList job_data(const Job& job, uint32_t node, const JobDirs& dirs, const std::string& server_nspace);

/// PMIX_NODE_MAP and PMIX_PROC_MAP of the job.
void add_maps(InfoList& info, const Job& job);

/// "0,2-3" of a processor list.
std::string cpu_text(const std::vector<unsigned>& cpus);

}  // namespace muster::launcher
