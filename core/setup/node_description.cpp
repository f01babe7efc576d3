// SPDX-License-Identifier: BSD-3-Clause
// The hardware of this node, for clients that ask: see node_description.hpp.
#include "core/setup/node_description.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <utility>

#include "core/exchange/peer.hpp"
#include "core/runtime/lookup.hpp"
#include "framework/base/info.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {
namespace {

/// Returns the cgroups of a process and their namespace, which confine it to a part of the node. "" if they
/// cannot be read, or are implausibly long.
std::string confinement_of(const std::string& process) {
    const std::string folder = "/proc/" + process + "/";
    std::array<char, 64> name{};
    const ssize_t length = readlink((folder + "ns/cgroup").c_str(), name.data(), name.size());
    const UniqueFd file(open((folder + "cgroup").c_str(), O_RDONLY | O_CLOEXEC));
    if (length <= 0 || !file) return {};
    std::array<char, 16384> lines{};
    size_t filled = 0;
    for (ssize_t got = 0; (got = read(file.get(), &lines[filled], lines.size() - filled)) != 0;) {
        if (got < 0) return {};
        filled += static_cast<size_t>(got);
        if (filled == lines.size()) return {};
    }
    return std::string(name.data(), static_cast<size_t>(length)) + "\n" + std::string(lines.data(), filled);
}

bool is_version_1(const std::string& key) {
    return key_is(key.c_str(), PMIX_HWLOC_XML_V1);
}

}  // namespace

bool NodeDescription::offers(const GetRequest& request) const {
    if (!source_ || !request.key) return false;
    if (!is_version_1(*request.key) && !key_is(request.key->c_str(), PMIX_HWLOC_XML_V2)) return false;
    const PeerPtr peer = request.asker.lock();
    if (!peer || !peer->channel || peer->uid != geteuid()) return false;
    if (!nspace_is(request.target.nspace, peer->proc.nspace)) return false;
    if (request.target.rank <= PMIX_RANK_VALID && request.target.rank != peer->proc.rank) return false;
    // This server has no description of other nodes.
    if (request.info.find(PMIX_HOSTNAME) != nullptr || request.info.find(PMIX_NODEID) != nullptr)
        return false;
    const auto& credentials = peer->channel->credentials();
    if (!credentials || credentials->pid <= 0) return false;
    const std::string own = confinement_of("self");
    return !own.empty() && own == confinement_of(std::to_string(credentials->pid));
}

void NodeDescription::answer(const GetRequest& request, Modex::OnGet done) {
    const auto give = [owner = make_proc(request.target.nspace, PMIX_RANK_WILDCARD), key = *request.key,
                       format = request.format, done = std::move(done)](const std::string* text) {
        if (text == nullptr) return done(PMIX_ERR_NOT_FOUND, {});
        Packer values(format);
        values.kval(key.c_str(), *Value::from(text->c_str()));
        Packer out(format);
        pack_object(out, owner, values);
        if (out.error() != PMIX_SUCCESS) return done(out.error(), {});
        done(PMIX_SUCCESS, out.take());
    };
    find(is_version_1(*request.key), give);
}

void NodeDescription::describe(Namespace& nspace, Gds& store) {
    if (!job_source_ || nspace.described || !nspace.registered || !store.knows(nspace.name.c_str())) return;
    nspace.described = true;
    for (const char* key : kTopologyKeys) {
        const Lookup lookup = lookup_of(nspace.name.c_str(), PMIX_RANK_WILDCARD, key);
        if (store.find(lookup, [](const Found&) {}) == PMIX_SUCCESS) return;
    }
    if (!job_text_) {
        auto text = job_source_(false);
        if (!text) return;
        job_text_ = std::move(*text);
    }
    Info info;
    info.add(PMIX_HWLOC_XML_V2, job_text_->c_str());
    // Without it clients look at the machine themselves.
    [[maybe_unused]] const Result<void> added = store.register_job(nspace.name.c_str(), -1, info);
    nspace.packed_job.clear();
}

void NodeDescription::find(bool version_1, OnText done) {
    Form& form = forms_[version_1 ? 1 : 0];
    if (form.known) return done(form.text ? &*form.text : nullptr);
    form.waiting.push_back(std::move(done));
    if (form.waiting.size() > 1) return;
    // Looking at the machine takes some milliseconds on a small node, and hundreds on a large one.
    const auto found = std::make_shared<std::optional<std::string>>();
    worker_.run(
        [source = source_, version_1, found] {
            if (auto text = source(version_1)) *found = std::move(*text);
        },
        [&form, found] {
            form.text = std::move(*found);
            form.known = true;
            for (const OnText& waits : std::exchange(form.waiting, {}))
                waits(form.text ? &*form.text : nullptr);
        });
}

}  // namespace muster
