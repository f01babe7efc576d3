// SPDX-License-Identifier: BSD-3-Clause
// preg: short forms of node and process maps. Facade over the SDK's C interface (pmix/sdk/preg.h), and the
// operations on all forms together: the shortest is generated, any is parsed.
#pragma once

#include <pmix/sdk/preg.h>

#include <span>
#include <string_view>

#include "framework/base/bytes.hpp"
#include "framework/base/result.hpp"
#include "framework/component_table.hpp"

namespace muster {

/// One component. Any thread.
class Preg : public TableFacade<muster_preg_t> {
  public:
    using TableFacade::TableFacade;

    /// PMIX_ERR_NOT_SUPPORTED when the component's form does not fit; `out` is as before then.
    pmix_status_t generate_nodes(std::string_view list, Bytes& out) const;
    pmix_status_t generate_ppn(std::string_view list, Bytes& out) const;
    /// By rows where the component gives them and the sink takes them; its row() may be null.
    pmix_status_t parse_nodes(ByteView regex, const muster_preg_name_row_sink_t& sink) const;
    pmix_status_t parse_ppn(ByteView regex, const muster_preg_rank_row_sink_t& sink) const;
    pmix_status_t parse_nodes(ByteView regex, const muster_preg_name_sink_t& sink) const {
        return parse_nodes(regex, muster_preg_name_row_sink_t{sink, nullptr});
    }
    pmix_status_t parse_ppn(ByteView regex, const muster_preg_rank_sink_t& sink) const {
        return parse_ppn(regex, muster_preg_rank_row_sink_t{sink, nullptr});
    }
};

/// Components, preferred first, as Registry::pregs() gives them.
using PregSet = std::span<Preg* const>;

/// The list in the form of the first component that it fits; where that is long, in the shortest form there
/// is. With its terminator, if it has one. One malloc block. Without any component: the list itself.
Result<Bytes> generate_node_regex(PregSet pregs, std::string_view list);
Result<Bytes> generate_ppn_regex(PregSet pregs, std::string_view list);

/// Reads any form that a component knows, or a plain list. The sink is as in pmix/sdk/preg.h.
/// The error names the violated rule: PMIX_ERR_BAD_PARAM, PMIX_ERR_OUT_OF_RESOURCE, or the sink's status.
Result<void> parse_node_regex(PregSet pregs, ByteView regex, const muster_preg_name_row_sink_t& sink);
Result<void> parse_ppn_regex(PregSet pregs, ByteView regex, const muster_preg_rank_row_sink_t& sink);
inline Result<void> parse_node_regex(PregSet pregs, ByteView regex, const muster_preg_name_sink_t& sink) {
    return parse_node_regex(pregs, regex, muster_preg_name_row_sink_t{sink, nullptr});
}
inline Result<void> parse_ppn_regex(PregSet pregs, ByteView regex, const muster_preg_rank_sink_t& sink) {
    return parse_ppn_regex(pregs, regex, muster_preg_rank_row_sink_t{sink, nullptr});
}

}  // namespace muster
