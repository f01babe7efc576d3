// SPDX-License-Identifier: BSD-3-Clause
// See plain_list.hpp.
#include "framework/preg/plain_list.hpp"

#include <pmix_common.h>

#include <cstdint>

#include "framework/preg/name_list.hpp"
#include "framework/preg/number.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster::preg {
namespace {

/// Appends the next part, after a separator unless it is the first.
class Writer {
  public:
    explicit Writer(std::string& out) : out_(out) { out_.clear(); }

    pmix_status_t name(std::string_view name) {
        separate(',');
        out_ += name;
        return PMIX_SUCCESS;
    }
    pmix_status_t ranks(uint64_t first, uint64_t last) {
        for (uint64_t rank = first; rank <= last; ++rank) {
            separate(',');
            append_number(out_, rank);
        }
        return PMIX_SUCCESS;
    }
    pmix_status_t next_node() {
        out_ += ';';
        behind_ = false;
        return PMIX_SUCCESS;
    }

  private:
    void separate(char separator) {
        if (behind_) out_ += separator;
        behind_ = true;
    }

    std::string& out_;
    bool behind_ = false;
};

Writer& writer(void* data) {
    return *static_cast<Writer*>(data);
}

}  // namespace

std::string_view plain_names(std::string_view list, size_t limit, std::string& space) {
    if (list.find('[') == std::string_view::npos) return list;
    Writer to(space);
    const muster_preg_name_sink_t sink = {&to, [](void* data, const char* name, size_t length) {
                                              return writer(data).name({name, length});
                                          }};
    if (parse_names(list, limit, sink) != PMIX_SUCCESS) return list;
    // A bracket that is part of a name may be read as the beginning of ranges, together with the text now
    // after it.
    return space.find('[') == std::string::npos ? space : list;
}

std::string_view plain_ranks(std::string_view list, size_t limit, std::string& space) {
    if (list.find('-') == std::string_view::npos) return list;
    Writer to(space);
    const muster_preg_rank_sink_t sink = {
        &to, [](void* data, uint32_t first, uint32_t last) { return writer(data).ranks(first, last); },
        [](void* data) { return writer(data).next_node(); }};
    if (parse_ranks(list, limit, sink) != PMIX_SUCCESS) return list;
    if (!space.empty()) space.pop_back();  // each node is ended by a separator
    return space;
}

}  // namespace muster::preg
