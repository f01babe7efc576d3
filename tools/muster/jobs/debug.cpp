// SPDX-License-Identifier: BSD-3-Clause
// Debuggers' wishes on their way between the launcher and its nodes.
#include "tools/muster/jobs/debug.hpp"

#include <unistd.h>

#include <sstream>

namespace muster::launcher {

void write_choice(Writer& out, const RankChoice& choice) {
    out.u32(choice.all ? 1 : 0).u32(static_cast<uint32_t>(choice.ranks.size()));
    for (const uint32_t rank : choice.ranks)
        out.u32(rank);
}

RankChoice read_choice(Reader& in) {
    RankChoice choice;
    choice.all = in.u32() != 0;
    for (uint32_t left = in.count(sizeof(uint32_t)); left > 0 && in.ok(); --left)
        choice.ranks.push_back(in.u32());
    return choice;
}

void write_stops(Writer& out, const StopPoints& stops) {
    for (const RankChoice* choice : {&stops.on_exec, &stops.in_init, &stops.in_app})
        write_choice(out, *choice);
}

StopPoints read_stops(Reader& in) {
    StopPoints stops;
    for (RankChoice* choice : {&stops.on_exec, &stops.in_init, &stops.in_app})
        *choice = read_choice(in);
    return stops;
}

void write_daemons(Writer& out, const DaemonPolicy& policy) {
    out.u32(policy.daemon ? 1 : 0).u32(policy.per_node).u32(policy.per_proc).u32(policy.target ? 1 : 0);
    if (policy.target) out.name(*policy.target);
}

DaemonPolicy read_daemons(Reader& in) {
    DaemonPolicy policy;
    policy.daemon = in.u32() != 0;
    policy.per_node = in.u32();
    policy.per_proc = in.u32();
    if (in.u32() != 0) policy.target = in.name();
    return policy;
}

std::vector<std::string> words_of(const std::string& command) {
    if (access(command.c_str(), F_OK) == 0) return {command};
    std::istringstream text(command);
    std::vector<std::string> words;
    for (std::string word; text >> word;)
        words.push_back(word);
    return words;
}

}  // namespace muster::launcher
