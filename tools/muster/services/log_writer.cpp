// SPDX-License-Identifier: BSD-3-Clause
// Logging in the launcher.
#include "tools/muster/services/log_writer.hpp"

namespace muster::launcher {

void LogWriter::asked(Asker asker, Buffer& in) {
    bool error = false;
    std::string text;
    if (!in.unpack(error, text)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    hub_.show(error, text);
    hub_.answer(asker, PMIX_SUCCESS);
}

}  // namespace muster::launcher
