// SPDX-License-Identifier: BSD-3-Clause
// See plain_list.hpp.
#include "framework/preg/plain_list.hpp"

#include <pmix_common.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster::preg {
namespace {

/// At most so many bytes are written for the ranks of a list; nothing if it is malformed, or past the limit.
std::optional<size_t> size_of_ranks(std::string_view list, size_t limit) {
    size_t size = 0;
    const muster_preg_rank_sink_t sink = {&size,
                                          [](void* data, uint32_t first, uint32_t last) {
                                              size_t digits = 1;
                                              for (uint64_t end = 10; last >= end; end *= 10)
                                                  ++digits;
                                              *static_cast<size_t*>(data) +=
                                                  (size_t{last} - first + 1) * (digits + 1);
                                              return pmix_status_t{PMIX_SUCCESS};
                                          },
                                          [](void* data) {
                                              ++*static_cast<size_t*>(data);
                                              return pmix_status_t{PMIX_SUCCESS};
                                          }};
    return parse_ranks(list, limit, sink) == PMIX_SUCCESS ? std::optional(size) : std::nullopt;
}

/// Writes ranks one by one into a block that is large enough.
struct RankWriter {
    char* const begin;
    char* const end;
    char* at = begin;

    static pmix_status_t ranks(void* data, uint32_t first, uint32_t last) {
        auto& to = *static_cast<RankWriter*>(data);
        for (uint64_t rank = first; rank <= last; ++rank) {
            to.at = std::to_chars(to.at, to.end, rank).ptr;
            *to.at++ = ',';
        }
        return PMIX_SUCCESS;
    }
    static pmix_status_t next_node(void* data) {
        auto& to = *static_cast<RankWriter*>(data);
        if (to.at != to.begin && to.at[-1] == ',') --to.at;
        *to.at++ = ';';
        return PMIX_SUCCESS;
    }
};

}  // namespace

std::string_view plain_names(std::string_view list, size_t limit, std::string& space) {
    if (list.find('[') == std::string_view::npos) return list;
    space.clear();
    const muster_preg_name_sink_t sink = {&space, [](void* data, const char* name, size_t length) {
                                              auto& names = *static_cast<std::string*>(data);
                                              if (!names.empty()) names += ',';
                                              names.append(name, length);
                                              return pmix_status_t{PMIX_SUCCESS};
                                          }};
    if (parse_names(list, limit, sink) != PMIX_SUCCESS) return list;
    // A bracket that is part of a name may be read as the beginning of ranges, together with the text now
    // after it.
    return space.find('[') == std::string::npos ? space : list;
}

std::string_view plain_ranks(std::string_view list, size_t limit, std::string& space) {
    if (list.find('-') == std::string_view::npos) return list;
    // The size first: a text that grows is copied several times, and a list past the limit is not written.
    const std::optional<size_t> size = size_of_ranks(list, limit);
    if (!size) return list;
    space.resize(*size);
    RankWriter to{space.data(), space.data() + space.size()};
    const muster_preg_rank_sink_t sink = {&to, &RankWriter::ranks, &RankWriter::next_node};
    if (parse_ranks(list, limit, sink) != PMIX_SUCCESS) return list;
    if (to.at != to.begin) --to.at;  // each node is ended by a separator
    return {to.begin, to.at};
}

}  // namespace muster::preg
