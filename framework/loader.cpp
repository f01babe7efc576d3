// SPDX-License-Identifier: BSD-3-Clause
// Files of components: see loader.hpp.
#include "framework/loader.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <ltdl.h>
#include <pmix/sdk/pcompress.h>
#include <pmix/sdk/plog.h>
#include <pmix/sdk/pmdl.h>
#include <pmix/sdk/pnet.h>
#include <pmix/sdk/preg.h>
#include <pmix/sdk/psec.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "framework/base/install.hpp"
#include "framework/base/memory_room.hpp"
#include "framework/base/mutex.hpp"
#include "framework/base/trusted_path.hpp"
#include "framework/linked_components.hpp"

namespace muster {
namespace {

constexpr std::string_view kFilePrefix = "mca_";
constexpr std::string_view kFileSuffix = ".so";
constexpr size_t kMaxParameters = 256;

bool is_component_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    });
}

std::string quoted(const char* text) {
    return text == nullptr ? "nothing" : "\"" + std::string(text) + "\"";
}

/// Versions of the operations tables of the frameworks that are open to vendors. The others pass C++ objects.
std::optional<uint16_t> table_version(std::string_view framework) {
    if (framework == "psec") return MUSTER_PSEC_INTERFACE;
    if (framework == "preg") return MUSTER_PREG_INTERFACE;
    if (framework == "pcompress") return MUSTER_PCOMPRESS_INTERFACE;
    if (framework == "plog") return MUSTER_PLOG_INTERFACE;
    if (framework == "pmdl") return MUSTER_PMDL_INTERFACE;
    if (framework == "pnet") return MUSTER_PNET_INTERFACE;
    return std::nullopt;
}

Error refused(const std::string& origin, const std::string& why) {
    return {PMIX_ERR_NOT_SUPPORTED, origin + " is refused: " + why};
}

Error io_error(const std::string& path) {
    return {errno == ENOENT ? PMIX_ERR_NOT_FOUND : PMIX_ERROR, path + ": " + std::strerror(errno)};
}

std::string folder_of(const std::string& path) {
    return path.substr(0, std::max<size_t>(path.rfind('/'), 1));
}

/// The identity of the file, independent of its name.
struct FileId {
    dev_t device = 0;
    ino_t number = 0;
    bool operator==(const FileId&) const = default;
};

FileId id_of(const struct stat& status) {
    return {status.st_dev, status.st_ino};
}

constexpr const char* kCure = "; change its owner or mode, or take the folder out of mca_base_component_path";

/// Whether the folder is the one beside the running library. A user who can change the folders above it can
/// replace the library itself.
bool beside_library(std::string_view folder) {
    return folder == install_paths().components;
}

/// The reason for skipping a file with this status.
Result<void> examine_status(const std::string& path, const struct stat& status) {
    const std::string why = why_not_trusted(status);
    if (why.empty()) return {};
    return Error{PMIX_ERR_NO_PERMISSIONS, path + " is passed over: it " + why + kCure};
}

/// The reason for skipping a folder. `status` is the folder's.
Result<void> examine_folder(const std::string& folder, const struct stat& status) {
    if (!beside_library(folder)) {
        if (Result<std::string> real = trusted_path(folder, Trust::Usual); !real.ok())
            return Error{real.status(), real.error().text + kCure};
    }
    return examine_status(folder, status);
}

/// The names in a folder; none if it cannot be read, or was `seen` under another name.
template <class Take>
void each_entry(const std::string& folder, std::vector<FileId>& seen, std::vector<std::string>& passed_over,
                const Take& take) {
    struct Close {
        void operator()(DIR* open) const { ::closedir(open); }
    };
    const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
    struct stat status {};
    if (!open || ::fstat(::dirfd(open.get()), &status) != 0) return;
    if (std::find(seen.begin(), seen.end(), id_of(status)) != seen.end()) return;
    seen.push_back(id_of(status));
    if (Result<void> examined = examine_folder(folder, status); !examined.ok()) {
        passed_over.push_back(examined.error().text);
        return;
    }
    while (const dirent* entry = ::readdir(open.get()))
        take(entry->d_name);
}

/// The path to open, which is one that only trusted users can change (trusted_path.hpp). `status` is the
/// file's. Opening a non-file could block forever.
Result<std::string> examine(const std::string& path, const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return refused(path, "it is not a regular file");
    const std::string folder = folder_of(path);
    struct stat entry {};
    if (::lstat(path.c_str(), &entry) != 0) return io_error(path);
    if (!beside_library(folder) || S_ISLNK(entry.st_mode)) {
        Result<std::string> real = trusted_path(path, Trust::Usual);
        if (!real.ok() && real.status() == PMIX_ERR_NO_PERMISSIONS)
            return Error{real.status(), real.error().text + kCure};
        return real;
    }
    struct stat around {};
    if (::stat(folder.c_str(), &around) != 0) return io_error(folder);
    if (Result<void> examined = examine_folder(folder, around); !examined.ok()) return examined.error();
    if (Result<void> examined = examine_status(path, status); !examined.ok()) return examined.error();
    return path;
}

/// The library that contains an address, according to the dynamic linker.
const link_map* library_of(const void* address) {
    Dl_info info{};
    void* map = nullptr;
    if (dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return nullptr;
    return static_cast<const link_map*>(map);
}

bool same_file(const char* opened, const std::string& path) {
    if (path == opened) return true;
    struct stat one {};
    struct stat other {};
    return ::stat(opened, &one) == 0 && ::stat(path.c_str(), &other) == 0 && id_of(one) == id_of(other);
}

/// Whether all its symbols were bound when it was opened: libltdl itself asks for that one by one.
bool bound_at_once(const link_map& library) {
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_BIND_NOW) return true;
        if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_BIND_NOW) != 0) return true;
        if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NOW) != 0) return true;
    }
    return false;
}

/// Why the file cannot be opened. libltdl says "file not found" for nearly everything, so the linker is asked
/// again.
std::string why_not_opened(const std::string& path) {
    if (void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
        ::dlclose(handle);
        return "libltdl refuses it";
    }
    const char* text = ::dlerror();
    std::string_view why = text == nullptr ? "unknown reason" : text;
    if (why.starts_with(path + ": ")) why.remove_prefix(path.size() + 2);
    return std::string(why);
}

/// The state of libltdl is global to the process, and its functions are not thread-safe.
struct Ltdl {
    Mutex lock;
    bool ready MUSTER_GUARDED_BY(lock) = false;
};
Ltdl& ltdl() {
    static auto* const the_ltdl = new Ltdl;  // never destroyed: threads may call while the process exits
    return *the_ltdl;
}

Result<void*> find_by_ltdl(const std::string& path, const std::string& symbol) {
    constexpr size_t kOfLtdl = size_t{64} << 10;
    if (!has_memory_for(kOfLtdl)) return Error{PMIX_ERR_NOMEM, "libltdl has no memory left"};
    const MutexLock guard(ltdl().lock);
    // Counted by libltdl and never undone: opened files stay open.
    if (!ltdl().ready && lt_dlinit() != 0) return Error{PMIX_ERR_INIT, "libltdl cannot be initialised"};
    ltdl().ready = true;
    lt_dladvise advise = nullptr;
    if (lt_dladvise_init(&advise) != 0) return Error{PMIX_ERR_NOMEM, "libltdl has no memory left"};
    lt_dladvise_local(&advise);
    lt_dladvise_resident(&advise);
    lt_dlhandle handle = lt_dlopenadvise(path.c_str(), advise);
    lt_dladvise_destroy(&advise);
    if (handle == nullptr) return refused(path, "it cannot be opened: " + why_not_opened(path));
    return lt_dlsym(handle, symbol.c_str());
}

/// Whether a file of a component holds the function itself and needs nothing that could be missing later.
Result<void> is_whole(const std::string& path, const void* address) {
    // The linker also searches the libraries that the file needs.
    const link_map* library = library_of(address);
    if (library == nullptr || !same_file(library->l_name, path)) {
        return refused(path, "the function that it should export is another library's");
    }
    if (!bound_at_once(*library)) {
        return refused(
            path, "it is bound lazily; link it with -Wl,-z,now, or build it with muster_add_component()");
    }
    return {};
}

/// Opens the file and finds its one function.
Result<ComponentEntry> open_entry(const std::string& path, const std::string& symbol) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return io_error(path);
    Result<std::string> examined = examine(path, status);
    if (!examined.ok()) return examined.error();
    Result<void*> found = find_by_ltdl(*examined, symbol);
    if (!found.ok()) return found.error();
    void* const address = *found;
    if (address == nullptr)
        return refused(path, "it does not export " + symbol + "; build it with muster_add_component()");
    if (Result<void> whole = is_whole(*examined, address); !whole.ok()) return whole.error();
    ComponentEntry entry = nullptr;
    std::memcpy(&entry, &address, sizeof entry);
    return entry;
}

}  // namespace

/// Every process does this: the names are put in order in one buffer before anything is made of them.
std::vector<ComponentFile> find_component_files(const std::vector<std::string>& folders,
                                                std::vector<std::string>& passed_over) {
    std::vector<ComponentFile> files;
    std::string names;  // each ends with a zero
    std::vector<size_t> order;
    std::vector<FileId> seen;
    for (const std::string& folder : folders) {
        if (folder.empty() || folder.front() != '/') continue;
        names.clear();
        order.clear();
        each_entry(folder, seen, passed_over, [&](const char* entry) {
            const std::string_view name(entry);
            if (name.size() <= kFilePrefix.size() + kFileSuffix.size() || !name.starts_with(kFilePrefix) ||
                !name.ends_with(kFileSuffix))
                return;
            order.push_back(names.size());
            names.append(entry, name.size() + 1);
        });
        std::sort(order.begin(), order.end(),
                  [&](size_t a, size_t b) { return std::strcmp(names.c_str() + a, names.c_str() + b) < 0; });
        files.reserve(files.size() + order.size());
        for (const size_t at : order) {
            const std::string_view entry(names.c_str() + at);
            std::string_view name = entry;
            name.remove_prefix(kFilePrefix.size());
            name.remove_suffix(kFileSuffix.size());
            const size_t end = name.find('_');
            if (end == std::string_view::npos || !is_component_name(name.substr(end + 1))) continue;
            ComponentFile& file = files.emplace_back();
            file.framework = name.substr(0, end);
            file.name = name.substr(end + 1);
            file.path.reserve(folder.size() + 1 + entry.size());
            file.path.append(folder).append(1, '/').append(entry);
        }
    }
    return files;
}

Result<void> check_descriptor(const muster_component_t* descriptor, std::string_view framework,
                              std::string_view name, const std::string& origin) {
    if (descriptor == nullptr) return refused(origin, "it returns no descriptor");
    const std::string ours = std::to_string(MUSTER_SDK_MAJOR) + "." + std::to_string(MUSTER_SDK_MINOR);
    if (descriptor->struct_size < offsetof(muster_component_t, framework)) {
        return refused(origin, "its descriptor is cut off at " + std::to_string(descriptor->struct_size) +
                                   " bytes; rebuild it against interface " + ours);
    }
    if (descriptor->sdk_major != MUSTER_SDK_MAJOR || descriptor->sdk_minor > MUSTER_SDK_MINOR) {
        const bool newer = descriptor->sdk_major >= MUSTER_SDK_MAJOR;
        return refused(origin, "it was built for component interface " +
                                   std::to_string(descriptor->sdk_major) + "." +
                                   std::to_string(descriptor->sdk_minor) +
                                   ", this library (" MUSTER_VERSION ") has " + ours +
                                   (newer ? "; update the library, or rebuild the component against this one"
                                          : "; rebuild the component against this library"));
    }
    // Everything up to `destroy` exists since 1.0.
    constexpr size_t kLeast = offsetof(muster_component_t, attributes);
    if (descriptor->struct_size < kLeast) {
        return refused(origin, "its descriptor has " + std::to_string(descriptor->struct_size) + " of " +
                                   std::to_string(kLeast) + " bytes; rebuild it against interface " + ours);
    }
    const auto is = [](const char* text, std::string_view wanted) {
        return text != nullptr && text == wanted;
    };
    if (!is(descriptor->framework, framework) || (!name.empty() && !is(descriptor->name, name))) {
        return refused(origin, "its descriptor is that of component " + quoted(descriptor->name) +
                                   " of framework " + quoted(descriptor->framework) +
                                   "; name the file after what it holds");
    }
    if (descriptor->name == nullptr || !is_component_name(descriptor->name)) {
        return refused(origin, "the component's name " + quoted(descriptor->name) +
                                   " is not made of lower case letters and digits");
    }
    if (const auto table = table_version(framework); table && descriptor->interface_version != *table) {
        return refused(origin, "it has version " + std::to_string(descriptor->interface_version) +
                                   " of the " + std::string(framework) +
                                   " interface, this library (" MUSTER_VERSION ") has " +
                                   std::to_string(*table) + "; rebuild the component against this library");
    } else if (!table && !is(descriptor->version, MUSTER_VERSION)) {
        return refused(origin, "it is of version " + quoted(descriptor->version) +
                                   ", and a component of framework " + std::string(framework) +
                                   " must have the library's, " MUSTER_VERSION "; install both together");
    }
    if (descriptor->create == nullptr || descriptor->destroy == nullptr || descriptor->version == nullptr) {
        return refused(origin, "its descriptor lacks create, destroy or version");
    }
    if (descriptor->nparams > kMaxParameters || (descriptor->nparams != 0 && descriptor->params == nullptr)) {
        return refused(origin, "its table of parameters is broken");
    }
    for (size_t i = 0; i < descriptor->nparams; ++i) {
        const muster_param_t& param = descriptor->params[i];
        if (param.name == nullptr || param.default_value == nullptr || param.type < MUSTER_PARAM_INT ||
            param.type > MUSTER_PARAM_CHOICE) {
            return refused(origin,
                           "its parameter " + quoted(param.name) + " lacks a name, a type or a default");
        }
    }
    if (descriptor->struct_size < sizeof(muster_component_t)) return {};
    for (size_t i = 0; i < descriptor->nattributes; ++i) {
        const muster_param_attribute_t& attribute = descriptor->attributes[i];
        if (attribute.attribute == nullptr || attribute.param == nullptr)
            return refused(origin, "an entry of its table of attributes lacks the key or the parameter");
    }
    return {};
}

Result<const muster_component_t*> open_component_file(const ComponentFile& file, bool privileged) {
    if (file.path.empty() || file.path.front() != '/') return refused(file.path, "its path is not absolute");
    std::string path = file.path;
    if (privileged) {
        Result<std::string> allowed = trusted_path(path, Trust::RootOnly);
        if (!allowed.ok()) return allowed.error();
        path = std::move(*allowed);
    }
    Result<ComponentEntry> entry = open_entry(path, "muster_component_" + file.framework + "_" + file.name);
    if (!entry.ok()) return entry.error();
    const muster_component_t* descriptor = (*entry)();
    Result<void> fits = check_descriptor(descriptor, file.framework, file.name, file.path);
    if (!fits.ok()) return fits.error();
    return descriptor;
}

}  // namespace muster
