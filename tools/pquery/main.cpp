// SPDX-License-Identifier: BSD-3-Clause
// pquery: asks a server for keys, each with qualifiers: KEY[QUALIFIER=VALUE;...].
#include <fmt/core.h>
#include <pmix.h>

#include <utility>

#include "tools/session/session.hpp"
#include "tools/session/standard_descriptors.hpp"
#include "tools/session/values.hpp"

namespace {

using namespace muster::tools;

struct Asked {
    std::string key;
    std::vector<std::pair<std::string, std::string>> qualifiers;
};

/// Reads one word of the command line; errors go to standard error.
bool read_key(std::string word, Asked& asked) {
    if (const size_t open = word.find('['); open != std::string::npos) {
        if (word.back() != ']') {
            fmt::print(stderr, "pquery: {}: the qualifiers do not end in ]\n", word);
            return false;
        }
        for (const std::string& one : split(word.substr(open + 1, word.size() - open - 2), ';')) {
            const size_t equals = one.find('=');
            const std::string key = key_of_name(one.substr(0, equals));
            if (equals == std::string::npos || key.empty()) {
                fmt::print(stderr, "pquery: '{}' is no qualifier of the form NAME=VALUE\n", one);
                return false;
            }
            asked.qualifiers.emplace_back(key, one.substr(equals + 1));
        }
        word.erase(open);
    }
    asked.key = key_of_name(word);
    if (asked.key.empty()) fmt::print(stderr, "pquery: there is no attribute {}\n", word);
    return !asked.key.empty();
}

/// A qualifier's value in the type that its attribute has.
void load(pmix_info_t* info, const std::string& key, const std::string& value) {
    const bool number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    if (key == PMIX_RANK && (number || value == "*")) {
        const pmix_rank_t rank =
            value == "*" ? PMIX_RANK_WILDCARD : static_cast<pmix_rank_t>(std::stoul(value.substr(0, 10)));
        PMIx_Info_load(info, key.c_str(), &rank, PMIX_PROC_RANK);
    } else {
        PMIx_Info_load(info, key.c_str(), value.c_str(), PMIX_STRING);
    }
}

}  // namespace

int main(int argc, char** argv) {
    muster::open_standard_descriptors();
    CommandLine line{"Asks a PMIx server", "pquery"};
    SessionOptions options;
    std::vector<std::string> words;
    define_session_options(line, options);
    line.option("KEY", words,
                "What to ask for: KEY or KEY[QUALIFIER=VALUE;...], by name or by string; commas may "
                "part several")
        .required();
    if (const auto status = line.parse(argc, argv)) return *status;
    std::vector<Asked> all;
    for (const std::string& word : words) {
        // Commas part keys, and values inside of brackets.
        size_t begin = 0, depth = 0;
        for (size_t i = 0; i <= word.size(); ++i) {
            if (i < word.size() && word[i] == '[') ++depth;
            if (i < word.size() && word[i] == ']' && depth > 0) --depth;
            if (i < word.size() && (word[i] != ',' || depth > 0)) continue;
            if (i > begin && !read_key(word.substr(begin, i - begin), all.emplace_back())) return 1;
            begin = i + 1;
        }
    }
    const Session session("pquery", options, Otherwise::Optional);
    if (!session.ok()) return 1;

    pmix_query_t* queries = PMIx_Query_create(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
        PMIx_Argv_append_nosize(&queries[i].keys, all[i].key.c_str());
        if (all[i].qualifiers.empty()) continue;
        PMIx_Query_qualifiers_create(&queries[i], all[i].qualifiers.size());
        for (size_t q = 0; q < all[i].qualifiers.size(); ++q)
            load(&queries[i].qualifiers[q], all[i].qualifiers[q].first, all[i].qualifiers[q].second);
    }
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(queries, all.size(), &results, &count);
    PMIx_Query_free(queries, all.size());
    const bool some = status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS;
    nlohmann::json json = nlohmann::json::object();
    for (size_t i = 0; some && i < count; ++i) {
        const std::string name = name_of_key(results[i].key);
        const pmix_value_t& value = results[i].value;
        if (options.json) {
            json[name] = to_json(value);
        } else {
            fmt::print("{}: \n", name);
            if (value.type != PMIX_STRING) {
                fmt::print("    {}\n", to_text(value));
            } else {
                for (const std::string& part :
                     split(value.data.string == nullptr ? "" : value.data.string, ','))
                    fmt::print("    {}\n", name_of_key(part));
            }
        }
    }
    PMIx_Info_free(results, count);
    if (options.json) fmt::print("{}\n", json.dump(2));
    return status == PMIX_SUCCESS ? 0 : session.failed("the query has no answer, or not all of it", status);
}
