// SPDX-License-Identifier: BSD-3-Clause
// plookup: looks up data that processes have published.
#include <fmt/core.h>
#include <pmix.h>

#include <utility>

#include "tools/session/session.hpp"
#include "tools/session/standard_descriptors.hpp"
#include "tools/session/values.hpp"

using namespace muster::tools;

int main(int argc, char** argv) {
    muster::open_standard_descriptors();
    CommandLine line{"Looks published data up", "plookup"};
    SessionOptions options;
    std::vector<std::string> words;
    bool wait = false;
    std::optional<uint32_t> timeout;
    define_session_options(line, options);
    line.flag("--wait", wait, "Wait until all of it has been published");
    line.option("--timeout", timeout, "How many seconds to wait at most");
    line.option("KEY", words, "Keys; commas may part several").required();
    if (const auto status = line.parse(argc, argv)) return *status;
    std::vector<std::string> keys;
    for (const std::string& word : words) {
        for (std::string& key : split(word, ','))
            keys.push_back(std::move(key));
    }
    const Session session("plookup", options, Otherwise::SystemFirst);
    if (!session.ok()) return 1;

    pmix_info_t directives[2];
    size_t count = 0;
    if (wait) {
        const int all = 0;
        PMIx_Info_load(&directives[count++], PMIX_WAIT, &all, PMIX_INT);
    }
    if (timeout) PMIx_Info_load(&directives[count++], PMIX_TIMEOUT, &*timeout, PMIX_INT);
    pmix_pdata_t* data = PMIx_Pdata_create(keys.size());
    for (size_t i = 0; i < keys.size(); ++i)
        PMIx_Load_key(data[i].key, keys[i].c_str());
    const pmix_status_t status = PMIx_Lookup(data, keys.size(), directives, count);
    const bool some = status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS;
    nlohmann::json json = nlohmann::json::object();
    for (size_t i = 0; some && i < keys.size(); ++i) {
        if (data[i].value.type == PMIX_UNDEF) continue;  // this one was not found
        if (options.json) {
            json[keys[i]] = {{"value", to_json(data[i].value)},
                             {"owner", {{"nspace", data[i].proc.nspace}, {"rank", data[i].proc.rank}}}};
        } else {
            fmt::print("Key: {}\n    {}\n", keys[i], to_text(data[i].value));
        }
    }
    PMIx_Pdata_free(data, keys.size());
    if (options.json) fmt::print("{}\n", json.dump(2));
    return status == PMIX_SUCCESS ? 0 : session.failed("not (all) found", status);
}
