// SPDX-License-Identifier: BSD-3-Clause
// Writing and reading a spawn's request.
#include "tools/muster/services/spawn_request.hpp"

#include "tools/muster/jobs/job_message.hpp"

namespace muster::launcher {

void write_spawn(Writer& out, const SpawnRequest& request) {
    out.name(request.parent).u32(static_cast<uint32_t>(request.apps.size()));
    for (const AppSpec& app : request.apps) {
        out.u32(app.ranks ? 1 : 0).u32(app.ranks.value_or(0));
        out.bytes(app.program).texts(app.argv);
        write_env_changes(out, app.env_changes);
        out.bytes(app.wdir).u32(app.session_wdir ? 1 : 0).u32(app.index_argv ? 1 : 0).bytes(app.pset);
        out.texts(app.hosts).bytes(app.hostfile).bytes(app.agents.exec).bytes(app.agents.fork);
        write_stops(out, app.stops);
        write_daemons(out, app.daemons);
    }
    out.bytes(request.map_by).bytes(request.bind_to).u32(request.cpus_per_proc);
    out.u32(request.no_oversubscribe ? 1 : 0).u32(request.not_on_head ? 1 : 0);
    out.u32(static_cast<uint32_t>(request.input.target)).u32(request.input.rank);
    const OutputPolicy& output = request.output;
    for (bool flag : {output.tag, output.rank, output.timestamp, output.merge, output.copy})
        out.u32(flag ? 1 : 0);
    out.bytes(output.directory).bytes(output.file).u32(request.spawn_seconds).u32(request.job_seconds);
    const JobWishes& wishes = request.wishes;
    for (bool flag : {wishes.notify_end, wishes.notify_events, wishes.notify_procs, wishes.notify_failures,
                      wishes.log_end, wishes.log_events, wishes.log_procs, wishes.log_failures, wishes.silent,
                      wishes.separate, wishes.report_separately, wishes.recoverable, wishes.nonzero_is_fine})
        out.u32(flag ? 1 : 0);
    out.u32(wishes.forward).name(wishes.requestor).bytes(wishes.log).bytes(request.attributes);
    out.bytes(request.allocation).u32(request.needs_allocation ? 1 : 0);
}

bool read_spawn(Reader& in, SpawnRequest& request) {
    request.parent = in.name();
    for (uint32_t left = in.count(sizeof(uint32_t)); left > 0 && in.ok(); --left) {
        AppSpec app;
        const bool sized = in.u32() != 0;
        const uint32_t ranks = in.u32();
        if (sized) app.ranks = ranks;
        app.program = in.bytes();
        app.argv = in.texts();
        app.env_changes = read_env_changes(in);
        app.wdir = in.bytes();
        app.session_wdir = in.u32() != 0;
        app.index_argv = in.u32() != 0;
        app.pset = in.bytes();
        app.hosts = in.texts();
        app.hostfile = in.bytes();
        app.agents.exec = in.bytes();
        app.agents.fork = in.bytes();
        app.stops = read_stops(in);
        app.daemons = read_daemons(in);
        request.apps.push_back(std::move(app));
    }
    request.map_by = in.bytes();
    request.bind_to = in.bytes();
    request.cpus_per_proc = in.u32();
    request.no_oversubscribe = in.u32() != 0;
    request.not_on_head = in.u32() != 0;
    request.input.target = static_cast<InputPolicy::Target>(in.u32());
    request.input.rank = in.u32();
    OutputPolicy& output = request.output;
    for (bool* flag : {&output.tag, &output.rank, &output.timestamp, &output.merge, &output.copy})
        *flag = in.u32() != 0;
    output.directory = in.bytes();
    output.file = in.bytes();
    request.spawn_seconds = in.u32();
    request.job_seconds = in.u32();
    JobWishes& wishes = request.wishes;
    for (bool* flag :
         {&wishes.notify_end, &wishes.notify_events, &wishes.notify_procs, &wishes.notify_failures,
          &wishes.log_end, &wishes.log_events, &wishes.log_procs, &wishes.log_failures, &wishes.silent,
          &wishes.separate, &wishes.report_separately, &wishes.recoverable, &wishes.nonzero_is_fine})
        *flag = in.u32() != 0;
    wishes.forward = in.u32();
    wishes.requestor = in.name();
    wishes.log = in.bytes();
    request.attributes = in.bytes();
    request.allocation = in.bytes();
    request.needs_allocation = in.u32() != 0;
    return in.ok();
}

}  // namespace muster::launcher
