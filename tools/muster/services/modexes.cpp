// SPDX-License-Identifier: BSD-3-Clause
// Passing direct modexes on.
#include "tools/muster/services/modexes.hpp"

namespace muster::launcher {

void Modexes::asked(Asker asker, Buffer& in) {
    ProcName proc;
    uint32_t seconds = 0;
    if (!in.unpack(proc, seconds)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    const JobRecord* record = hub_.jobs.find(proc.nspace);
    if (record == nullptr || proc.rank >= record->job.size()) return hub_.answer(asker, PMIX_ERR_NOT_FOUND);
    const uint64_t number = next_++;
    Modex& modex = modexes_[number];
    modex.asker = asker;
    if (seconds > 0) {
        modex.timer = hub_.loop.after(std::chrono::seconds(seconds),
                                      [this, number] { answer(number, PMIX_ERR_TIMEOUT); });
    }
    hub_.ask(record->job.places[proc.rank].node, Topic::Modex, pack(proc),
             [this, number](pmix_status_t status, Buffer& data) { answer(number, status, data); });
}

void Modexes::answer(uint64_t number, int32_t status, const Buffer& body) {
    auto found = modexes_.extract(number);
    if (!found.empty()) hub_.answer(found.mapped().asker, status, body);
}

}  // namespace muster::launcher
