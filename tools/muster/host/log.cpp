// SPDX-License-Identifier: BSD-3-Clause
// The upcall log2: a node has no terminal, so output for standard output or error is sent to the launcher's.
// The library's own channels write everything else. Also the launcher's log of jobs' events.
#include <pmix.h>

#include <ctime>

#include "framework/base/output_format.hpp"
#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/upcalls.hpp"

namespace muster::launcher {
namespace {

/// Marks each line as the directives ask for it; in XML the text is one element, as plog/stdfd writes it.
std::string marked(const std::string& text, const pmix_proc_t& source, const Infos& directives,
                   bool to_error) {
    if (directives.is_true(PMIX_LOG_XML_OUTPUT)) {
        OutputStyle style;
        style.xml = style.raw = style.tag = true;
        style.timestamp = directives.is_true(PMIX_LOG_TIMESTAMP_OUTPUT);
        LineFormatter formatter(style, source, to_error ? PMIX_FWD_STDERR_CHANNEL : PMIX_FWD_STDOUT_CHANNEL,
                                nullptr);
        std::string element;
        formatter.feed(text, element);
        return element;
    }
    std::string mark;
    if (directives.is_true(PMIX_LOG_TIMESTAMP_OUTPUT)) {
        time_t when = time(nullptr);
        const pmix_info_t* given = directives.find(PMIX_LOG_TIMESTAMP);
        if (given != nullptr && given->value.type == PMIX_TIME) when = given->value.data.time;
        struct tm parts {};
        localtime_r(&when, &parts);
        char words[32];
        strftime(words, sizeof words, "%Y-%m-%dT%H:%M:%S ", &parts);
        mark += words;
    }
    if (directives.is_true(PMIX_LOG_TAG_OUTPUT)) {
        const ProcName name = name_of(source);
        mark += "[" + name.nspace + "," + std::to_string(name.rank) + "]: ";
    }
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at);
        const size_t next = end == std::string::npos ? text.size() : end + 1;
        out += mark + text.substr(at, next - at);
        at = next;
    }
    // Others write into the same stream.
    if (!out.ends_with('\n')) out += '\n';
    return out;
}

bool is_ours(const pmix_info_t& entry) {
    return is_any_of(entry, {PMIX_LOG_STDOUT, PMIX_LOG_STDERR});
}

pmix_status_t log2(const pmix_proc_t* client, const pmix_info_t entries[], size_t count,
                   const pmix_info_t directives[], size_t directive_count, pmix_op_cbfunc_t callback,
                   void* data) {
    for (size_t i = 0; i < count; ++i) {
        if (!is_ours(entries[i])) return PMIX_ERR_NOT_SUPPORTED;
        if (entries[i].value.type != PMIX_STRING) return PMIX_ERR_BAD_PARAM;
    }
    const Infos how(directives, directive_count);
    const pmix_status_t status = check_required("log2", how);
    if (status != PMIX_SUCCESS) return status;
    const size_t last = how.is_true(PMIX_LOG_ONCE) ? 1 : count;
    std::string texts[2];
    for (size_t i = 0; i < last; ++i) {
        const bool to_error = PMIX_CHECK_KEY(&entries[i], PMIX_LOG_STDERR);
        texts[to_error ? 1 : 0] += marked(text_of(entries[i].value), *client, how, to_error);
    }
    on_loop([out = texts[0], err = texts[1], done = done_op(callback, data)] {
        const bool both = !out.empty() && !err.empty();
        // Asked in order, answered in order: the last answer is for both.
        if (both) this_node().link().ask(Topic::Log, pack(false, out), [](pmix_status_t, Buffer&) {});
        const bool to_error = !err.empty();
        this_node().link().ask(Topic::Log, pack(to_error, to_error ? err : out), done);
    });
    return PMIX_SUCCESS;
}

/// Alive until the library has written it.
struct Written {
    InfoList entries, directives;
};

bool is_channel(const pmix_info_t& info) {
    return is_ours(info) || is_any_of(info, {PMIX_LOG_SYSLOG, PMIX_LOG_LOCAL_SYSLOG, PMIX_LOG_GLOBAL_SYSLOG,
                                             PMIX_LOG_EMAIL, PMIX_LOG_GLOBAL_DATASTORE, PMIX_LOG_JOB_RECORD});
}

/// A line about a job: to the channels that its spawn has named.
void write_line(uint64_t, Buffer& in) {
    std::string line, how;
    uint64_t seconds = 0;
    if (!in.unpack(line, seconds, how)) return;
    const auto when = static_cast<time_t>(seconds);
    InfoList ours;
    auto kept = std::make_unique<Written>();
    const UnpackedInfo given(how);
    for (const pmix_info_t& info : Infos(given)) {
        if (is_channel(info)) {
            (is_ours(info) ? ours : kept->entries).text(info.key, line);
        } else {
            kept->directives.copy(info);
        }
    }
    if (ours.size() == 0 && kept->entries.size() == 0) ours.text(PMIX_LOG_STDERR, line);
    kept->directives.add(PMIX_LOG_TIMESTAMP, &when, PMIX_TIME);
    const pmix_proc_t self = to_pmix(this_node().server());
    kept->directives.add(PMIX_LOG_SOURCE, &self, PMIX_PROC);
    if (ours.size() > 0)
        log2(&self, ours.data(), ours.size(), kept->directives.data(), kept->directives.size(), nullptr,
             nullptr);
    if (kept->entries.size() == 0) return;
    const pmix_status_t status = PMIx_Log_nb(
        kept->entries.data(), kept->entries.size(), kept->directives.data(), kept->directives.size(),
        [](pmix_status_t, void* data) { delete static_cast<Written*>(data); }, kept.get());
    if (status == PMIX_SUCCESS) (void)kept.release();  // the callback has it
}

}  // namespace

void add_log_upcalls(pmix_server_module_t& module) {
    module.log2 = upcall<log2>;
    this_node().on(Topic::Log, write_line);
}

}  // namespace muster::launcher
