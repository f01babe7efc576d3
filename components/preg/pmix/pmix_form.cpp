// SPDX-License-Identifier: BSD-3-Clause
// preg/pmix: the forms that the Standard documents, "pmix:odin[009-012].org" and "pmix:2x(3);8,10-12", and
// those of OpenPMIx up to 5.0, "pmix[odin[3:9-12].org]" and "pmix[1-4;2-5]", which are read only.
#include "framework/preg/adapter.hpp"
#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster::preg {
namespace {

constexpr std::string_view kTag = "pmix:";
constexpr std::string_view kBracketTag = "pmix[";

class PmixForm {
  public:
    explicit PmixForm(const muster_host_t* host)
        : limit_(number_parameter(host, "max_entries", kDefaultLimit)) {}

    pmix_status_t generate_nodes(std::string_view list, std::string& out) {
        out = kTag;
        return finish(shorten_names(list, out), out);
    }
    pmix_status_t generate_ppn(std::string_view list, std::string& out) {
        out = kTag;
        return finish(shorten_ranks(list, out), out);
    }
    pmix_status_t parse_nodes(std::string_view regex, const muster_preg_name_row_sink_t& sink) {
        if (strip_tag(regex, kTag)) return parse_names(regex, limit_, sink, Brackets::Strict);
        if (!strip_brackets(regex)) return PMIX_ERR_NOT_SUPPORTED;
        return regex.empty() ? PMIX_ERR_BAD_PARAM : parse_names_with_digits(regex, limit_, sink);
    }
    pmix_status_t parse_ppn(std::string_view regex, const muster_preg_rank_row_sink_t& sink) {
        if (strip_tag(regex, kTag)) return parse_ranks(regex, limit_, sink, true);
        if (!strip_brackets(regex)) return PMIX_ERR_NOT_SUPPORTED;
        return regex.empty() ? PMIX_ERR_BAD_PARAM : parse_ranks(regex, limit_, sink);
    }

  private:
    static pmix_status_t finish(bool shortened, std::string& out) {
        if (!shortened) return PMIX_ERR_NOT_SUPPORTED;
        out += '\0';
        return PMIX_SUCCESS;
    }
    /// Leaves what is inside "pmix[...]"; nothing when the end is missing.
    static bool strip_brackets(std::string_view& regex) {
        if (!strip_tag(regex, kBracketTag)) return false;
        if (regex.empty() || regex.back() != ']') {
            regex = {};
        } else {
            regex.remove_suffix(1);
        }
        return true;
    }

    size_t limit_;
};

constexpr muster_param_t kParameters[] = {
    {"max_entries", MUSTER_PARAM_UNSIGNED, "4194304", "entries",
     "Names or ranks that one expression may stand for; one that stands for more is refused.", nullptr,
     nullptr},
};

}  // namespace
}  // namespace muster::preg

MUSTER_COMPONENT(preg, pmix) {
    using namespace muster::preg;
    static const muster_component_t component = {sizeof(muster_component_t),
                                                 MUSTER_SDK_MAJOR,
                                                 MUSTER_SDK_MINOR,
                                                 "preg",
                                                 MUSTER_PREG_INTERFACE,
                                                 "pmix",
                                                 MUSTER_VERSION,
                                                 "Muster",
                                                 MUSTER_COMPONENT_HOSTILE_INPUT,
                                                 50,
                                                 kParameters,
                                                 std::size(kParameters),
                                                 &Adapter<PmixForm>::create,
                                                 &Adapter<PmixForm>::destroy};
    return &component;
}
