// SPDX-License-Identifier: BSD-3-Clause
// Queries in memory: answers of the process itself, of its server and of the host, and the merged result.
#include "core/query/query.hpp"

#include <pmix/muster.h>

#include <set>
#include <string>

#include "core/groups/group_server.hpp"
#include "core/iof/piece.hpp"
#include "core/query/query_server.hpp"
#include "framework/base/argv.hpp"
#include "tests/covers.hpp"
#include "tests/unit/core/in_memory/services.hpp"

namespace muster::testing_in_memory {
namespace {

class QueryInMemory : public ServicesInMemory {
  protected:
    /// One query: its keys, by comma, and its qualifiers.
    struct Part {
        const char* keys;
        Info qualifiers;
        explicit Part(const char* the_keys, Info infos = {}) : keys(the_keys), qualifiers(std::move(infos)) {}
    };
    template <class... Parts>
    static Queries queries(const Parts&... parts) {
        std::vector<pmix_query_t> list;
        (list.push_back(pmix_query_t{argv_split(parts.keys, ',', false),
                                     const_cast<pmix_info_t*>(parts.qualifiers.data()),
                                     parts.qualifiers.size()}),
         ...);
        Queries made;
        EXPECT_EQ(Queries::copy_of(list.data(), list.size(), made), PMIX_SUCCESS);
        for (const pmix_query_t& one : list)
            argv_free(one.keys);
        return made;
    }
    Call ask(Process& process, Queries asked_for) {
        return call(process, [&process, kept = std::move(asked_for)](const HostDone& done) mutable {
            Server* server = process.server();
            query(process.exchange(), server == nullptr ? nullptr : &server->queries(), std::move(kept),
                  done);
        });
    }
    template <class... Parts>
    Call ask(uint32_t rank, const Parts&... parts) {
        return ask(node.client(rank), queries(parts...));
    }
    static Info of(const char* nspace) {
        Info info;
        info.add(PMIX_NSPACE, nspace);
        return info;
    }
    static Info of(const char* nspace, pmix_rank_t rank) {
        Info info;
        info.add(PMIX_PROCID, make_proc(nspace, rank));
        return info;
    }
    static HostAnswer found(const char* key, const char* text, pmix_status_t status = PMIX_SUCCESS) {
        HostAnswer answer = answer_of(status);
        answer.info.add(key, text);
        return answer;
    }
    static std::string text_of(const Call& answered, const char* key) {
        const char* text = answered.info().view().string(key);
        return text == nullptr ? "" : text;
    }
    /// Whether a list with commas has this word.
    static bool is_in(const std::string& list, const std::string& word) {
        return ("," + list + ",").find("," + word + ",") != std::string::npos;
    }
    static Info copy(const Info& info) {
        auto made = Info::copy_of(info);
        return made ? std::move(*made) : Info();
    }
    void without_host() {
        pmix_server_module_t without = FakeHost::module<0>();
        without.query = nullptr;
        node.on_loop([&] { node.server().host().set_module(&without, sizeof without); });
    }
};

TEST_F(QueryInMemory, AsksTheHostForWhatNobodyElseKnows) {
    start(1);
    Info qualifiers;
    qualifiers.add("vendor.which", "all");
    qualifiers.add(PMIX_USERID, uint32_t{4711});
    const Call one = ask(0, Part("vendor.load", std::move(qualifiers)));
    const auto upcall = asked("query");
    EXPECT_EQ(upcall->keys, std::vector<std::string>{"vendor.load"});
    EXPECT_EQ(user_in(*upcall), own_user());
    EXPECT_STREQ(upcall->info.view().string("vendor.which"), "all");
    upcall->answer(found("vendor.load", "0.5"));
    EXPECT_EQ(status_of(one), PMIX_SUCCESS);
    EXPECT_EQ(text_of(one, "vendor.load"), "0.5");
}

TEST_F(QueryInMemory, TakesWhatIsKnownAndAsksTheHostForTheRest) {
    start(2);
    const Call one = ask(0, Part("vendor.a,pmix.qry.stabiver,vendor.b"), Part(MUSTER_IOF_DROPPED),
                         Part(PMIX_JOB_SIZE, of("job")), Part("vendor.c", of("job", 1)));
    const auto upcall = asked("query");
    EXPECT_EQ(upcall->keys, (std::vector<std::string>{"vendor.a", "vendor.b", "vendor.c"}));
    HostAnswer answer = found("vendor.a", "a");
    answer.info.add("vendor.b", "b");
    answer.info.add("vendor.c", "c");
    upcall->answer(answer);
    EXPECT_EQ(status_of(one), PMIX_SUCCESS);
    EXPECT_EQ(one.info().size(), 6U);
    EXPECT_EQ(one.info().view().number<size_t>(MUSTER_IOF_DROPPED), 0U);
    EXPECT_EQ(one.info().view().number<uint32_t>(PMIX_JOB_SIZE), 2U);
    EXPECT_EQ(text_of(one, PMIX_QUERY_STABLE_ABI_VERSION), "0.0");
}

TEST_F(QueryInMemory, SaysHowMuchWasFound) {
    start(1);
    struct Case {
        pmix_status_t host;
        bool finds;
        pmix_status_t alone, with_own;
    };
    // Without own data: only the host can answer. With own data: the server can answer one more key.
    const Case cases[] = {
        {PMIX_SUCCESS, true, PMIX_SUCCESS, PMIX_SUCCESS},
        {PMIX_SUCCESS, false, PMIX_ERR_NOT_FOUND, PMIX_SUCCESS},
        {PMIX_ERR_PARTIAL_SUCCESS, true, PMIX_ERR_PARTIAL_SUCCESS, PMIX_ERR_PARTIAL_SUCCESS},
        {PMIX_ERR_NOT_FOUND, false, PMIX_ERR_NOT_FOUND, PMIX_ERR_PARTIAL_SUCCESS},
        {PMIX_ERR_NO_PERMISSIONS, true, PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_PARTIAL_SUCCESS},
    };
    for (const Case& each : cases) {
        for (const bool own : {false, true}) {
            SCOPED_TRACE(std::to_string(each.host) + (own ? " with own" : " alone"));
            const Call one =
                own ? ask(0, Part("vendor.key"), Part(MUSTER_IOF_DROPPED)) : ask(0, Part("vendor.key"));
            HostAnswer answer = answer_of(each.host);
            if (each.finds) answer.info.add("vendor.key", "value");
            asked("query")->answer(answer);
            EXPECT_EQ(status_of(one), own ? each.with_own : each.alone);
            EXPECT_EQ(one.info().view().has(MUSTER_IOF_DROPPED), own);
            const bool counts = each.finds && each.host != PMIX_ERR_NO_PERMISSIONS;
            EXPECT_EQ(one.info().view().has("vendor.key"), counts);
        }
    }
}

TEST_F(QueryInMemory, FindsNoProcessSetsWhereTheHostKnowsNone) {
    start(1);
    for (const pmix_status_t status : {PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_SUPPORTED, PMIX_SUCCESS}) {
        const Call one = ask(0, Part("pmix.qry.psetnum,pmix.qry.psets"));
        asked("query")->answer(answer_of(status));
        EXPECT_EQ(status_of(one), PMIX_SUCCESS);
        EXPECT_EQ(one.info().view().number<size_t>(PMIX_QUERY_NUM_PSETS), 0U);
        const pmix_info_t* names = one.info().view().find(PMIX_QUERY_PSET_NAMES);
        ASSERT_NE(names, nullptr);
        EXPECT_EQ(names->value.type, PMIX_DATA_ARRAY);
    }
    const Call other = ask(0, Part("pmix.qry.psetnum,vendor.key"));
    asked("query")->answer(answer_of(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(status_of(other), PMIX_ERR_PARTIAL_SUCCESS);
    const Call refused = ask(0, Part("pmix.qry.psetnum"));
    asked("query")->answer(answer_of(PMIX_ERR_NO_PERMISSIONS));
    EXPECT_EQ(status_of(refused), PMIX_ERR_NO_PERMISSIONS);
}

TEST_F(QueryInMemory, NamesItsOwnProcessSetsWhereTheHostDoesNot) {
    covers("GRP-13");
    start(1);
    node.on_loop([&] {
        ProcessSets& sets = node.server().queries().group_server().process_sets();
        for (const char* name : {"ocean", "ice"})
            EXPECT_EQ(sets.define(name, {make_proc("job", 0)}), PMIX_SUCCESS);
    });
    const Call own = ask(0, Part("pmix.qry.psets"));
    asked("query")->answer(answer_of(PMIX_ERR_NOT_SUPPORTED));
    EXPECT_EQ(status_of(own), PMIX_SUCCESS);
    const pmix_info_t* names = own.info().view().find(PMIX_QUERY_PSET_NAMES);
    ASSERT_NE(names, nullptr);
    ASSERT_EQ(names->value.type, PMIX_DATA_ARRAY);
    ASSERT_EQ(names->value.data.darray->type, PMIX_STRING);
    ASSERT_EQ(names->value.data.darray->size, 2U);
    EXPECT_STREQ(static_cast<char**>(names->value.data.darray->array)[0], "ocean");
    EXPECT_STREQ(static_cast<char**>(names->value.data.darray->array)[1], "ice");

    const Call hosts = ask(0, Part("pmix.qry.psets"));
    HostAnswer answer;
    answer.info.add(PMIX_QUERY_PSET_NAMES, "ocean,ice");
    asked("query")->answer(answer);
    EXPECT_EQ(status_of(hosts), PMIX_SUCCESS);
    EXPECT_EQ(text_of(hosts, PMIX_QUERY_PSET_NAMES), "ocean,ice");
    EXPECT_EQ(hosts.info().size(), 1U);
}

TEST_F(QueryInMemory, AnswersWithoutAHostWhatTheServerKnows) {
    start(1);
    node.add_job("other", 2);
    without_host();
    const Call names = ask(0, Part(PMIX_QUERY_NAMESPACES));
    EXPECT_EQ(status_of(names), PMIX_SUCCESS);
    const std::string list = text_of(names, PMIX_QUERY_NAMESPACES);
    EXPECT_TRUE(list == "job,other" || list == "other,job") << list;
    EXPECT_EQ(status_of(ask(0, Part("vendor.key"))), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(status_of(ask(0, Part("vendor.key"), Part(PMIX_QUERY_NAMESPACES))), PMIX_ERR_PARTIAL_SUCCESS);
    const Call size = ask(0, Part(PMIX_JOB_SIZE, of("other")));
    EXPECT_EQ(status_of(size), PMIX_SUCCESS);
    EXPECT_EQ(size.info().view().number<uint32_t>(PMIX_JOB_SIZE), 2U);
}

TEST_F(QueryInMemory, FindsNoFactOfAnUnknownProcessWhateverTheHostSays) {
    start(1);
    for (const pmix_status_t status : {PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_FOUND}) {
        const Call one = ask(0, Part(PMIX_HOSTNAME, of("nobody", 0)));
        asked("query")->answer(answer_of(status));
        EXPECT_EQ(status_of(one), PMIX_ERR_NOT_FOUND);
    }
    // No server stores this.
    const Call state = ask(0, Part(PMIX_PROC_STATE_STATUS, of("nobody", 0)));
    asked("query")->answer(answer_of(PMIX_ERR_NOT_SUPPORTED));
    EXPECT_EQ(status_of(state), PMIX_ERR_NOT_SUPPORTED);
    without_host();
    EXPECT_EQ(status_of(ask(0, Part(PMIX_HOSTNAME, of("nobody", 0)))), PMIX_ERR_NOT_FOUND);
}

TEST_F(QueryInMemory, GivesUpAHostThatIsLate) {
    start(1);
    const Call one = ask(0, Part("vendor.key", with_timeout(3)));
    const auto upcall = asked("query");
    pass(std::chrono::seconds(5));
    EXPECT_EQ(status_of(one), PMIX_ERR_TIMEOUT);
    upcall->answer(found("vendor.key", "late"));
    settle();
    EXPECT_EQ(one.answers(), 1);
    const Call two = ask(0, Part("vendor.key", with_timeout(3)), Part(MUSTER_IOF_DROPPED));
    asked("query");
    pass(std::chrono::seconds(5));
    EXPECT_EQ(status_of(two), PMIX_ERR_PARTIAL_SUCCESS) << "what is known all the same";
}

TEST_F(QueryInMemory, RemembersFactsUntilItIsToRefreshThem) {
    start(2);
    const Call first = ask(0, Part("vendor.fact", of("job", 1)));
    asked("query")->answer(found("vendor.fact", "old"));
    EXPECT_EQ(status_of(first), PMIX_SUCCESS);
    const Call second = ask(0, Part("vendor.fact", of("job", 1)));
    EXPECT_EQ(status_of(second), PMIX_SUCCESS);
    EXPECT_EQ(text_of(second, "vendor.fact"), "old");
    EXPECT_EQ(node.host.count("query"), 1U);
    Info refresh = of("job", 1);
    refresh.add(PMIX_QUERY_REFRESH_CACHE, true);
    const Call third = ask(0, Part("vendor.fact", std::move(refresh)));
    asked("query")->answer(found("vendor.fact", "new"));
    EXPECT_EQ(status_of(third), PMIX_SUCCESS);
    EXPECT_EQ(text_of(third, "vendor.fact"), "new");
    // States are not cached.
    for (int i = 0; i < 2; ++i) {
        const Call state = ask(0, Part(PMIX_TIME_REMAINING, of("job", 1)));
        asked("query")->answer(found(PMIX_TIME_REMAINING, "soon"));
        EXPECT_EQ(status_of(state), PMIX_SUCCESS);
    }
}

TEST_F(QueryInMemory, NamesItsProcessInOneWay) {
    start(2);
    Info rank = of("job");
    rank.add(PMIX_RANK, Value::rank(1));
    const Call host = ask(0, Part(PMIX_HOSTNAME, std::move(rank)));
    EXPECT_EQ(status_of(host), PMIX_SUCCESS);
    EXPECT_EQ(text_of(host, PMIX_HOSTNAME), "node0");
    pmix_query_t both{argv_split(PMIX_HOSTNAME, ',', false), nullptr, 0};
    Info qualifiers = of("job", 1);
    qualifiers.add(PMIX_NSPACE, "job");
    both.qualifiers = qualifiers.data();
    both.nqual = qualifiers.size();
    Queries out;
    EXPECT_EQ(Queries::copy_of(&both, 1, out), PMIX_ERR_BAD_PARAM);
    both.qualifiers = nullptr;
    EXPECT_EQ(Queries::copy_of(&both, 1, out), PMIX_ERR_BAD_PARAM);
    argv_free(both.keys);
    both = {};
    EXPECT_EQ(Queries::copy_of(&both, 1, out), PMIX_ERR_BAD_PARAM) << "it asks nothing";
    EXPECT_EQ(Queries::copy_of(nullptr, 1, out), PMIX_ERR_BAD_PARAM);
    Info unknown;
    unknown.add(PMIX_NSPACE, 3);
    const Call odd = ask(0, Part(PMIX_JOB_SIZE, std::move(unknown)));
    asked("query")->answer(answer_of(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(status_of(odd), PMIX_ERR_NOT_FOUND);
}

TEST_F(QueryInMemory, LooksForServersItself) {
    start(1);
    const Call one = ask(0, Part(PMIX_QUERY_AVAIL_SERVERS), Part(MUSTER_IOF_DROPPED));
    // This server does not accept tools: if no other server is found either, the host is asked last.
    ASSERT_TRUE(until([&] {
        if (const auto upcall = node.host.take("query")) upcall->answer(answer_of(PMIX_ERR_NOT_FOUND));
        return one.there();
    }));
    EXPECT_EQ(status_of(one),
              one.info().view().has(PMIX_QUERY_AVAIL_SERVERS) ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS);
}

TEST_F(QueryInMemory, SaysWhichAttributesEachLevelSupports) {
    start(1);
    node.on_loop([&] {
        EXPECT_EQ(node.server().host_attributes().add("publish", {"PMIX_TIMEOUT", "VENDOR_OWN"}),
                  PMIX_SUCCESS);
        EXPECT_EQ(node.server().host_attributes().add("publish", {"PMIX_TIMEOUT"}),
                  PMIX_ERR_REPEAT_ATTR_REGISTRATION);
    });
    const auto level = [&](const char* which, const char* functions) {
        Info qualifiers;
        qualifiers.add(which, functions);
        return ask(0, Part(PMIX_QUERY_ATTRIBUTE_SUPPORT, std::move(qualifiers)));
    };
    for (const char* which :
         {PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES, PMIX_SERVER_ATTRIBUTES, PMIX_HOST_ATTRIBUTES}) {
        const Call all = level(which, "all");
        EXPECT_EQ(status_of(all), PMIX_SUCCESS) << which;
        EXPECT_FALSE(all.info().view().infos(which).empty()) << which;
    }
    const Call one = level(PMIX_HOST_ATTRIBUTES, "PMIx_Spawn,PMIx_Publish");
    EXPECT_EQ(status_of(one), PMIX_SUCCESS);
    const InfoView functions = one.info().view().infos(PMIX_HOST_ATTRIBUTES);
    ASSERT_EQ(functions.size, 1U);
    EXPECT_STREQ(functions[0].key, "PMIx_Publish");
    const Call none = level(PMIX_HOST_ATTRIBUTES, "PMIx_Spawn");
    asked("query")->answer(answer_of(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(status_of(none), PMIX_ERR_NOT_FOUND);
}

TEST_F(QueryInMemory, NamesTheFunctionsOfEachLevelAsKeysAndAsQualifiers) {
    start(1);
    const std::pair<const char*, const char*> levels[] = {{PMIX_CLIENT_FUNCTIONS, "PMIx_Fence_nb"},
                                                          {PMIX_SERVER_FUNCTIONS, "PMIx_server_setup_fork"},
                                                          {PMIX_TOOL_FUNCTIONS, "PMIx_tool_get_servers"},
                                                          {PMIX_HOST_FUNCTIONS, "PMIx_Group_destruct"}};
    for (const auto& [level, function] : levels) {
        const Call key = ask(0, Part(level));
        EXPECT_EQ(status_of(key), PMIX_SUCCESS) << level;
        EXPECT_TRUE(is_in(text_of(key, level), function)) << text_of(key, level);
        Info qualifiers;
        qualifiers.add(level, true);
        const Call qualified = ask(0, Part(PMIX_QUERY_ATTRIBUTE_SUPPORT, std::move(qualifiers)));
        EXPECT_EQ(status_of(qualified), PMIX_SUCCESS) << level;
        EXPECT_EQ(text_of(qualified, level), text_of(key, level));
    }
    // Only those that the host serves.
    const Call more = ask(0, Part(PMIX_HOST_FUNCTIONS));
    EXPECT_EQ(status_of(more), PMIX_SUCCESS);
    EXPECT_TRUE(is_in(text_of(more, PMIX_HOST_FUNCTIONS), "PMIx_Query_info"));
    without_host();
    const Call fewer = ask(0, Part(PMIX_HOST_FUNCTIONS));
    EXPECT_EQ(status_of(fewer), PMIX_SUCCESS);
    EXPECT_FALSE(is_in(text_of(fewer, PMIX_HOST_FUNCTIONS), "PMIx_Query_info"));
    // Without qualifiers: all known levels.
    const Call all = ask(0, Part(PMIX_QUERY_ATTRIBUTE_SUPPORT));
    EXPECT_EQ(status_of(all), PMIX_SUCCESS);
    for (const char* level : {PMIX_CLIENT_ATTRIBUTES, PMIX_SERVER_ATTRIBUTES, PMIX_HOST_FUNCTIONS})
        EXPECT_TRUE(all.info().view().has(level)) << level;
}

TEST_F(QueryInMemory, EachKeyThatIsListedCanBeAsked) {
    start(1);
    for (const bool with_host : {true, false}) {
        if (!with_host) without_host();
        const Call list = ask(0, Part(PMIX_QUERY_SUPPORTED_KEYS));
        if (with_host) asked("query")->answer(found(PMIX_QUERY_SUPPORTED_KEYS, "vendor.a,pmix.qry.psets"));
        EXPECT_EQ(status_of(list), PMIX_SUCCESS);
        std::string left = text_of(list, PMIX_QUERY_SUPPORTED_KEYS);
        for (const char* key :
             {PMIX_QUERY_SUPPORTED_KEYS, PMIX_QUERY_SUPPORTED_QUALIFIERS, PMIX_QUERY_NUM_PSETS,
              PMIX_QUERY_PSET_NAMES, PMIX_QUERY_PSET_MEMBERSHIP, PMIX_QUERY_ATTRIBUTE_SUPPORT,
              PMIX_QUERY_AVAIL_SERVERS, PMIX_QUERY_STABLE_ABI_VERSION, PMIX_QUERY_PROVISIONAL_ABI_VERSION,
              PMIX_QUERY_NUM_GROUPS, PMIX_QUERY_GROUP_NAMES, PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_GROUP_NAMES,
              PMIX_CLIENT_FUNCTIONS, PMIX_HOST_FUNCTIONS, MUSTER_WAITS})
            EXPECT_TRUE(is_in(left, key)) << key;
        EXPECT_EQ(is_in(left, "vendor.a"), with_host);
        EXPECT_EQ(is_in(left, PMIX_QUERY_NAMESPACES), !with_host);
        std::set<std::string> keys;
        while (!left.empty()) {
            const std::string key = left.substr(0, left.find(','));
            left.erase(0, key.size() + 1);
            EXPECT_TRUE(keys.insert(key).second) << key << " is listed twice";
        }
        for (const std::string& key : keys) {
            const Call one = ask(0, Part(key.c_str(), of("job", 0)));
            ASSERT_TRUE(until([&] {
                const auto upcall = node.host.take("query");
                if (upcall && key == "vendor.a") upcall->answer(found("vendor.a", "a"));
                if (upcall && key != "vendor.a") upcall->answer(answer_of(PMIX_ERR_NOT_SUPPORTED));
                return one.there();
            })) << key;
            EXPECT_TRUE(status_of(one) == PMIX_SUCCESS || status_of(one) == PMIX_ERR_NOT_FOUND)
                << key << ": " << status_of(one);
        }
    }
}

TEST_F(QueryInMemory, ListsTheQualifiersOfAllKeysAndOfOne) {
    start(1);
    const Call all = ask(0, Part(PMIX_QUERY_SUPPORTED_QUALIFIERS));
    asked("query")->answer(found(PMIX_QUERY_SUPPORTED_QUALIFIERS, "vendor.which,pmix.nspace"));
    EXPECT_EQ(status_of(all), PMIX_SUCCESS);
    const std::string list = text_of(all, PMIX_QUERY_SUPPORTED_QUALIFIERS);
    for (const char* key : {"vendor.which", PMIX_PSET_NAME, PMIX_GROUP_ID, PMIX_PROCID, PMIX_RANGE,
                            PMIX_QUERY_REFRESH_CACHE, PMIX_HOST_FUNCTIONS})
        EXPECT_TRUE(is_in(list, key)) << key;
    EXPECT_EQ(list.find("pmix.nspace"), list.rfind("pmix.nspace"));
    Info about;
    about.add(PMIX_QUERY_SUPPORTED_QUALIFIERS, true);
    const Call sets = ask(0, Part(PMIX_QUERY_PSET_MEMBERSHIP, copy(about)));
    EXPECT_EQ(status_of(sets), PMIX_SUCCESS);
    EXPECT_EQ(text_of(sets, PMIX_QUERY_PSET_MEMBERSHIP), PMIX_PSET_NAME);
    const Call groups = ask(0, Part(PMIX_QUERY_NUM_GROUPS, copy(about)));
    EXPECT_EQ(status_of(groups), PMIX_SUCCESS);
    EXPECT_TRUE(is_in(text_of(groups, PMIX_QUERY_NUM_GROUPS), PMIX_RANGE));
    // The host supports its own keys.
    const Call hosts = ask(0, Part("vendor.a", copy(about)));
    asked("query")->answer(found("vendor.a", "vendor.which"));
    EXPECT_EQ(status_of(hosts), PMIX_SUCCESS);
    EXPECT_EQ(text_of(hosts, "vendor.a"), "vendor.which");
}

TEST_F(QueryInMemory, AsksTheHostForGroupsOfProcessesElsewhere) {
    start(1);
    const Call names = ask(0, Part(PMIX_GROUP_NAMES, of("elsewhere", 3)), Part(PMIX_QUERY_NUM_GROUPS),
                           Part(MUSTER_IOF_DROPPED));
    auto upcall = asked("query");
    EXPECT_EQ(upcall->keys, std::vector<std::string>{PMIX_GROUP_NAMES});
    upcall->answer(found(PMIX_GROUP_NAMES, "beta,alpha"));
    upcall = asked("query");
    EXPECT_EQ(upcall->keys, std::vector<std::string>{PMIX_QUERY_GROUP_NAMES});
    HostAnswer nested;
    Info results;
    results.add(PMIX_QUERY_GROUP_NAMES, "gamma");
    nested.info.add(PMIX_QUERY_RESULTS, std::move(results).to_value());
    upcall->answer(nested);
    EXPECT_EQ(status_of(names), PMIX_SUCCESS);
    EXPECT_EQ(names.info().view().number<size_t>(PMIX_QUERY_NUM_GROUPS), 1U);
    const pmix_value_t* list = names.info().view().value(PMIX_GROUP_NAMES);
    ASSERT_NE(list, nullptr);
    ASSERT_EQ(list->type, PMIX_DATA_ARRAY);
    EXPECT_EQ(list->data.darray->size, 2U);
    // Neither the server nor the host knows the process.
    const Call missing = ask(0, Part(PMIX_GROUP_NAMES, of("elsewhere", 3)));
    asked("query")->answer(answer_of(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(status_of(missing), PMIX_ERR_NOT_FOUND);
    const Call partly = ask(0, Part(PMIX_GROUP_NAMES, of("elsewhere", 3)), Part(MUSTER_IOF_DROPPED));
    asked("query")->answer(answer_of(PMIX_ERR_NOT_FOUND));
    EXPECT_EQ(status_of(partly), PMIX_ERR_PARTIAL_SUCCESS);
}

TEST_F(QueryInMemory, KnowsTheGroupsOfThisNode) {
    start(2);
    const Call made[2] = {construct(node.client(0), "group", procs_of("job", {0, 1})),
                          construct(node.client(1), "group", procs_of("job", {0, 1}))};
    EXPECT_EQ(status_of(made[0]), PMIX_SUCCESS);
    EXPECT_EQ(status_of(made[1]), PMIX_SUCCESS);
    Info local = of("job", 1);
    local.add(PMIX_QUERY_LOCAL_ONLY, true);
    Info id;
    id.add(PMIX_GROUP_ID, "group");
    const Call one = ask(0, Part(PMIX_GROUP_NAMES, std::move(local)),
                         Part(PMIX_QUERY_GROUP_MEMBERSHIP, std::move(id)), Part("muster.groups"));
    EXPECT_EQ(status_of(one), PMIX_SUCCESS);
    EXPECT_EQ(one.info().size(), 3U);
    const InfoView groups = one.info().view().infos("muster.groups");
    ASSERT_EQ(groups.size, 1U);
    EXPECT_STREQ(value_as_infos(&groups[0].value).string(PMIX_GROUP_ID), "group");
    EXPECT_EQ(node.host.count("query"), 0U);
    // Named by the group and the rank in it.
    const Call member = ask(0, Part(PMIX_HOSTNAME, of("group", 1)));
    EXPECT_EQ(status_of(member), PMIX_SUCCESS);
    EXPECT_EQ(status_of(ask(0, Part(PMIX_HOSTNAME, of("group", 7)))), PMIX_ERR_BAD_PARAM);
}

TEST_F(QueryInMemory, OfTheHostItselfIsNotBoundedByTurns) {
    start(1);
    const Call one = ask(node.process(), queries(Part("vendor.key"), Part(PMIX_JOB_SIZE, of("job"))));
    const auto upcall = asked("query");
    EXPECT_STREQ(upcall->procs[0].nspace, "server0");
    upcall->answer(found("vendor.key", "value"));
    EXPECT_EQ(status_of(one), PMIX_SUCCESS);
    EXPECT_EQ(one.info().size(), 2U);
}

TEST_F(QueryInMemory, IsAnsweredWithoutAServer) {
    start(1);
    node.on_loop([&] { node.server().close(); });
    settle();
    const Call own = ask(0, Part(PMIX_JOB_SIZE, of("job")), Part(PMIX_QUERY_STABLE_ABI_VERSION));
    EXPECT_EQ(status_of(own), PMIX_SUCCESS);
    EXPECT_EQ(status_of(ask(0, Part("vendor.key"))), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(status_of(ask(0, Part("vendor.key"), Part(PMIX_JOB_SIZE, of("job")))),
              PMIX_ERR_PARTIAL_SUCCESS);
}

TEST_F(QueryInMemory, OutlivesItsCaller) {
    start(2);
    ask(0, Part("vendor.key"));
    const auto upcall = asked("query");
    node.kill("job", 0);
    settle();
    upcall->answer(found("vendor.key", "value"));
    const Call next = ask(1, Part("vendor.key"));
    asked("query")->answer(found("vendor.key", "value"));
    EXPECT_EQ(status_of(next), PMIX_SUCCESS);
}

}  // namespace
}  // namespace muster::testing_in_memory
