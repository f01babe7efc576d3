// SPDX-License-Identifier: BSD-3-Clause
// See preg_access.hpp.
#include "core/runtime/preg_access.hpp"

#include "framework/linked_components.hpp"
#include "framework/parameters.hpp"
#include "framework/registry.hpp"

namespace muster {
namespace {

struct Access {
    Access() {
        Registry::Options options = Registry::Options::standard(parameters);
        options.linked = linked_components();
        registry.emplace(parameters, options);
        pregs = registry->pregs();
    }

    Parameters parameters{Parameters::Sources::standard()};
    std::optional<Registry> registry;
    std::vector<Preg*> pregs;
};

}  // namespace

const std::vector<Preg*>& preg_for_api() {
    static const Access* access = new Access();  // on purpose never destroyed
    return access->pregs;
}

}  // namespace muster
