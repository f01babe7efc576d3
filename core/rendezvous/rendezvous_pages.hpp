// SPDX-License-Identifier: BSD-3-Clause
// A server's part in the rendezvous in memory (docs/explanation/barrier.md): it creates a page for each job
// that is completely on this node, and shuts it when the server receives an operation of the job, or a
// process ends. The barriers and the meetings decide when a page is opened. Belongs to the loop.
#pragma once

#include <memory>

#include "core/rendezvous/rendezvous_page.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {

class Namespaces;
class Runtime;
struct Namespace;

class RendezvousPages {
  public:
    RendezvousPages(const RendezvousPages&) = delete;
    RendezvousPages& operator=(const RendezvousPages&) = delete;

    /// Makes the processes that wait in memory ask the server: a process of the namespace has ended.
    void call_in(const char* nspace);
    /// The same for all namespaces, for a query of the waits.
    void call_in_all();
    /// More is known of the namespace.
    void registered(const char* nspace);
    void deregistered(const char* nspace);

  protected:
    struct Shared {
        std::unique_ptr<RendezvousPage> page;  ///< null if it could not be made
        uint32_t size = 0;                     ///< processes of the job
        bool open = false;                     ///< as far as the server knows: processes may have shut it
        uint32_t openings = 0;                 ///< how often it was opened
    };

    /// `purpose` and `users` are words for the page's name and the log ("barrier", "fences"); a job of more
    /// than `most` processes has no page.
    RendezvousPages(Runtime& runtime, Namespaces& namespaces, const char* purpose, const char* users,
                    uint32_t most)
        : runtime_(runtime), namespaces_(namespaces), purpose_(purpose), users_(users), most_(most) {}
    ~RendezvousPages() = default;

    Runtime& runtime() const { return runtime_; }
    Namespaces& namespaces() const { return namespaces_; }

    /// The page of a namespace, created if there is none and the job is completely on this node (then `made`
    /// is set). Null if it has none.
    Shared* offer(const Namespace& nspace, bool& made);
    /// The page of a namespace, or null.
    Shared* find(const char* nspace);
    static void open(Shared& shared);
    static void call_in(Shared& shared);

  private:
    /// How many processes the job has, when all of them are here, and they are more than one; else 0.
    uint32_t size_of(const Namespace& nspace) const;

    Runtime& runtime_;
    Namespaces& namespaces_;
    const char* const purpose_;
    const char* const users_;
    const uint32_t most_;
    TextMap<Shared> shared_;
};

}  // namespace muster
