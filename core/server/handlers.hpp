// SPDX-License-Identifier: BSD-3-Clause
// The handlers of commands that need the server as a whole (docs/reference/wire.md, commands).
// Server::register_commands() enters them, and those that the services register themselves, into the table.
#pragma once

#include "core/exchange/request.hpp"

namespace muster {

class Server;

/// The handlers, by service.
namespace handle {
void job_info(Server& server, const Request& request);
void abort(Server& server, const Request& request);
void commit(Server& server, const Request& request);
void post(Server& server, const Request& request);
void all_arrived(Server& server, const Request& request);
void fence(Server& server, const Request& request);
void get(Server& server, const Request& request);
void finalize(Server& server, const Request& request);
void refresh_cache(Server& server, const Request& request);
void resolve_peers(Server& server, const Request& request);
void resolve_nodes(Server& server, const Request& request);
void spawn(Server& server, const Request& request);
void query(Server& server, const Request& request);
void group_construct(Server& server, const Request& request);
void group_construct_runs(Server& server, const Request& request);
void group_destruct(Server& server, const Request& request);
void iof_pull(Server& server, const Request& request);
void iof_push(Server& server, const Request& request);
void iof_deregister(Server& server, const Request& request);
void group_invite(Server& server, const Request& request);
void group_leave(Server& server, const Request& request);
void group_decision(Server& server, const Request& request);
}  // namespace handle

}  // namespace muster
