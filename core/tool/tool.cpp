// SPDX-License-Identifier: BSD-3-Clause
// The chain of ways to a server: see tool.hpp.
#include "core/tool/tool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <set>
#include <thread>

#include "core/discovery/rendezvous_search.hpp"
#include "core/runtime/completion.hpp"
#include "framework/base/words.hpp"
#include "framework/psec.hpp"
#include "framework/ptl/transports.hpp"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The assumed version of a server of which only the URI is known: this library's protocol level.
constexpr const char* kAssumedVersion = "6.1.0";

milliseconds left(Clock::time_point until) {
    return std::max(std::chrono::duration_cast<milliseconds>(until - Clock::now()), milliseconds(0));
}

std::string own_command_line() {
    std::string line;
    const UniqueFd fd(::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
    char chunk[4096];
    if (const ssize_t got = fd ? ::read(fd.get(), chunk, sizeof chunk) : 0; got > 0)
        line.assign(chunk, static_cast<size_t>(got));
    while (!line.empty() && line.back() == '\0')
        line.pop_back();
    std::replace(line.begin(), line.end(), '\0', ' ');
    return line;
}

/// The psec components of the list (empty: those that can be used here) that have not been refused, by comma.
std::string other_security(Registry& registry, const std::string& names,
                           const std::set<std::string>& refused) {
    std::string others;
    for (const Psec* module : registry.psecs(names)) {
        if (refused.count(module->name()) == 0)
            others += (others.empty() ? "" : ",") + std::string(module->name());
    }
    return others;
}

/// Other failures of one way mean for the caller that the server cannot be reached.
Error unreachable(Error error) {
    if (error.code == PMIX_ERR_NOT_FOUND || error.code == PMIX_ERR_NO_PERMISSIONS ||
        error.code == PMIX_ERR_FILE_READ_FAILURE)
        error.code = PMIX_ERR_UNREACH;
    return error;
}

}  // namespace

/// A server that may be there.
struct Tool::Candidate {
    Rendezvous rendezvous;
    std::string security;
    pmix_proc_t server{};
    std::string path;  ///< of its file, where it has one
};

Tool::Tool(Exchange& exchange, Events& events, Client& client, ToolIdentity identity)
    : runtime_(exchange.runtime()),
      events_(events),
      client_(client),
      identity_(std::move(identity)),
      command_line_(own_command_line()) {
    client_.on_added([this] { look_for_servers(); });
    // A call that waits for its server may poll; it drives the loop itself, where it may.
    if (!identity_.launcher && !identity_.scheduler) runtime_.set_company(2);
}

void Tool::serve(Peers& peers, const std::string& uri) {
    own_uri_ = &uri;
    own_peers_.store(&peers, std::memory_order_release);
    peers.on_arrival([this](const PeerPtr&) { look_for_servers(); });
}

/// Ends the waits for servers that have connected.
void Tool::look_for_servers() {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
        pmix_status_t status = client_.set_primary(it->server);
        const Peers* const peers = own_peers_;
        const std::string uri = peers == nullptr ? "" : peers->uri_of(it->server);
        if (status != PMIX_SUCCESS && uri.empty()) {
            ++it;
            continue;
        }
        const auto done = std::move(it->done);
        it = waiting_.erase(it);
        done(status == PMIX_SUCCESS ? Choice{status, {}} : Choice{PMIX_ERR_NOT_FOUND, uri});
    }
}

void Tool::choose_server(const pmix_proc_t& server, bool wait, std::optional<milliseconds> limit,
                         OnChoice done) {
    const pmix_status_t status = client_.set_primary(server);
    if (status == PMIX_SUCCESS) return done({status, {}});
    if (const Peers* own = own_peers_) {
        // It has connected to this process: now this process connects to it.
        if (const std::string uri = own->uri_of(server); !uri.empty()) return done({PMIX_ERR_NOT_FOUND, uri});
    }
    if (!wait) return done({status, {}});
    waiting_.push_back({server, std::move(done), nullptr});
    if (!limit) return;
    const auto entry = std::prev(waiting_.end());
    entry->limit = runtime_.loop().after(*limit, [this, entry] {
        const auto expired = std::move(entry->done);
        const auto watch = std::move(entry->limit);  // ours: it goes when this has run
        waiting_.erase(entry);
        expired({PMIX_ERR_TIMEOUT, {}});
    });
}

pmix_status_t Tool::set_server(const pmix_proc_t& server, bool wait, std::optional<milliseconds> limit) {
    const Choice choice = call_and_wait<Choice>(
        runtime_, Choice{PMIX_ERR_WOULD_BLOCK, {}},
        [this, server, wait, limit](auto deliver) { choose_server(server, wait, limit, deliver); });
    if (choice.uri.empty()) return choice.status;
    Info info;
    info.add(PMIX_SERVER_URI, choice.uri.c_str());
    auto wanted = ToolDirectives::read(runtime_, info);
    if (!wanted) return wanted.status();
    wanted->primary = true;
    if (limit) wanted->limit = *limit;
    auto attached = attach(*wanted);
    if (!attached) {
        MUSTER_LOG(log(), Error, "%s", attached.error().text.c_str());
        return attached.status();
    }
    return PMIX_SUCCESS;
}

Bytes Tool::about_us() const {
    Info info;
    info.add(PMIX_PROC_PID, Value::pid(getpid()));
    info.add(PMIX_REALUID, uint32_t{getuid()});
    info.add(PMIX_USERID, uint32_t{geteuid()});
    info.add(PMIX_REALGID, uint32_t{getgid()});
    info.add(PMIX_GRPID, uint32_t{getegid()});
    info.add(PMIX_CMD_LINE, command_line_.c_str());
    if (own_peers_ != nullptr) info.add(PMIX_SERVER_URI, own_uri_->c_str());
    Packer packer(client_.format());
    packer.infos(info);
    return packer.error() == PMIX_SUCCESS ? packer.take() : Bytes();
}

std::vector<std::string> Tool::hosts(const ToolDirectives& wanted) const {
    return rendezvous_hosts(wanted.host.empty() ? runtime_.hostname() : wanted.host);
}

Result<Tool::Candidate> Tool::read(const std::string& path) const {
    auto found =
        read_rendezvous_file(path, runtime_.parameters().boolean("tool_base_trust_foreign_files"), false);
    if (!found) return found.error();
    Candidate candidate;
    candidate.path = path;
    std::string transport;
    split_server_uri(found->uris.back(), candidate.server, transport);
    candidate.security = found->security;
    candidate.rendezvous = std::move(*found);
    return candidate;
}

Result<Tool::Candidate> Tool::of_uri(const ToolDirectives& wanted) const {
    constexpr std::string_view kFile = "file:";
    if (wanted.uri.compare(0, kFile.size(), kFile) == 0) return read(wanted.uri.substr(kFile.size()));
    Candidate candidate;
    std::string transport;
    if (!split_server_uri(wanted.uri, candidate.server, transport))
        return Error{PMIX_ERR_BAD_PARAM, "'" + wanted.uri.substr(0, 256) + "' is no URI of a server"};
    if (wanted.tcp_only && !transport_is(runtime_.registry(), &Ptl::universal, transport))
        return Error{PMIX_ERR_NOT_SUPPORTED, "'" + wanted.uri.substr(0, 256) + "' is no URI of TCP"};
    candidate.rendezvous.uris = {wanted.uri};
    candidate.rendezvous.version = kAssumedVersion;
    return candidate;
}

Result<Tool::Candidate> Tool::of_system(const ToolDirectives& wanted) const {
    Error last{PMIX_ERR_NOT_FOUND, "there is no system server"};
    for (const std::string& host : hosts(wanted)) {
        auto found = read(wanted.system_directory + "/" + system_rendezvous_name(host));
        if (found) return found;
        last = found.error();
        if (last.code != PMIX_ERR_NOT_FOUND) break;
    }
    return last;
}

Result<Tool::Candidate> Tool::named(const ToolDirectives& wanted, const std::string& what) const {
    // Tries the well-known paths first; the search below the folders follows.
    std::vector<std::string> names, folders = {wanted.session_directory};
    if (wanted.system_directory != wanted.session_directory) folders.push_back(wanted.system_directory);
    for (const std::string& host : hosts(wanted))
        names.push_back(session_rendezvous_name(host, what));
    Error last{PMIX_ERR_NOT_FOUND,
               "there is no rendezvous file " + names.front() + " below " + folders.front()};
    for (const std::string& folder : folders) {
        for (const std::string& name : names) {
            auto found = read(folder + "/" + name);
            if (found) return found;
            if (found.status() != PMIX_ERR_NOT_FOUND) last = found.error();
        }
    }
    for (const std::string& folder : folders) {
        for (const std::string& path : search_rendezvous(folder, [&](const std::string& name) {
                 return std::ranges::find(names, name) != names.end();
             })) {
            auto found = read(path);
            if (found) return found;
            last = found.error();
            MUSTER_LOG(log(), Info, "%s", last.text.c_str());  // the caller reports the last one
        }
    }
    return last;
}

Result<Tool::Outcome> Tool::reach(const Candidate& candidate, milliseconds limit, bool& answered) {
    const auto known = has_had_servers_ && call_and_wait<bool>(runtime_, false, [&](auto deliver) {
                           deliver(client_.connected_to(candidate.server));
                       });
    if (known) return Outcome{std::nullopt, candidate.server, {}};
    ServerContact contact;
    contact.kind = identity_.kind();
    contact.nspace = identity_.nspace;
    contact.rank = identity_.rank;
    // Another process may have got an address that stays when its server ends, such as a port of TCP. Only
    // then is it checked whether the server lives: the check takes as long as all the rest.
    auto& uris = candidate.rendezvous.uris;
    const bool by_file = !candidate.path.empty() && candidate.rendezvous.pid > 0;
    const auto gone_with_server = [&](const std::string& uri) {
        pmix_proc_t server{};
        std::string transport;
        return split_server_uri(uri, server, transport) &&
               transport_is(runtime_.registry(), &Ptl::gone_with_server, transport);
    };
    // The first address decides: to ask about the others would open transports that are mostly not needed.
    const auto first_open = uris.begin() + (by_file && gone_with_server(uris.front()) ? 1 : 0);
    const bool two_ways = by_file && first_open != uris.begin() && first_open != uris.end();
    const auto stale = [&] { return is_stale(candidate.rendezvous.pid, candidate.rendezvous.written); };
    contact.uris.assign(uris.begin(), two_ways ? first_open : uris.end());
    if (by_file && first_open == uris.begin() && stale())
        return stale_rendezvous(candidate.path, candidate.rendezvous.pid);
    bool others = two_ways;
    contact.version = candidate.rendezvous.version;
    contact.security = candidate.security;
    contact.about_us = about_us();
    contact.asks_job_data = asks_job_data_;
    const auto until = Clock::now() + limit;
    std::set<std::string> refused;
    Result<Greeted> greeted = Error{PMIX_ERR_UNREACH, {}};
    while (!greeted) {
        ConnectAttempt attempt;
        greeted = connect_to_server(runtime_, contact, client_.format(), left(until), &attempt);
        answered = attempt.answered;
        if (greeted) break;
        if (others && !answered) {
            others = false;
            if (stale()) return stale_rendezvous(candidate.path, candidate.rendezvous.pid);
            contact.uris.assign(first_open, uris.end());
        } else if (greeted.status() == PMIX_ERR_NOT_AVAILABLE && !contact.security.empty() &&
                   refused.empty()) {
            // The server's security modes are unavailable here; it may still accept another.
            contact.security.clear();
        } else if (greeted.status() == PMIX_ERR_INVALID_CRED && !attempt.security.empty()) {
            // It does not accept this credential, and may accept the next.
            refused.insert(attempt.security);
            contact.security = other_security(runtime_.registry(), contact.security, refused);
            if (contact.security.empty()) return greeted.error();
            MUSTER_LOG(log(), Info, "%s; trying %s", greeted.error().text.c_str(), contact.security.c_str());
        } else {
            return greeted.error();
        }
    }
    has_had_servers_ = true;
    const pmix_proc_t server = greeted->server;
    return Outcome{std::move(*greeted), server, candidate.rendezvous.uris.back()};
}

Result<Tool::Outcome> Tool::retrying(const ToolDirectives& wanted,
                                     const std::function<Result<Candidate>()>& find) {
    const auto until = Clock::now() + wanted.limit;
    for (uint32_t attempt = 1;; ++attempt) {
        Error error;
        bool answered = false;
        if (auto found = find(); !found) {
            error = found.error();
            // Waiting changes neither the arguments nor the owner of the file.
            if (error.code == PMIX_ERR_BAD_PARAM || error.code == PMIX_ERR_NOT_SUPPORTED ||
                error.code == PMIX_ERR_NO_PERMISSIONS)
                return unreachable(error);
        } else {
            auto reached = reach(*found, left(until), answered);
            if (reached) return reached;
            error = reached.error();
        }
        if (answered || attempt >= wanted.attempts || left(until) <= wanted.delay) return unreachable(error);
        MUSTER_LOG(log(), Info, "attempt %u of %u: %s", attempt, wanted.attempts, error.text.c_str());
        std::this_thread::sleep_for(wanted.delay);
    }
}

Result<Tool::Outcome> Tool::search(const ToolDirectives& wanted) {
    const auto until = Clock::now() + wanted.limit;
    const auto names = hosts(wanted);
    const auto is_session_file = [&](const std::string& name) { return is_session_rendezvous(name, names); };
    std::set<std::string> tried;  // a server has several files
    std::vector<std::string> folders = {wanted.session_directory};
    if (wanted.system_directory != wanted.session_directory) folders.push_back(wanted.system_directory);
    Error last{PMIX_ERR_UNREACH, "there is no rendezvous file of a server below " + folders.front()};
    // Mostly they are in the folder itself, and below it is all that others have in their temporary files.
    std::vector<std::pair<std::string, RendezvousDepth>> places;
    for (const std::string& folder : folders) {
        places.emplace_back(folder, RendezvousDepth::Here);
        places.emplace_back(folder, RendezvousDepth::Further);
    }
    for (const auto& [folder, depth] : places) {
        for (const std::string& path : search_rendezvous(folder, is_session_file, depth)) {
            auto candidate = read(path);
            if (candidate) {
                if (!tried.insert(candidate->rendezvous.uris.back()).second) continue;
                bool answered = false;
                auto reached = reach(*candidate, left(until), answered);
                if (reached && reached->greeted) return reached;
                if (reached) continue;  // we have it already
                last = reached.error();
            } else {
                last = candidate.error();
            }
            MUSTER_LOG(log(), Error, "%s", last.text.c_str());
            if (left(until) == milliseconds(0)) return Error{PMIX_ERR_TIMEOUT, last.text};
        }
    }
    return Error{PMIX_ERR_UNREACH, last.text};
}

Result<Tool::Outcome> Tool::rendezvous(const ToolDirectives& wanted) {
    if (!wanted.attachment_file.empty())
        return retrying(wanted, [&] { return read(wanted.attachment_file); });
    if (!wanted.uri.empty()) return retrying(wanted, [&] { return of_uri(wanted); });
    if (wanted.server_pid)
        return retrying(wanted, [&] { return named(wanted, std::to_string(*wanted.server_pid)); });
    if (!wanted.server_nspace.empty())
        return retrying(wanted, [&] { return named(wanted, wanted.server_nspace); });
    if (wanted.system_only) return retrying(wanted, [&] { return of_system(wanted); });
    if (wanted.system_first) {
        auto found = of_system(wanted);
        if (found) {
            bool answered = false;
            auto reached = reach(*found, wanted.limit, answered);
            if (reached && reached->greeted) return reached;
            if (!reached) MUSTER_LOG(log(), Info, "%s", reached.error().text.c_str());
        } else {
            MUSTER_LOG(log(), Info, "%s", found.error().text.c_str());
        }
    }
    // The tool that started this process may have left its own file there; if there is none, it waits for
    // this process's file.
    if (const char* path = secure_getenv("PMIX_LAUNCHER_RNDZ_FILE"); path != nullptr && *path != '\0') {
        auto found = read(path);
        if (found || found.status() != PMIX_ERR_NOT_FOUND)
            return retrying(wanted, [&] { return read(path); });
    }
    if (identity_.from_environment) {
        auto contact = ServerContact::from_environment();
        if (contact && *contact) {
            Candidate candidate;
            std::string transport;
            candidate.rendezvous.uris = (*contact)->uris;
            candidate.rendezvous.version = (*contact)->version;
            candidate.security = (*contact)->security;
            split_server_uri((*contact)->uris.front(), candidate.server, transport);
            bool answered = false;
            auto reached = reach(candidate, wanted.limit, answered);
            // The one that started us is the one that is meant, once.
            if (!reached || reached->greeted) return reached;
        }
    }
    return search(wanted);
}

void Tool::go_alone() {
    if (identity_.nspace.empty()) {
        // Unique on this machine now, and in the cluster as far as host names are.
        identity_.nspace = runtime_.hostname() + ":" + std::to_string(getpid());
        identity_.rank = 0;
    }
    runtime_.set_self(make_proc(identity_.nspace, identity_.rank));
    client_.register_alone();
}

Result<void> Tool::begin(const ToolDirectives& wanted) {
    const MutexLock lock(attaching_);
    Client& client = client_;
    client.set_format(runtime_.own_format());
    if (wanted.do_not_connect) {
        go_alone();
        return {};
    }
    asks_job_data_ = true;
    auto reached = rendezvous(wanted);
    asks_job_data_ = false;
    if (!reached) {
        if (!wanted.optional) return reached.error();
        MUSTER_LOG(log(), Info, "going on without a server: %s", reached.error().text.c_str());
        go_alone();
        return {};
    }
    identity_.nspace = reached->greeted->self.nspace;
    identity_.rank = reached->greeted->self.rank;
    runtime_.set_self(reached->greeted->self);
    note_uri(reached->server, reached->uri);
    if (auto added = client.add(std::move(*reached->greeted), true); !added) return added;
    if (auto fetched = client.fetch_job_data(); !fetched) return fetched;
    has_job_data_ = true;
    client.register_alone();
    return {};
}

Result<pmix_proc_t> Tool::attach(const ToolDirectives& wanted) {
    const MutexLock lock(attaching_);
    Client& client = client_;
    auto reached = rendezvous(wanted);
    if (!reached) return reached.error();
    const pmix_proc_t server = reached->server;
    if (!reached->greeted) return server;  // had already
    note_uri(reached->server, reached->uri);
    if (auto added = client.add(std::move(*reached->greeted), wanted.primary); !added) {
        // The server's name is known only from its answer.
        if (added.status() == PMIX_ERR_EXISTS && wanted.names_server()) return server;
        return Error{PMIX_ERR_UNREACH, added.error().text};
    }
    if (identity_.from_environment && !has_job_data_) {
        auto fetched = client.fetch_job_data(server);
        has_job_data_ = static_cast<bool>(fetched);
        if (!fetched) MUSTER_LOG(log(), Info, "%s", fetched.error().text.c_str());
    }
    return server;
}

void Tool::note_uri(const pmix_proc_t& server, const std::string& text) {
    const Value uri = Value::from(text.c_str());
    // Under the server's name, and under ours for the first one, as other libraries have it.
    runtime_.store().post(server, PMIX_INTERNAL, PMIX_SERVER_URI, *uri);
    if (!client_.connected() && own_peers_ == nullptr)
        runtime_.store().post(runtime_.self(), PMIX_INTERNAL, PMIX_SERVER_URI, *uri);
}

void Tool::close() {
    const auto waiting = std::exchange(waiting_, {});
    for (const Waiting& each : waiting)
        each.done({PMIX_ERR_LOST_CONNECTION, {}});
    parent_watch_.reset();
}

void Tool::watch_parent(int fd) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return;  // no descriptor of ours
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    parent_pipe_.reset(fd);
    parent_watch_ = runtime_.loop().watch(fd, [this](EventLoop::Ready) {
        char rest[256];
        ssize_t got = 0;
        while ((got = ::read(parent_pipe_.get(), rest, sizeof rest)) > 0) {
        }
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        parent_watch_.reset();
        auto event = make_event(PMIX_EVENT_JOB_END, parent_.nspace[0] == '\0' ? runtime_.self() : parent_,
                                PMIX_RANGE_PROC_LOCAL);
        events_.raise(std::move(event));
    });
}

Result<void> Tool::obey_parent() {
    // Removed, so that child processes do not use it.
    const auto take = [](const char* name) {
        const char* value = secure_getenv(name);
        std::string text = value == nullptr ? "" : value;
        ::unsetenv(name);
        return text;
    };
    const std::string uri = take("PMIX_LAUNCHER_RNDZ_URI");
    const std::string pipe = take("PMIX_KEEPALIVE_PIPE");
    take("PMIX_LAUNCHER_RNDZ_FILE");
    if (const auto fd = number_of<int>(pipe); fd && *fd >= 0) {
        call_and_wait<bool>(runtime_, false, [this, fd = *fd](auto deliver) {
            watch_parent(fd);
            deliver(true);
        });
    }
    if (uri.empty()) return {};
    Info directives;
    directives.add(PMIX_SERVER_URI, uri.c_str());
    auto wanted = ToolDirectives::read(runtime_, directives);
    if (!wanted) return wanted.error();
    auto attached = attach(*wanted);
    if (!attached)
        return Error{PMIX_ERR_UNREACH,
                     "the tool that started this one cannot be reached: " + attached.error().text};
    parent_ = *attached;
    return runtime_.store().post(runtime_.self(), PMIX_INTERNAL, PMIX_PARENT_ID, *Value::from(parent_)) ==
                   PMIX_SUCCESS
               ? Result<void>()
               : Error{PMIX_ERR_NOMEM, "no memory"};
}

}  // namespace muster
