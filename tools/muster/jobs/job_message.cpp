// SPDX-License-Identifier: BSD-3-Clause
// Writing and reading a job.
#include "tools/muster/jobs/job_message.hpp"

namespace muster::launcher {
namespace {

void write_app(Writer& out, const App& app) {
    out.bytes(app.program).texts(app.argv);
    out.u32(static_cast<uint32_t>(app.env.size()));
    for (const auto& [name, value] : app.env)
        out.bytes(name).bytes(value);
    write_env_changes(out, app.env_changes);
    out.bytes(app.wdir)
        .u32(app.session_wdir ? 1 : 0)
        .u32(app.index_argv ? 1 : 0)
        .bytes(app.pset)
        .u32(app.first_rank)
        .u32(app.ranks)
        .bytes(app.agents.exec)
        .bytes(app.agents.fork);
}

App read_app(Reader& in) {
    App app;
    app.program = in.bytes();
    app.argv = in.texts();
    for (uint32_t left = in.count(2 * sizeof(uint64_t)); left > 0 && in.ok(); --left) {
        const std::string_view name = in.bytes();
        app.env.emplace_back(name, in.bytes());
    }
    app.env_changes = read_env_changes(in);
    app.wdir = in.bytes();
    app.session_wdir = in.u32() != 0;
    app.index_argv = in.u32() != 0;
    app.pset = in.bytes();
    app.first_rank = in.u32();
    app.ranks = in.u32();
    app.agents.exec = in.bytes();
    app.agents.fork = in.bytes();
    return app;
}

}  // namespace

void write_env_changes(Writer& out, const std::vector<EnvChange>& changes) {
    out.u32(static_cast<uint32_t>(changes.size()));
    for (const EnvChange& change : changes) {
        out.u32(static_cast<uint32_t>(change.kind)).bytes(change.name).bytes(change.value);
        out.u32(static_cast<unsigned char>(change.separator));
    }
}

std::vector<EnvChange> read_env_changes(Reader& in) {
    std::vector<EnvChange> changes;
    for (uint32_t left = in.count(2 * sizeof(uint64_t)); left > 0 && in.ok(); --left) {
        EnvChange change;
        change.kind = static_cast<EnvChange::Kind>(in.u32());
        change.name = in.bytes();
        change.value = in.bytes();
        change.separator = static_cast<char>(in.u32());
        changes.push_back(std::move(change));
    }
    return changes;
}

void write_job(Writer& out, const Job& job) {
    out.u32(job.number).bytes(job.nspace);
    out.texts(job.nodes);
    out.u32(static_cast<uint32_t>(job.apps.size()));
    for (const App& app : job.apps)
        write_app(out, app);
    out.u32(job.size());
    for (const Place& place : job.places) {
        out.u32(place.app).u32(place.node).u32(place.local_rank).u32(place.node_rank);
        out.u32(static_cast<uint32_t>(place.cpus.size()));
        for (unsigned cpu : place.cpus)
            out.u32(cpu);
    }
    out.bytes(job.map_by).bytes(job.bind_to).u32(static_cast<uint32_t>(job.input.target));
    out.u32(job.input.rank).u32(job.merge_output ? 1 : 0).u32(job.offset);
    out.u32(job.parent ? 1 : 0);
    if (job.parent) out.name(*job.parent);
    out.bytes(job.setup).bytes(job.attributes);
    write_stops(out, job.stops);
    out.u32(job.debugger ? 1 : 0).u32(job.target ? 1 : 0);
    if (job.target) out.name(*job.target);
}

bool read_job(Reader& in, Job& job) {
    job.number = in.u32();
    job.nspace = in.bytes();
    job.nodes = in.texts();
    for (uint32_t left = in.count(sizeof(uint32_t)); left > 0 && in.ok(); --left)
        job.apps.push_back(read_app(in));
    for (uint32_t left = in.count(5 * sizeof(uint32_t)); left > 0 && in.ok(); --left) {
        Place place;
        place.app = in.u32();
        place.node = in.u32();
        place.local_rank = in.u32();
        place.node_rank = in.u32();
        for (uint32_t cpus = in.count(sizeof(uint32_t)); cpus > 0 && in.ok(); --cpus)
            place.cpus.push_back(in.u32());
        if (place.app >= job.apps.size() || place.node >= job.nodes.size()) return false;
        job.places.push_back(std::move(place));
    }
    job.map_by = in.bytes();
    job.bind_to = in.bytes();
    job.input.target = static_cast<InputPolicy::Target>(in.u32());
    job.input.rank = in.u32();
    job.merge_output = in.u32() != 0;
    job.offset = in.u32();
    if (in.u32() != 0) job.parent = in.name();
    job.setup = in.bytes();
    job.attributes = in.bytes();
    job.stops = read_stops(in);
    job.debugger = in.u32() != 0;
    if (in.u32() != 0) job.target = in.name();
    return in.ok();
}

}  // namespace muster::launcher
