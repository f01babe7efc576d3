// SPDX-License-Identifier: BSD-3-Clause
// One end of the socket pair between the launcher and a node daemon. Either end sends questions, answers and
// notices, each with a topic. Frames are sent and received on the loop; a damaged frame ends the link.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tools/muster/base/loop.hpp"
#include "tools/muster/exchange/buffer.hpp"

namespace muster::launcher {

/// The subject of a question or of a notice. Each body is described where it is unpacked.
enum class Topic : uint16_t {
    // The life of a node.
    Ready = 1,  ///< node tells: the URI of its server
    Failure,    ///< node tells: the reason of its failure, as an unpacked text
    Guidance,   ///< node tells: the requests of the tool that controls muster (initiator.hpp)
    Release,    ///< node tells: the process that releases muster (PMIX_DEBUGGER_RELEASE)
    Quit,       ///< launcher tells: end all remaining processes, and the node
    // The life of a job.
    JobSetup,     ///< launcher asks: the set-up data for the nodes of a job
    JobRegister,  ///< launcher asks: register a job; the answer is empty or an error
    JobStart,     ///< launcher tells: start the node's processes of a job
    Restart,      ///< launcher tells: restart a process on its node, with the number of restarts
    JobForget,    ///< launcher tells: a job has ended, the server may deregister it
    Rank,         ///< node tells: an event of a process (RankEvent)
    Signal,       ///< launcher tells: send a signal to processes
    Output,       ///< node tells: output of a process; launcher tells: how many bytes of it were written
    Input,        ///< launcher tells: input of a process; node tells: its result
    // The services of the host.
    Fence,
    Modex,  ///< node asks the launcher, which asks the node of the process
    Publish,
    Spawn,
    Connect,
    Query,
    Control,
    Event,
    Group,
    KnownGroups,
    Forward,
    Log,
    Debug,
    Stacks,  ///< launcher asks a node: stack traces of processes
};

class Link {
  public:
    /// A question (its number is not 0), which is to be answered once, or a notice (0).
    using OnMessage = std::function<void(Topic topic, uint64_t question, Buffer& in)>;
    using OnClosed = std::function<void()>;
    using Done = std::function<void(pmix_status_t status, Buffer& in)>;

    /// Owns `fd` from now on. `on_closed` is called once, at the end of the peer or after a damaged frame.
    Link(Loop& loop, int fd, OnMessage on_message, OnClosed on_closed);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// `done` is called once: with PMIX_ERR_LOST_CONNECTION if the link ends first, with
    /// PMIX_ERR_OUT_OF_RESOURCE if the body exceeds a frame (1 GiB).
    void ask(Topic topic, const Buffer& body, Done done);
    void answer(uint64_t question, pmix_status_t status, const Buffer& body = {});
    void tell(Topic topic, const Buffer& body = {}) { send(Kind::Tell, topic, 0, PMIX_SUCCESS, body); }
    /// Waits until the queue is written (or the peer has closed). For the last messages of a process.
    void flush();
    /// Completes all questions that are open.
    void give_up();

  private:
    enum class Kind : uint16_t { Ask = 1, Answer, Tell };
    struct Header {
        uint32_t length;
        Kind kind;
        Topic topic;  ///< of a question or notice
        uint64_t id;
        int32_t status;  ///< of an answer
        uint32_t unused;
    };

    bool send(Kind kind, Topic topic, uint64_t id, pmix_status_t status, const Buffer& body);
    void deliver();
    bool receive(const Header& header, Buffer& body);
    void read_some();
    void write_some();
    void close();

    int fd_;
    OnMessage on_message_;
    OnClosed on_closed_;
    std::string in_;  ///< less than a header
    Header header_{};
    std::unique_ptr<char, decltype(&free)> body_{nullptr, free};  ///< of the frame that is being read
    size_t body_size_ = 0;                                        ///< number of received bytes
    std::string out_;
    size_t out_done_ = 0;
    Watch readable_;
    Watch writable_;
    std::map<uint64_t, Done> open_;  ///< questions
    uint64_t next_id_ = 1;
};

}  // namespace muster::launcher
