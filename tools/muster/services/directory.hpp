// SPDX-License-Identifier: BSD-3-Clause
// The store of published data of the whole run, with ranges, persistence and access (Standard 5.0, 9).
// Values are opaque here: packed by the publisher's node, unpacked by the requestor's node.
#pragma once

#include <list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// The processes for which data is published, or from which it is looked up.
struct PublishRange {
    uint32_t range = 0;           ///< PMIX_RANGE_...
    std::vector<ProcName> procs;  ///< of PMIX_RANGE_CUSTOM; ranks may be wildcards
    static auto fields(auto& self) { return std::tie(self.range, self.procs); }
    bool operator==(const PublishRange&) const = default;
};

/// The process that publishes or looks up.
struct Party {
    ProcName proc;
    uint32_t node = 0;
    uint32_t uid = 0, gid = 0;
    bool is_host = false;  ///< the server itself
    static auto fields(auto& self) { return std::tie(self.proc, self.uid, self.gid, self.is_host); }
};

class Directory final : public Service {
  public:
    enum class Request : uint32_t { Publish, Lookup, Unpublish };
    using Ids = std::optional<std::set<uint32_t>>;
    /// The question: a Request, the Party, and this of the operation.
    struct Publication {
        PublishRange range{PMIX_RANGE_SESSION, {}};
        uint32_t persistence = PMIX_PERSIST_SESSION;              ///< the default of a host
        Ids uids, gids;                                           ///< allowed readers; absent: all in range
        std::vector<std::pair<std::string, std::string>> values;  ///< keys and their values
        static auto fields(auto& self) {
            return std::tie(self.range, self.persistence, self.uids, self.gids, self.values);
        }
    };
    struct Wish {
        std::optional<PublishRange> range;
        std::vector<std::string> keys;
        bool waits = false;
        uint32_t wanted = 0;   ///< number of keys to wait for; 0: all
        uint32_t seconds = 0;  ///< time limit; 0: none
        static auto fields(auto& self) {
            return std::tie(self.range, self.keys, self.waits, self.wanted, self.seconds);
        }
    };
    /// The answer of a lookup: several of these.
    struct Found {
        ProcName owner;
        std::string key, value;
        uint32_t uid = 0, gid = 0;
        static auto fields(auto& self) {
            return std::tie(self.owner, self.key, self.value, self.uid, self.gid);
        }
    };

    explicit Directory(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;
    /// A tool has left: its name.
    void told(uint32_t node, Buffer& in) override;
    void proc_ended(JobRecord& job, uint32_t rank) override;
    void node_gone(uint32_t node) override;

  private:
    struct Entry {
        std::string key, value;
        Party owner;
        PublishRange range;
        uint32_t persistence = 0;
        Ids uids, gids;
    };
    struct Lookup {
        Asker asker;
        Party party;
        std::vector<std::string> keys;
        std::optional<PublishRange> range;
        size_t wanted = 0;  ///< waits until that many of the keys exist; 0: does not wait
        Watch timer;
    };
    using Entries = std::list<Entry>;

    void publish(Asker asker, const Party& party, Buffer& in);
    void look_up(Asker asker, const Party& party, Buffer& in);
    void unpublish(Asker asker, const Party& party, Buffer& in);
    Entries::iterator find(const Lookup& lookup, const std::string& key, bool& denied);
    /// Answers if the wait is over, or `at_once`; false if it continues to wait.
    bool answer(Lookup& lookup, bool at_once);
    void serve_waiting();
    /// The lookups of this process have no reader any more.
    void forget_waiting(const ProcName& proc);

    Entries entries_;
    std::list<Lookup> waiting_;
};

}  // namespace muster::launcher
