// SPDX-License-Identifier: BSD-3-Clause
// Lists of the ranks on each node as text ("0-3;4,6,8"): reading them, and shortening them to the form that
// the Standard documents ("2x(3);8,10-12"). Linear in the length of input and output.
#pragma once

#include <pmix/sdk/preg.h>

#include <string>
#include <string_view>

namespace muster::preg {

/// Reads a semicolon list, one entry a node, each a comma list of ranks and ranges of ranks (or nothing).
/// The limit is for the ranks and for the nodes. With `runs` an entry may also be one of several nodes in the
/// form below.
/// @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_OUT_OF_RESOURCE; the sink's status.
/// `sink.row` may be null.
pmix_status_t parse_ranks(std::string_view text, size_t limit, const muster_preg_rank_row_sink_t& sink,
                          bool runs = false);
inline pmix_status_t parse_ranks(std::string_view text, size_t limit, const muster_preg_rank_sink_t& sink,
                                 bool runs = false) {
    return parse_ranks(text, limit, muster_preg_rank_row_sink_t{sink, nullptr}, runs);
}

/// Appends the shortened list. Ranks that follow each other become a range. "Nx(K)" stands for N nodes that
/// hold K+1 ranks in a row each, where the first of them starts at rank 1 and each next one a rank higher, as
/// in the Standard's example (1-4;2-5 is 2x(3)); other starts and steps are written behind it:
/// "Nx(K)@START+STEP". Nodes with several ranges each have one such part a range, with commas between them.
/// Many nodes whose ranks continue those of the node before are "@START:C,C*N,...": the first rank of
/// all, and the count of each node, or of N nodes.
/// @return false if the list is not a list of ranks, or the form cannot express it (one node without ranks).
bool shorten_ranks(std::string_view list, std::string& out);

}  // namespace muster::preg
