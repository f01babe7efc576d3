// SPDX-License-Identifier: BSD-3-Clause
// pevent: reports an event to a server.
#include <fmt/core.h>
#include <pmix.h>

#include <charconv>
#include <map>

#include "tools/session/session.hpp"
#include "tools/session/standard_descriptors.hpp"
#include "tools/session/values.hpp"

namespace {

using namespace muster::tools;

const std::map<std::string, pmix_data_range_t>& ranges() {
    static const std::map<std::string, pmix_data_range_t> all = {{"rm", PMIX_RANGE_RM},
                                                                 {"local", PMIX_RANGE_LOCAL},
                                                                 {"namespace", PMIX_RANGE_NAMESPACE},
                                                                 {"session", PMIX_RANGE_SESSION},
                                                                 {"global", PMIX_RANGE_GLOBAL},
                                                                 {"proc_local", PMIX_RANGE_PROC_LOCAL}};
    return all;
}

std::optional<int> number_of(const std::string& text) {
    int number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

/// The status of a number or a name.
std::optional<pmix_status_t> status_of(const std::string& text) {
    if (const auto number = number_of(text)) return *number;
    const pmix_status_t code = PMIx_Error_code(text.c_str());
    return code == INT32_MIN ? std::nullopt : std::optional<pmix_status_t>(code);
}

}  // namespace

int main(int argc, char** argv) {
    muster::open_standard_descriptors();
    CommandLine line{"Reports an event to a PMIx server", "pevent"};
    SessionOptions options;
    std::string event, range;
    define_session_options(line, options);
    line.allow_extras();  // an event may look like an option: -31
    line.option("--range", range,
                "How far it reaches: rm, local, namespace, session, global, proc_local, or a number")
        .required();
    if (const auto status = line.parse(argc, argv)) return *status;
    if (line.remaining().size() != 1) {
        fmt::print(stderr, "pevent: give one event, a number (-31) or a name (PMIX_EVENT_NODE_DOWN)\n");
        return 1;
    }
    event = line.remaining().front();
    const auto status = status_of(event);
    if (!status) {
        fmt::print(stderr, "pevent: {} is neither a number nor the name of an event\n", event);
        return 1;
    }
    const auto named = ranges().find(range);
    const auto number = named == ranges().end() ? number_of(range) : std::optional<int>(named->second);
    if (!number || *number <= PMIX_RANGE_UNDEF || *number > PMIX_RANGE_PROC_LOCAL) {
        fmt::print(stderr, "pevent: --range {}: there is no such range\n", range);
        return 1;
    }
    const Session session("pevent", options, Otherwise::Optional);
    if (!session.ok()) return 1;
    // The blocking form: the server has it when this returns.
    const pmix_status_t outcome = PMIx_Notify_event(
        *status, &session.self(), static_cast<pmix_data_range_t>(*number), nullptr, 0, nullptr, nullptr);
    if (outcome != PMIX_SUCCESS && outcome != PMIX_OPERATION_SUCCEEDED)
        return session.failed("the server did not accept the event", outcome);
    if (options.json) {
        fmt::print("{}\n",
                   nlohmann::json{{"event", *status}, {"range", *number}, {"reported", true}}.dump(2));
    } else if (options.verbose) {
        fmt::print("reported {} ({})\n", PMIx_Error_string(*status), *status);
    }
    return 0;
}
