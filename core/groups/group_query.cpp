// SPDX-License-Identifier: BSD-3-Clause
// What a server says of groups: see group_query.hpp.
#include "core/groups/group_query.hpp"

#include <algorithm>
#include <utility>

#include "core/events/event.hpp"
#include "core/groups/group_table.hpp"
#include "core/query/query.hpp"
#include "core/server/server.hpp"
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

/// What an answer says to one key, by itself or among the results of a query.
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
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
}

/// One question, and whom it is about.
struct Question {
    std::string key;
    std::optional<pmix_proc_t> of;
    Info qualifiers;
};

/// Answers of several questions, one after the other: they are few.
struct Answering : std::enable_shared_from_this<Answering> {
    Answering(Server& the_server, const Caller& the_caller) : server(the_server), caller(the_caller) {}

    Server& server;
    Caller caller;
    std::vector<Question> questions;
    size_t next = 0;
    bool ready = false;   ///< for the next one
    bool asking = false;  ///< go_on() is at work
    Info found;
    std::function<void(Info)> done;

    /// Begins, and is called again when a question has its answer: mostly at once, so that the next one must
    /// not be asked from within.
    void go_on() {
        ready = true;
        if (std::exchange(asking, true)) return;
        while (std::exchange(ready, false)) {
            if (next == questions.size()) return done(std::move(found));
            ask(questions[next++]);
        }
        asking = false;
    }

    void ask(const Question& question) {
        group_names(server, caller, question.of ? &*question.of : nullptr, question.qualifiers,
                    [self = shared_from_this(), key = question.key.c_str(),
                     of_one = question.of.has_value()](const std::vector<std::string>& names) {
                        if (key_is(key, PMIX_QUERY_NUM_GROUPS)) {
                            self->found.add(key, names.size());
                        } else if (!of_one || !names.empty()) {
                            self->found.add(key, group_names_value(names));
                        }
                        self->go_on();
                    });
    }
};

}  // namespace

void group_names(Server& server, const Caller& caller, const pmix_proc_t* of, InfoView directives,
                 NamesDone done) {
    const GroupTable& groups = server.runtime().groups();
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
        // A host that cannot say knows no others.
        read_names(answer.info, key, names);
        sort_names(names);
        done(std::move(names));
    };
    server.host().upcall(
        "query", kept, bounded(server, "query", caller, directives, std::move(merge)),
        [&](void* cbdata) { return upcall(&kept->proc, &kept->query, 1, Host::on_info, cbdata); });
}

void answer_about_groups(Server& server, const Caller& caller, Queries& queries,
                         std::function<void(Info found)> done) {
    const auto answering = std::make_shared<Answering>(server, caller);
    queries.answer([&](const char* key, InfoView qualifiers) {
        const bool of_one = key_is(key, PMIX_GROUP_NAMES);
        if (!of_one && !key_is(key, PMIX_QUERY_NUM_GROUPS) && !key_is(key, PMIX_QUERY_GROUP_NAMES))
            return false;
        Question question;
        question.key = key;
        const pmix_proc_t* proc = qualifiers.proc(PMIX_PROCID);
        if (of_one && proc == nullptr) return false;
        if (of_one) question.of = *proc;
        auto copy = Info::copy_of(qualifiers);
        if (!copy) return false;
        question.qualifiers = std::move(*copy);
        answering->questions.push_back(std::move(question));
        return true;
    });
    answering->done = std::move(done);
    answering->go_on();
}

bool sees_group(Server& server, const Caller& caller, const std::string& id) {
    const Group* group = server.runtime().groups().find(id);
    return group == nullptr || is_master(caller.uid) ||
           server.namespaces().may_see(caller.uid, group->procs());
}

bool answer_groups(Server& server, const Caller& caller, const char* key, Info& found) {
    if (!key_is(key, kGroupsKey)) return false;
    Info groups;
    for (const auto& [id, group] : server.runtime().groups().all()) {
        if (!group.usable() || !sees_group(server, caller, id)) continue;
        Info entry;
        entry.add(PMIX_GROUP_ID, id.c_str());
        entry.add(PMIX_GROUP_MEMBERSHIP, group.membership());
        groups.add(kGroupKey, std::move(entry).to_value());
    }
    found.add(key, std::move(groups).to_value());
    return true;
}

}  // namespace muster
