// SPDX-License-Identifier: BSD-3-Clause
// Copies of applications: see apps.hpp.
#include "core/spawn/apps.hpp"

#include <cstring>
#include <string_view>

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
