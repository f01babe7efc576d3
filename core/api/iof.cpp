// SPDX-License-Identifier: BSD-3-Clause
// I/O forwarding (Standard: Tools and Debuggers, IO Forwarding; Server-Specific Interfaces).
#include <pmix_server.h>
#include <pmix_tool.h>

#include "core/api/call.hpp"
#include "core/iof/forwarder.hpp"
#include "core/iof/forwarding.hpp"
#include "core/server/server.hpp"

using namespace muster;

namespace {

bool valid_procs(const pmix_proc_t procs[], size_t nprocs) {
    return nprocs > 0 && procs != nullptr && std::all_of(procs, procs + nprocs, [](const pmix_proc_t& proc) {
               return !nspace_view(proc.nspace).empty();
           });
}

/// A PMIx_IOF_push with checked arguments.
struct Push {
    enum class What : uint8_t { Bytes, StartStdin, StopStdin };
    What what = What::Bytes;
    std::vector<pmix_proc_t> targets;
    std::shared_ptr<Info> directives;
    ByteView bytes;

    void run(Process& process, HostDone done) const {
        Pusher& pusher = process.forwarding().pusher();
        if (what == What::StopStdin && pusher.reading_stdin()) return pusher.stop_stdin(done);
        if (targets.empty()) return done(answer_of(PMIX_ERR_BAD_PARAM));
        if (what == What::StartStdin) return pusher.start_stdin(targets, std::move(*directives), done);
        pusher.push(targets, std::move(*directives), bytes, std::move(done));
    }
};

pmix_status_t prepare(Process& process, const pmix_proc_t targets[], size_t ntargets,
                      const pmix_byte_object_t* bo, const pmix_info_t info[], size_t ninfo, Push& push) {
    if (ntargets > 0 && !valid_procs(targets, ntargets)) return PMIX_ERR_BAD_PARAM;
    if (bo != nullptr && bo->size > 0 && bo->bytes == nullptr) return PMIX_ERR_BAD_PARAM;
    if (const pmix_status_t bad =
            api::keep_directives(process, Function::IofPush, info, ninfo, push.directives);
        bad != PMIX_SUCCESS)
        return bad;
    const InfoView directives = *push.directives;
    if (ntargets > 0) push.targets.assign(targets, targets + ntargets);
    if (bo != nullptr) {
        push.bytes = {reinterpret_cast<const uint8_t*>(bo->bytes), bo->size};
    } else if (directives.is_true(PMIX_IOF_COMPLETE)) {
        push.what = Push::What::StopStdin;
    } else if (directives.is_true(PMIX_IOF_PUSH_STDIN)) {
        push.what = Push::What::StartStdin;
    } else {
        return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

}  // namespace

pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t directives[],
                            size_t ndirs, pmix_iof_channel_t channel, pmix_iof_cbfunc_t cbfunc,
                            pmix_hdlr_reg_cbfunc_t regcbfunc, void* regcbdata) {
    return with_process([&](const Use& use) -> pmix_status_t {
        if (!valid_procs(procs, nprocs)) return PMIX_ERR_BAD_PARAM;
        if (const auto channels = readable_channels(channel); !channels) return channels.status();
        std::shared_ptr<Info> kept;
        if (const pmix_status_t bad = api::keep_directives(*use, Function::IofPull, directives, ndirs, kept);
            bad != PMIX_SUCCESS)
            return bad;
        if (!use->exchange().can_ask()) return PMIX_ERR_UNREACH;
        Puller& puller = use->forwarding().puller();
        const auto start = [&puller, from = std::vector<pmix_proc_t>(procs, procs + nprocs), kept, channel,
                            cbfunc](Puller::OnPulled done) {
            const pmix_status_t status = guard([&]() -> pmix_status_t {
                puller.pull(from, std::move(*kept), channel, cbfunc, done);
                return PMIX_SUCCESS;
            });
            if (status != PMIX_SUCCESS) done(status, 0);
        };
        return api::register_by(use, regcbfunc, regcbdata, start);
    });
}

pmix_status_t PMIx_IOF_deregister(size_t iofhdlr, const pmix_info_t directives[], size_t ndirs,
                                  pmix_op_cbfunc_t cbfunc, void* cbdata) {
    const auto work = [iofhdlr](Process& process, Info kept, HostDone done) {
        process.forwarding().puller().deregister(iofhdlr, std::move(kept), std::move(done));
    };
    // Without a server there may still be buffered output.
    return api::call_or_launch(cbfunc, cbdata,
                               api::with_infos(Function::IofDeregister, true, directives, ndirs, work, true));
}

pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets, pmix_byte_object_t* bo,
                            const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                            void* cbdata) {
    const auto prepare_push = [&](Process& caller, api::Start& start) -> pmix_status_t {
        Push push;
        const pmix_status_t status = prepare(caller, targets, ntargets, bo, directives, ndirs, push);
        start.run = [push](Process& process, HostDone done) { push.run(process, std::move(done)); };
        return status;
    };
    return api::call_or_launch(cbfunc, cbdata, prepare_push);
}

pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t* source, pmix_iof_channel_t channel,
                                      const pmix_byte_object_t* bo, const pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return with_server([&](const Use& use) -> pmix_status_t {
        if (source == nullptr || nspace_view(source->nspace).empty() || bo == nullptr ||
            (bo->size > 0 && bo->bytes == nullptr) || (ninfo > 0 && info == nullptr))
            return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t bad = api::check(*use, Function::ServerIofDeliver, {info, ninfo});
            bad != PMIX_SUCCESS)
            return bad;
        if ((channel & kOutputChannels) == 0 || (channel & ~kOutputChannels) != 0) return PMIX_ERR_BAD_PARAM;
        Forwarder* forwarder = &use->server()->forwarder();
        auto piece = std::make_shared<OutputPiece>();
        piece->source = *source;
        piece->channel = channel;
        // The host keeps these until it is called back, or this call returns.
        piece->info = {info, ninfo};
        piece->bytes = {reinterpret_cast<const uint8_t*>(bo->bytes), bo->size};
        if (cbfunc != nullptr) {
            // The piece is released, and the callback called, by the thread that has the last reference.
            return api::answer_by<pmix_status_t>(use, api::status_to(cbfunc, cbdata),
                                                 [forwarder, piece = std::move(piece)](auto done) mutable {
                                                     piece->released = [done = std::move(done)] {
                                                         done(PMIX_SUCCESS);
                                                     };
                                                     forwarder->deliver(std::move(piece));
                                                 });
        }
        const pmix_status_t status =
            call_and_wait<pmix_status_t>(use->runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
                // The caller may be the thread that would resume it.
                if (forwarder->output_suspended(piece->source, piece->channel))
                    return deliver(PMIX_ERR_IOF_XOFF);
                piece->released = [deliver] { deliver(PMIX_SUCCESS); };
                forwarder->deliver(std::move(piece));
            });
        return status == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : status;
    });
}

pmix_status_t PMIx_server_IOF_flow_control(const pmix_proc_t* source, pmix_iof_channel_t channel, bool xoff,
                                           const pmix_info_t directives[], size_t ndirs,
                                           pmix_op_cbfunc_t cbfunc, void* cbdata) {
    const auto prepare_control = [&](Process& process, api::Start& start) -> pmix_status_t {
        if (process.server() == nullptr) return PMIX_ERR_INIT;
        if (ndirs > 0 && directives == nullptr) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t bad =
                api::check(process, Function::ServerIofFlowControl, {directives, ndirs});
            bad != PMIX_SUCCESS)
            return bad;
        if ((channel & (PMIX_FWD_STDIN_CHANNEL | kOutputChannels)) == 0) return PMIX_ERR_NOT_SUPPORTED;
        start.run = [xoff, channel,
                     producers = source == nullptr ? make_proc("", PMIX_RANK_WILDCARD) : *source](
                        Process& on_loop, const HostDone& done) {
            Forwarder& forwarder = on_loop.server()->forwarder();
            if ((channel & PMIX_FWD_STDIN_CHANNEL) != 0) on_loop.forwarding().control_input(producers, xoff);
            forwarder.control_output(producers, channel, xoff);
            done({});
        };
        return PMIX_SUCCESS;
    };
    const pmix_status_t status = api::call_or_launch(cbfunc, cbdata, prepare_control);
    return status == PMIX_SUCCESS && cbfunc == nullptr ? PMIX_OPERATION_SUCCEEDED : status;
}
