// SPDX-License-Identifier: BSD-3-Clause
// The preg facade: calls into components, checked, and the choice among their forms.
#include "framework/preg.hpp"

#include <algorithm>

#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster {
namespace {

/// A form this long, or a list this many times as long as its form: good enough, others are not tried.
/// Compression takes far longer than all else here, and makes a list of names or ranks shorter by less.
constexpr size_t kShortEnough = 256;
constexpr size_t kShortEnoughFactor = 4;

using Generate = pmix_status_t (Preg::*)(std::string_view, Bytes&) const;

Result<Bytes> shortest(PregSet pregs, std::string_view list, Generate generate) {
    Bytes best;
    for (const Preg* preg : pregs) {
        Bytes candidate;
        const pmix_status_t status = (preg->*generate)(list, candidate);
        if (status == PMIX_ERR_NOT_SUPPORTED) continue;
        if (status != PMIX_SUCCESS)
            return Error{status, "preg/" + preg->name() + " could not shorten the list"};
        if (candidate.empty()) continue;
        if (best.empty() || candidate.size() < best.size()) best = std::move(candidate);
        if (best.size() <= std::max(kShortEnough, list.size() / kShortEnoughFactor)) break;
    }
    if (best.empty()) {
        best.append(list.data(), list.size());
        best.push_back(0);
    }
    return best;
}

Error broken(pmix_status_t status, const std::string& component, const char* what) {
    if (status == PMIX_ERR_OUT_OF_RESOURCE) {
        return {status,
                std::string(what) + " expands to more entries than are allowed (form " + component + ")"};
    }
    return {status, std::string(what) + " cannot be read (form " + component +
                        "): write it as PMIx_generate_regex does"};
}

/// Calls generate_nodes or generate_ppn of a component.
pmix_status_t generated(const muster_preg_t& form, decltype(muster_preg_t::generate_nodes) generate,
                        std::string_view list, Bytes& out) {
    char* result = nullptr;
    size_t size = 0;
    const pmix_status_t status = generate(form.context, list.data(), list.size(), &result, &size);
    if (status == PMIX_SUCCESS) out = Bytes::adopt(result, size);
    return status;
}

const char* text_of(ByteView regex) {
    return reinterpret_cast<const char*>(regex.data());
}

}  // namespace

pmix_status_t Preg::generate_nodes(std::string_view list, Bytes& out) const {
    if (!MUSTER_HAS(operations_, generate_nodes)) return PMIX_ERR_NOT_SUPPORTED;
    return generated(*operations_, operations_->generate_nodes, list, out);
}

pmix_status_t Preg::generate_ppn(std::string_view list, Bytes& out) const {
    if (!MUSTER_HAS(operations_, generate_ppn)) return PMIX_ERR_NOT_SUPPORTED;
    return generated(*operations_, operations_->generate_ppn, list, out);
}

pmix_status_t Preg::parse_nodes(ByteView regex, const muster_preg_name_row_sink_t& sink) const {
    const muster_preg_t& form = *operations_;
    if (sink.row != nullptr && MUSTER_HAS(&form, parse_node_rows))
        return form.parse_node_rows(form.context, text_of(regex), regex.size(), &sink);
    if (!MUSTER_HAS(&form, parse_nodes)) return PMIX_ERR_NOT_SUPPORTED;
    return form.parse_nodes(form.context, text_of(regex), regex.size(), &sink.names);
}

pmix_status_t Preg::parse_ppn(ByteView regex, const muster_preg_rank_row_sink_t& sink) const {
    const muster_preg_t& form = *operations_;
    if (sink.row != nullptr && MUSTER_HAS(&form, parse_ppn_rows))
        return form.parse_ppn_rows(form.context, text_of(regex), regex.size(), &sink);
    if (!MUSTER_HAS(&form, parse_ppn)) return PMIX_ERR_NOT_SUPPORTED;
    return form.parse_ppn(form.context, text_of(regex), regex.size(), &sink.ranks);
}

Result<Bytes> generate_node_regex(PregSet pregs, std::string_view list) {
    return shortest(pregs, list, &Preg::generate_nodes);
}

Result<Bytes> generate_ppn_regex(PregSet pregs, std::string_view list) {
    return shortest(pregs, list, &Preg::generate_ppn);
}

namespace {

/// Reads `what` by the first component that knows its form, else as a plain list by `parse_plain`.
template <class Sink>
Result<void> parse_map(PregSet pregs, ByteView regex, const Sink& sink, const char* what,
                       pmix_status_t (Preg::*parse)(ByteView, const Sink&) const,
                       pmix_status_t (*parse_plain)(std::string_view, const Sink&)) {
    for (const Preg* preg : pregs) {
        const pmix_status_t status = (preg->*parse)(regex, sink);
        if (status == PMIX_ERR_NOT_SUPPORTED) continue;
        if (status != PMIX_SUCCESS) return broken(status, preg->name(), what);
        return {};
    }
    std::string_view text(text_of(regex), regex.size());
    if (text.ends_with('\0')) text.remove_suffix(1);
    // A list without a tag must be text.
    if (text.find('\0') != std::string_view::npos) {
        return Error{PMIX_ERR_NOT_SUPPORTED,
                     std::string(what) + " is in a form that no preg component knows"};
    }
    const pmix_status_t status = parse_plain(text, sink);
    if (status != PMIX_SUCCESS) return broken(status, "list", what);
    return {};
}

}  // namespace

Result<void> parse_node_regex(PregSet pregs, ByteView regex, const muster_preg_name_row_sink_t& sink) {
    return parse_map<muster_preg_name_row_sink_t>(
        pregs, regex, sink, "the node map", &Preg::parse_nodes,
        [](std::string_view text, const muster_preg_name_row_sink_t& to) {
            return preg::parse_names(text, preg::kDefaultLimit, to);
        });
}

Result<void> parse_ppn_regex(PregSet pregs, ByteView regex, const muster_preg_rank_row_sink_t& sink) {
    return parse_map<muster_preg_rank_row_sink_t>(
        pregs, regex, sink, "the process map", &Preg::parse_ppn,
        [](std::string_view text, const muster_preg_rank_row_sink_t& to) {
            return preg::parse_ranks(text, preg::kDefaultLimit, to);
        });
}

}  // namespace muster
