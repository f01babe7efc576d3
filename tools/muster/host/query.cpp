// SPDX-License-Identifier: BSD-3-Clause
// The upcall query: the launcher's data about jobs, and groups across all nodes, as PMIx values. The
// library has answered its own keys before (process sets, groups of its node, attributes).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/spawn.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/jobs/topology.hpp"
#include "tools/muster/services/job_status.hpp"

namespace muster::launcher {
namespace {

/// One key that is asked for, with its qualifiers.
struct Question {
    std::string key;
    std::string nspace;            ///< "" if none is named
    std::optional<uint32_t> rank;  ///< of PMIX_RANK, PMIX_PROCID
    std::string hostname;
    std::string group;
    std::string allocation;          ///< by its name
    std::string allocation_request;  ///< by the name of its request
    std::optional<uint32_t> node;
    std::optional<uint32_t> range;  ///< pmix_data_range_t
    bool extremes;
    bool about_qualifiers;  ///< of the key, instead of its answer
    bool lacks_qualifier;   ///< one is required and not known here

    bool means(uint32_t wanted) const { return !rank || *rank == PMIX_RANK_WILDCARD || *rank == wanted; }
    bool on_node(uint32_t number) const {
        return (!node || *node == number) &&
               (hostname.empty() || this_node().plan().names[number] == hostname);
    }
};

const std::vector<const char*> kKeys = {PMIX_QUERY_NAMESPACES,
                                        PMIX_QUERY_NAMESPACE_INFO,
                                        PMIX_QUERY_JOB_STATUS,
                                        PMIX_QUERY_PROC_TABLE,
                                        PMIX_QUERY_LOCAL_PROC_TABLE,
                                        PMIX_QUERY_SPAWN_SUPPORT,
                                        PMIX_QUERY_DEBUG_SUPPORT,
                                        PMIX_QUERY_MEMORY_USAGE,
                                        PMIX_QUERY_SUPPORTED_KEYS,
                                        PMIX_QUERY_AUTHORIZATIONS,
                                        PMIX_QUERY_NUM_GROUPS,
                                        PMIX_QUERY_GROUP_NAMES,
                                        PMIX_QUERY_GROUP_MEMBERSHIP,
                                        PMIX_QUERY_PSET_NAMES,
                                        PMIX_GROUP_NAMES,
                                        PMIX_CMD_LINE,
                                        PMIX_PROC_PID,
                                        PMIX_PROC_STATE_STATUS,
                                        PMIX_QUERY_RESOLVE_NODE,
                                        PMIX_QUERY_RESOLVE_PEERS,
                                        PMIX_QUERY_ALLOCATION,
                                        PMIX_QUERY_ALLOC_STATUS,
                                        PMIX_QUERY_AVAILABLE_SLOTS,
                                        PMIX_NUM_SLOTS,
                                        PMIX_QUERY_SUPPORTED_QUALIFIERS};

bool is_about_groups(const std::string& key) {
    return key == PMIX_QUERY_NUM_GROUPS || key == PMIX_QUERY_GROUP_NAMES ||
           key == PMIX_QUERY_GROUP_MEMBERSHIP || key == PMIX_GROUP_NAMES;
}

bool is_about_slots(const std::string& key) {
    return key == PMIX_QUERY_ALLOCATION || key == PMIX_QUERY_AVAILABLE_SLOTS || key == PMIX_NUM_SLOTS;
}

/// Whether all jobs matter for the answer, whichever is named.
bool is_about_all_jobs(const std::string& key) {
    return key == PMIX_QUERY_NAMESPACES || key == PMIX_QUERY_ALLOC_STATUS || is_about_slots(key);
}

Question question_of(const char* key, const pmix_query_t& query, const ProcName& requestor) {
    const Infos qualifiers(query.qualifiers, query.nqual);
    Question question{key,
                      qualifiers.text(PMIX_NSPACE),
                      qualifiers.integer(PMIX_RANK),
                      qualifiers.text(PMIX_HOSTNAME),
                      qualifiers.text(PMIX_GROUP_ID),
                      qualifiers.text(PMIX_ALLOC_ID),
                      qualifiers.text(PMIX_ALLOC_REQ_ID),
                      qualifiers.integer(PMIX_NODEID),
                      qualifiers.integer(PMIX_RANGE),
                      qualifiers.is_true(PMIX_QUERY_REPORT_MINMAX),
                      qualifiers.is_true(PMIX_QUERY_SUPPORTED_QUALIFIERS),
                      false};
    for (const ProcName& name : qualifiers.procs(PMIX_PROCID)) {
        question.nspace = name.nspace;
        question.rank = name.rank;
    }
    if (question.key == PMIX_QUERY_ALLOC_STATUS && question.nspace.empty())
        question.nspace = requestor.nspace;
    question.lacks_qualifier = check_required("query", qualifiers) != PMIX_SUCCESS;
    return question;
}

/// The resident memory of a process, in MB.
float memory_of(int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
    uint64_t size = 0, resident = 0;
    if (!(file >> size >> resident)) return 0;
    return static_cast<float>(static_cast<double>(resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) /
                              1e6);
}

/// Answers all questions of one upcall from the launcher's answers.
class Answers {
  public:
    Answers(std::vector<JobStatus> jobs, std::vector<Allocation> allocations, std::vector<KnownGroup> groups)
        : jobs_(std::move(jobs)), allocations_(std::move(allocations)), groups_(std::move(groups)) {}

    /// False if there is nothing to report.
    bool add(const Question& question);
    InfoList take() { return std::move(infos_); }

  private:
    const JobStatus* job(const Question& question) const {
        for (const JobStatus& job : jobs_) {
            if (job.nspace == question.nspace) return &job;
        }
        return nullptr;
    }
    /// A comma list.
    void list(const std::string& key, const auto& words) {
        infos_.text(key.c_str(), fmt::format("{}", fmt::join(words, ",")));
    }
    bool proc_table(const Question& question, bool local);
    bool namespace_info(const Question& question);
    bool memory(const Question& question);
    bool of_process(const Question& question);
    bool resolve(const Question& question);
    bool groups(const Question& question);
    bool slots(const Question& question);
    bool allocation(const Question& question);
    const Allocation* find_allocation(const Question& question) const;

    std::vector<JobStatus> jobs_;
    std::vector<Allocation> allocations_;
    std::vector<KnownGroup> groups_;
    InfoList infos_;
};

bool Answers::add(const Question& question) {
    const std::string& key = question.key;
    if (question.lacks_qualifier) return false;
    if (question.about_qualifiers) {
        if (std::ranges::find(kKeys, key) == kKeys.end()) return false;
        list(key, honoured_by("query"));
    } else if (key == PMIX_QUERY_NAMESPACES) {
        std::vector<std::string> names;
        for (const JobStatus& one : jobs_) {
            if (!one.ended) names.push_back(one.nspace);
        }
        list(key, names);
    } else if (key == PMIX_QUERY_NAMESPACE_INFO) {
        return namespace_info(question);
    } else if (key == PMIX_QUERY_JOB_STATUS) {
        const JobStatus* one = job(question);
        if (one == nullptr) return false;
        infos_.add(PMIX_QUERY_JOB_STATUS, &one->status, PMIX_STATUS);
    } else if (key == PMIX_QUERY_PROC_TABLE || key == PMIX_QUERY_LOCAL_PROC_TABLE) {
        return proc_table(question, key == PMIX_QUERY_LOCAL_PROC_TABLE);
    } else if (key == PMIX_QUERY_SPAWN_SUPPORT) {
        list(key, spawn_attributes());
    } else if (key == PMIX_QUERY_DEBUG_SUPPORT) {
        list(key, debug_attributes());
    } else if (key == PMIX_QUERY_AUTHORIZATIONS) {
        // Only the user's own processes and tools get here, and they may do all.
        infos_.text(PMIX_QUERY_AUTHORIZATIONS, "spawn,query,jobctrl,log,event");
    } else if (key == PMIX_CMD_LINE) {
        const JobStatus* one = job(question);
        if (one == nullptr) return false;
        infos_.text(PMIX_CMD_LINE, one->command);
    } else if (key == PMIX_PROC_PID || key == PMIX_PROC_STATE_STATUS) {
        return of_process(question);
    } else if (key == PMIX_QUERY_RESOLVE_NODE || key == PMIX_QUERY_RESOLVE_PEERS) {
        return resolve(question);
    } else if (key == PMIX_QUERY_PSET_NAMES) {
        // As text, as PRRTE does: Open MPI's sessions read nothing else (docs/decisions/0046).
        list(key, this_node().ranks().set_names(question.range == PMIX_RANGE_LOCAL));
    } else if (key == PMIX_QUERY_SUPPORTED_QUALIFIERS) {
        list(key, honoured_by("query"));
    } else if (key == PMIX_QUERY_SUPPORTED_KEYS) {
        list(key, kKeys);
    } else if (key == PMIX_QUERY_MEMORY_USAGE) {
        return memory(question);
    } else if (is_about_groups(key)) {
        return groups(question);
    } else if (is_about_slots(key)) {
        return slots(question);
    } else if (key == PMIX_QUERY_ALLOC_STATUS) {
        return allocation(question);
    } else {
        return false;
    }
    return true;
}

bool Answers::groups(const Question& question) {
    std::vector<const char*> names;
    for (const KnownGroup& group : groups_) {
        if (question.key == PMIX_QUERY_GROUP_MEMBERSHIP) {
            if (group.id != question.group) continue;
            infos_.procs(question.key.c_str(), group.members);
            return true;
        }
        const ProcName proc{question.nspace, question.rank.value_or(PMIX_RANK_WILDCARD)};
        const bool of_one = question.key == PMIX_GROUP_NAMES;
        if (!of_one || std::ranges::find(group.members, proc) != group.members.end())
            names.push_back(group.id.c_str());
    }
    if (question.key == PMIX_QUERY_GROUP_MEMBERSHIP) return false;
    if (question.key == PMIX_QUERY_NUM_GROUPS) {
        const size_t number = names.size();
        infos_.add(question.key.c_str(), &number, PMIX_SIZE);
        return true;
    }
    if (question.key == PMIX_GROUP_NAMES && names.empty()) return false;
    infos_.array(question.key.c_str(), names.data(), names.size(), PMIX_STRING);
    return true;
}

bool Answers::proc_table(const Question& question, bool local) {
    const JobStatus* one = job(question);
    if (one == nullptr) return false;
    const std::vector<std::string>& names = this_node().plan().names;
    std::vector<pmix_proc_info_t> table;
    for (uint32_t rank = 0; rank < one->procs.size(); ++rank) {
        const ProcStatus& proc = one->procs[rank];
        if (local && proc.node != this_node().plan().number) continue;
        if (!question.means(rank) || !question.on_node(proc.node)) continue;
        pmix_proc_info_t& entry = table.emplace_back();
        std::memset(&entry, 0, sizeof entry);
        entry.proc = to_pmix({one->nspace, rank});
        entry.hostname = const_cast<char*>(names[proc.node].c_str());  // copied below
        entry.executable_name = const_cast<char*>(one->programs[rank].c_str());
        entry.pid = static_cast<pid_t>(proc.pid);
        entry.exit_code = proc.exit_code;
        entry.state = static_cast<pmix_proc_state_t>(proc.state);
    }
    infos_.array(question.key.c_str(), table.data(), table.size(), PMIX_PROC_INFO);
    return true;
}

bool Answers::of_process(const Question& question) {
    const JobStatus* one = job(question);
    if (one == nullptr || question.rank.value_or(PMIX_RANK_WILDCARD) >= one->procs.size()) return false;
    const ProcStatus& proc = one->procs[*question.rank];
    if (question.key == PMIX_PROC_STATE_STATUS) {
        const auto state = static_cast<pmix_proc_state_t>(proc.state);
        infos_.add(PMIX_PROC_STATE_STATUS, &state, PMIX_PROC_STATE);
    } else {
        if (proc.pid == 0) return false;
        const auto pid = static_cast<pid_t>(proc.pid);
        infos_.add(PMIX_PROC_PID, &pid, PMIX_PID);
    }
    return true;
}

/// The nodes of a job, or its processes on the nodes that are meant.
bool Answers::resolve(const Question& question) {
    const JobStatus* one = job(question);
    if (one == nullptr) return false;
    std::set<uint32_t> nodes;
    std::vector<ProcName> peers;
    for (uint32_t rank = 0; rank < one->procs.size(); ++rank) {
        if (!question.on_node(one->procs[rank].node)) continue;
        nodes.insert(one->procs[rank].node);
        peers.push_back({one->nspace, rank});
    }
    if (peers.empty()) return false;
    if (question.key == PMIX_QUERY_RESOLVE_PEERS) {
        infos_.procs(PMIX_QUERY_RESOLVE_PEERS, peers);
        return true;
    }
    std::vector<std::string> names;
    for (const uint32_t node : nodes)
        names.push_back(this_node().plan().names[node]);
    list(question.key, names);
    return true;
}

/// By its name, by that of its request, or else that of the job. The newest of several requests of one name.
const Allocation* Answers::find_allocation(const Question& question) const {
    std::string id = question.allocation;
    if (const JobStatus* one = job(question);
        id.empty() && question.allocation_request.empty() && one != nullptr)
        id = one->allocation;
    const Allocation* found = nullptr;
    for (const Allocation& one : allocations_) {
        if (id.empty() ? one.request == question.allocation_request && !one.request.empty() : one.id == id)
            found = &one;
    }
    return found;
}

bool Answers::allocation(const Question& question) {
    const Allocation* found = find_allocation(question);
    if (found == nullptr) return false;
    infos_.text(PMIX_QUERY_ALLOC_STATUS, word_of(found->state));
    return true;
}

/// A node has as many slots as cores. Processes of all jobs but debuggers' occupy them.
bool Answers::slots(const Question& question) {
    const std::vector<std::string>& names = this_node().plan().names;
    std::vector<uint32_t> busy(names.size(), 0);
    for (const JobStatus& one : jobs_) {
        for (const ProcStatus& proc : one.procs) {
            if (!one.debugger && proc.state < PMIX_PROC_STATE_UNTERMINATED) ++busy[proc.node];
        }
    }
    const uint32_t each = Topology().count(Level::Core);
    uint32_t all = 0, free = 0;
    InfoList nodes;
    for (uint32_t node = 0; node < names.size(); ++node) {
        if (!question.on_node(node)) continue;
        all += each;
        free += each - std::min(each, busy[node]);
        InfoList facts;
        facts.text(PMIX_HOSTNAME, names[node]).u32(PMIX_NODEID, node).u32(PMIX_NUM_SLOTS, each);
        nodes.array(PMIX_NODE_INFO, facts);
    }
    if (all == 0) return false;
    if (question.key == PMIX_QUERY_ALLOCATION) {
        infos_.array(PMIX_QUERY_ALLOCATION, nodes);
    } else {
        infos_.u32(question.key.c_str(), question.key == PMIX_NUM_SLOTS ? all : free);
    }
    return true;
}

bool Answers::namespace_info(const Question& question) {
    InfoList jobs;
    for (const JobStatus& one : jobs_) {
        if (question.nspace.empty() ? one.ended : one.nspace != question.nspace) continue;
        InfoList facts;
        facts.text(PMIX_NSPACE, one.nspace).text(PMIX_CMD_LINE, one.command);
        facts.u32(PMIX_JOB_SIZE, static_cast<uint32_t>(one.procs.size()));
        jobs.array(PMIX_JOB_INFO_ARRAY, facts);
    }
    if (jobs.size() == 0) return false;
    infos_.array(PMIX_QUERY_NAMESPACE_INFO, jobs);
    return true;
}

/// For each node: its server's memory, and the mean over the selected processes.
bool Answers::memory(const Question& question) {
    const std::vector<std::string>& names = this_node().plan().names;
    std::map<uint32_t, std::vector<float>> samples;
    for (const JobStatus& one : jobs_) {
        if (!question.nspace.empty() && one.nspace != question.nspace) continue;
        for (uint32_t rank = 0; rank < one.procs.size(); ++rank) {
            const ProcStatus& proc = one.procs[rank];
            if (!question.means(rank) || !question.on_node(proc.node)) continue;
            if (proc.pid > 0 && proc.state < PMIX_PROC_STATE_UNTERMINATED)
                samples[proc.node].push_back(memory_of(proc.pid));
        }
    }
    if (samples.empty()) return false;
    InfoList nodes;
    for (const auto& [node, values] : samples) {
        InfoList facts;
        facts.text(PMIX_HOSTNAME, names[node]).u32(PMIX_NODEID, node);
        if (node == this_node().plan().number) {
            const float own = memory_of(getpid());
            facts.add(PMIX_DAEMON_MEMORY, &own, PMIX_FLOAT);
        }
        const float mean =
            std::accumulate(values.begin(), values.end(), 0.0F) / static_cast<float>(values.size());
        facts.add(PMIX_CLIENT_AVG_MEMORY, &mean, PMIX_FLOAT);
        if (question.extremes) {
            const auto [least, most] = std::minmax_element(values.begin(), values.end());
            facts.add(PMIX_MIN_VALUE, &*least, PMIX_FLOAT).add(PMIX_MAX_VALUE, &*most, PMIX_FLOAT);
        }
        nodes.array(PMIX_NODE_INFO_ARRAY, facts);
    }
    infos_.array(PMIX_QUERY_MEMORY_USAGE, nodes);
    return true;
}

void answer(const std::vector<Question>& questions, Answers answers, pmix_info_cbfunc_t callback,
            void* data) {
    size_t found = 0;
    for (const Question& question : questions)
        found += answers.add(question) ? 1 : 0;
    pmix_status_t status = found == questions.size() ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
    if (found == 0) status = PMIX_ERR_NOT_FOUND;
    give_infos(callback, data, status, answers.take());
}

pmix_status_t query(pmix_proc_t* requestor, pmix_query_t* queries, size_t count, pmix_info_cbfunc_t callback,
                    void* data) {
    std::vector<Question> questions;
    for (size_t i = 0; i < count; ++i) {
        for (char** key = queries[i].keys; key != nullptr && *key != nullptr; ++key)
            questions.push_back(question_of(*key, queries[i], name_of(*requestor)));
    }
    if (questions.empty()) return PMIX_ERR_BAD_PARAM;
    if (std::ranges::none_of(questions, [](const Question& question) {
            return std::ranges::find(kKeys, question.key) != kKeys.end();
        })) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    // One job's word is enough where all ask about it.
    std::string nspace = questions[0].nspace;
    for (const Question& question : questions) {
        if (question.nspace != nspace || is_about_all_jobs(question.key)) nspace.clear();
    }
    const bool groups = std::ranges::any_of(
        questions, [](const Question& question) { return is_about_groups(question.key); });
    auto ask = [questions = std::move(questions), nspace, callback,
                data](const std::vector<KnownGroup>& known) {
        this_node().link().ask(
            Topic::Query, pack(nspace), [questions, known, callback, data](pmix_status_t status, Buffer& in) {
                std::vector<JobStatus> jobs;
                std::vector<Allocation> allocations;
                if (status == PMIX_SUCCESS && !in.unpack(jobs, allocations)) status = PMIX_ERR_UNPACK_FAILURE;
                if (status != PMIX_SUCCESS) return callback(status, nullptr, 0, data, nullptr, nullptr);
                answer(questions, {std::move(jobs), std::move(allocations), known}, callback, data);
            });
    };
    on_loop([groups, ask = std::move(ask)] { groups ? list_groups(ask) : ask({}); });
    return PMIX_SUCCESS;
}

}  // namespace

const std::vector<const char*>& query_keys() {
    return kKeys;
}

void add_query_upcalls(pmix_server_module_t& module) {
    module.query = upcall<query>;
}

}  // namespace muster::launcher
