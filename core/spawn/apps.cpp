// SPDX-License-Identifier: BSD-3-Clause
// Copies of applications: see apps.hpp.
#include "core/spawn/apps.hpp"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/argv.hpp"
#include "framework/base/complete.hpp"
#include "framework/base/element.hpp"

namespace muster {
namespace {

/// Returns the part behind the last slash.
std::string_view file_name(std::string_view path) {
    while (path.size() > 1 && path.back() == '/')
        path.remove_suffix(1);
    return path.substr(path.size() > 1 ? path.rfind('/') + 1 : 0);
}

}  // namespace

Apps::~Apps() {
    data_free_elements(data_, size_, PMIX_APP);
}

pmix_status_t Apps::copy_of(const pmix_app_t* apps, size_t size, Apps& out) {
    if (apps == nullptr || size == 0) return PMIX_ERR_BAD_PARAM;
    Apps copy;
    copy.data_ = static_cast<pmix_app_t*>(data_create_elements(size, PMIX_APP));
    if (copy.data_ == nullptr) return PMIX_ERR_NOMEM;
    // Counted before it is filled: a failed copy owns nothing, and what is left is in its initial state.
    copy.size_ = size;
    for (size_t i = 0; i < size; ++i) {
        pmix_app_t& app = copy.data_[i];
        if (apps[i].ninfo > 0 && apps[i].info == nullptr) return PMIX_ERR_BAD_PARAM;
        if (apps[i].maxprocs < 0) return PMIX_ERR_BAD_PARAM;
        if (const pmix_status_t status = elements_complete(&apps[i], 1, PMIX_APP); status != PMIX_SUCCESS)
            return status;
        if (const pmix_status_t status = data_copy_elements(&app, &apps[i], 1, PMIX_APP);
            status != PMIX_SUCCESS) {
            app = {};
            return status;
        }
        const bool has_arguments = app.argv != nullptr && app.argv[0] != nullptr;
        if (app.cmd == nullptr && !has_arguments) return PMIX_ERR_BAD_PARAM;
        if (app.cmd == nullptr && (app.cmd = strdup(app.argv[0])) == nullptr) return PMIX_ERR_NOMEM;
        // MPI libraries give the arguments alone (MPICH), or with the name of the program before them (Open
        // MPI).
        const std::string_view name = file_name(app.cmd);
        if ((!has_arguments || file_name(app.argv[0]) != name) &&
            argv_prepend(&app.argv, name) != PMIX_SUCCESS)
            return PMIX_ERR_NOMEM;
    }
    out = std::move(copy);
    return PMIX_SUCCESS;
}

namespace {

bool is_forwarded(std::string_view name) {
    return !name.empty() && !name.starts_with("PMIX_") && !name.starts_with("MUSTER_") && name != "PWD" &&
           name != "OLDPWD" && name != "_";
}

/// The name of a variable, "NAME=value"; all of it where there is no value.
std::string_view name_of_variable(std::string_view variable) {
    return variable.substr(0, variable.find('='));
}

bool forwards(InfoView info) {
    return info.is_true(PMIX_FWD_ENVIRONMENT) && !info.is_true(PMIX_ENVARS_HARVESTED);
}

void add_missing(char**& variables, char** environment) {
    std::set<std::string, std::less<>> own;
    for (char** one = variables; one != nullptr && *one != nullptr; ++one)
        own.emplace(name_of_variable(*one));
    std::vector<const char*> missing;
    for (char** one = environment; one != nullptr && *one != nullptr; ++one) {
        const std::string_view name = name_of_variable(*one);
        if (name.size() < std::strlen(*one) && is_forwarded(name) && !own.contains(name))
            missing.push_back(*one);
    }
    const size_t before = own.empty() ? 0 : argv_count(variables);
    auto** whole =
        static_cast<char**>(std::realloc(variables, (before + missing.size() + 1) * sizeof(char*)));
    if (whole == nullptr) throw std::bad_alloc();
    variables = whole;
    for (size_t i = 0; i <= missing.size(); ++i)
        whole[before + i] = nullptr;
    for (size_t i = 0; i < missing.size(); ++i) {
        whole[before + i] = strdup(missing[i]);
        if (whole[before + i] == nullptr) throw std::bad_alloc();
    }
}

}  // namespace

void Apps::forward_environment(InfoView job_info, char** environment) {
    if (job_info.is_true(PMIX_ENVARS_HARVESTED)) return;
    for (size_t i = 0; i < size_; ++i) {
        if (forwards(job_info) || forwards({data_[i].info, data_[i].ninfo}))
            add_missing(data_[i].env, environment);
    }
}

bool Apps::read(Unpacker& in, Apps& out) {
    void* values = nullptr;
    size_t count = 0;
    if (!in.counted(&values, count, PMIX_APP)) return false;
    Apps read;
    read.data_ = static_cast<pmix_app_t*>(values);
    read.size_ = count;
    out = std::move(read);
    return true;
}

}  // namespace muster
