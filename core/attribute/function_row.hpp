// SPDX-License-Identifier: BSD-3-Clause
// A row of the table of functions, and a row of the table of uses, from which directives.cpp builds its
// tables.
#pragma once

#include <string_view>

#include "core/attribute/directives.hpp"
#include "core/attribute/function.hpp"

namespace muster {

/// The content of a function's array of infos.
enum class Takes : uint8_t {
    Own,         ///< directives for this library alone
    Parameters,  ///< what sets parameters, whose owners judge the values
    Directives,  ///< directives, which are sent to the server and its host
    Mixed,       ///< directives and data for others
    HostData,    ///< a host's data about its jobs and nodes, and a few directives
};

struct FunctionRow {
    std::string_view name;
    Takes takes;
    std::string_view upcall;  ///< the upcall that it leads to
};

/// The attributes of one function that the same sides act upon.
struct UseRow {
    Function function;
    uint8_t actors;               ///< of Actor
    std::string_view attributes;  ///< their names, with a space between two
};

}  // namespace muster
