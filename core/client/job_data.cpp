// SPDX-License-Identifier: BSD-3-Clause
// The job data of a process: from its server, or, without a server, local data.
#include <unistd.h>

#include "core/client/client.hpp"
#include "core/groups/group_client.hpp"
#include "core/runtime/completion.hpp"
#include "framework/base/status.hpp"

namespace muster {

Result<void> Client::connect(const ServerContact& contact) {
    runtime_.set_self(make_proc(contact.nspace, contact.rank));
    format_ = {runtime_.own_format().bfrops, contact.buffer_type};
    runtime_.set_own_format(format_);
    const auto limit = std::chrono::milliseconds(
        static_cast<int64_t>(runtime_.parameters().seconds("client_base_connect_timeout") * 1000));
    auto greeted = connect_to_server(runtime_, contact, format_, limit);
    if (!greeted) return greeted.error();
    bool has_job_data = false;
    UniqueFd barrier = std::move(greeted->barrier);
    UniqueFd meeting = std::move(greeted->meeting);
    const auto owner = greeted->segment.owner;
    if (greeted->segment.fd) {
        // The server sends the shared job data only if the segment cannot be mapped.
        const auto attached = runtime_.store().attach(std::move(greeted->segment));
        has_job_data = attached.ok();
        if (!attached)
            MUSTER_LOG(runtime_.log(), Warning, "%s; asking for job data", attached.error().text.c_str());
    }
    if (has_job_data && barrier) attach_barrier(std::move(barrier), owner);
    if (barrier_ && meeting) groups_.take_page(std::move(meeting), owner);
    if (auto added = add(std::move(*greeted), true); !added) return added;
    auto known = has_job_data ? Result<void>() : fetch_job_data();
    // The server works, too.
    const size_t beside = runtime_.store().local_ranks(runtime_.self().nspace).size();
    if (known && beside != 0) runtime_.set_company(beside + 1);
    return known;
}

void Client::attach_barrier(UniqueFd fd, std::optional<uid_t> owner) {
    // If the host drives progress, blocking calls must drive it, too.
    if (runtime_.host_drives()) return;
    if (!runtime_.parameters().boolean("pmix_shared_barrier")) return;
    const auto size = runtime_.store().job_size(runtime_.self().nspace);
    if (!size || *size < 2) return;
    auto memory = RendezvousPage::attach(std::move(fd), owner);
    if (!memory) {
        MUSTER_LOG(runtime_.log(), Warning, "%s; fences go by the server", memory.error().text.c_str());
        return;
    }
    // Only the connection reveals an unannounced end of the server: a thread must watch it.
    (*memory)->on_long_wait([&loop = runtime_.loop()] { loop.need_driver(); });
    barrier_ = std::make_shared<Barrier>(std::move(*memory), *size);
}

void Client::close_memory() {
    if (barrier_) barrier_->close();
    groups_.close();
}

Result<void> Client::fetch_job_data() {
    return fetch_job_data(server_);
}

Result<void> Client::fetch_job_data(const pmix_proc_t& server) {
    auto complaint = std::make_shared<std::string>();
    const pmix_status_t status =
        call_and_wait<pmix_status_t>(runtime_, PMIX_ERR_WOULD_BLOCK, [this, complaint, server](auto deliver) {
            const auto connection = find(server);
            if (!connection) return deliver(PMIX_ERR_LOST_CONNECTION);
            const auto take = [this, deliver, complaint](Unpacker* reply) {
                if (reply == nullptr) return deliver(PMIX_ERR_LOST_CONNECTION);
                std::string nspace;
                if (!reply->string(nspace)) return deliver(reply->error());
                if (nspace != runtime_.self().nspace) {
                    *complaint = "the server sent job data of another namespace, '" + nspace + "'";
                    return deliver(PMIX_ERR_INVALID_NAMESPACE);
                }
                auto taken = runtime_.store().unpack_job(runtime_.self().nspace, *reply);
                if (!taken) *complaint = taken.error().text;
                deliver(taken.status());
            };
            connection->request_job_data(packer(Command::JobInfo), take);
        });
    if (status == PMIX_SUCCESS) return {};
    return Error{status, "job data of " + std::string(runtime_.self().nspace) + " from server " +
                             proc_text(server) + ": " +
                             (complaint->empty() ? status_text(status) : *complaint)};
}

void Client::become_singleton() {
    const std::string& host = runtime_.hostname();
    std::string nspace = "singleton." + host + "." + std::to_string(getpid());
    if (nspace.size() > PMIX_MAX_NSLEN) nspace = "singleton." + std::to_string(getpid());
    runtime_.set_self(make_proc(nspace, 0));
    format_ = runtime_.own_format();
    register_alone();
}

void Client::register_alone() {
    const pmix_proc_t& self = runtime_.self();
    if (runtime_.store().job_size(self.nspace)) return;
    // The rest (other sizes, lists and ranks) the store derives; to state it all took a fifth of
    // PMIx_tool_init.
    Info node;
    node.reserve(4);
    node.add(PMIX_HOSTNAME, runtime_.hostname().c_str());
    node.add(PMIX_NODEID, uint32_t{0});
    node.add(PMIX_NODE_SIZE, uint32_t{1});
    node.add(PMIX_LOCAL_PEERS, std::to_string(self.rank).c_str());
    Info job;
    job.reserve(8);
    // These follow from the map; stored, they are also found by a request with
    // PMIX_NODE_INFO or PMIX_APP_INFO.
    for (const char* key : {PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_NUM_NODES, PMIX_JOB_NUM_APPS})
        job.add(key, uint32_t{1});
    job.add(PMIX_NODE_LIST, runtime_.hostname().c_str());
    job.add(PMIX_JOBID, static_cast<const char*>(self.nspace));
    job.add(PMIX_NODE_INFO_ARRAY, std::move(node).to_value());
    Info proc;
    proc.reserve(3);
    proc.add(PMIX_RANK, Value::rank(self.rank));
    proc.add(PMIX_GLOBAL_RANK, Value::rank(0));  // whatever rank a host gave it
    proc.add(PMIX_APPNUM, uint32_t{0});
    job.add(PMIX_PROC_INFO_ARRAY, std::move(proc).to_value());
    if (auto stored = runtime_.store().register_job(self.nspace, 1, job); !stored) {
        MUSTER_LOG(runtime_.log(), Error, "%s", stored.error().text.c_str());
    }
}

}  // namespace muster
