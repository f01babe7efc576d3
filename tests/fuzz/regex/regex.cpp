// SPDX-License-Identifier: BSD-3-Clause
// Node and process maps. The first byte of the input says what the rest is: an expression in any form, which
// is read, or a plain list, which each component shortens: what it makes has to stand for the same names or
// ranks.

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/components/preg/instances.hpp"

namespace {

using namespace muster;

constexpr size_t kLimit = 512;

const std::vector<Preg*>& pregs() {
    // Small limits: an expression of a few bytes may stand for many names.
    static const PregInstances instances(
        {{"generate", "true"}, {"max_entries", "512"}, {"max_size", "16384"}, {"min_size", "8"}});
    return instances.all();
}

/// The expansion of an expression, as text.
struct Names {
    std::string text;
    size_t count = 0;
    muster_preg_name_sink_t sink() {
        return {this, [](void* data, const char* name, size_t length) -> pmix_status_t {
                    auto* self = static_cast<Names*>(data);
                    // A list without a tag goes past the components, and their limits.
                    if (++self->count > kLimit) return PMIX_ERR_OUT_OF_RESOURCE;
                    self->text.append(name, length) += ',';
                    return PMIX_SUCCESS;
                }};
    }
};

struct Ranks {
    std::string text;
    uint64_t previous_last = UINT64_MAX;
    muster_preg_rank_sink_t sink() {
        return {this,
                [](void* data, uint32_t first, uint32_t last) {
                    require(first <= last);
                    auto* self = static_cast<Ranks*>(data);
                    // Runs that follow each other are one, however they came.
                    if (self->previous_last != UINT64_MAX && self->previous_last + 1 == first) {
                        self->text.resize(self->text.rfind('-') + 1);
                    } else {
                        self->text += std::to_string(first) + '-';
                    }
                    self->text += std::to_string(last);
                    if (self->text.back() != ' ') self->text += ' ';
                    self->previous_last = last;
                    return PMIX_SUCCESS;
                },
                [](void* data) {
                    auto* self = static_cast<Ranks*>(data);
                    self->text += ';';
                    self->previous_last = UINT64_MAX;
                    return PMIX_SUCCESS;
                }};
    }
};

ByteView bytes_of(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// Lists that are taken for an expression are not plain.
bool is_plain(std::string_view list) {
    for (const std::string_view tag : {"raw:", "pmix", "blob"}) {
        if (list.starts_with(tag)) return false;
    }
    return list.find('\0') == std::string_view::npos;
}

void read_nodes(std::string_view text) {
    Names names;
    const auto sink = names.sink();
    (void)parse_node_regex(pregs(), bytes_of(text), sink);
}

void read_ranks(std::string_view text) {
    Ranks ranks;
    const auto sink = ranks.sink();
    (void)parse_ppn_regex(pregs(), bytes_of(text), sink);
}

void shorten_nodes(std::string_view list) {
    Names plain;
    const auto sink = plain.sink();
    if (!is_plain(list) || preg::parse_names(list, kLimit, sink) != PMIX_SUCCESS) return;
    for (const Preg* preg : pregs()) {
        Bytes regex;
        if (preg->generate_nodes(list, regex) != PMIX_SUCCESS) continue;
        Names names;
        const auto names_sink = names.sink();
        require(preg->parse_nodes(regex.view(), names_sink) == PMIX_SUCCESS);
        require(names.text == plain.text);
    }
}

void shorten_ranks(std::string_view list) {
    Ranks plain;
    const auto sink = plain.sink();
    if (!is_plain(list) || preg::parse_ranks(list, kLimit, sink) != PMIX_SUCCESS) return;
    for (const Preg* preg : pregs()) {
        Bytes regex;
        if (preg->generate_ppn(list, regex) != PMIX_SUCCESS) continue;
        Ranks ranks;
        const auto ranks_sink = ranks.sink();
        require(preg->parse_ppn(regex.view(), ranks_sink) == PMIX_SUCCESS);
        require(ranks.text == plain.text);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] & 3) {
        case 0:
            read_nodes(text);
            break;
        case 1:
            read_ranks(text);
            break;
        case 2:
            shorten_nodes(text);
            break;
        default:
            shorten_ranks(text);
            break;
    }
    return 0;
}
