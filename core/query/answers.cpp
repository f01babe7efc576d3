// SPDX-License-Identifier: BSD-3-Clause
// Answers to queries: see answers.hpp.
#include "core/query/answers.hpp"

#include <pmix/muster.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/discovery/rendezvous_search.hpp"
#include "core/events/events.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/group_server.hpp"
#include "core/iof/forwarder.hpp"
#include "core/iof/forwarding.hpp"
#include "core/modex/modex.hpp"
#include "core/query/group_query.hpp"
#include "core/query/query.hpp"
#include "core/query/query_server.hpp"
#include "core/query/support.hpp"
#include "core/query/waits.hpp"
#include "core/runtime/get_directives.hpp"
#include "core/runtime/keys.hpp"
#include "core/runtime/lookup.hpp"
#include "framework/base/words.hpp"

namespace muster {

bool lasts(const char* key) {
    return std::strncmp(key, "pmix.qry.", 9) != 0 && !key_is(key, PMIX_PROC_STATE_STATUS) &&
           !key_is(key, PMIX_TIME_REMAINING) && !key_is(key, PMIX_CLIENT_AVG_MEMORY) &&
           !key_is(key, PMIX_DAEMON_MEMORY) && !key_is(key, PMIX_PSET_NAMES) &&
           !key_is(key, PMIX_GROUP_NAMES);
}

bool subject(InfoView qualifiers, pmix_proc_t& proc) {
    if (const pmix_proc_t* given = qualifiers.proc(PMIX_PROCID)) {
        proc = *given;
        return true;
    }
    const pmix_value_t* nspace = qualifiers.value(PMIX_NSPACE);
    if (nspace == nullptr) return false;
    if (nspace->type == PMIX_PROC_NSPACE && nspace->data.nspace != nullptr) {
        proc = make_proc(nspace_view(*nspace->data.nspace), PMIX_RANK_WILDCARD);
    } else if (const char* name = value_as_string(nspace)) {
        proc = make_proc(name, PMIX_RANK_WILDCARD);
    } else {
        return false;
    }
    if (const auto rank = qualifiers.number<pmix_rank_t>(PMIX_RANK)) proc.rank = *rank;
    return true;
}

bool is_stored_fact(const char* key, InfoView qualifiers) {
    pmix_proc_t proc;
    return lasts(key) && !qualifiers.is_true(PMIX_QUERY_REFRESH_CACHE) && subject(qualifiers, proc);
}

bool answer_from_store(const Gds& store, const char* key, InfoView qualifiers, Info& found) {
    pmix_proc_t proc;
    if (!is_stored_fact(key, qualifiers) || !subject(qualifiers, proc)) return false;
    Info directives;
    for (const pmix_info_t& qualifier : qualifiers) {
        if (!key_is(qualifier.key, PMIX_PROCID) && !key_is(qualifier.key, PMIX_NSPACE) &&
            !key_is(qualifier.key, PMIX_RANK))
            directives.add_copy(qualifier);
    }
    Lookup lookup = lookup_of(proc.nspace, proc.rank, key);
    GetDirectives ignored;
    if (read_get_directives(directives, lookup, ignored) != PMIX_SUCCESS) return false;
    bool answered = false;
    store.find(lookup, [&](const Found& value) {
        if (!answered) answered = found.add_copy(key, value.value) == PMIX_SUCCESS;
    });
    return answered;
}

namespace {

/// Adds a name that a comma list lacks.
void add_word(std::string& list, std::string_view word) {
    if (on_list(list, word)) return;
    if (!list.empty()) list += ',';
    list += word;
}

/// The list of a level's functions; false if this process does not know it.
bool answer_functions(const char* level, QueryServer* server, Info& found) {
    std::string list;
    if (key_is(level, PMIX_HOST_FUNCTIONS) && server != nullptr) {
        for (const std::string& name : functions_of_host(server->host().module()))
            add_word(list, name);
    } else {
        list = functions_of_level(level);
        std::ranges::replace(list, ' ', ',');
        if (list.empty()) return false;
    }
    found.add(level, list.c_str());
    return true;
}

constexpr const char* kLevels[] = {PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES,  PMIX_SERVER_ATTRIBUTES,
                                   PMIX_HOST_ATTRIBUTES,   PMIX_CLIENT_FUNCTIONS, PMIX_TOOL_FUNCTIONS,
                                   PMIX_SERVER_FUNCTIONS,  PMIX_HOST_FUNCTIONS};

bool answer_level(const char* level, const char* functions, QueryServer* server, Info& found) {
    if (key_is_any(level,
                   {PMIX_CLIENT_FUNCTIONS, PMIX_TOOL_FUNCTIONS, PMIX_SERVER_FUNCTIONS, PMIX_HOST_FUNCTIONS}))
        return answer_functions(level, server, found);
    return add_attribute_support(level, functions, server == nullptr ? nullptr : &server->host_attributes(),
                                 found);
}

}  // namespace

bool answer_attribute_support(const char* key, InfoView qualifiers, std::initializer_list<const char*> own,
                              QueryServer* server, Info& found) {
    if (!key_is(key, PMIX_QUERY_ATTRIBUTE_SUPPORT)) return false;
    bool all = true, named = false;
    Info answers;
    for (const pmix_info_t& qualifier : qualifiers) {
        for (const char* level : kLevels) {
            if (!key_is(qualifier.key, level)) continue;
            named = true;
            all = all && key_is_any(level, own) &&
                  answer_level(level, value_as_string(&qualifier.value), server, answers);
        }
    }
    for (const char* level : own) {
        if (!named) answer_level(level, nullptr, server, answers);
    }
    // If only a part is known here, the server that knows all is asked.
    if (!all || answers.empty()) return false;
    for (size_t i = 0; i < answers.size(); ++i)
        found.add_move(answers[i]);
    return true;
}

namespace {

/// One key that is asked for.
struct Asked {
    Exchange& exchange;
    QueryServer* server;  ///< null in other processes
    const Caller* caller;
    const char* key;
    InfoView qualifiers;
    Info& found;
};

/// The part that answers a row.
enum class By : uint8_t {
    Process,     ///< a process without a server, and servers
    Server,      ///< servers
    LoneServer,  ///< servers whose host answers no queries
};

struct Row {
    By by;
    std::vector<const char*> keys;
    std::vector<const char*> qualifiers;
    bool (*answer)(const Asked& asked);
};

bool attribute_support(const Asked& asked) {
    if (asked.server == nullptr) {
        return answer_attribute_support(asked.key, asked.qualifiers,
                                        {PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES, PMIX_CLIENT_FUNCTIONS,
                                         PMIX_TOOL_FUNCTIONS, PMIX_SERVER_FUNCTIONS},
                                        nullptr, asked.found);
    }
    return answer_attribute_support(
        asked.key, asked.qualifiers,
        {PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES, PMIX_SERVER_ATTRIBUTES, PMIX_HOST_ATTRIBUTES,
         PMIX_CLIENT_FUNCTIONS, PMIX_TOOL_FUNCTIONS, PMIX_SERVER_FUNCTIONS, PMIX_HOST_FUNCTIONS},
        asked.server, asked.found);
}

/// A host may know sets that it did not define here, and gives their names in the form that its users expect
/// (docs/decisions/0046).
bool process_sets(const Asked& asked) {
    QueryServer& server = *asked.server;
    const bool by_host =
        server.host().module().query != nullptr &&
        (server.group_server().process_sets().all().empty() || key_is(asked.key, PMIX_QUERY_PSET_NAMES));
    return !by_host && server.group_server().process_sets().answer(asked.caller->uid, asked.key,
                                                                   asked.qualifiers, asked.found);
}

bool members_of_group(const Asked& asked) {
    const char* group = asked.qualifiers.string(PMIX_GROUP_ID);
    return (group == nullptr || sees_group(*asked.server, *asked.caller, group)) &&
           asked.server->groups().answer(asked.key, asked.qualifiers, asked.found);
}

bool namespaces(const Asked& asked) {
    std::string list;
    for (const auto& [name, nspace] : asked.server->namespaces()) {
        if (nspace->registered && !nspace->synthetic &&
            asked.server->namespaces().may_use(asked.caller->uid, make_proc(name, PMIX_RANK_WILDCARD)))
            add_word(list, name);
    }
    asked.found.add(asked.key, list.c_str());
    return true;
}

bool own_list(const Asked& asked);

/// Qualifiers of keys in the store.
const std::vector<const char*>& store_qualifiers() {
    static const std::vector<const char*> all = {
        PMIX_PROCID,     PMIX_NSPACE,   PMIX_RANK,     PMIX_SESSION_INFO,
        PMIX_SESSION_ID, PMIX_JOB_INFO, PMIX_APP_INFO, PMIX_APPNUM,
        PMIX_NODE_INFO,  PMIX_NODEID,   PMIX_HOSTNAME, PMIX_QUERY_REFRESH_CACHE};
    return all;
}

const std::vector<Row>& rows() {
    static const std::vector<Row> all = {
        {By::Process,
         {PMIX_QUERY_STABLE_ABI_VERSION, PMIX_QUERY_PROVISIONAL_ABI_VERSION},
         {},
         [](const Asked& asked) { return answer_without_init(asked.key, asked.found); }},
        {By::Process,
         {PMIX_QUERY_AVAIL_SERVERS},
         {},
         [](const Asked& asked) {
             // Each process searches by itself, limited to what it may read.
             return asked.caller == nullptr &&
                    answer_available_servers(asked.exchange.runtime(), asked.key, asked.found);
         }},
        {By::Process,
         {PMIX_QUERY_ATTRIBUTE_SUPPORT},
         {std::begin(kLevels), std::end(kLevels)},
         attribute_support},
        {By::Process,
         {PMIX_CLIENT_FUNCTIONS, PMIX_TOOL_FUNCTIONS, PMIX_SERVER_FUNCTIONS},
         {},
         [](const Asked& asked) { return answer_functions(asked.key, asked.server, asked.found); }},
        {By::Server,
         {PMIX_HOST_FUNCTIONS},
         {},
         [](const Asked& asked) { return answer_functions(asked.key, asked.server, asked.found); }},
        {By::Process, {PMIX_QUERY_SUPPORTED_KEYS, PMIX_QUERY_SUPPORTED_QUALIFIERS}, {}, own_list},
        {By::Server,
         {MUSTER_WAITS},
         {PMIX_NSPACE},
         [](const Asked& asked) {
             return answer_waits(*asked.server, *asked.caller, asked.key, asked.qualifiers, asked.found);
         }},
        {By::Server, {PMIX_QUERY_NUM_PSETS, PMIX_QUERY_PSET_NAMES}, {PMIX_RANGE}, process_sets},
        {By::Server, {PMIX_QUERY_PSET_MEMBERSHIP}, {PMIX_PSET_NAME}, process_sets},
        // Their numbers and names together with the host's: see answer_about_groups().
        {By::Server,
         {PMIX_QUERY_NUM_GROUPS, PMIX_QUERY_GROUP_NAMES},
         {PMIX_RANGE, PMIX_QUERY_LOCAL_ONLY, PMIX_TIMEOUT},
         members_of_group},
        {By::Server,
         {PMIX_GROUP_NAMES},
         {PMIX_PROCID, PMIX_RANGE, PMIX_QUERY_LOCAL_ONLY, PMIX_TIMEOUT},
         [](const Asked&) { return false; }},
        {By::Server, {PMIX_QUERY_GROUP_MEMBERSHIP}, {PMIX_GROUP_ID}, members_of_group},
        {By::Server,
         {MUSTER_GROUPS},
         {},
         [](const Asked& asked) {
             return answer_groups(*asked.server, *asked.caller, asked.key, asked.found);
         }},
        {By::Server,
         {MUSTER_GROUPS_INVITED},
         {PMIX_GROUP_ID},
         [](const Asked& asked) {
             return asked.server->group_server().invitation_watch().answer(asked.caller->uid, asked.key,
                                                                           asked.qualifiers, asked.found);
         }},
        {By::Server,
         {MUSTER_EVENTS_DROPPED},
         {},
         [](const Asked& asked) {
             asked.found.add(asked.key, asked.server->events().dropped());
             return true;
         }},
        {By::Server,
         {MUSTER_IOF_DROPPED},
         {},
         [](const Asked& asked) {
             asked.found.add(asked.key, static_cast<size_t>(asked.server->forwarder().dropped() +
                                                            asked.server->forwarding().dropped()));
             return true;
         }},
        {By::LoneServer, {PMIX_QUERY_NAMESPACES}, {}, namespaces},
    };
    return all;
}

bool host_answers(QueryServer* server) {
    return server != nullptr && server->host().module().query != nullptr;
}

/// Whether a row is answered here.
bool is_ours(const Row& row, QueryServer* server) {
    return row.by == By::Process || (server != nullptr && (row.by == By::Server || !host_answers(server)));
}

const Row* row_of(const char* key, QueryServer* server) {
    for (const Row& row : rows()) {
        const bool has = std::ranges::any_of(row.keys, [&](const char* one) { return key_is(key, one); });
        if (has && is_ours(row, server)) return &row;
    }
    return nullptr;
}

std::string joined(const std::vector<const char*>& words) {
    std::string list;
    for (const char* word : words)
        add_word(list, word);
    return list;
}

/// The keys, or the qualifiers, of all rows; empty for other keys.
std::string list_for(const char* key, QueryServer* server) {
    std::string list;
    if (key_is(key, PMIX_QUERY_SUPPORTED_QUALIFIERS)) list = joined(store_qualifiers());
    if (list.empty() && !key_is(key, PMIX_QUERY_SUPPORTED_KEYS)) return list;
    for (const Row& row : rows()) {
        if (!is_ours(row, server)) continue;
        for (const char* word : key_is(key, PMIX_QUERY_SUPPORTED_KEYS) ? row.keys : row.qualifiers)
            add_word(list, word);
    }
    return list;
}

bool own_list(const Asked& asked) {
    // With the host's, where it answers.
    if (host_answers(asked.server)) return false;
    asked.found.add(asked.key, list_for(asked.key, asked.server).c_str());
    return true;
}

/// The qualifiers of one key, where the query is about these (PMIX_QUERY_SUPPORTED_QUALIFIERS among them).
bool answer_qualifiers(const Asked& asked, const Row* row) {
    if (row == nullptr && host_answers(asked.server)) return false;
    asked.found.add(asked.key, joined(row != nullptr ? row->qualifiers : store_qualifiers()).c_str());
    return true;
}

bool answer_here(const Asked& asked) {
    const Row* row = row_of(asked.key, asked.server);
    if (asked.qualifiers.is_true(PMIX_QUERY_SUPPORTED_QUALIFIERS)) return answer_qualifiers(asked, row);
    return row != nullptr && row->answer(asked);
}

}  // namespace

bool answer_alone(Exchange& exchange, const char* key, InfoView qualifiers, Info& found) {
    return answer_here({exchange, nullptr, nullptr, key, qualifiers, found}) ||
           answer_from_store(exchange.store(), key, qualifiers, found);
}

bool answer_by_server(QueryServer& server, const Caller& caller, const char* key, InfoView qualifiers,
                      Info& found) {
    if (answer_here({server.exchange(), &server, &caller, key, qualifiers, found})) return true;
    pmix_proc_t proc{};
    const bool allowed =  // the host may know more
        !subject(qualifiers, proc) ||
        (server.namespaces().may_use(caller.uid, proc) &&
         (key_is_reserved(key) || server.modex().may_give(caller.proc, caller.uid, proc)));
    return allowed && answer_from_store(server.runtime().store(), key, qualifiers, found);
}

Info own_part(QueryServer* server, const Caller* caller, const Queries& queries) {
    Info own;
    for (const pmix_query_t& query : queries) {
        const InfoView qualifiers{query.qualifiers, query.nqual};
        if (qualifiers.is_true(PMIX_QUERY_SUPPORTED_QUALIFIERS)) continue;
        for (char** key = query.keys; *key != nullptr; ++key) {
            if (const std::string list = list_for(*key, server); !list.empty()) {
                own.add(*key, list.c_str());
            } else if (server != nullptr) {
                server->group_server().process_sets().answer(caller->uid, *key, qualifiers, own);
            }
        }
    }
    return own;
}

namespace {

/// Adds an own item to the answer of the host or the server.
void merge(pmix_info_t& own, Info& answer) {
    const auto same = std::find_if(answer.data(), answer.data() + answer.size(),
                                   [&](const pmix_info_t& one) { return key_is(one.key, own.key); });
    if (same == answer.data() + answer.size()) return answer.add_move(own);
    const bool lists = key_is_any(own.key, {PMIX_QUERY_SUPPORTED_KEYS, PMIX_QUERY_SUPPORTED_QUALIFIERS});
    const char* theirs = value_as_string(&same->value);
    if (!lists || theirs == nullptr) return;
    std::string list = theirs;
    for (const std::string_view word : words_of(value_as_string(&own.value), ','))
        add_word(list, word);
    Info whole;
    whole.add(own.key, list.c_str());
    std::swap(whole[0], *same);
}

}  // namespace

HostDone complete(Info own, QueryServer* server, const Queries& queries, HostDone done) {
    bool known = !own.empty();
    for (const pmix_query_t& query : queries) {
        for (char** key = query.keys; *key != nullptr; ++key)
            known = known || row_of(*key, server) != nullptr;
    }
    if (!known) return done;
    return [kept = std::make_shared<Info>(std::move(own)), wanted = queries.keys(),
            done = std::move(done)](HostAnswer answer) {
        const bool some = answer.status == PMIX_SUCCESS || answer.status == PMIX_ERR_PARTIAL_SUCCESS;
        if (!some && answer.status != PMIX_ERR_NOT_FOUND && answer.status != PMIX_ERR_NOT_SUPPORTED)
            return done(std::move(answer));
        if (!some) answer.info.clear();
        for (size_t i = 0; i < kept->size(); ++i)
            merge((*kept)[i], answer.info);
        if (answer.status != PMIX_SUCCESS) answer.status = query_status(wanted, answer.info.size());
        done(std::move(answer));
    };
}

}  // namespace muster
