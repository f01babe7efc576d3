// SPDX-License-Identifier: BSD-3-Clause
// What the launcher and its node daemons say to each other: a frame is a header (length, kind, id) and a body
// of fixed-size integers in the machine's order and of counted byte strings. Both ends are one program on one
// machine, yet every length and count is checked: a damaged frame ends the link, not the process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// A process of a job that this launcher started: the job's number (1 is the first) and the rank in it.
struct ProcId {
    uint32_t job = 0;
    uint32_t rank = 0;
    auto operator<=>(const ProcId&) const = default;
};

/// In a ProcId: all ranks of the job.
constexpr uint32_t kAllRanks = UINT32_MAX;

/// A process as PMIx names it; the rank may be PMIX_RANK_WILDCARD.
struct ProcName {
    std::string nspace;
    uint32_t rank = 0;
    auto operator<=>(const ProcName&) const = default;
};

/// The services that are asked by way of Ask, Answer and Tell.
enum class Topic : uint32_t {
    Publish = 1,
    Spawn,
    Connect,
    Query,
    Control,
    Event,
    Group,
    Forward,
    Log,
    Debug,
    KnownGroups,
};

enum class Kind : uint32_t {
    // From a node to the launcher.
    Ready = 1,     ///< the server's URI: it runs
    Failed,        ///< text: this node cannot go on
    Registered,    ///< number of the job, text: empty, or why it could not be registered
    Started,       ///< proc, pid
    NotStarted,    ///< proc, exit status as a shell gives it, PMIx's status, text
    Connected,     ///< proc: called PMIx_Init
    Finalized,     ///< proc: called PMIx_Finalize
    Aborted,       ///< proc, status, text, processes to be ended (none: the whole job)
    Exited,        ///< proc, status as of waitpid
    Output,        ///< proc, channel, bytes
    InputTaken,    ///< count of bytes of standard input that were delivered (or dropped)
    InputRefused,  ///< proc: it no longer reads its standard input
    Fence,         ///< id; processes, time limit in seconds (0: none), bytes
    Modex,         ///< id; process whose data is wanted, time limit in seconds
    Ask,           ///< id; topic, body of that service
    SetUp,         ///< number of the job, what its nodes are to be given (packed)
    Guided,        ///< what the tool that guides muster wants (initiator.hpp)
    Released,      ///< process that lets muster go on (PMIX_DEBUGGER_RELEASE)
    // From the launcher to a node.
    Setup,        ///< a job: gather what its nodes are to be given
    Register,     ///< a job (job_message.hpp)
    Start,        ///< number of the job: start your processes of it
    Forget,       ///< number of the job: it has ended, the server need not know it any more
    Answer,       ///< id of the Ask; status, bytes
    Signal,       ///< signal number, count, procs (none: all), whether nothing more is to be started
    Input,        ///< proc, bytes
    InputEnd,     ///< proc
    OutputTaken,  ///< count of bytes of output that were written
    FenceDone,    ///< id; status, bytes
    Quit,         ///< end what is left, and yourself
    // Both ways.
    Tell,       ///< topic, body of that service
    ModexAsk,   ///< to the target's node: id; process
    ModexDone,  ///< id; status, bytes
};

/// A body that grows at its end.
class Writer {
  public:
    Writer& u32(uint32_t value) { return raw(&value, sizeof value); }
    Writer& u64(uint64_t value) { return raw(&value, sizeof value); }
    Writer& i32(int32_t value) { return raw(&value, sizeof value); }
    Writer& proc(ProcId id) { return u32(id.job).u32(id.rank); }
    Writer& bytes(std::string_view text) {
        u64(text.size());
        return raw(text.data(), text.size());
    }
    Writer& name(const ProcName& proc) { return bytes(proc.nspace).u32(proc.rank); }
    Writer& names(const std::vector<ProcName>& procs) {
        u32(static_cast<uint32_t>(procs.size()));
        for (const ProcName& proc : procs)
            name(proc);
        return *this;
    }
    Writer& texts(const std::vector<std::string>& list) {
        u32(static_cast<uint32_t>(list.size()));
        for (const std::string& text : list)
            bytes(text);
        return *this;
    }
    /// Appends all of another body.
    Writer& raw(const Writer& other) { return raw(other.body_.data(), other.body_.size()); }
    const std::string& body() const { return body_; }

  private:
    Writer& raw(const void* data, size_t size) {
        body_.append(static_cast<const char*>(data), size);
        return *this;
    }
    std::string body_;
};

/// Reads a body. After the first item that is not wholly there all items are zero or empty and ok() is false.
/// What bytes() returns points into the body.
class Reader {
  public:
    explicit Reader(std::string_view body) : rest_(body) {}
    uint32_t u32();
    uint64_t u64();
    int32_t i32() { return static_cast<int32_t>(u32()); }
    ProcId proc();
    std::string_view bytes();
    ProcName name();
    std::vector<ProcName> names();
    std::vector<std::string> texts();
    /// A count of items that take at least `item_size` bytes each; 0 and not ok() when they cannot all be
    /// there.
    uint32_t count(size_t item_size);
    bool ok() const { return ok_; }

  private:
    bool take(void* data, size_t size);
    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace muster::launcher
