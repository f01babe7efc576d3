// SPDX-License-Identifier: BSD-3-Clause
// PMIx_*_string: names of numbers, which are constants, and descriptions of structs, which the caller frees.

#include <pmix.h>

#include <climits>
#include <cstring>
#include <string>

#include "core/api/guard.hpp"
#include "core/attribute/attribute.hpp"
#include "framework/base/names.hpp"
#include "framework/base/print.hpp"
#include "framework/base/proc.hpp"
#include "framework/base/status.hpp"
#include "framework/base/value.hpp"

using namespace muster;

namespace {

// The text that `make` returns, malloc'ed; null if memory is short.
template <class Make>
char* text_of(Make&& make) {
    return guard([&] { return strdup(std::string(make()).c_str()); }, nullptr);
}

const char* or_null(const char* text) {
    return text == nullptr ? "NULL" : text;
}

void describe_argv(std::string& text, const char* title, char* const* argv) {
    text += std::string("\n    ") + title + ":";
    if (argv == nullptr) text += " NONE";
    for (size_t i = 0; argv != nullptr && argv[i] != nullptr; ++i) {
        text += "\n        [" + std::to_string(i) + "]: " + argv[i];
    }
}

}  // namespace

// ---- names --------------------------------------------------------------------------------------------

const char* PMIx_Error_string(pmix_status_t status) {
    return status_text(status);
}

pmix_status_t PMIx_Error_code(const char* errname) {
    return errname == nullptr ? INT_MIN : status_code(errname).value_or(INT_MIN);
}

const char* PMIx_Proc_state_string(pmix_proc_state_t state) {
    return number_name(PMIX_PROC_STATE, state);
}
const char* PMIx_Job_state_string(pmix_job_state_t state) {
    return number_name(PMIX_JOB_STATE, state);
}
const char* PMIx_Scope_string(pmix_scope_t scope) {
    return number_name(PMIX_SCOPE, scope);
}
const char* PMIx_Persistence_string(pmix_persistence_t persist) {
    return number_name(PMIX_PERSIST, persist);
}
const char* PMIx_Data_range_string(pmix_data_range_t range) {
    return number_name(PMIX_DATA_RANGE, range);
}
const char* PMIx_Data_type_string(pmix_data_type_t type) {
    return data_type_name(type);
}
const char* PMIx_Alloc_directive_string(pmix_alloc_directive_t directive) {
    return number_name(PMIX_ALLOC_DIRECTIVE, directive);
}
const char* PMIx_Alloc_inheritance_string(pmix_alloc_inheritance_t inheritance) {
    return number_name(PMIX_ALLOC_INHERIT, inheritance);
}
const char* PMIx_Resource_block_directive_string(pmix_resource_block_directive_t directive) {
    return number_name(PMIX_RESBLOCK_DIRECTIVE, directive);
}
const char* PMIx_IOF_channel_string(pmix_iof_channel_t channel) {
    return number_name(PMIX_IOF_CHANNEL, channel);
}
const char* PMIx_Link_state_string(pmix_link_state_t state) {
    return number_name(PMIX_LINK_STATE, state);
}
const char* PMIx_Device_type_string(pmix_device_type_t type) {
    return device_type_name(type);
}
const char* PMIx_Value_comparison_string(pmix_value_cmp_t cmp) {
    return value_comparison_name(cmp);
}
const char* PMIx_Group_operation_string(pmix_group_operation_t op) {
    return group_operation_name(op);
}

// An unknown attribute is returned unchanged: it may be the caller's own key.

const char* PMIx_Get_attribute_string(const char* attribute) {
    if (attribute == nullptr) return nullptr;
    const std::optional<Attribute> found = find_attribute_by_name(attribute);
    return found ? found->key : attribute;
}

const char* PMIx_Get_attribute_name(const char* attrstring) {
    if (attrstring == nullptr) return nullptr;
    const std::optional<Attribute> found = find_attribute_by_key(attrstring);
    return found ? found->name : attrstring;
}

// ---- descriptions -------------------------------------------------------------------------------------

char* PMIx_Info_directives_string(pmix_info_directives_t directives) {
    return text_of([&] { return info_directives_text(directives); });
}

char* PMIx_Value_string(const pmix_value_t* value) {
    return text_of([&] { return value == nullptr ? "NULL" : value_text(value); });
}

char* PMIx_Info_string(const pmix_info_t* info) {
    return text_of([&] {
        std::string text;
        if (info == nullptr) return std::string("NULL");
        print_element(text, "", info, PMIX_INFO);
        return text;
    });
}

char* PMIx_Proc_string(const pmix_proc_t* proc) {
    return text_of([&] {
        if (proc == nullptr) return std::string("[NO-NAME]");
        std::string rank = rank_text(proc->rank);
        static constexpr std::string_view kPrefix = "PMIX_RANK_";
        if (rank.starts_with(kPrefix)) rank.erase(0, kPrefix.size());
        return "[" + std::string(nspace_view(proc->nspace)) + "," + rank + "]";
    });
}

char* PMIx_Resource_unit_string(const pmix_resource_unit_t* unit) {
    return text_of([&] {
        if (unit == nullptr) return std::string("NULL");
        return "TYPE: " + number_text(PMIX_DEVTYPE, unit->type) + "  COUNT: " + std::to_string(unit->count);
    });
}

char* PMIx_App_string(const pmix_app_t* app) {
    return text_of([&] {
        if (app == nullptr) return std::string("NULL");
        std::string text = std::string("CMD: ") + or_null(app->cmd);
        describe_argv(text, "ARGV", app->argv);
        describe_argv(text, "ENV", app->env);
        text += std::string("\n    CWD: ") + or_null(app->cwd);
        text += "\n    MAXPROCS: " + std::to_string(app->maxprocs);
        text += "\n    INFO:";
        if (app->info == nullptr || app->ninfo == 0) text += " NONE";
        for (size_t i = 0; app->info != nullptr && i < app->ninfo; ++i) {
            text += "\n        [" + std::to_string(i) + "]: " + std::string(key_view(app->info[i].key)) +
                    " = " + value_brief(&app->info[i].value);
        }
        return text;
    });
}
