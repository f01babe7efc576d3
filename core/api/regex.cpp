// SPDX-License-Identifier: BSD-3-Clause
// Short forms of node and process maps (Standard: PMIx_generate_regex, PMIx_generate_ppn).
#include <pmix_server.h>

#include "core/api/instance.hpp"
#include "framework/preg.hpp"

using namespace muster;

namespace {

using Generate = Result<Bytes> (*)(PregSet pregs, std::string_view list);

pmix_status_t generate(Generate form, const char* input, char** out) {
    return guard([&]() -> pmix_status_t {
        if (input == nullptr || out == nullptr) return PMIX_ERR_BAD_PARAM;
        *out = nullptr;
        const auto with = [&](Registry& registry) -> pmix_status_t {
            const auto pregs = registry.pregs();
            auto made = form(pregs, input);
            if (!made) return made.status();
            // What text forms end with, and what a caller who takes it for a string expects.
            if (made->empty() || made->data()[made->size() - 1] != 0) made->push_back(0);
            *out = reinterpret_cast<char*>(made->release());
            return PMIX_SUCCESS;
        };
        if (const Use use; use) return with(use->registry());
        // Hosts make maps before they start the library: then with components of our own.
        Parameters parameters(Parameters::Sources::standard());
        Registry::Options options = Registry::Options::standard(parameters);
        options.linked = linked_components();
        Registry registry(parameters, options);
        return with(registry);
    });
}

}  // namespace

extern "C" {

PMIX_EXPORT pmix_status_t PMIx_generate_regex(const char* input, char** regex) {
    return generate(generate_node_regex, input, regex);
}

PMIX_EXPORT pmix_status_t PMIx_generate_ppn(const char* input, char** ppn) {
    return generate(generate_ppn_regex, input, ppn);
}

}  // extern "C"
