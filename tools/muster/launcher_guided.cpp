// SPDX-License-Identifier: BSD-3-Clause
// The launcher as the intermediate launcher of a tool: it waits for the tool's requests, and ends with the
// tool.
#include <fcntl.h>
#include <fmt/format.h>
#include <pmix_common.h>
#include <unistd.h>

#include <cerrno>

#include "tools/muster/launcher.hpp"
#include "tools/muster/services/announcer.hpp"

namespace muster::launcher {

void Launcher::watch_initiator() {
    const int fd = initiator_.keepalive;
    if (fd < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) return;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    keepalive_ = loop_->on_readable(fd, [this, fd] {
        char rest[256];
        ssize_t got = 0;
        while ((got = read(fd, rest, sizeof rest)) > 0) {
        }
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        keepalive_.cancel();
        if (ending()) return;
        if (jobs_.all_ended() && (options_.serve || !first_)) return end_all();  // nothing is lost
        fail(1, fmt::format("the tool that started {} has ended; its jobs are ended", server_nspace_));
    });
}

/// The first node has joined the tool.
void Launcher::guided(Guidance guidance) {
    const bool hold = guidance.hold;
    guidance_ = std::move(guidance);
    for (uint32_t node = 1; node < nodes_.size() && initiator_.waits_for_us() && !ending(); ++node) {
        if (!start_node(node))
            return fail(1, fmt::format("{} of {} nodes were started", node, nodes_.size()));
        connect_node(node);
    }
    if (!hold) launch_first();
}

void Launcher::released(const ProcName& who) {
    if (!guidance_.hold) return;
    guidance_.hold = false;
    // The process that releases the job gets the events of the job.
    if (!guidance_.parent) guidance_.parent = who;
    launch_first();
}

/// The job of the command line, with the tool's requests.
void Launcher::launch_first() {
    if (!first_ || ending()) return;
    Job job = std::move(*first_);
    first_.reset();
    if (!guidance_.request.apps.empty()) {
        const App& any = guidance_.request.apps[0];
        job.stops = any.stops;
        for (App& app : job.apps) {
            app.agents = any.agents;
            app.env_changes.insert(app.env_changes.end(), any.env_changes.begin(), any.env_changes.end());
        }
        job.wishes = guidance_.request.wishes;
        job.wishes.recoverable |= options_.job.wishes.recoverable;
        job.wishes.continuous |= options_.job.wishes.continuous;
    }
    if (guidance_.parent) {
        job.wishes.requestor = *guidance_.parent;
        job.wishes.notify_events = true;
    }
    launch(std::move(job), [](JobRecord&, int32_t, const std::string&) {});
}

/// A tool that has started us may ask for jobs now.
void Launcher::say_ready() {
    if (!guidance_.parent) return;
    Notice notice;
    notice.code = PMIX_LAUNCHER_READY;
    notice.source = hub_->launcher;
    notice.targets = {*guidance_.parent};
    notice.non_default = true;
    notice.nspace = server_nspace_;
    notice.time = static_cast<uint64_t>(time(nullptr));
    announce(*hub_, notice);
}

}  // namespace muster::launcher
