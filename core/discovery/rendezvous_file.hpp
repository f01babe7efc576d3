// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous files, by which tools find servers: written by a server, read by a tool. The format is
// OpenPMIx's (docs/reference/wire.md, rendezvous files), so that its tools find our servers and ours its
// servers.
#pragma once

#include <pmix_common.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/result.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {

/// The content of a rendezvous file.
struct Rendezvous {
    std::vector<std::string> uris;  ///< best first: "nspace.rank;transport"
    std::string version;            ///< without a leading v
    pid_t pid = 0;                  ///< 0: not said
    std::optional<uint32_t> user, group;
    std::string security;  ///< names of psec components that the server accepts, in its order; empty: unknown
    std::string started;   ///< a date as ctime writes it; empty: unknown
    time_t written = 0;    ///< when the file was; 0: not read from one
};

/// Reads one. The file must be a regular one, not a link, owned by root or the effective user (or any user,
/// if `foreign`), not world-writable, and small; the error's sentence gives the reason of a refusal.
/// PMIX_ERR_NOT_FOUND: the file does not exist. PMIX_ERR_NO_PERMISSIONS: it is unreadable or untrusted.
/// PMIX_ERR_FILE_READ_FAILURE: it is truncated (its writer may not have finished). PMIX_ERR_BAD_PARAM: it is
/// not a rendezvous file. PMIX_ERR_UNREACH: its server has ended. Without `sure` another process that has
/// since got the same ID counts as the server (see is_stale()).
Result<Rendezvous> read_rendezvous_file(const std::string& path, bool foreign, bool sure = true);
/// Returns the error for a file whose server has ended.
Error stale_rendezvous(const std::string& path, pid_t pid);

/// Reads the same from a text.
Result<Rendezvous> parse_rendezvous(const std::string& text, const std::string& path);

/// Whether the process named in the file of this modification time has ended.
bool is_stale(pid_t pid, time_t written);

/// Short and full name of a host, without repetition: OpenPMIx's files carry the short one, the Standard's
/// the one that gethostname gives.
std::vector<std::string> rendezvous_hosts(const std::string& hostname);

/// The files of one server; removed with the object, as long as they are still its own.
class RendezvousFiles {
  public:
    enum class Reach { User, Everyone };

    RendezvousFiles(std::string text, Reach reach) : text_(std::move(text)), reach_(reach) {}
    ~RendezvousFiles();
    RendezvousFiles(const RendezvousFiles&) = delete;
    RendezvousFiles& operator=(const RendezvousFiles&) = delete;

    /// Makes one, whole or not at all, 0600 (0644 for everyone). Missing folders are made (0700). Replaces
    /// the file of a server that has ended; PMIX_ERR_EXISTS for one of a living server.
    /// PMIX_ERR_NO_PERMISSIONS for a file of another user, and for root in a folder that others can change.
    Result<void> add(const std::string& path);

  private:
    struct Made {
        UniqueFd folder;
        std::string name;
        ino_t inode;
    };
    const std::string text_;
    const Reach reach_;
    const pid_t owner_ = ::getpid();
    std::vector<Made> made_;
};

/// The text of such a file: the first URI is the one that any tool understands, the others are for tools of
/// this library. Each "nspace.rank;transport". `security`: names of psec components, by comma.
std::string rendezvous_text(const std::vector<std::string>& uris, const std::string& version,
                            const std::string& security);

/// Splits "nspace.rank;transport". The namespace ends at the last dot before the semicolon.
bool split_server_uri(const std::string& uri, pmix_proc_t& server, std::string& transport);

}  // namespace muster
