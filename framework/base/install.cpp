// SPDX-License-Identifier: BSD-3-Clause
// The running tree: see install.hpp.
#include "framework/base/install.hpp"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace muster {
namespace {

std::string parent(const std::string& path) {
    const size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return {};
    return slash == 0 ? "/" : path.substr(0, slash);
}

/// The name of the library that holds this code, as the loader was given it, or "" for a program. Not by
/// dladdr(), which reads the whole table of symbols to name the nearest one.
const char* own_name() {
    struct Search {
        ElfW(Addr) address;
        const char* name;
    } search{reinterpret_cast<ElfW(Addr)>(&own_name), ""};
    dl_iterate_phdr(
        [](dl_phdr_info* object, size_t, void* data) {
            auto& looked_for = *static_cast<Search*>(data);
            const bool holds = std::any_of(
                object->dlpi_phdr, object->dlpi_phdr + object->dlpi_phnum, [&](const ElfW(Phdr) & piece) {
                    return piece.p_type == PT_LOAD &&
                           looked_for.address - (object->dlpi_addr + piece.p_vaddr) < piece.p_memsz;
                });
            if (holds) looked_for.name = object->dlpi_name;
            return holds ? 1 : 0;
        },
        &search);
    return search.name;
}

std::string real_path(const char* path) {
    char* const real = ::realpath(path, nullptr);
    std::string found = real == nullptr ? "" : real;
    std::free(real);
    return found;
}

/// Resolves links in the last component of a path such as libpmix.so.2; "" for a missing file. Folders are
/// resolved only for "..": realpath() would cost a system call for each, in each new process.
std::string behind_links(std::string path) {
    char target[1024];  // a longer one is asked for below
    for (int i = 0; i < 8 && path.starts_with('/') && path.find("/.") == path.npos; ++i) {
        const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
        if (length < 0) return errno == EINVAL ? path : "";  // it is no link
        const std::string_view text(target, static_cast<size_t>(length));
        if (text.size() == sizeof target) break;
        path.resize(text.starts_with('/') ? 0 : path.rfind('/') + 1);
        path += text;
    }
    return real_path(path.c_str());
}

/// The prefix that the library was installed into, from its folder: that may be several levels below
/// (lib/x86_64-linux-gnu), or have any name where a tree was copied.
std::string prefix_of(const std::string& folder) {
    constexpr std::string_view kBelow = "/" MUSTER_LIBDIR;
    if (folder.size() > kBelow.size() && folder.ends_with(kBelow))
        return folder.substr(0, folder.size() - kBelow.size());
    return parent(folder);
}

InstallPaths find_install_paths() {
    InstallPaths paths;
    paths.loaded = own_name();
    if (!paths.loaded.empty()) paths.image = behind_links(paths.loaded);
    if (paths.image.empty()) paths.image = real_path("/proc/self/exe");
    if (paths.image.empty()) return paths;
    const size_t folder = paths.image.find_last_of('/') + 1;
    const bool library = paths.image.compare(folder, 8, "libpmix.") == 0;
    paths.prefix = library ? prefix_of(parent(paths.image)) : parent(parent(paths.image));
    const std::string base = paths.prefix == "/" ? "" : paths.prefix;
    // The library's own folder may have any name; a program that holds this code knows it by the build.
    paths.components = (library ? paths.image.substr(0, folder) : base + "/" MUSTER_LIBDIR "/") + "pmix";
    constexpr std::string_view kConfiguration = MUSTER_SYSCONFDIR;
    // By the GNU standards, the configuration for the prefix /usr is in /etc.
    const bool absolute = kConfiguration.starts_with('/');
    paths.system_parameter_file = (absolute ? "" : base == "/usr" ? "/" : base + "/");
    paths.system_parameter_file.append(kConfiguration).append("/pmix-mca-params.conf");
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
