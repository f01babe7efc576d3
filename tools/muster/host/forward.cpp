// SPDX-License-Identifier: BSD-3-Clause
// The upcalls iof_pull and push_stdin: a process that is connected to this node's server requests the output
// of others, or has input for them. The launcher sends the output here, and the library delivers it.
#include <pmix.h>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/forwards.hpp"

namespace muster::launcher {
namespace {

pmix_status_t iof_pull(const pmix_proc_t procs[], size_t count, const pmix_info_t directives[],
                       size_t directive_count, pmix_iof_channel_t channels, pmix_op_cbfunc_t callback,
                       void* data) {
    const Infos wanted(directives, directive_count);
    const pmix_status_t status = check_required("iof_pull", wanted);
    if (status != PMIX_SUCCESS) return status;
    const Forwards::Request request =
        wanted.is_true(PMIX_IOF_STOP) ? Forwards::Request::Stop : Forwards::Request::Pull;
    ask_launcher(Topic::Forward,
                 pack(request, names_of(procs, count), uint32_t{channels}, wanted.is_true(PMIX_IOF_COPY)),
                 done_op(callback, data));
    return PMIX_SUCCESS;
}

pmix_status_t push_stdin(const pmix_proc_t*, const pmix_proc_t targets[], size_t count,
                         const pmix_info_t directives[], size_t directive_count,
                         const pmix_byte_object_t* object, pmix_op_cbfunc_t callback, void* data) {
    const pmix_status_t status = check_required("push_stdin", {directives, directive_count});
    if (status != PMIX_SUCCESS) return status;
    std::string bytes;
    if (object != nullptr && object->bytes != nullptr) bytes.assign(object->bytes, object->size);
    const bool last = bytes.empty() || Infos(directives, directive_count).is_true(PMIX_IOF_COMPLETE);
    ask_launcher(Topic::Forward, pack(Forwards::Request::Push, names_of(targets, count), last, bytes),
                 done_op(callback, data));
    return PMIX_SUCCESS;
}

/// A piece of output while the library has it.
struct Piece {
    pmix_proc_t source;
    std::string bytes;
    pmix_byte_object_t object;
    uint64_t number;
};

/// Delivers output from the launcher that a process or tool here asked for.
void deliver(uint64_t, Buffer& in) {
    auto piece = std::make_unique<Piece>();
    ProcName source;
    uint32_t channel = 0;
    if (!in.unpack(piece->number, source, channel, piece->bytes)) return;
    piece->source = to_pmix(source);
    piece->object = {piece->bytes.data(), piece->bytes.size()};
    const uint64_t number = piece->number;
    const pmix_status_t status = PMIx_server_IOF_deliver(
        &piece->source, static_cast<pmix_iof_channel_t>(channel), &piece->object, nullptr, 0,
        [](pmix_status_t, void* data) {
            const std::unique_ptr<Piece> taken(static_cast<Piece*>(data));
            // Only now may more be sent: a tool that does not read slows the ranks.
            on_loop([id = taken->number] { this_node().link().tell(Topic::Forward, pack(id)); });
        },
        piece.get());
    if (status == PMIX_SUCCESS) {
        (void)piece.release();  // the callback has it
    } else {
        this_node().link().tell(Topic::Forward, pack(number));
    }
}

/// Output that is sent to tools without a pull.
struct Unasked {
    ProcName tool;
    std::string nspace;
    uint32_t channels;

    void ask(Forwards::Request request) const {
        const std::vector<ProcName> procs = {{nspace, PMIX_RANK_WILDCARD}};
        this_node().link().ask(Topic::Forward, pack(request, procs, channels, false),
                               [](pmix_status_t, Buffer&) {});
    }
};

std::vector<Unasked>& unasked() {
    static std::vector<Unasked> all;  // of the loop
    return all;
}

}  // namespace

void forward_unasked(const ProcName& tool, const std::string& nspace, uint32_t channels) {
    unasked().push_back({tool, nspace, channels});
    unasked().back().ask(Forwards::Request::Pull);
}

void stop_forwarding(const ProcName& tool) {
    std::erase_if(unasked(), [&](const Unasked& one) {
        if (one.tool != tool) return false;
        one.ask(Forwards::Request::Stop);
        return true;
    });
}

void add_forward_upcalls(pmix_server_module_t& module) {
    module.iof_pull = upcall<iof_pull>;
    module.push_stdin = upcall<push_stdin>;
    this_node().on(Topic::Forward, deliver);
}

}  // namespace muster::launcher
