// SPDX-License-Identifier: BSD-3-Clause
// preg/pmix: the forms that the Standard documents, "pmix:odin[009-012].org" and "pmix:2x(3);8,10-12", and
// those of OpenPMIx up to 5.0, "pmix[odin[3:9-12].org]" and "pmix[1-4;2-5]", which are read only. No OpenPMIx
// reads the first, so that they are written on request.
#include "framework/preg/form.hpp"

namespace muster::preg {
namespace {

constexpr std::string_view kTag = "pmix:";
constexpr std::string_view kBracketTag = "pmix[";

class PmixForm : public Form {
  public:
    explicit PmixForm(sdk::Host host) : Form(host), generates_(host.boolean("generate")) {}

    pmix_status_t generate_nodes(std::string_view list, const Output& out) const {
        std::string text(kTag);
        if (!generates_ || !shorten_names(list, text)) return PMIX_ERR_NOT_SUPPORTED;
        return out.write({text, kTerminator});
    }
    pmix_status_t generate_ppn(std::string_view list, const Output& out) const {
        std::string text(kTag);
        if (!generates_ || !shorten_ranks(list, text)) return PMIX_ERR_NOT_SUPPORTED;
        return out.write({text, kTerminator});
    }
    pmix_status_t parse_nodes(std::string_view regex, const muster_preg_name_row_sink_t& sink) {
        if (strip_tag(regex, kTag)) return parse_names(regex, limit(), sink, Brackets::Strict);
        if (!strip_brackets(regex)) return PMIX_ERR_NOT_SUPPORTED;
        return regex.empty() ? PMIX_ERR_BAD_PARAM : parse_names_with_digits(regex, limit(), sink);
    }
    pmix_status_t parse_ppn(std::string_view regex, const muster_preg_rank_row_sink_t& sink) {
        if (strip_tag(regex, kTag)) return parse_ranks(regex, limit(), sink, true);
        if (!strip_brackets(regex)) return PMIX_ERR_NOT_SUPPORTED;
        return regex.empty() ? PMIX_ERR_BAD_PARAM : parse_ranks(regex, limit(), sink);
    }

  private:
    /// Reduces the text to the content of "pmix[...]"; nothing if the end is missing.
    static bool strip_brackets(std::string_view& regex) {
        if (!strip_tag(regex, kBracketTag)) return false;
        if (regex.empty() || regex.back() != ']') {
            regex = {};
        } else {
            regex.remove_suffix(1);
        }
        return true;
    }

    bool generates_;
};

constexpr muster_param_t kParameters[] = {
    kMaxEntries,
    {"generate", MUSTER_PARAM_BOOL, "false", nullptr,
     "Shorten lists of nodes and ranks, for hosts whose servers are all of Muster.", nullptr, nullptr},
};

}  // namespace
}  // namespace muster::preg

MUSTER_COMPONENT(preg, pmix) {
    static const muster_component_t descriptor = muster::preg::form_component<muster::preg::PmixForm>(
        muster::own_component("pmix", 50, muster::preg::kParameters));
    return &descriptor;
}
