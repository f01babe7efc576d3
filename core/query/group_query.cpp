// SPDX-License-Identifier: BSD-3-Clause
// A server's answers about groups: see group_query.hpp.
#include "core/query/group_query.hpp"

#include <pmix/muster.h>

#include <algorithm>
#include <utility>

#include "core/exchange/group_table.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/query/query.hpp"
#include "core/query/query_server.hpp"
#include "core/query/query_turns.hpp"
#include "framework/base/argv.hpp"

namespace muster {
namespace {

/// The texts of an array or of a list with commas.
void append_names(const pmix_value_t& value, std::vector<std::string>& names) {
    if (const char* list = value_as_string(&value)) {
        char** parts = argv_split(list, ',', false);
        for (char** part = parts; part != nullptr && *part != nullptr; ++part)
            names.emplace_back(*part);
        argv_free(parts);
    }
    if (value.type != PMIX_DATA_ARRAY || value.data.darray == nullptr) return;
    const pmix_data_array_t& array = *value.data.darray;
    if (array.type != PMIX_STRING || array.array == nullptr) return;
    auto* const* first = static_cast<char* const*>(array.array);
    for (size_t i = 0; i < array.size; ++i) {
        if (first[i] != nullptr) names.emplace_back(first[i]);
    }
}

/// Reads the names that an answer gives for one key, by itself or among the results of a query.
void read_names(InfoView answer, const char* key, std::vector<std::string>& names) {
    for (const pmix_info_t& one : answer) {
        if (key_is(one.key, key)) append_names(one.value, names);
        if (!key_is(one.key, PMIX_QUERY_RESULTS)) continue;
        for (const pmix_info_t& nested : value_as_infos(&one.value)) {
            if (key_is(nested.key, key)) append_names(nested.value, names);
        }
    }
}

void sort_names(std::vector<std::string>& names) {
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
}

/// Data that all questions of one query share.
struct Subject {
    std::optional<pmix_proc_t> proc;
    Info qualifiers;
};

/// One question; there may be many.
struct Question {
    const char* key;
    std::shared_ptr<const Subject> subject;
};

/// The query for a key, or null.
const char* question_about_groups(const char* key) {
    for (const char* known : {PMIX_GROUP_NAMES, PMIX_QUERY_NUM_GROUPS, PMIX_QUERY_GROUP_NAMES}) {
        if (key_is(key, known)) return known;
    }
    return nullptr;
}

/// Answers of several questions, one after the other.
struct Answering : std::enable_shared_from_this<Answering> {
    Answering(QueryServer& the_server, const Caller& the_caller, std::shared_ptr<QueryTurns> the_turns)
        : server(the_server), caller(the_caller), turns(std::move(the_turns)) {}

    QueryServer& server;
    const Caller caller;
    const std::shared_ptr<QueryTurns> turns;
    std::vector<Question> questions;
    size_t next = 0;
    bool ready = false;   ///< for the next one
    bool asking = false;  ///< go_on() is at work
    Info found;
    std::function<void(std::optional<Info>)> done;

    /// Begins, and is called again with each answer. Most answers arrive within the call: the next request
    /// must not be sent from within.
    void go_on() {
        ready = true;
        if (std::exchange(asking, true)) return;
        turns->begin();
        while (std::exchange(ready, false)) {
            if (turns->is_too_much()) return end(std::nullopt);
            if (next == questions.size()) return end(std::move(found));
            if (turns->is_over()) {
                asking = false;
                turns->later([self = shared_from_this()] { self->go_on(); });
                return;
            }
            ask(questions[next++]);
        }
        asking = false;
        turns->end();  // the host is waited for
    }

    void end(std::optional<Info> answers) {
        turns->end();
        done(std::move(answers));
    }

    void ask(const Question& question) {
        const Subject& subject = *question.subject;
        const pmix_proc_t* of =
            key_is(question.key, PMIX_GROUP_NAMES) && subject.proc ? &*subject.proc : nullptr;
        group_names(server, caller, of, subject.qualifiers,
                    [self = shared_from_this(), question](const std::vector<std::string>& names) {
                        self->answer(question.key, names);
                    });
    }

    void answer(const char* key, const std::vector<std::string>& names) {
        if (turns->has_gone()) return;
        if (key_is(key, PMIX_QUERY_NUM_GROUPS)) {
            found.add(key, names.size());
        } else if (!key_is(key, PMIX_GROUP_NAMES) || !names.empty()) {
            found.add(key, texts_value(names));
        } else {
            return go_on();
        }
        turns->count({&found[found.size() - 1], 1});
        go_on();
    }
};

}  // namespace

void group_names(QueryServer& server, const Caller& caller, const pmix_proc_t* of, InfoView directives,
                 NamesDone done) {
    const GroupTable& groups = server.groups();
    std::vector<std::string> names = of != nullptr ? groups.names_of(*of) : groups.names();
    std::erase_if(names, [&](const std::string& id) { return !sees_group(server, caller, id); });
    const auto upcall = server.host().module().query;
    const bool known = of != nullptr && server.namespaces().is_local(*of);
    if (known || upcall == nullptr || directives.is_true(PMIX_QUERY_LOCAL_ONLY) ||
        directives.number<pmix_data_range_t>(PMIX_RANGE) == PMIX_RANGE_LOCAL ||
        proc_is(caller.proc, server.runtime().self())) {
        return done(std::move(names));
    }
    struct Arguments {
        pmix_proc_t proc{};
        char* keys[2] = {nullptr, nullptr};
        Info qualifiers;
        pmix_query_t query{};
    };
    const auto kept = std::make_shared<Arguments>();
    const char* key = of != nullptr ? PMIX_GROUP_NAMES : PMIX_QUERY_GROUP_NAMES;
    kept->proc = caller.proc;
    kept->keys[0] = const_cast<char*>(key);
    if (of != nullptr) kept->qualifiers.add(PMIX_PROCID, *of);
    caller.add_identity(kept->qualifiers);
    kept->query.keys = kept->keys;
    kept->query.qualifiers = kept->qualifiers.data();
    kept->query.nqual = kept->qualifiers.size();
    auto merge = [key, names = std::move(names), done = std::move(done)](const HostAnswer& answer) mutable {
        // A host without an answer knows no others.
        read_names(answer.info, key, names);
        sort_names(names);
        done(std::move(names));
    };
    server.host().upcall(
        "query", kept, server.host().bounded("query", caller.proc, directives, std::move(merge)),
        [&](void* cbdata) { return upcall(&kept->proc, &kept->query, 1, Host::on_info, cbdata); });
}

void answer_about_groups(QueryServer& server, const Caller& caller, Queries& queries,
                         const std::shared_ptr<QueryTurns>& turns,
                         std::function<void(std::optional<Info> found)> done) {
    const auto answering = std::make_shared<Answering>(server, caller, turns);
    std::shared_ptr<const Subject> subject;
    InfoView last;  // the text that was read
    queries.answer([&](const char* key, InfoView qualifiers) {
        const char* const question = question_about_groups(key);
        if (question == nullptr || qualifiers.is_true(PMIX_QUERY_SUPPORTED_QUALIFIERS)) return false;
        const bool of_one = key_is(question, PMIX_GROUP_NAMES);
        if (of_one && qualifiers.proc(PMIX_PROCID) == nullptr) return false;
        // Once for all keys of one query.
        if (!subject || last.data != qualifiers.data) {
            auto copy = Info::copy_of(qualifiers);
            if (!copy) return false;
            auto fresh = std::make_shared<Subject>();
            if (const pmix_proc_t* proc = qualifiers.proc(PMIX_PROCID)) fresh->proc = *proc;
            fresh->qualifiers = std::move(*copy);
            subject = std::move(fresh);
            last = qualifiers;
        }
        answering->questions.push_back({question, subject});
        return true;
    });
    answering->done = std::move(done);
    answering->go_on();
}

bool sees_group(QueryServer& server, const Caller& caller, const std::string& id) {
    const Group* group = server.groups().find(id);
    return group == nullptr || is_master(caller.uid) ||
           server.namespaces().may_see(caller.uid, group->procs());
}

bool answer_groups(QueryServer& server, const Caller& caller, const char* key, Info& found) {
    if (!key_is(key, MUSTER_GROUPS)) return false;
    Info groups;
    for (const auto& [id, group] : server.groups().all()) {
        if (!group.usable() || !sees_group(server, caller, id)) continue;
        Info entry;
        entry.add(PMIX_GROUP_ID, id.c_str());
        entry.add(PMIX_GROUP_MEMBERSHIP, group.membership());
        groups.add(MUSTER_GROUP, std::move(entry).to_value());
    }
    found.add(key, std::move(groups).to_value());
    return true;
}

}  // namespace muster
