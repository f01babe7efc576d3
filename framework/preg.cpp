// SPDX-License-Identifier: BSD-3-Clause
// The preg facade: calls into components, checked, and the choice among their forms.
#include "framework/preg.hpp"

#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster {
namespace {

/// Whether the component's table reaches as far as `member`, and has it.
#define MUSTER_PREG_HAS(operations, member)                                                         \
    ((operations)->struct_size >= offsetof(muster_preg_t, member) + sizeof((operations)->member) && \
     (operations)->member != nullptr)

/// A short form this long is good enough: others are not tried.
constexpr size_t kShortEnough = 256;

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
        if (best.size() <= kShortEnough) break;
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

/// A list without a tag must be text.
bool plain(std::string_view text) {
    return text.find('\0') == std::string_view::npos;
}

}  // namespace

pmix_status_t Preg::generate_nodes(std::string_view list, Bytes& out) const {
    if (!MUSTER_PREG_HAS(operations_, generate_nodes)) return PMIX_ERR_NOT_SUPPORTED;
    char* result = nullptr;
    size_t size = 0;
    const pmix_status_t status =
        operations_->generate_nodes(operations_->context, list.data(), list.size(), &result, &size);
    if (status == PMIX_SUCCESS) out = Bytes::adopt(result, size);
    return status;
}

pmix_status_t Preg::generate_ppn(std::string_view list, Bytes& out) const {
    if (!MUSTER_PREG_HAS(operations_, generate_ppn)) return PMIX_ERR_NOT_SUPPORTED;
    char* result = nullptr;
    size_t size = 0;
    const pmix_status_t status =
        operations_->generate_ppn(operations_->context, list.data(), list.size(), &result, &size);
    if (status == PMIX_SUCCESS) out = Bytes::adopt(result, size);
    return status;
}

pmix_status_t Preg::parse_nodes(ByteView regex, const muster_preg_name_sink_t& sink) const {
    if (!MUSTER_PREG_HAS(operations_, parse_nodes)) return PMIX_ERR_NOT_SUPPORTED;
    return operations_->parse_nodes(operations_->context, reinterpret_cast<const char*>(regex.data()),
                                    regex.size(), &sink);
}

pmix_status_t Preg::parse_ppn(ByteView regex, const muster_preg_rank_sink_t& sink) const {
    if (!MUSTER_PREG_HAS(operations_, parse_ppn)) return PMIX_ERR_NOT_SUPPORTED;
    return operations_->parse_ppn(operations_->context, reinterpret_cast<const char*>(regex.data()),
                                  regex.size(), &sink);
}

pmix_status_t Preg::parse_nodes(ByteView regex, const muster_preg_name_row_sink_t& sink) const {
    if (!MUSTER_PREG_HAS(operations_, parse_node_rows)) return parse_nodes(regex, sink.names);
    return operations_->parse_node_rows(operations_->context, reinterpret_cast<const char*>(regex.data()),
                                        regex.size(), &sink);
}

pmix_status_t Preg::parse_ppn(ByteView regex, const muster_preg_rank_row_sink_t& sink) const {
    if (!MUSTER_PREG_HAS(operations_, parse_ppn_rows)) return parse_ppn(regex, sink.ranks);
    return operations_->parse_ppn_rows(operations_->context, reinterpret_cast<const char*>(regex.data()),
                                       regex.size(), &sink);
}

Result<Bytes> generate_node_regex(PregSet pregs, std::string_view list) {
    return shortest(pregs, list, &Preg::generate_nodes);
}

Result<Bytes> generate_ppn_regex(PregSet pregs, std::string_view list) {
    return shortest(pregs, list, &Preg::generate_ppn);
}

namespace {

/// With a sink of either kind.
template <class Sink>
Result<void> parse_nodes_with(PregSet pregs, ByteView regex, const Sink& sink) {
    static constexpr char kWhat[] = "the node map";
    for (const Preg* preg : pregs) {
        const pmix_status_t status = preg->parse_nodes(regex, sink);
        if (status == PMIX_ERR_NOT_SUPPORTED) continue;
        if (status != PMIX_SUCCESS) return broken(status, preg->name(), kWhat);
        return {};
    }
    const std::string_view text = regex_text(regex);
    if (!plain(text))
        return Error{PMIX_ERR_NOT_SUPPORTED, "the node map is in a form that no preg component knows"};
    const pmix_status_t status = preg::parse_names(text, preg::kDefaultLimit, sink);
    if (status != PMIX_SUCCESS) return broken(status, "list", kWhat);
    return {};
}

template <class Sink>
Result<void> parse_ppn_with(PregSet pregs, ByteView regex, const Sink& sink) {
    static constexpr char kWhat[] = "the process map";
    for (const Preg* preg : pregs) {
        const pmix_status_t status = preg->parse_ppn(regex, sink);
        if (status == PMIX_ERR_NOT_SUPPORTED) continue;
        if (status != PMIX_SUCCESS) return broken(status, preg->name(), kWhat);
        return {};
    }
    const std::string_view text = regex_text(regex);
    if (!plain(text))
        return Error{PMIX_ERR_NOT_SUPPORTED, "the process map is in a form that no preg component knows"};
    const pmix_status_t status = preg::parse_ranks(text, preg::kDefaultLimit, sink);
    if (status != PMIX_SUCCESS) return broken(status, "list", kWhat);
    return {};
}

}  // namespace

Result<void> parse_node_regex(PregSet pregs, ByteView regex, const muster_preg_name_sink_t& sink) {
    return parse_nodes_with(pregs, regex, sink);
}

Result<void> parse_node_regex(PregSet pregs, ByteView regex, const muster_preg_name_row_sink_t& sink) {
    return parse_nodes_with(pregs, regex, sink);
}

Result<void> parse_ppn_regex(PregSet pregs, ByteView regex, const muster_preg_rank_sink_t& sink) {
    return parse_ppn_with(pregs, regex, sink);
}

Result<void> parse_ppn_regex(PregSet pregs, ByteView regex, const muster_preg_rank_row_sink_t& sink) {
    return parse_ppn_with(pregs, regex, sink);
}

std::string_view regex_text(ByteView regex) {
    std::string_view text(reinterpret_cast<const char*>(regex.data()), regex.size());
    if (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    return text;
}

}  // namespace muster
