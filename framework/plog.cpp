// SPDX-License-Identifier: BSD-3-Clause
// plog: see plog.hpp.
#include "framework/plog.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "framework/base/words.hpp"

namespace muster {
namespace {

uint32_t output_flags(InfoView directives) {
    uint32_t flags = 0;
    if (directives.is_true(PMIX_LOG_TAG_OUTPUT)) flags |= MUSTER_PLOG_TAG;
    if (directives.is_true(PMIX_LOG_TIMESTAMP_OUTPUT)) flags |= MUSTER_PLOG_TIMESTAMP;
    if (directives.is_true(PMIX_LOG_XML_OUTPUT)) flags |= MUSTER_PLOG_XML;
    // A given or requested time must be visible.
    if (directives.has(PMIX_LOG_TIMESTAMP) || directives.is_true(PMIX_LOG_GENERATE_TIMESTAMP)) {
        flags |= MUSTER_PLOG_TIMESTAMP;
    }
    return flags;
}

time_t timestamp(InfoView directives, uint32_t flags) {
    if (const pmix_value_t* given = directives.value(PMIX_LOG_TIMESTAMP); given != nullptr) {
        if (given->type == PMIX_TIME) return given->data.time;
        if (const auto seconds = value_as_number<int64_t>(given)) return static_cast<time_t>(*seconds);
    }
    return (flags & MUSTER_PLOG_TIMESTAMP) != 0 ? std::time(nullptr) : 0;
}

}  // namespace

bool Plog::takes(std::string_view channel) const {
    if (!MUSTER_HAS(operations_, channels)) return false;
    const std::string_view channels(operations_->channels);
    const auto words = words_of(channels, ',');
    return channels == "*" || std::find(words.begin(), words.end(), channel) != words.end();
}

Result<void> Plog::write(const muster_plog_record_t& record) const {
    if (!MUSTER_HAS(operations_, write)) return unsupported(name_, "write");
    Reason reason;
    const pmix_status_t status = operations_->write(operations_->context, &record, reason.text);
    if (status != PMIX_SUCCESS) return failed("plog", name_, status, reason);
    return {};
}

Result<void> log_entries(PlogSet plogs, const pmix_proc_t* source, InfoView data, InfoView directives) {
    const bool once = directives.is_true(PMIX_LOG_ONCE);
    const pmix_proc_t* said = directives.proc(PMIX_LOG_SOURCE);
    muster_plog_record_t record{};
    record.struct_size = sizeof record;
    record.source = said != nullptr ? said : source;
    record.flags = output_flags(directives);
    record.timestamp = timestamp(directives, record.flags);
    record.severity = directives.number<int>(PMIX_LOG_SYSLOG_PRI).value_or(-1);
    record.directives = directives.data;
    record.ndirectives = directives.size;

    size_t written = 0;
    Error last{PMIX_ERR_NOT_AVAILABLE, ""};
    for (const pmix_info_t& entry : data) {
        const std::string channel(entry.key, strnlen(entry.key, PMIX_MAX_KEYLEN));
        record.channel = channel.c_str();
        record.value = &entry.value;
        record.message = value_as_string(&entry.value);
        record.length = record.message == nullptr ? 0 : std::strlen(record.message);
        bool taken = false;
        for (const Plog* plog : plogs) {
            if (!plog->takes(channel)) continue;
            Result<void> result = plog->write(record);
            taken = result.ok();
            if (taken) break;
            if (result.status() != PMIX_ERR_NOT_AVAILABLE || last.text.empty()) last = result.error();
        }
        if (taken) ++written;
        if (taken && once) return {};
        if (!taken && last.text.empty()) last.text = "no plog component writes to the channel " + channel;
    }
    if (written == data.size) return {};
    if (written > 0) return Error{PMIX_ERR_PARTIAL_SUCCESS, last.text};
    return last;
}

}  // namespace muster
