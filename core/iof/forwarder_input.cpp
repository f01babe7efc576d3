// SPDX-License-Identifier: BSD-3-Clause
// Input that processes and the host pass on, no faster than the host takes it: see forwarder.hpp.
#include <utility>

#include "core/exchange/namespaces.hpp"
#include "core/iof/forwarder.hpp"

namespace muster {
namespace {

/// Input of one peer that the host has not taken yet: beyond that nothing more is read from the peer.
constexpr size_t kMostPushed = size_t{8} << 20;

}  // namespace

void Forwarder::upcall_push(const Caller& caller, std::vector<pmix_proc_t> targets, Info directives,
                            Bytes bytes, HostDone done) {
    struct InputRequest : HostRequest {
        std::vector<pmix_proc_t> targets;
        Bytes bytes;
        pmix_byte_object_t object{};  ///< views bytes
    };
    const auto upcall = services_.host.module().push_stdin;
    ask_host(services_.host, caller, "push_stdin", "input", upcall,
             InputRequest{{std::move(directives)}, std::move(targets), std::move(bytes)}, std::move(done),
             [&](InputRequest& asked, void* cbdata) {
                 asked.object = {reinterpret_cast<char*>(asked.bytes.data()), asked.bytes.size()};
                 return upcall(&asked.proc, asked.targets.data(), asked.targets.size(), asked.info.data(),
                               asked.info.size(), &asked.object, Host::on_op, cbdata);
             });
}

/// As upcall_push(), but delayed until the producer may send. The reply is delayed, too, so that the producer
/// reads no more of its input before.
void Forwarder::push_from(const Caller& caller, std::vector<pmix_proc_t> targets, Info directives,
                          Bytes bytes, HostDone done) {
    if (gate_.suspended(caller.proc)) {
        struct Kept {
            Caller caller;
            std::vector<pmix_proc_t> targets;
            Info directives;
            Bytes bytes;
            HostDone done;
        };
        auto kept = std::make_shared<Kept>(
            Kept{caller, std::move(targets), std::move(directives), std::move(bytes), std::move(done)});
        return gate_.hold(kept->caller.proc, [this, kept](pmix_status_t status) {
            if (status != PMIX_SUCCESS) return kept->done(answer_of(status));
            push_from(kept->caller, std::move(kept->targets), std::move(kept->directives),
                      std::move(kept->bytes), std::move(kept->done));
        });
    }
    upcall_push(caller, std::move(targets), std::move(directives), std::move(bytes),
                [this, producer = caller.proc, done = std::move(done)](HostAnswer answer) mutable {
                    // The host has accepted the bytes and suspends the sender.
                    if (answer.status == PMIX_ERR_IOF_XOFF) {
                        answer.status = PMIX_SUCCESS;
                        if (!closed_) gate_.apply(producer, true);
                    }
                    if (!gate_.suspended(producer)) return done(std::move(answer));
                    auto kept =
                        std::make_shared<std::pair<HostAnswer, HostDone>>(std::move(answer), std::move(done));
                    gate_.hold(producer, [kept](pmix_status_t) { kept->second(std::move(kept->first)); });
                });
}

void Forwarder::push(const PeerPtr& peer, PushRequest request, HostDone done) {
    if (request.targets.empty()) return done(answer_of(PMIX_ERR_BAD_PARAM));
    for (const pmix_proc_t& target : request.targets) {
        if (nspace_view(target.nspace).empty()) return done(answer_of(PMIX_ERR_BAD_PARAM));
        if (!services_.namespaces.may_use(peer->uid, target)) return done(answer_of(PMIX_ERR_NO_PERMISSIONS));
    }
    const size_t size = request.bytes.size();
    Share& share = shares_[peer->index];
    share.pushed += size;
    if (share.pushed > kMostPushed && !share.paused) {
        share.paused = true;
        peer->pause(Peer::Pause::Input, true);
    }
    push_from(Caller::of(*peer), std::move(request.targets), std::move(request.directives),
              Bytes(request.bytes),
              [this, ref = PeerRef(peer), size, done = std::move(done)](HostAnswer answer) {
                  done(std::move(answer));
                  const PeerPtr sender = ref.lock();
                  const auto found = sender ? shares_.find(sender->index) : shares_.end();
                  if (found == shares_.end()) return;
                  found->second.pushed -= size;
                  if (!found->second.paused || found->second.pushed > kMostPushed / 2) return;
                  found->second.paused = false;
                  sender->pause(Peer::Pause::Input, false);
              });
}

void Forwarder::push_by_host(std::vector<pmix_proc_t> targets, Info directives, ByteView bytes,
                             HostDone done) {
    push_from(Caller::host(services_.runtime), std::move(targets), std::move(directives), Bytes(bytes),
              std::move(done));
}

}  // namespace muster
