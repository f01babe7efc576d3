// SPDX-License-Identifier: BSD-3-Clause
// Context ids for groups by invitation: see context_id.hpp.
#include "core/groups/context_id.hpp"

#include "core/exchange/group_table.hpp"
#include "core/groups/construct.hpp"

namespace muster {

void ask_for_context_id(Host& host, const pmix_proc_t& leader, const std::string& id, Info terms,
                        HostDone done) {
    if (!terms.view().has(PMIX_GROUP_ASSIGN_CONTEXT_ID)) terms.add(PMIX_GROUP_ASSIGN_CONTEXT_ID, true);
    // For the host it is the group of one process: the host never needs to know the other members.
    ask_host_for_group(host, PMIX_GROUP_CONSTRUCT, id, {leader}, std::move(terms), std::move(done));
}

void assign_context_id(Exchange& exchange, const std::string& id, InfoView terms, HostDone done) {
    if (Host* host = exchange.host()) {
        auto copy = Info::copy_of(terms);
        if (!copy) return done(answer_of(PMIX_ERR_BAD_PARAM));
        return ask_for_context_id(*host, exchange.self(), id, std::move(*copy), std::move(done));
    }
    Upstream* client = exchange.upstream();
    // Other libraries' servers have no such request.
    if (client == nullptr || !client->server_version().can(Capability::GroupInvitations))
        return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    Packer message = client->packer(Command::GroupInvite);
    message.string(id).infos(terms);
    ask(*client, std::move(message), read_infos, std::move(done));
}

void serve_context_id(Host& host, const Request& request) {
    std::string id;
    Info terms;
    if (!request.in.string(id) || !request.in.infos(terms)) return request.malformed();
    if (!valid_group_id(id.c_str())) return request.peer->reply_status(request.tag, PMIX_ERR_BAD_PARAM);
    ask_for_context_id(host, request.peer->proc, id, std::move(terms), reply_to(request, write_infos));
}

}  // namespace muster
