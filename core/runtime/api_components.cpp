// SPDX-License-Identifier: BSD-3-Clause
// See api_components.hpp.
#include "core/runtime/api_components.hpp"

#include "framework/linked_components.hpp"
#include "framework/parameters.hpp"
#include "framework/registry.hpp"

namespace muster {
namespace {

/// The registry of one framework's components: a registry is used by one thread at a time.
struct Access {
    Access() {
        Registry::Options options = Registry::Options::standard(parameters);
        options.linked = linked_components();
        registry.emplace(parameters, options);
    }

    Parameters parameters{Parameters::Sources::standard()};
    std::optional<Registry> registry;
};

}  // namespace

// On purpose nothing of this is ever destroyed.

const std::vector<Preg*>& preg_for_api() {
    static auto* const access = new Access();
    static const auto* pregs = new std::vector<Preg*>(access->registry->pregs());
    return *pregs;
}

const std::vector<Pcompress*>& pcompress_for_api() {
    static auto* const access = new Access();
    static const auto* components = new std::vector<Pcompress*>(access->registry->pcompress());
    return *components;
}

}  // namespace muster
