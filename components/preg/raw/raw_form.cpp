// SPDX-License-Identifier: BSD-3-Clause
// preg/raw: the unchanged list, after "raw:". Every list fits; every version of OpenPMIx reads it.
#include "framework/preg/form.hpp"

namespace muster::preg {
namespace {

constexpr std::string_view kTag = "raw:";

class RawForm : public ListForm<RawForm> {
  public:
    using ListForm::ListForm;

    static bool wanted() { return true; }
    static pmix_status_t wrap(std::string_view list, const Output& out) {
        return out.write({list.starts_with(kTag) ? std::string_view() : kTag, list, kTerminator});
    }
    static pmix_status_t unwrap(std::string_view& text, std::string& /*space*/) {
        return strip_tag(text, kTag) ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
    }
};

}  // namespace
}  // namespace muster::preg

MUSTER_COMPONENT(preg, raw) {
    static const muster_component_t descriptor = muster::preg::form_component<muster::preg::RawForm>(
        muster::own_component("raw", 30, {&muster::preg::kMaxEntries, 1}));
    return &descriptor;
}
