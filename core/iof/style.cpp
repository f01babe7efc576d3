// SPDX-License-Identifier: BSD-3-Clause
// Reading the style of output: see style.hpp.
#include "core/iof/style.hpp"

#include "core/runtime/keys.hpp"

namespace muster {

pmix_status_t read_style(InfoView directives, OutputStyle& style) {
    struct Flag {
        std::initializer_list<const char*> keys;
        bool* value;
    };
    const Flag flags[] = {
        {{PMIX_IOF_TAG_OUTPUT, PMIX_TAG_OUTPUT}, &style.tag},
        {{PMIX_IOF_TAG_FULLNAME_OUTPUT}, &style.full_name},
        {{PMIX_IOF_TAG_DETAILED_OUTPUT}, &style.detailed},
        {{PMIX_IOF_RANK_OUTPUT}, &style.rank},
        {{PMIX_IOF_TIMESTAMP_OUTPUT, PMIX_TIMESTAMP_OUTPUT}, &style.timestamp},
        {{PMIX_IOF_XML_OUTPUT}, &style.xml},
        {{PMIX_IOF_OUTPUT_RAW}, &style.raw},
        {{PMIX_IOF_MERGE_STDERR_STDOUT, PMIX_MERGE_STDERR_STDOUT}, &style.merge},
        {{PMIX_IOF_FILE_PATTERN}, &style.pattern},
        {{PMIX_IOF_FILE_ONLY, PMIX_OUTPUT_NOCOPY}, &style.file_only},
    };
    for (const pmix_info_t& info : directives) {
        for (const Flag& flag : flags) {
            if (!key_is_any(info.key, flag.keys)) continue;
            const auto value = value_as_bool(&info.value);
            if (!value) return PMIX_ERR_BAD_PARAM;
            *flag.value = *value;
        }
        if (key_is(info.key, PMIX_IOF_LOCAL_OUTPUT)) {
            style.local = value_as_bool(&info.value);
            if (!style.local) return PMIX_ERR_BAD_PARAM;
        }
        const bool is_file = key_is_any(info.key, {PMIX_IOF_OUTPUT_TO_FILE, PMIX_OUTPUT_TO_FILE});
        if (!is_file && !key_is_any(info.key, {PMIX_IOF_OUTPUT_TO_DIRECTORY, PMIX_OUTPUT_TO_DIRECTORY}))
            continue;
        const char* path = value_as_string(&info.value);
        if (path == nullptr || *path == '\0') return PMIX_ERR_BAD_PARAM;
        (is_file ? style.file : style.directory) = path;
    }
    return style.names_files() ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

}  // namespace muster
