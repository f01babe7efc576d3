// SPDX-License-Identifier: BSD-3-Clause
// Logging in the launcher.
#include "tools/muster/services/log_writer.hpp"

namespace muster::launcher {

void LogWriter::asked(Asker asker, Reader& in) {
    const bool error = in.u32() != 0;
    const std::string_view text = in.bytes();
    if (!in.ok()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    hub_.show(error, text);
    hub_.answer(asker, PMIX_SUCCESS);
}

}  // namespace muster::launcher
