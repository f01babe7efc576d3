// SPDX-License-Identifier: BSD-3-Clause
// Marked lines: see output_format.hpp. The marks have the form that OpenPMIx's tools print:
// "[time][nspace,rank]<stdout>: text", and in XML "<stdout nspace="" rank="" timestamp="">text</stdout>".
#include "framework/base/output_format.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "framework/base/proc.hpp"

namespace muster {
namespace {

/// A line that is longer is shown in parts.
constexpr size_t kLongestLine = size_t{64} << 10;

std::string rank_name_of(pmix_rank_t rank) {
    return rank == PMIX_RANK_WILDCARD ? "*" : std::to_string(rank);
}

/// A name as a single, descending component of a path.
std::string path_step(std::string_view name) {
    std::string step(name);
    for (char& c : step) {
        if (c == '/') c = '_';
    }
    return step == "." || step == ".." || step.empty() ? "_" : step;
}

/// The length of the UTF-8 character at the beginning; 0 if there is none.
size_t utf8_length(std::string_view text) {
    const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const auto follows = [&](size_t i) { return i < text.size() && (at(i) & 0xC0) == 0x80; };
    const uint8_t first = at(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first < 0xF0) {
        if (!follows(1) || !follows(2)) return 0;
        const unsigned code = (first & 0x0FU) << 12 | (at(1) & 0x3FU) << 6 | (at(2) & 0x3FU);
        const bool character = code >= 0x800 && (code < 0xD800 || code > 0xDFFF) && code < 0xFFFE;
        return character ? 3 : 0;
    }
    if (first >= 0xF0 && first < 0xF5) {
        if (!follows(1) || !follows(2) || !follows(3)) return 0;
        const unsigned code = (first & 0x07U) << 18 | (at(1) & 0x3FU) << 12;
        return code >= 0x10000 && code < 0x110000 ? 4 : 0;
    }
    return 0;
}

}  // namespace

void append_xml(std::string_view text, std::string& out) {
    while (!text.empty()) {
        const size_t length = utf8_length(text);
        const char c = text[0];
        if (length > 1) {
            out += text.substr(0, length);
        } else if (length == 0) {
            out += "&#65533;";
        } else if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '"') {
            out += "&quot;";
        } else if (c == '\n' || c == '\t' || c == '\r') {
            out += c == '\n' ? "&#010;" : c == '\t' ? "&#009;" : "&#013;";
        } else if (static_cast<uint8_t>(c) < 0x20) {
            out += "&#65533;";
        } else {
            out += c;
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

bool is_file_pattern(std::string_view name) {
    for (size_t i = 0; i < name.size(); ++i) {
        if (name[i] != '%') continue;
        if (++i == name.size() || std::string_view("nrRh%").find(name[i]) == std::string_view::npos)
            return false;
    }
    return true;
}

std::string OutputStyle::path_for(const pmix_proc_t& source, pmix_iof_channel_t channel,
                                  const SourceFacts& facts) const {
    const std::string nspace = path_step(nspace_view(source.nspace));
    const std::string rank_name = rank_name_of(source.rank);
    const char* name = channel_name(channel);
    if (!directory.empty()) return directory + "/" + nspace + "/rank." + rank_name + "/" + name;
    if (!pattern) return file + "." + nspace + "." + rank_name + "." + name;
    const auto padded = [&] {
        const size_t digits = facts.ranks == 0 ? 1 : std::to_string(facts.ranks - 1).size();
        return std::string(digits - std::min(digits, rank_name.size()), '0') + rank_name;
    };
    std::string path;
    for (size_t i = 0; i < file.size(); ++i) {
        if (file[i] != '%' || i + 1 == file.size()) {
            path += file[i];
            continue;
        }
        switch (file[++i]) {
            case 'n':
                path += nspace;
                break;
            case 'r':
                path += rank_name;
                break;
            case 'R':
                path += padded();
                break;
            case 'h':
                path += path_step(facts.writer);
                break;
            default:
                path += file[i];
        }
    }
    return path + "." + name;
}

LineFormatter::LineFormatter(const OutputStyle& style, const pmix_proc_t& source, pmix_iof_channel_t channel,
                             const FindFacts& find_facts)
    : style_(style), channel_(channel_name(channel)) {
    if (!style.marks()) return;
    const std::string_view nspace = nspace_view(source.nspace);
    SourceFacts facts;
    if (style.detailed && find_facts) facts = find_facts(source);
    if (style.xml) {
        mark_ = "<" + std::string(channel_);
        const auto attribute = [this](const char* name, std::string_view value) {
            mark_ += std::string(" ") + name + "=\"";
            append_xml(value, mark_);
            mark_ += '"';
        };
        if (style.tag || style.full_name || style.detailed) attribute("nspace", nspace);
        attribute("rank", rank_name_of(source.rank));
        if (style.detailed) {
            attribute("host", facts.host);
            attribute("pid", facts.pid);
        }
        return;
    }
    const std::string name = "[" + std::string(nspace) + "," + rank_name_of(source.rank) + "]";
    if (style.detailed) {
        mark_ = name + "[" + facts.host + ":" + facts.pid + "]";
    } else if (style.tag || style.full_name) {
        mark_ = name;
    } else if (style.rank) {
        mark_ = "[" + rank_name_of(source.rank) + "]";
    }
    mark_ += "<" + std::string(channel_) + ">: ";
}

void LineFormatter::feed(std::string_view bytes, std::string& out) {
    if (style_.xml && style_.raw) return emit_xml(bytes, out);
    if (!style_.marks()) {
        const size_t end = style_.raw ? bytes.size() : bytes.rfind('\n') + 1;  // npos + 1 is 0
        if (end > 0) {
            out += held_;
            held_.clear();
            out += bytes.substr(0, end);
            bytes.remove_prefix(end);
        }
    }
    while (!bytes.empty()) {
        const size_t end = bytes.find('\n');
        const bool ended = end != std::string_view::npos;
        std::string_view line = bytes.substr(0, ended ? end + 1 : bytes.size());
        bytes.remove_prefix(line.size());
        // A line without end is written in parts of equal length, however it arrived.
        while (held_.size() + line.size() > kLongestLine) {
            const size_t part = kLongestLine - held_.size();
            held_ += line.substr(0, part);
            line.remove_prefix(part);
            emit(std::exchange(held_, {}), line.empty() && ended, out);
        }
        if (line.empty()) continue;
        if (!ended && !style_.raw) {
            held_ += line;
        } else if (held_.empty()) {
            emit(line, ended, out);
        } else {
            held_ += line;
            emit(std::exchange(held_, {}), ended, out);
        }
    }
}

void LineFormatter::finish(std::string& out) {
    show_held(out);
    if (begun_ && style_.marks() && !style_.xml) out += '\n';
    begun_ = false;
}

void LineFormatter::show_held(std::string& out) {
    if (!held_.empty()) emit(std::exchange(held_, {}), false, out);
}

void LineFormatter::emit(std::string_view text, bool ended, std::string& out) {
    if (style_.xml) return emit_xml(text, out);
    if (!begun_ && style_.marks()) {
        if (style_.timestamp) out += "[" + now() + "]";
        out += mark_;
    }
    out += text;
    begun_ = !ended;
}

void LineFormatter::emit_xml(std::string_view text, std::string& out) const {
    out += mark_;
    if (style_.timestamp) out += " timestamp=\"" + now() + "\"";
    out += '>';
    append_xml(text, out);
    ((out += "</") += channel_) += ">\n";
}

std::string LineFormatter::now() const {
    const auto time =
        std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm local{};
    ::localtime_r(&seconds, &local);
    char text[64];
    const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
    const int millis = static_cast<int>(time.time_since_epoch().count() % 1000);
    std::snprintf(text + length, sizeof text - length, ".%03d", millis);
    return text;
}

}  // namespace muster
