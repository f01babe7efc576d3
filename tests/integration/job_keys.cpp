// SPDX-License-Identifier: BSD-3-Clause
// Run as a job by a launcher (muster): checks that the host has given its processes all data that the
// Standard requires, and some optional data; then runs collectives over all. Rank 0 lists the met
// requirements at the end.
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

pmix_proc_t self;
bool bad = false;

pmix_status_t get(pmix_rank_t rank, const char* key, std::vector<pmix_info_t> infos, pmix_value_t** value) {
    pmix_info_t optional;
    memset(&optional, 0, sizeof optional);
    bool yes = true;
    PMIx_Info_load(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    infos.push_back(optional);
    pmix_proc_t target = self;
    target.rank = rank;
    return PMIx_Get(&target, key, infos.data(), infos.size(), value);
}

void release(pmix_value_t* value) {
    PMIx_Value_destruct(value);
    free(value);
}

/// Whether the key exists; reports a missing required key.
bool there(bool required, pmix_rank_t rank, const char* key, const std::vector<pmix_info_t>& infos = {}) {
    pmix_value_t* value = nullptr;
    const pmix_status_t status = get(rank, key, infos, &value);
    if (status == PMIX_SUCCESS) {
        release(value);
        return true;
    }
    if (required) {
        printf("rank %u: no %s of rank %d: %s\n", self.rank, key, static_cast<int>(rank),
               PMIx_Error_string(status));
        bad = true;
    }
    return false;
}

uint32_t number(pmix_rank_t rank, const char* key, const std::vector<pmix_info_t>& infos = {}) {
    pmix_value_t* value = nullptr;
    if (get(rank, key, infos, &value) != PMIX_SUCCESS) return UINT32_MAX;
    uint32_t found = UINT32_MAX;
    switch (value->type) {
        case PMIX_UINT32:
            found = value->data.uint32;
            break;
        case PMIX_UINT16:
            found = value->data.uint16;
            break;
        case PMIX_PROC_RANK:
            found = value->data.rank;
            break;
        default:
            break;
    }
    release(value);
    return found;
}

void need(bool holds, const char* what) {
    if (holds) return;
    printf("rank %u: %s\n", self.rank, what);
    bad = true;
}

pmix_info_t directive(const char* key, const void* value, pmix_data_type_t type) {
    pmix_info_t info;
    memset(&info, 0, sizeof info);
    PMIx_Info_load(&info, key, value, type);
    return info;
}

pmix_status_t fence(const std::vector<pmix_info_t>& infos) {
    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    return PMIx_Fence(&all, 1, infos.data(), infos.size());
}

std::string text(pmix_rank_t rank, const char* key) {
    pmix_value_t* value = nullptr;
    if (get(rank, key, {}, &value) != PMIX_SUCCESS) return {};
    std::string found = value->type == PMIX_STRING ? value->data.string : "";
    release(value);
    return found;
}

/// A text of the job that the server provides only on request.
std::string ask(const char* key, pmix_data_type_t type) {
    pmix_proc_t job = self;
    job.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&job, key, nullptr, 0, &value) != PMIX_SUCCESS) return {};
    std::string found;
    if (value->type == type)
        found = type == PMIX_STRING ? value->data.string : std::string(value->data.bo.bytes);
    release(value);
    return found;
}

std::vector<std::string> split(const std::string& list, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : list) {
        if (c == separator) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

/// How many words a comma list of the job has.
uint32_t words(const char* key) {
    const std::string list = text(PMIX_RANK_WILDCARD, key);
    return list.empty() ? 0 : static_cast<uint32_t>(split(list, ',').size());
}

/// The maps name each rank once, on the node where it runs.
void check_maps(uint32_t size) {
    const pmix_rank_t job = PMIX_RANK_WILDCARD;
    need(text(job, PMIX_NODE_MAP_RAW) == text(job, PMIX_NODE_LIST), "PMIX_NODE_MAP is not the list of nodes");
    // In their compact form, as the host provides them: with the name of the generator.
    for (const char* key : {PMIX_NODE_MAP, PMIX_PROC_MAP})
        need(ask(key, PMIX_REGEX).find(':') != std::string::npos, key);
    const std::vector<std::string> nodes = split(text(job, PMIX_NODE_MAP_RAW), ',');
    const std::vector<std::string> groups = split(text(job, PMIX_PROC_MAP_RAW), ';');
    need(nodes.size() == groups.size(), "PMIX_PROC_MAP has another number of nodes than PMIX_NODE_MAP");
    std::vector<uint32_t> seen(size);
    for (size_t node = 0; node < std::min(nodes.size(), groups.size()); ++node) {
        for (const std::string& rank : split(groups[node], ',')) {
            const auto number = static_cast<pmix_rank_t>(atoi(rank.c_str()));
            need(number < size && ++seen[number] == 1, "PMIX_PROC_MAP names a rank that is none, or twice");
            need(text(number, PMIX_HOSTNAME) == nodes[node], "PMIX_PROC_MAP has a rank on another node");
        }
    }
    need(std::find(seen.begin(), seen.end(), 0U) == seen.end(), "PMIX_PROC_MAP lacks a rank");
}

/// The data of the own node is the data of the ranks on it.
void check_own_node(uint32_t size) {
    const pmix_rank_t job = PMIX_RANK_WILDCARD;
    std::vector<pmix_rank_t> local;
    for (pmix_rank_t rank = 0; rank < size; ++rank) {
        if (text(rank, PMIX_HOSTNAME) == text(self.rank, PMIX_HOSTNAME)) local.push_back(rank);
    }
    need(number(job, PMIX_LOCAL_SIZE) == local.size(), "PMIX_LOCAL_SIZE is not the number of local ranks");
    need(number(job, PMIX_NODE_SIZE) == local.size(), "PMIX_NODE_SIZE is not the number of local ranks");
    need(number(job, PMIX_LOCALLDR) == local.front(), "PMIX_LOCALLDR is not the lowest local rank");
    const std::vector<std::string> peers = split(text(job, PMIX_LOCAL_PEERS), ',');
    need(peers.size() == local.size(), "PMIX_LOCAL_PEERS has another number of ranks");
    for (size_t i = 0; i < std::min(peers.size(), local.size()); ++i)
        need(peers[i] == std::to_string(local[i]), "PMIX_LOCAL_PEERS are not the local ranks");
    need(split(text(job, PMIX_LOCAL_CPUSETS), ':').size() == local.size(),
         "PMIX_LOCAL_CPUSETS has another number of sets");
    pmix_value_t* value = nullptr;
    if (get(job, PMIX_LOCAL_PROCS, {}, &value) == PMIX_SUCCESS) {
        const pmix_data_array_t* array = value->type == PMIX_DATA_ARRAY ? value->data.darray : nullptr;
        const bool fits = array != nullptr && array->type == PMIX_PROC && array->size == local.size();
        need(fits, "PMIX_LOCAL_PROCS has another number of processes");
        for (size_t i = 0; fits && i < local.size(); ++i) {
            const pmix_proc_t& proc = static_cast<const pmix_proc_t*>(array->array)[i];
            need(proc.rank == local[i] && strcmp(proc.nspace, self.nspace) == 0,
                 "PMIX_LOCAL_PROCS are not the local processes");
        }
        release(value);
    }
    value = nullptr;
    if (get(job, PMIX_AVAIL_PHYS_MEMORY, {}, &value) == PMIX_SUCCESS) {
        const auto there =
            static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
        need(value->type == PMIX_UINT64 && value->data.uint64 > 0 && value->data.uint64 <= there,
             "PMIX_AVAIL_PHYS_MEMORY is no part of the memory");
        release(value);
    }
    need(text(job, PMIX_HWLOC_XML_V2).find("<topology") != std::string::npos, "PMIX_HWLOC_XML_V2");
    need(ask(PMIX_HWLOC_XML_V1, PMIX_STRING).find("<topology") != std::string::npos, "PMIX_HWLOC_XML_V1");
}

}  // namespace

int main(int argc, char** argv) {
    alarm(60);
    if (argc != 2 && argc != 3) return 2;
    const auto size = static_cast<uint32_t>(atoi(argv[1]));
    if (const pmix_status_t status = PMIx_Init(&self, nullptr, 0); status != PMIX_SUCCESS) {
        printf("PMIx_Init: %s\n", PMIx_Error_string(status));
        return 1;
    }
    std::string covers = "SRV-20 SRV-29 SRV-35";
    const auto group = [&](const char* id, bool required, pmix_rank_t rank,
                           const std::vector<const char*>& keys) {
        bool all = true;
        for (const char* key : keys)
            all = there(required, rank, key) && all;
        if (all && covers.find(id) == std::string::npos) covers += std::string(" ") + id;
    };
    const pmix_rank_t job = PMIX_RANK_WILDCARD;
    group("SRV-09", true, job, {PMIX_NSPACE, PMIX_JOBID, PMIX_NODE_LIST, PMIX_UNIV_SIZE, PMIX_JOB_SIZE});
    group("SRV-10", true, job, {PMIX_MAX_PROCS, PMIX_NUM_NODES, PMIX_NODE_MAP_RAW, PMIX_PROC_MAP_RAW});
    group("SRV-11", true, job, {PMIX_LOCAL_SIZE, PMIX_LOCAL_PEERS, PMIX_LOCAL_CPUSETS});
    group("SRV-14", true, job, {PMIX_SERVER_NSPACE, PMIX_SERVER_RANK, PMIX_NPROC_OFFSET, PMIX_SESSION_ID});
    group("SRV-15", true, job,
          {PMIX_ALLOCATED_NODELIST, PMIX_JOB_NUM_APPS, PMIX_MAPBY, PMIX_RANKBY, PMIX_BINDTO});
    group("SRV-17", true, job,
          {PMIX_AVAIL_PHYS_MEMORY, PMIX_HWLOC_XML_V2, PMIX_LOCALLDR, PMIX_NODE_SIZE, PMIX_LOCAL_PROCS});
    check_maps(size);
    check_own_node(size);
    need(number(job, PMIX_NUM_NODES) == words(PMIX_NODE_LIST),
         "PMIX_NUM_NODES is not the length of the list");
    need(number(job, PMIX_UNIV_SIZE) >= size, "the session has no room for the job");
    need(number(job, PMIX_MAX_PROCS) == size, "the most processes are not those of the job");
    need(words(PMIX_LOCAL_PEERS) == number(job, PMIX_LOCAL_SIZE), "PMIX_LOCAL_PEERS are not the local ones");
    for (const char* key : {PMIX_CLUSTER_ID, PMIX_RM_NAME, PMIX_RM_VERSION, PMIX_SERVER_HOSTNAME,
                            PMIX_NUM_ALLOCATED_NODES, PMIX_USERID, PMIX_GRPID, PMIX_CPUS_PER_PROC})
        there(true, job, key);
    for (pmix_rank_t rank = 0; rank < size; ++rank) {
        group("SRV-12", true, rank, {PMIX_RANK, PMIX_LOCAL_RANK, PMIX_NODE_RANK, PMIX_NODEID});
        group("SRV-13", true, rank, {PMIX_APPNUM, PMIX_APP_RANK});
        group("SRV-18", true, rank, {PMIX_GLOBAL_RANK, PMIX_HOSTNAME});
        need(number(rank, PMIX_RANK) == rank, "PMIX_RANK of a rank is not that rank");
        need(number(rank, PMIX_GLOBAL_RANK) == rank, "PMIX_GLOBAL_RANK in the first job is not the rank");
        if (argc == 3) there(true, rank, PMIX_PSET_NAME);
    }
    bool yes = true;
    uint32_t in_apps = 0;
    for (uint32_t app = 0; app < number(job, PMIX_JOB_NUM_APPS); ++app) {
        const std::vector<pmix_info_t> of{directive(PMIX_APP_INFO, &yes, PMIX_BOOL),
                                          directive(PMIX_APPNUM, &app, PMIX_UINT32)};
        if (there(true, job, PMIX_APPLDR, of) && there(true, job, PMIX_APP_SIZE, of) && app == 0)
            covers += " SRV-16";
        const uint32_t app_size = number(job, PMIX_APP_SIZE, of);
        in_apps += app_size;
        need(number(self.rank, PMIX_APPNUM) != app || number(self.rank, PMIX_APP_RANK) < app_size,
             "the rank in the application is not below its size");
    }
    need(in_apps == size, "the applications are not the job");
    // The own node's topology, and no guess for another node.
    for (pmix_rank_t rank = 0; rank < size; ++rank) {
        pmix_value_t* topology = nullptr;
        const pmix_status_t status = get(rank, PMIX_TOPOLOGY2, {}, &topology);
        const bool here = number(rank, PMIX_NODEID) == number(self.rank, PMIX_NODEID);
        need(status == (here ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND), "whether there is a topology of the node");
        if (status != PMIX_SUCCESS) continue;
        need(topology->type == PMIX_TOPO && strncmp(topology->data.topo->source, "hwloc", 5) == 0 &&
                 topology->data.topo->topology != nullptr,
             "the topology");
        release(topology);
        // By pointer it is one value for all callers, which do not free it.
        const bool by_pointer = true;
        const std::vector<pmix_info_t> pointer{directive(PMIX_GET_POINTER_VALUES, &by_pointer, PMIX_BOOL)};
        pmix_value_t* first = nullptr;
        pmix_value_t* second = nullptr;
        need(get(rank, PMIX_TOPOLOGY2, pointer, &first) == PMIX_SUCCESS &&
                 get(rank, PMIX_TOPOLOGY2, pointer, &second) == PMIX_SUCCESS && first == second,
             "one topology for all who ask for a pointer");
    }
    // The server is asked: other jobs may have their part in the session.
    pmix_value_t* nodes = nullptr;
    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    const pmix_info_t session = directive(PMIX_SESSION_INFO, &yes, PMIX_BOOL);
    const uint32_t own_nodes = number(job, PMIX_NUM_NODES);
    need(PMIx_Get(&all, PMIX_NUM_NODES, &session, 1, &nodes) == PMIX_SUCCESS && nodes->type == PMIX_UINT32 &&
             nodes->data.uint32 >= own_nodes,
         "the number of nodes of the session");
    if (nodes != nullptr) release(nodes);
    need(number(job, PMIX_NUM_NODES) == own_nodes, "the session's nodes are taken for the job's");
    need(number(job, PMIX_JOB_SIZE) == size, "PMIX_JOB_SIZE is not the size of the job");
    need(number(self.rank, PMIX_LOCAL_RANK) < number(job, PMIX_LOCAL_SIZE),
         "the local rank is not below the local size");

    // All post, all fence, each reads the data of the others, without a request: the data arrived with the
    // fence.
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_UINT32;
    value.data.uint32 = self.rank * 7;
    need(PMIx_Put(PMIX_GLOBAL, "test.answer", &value) == PMIX_SUCCESS && PMIx_Commit() == PMIX_SUCCESS,
         "put and commit");
    need(fence({directive(PMIX_COLLECT_DATA, &yes, PMIX_BOOL)}) == PMIX_SUCCESS,
         "fence with collection of data");
    for (pmix_rank_t rank = 0; rank < size; ++rank) {
        pmix_value_t* got = nullptr;
        pmix_proc_t target = self;
        target.rank = rank;
        const pmix_info_t immediate = directive(PMIX_IMMEDIATE, &yes, PMIX_BOOL);
        const pmix_status_t status = PMIx_Get(&target, "test.answer", &immediate, 1, &got);
        need(status == PMIX_SUCCESS && got->data.uint32 == rank * 7, "a value that the fence has collected");
        if (status == PMIX_SUCCESS) release(got);
    }
    if (!bad) covers += " SRV-21 SRV-22 SRV-67 SRV-70 SRV-71";

    // Rank 0 does not call a fence until all others have timed out: it synchronises with each of them in a
    // fence of two.
    const auto meet = [](pmix_rank_t other) {
        pmix_proc_t two[2] = {self, self};
        two[0].rank = 0;
        two[1].rank = other;
        need(PMIx_Fence(two, 2, nullptr, 0) == PMIX_SUCCESS, "a fence for two");
    };
    if (self.rank != 0) {
        const int seconds = 1;
        const pmix_status_t status = fence({directive(PMIX_TIMEOUT, &seconds, PMIX_INT)});
        need(status == PMIX_ERR_TIMEOUT, "a fence with a time-out, which one process does not join");
        meet(self.rank);
    }
    for (pmix_rank_t rank = 1; self.rank == 0 && rank < size; ++rank)
        meet(rank);
    need(fence({}) == PMIX_SUCCESS, "the fence after it");
    if (!bad && size > 1) covers += " SRV-68";
    if (PMIx_Finalize(nullptr, 0) != PMIX_SUCCESS) return 1;
    if (bad) return 1;
    if (self.rank == 0) printf("COVERS %s\n", covers.c_str());
    return 0;
}
