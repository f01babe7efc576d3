// SPDX-License-Identifier: BSD-3-Clause
// The running tree: see install.hpp.
#include "framework/base/install.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

namespace muster {
namespace {

std::string parent(const std::string& path) {
    const size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return {};
    return slash == 0 ? "/" : path.substr(0, slash);
}

InstallPaths find_install_paths() {
    InstallPaths paths;
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&find_install_paths), &info) == 0 || info.dli_fname == nullptr)
        return paths;
    // The loader reports the name it was given; for a program that may be relative to a folder since left.
    char* real = realpath(info.dli_fname, nullptr);
    if (real == nullptr) real = realpath("/proc/self/exe", nullptr);
    if (real == nullptr) return paths;
    paths.image = real;
    std::free(real);
    paths.prefix = parent(parent(paths.image));
    const std::string base = paths.prefix == "/" ? "" : paths.prefix;
    // The library's own folder may have any name; a program that holds this code has it beside its own.
    const size_t folder = paths.image.find_last_of('/') + 1;
    const bool library = paths.image.compare(folder, 8, "libpmix.") == 0;
    paths.components = library ? paths.image.substr(0, folder) + "pmix" : base + "/lib/pmix";
    paths.system_parameter_file = base + "/etc/pmix-mca-params.conf";
    return paths;
}

}  // namespace

const InstallPaths& install_paths() {
    static const InstallPaths paths = find_install_paths();
    return paths;
}

bool process_is_privileged() {
    return getauxval(AT_SECURE) != 0 || getuid() != geteuid() || getgid() != getegid();
}

}  // namespace muster
