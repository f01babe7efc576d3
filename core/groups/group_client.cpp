// SPDX-License-Identifier: BSD-3-Clause
// Groups from the side of a client: see group_client.hpp. Requests and replies have a form for each family of
// servers (docs/reference/wire.md, commands 24 and 28).
#include "core/groups/group_client.hpp"

#include <pmix/muster.h>

#include <algorithm>
#include <unordered_set>

#include "core/events/events.hpp"
#include "core/exchange/group_table.hpp"
#include "core/groups/construct.hpp"

namespace muster {
namespace {

/// Adds what a server of OpenPMIx 6.1 expects: the sender's name first in its group info, and its posted
/// data for other nodes.
Info prepare_for_6_1(Exchange& exchange, Info info) {
    Info prepared;
    for (size_t i = 0; i < info.size(); ++i) {
        const InfoView told = value_as_infos(&info[i].value);
        if (!key_is(info[i].key, PMIX_GROUP_INFO) || told.empty() || key_is(told[0].key, PMIX_PROCID)) {
            prepared.add_move(info[i]);
            continue;
        }
        Info named;
        named.add(PMIX_PROCID, exchange.self());
        named.add_copies(told);
        prepared.add(PMIX_GROUP_INFO, std::move(named).to_value());
    }
    Info posted;
    const pmix_scope_t scope = PMIX_REMOTE;
    posted.add(PMIX_PROCID, exchange.self());
    posted.add(PMIX_DATA_SCOPE, &scope, PMIX_SCOPE);
    exchange.store().find_posted(exchange.self(), View::Remote, [&](const Found& found) {
        if (!key_is_reserved(found.key)) posted.add_copy(found.key, found.value);
    });
    if (posted.size() > 2) prepared.add(PMIX_PROC_DATA, std::move(posted).to_value());
    return prepared;
}

struct Reply {
    std::vector<pmix_proc_t> members;  ///< empty from a server of this library: the participants
    std::optional<size_t> context_id;
    Info told;  ///< PMIX_GROUP_INFO of the members
    Info more;  ///< additions of a server of this library
};

bool read_infos_one_by_one(Unpacker& in, Info& out) {
    size_t count = 0;
    if (!in.size(count)) return false;
    for (size_t i = 0; i < count; ++i) {
        if (!in.info(out)) return false;
    }
    return true;
}

/// Reads a good reply after its status. Servers of other libraries may end it after any item.
bool read_reply(Exchange& exchange, const PeerVersion& version, Unpacker& in, Reply& reply) {
    size_t number = 0;
    if (in.at_end()) return true;
    if (!knows_group_members(version)) {
        if (!in.size(number)) return false;
        if (number != 0) reply.context_id = number;
        return true;
    }
    if (!in.procs(reply.members)) return false;
    if (in.at_end()) return true;
    if (!version.can(Capability::GroupDetails) && !version.at_least(6, 0)) {
        if (!in.size(number)) return false;
        // These servers have two values for an absent id.
        if (number != 0 && number != SIZE_MAX) reply.context_id = number;
        return true;
    }
    bool assigned = false;
    if (!in.boolean(assigned) || (assigned && !in.size(number))) return false;
    if (assigned) reply.context_id = number;
    if (!in.at_end() && !read_infos_one_by_one(in, reply.told)) return false;
    if (!version.can(Capability::GroupDetails)) return true;
    if (!in.infos(reply.more)) return false;
    while (!in.at_end()) {
        ByteView bytes;
        std::string nspace;
        if (!in.bytes(bytes)) return false;
        Unpacker job(in.format(), bytes);
        if (!job.string(nspace)) return false;
        if (const auto stored = exchange.store().unpack_job(nspace.c_str(), job); !stored) {
            MUSTER_LOG(exchange.log(), Error, "job data of %s: %s", nspace.c_str(),
                       stored.error().text.c_str());
            return false;
        }
    }
    return true;
}

void store_told(Exchange& exchange, const Reply& reply) {
    for (const pmix_info_t& one : reply.told) {
        if (key_is(one.key, PMIX_GROUP_INFO)) store_group_info(exchange.store(), one, reply.context_id);
        if (!key_is(one.key, PMIX_GROUP_INFO_ARRAY)) continue;
        for (const pmix_info_t& nested : value_as_infos(&one.value))
            store_group_info(exchange.store(), nested, reply.context_id);
    }
}

/// The members by rank, from servers of other libraries: these return them in another order, or not at all.
ProcListPtr by_rank(Exchange& exchange, std::vector<pmix_proc_t> members, std::vector<pmix_proc_t> asked) {
    const auto share = [](std::vector<pmix_proc_t> procs) {
        return std::make_shared<const ProcList>(std::move(procs));
    };
    if (!expand_wildcards(exchange.store(), asked)) asked.clear();
    if (members.empty() || !expand_wildcards(exchange.store(), members)) return share(std::move(asked));
    std::unordered_set<Proc> in;
    for (const pmix_proc_t& proc : members)
        in.emplace(proc);
    std::erase_if(asked, [&](const pmix_proc_t& proc) { return in.erase(Proc(proc)) == 0; });
    for (const pmix_proc_t& proc : members) {
        if (in.erase(Proc(proc)) != 0) asked.push_back(proc);
    }
    return share(std::move(asked));
}

/// Writes the note about the meeting into a request. The meeting is not used until the answer arrives.
Meeting::Away begin_by_server(const std::shared_ptr<Meeting>& meeting, MeetingNote& note, Packer& message) {
    note.maps = meeting != nullptr;
    note.pack(message);
    return meeting && !note.together ? meeting->by_server() : nullptr;
}

/// Whether they are ranks of our own job that is known, as a server of ours takes them in short.
bool are_ours(Exchange& exchange, const ProcList& list) {
    if (list.nspace() != nspace_view(exchange.self().nspace)) return false;
    const auto size = exchange.store().job_size(exchange.self().nspace);
    return size && list.size() <= *size && std::ranges::all_of(list.runs(), [&](const RankRun& run) {
               return uint64_t{run.first} + run.count <= *size;
           });
}

}  // namespace

GroupClient::GroupClient(Exchange& exchange, Events& events) : exchange_(exchange), events_(events) {}
GroupClient::~GroupClient() = default;

void GroupClient::construct(const std::string& id, ProcListPtr asked, Info info, MeetingNote note,
                            HostDone done, std::shared_ptr<bool> plain) {
    Upstream* client = exchange_.upstream();
    if (client == nullptr) return done(answer_of(PMIX_ERR_UNREACH));
    const PeerVersion version = client->server_version();
    const bool notify = info.view().is_true(PMIX_GROUP_NOTIFY_TERMINATION);
    const bool leads = info.view().is_true(PMIX_GROUP_LEADER);
    if (!version.can(Capability::GroupNames)) {
        std::vector<pmix_proc_t> expanded = asked->procs();
        if (!exchange_.groups().expand(expanded)) return done(answer_of(PMIX_ERR_BAD_PARAM));
        asked = std::make_shared<const ProcList>(std::move(expanded));
        if (version.at_least(6, 1)) info = prepare_for_6_1(exchange_, std::move(info));
    }
    const bool by_runs = version.can(Capability::GroupDetails) && are_ours(exchange_, *asked);
    Packer message = client->packer(by_runs ? Command::ConstructRuns : Command::GroupConstruct);
    message.string(id);
    if (by_runs)
        asked->pack_runs(message);
    else
        asked->pack(message);
    message.infos(info);
    Meeting::Away away = by_runs ? begin_by_server(meeting(), note, message) : nullptr;
    auto reply = std::make_shared<Reply>();
    ask(
        *client, std::move(message),
        [this, version, reply](Unpacker& in, HostAnswer& answer) {
            if (is_good(answer.status) && !read_reply(exchange_, version, in, *reply) && !in.failed())
                answer.status = PMIX_ERR_UNPACK_FAILURE;
        },
        [this, client, version, reply, id, notify, leads, asked = std::move(asked), away,
         commits = client->commits().sent(), plain = std::move(plain),
         done = std::move(done)](HostAnswer answer) mutable {
            if (version.can(Capability::SilentCommit) && answer.status != PMIX_ERR_LOST_CONNECTION)
                client->commits().settle(commits);
            away.reset();  // the next one may begin in the callback
            if (!is_good(answer.status)) return done(std::move(answer));
            if (plain) *plain = reply->members.empty() && reply->told.empty() && reply->more.empty();
            store_told(exchange_, *reply);
            Group group;
            group.id = id;
            if (!version.can(Capability::GroupDetails))
                asked = by_rank(exchange_, std::move(reply->members), asked->procs());
            else if (!reply->members.empty())
                asked = std::make_shared<const ProcList>(std::move(reply->members));
            group.set_members(*asked);
            group.context_id = reply->context_id;
            group.notify_termination = notify || reply->more.view().is_true(PMIX_GROUP_NOTIFY_TERMINATION);
            if (const pmix_proc_t* leader = reply->more.view().proc(PMIX_GROUP_LEADER)) {
                group.leader = *leader;
            } else if (leads) {
                group.leader = exchange_.self();
            }
            answer.info = group_results(id, *asked, group.context_id);
            exchange_.groups().add(std::move(group));
            done(std::move(answer));
        });
}

Info group_results(const std::string& id, const ProcList& members, std::optional<size_t> context_id) {
    Info results;
    results.reserve(context_id ? 3 : 2);
    results.add(PMIX_GROUP_ID, id.c_str());
    results.add(PMIX_GROUP_MEMBERSHIP, members.to_value());
    if (context_id) results.add(PMIX_GROUP_CONTEXT_ID, *context_id);
    return results;
}

namespace {

/// Sends the decisions of handlers: their statuses and results, in one list.
void send_decision(Exchange& exchange, const std::string& id, const pmix_proc_t& gone, const Info& results) {
    Upstream* client = exchange.upstream();
    if (client == nullptr) return;
    bool abort = false;
    for (const pmix_info_t& one : results)
        abort =
            abort || (one.value.type == PMIX_STATUS && one.value.data.status == PMIX_GROUP_CONSTRUCT_ABORT);
    Packer message = client->packer(Command::GroupJoin);
    message.string(id).proc(gone).boolean(abort).boolean(results.view().is_true(PMIX_GROUP_LEADER));
    client->send(std::move(message));
}

}  // namespace

void GroupClient::watch_constructions() {
    for (const pmix_status_t code : {PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED}) {
        events_.observe(code, [this](const EventPtr& event) -> EventEngine::OnEnd {
            const InfoView info = event->info;
            const char* id = info.string(PMIX_GROUP_ID);
            const pmix_proc_t* gone = info.proc(PMIX_EVENT_AFFECTED_PROC);
            if (!info.is_true(MUSTER_GROUP_CONSTRUCT) || id == nullptr || gone == nullptr) return nullptr;
            return [this, group = std::string(id), proc = *gone](const Info& results, bool) {
                send_decision(exchange_, group, proc, results);
            };
        });
    }
}

bool ends_group(pmix_status_t status) {
    return status == PMIX_SUCCESS || status == PMIX_GROUP_MEMBER_FAILED || status == PMIX_ERR_NOT_FOUND;
}

void GroupClient::destruct(const std::string& id, Info info, MeetingNote note, HostDone done) {
    Upstream* client = exchange_.upstream();
    if (client == nullptr) return done(answer_of(PMIX_ERR_UNREACH));
    const PeerVersion& version = client->server_version();
    const Group* group = exchange_.groups().find(id);
    // Our own servers know the members better than we do.
    if (group == nullptr && !version.can(Capability::GroupNames)) return done(answer_of(PMIX_ERR_NOT_FOUND));
    Packer message = client->packer(Command::GroupDestruct);
    message.string(id);
    if (knows_group_members(version)) {
        const bool needed = group != nullptr && !version.can(Capability::GroupNames);
        const auto members = needed ? group->procs() : std::vector<pmix_proc_t>();
        message.procs(members.data(), members.size());
    }
    message.infos(info);
    Meeting::Away away =
        version.can(Capability::GroupDetails) ? begin_by_server(meeting(), note, message) : nullptr;
    ask(*client, std::move(message), {}, [this, id, away, done = std::move(done)](HostAnswer answer) mutable {
        away.reset();
        if (ends_group(answer.status)) exchange_.groups().remove(id);
        done(std::move(answer));
    });
}

}  // namespace muster
