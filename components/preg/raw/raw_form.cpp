// SPDX-License-Identifier: BSD-3-Clause
// preg/raw: the list as it is, behind "raw:". Every list fits; every version of OpenPMIx reads it.
#include "framework/preg/adapter.hpp"
#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster::preg {
namespace {

constexpr std::string_view kTag = "raw:";

class RawForm {
  public:
    explicit RawForm(const muster_host_t* host)
        : limit_(number_parameter(host, "max_entries", kDefaultLimit)) {}

    pmix_status_t generate_nodes(std::string_view list, std::string& out) { return tag(list, out); }
    pmix_status_t generate_ppn(std::string_view list, std::string& out) { return tag(list, out); }

    pmix_status_t parse_nodes(std::string_view regex, const muster_preg_name_row_sink_t& sink) {
        if (!strip_tag(regex, kTag)) return PMIX_ERR_NOT_SUPPORTED;
        return parse_names(regex, limit_, sink);
    }
    pmix_status_t parse_ppn(std::string_view regex, const muster_preg_rank_row_sink_t& sink) {
        if (!strip_tag(regex, kTag)) return PMIX_ERR_NOT_SUPPORTED;
        return parse_ranks(regex, limit_, sink);
    }

  private:
    static pmix_status_t tag(std::string_view list, std::string& out) {
        if (!list.starts_with(kTag)) out = kTag;
        out.append(list);
        out += '\0';
        return PMIX_SUCCESS;
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

MUSTER_COMPONENT(preg, raw) {
    using namespace muster::preg;
    static const muster_component_t component = {sizeof(muster_component_t),
                                                 MUSTER_SDK_MAJOR,
                                                 MUSTER_SDK_MINOR,
                                                 "preg",
                                                 MUSTER_PREG_INTERFACE,
                                                 "raw",
                                                 MUSTER_VERSION,
                                                 "Muster",
                                                 MUSTER_COMPONENT_HOSTILE_INPUT,
                                                 30,
                                                 kParameters,
                                                 std::size(kParameters),
                                                 &Adapter<RawForm>::create,
                                                 &Adapter<RawForm>::destroy};
    return &component;
}
