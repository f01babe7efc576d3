// SPDX-License-Identifier: BSD-3-Clause
// Collects the inventory: see inventory.hpp.
#include "tools/pmix_info/inventory.hpp"

#include <pmix_version.h>

#include "framework/base/install.hpp"
#include "framework/library_parameters.hpp"
#include "framework/linked_components.hpp"

namespace muster::info {
namespace {

#define MUSTER_TEXT_(x) #x
#define MUSTER_TEXT(x) MUSTER_TEXT_(x)

std::string without_suffix(std::string number) {
    while (!number.empty() && number.back() == 'L')
        number.pop_back();
    return number;
}

std::vector<std::pair<std::string, std::string>> installation_paths() {
    const InstallPaths running = install_paths();
    const std::string base = running.prefix == "/" ? "" : running.prefix;
    return {
        {"prefix", running.prefix},
        {"exec_prefix", running.prefix},
        {"bindir", base + "/bin"},
        {"sbindir", base + "/sbin"},
        {"libdir", base + "/lib"},
        {"incdir", base + "/include"},
        {"mandir", base + "/share/man"},
        {"pkglibdir", running.components},
        {"libexecdir", base + "/libexec"},
        {"datarootdir", base + "/share"},
        {"datadir", base + "/share"},
        {"sysconfdir", base + "/etc"},
        {"sharedstatedir", base + "/com"},
        {"localstatedir", base + "/var"},
        {"infodir", base + "/share/info"},
        {"pkgdatadir", base + "/share/muster"},
        {"pkgincludedir", base + "/include"},
    };
}

}  // namespace

Inventory collect(Parameters& parameters) {
    Registry::Options options = Registry::Options::standard(parameters);
    options.linked = linked_components();
    const std::vector<std::string> folders = options.folders;
    Registry registry(parameters, std::move(options));
    define_library_parameters(parameters);

    Inventory found;
    found.package = "Muster " MUSTER_VERSION;
    found.version = without_suffix(MUSTER_TEXT(PMIX_VERSION_MAJOR)) + "." +
                    without_suffix(MUSTER_TEXT(PMIX_VERSION_MINOR)) + "." +
                    without_suffix(MUSTER_TEXT(PMIX_VERSION_RELEASE));
    found.paths = installation_paths();
    found.architecture = MUSTER_ARCHITECTURE;
    std::string searched;
    for (const std::string& folder : folders)
        searched += (searched.empty() ? "" : ":") + folder;
    const std::string linked = MUSTER_LINKED;
    const std::string sanitizers = MUSTER_SANITIZERS;
    found.configuration = {
        {"C compiler", "compiler:c:version", MUSTER_C_COMPILER},
        {"C++ compiler", "compiler:cxx:version", MUSTER_CXX_COMPILER},
        {"C bool size", "compiler:c:sizeof:bool", std::to_string(sizeof(bool))},
        {"C short size", "compiler:c:sizeof:short", std::to_string(sizeof(short))},
        {"C int size", "compiler:c:sizeof:int", std::to_string(sizeof(int))},
        {"C long size", "compiler:c:sizeof:long", std::to_string(sizeof(long))},
        {"C pointer size", "compiler:c:sizeof:pointer", std::to_string(sizeof(void*))},
        {"Build type", "option:build:type", MUSTER_BUILD_TYPE},
        {"Sanitizers", "option:build:sanitizers", sanitizers.empty() ? "none" : sanitizers},
        {"Linked-in components", "option:build:linked", linked.empty() ? "none" : linked},
        {"Component interface", "sdk:version",
         std::to_string(MUSTER_SDK_MAJOR) + "." + std::to_string(MUSTER_SDK_MINOR)},
        {"Component folders", "path:components", searched},
        {"dl support", "option:dlopen", "yes"},
        {"Symbol vis. support", "options:visibility", "yes"},
    };
    found.components = registry.inventory();
    found.unknown = registry.unknown_parameters();
    found.parameters = parameters.all();
    found.complaints = parameters.complaints();
    return found;
}

std::string source_text(const ParameterView& view) {
    switch (view.source) {
        case ParameterSource::SystemFile:
        case ParameterSource::UserFile:
            return "file (" + view.origin + ")";
        default:
            return parameter_source_name(view.source);
    }
}

const char* type_name(ParameterType type) {
    switch (type) {
        case ParameterType::Int:
            return "int";
        case ParameterType::Unsigned:
            return "unsigned_int";
        case ParameterType::Size:
            return "size_t";
        case ParameterType::Bool:
            return "bool";
        case ParameterType::Seconds:
            return "double";
        case ParameterType::Choice:
        case ParameterType::String:
            return "string";
    }
    return "string";
}

}  // namespace muster::info
