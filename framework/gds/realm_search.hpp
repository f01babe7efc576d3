// SPDX-License-Identifier: BSD-3-Clause
// The order in which a store searches the realms for a reserved key (Standard: Reserved Keys, PMIx_Get).
#pragma once

#include "framework/gds/realm.hpp"

namespace muster {

/// The search of one store. `Answer()` means that the value is absent, and the search continues. `Search`
/// derives from this class and has
///   lookup(): the question
///   session(info), job(info), app(info), node(info, of_rank): one realm, with the values that follow from
///     others; with of_rank, the node of the process that is named
///   host_proc(), host_job(info), host_own_node(): the values that the host gave for the process, the job and
///     this node
///   derived_proc(info): the values that follow for the process
///   posted(): the values that the process posted
///   knows_job(), knows_node(): whether there is anything of the job, and which node the process is on
template <class Search, class Answer>
class RealmSearch {
  protected:
    bool valid_rank() const { return self().lookup().rank < PMIX_RANK_VALID; }
    /// The caller names a node.
    bool node_named() const { return self().lookup().nodeid || self().lookup().hostname != nullptr; }

    /// In the realm that the caller names, else in that of the key.
    Answer reserved(const KeyInfo& info) {
        switch (self().lookup().realm) {
            case Lookup::Realm::Session:
                return self().session(info);
            case Lookup::Realm::Job:
                return self().job(info);
            case Lookup::Realm::App:
                return self().app(info);
            case Lookup::Realm::Node:
                return self().node(info, true);
            case Lookup::Realm::Proc:
                return valid_rank() ? proc(info) : by_key(info);
            case Lookup::Realm::Auto:
                break;
        }
        return by_key(info);
    }

  private:
    Search& self() { return static_cast<Search&>(*this); }
    const Search& self() const { return static_cast<const Search&>(*this); }

    Answer proc(const KeyInfo& info) {
        if (!self().knows_job()) return Answer();
        // A value that applies to all processes may be at job level.
        if (!valid_rank()) return self().job(info);
        if (const Answer answer = self().host_proc(); answer != Answer()) return answer;
        if (const Answer answer = self().derived_proc(info); answer != Answer()) return answer;
        if (const Answer answer = self().posted(); answer != Answer()) return answer;
        return self().host_job(info);
    }

    Answer by_node_key(const KeyInfo& info) {
        // The name and id of a process's node count as the process's own.
        const bool of_proc = info.fact == Fact::Hostname || info.fact == Fact::NodeId;
        if (!valid_rank() || node_named()) return self().node(info, of_proc);
        if (const Answer answer = self().host_proc(); answer != Answer()) return answer;
        // A server answers single keys of another job's process, without a map.
        if (of_proc && self().knows_job() && !self().knows_node()) return self().posted();
        const Answer answer = self().node(info, of_proc);
        return answer != Answer() ? answer : self().posted();
    }

    Answer by_key(const KeyInfo& info) {
        switch (info.realm) {
            case Lookup::Realm::Session: {
                const Answer answer = self().session(info);
                return answer != Answer() ? answer : self().host_job(info);
            }
            case Lookup::Realm::Job:
                return self().job(info);
            case Lookup::Realm::App:
                return self().app(info);
            case Lookup::Realm::Node:
                return by_node_key(info);
            case Lookup::Realm::Proc:
                return proc(info);
            case Lookup::Realm::Auto:
                break;
        }
        if (valid_rank()) {
            if (const Answer answer = self().host_proc(); answer != Answer()) return answer;
            if (const Answer answer = self().posted(); answer != Answer()) return answer;
        }
        if (const Answer answer = self().job(info); answer != Answer()) return answer;
        if (const Answer answer = self().session(info); answer != Answer()) return answer;
        return self().host_own_node();
    }
};

}  // namespace muster
