// SPDX-License-Identifier: BSD-3-Clause
// Files of components: see loader.hpp.
#include "framework/loader.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <ltdl.h>
#include <pmix/sdk/pcompress.h>
#include <pmix/sdk/plog.h>
#include <pmix/sdk/pmdl.h>
#include <pmix/sdk/pnet.h>
#include <pmix/sdk/preg.h>
#include <pmix/sdk/psec.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "framework/base/install.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {
namespace {

constexpr std::string_view kFilePrefix = "mca_";
constexpr std::string_view kFileSuffix = ".so";
constexpr std::string_view kLibrary = "libpmix.so.";
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

/// Which file it is, under whatever name.
struct FileId {
    dev_t device = 0;
    ino_t number = 0;
    bool operator==(const FileId&) const = default;
};

FileId id_of(const struct stat& status) {
    return {status.st_dev, status.st_ino};
}

/// Why the code in a file or folder with this status may be that of another user; empty where it is not: the
/// owner is root, the user who runs, or the owner of this library, who can change what runs here anyway.
std::string who_else_can_change(const struct stat& status) {
    const uid_t user = ::geteuid();
    const bool by_group = (status.st_mode & S_IWGRP) != 0;
    if (status.st_uid == 0 && !by_group && (status.st_mode & S_IWOTH) == 0) return {};
    if ((status.st_mode & S_IWOTH) != 0) return "any user can change it";
    struct stat library {};
    const bool known = ::stat(install_paths().image.c_str(), &library) == 0;
    if (status.st_uid != 0 && status.st_uid != user && (!known || status.st_uid != library.st_uid))
        return "it belongs to user " + std::to_string(status.st_uid);
    // A user may share with a group what is his own. Root's processes are everybody's concern.
    const bool same_group = known && (library.st_mode & S_IWGRP) != 0 && library.st_gid == status.st_gid;
    if (by_group && !same_group && (user == 0 || status.st_uid != user))
        return "group " + std::to_string(status.st_gid) + " can change it";
    return {};
}

/// The same for a folder: nobody else can change it, or put another one in its place. What stands above the
/// library's own folder of components is the library's own concern.
std::string who_else_can_change(const std::string& folder, const struct stat& status) {
    if (std::string why = who_else_can_change(status); !why.empty()) return why;
    if (folder == install_paths().components) return {};
    char* const resolved = ::realpath(folder.c_str(), nullptr);
    std::string above = resolved == nullptr ? "" : resolved;
    std::free(resolved);
    while (above.size() > 1) {
        above = folder_of(above);
        struct stat there {};
        if (::lstat(above.c_str(), &there) != 0) return above + " cannot be examined";
        // In a sticky folder nobody can rename what belongs to another user.
        if ((there.st_mode & S_ISVTX) != 0) there.st_mode &= ~mode_t{S_IWGRP | S_IWOTH};
        if (const std::string why = who_else_can_change(there); !why.empty())
            return "of " + above + ", which it stands in, " + why;
    }
    return {};
}

constexpr const char* kCure =
    "; give it to root or to the user who runs, writable by nobody else, or take its folder out of "
    "mca_base_component_path";

/// The names in a folder; none where it cannot be read, or is one of those that were `seen` under another
/// name, or another user's: then the reason is added to `passed_over`. Not by readdir(), whose buffer of 32
/// KiB each process would touch for the first time here.
template <class Take>
void each_entry(const std::string& folder, std::vector<FileId>& seen, std::vector<std::string>* passed_over,
                const Take& take) {
    const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) return;
    if (std::find(seen.begin(), seen.end(), id_of(status)) != seen.end()) return;
    seen.push_back(id_of(status));
    if (const std::string why = who_else_can_change(folder, status); !why.empty()) {
        if (passed_over != nullptr)
            passed_over->push_back("component folder " + folder + " is passed over: " + why + kCure);
        return;
    }
    alignas(dirent64) char block[4096];
    for (;;) {
        const ssize_t got = ::getdents64(fd.get(), block, sizeof block);
        if (got <= 0) return;
        for (ssize_t at = 0; at < got;) {
            const auto* entry = reinterpret_cast<const dirent64*>(block + at);
            take(entry->d_name);
            at += entry->d_reclen;
        }
    }
}

/// Opening what is no regular file could take for ever; and nobody runs another user's code. `status` is the
/// file's.
Result<void> examine(const std::string& path, const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return refused(path, "it is not a regular file");
    if (const std::string why = who_else_can_change(status); !why.empty())
        return Error{PMIX_ERR_NO_PERMISSIONS, path + " is refused: " + why + kCure};
    const std::string folder = folder_of(path);
    struct stat around {};
    if (::stat(folder.c_str(), &around) != 0) return io_error(folder);
    if (const std::string why = who_else_can_change(folder, around); !why.empty())
        return Error{PMIX_ERR_NO_PERMISSIONS, path + " is refused for its folder: " + why + kCure};
    return {};
}

/// The library in which an address lies, as the dynamic linker knows it.
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
    return ::stat(opened, &one) == 0 && ::stat(path.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
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

/// Whether it is a copy of the library under another name: its links were followed by whoever copied the
/// tree.
bool is_copy_of_library(const link_map& library) {
    ElfW(Addr) texts = 0;
    std::optional<size_t> name;
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_STRTAB) texts = entry->d_un.d_ptr;
        if (entry->d_tag == DT_SONAME) name = entry->d_un.d_val;
    }
    if (texts == 0 || !name) return false;
    if (texts < library.l_addr) texts += library.l_addr;  // not every dynamic linker puts it right there
    return std::string_view(reinterpret_cast<const char*>(texts) + *name).starts_with(kLibrary);
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

using EntryFunction = const muster_component_t* (*)();

/// What a process has opened, under one lock: libltdl's state is the process's, and its functions may not run
/// at the same time.
struct Opened {
    std::mutex lock;
    bool ltdl_ready = false;
    // The library that runs, where a component was a link to it (docs/decisions/0021), opened once.
    void* running = nullptr;
    // The library's file behind another name or link, opened once.
    FileId library_id;
    void* library_handle = nullptr;
};
Opened& opened() {
    static auto* const the_opened = new Opened;  // never destroyed: threads may call while the process exits
    return *the_opened;
}

/// Whether the path is a link as it is installed, pmix/mca_X.so -> ../libpmix.so.2, to the library that runs.
/// Its file need not be looked at, which means to follow three links for each component; nor who could change
/// it or its folder, as nothing is read from there.
bool is_link_to_running(const std::string& path) {
    const std::string_view running = install_paths().loaded;
    const size_t beside = running.rfind('/') + 1;  // of the library's name, and of pmix/
    const size_t name = path.rfind('/') + 1;
    if (beside == 0 || name <= beside || path.compare(0, beside, running, 0, beside) != 0 ||
        path.find('/', beside) != name - 1)
        return false;
    constexpr std::string_view kUp = "../";
    char target[64];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    const std::string_view text(target, length < 0 ? 0 : static_cast<size_t>(length));
    return text.starts_with(kUp) && text.substr(kUp.size()) == running.substr(beside);
}

/// The library that runs, opened by the name that the dynamic linker knows, for which it looks at no file.
void* open_running() {
    return ::dlopen(install_paths().loaded.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/// Whether the path leads to the library, which then is opened: mostly it is the one that runs. Another one
/// (where this code is part of a program) is bound at once, as a component is.
bool is_library(Opened& all, const std::string& path, const FileId& id) {
    if (all.library_handle != nullptr) return id == all.library_id;
    char* const real = ::realpath(path.c_str(), nullptr);
    const char* const name = real == nullptr ? nullptr : std::strrchr(real, '/') + 1;
    if (name != nullptr && std::string_view(name).starts_with(kLibrary)) {
        all.library_handle = ::dlopen(real, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        all.library_id = id;
    }
    std::free(real);
    return all.library_handle != nullptr;
}

Result<void*> open_by_ltdl(Opened& all, const std::string& path, const std::string& symbol) {
    // Counted by libltdl; never undone, for what was opened stays.
    if (!all.ltdl_ready && lt_dlinit() != 0) return Error{PMIX_ERR_INIT, "libltdl cannot be initialised"};
    all.ltdl_ready = true;
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
    // The linker also looks into the libraries that the file needs.
    const link_map* library = library_of(address);
    if (library == nullptr || !same_file(library->l_name, path)) {
        return refused(path, "the function that it should export is another library's");
    }
    if (!bound_at_once(*library) && !is_copy_of_library(*library)) {
        return refused(
            path, "it is bound lazily; link it with -Wl,-z,now, or build it with muster_add_component()");
    }
    return {};
}

/// Opens the file and finds its one function. Whatever is looked at costs each process that is started: of a
/// file that is open already nothing is asked but which one it is.
Result<EntryFunction> open_entry(const std::string& path, const std::string& symbol) {
    Opened& all = opened();
    std::lock_guard guard(all.lock);
    void* library = nullptr;
    if (is_link_to_running(path)) {
        if (all.running == nullptr) all.running = open_running();
        library = all.running;
    }
    if (library == nullptr) {
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) return io_error(path);
        const FileId id = id_of(status);
        if (all.library_handle == nullptr || id != all.library_id) {
            if (Result<void> examined = examine(path, status); !examined.ok()) return examined.error();
        }
        if (is_library(all, path, id)) library = all.library_handle;
    }
    Result<void*> found =
        library != nullptr ? ::dlsym(library, symbol.c_str()) : open_by_ltdl(all, path, symbol);
    if (!found.ok()) return found.error();
    void* const address = *found;
    if (address == nullptr) {
        return refused(path, "it does not export " + symbol + "; build it with muster_add_component()");
    }
    if (library == nullptr) {
        if (Result<void> whole = is_whole(path, address); !whole.ok()) return whole.error();
    }
    EntryFunction entry = nullptr;
    std::memcpy(&entry, &address, sizeof entry);
    return entry;
}

}  // namespace

/// Every process does this: the names are put in order in one buffer before anything is made of them.
std::vector<ComponentFile> find_component_files(const std::vector<std::string>& folders,
                                                std::vector<std::string>* passed_over) {
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

Result<std::string> path_only_root_can_change(const std::string& path) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return io_error(path);
    const std::string real(resolved);
    std::free(resolved);
    // Down from the root by descriptor, so that nothing can be exchanged under way; the real path has no
    // links.
    UniqueFd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    size_t begin = 1;
    for (;;) {
        struct stat status {};
        if (!at || ::fstat(at.get(), &status) != 0) return io_error(path);
        const bool last = begin > real.size();
        const std::string here = last ? real : real.substr(0, std::max<size_t>(begin - 1, 1));
        const bool parent_of_last = !last && real.find('/', begin) == std::string::npos;
        // In a sticky folder others cannot exchange what is root's; what holds the file must be root's alone.
        const bool sticky = (status.st_mode & S_ISVTX) != 0 && S_ISDIR(status.st_mode) && !parent_of_last;
        if (status.st_uid != 0 || ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky)) {
            return Error{PMIX_ERR_NO_PERMISSIONS,
                         path + " is refused in a process with raised privileges: " + here +
                             " must belong to root and be writable by nobody else"};
        }
        if (last) return real;
        const size_t end = std::min(real.find('/', begin), real.size());
        const std::string part = real.substr(begin, end - begin);
        at.reset(::openat(at.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        begin = end + 1;
    }
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
    // Everything up to `destroy` is there since 1.0.
    if (descriptor->struct_size < sizeof(muster_component_t)) {
        return refused(origin, "its descriptor has " + std::to_string(descriptor->struct_size) + " of " +
                                   std::to_string(sizeof(muster_component_t)) +
                                   " bytes; rebuild it against interface " + ours);
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
    return {};
}

Result<const muster_component_t*> open_component_file(const ComponentFile& file, bool privileged) {
    if (file.path.empty() || file.path.front() != '/') return refused(file.path, "its path is not absolute");
    std::string path = file.path;
    if (privileged) {
        Result<std::string> allowed = path_only_root_can_change(path);
        if (!allowed.ok()) return allowed.error();
        path = std::move(*allowed);
    }
    Result<EntryFunction> entry = open_entry(path, "muster_component_" + file.framework + "_" + file.name);
    if (!entry.ok()) return entry.error();
    const muster_component_t* descriptor = (*entry)();
    Result<void> fits = check_descriptor(descriptor, file.framework, file.name, file.path);
    if (!fits.ok()) return fits.error();
    return descriptor;
}

}  // namespace muster
