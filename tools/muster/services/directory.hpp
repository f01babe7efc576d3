// SPDX-License-Identifier: BSD-3-Clause
// What is published: the store of the whole run, with ranges, persistence and access (Standard 5.0, 9).
// Values are opaque here: packed by the node of the publisher, unpacked by the one of who looks up.
#pragma once

#include <list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// Which processes data is for, or is looked up from.
struct PublishRange {
    uint32_t range = 0;           ///< PMIX_RANGE_...
    std::vector<ProcName> procs;  ///< of PMIX_RANGE_CUSTOM; ranks may be wildcards
    bool operator==(const PublishRange&) const = default;
};

/// Who publishes or looks up.
struct Party {
    ProcName proc;
    uint32_t node = 0;
    uint32_t uid = 0, gid = 0;
    bool is_host = false;  ///< the server itself
};

class Directory final : public Service {
  public:
    enum class Request : uint32_t { Publish, Lookup, Unpublish };

    explicit Directory(Hub& hub) : hub_(hub) {}
    void asked(Asker asker, Reader& in) override;
    /// A tool has left: its name.
    void told(uint32_t node, Reader& in) override;
    void proc_ended(JobRecord& job, uint32_t rank) override;
    void node_gone(uint32_t node) override;

  private:
    struct Entry {
        std::string key, value;
        Party owner;
        PublishRange range;
        uint32_t persistence = 0;
        std::optional<std::set<uint32_t>> uids, gids;  ///< who may read it; absent: everybody in range
    };
    struct Lookup {
        Asker asker;
        Party party;
        std::vector<std::string> keys;
        std::optional<PublishRange> range;
        size_t wanted = 0;  ///< waits until so many of the keys are there; 0: does not wait
        Watch timer;
    };
    using Entries = std::list<Entry>;

    void publish(Asker asker, const Party& party, Reader& in);
    void look_up(Asker asker, const Party& party, Reader& in);
    void unpublish(Asker asker, const Party& party, Reader& in);
    Entries::iterator find(const Lookup& lookup, const std::string& key, bool& denied);
    /// Answers when it need not wait any more, or `at_once`; false when it goes on waiting.
    bool answer(Lookup& lookup, bool at_once);
    void serve_waiting();
    /// Nobody waits for what this process looked up any more.
    void forget_waiting(const ProcName& proc);

    Hub& hub_;
    Entries entries_;
    std::list<Lookup> waiting_;
};

void write_range(Writer& out, const PublishRange& range);
PublishRange read_range(Reader& in);

}  // namespace muster::launcher
