// SPDX-License-Identifier: BSD-3-Clause
// hostname_of ROLE - requests the host of a process of an unknown namespace: as a client, as a tool
// of the server at SERVER_URI, or as a server whose host answers no queries. Status 0 if PMIx_Query_info and
// PMIx_Get do not find it.
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool good = true;

void expect(const char* what, pmix_status_t status, pmix_status_t wanted) {
    if (status == wanted) return;
    std::printf("%s: %s instead of %s\n", what, PMIx_Error_string(status), PMIx_Error_string(wanted));
    good = false;
}

pmix_status_t query(const pmix_proc_t& proc) {
    static char key[] = PMIX_HOSTNAME;
    static char* keys[] = {key, nullptr};
    pmix_info_t qualifiers[2];
    PMIx_Info_load(&qualifiers[0], PMIX_NSPACE, proc.nspace, PMIX_STRING);
    PMIx_Info_load(&qualifiers[1], PMIX_RANK, &proc.rank, PMIX_PROC_RANK);
    pmix_query_t one{keys, qualifiers, 2};
    pmix_info_t* results = nullptr;
    size_t nresults = 0;
    const pmix_status_t status = PMIx_Query_info(&one, 1, &results, &nresults);
    for (size_t i = 0; i < nresults; ++i)
        std::printf("found %s\n", results[i].value.type == PMIX_STRING ? results[i].value.data.string : "?");
    good &= nresults == 0;
    PMIx_Info_free(results, nresults);
    PMIx_Info_destruct(&qualifiers[0]);
    return status;
}

pmix_status_t get(const pmix_proc_t& proc) {
    pmix_value_t* value = nullptr;
    const pmix_status_t status = PMIx_Get(&proc, PMIX_HOSTNAME, nullptr, 0, &value);
    good &= value == nullptr;
    PMIx_Value_free(value, 1);
    return status;
}

pmix_status_t init(const std::string& role) {
    pmix_proc_t self;
    if (role == "client") return PMIx_Init(&self, nullptr, 0);
    static pmix_server_module_t module;
    if (role == "server") return PMIx_server_init(&module, nullptr, 0);
    pmix_info_t uri;
    PMIx_Info_load(&uri, PMIX_SERVER_URI, std::getenv("SERVER_URI"), PMIX_STRING);
    const pmix_status_t status = PMIx_tool_init(&self, &uri, 1);
    PMIx_Info_destruct(&uri);
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::string role = argv[1];
    expect("init", init(role), PMIX_SUCCESS);
    pmix_proc_t proc;
    PMIx_Load_procid(&proc, "nobody knows", 0);
    expect("query", query(proc), PMIX_ERR_NOT_FOUND);
    expect("get", get(proc), PMIX_ERR_NOT_FOUND);
    proc.rank = PMIX_RANK_WILDCARD;
    expect("query of all", query(proc), PMIX_ERR_NOT_FOUND);
    if (role == "client") PMIx_Finalize(nullptr, 0);
    if (role == "tool") PMIx_tool_finalize();
    if (role == "server") PMIx_server_finalize();
    return good ? 0 : 1;
}
