// SPDX-License-Identifier: BSD-3-Clause
// plog/stdfd: messages on standard output and standard error. Through stdio, so that they are in order with
// the program's own output.
#include <cerrno>
#include <cstring>
#include <ctime>
#include <pmix/sdk/component.hpp>

namespace {

namespace sdk = muster::sdk;

std::string time_text(time_t when) {
    tm parts{};
    char text[64];
    if (localtime_r(&when, &parts) == nullptr ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &parts) == 0) {
        return "time-unknown";
    }
    return text;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (byte < 0x20 || byte == 0x7f) {
            char number[8];
            std::snprintf(number, sizeof number, "&#%03d;", byte);
            out += number;
        } else {
            out += c;
        }
    }
    return out;
}

class Stdfd {
  public:
    explicit Stdfd(sdk::Host) {}

    static constexpr const char* kChannels = PMIX_LOG_STDOUT "," PMIX_LOG_STDERR;

    void write(const muster_plog_record_t& record) const {
        const bool err = std::strcmp(record.channel, PMIX_LOG_STDERR) == 0;
        if (record.message == nullptr) {
            throw sdk::Failure(PMIX_ERR_BAD_PARAM, std::string(record.channel) + " takes a string");
        }
        const std::string text = format(record, err ? "stderr" : "stdout");
        FILE* stream = err ? stderr : stdout;
        if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0) {
            const std::string why = std::strerror(errno);
            std::clearerr(stream);
            throw sdk::Failure(PMIX_ERROR, (err ? "standard error" : "standard output") + (": " + why));
        }
    }

  private:
    static std::string format(const muster_plog_record_t& record, const char* name) {
        const std::string_view message(record.message, record.length);
        const std::string when =
            (record.flags & MUSTER_PLOG_TIMESTAMP) != 0 ? time_text(record.timestamp) : std::string();
        std::string rank;
        std::string source;
        if (record.source != nullptr) {
            rank = std::to_string(record.source->rank);
            source.assign(record.source->nspace, strnlen(record.source->nspace, PMIX_MAX_NSLEN));
        }
        if ((record.flags & MUSTER_PLOG_XML) != 0) {
            std::string out = std::string("<") + name;
            if (!rank.empty()) out += " nspace=\"" + escaped(source) + "\" rank=\"" + rank + "\"";
            if (!when.empty()) out += " timestamp=\"" + when + "\"";
            return out + ">" + escaped(message) + "</" + name + ">\n";
        }
        std::string out;
        if (!when.empty()) out += when;
        if ((record.flags & MUSTER_PLOG_TAG) != 0) {
            if (!rank.empty()) out += "[" + source + "," + rank + "]";
            out += std::string("<") + name + ">";
        }
        if (!out.empty()) out += ": ";
        out += message;
        // A line with a prefix needs an end; plain text is written unchanged.
        if (record.flags != 0 && !out.ends_with('\n')) out += '\n';
        return out;
    }
};

}  // namespace

MUSTER_COMPONENT(plog, stdfd) {
    static const muster_component_t descriptor = sdk::plog_component<Stdfd>(
        {.name = "stdfd", .version = MUSTER_VERSION, .vendor = "Muster", .priority = 50});
    return &descriptor;
}
