// SPDX-License-Identifier: BSD-3-Clause
// A client that executes its words, one after the other, between PMIx_Init and PMIx_Finalize:
//   put SCOPE KEY TEXT, delete SCOPE KEY, commit, fence, collect (a fence with PMIX_COLLECT_DATA), wait (says
//   WAITING and waits for a word), get RANK KEY [ATTRIBUTE=NUMBER...]
// Each get prints the value, or the error. RANK is a number or "job"; SCOPE is local, remote, global or
// internal; ATTRIBUTE is session, session-info, node, optional, immediate, scope, refresh or timeout.
#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/integration/says.hpp"

namespace {

using namespace integration;

pmix_proc_t self;

pmix_scope_t scope_of(const std::string& name) {
    static const std::map<std::string, pmix_scope_t> scopes = {
        {"local", PMIX_LOCAL}, {"remote", PMIX_REMOTE}, {"global", PMIX_GLOBAL}, {"internal", PMIX_INTERNAL}};
    return scopes.at(name);
}

pmix_scope_t deletion_of(const std::string& name) {
    static const std::map<std::string, pmix_scope_t> scopes = {{"local", PMIX_DEL_LOCAL},
                                                               {"remote", PMIX_DEL_REMOTE},
                                                               {"global", PMIX_DEL_GLOBAL},
                                                               {"internal", PMIX_DEL_INTERNAL}};
    return scopes.at(name);
}

void put(const std::string& scope, const std::string& key, const std::string& text) {
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_STRING;
    value.data.string = const_cast<char*>(text.c_str());
    expect("put of " + key, PMIx_Put(scope_of(scope), key.c_str(), &value));
}

void fence(bool collect, bool alone) {
    pmix_proc_t all = self;
    if (!alone) all.rank = PMIX_RANK_WILDCARD;
    pmix_info_t info;
    expect("info", PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL));
    expect("fence", PMIx_Fence(&all, 1, &info, 1));
}

pmix_info_t directive(const std::string& word) {
    const size_t sign = word.find('=');
    const std::string name = word.substr(0, sign);
    const auto number = static_cast<uint32_t>(std::stoul(word.substr(sign + 1)));
    const bool yes = number != 0;
    const int seconds = static_cast<int>(number);
    const auto scope = static_cast<pmix_scope_t>(number);
    pmix_info_t info;
    memset(&info, 0, sizeof info);
    if (name == "session") PMIx_Info_load(&info, PMIX_SESSION_ID, &number, PMIX_UINT32);
    if (name == "session-info") PMIx_Info_load(&info, PMIX_SESSION_INFO, &yes, PMIX_BOOL);
    if (name == "node") PMIx_Info_load(&info, PMIX_NODE_INFO, &yes, PMIX_BOOL);
    if (name == "optional") PMIx_Info_load(&info, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (name == "immediate") PMIx_Info_load(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    if (name == "refresh") PMIx_Info_load(&info, PMIX_GET_REFRESH_CACHE, &yes, PMIX_BOOL);
    if (name == "scope") PMIx_Info_load(&info, PMIX_DATA_SCOPE, &scope, PMIX_SCOPE);
    if (name == "timeout") PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    if (info.key[0] == '\0') fail("no attribute " + word);
    return info;
}

void get(const std::string& rank, const std::string& key, std::vector<pmix_info_t>& infos) {
    pmix_proc_t proc = self;
    proc.rank = rank == "job" ? PMIX_RANK_WILDCARD : static_cast<pmix_rank_t>(std::stoul(rank));
    pmix_value_t* value = nullptr;
    const pmix_status_t status = PMIx_Get(&proc, key.c_str(), infos.data(), infos.size(), &value);
    if (status != PMIX_SUCCESS) return say(PMIx_Error_string(status));
    if (value->type == PMIX_STRING) {
        say(value->data.string);
    } else if (value->type == PMIX_UINT32) {
        say(std::to_string(value->data.uint32));
    } else {
        say("type " + std::to_string(value->type));
    }
    PMIx_Value_destruct(value);
    free(value);
}

}  // namespace

int main(int argc, char** argv) {
    alarm(60);
    expect("init", PMIx_Init(&self, nullptr, 0));
    const std::vector<std::string> words(argv + 1, argv + argc);
    for (size_t i = 0; i < words.size();) {
        const std::string& what = words[i++];
        if (what == "put") {
            put(words.at(i), words.at(i + 1), words.at(i + 2));
            i += 3;
        } else if (what == "delete") {
            expect("deletion of " + words.at(i + 1),
                   PMIx_Put(deletion_of(words.at(i)), words.at(i + 1).c_str(), nullptr));
            i += 2;
        } else if (what == "commit") {
            expect("commit", PMIx_Commit());
        } else if (what == "fence" || what == "collect" || what == "collect-self") {
            fence(what != "fence", what == "collect-self");
        } else if (what == "wait") {
            say("WAITING");
            wait_for_word();
        } else if (what == "get") {
            const std::string& rank = words.at(i++);
            const std::string& key = words.at(i++);
            std::vector<pmix_info_t> infos;
            while (i < words.size() && words[i].find('=') != std::string::npos)
                infos.push_back(directive(words[i++]));
            get(rank, key, infos);
        } else {
            fail("no word " + what);
        }
    }
    expect("finalize", PMIx_Finalize(nullptr, 0));
    say("END");
    return 0;
}
