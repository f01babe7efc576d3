// SPDX-License-Identifier: BSD-3-Clause
// Queries, on both sides of the wire: see query.hpp.
#include "core/query/query.hpp"

#include <pmix/muster.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "core/exchange/namespaces.hpp"
#include "core/groups/group_server.hpp"
#include "core/query/answers.hpp"
#include "core/query/group_query.hpp"
#include "core/query/query_server.hpp"
#include "core/query/query_turns.hpp"
#include "core/runtime/keys.hpp"
#include "framework/base/argv.hpp"
#include "framework/base/complete.hpp"

namespace muster {

pmix_status_t Queries::check() const {
    if (size_ == 0) return PMIX_ERR_BAD_PARAM;
    for (const pmix_query_t& query : *this) {
        if (argv_count(query.keys) == 0 || (query.nqual > 0 && query.qualifiers == nullptr))
            return PMIX_ERR_BAD_PARAM;
        const InfoView qualifiers{query.qualifiers, query.nqual};
        if (qualifiers.has(PMIX_PROCID) && (qualifiers.has(PMIX_NSPACE) || qualifiers.has(PMIX_RANK)))
            return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

pmix_status_t Queries::copy_of(const pmix_query_t* queries, size_t size, Queries& out) {
    if (queries == nullptr || size == 0) return PMIX_ERR_BAD_PARAM;
    // A copy would have no qualifiers, and no count of them.
    if (std::any_of(queries, queries + size,
                    [](const pmix_query_t& one) { return one.nqual > 0 && one.qualifiers == nullptr; }))
        return PMIX_ERR_BAD_PARAM;
    if (const pmix_status_t status = elements_complete(queries, size, PMIX_QUERY); status != PMIX_SUCCESS)
        return status;
    Queries copy;
    copy.data_ = static_cast<pmix_query_t*>(data_create_elements(size, PMIX_QUERY));
    if (copy.data_ == nullptr) return PMIX_ERR_NOMEM;
    if (const pmix_status_t status = data_copy_elements(copy.data_, queries, size, PMIX_QUERY);
        status != PMIX_SUCCESS) {
        std::free(std::exchange(copy.data_, nullptr));
        return status;
    }
    copy.size_ = size;
    out = std::move(copy);
    return out.check();
}

pmix_status_t Queries::read(Unpacker& in, Queries& out) {
    void* values = nullptr;
    size_t count = 0;
    if (!in.counted(&values, count, PMIX_QUERY)) return in.error();
    Queries read;
    read.data_ = static_cast<pmix_query_t*>(values);
    read.size_ = count;
    out = std::move(read);
    return out.check();
}

size_t Queries::keys() const {
    size_t count = 0;
    for (const pmix_query_t& query : *this)
        count += argv_count(query.keys);
    return count;
}

void Queries::answer(const Known& known) {
    Place at;
    answer(known, at, [] { return false; });
}

bool Queries::answer(const Known& known, Place& at, const std::function<bool()>& enough) {
    size_t left = at.query;
    size_t next = left;
    bool cut = false, inside = false;
    for (; next < size_ && !cut; ++next) {
        pmix_query_t& query = data_[next];
        const size_t count = argv_count(query.keys);
        size_t keys_left = at.key;
        size_t k = keys_left;
        while (k < count && !cut) {
            char* key = std::exchange(query.keys[k++], nullptr);
            if (known(key, {query.qualifiers, query.nqual})) {
                std::free(key);
            } else {
                query.keys[keys_left++] = key;
            }
            cut = (k < count || next + 1 < size_) && enough();
        }
        inside = k < count;
        at.key = inside ? keys_left : 0;
        // Unread queries follow the unknown ones.
        for (; k < count; ++k)
            query.keys[keys_left++] = std::exchange(query.keys[k], nullptr);
        if (keys_left == 0) {
            data_destruct_elements(&query, 1, PMIX_QUERY);
        } else if (left++ != next) {
            std::swap(data_[left - 1], query);
        }
    }
    at.query = inside ? left - 1 : left;
    for (; left != next && next < size_; ++next)
        std::swap(data_[left++], data_[next]);
    size_ = next < size_ ? size_ : left;
    if (size_ == 0) std::free(std::exchange(data_, nullptr));
    return !cut;
}

pmix_status_t query_status(size_t wanted, size_t found) {
    if (found == 0) return PMIX_ERR_NOT_FOUND;
    return found < wanted ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS;
}

bool answer_without_init(const char* key, Info& found) {
    // No level of the Standard's ABI is declared stable or provisional yet.
    if (!key_is(key, PMIX_QUERY_STABLE_ABI_VERSION) && !key_is(key, PMIX_QUERY_PROVISIONAL_ABI_VERSION))
        return false;
    found.add(key, "0.0");
    return true;
}

namespace {

struct Arguments {
    pmix_proc_t proc{};
    Queries queries;
};

/// Joins earlier results with the host's (or server's) answer for the rest.
/// `missing`: how many keys were found not to have one.
HostDone join(Info found, size_t wanted, HostDone done, size_t missing = 0) {
    auto kept = std::make_shared<Info>(std::move(found));
    return [kept, wanted, missing, done = std::move(done)](HostAnswer answer) {
        if (!is_good(answer.status)) answer.info.clear();
        const size_t before = kept->size();
        for (size_t i = 0; i < answer.info.size(); ++i)
            kept->add_move(answer.info[i]);
        answer.info = std::move(*kept);
        // A host may put several results into one entry, so its word on its part counts.
        if (answer.status != PMIX_SUCCESS && before > 0) answer.status = query_status(wanted, before);
        if (answer.status == PMIX_SUCCESS && answer.info.empty()) answer.status = PMIX_ERR_NOT_FOUND;
        if (answer.status == PMIX_SUCCESS && missing > 0) answer.status = PMIX_ERR_PARTIAL_SUCCESS;
        done(std::move(answer));
    };
}

/// A query that this server processes, in turns if it is long.
struct Answers : std::enable_shared_from_this<Answers> {
    Answers(QueryServer& the_server, const Caller& the_caller, std::shared_ptr<QueryTurns> the_turns,
            Queries the_queries, HostDone the_done)
        : server(the_server),
          caller(the_caller),
          turns(std::move(the_turns)),
          queries(std::move(the_queries)),
          done(std::move(the_done)) {}

    QueryServer& server;
    const Caller caller;
    const std::shared_ptr<QueryTurns> turns;
    Queries queries;
    HostDone done;
    const size_t wanted = queries.keys();
    Queries::Place at;
    Info found;
    size_t seen = 0;  ///< number of counted entries of `found`

    void go_on();
    void ask_host();
};

void Answers::go_on() {
    turns->begin();
    const auto known = [&](const char* key, InfoView qualifiers) {
        const bool answered = answer_by_server(server, caller, key, qualifiers, found);
        if (seen < found.size()) turns->count({&found[seen], found.size() - seen});
        seen = found.size();
        return answered;
    };
    const bool all = queries.answer(known, at, [&] { return turns->is_too_much() || turns->is_over(); });
    if (!all && !turns->is_too_much()) {
        turns->later([self = shared_from_this()] { self->go_on(); });
        return;
    }
    turns->end();
    if (turns->is_too_much()) return turns->refuse(done);
    ask_host();
}

/// Whether this server answers all of these itself if it has the data.
bool are_stored_facts(const Queries& queries) {
    return std::ranges::all_of(queries, [](const pmix_query_t& query) {
        char** const end = query.keys + argv_count(query.keys);
        return std::all_of(query.keys, end, [&](const char* key) {
            return is_stored_fact(key, {query.qualifiers, query.nqual});
        });
    });
}

/// For the remaining queries.
void Answers::ask_host() {
    done = join(std::move(found), wanted, std::move(done));
    if (queries.size() == 0) return done({});
    if (are_stored_facts(queries)) {
        // A host that does not know the key cannot report the query as unsupported.
        done = [done = std::move(done)](HostAnswer answer) {
            if (answer.status == PMIX_ERR_NOT_SUPPORTED) answer.status = PMIX_ERR_NOT_FOUND;
            done(std::move(answer));
        };
    }
    done = complete(own_part(&server, &caller, queries), &server, queries, std::move(done));
    const auto upcall = server.host().module().query;
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    const auto kept = std::make_shared<Arguments>();
    kept->proc = caller.proc;
    kept->queries = std::move(queries);
    for (size_t i = 0; i < kept->queries.size(); ++i) {
        pmix_query_t& query = kept->queries.data()[i];
        Info qualifiers = Info::adopt(query.qualifiers, query.nqual);
        query.qualifiers = nullptr;
        query.nqual = 0;
        caller.add_identity(qualifiers);
        std::tie(query.qualifiers, query.nqual) = qualifiers.release();
    }
    const InfoView first{kept->queries.data()->qualifiers, kept->queries.data()->nqual};
    server.host().upcall("query", kept, server.host().bounded("query", caller.proc, first, std::move(done)),
                         [&](void* cbdata) {
                             return upcall(&kept->proc, kept->queries.data(), kept->queries.size(),
                                           Host::on_info, cbdata);
                         });
}

void query_by_host(QueryServer& server, const Caller& caller, std::optional<Asker> asker, Queries queries,
                   HostDone done) {
    const size_t wanted = queries.keys();
    const auto turns = std::make_shared<QueryTurns>(server, caller, std::move(asker));
    const auto rest = std::make_shared<Queries>(std::move(queries));
    answer_about_groups(
        server, caller, *rest, turns,
        [&server, caller, turns, rest, wanted, done = std::move(done)](std::optional<Info> found) mutable {
            if (!found) return turns->refuse(done);
            if (rest->size() == 0) {
                HostAnswer answer;
                answer.status = query_status(wanted, found->size());
                answer.info = std::move(*found);
                return done(std::move(answer));
            }
            // Each key that was taken out has an answer, or is not found.
            const size_t missing = wanted - rest->keys() - found->size();
            if (!found->empty() || missing > 0)
                done = join(std::move(*found), wanted, std::move(done), missing);
            std::make_shared<Answers>(server, caller, turns, std::move(*rest), std::move(done))->go_on();
        });
}

/// Attributes of this library's own levels are known here; a server of another library would answer for
/// itself. `refused`: the server cannot be asked.
bool answer_attributes_for(const PeerVersion& server, const char* key, InfoView qualifiers, Info& found,
                           bool& refused) {
    if (server.can(Capability::OwnAttributes) || !key_is(key, PMIX_QUERY_ATTRIBUTE_SUPPORT)) return false;
    const bool names_level = std::ranges::any_of(qualifiers, [](const pmix_info_t& one) {
        return key_is_any(one.key, {PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES, PMIX_CLIENT_FUNCTIONS,
                                    PMIX_TOOL_FUNCTIONS});
    });
    if (names_level && answer_attribute_support(key, qualifiers,
                                                {PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES,
                                                 PMIX_CLIENT_FUNCTIONS, PMIX_TOOL_FUNCTIONS},
                                                nullptr, found))
        return true;
    // Servers of OpenPMIx 4.2 end with a segmentation fault.
    if (server.at_least(5, 0)) return false;
    refused = true;
    return true;
}

void ask_server(Exchange& exchange, Upstream& client, Queries queries, HostDone done) {
    const size_t wanted = queries.keys();
    bool refused = false;
    Info found;
    queries.answer([&](const char* key, InfoView qualifiers) {
        if (answer_without_init(key, found) || answer_from_store(exchange.store(), key, qualifiers, found))
            return true;
        if (key_is_any(key, {PMIX_CLIENT_FUNCTIONS, PMIX_TOOL_FUNCTIONS}) &&
            answer_alone(exchange, key, qualifiers, found))
            return true;
        if (answer_attributes_for(client.server_version(), key, qualifiers, found, refused)) return true;
        // Servers of other libraries do not all know the groups that they made.
        return !client.server_version().can(Capability::GroupNames) &&
               exchange.groups().answer(key, qualifiers, found);
    });
    if (refused) {
        done = [done = std::move(done)](HostAnswer answer) {
            if (answer.status == PMIX_SUCCESS) answer.status = PMIX_ERR_PARTIAL_SUCCESS;
            if (answer.status == PMIX_ERR_NOT_FOUND) answer.status = PMIX_ERR_NOT_SUPPORTED;
            done(std::move(answer));
        };
    }
    done = join(std::move(found), wanted, std::move(done));
    if (queries.size() == 0) return done({});
    Packer message = client.packer(Command::Query);
    message.counted(queries.data(), queries.size(), PMIX_QUERY);
    // Facts about one process are kept for the next time.
    pmix_proc_t proc{};
    const bool keep = queries.size() == 1 &&
                      subject({queries.begin()->qualifiers, queries.begin()->nqual}, proc) &&
                      proc.rank != PMIX_RANK_WILDCARD;
    ask(client, std::move(message), read_infos,
        [&exchange, keep, proc, done = std::move(done)](HostAnswer answer) {
            for (const pmix_info_t& info : answer.info) {
                if (keep && lasts(info.key) && !key_is(info.key, PMIX_QUERY_RESULTS))
                    exchange.store().post(proc, PMIX_INTERNAL, info.key, info.value);
            }
            done(std::move(answer));
        });
}

}  // namespace

namespace {

/// Replaces processes that are named by a group and a rank in it; errors are those of GroupTable::expand().
pmix_status_t translate(const GroupTable& groups, Queries& queries, size_t& room) {
    pmix_status_t status = PMIX_SUCCESS;
    for (size_t i = 0; i < queries.size() && status == PMIX_SUCCESS; ++i) {
        pmix_query_t& query = queries.data()[i];
        Info qualifiers = Info::adopt(query.qualifiers, query.nqual);
        status = groups.expand(qualifiers, room);
        std::tie(query.qualifiers, query.nqual) = qualifiers.release();
    }
    return status;
}

}  // namespace

void query(Exchange& exchange, QueryServer* own, Queries queries, HostDone done) {
    size_t room = SIZE_MAX;
    if (const pmix_status_t status = translate(exchange.groups(), queries, room); status != PMIX_SUCCESS)
        return done(answer_of(status));
    // Each process searches by itself, limited to what it may read, and at no server's cost.
    Info servers;
    const size_t all = queries.keys();
    queries.answer([&](const char* key, InfoView qualifiers) {
        return key_is(key, PMIX_QUERY_AVAIL_SERVERS) && answer_alone(exchange, key, qualifiers, servers);
    });
    if (!servers.empty()) {
        done = join(std::move(servers), all, std::move(done));
        if (queries.size() == 0) return done({});
    }
    if (Upstream* client = exchange.upstream()) {
        if (Info part = own_part(nullptr, nullptr, queries); !part.empty())
            done = complete(std::move(part), nullptr, queries, std::move(done));
        ask_server(exchange, *client, std::move(queries), std::move(done));
    } else if (own != nullptr) {
        query_by_host(*own, Caller::host(exchange.runtime()), std::nullopt, std::move(queries),
                      std::move(done));
    } else {
        const size_t wanted = queries.keys();
        HostAnswer answer;
        queries.answer([&](const char* key, InfoView qualifiers) {
            return answer_alone(exchange, key, qualifiers, answer.info);
        });
        answer.status = query_status(wanted, answer.info.size());
        done(std::move(answer));
    }
}

void serve_queries(CommandTable& commands, QueryServer& server) {
    commands.add(Command::Query, [&server](const Request& request) {
        Queries queries;
        pmix_status_t status = Queries::read(request.in, queries);
        if (status == PMIX_SUCCESS)
            status = request.expand_infos(
                server.log(), server.runtime().parameters().size("server_base_max_request_memory"),
                [&](size_t& room) { return translate(server.groups(), queries, room); });
        if (status != PMIX_SUCCESS) return request.peer->reply_status(request.tag, status);
        query_by_host(server, Caller::of(*request.peer), request.asker(), std::move(queries),
                      reply_to(request, write_infos));
    });
}

}  // namespace muster
