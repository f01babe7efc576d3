// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the facades over the SDK's C tables: test for a member, and convert a failure to an Error.
#pragma once

#include <pmix/sdk/component.h>

#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/result.hpp"

namespace muster {

/// Whether the table, by its own size, has the member, and it is not null.
#define MUSTER_HAS(table, member)                                                                      \
    ((table)->struct_size >= static_cast<size_t>(reinterpret_cast<const char*>(&(table)->member + 1) - \
                                                 reinterpret_cast<const char*>(table)) &&              \
     (table)->member != nullptr)

/// The facade over the table of one component. The table lives as long as the facade.
template <class Table>
class TableFacade {
  public:
    TableFacade(const Table* operations, std::string name)
        : operations_(operations), name_(std::move(name)) {}
    const std::string& name() const { return name_; }

  protected:
    const Table* operations_;
    std::string name_;
};

/// The array in which a component leaves its sentence.
struct Reason {
    static constexpr size_t kSize = 256;
    char text[kSize] = {};

    /// Returns the text, also if the component did not terminate it.
    std::string str() const { return {text, strnlen(text, kSize)}; }
};

inline Error failed(const char* framework, const std::string& component, pmix_status_t status,
                    const Reason& reason) {
    const std::string why = reason.str();
    return {status, std::string(framework) + "/" + component + ": " +
                        (why.empty() ? "failed with status " + std::to_string(status) : why)};
}

inline Error unsupported(const std::string& component, const char* operation) {
    return {PMIX_ERR_NOT_SUPPORTED, "component " + component + " does not offer " + operation};
}

/// Names and values of an environment.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Appends the variables that a component sets; nothing on failure. `call(set, to, reason)` calls the
/// component's function, whose last arguments these are.
template <class Call>
Result<void> take_variables(const char* framework, const std::string& component, Variables& variables,
                            Call&& call) {
    struct Taken {
        Variables list;
        bool no_memory = false;
    } taken;
    const auto set = [](void* to, const char* name, const char* value) noexcept {
        auto* in = static_cast<Taken*>(to);
        if (name == nullptr || value == nullptr || *name == '\0') return;
        try {
            in->list.emplace_back(name, value);
        } catch (...) {
            in->no_memory = true;
        }
    };
    Reason reason;
    const pmix_status_t status = call(set, &taken, reason.text);
    if (status != PMIX_SUCCESS) return failed(framework, component, status, reason);
    if (taken.no_memory)
        return Error{PMIX_ERR_NOMEM, std::string(framework) + "/" + component + ": out of memory"};
    variables.insert(variables.end(), std::make_move_iterator(taken.list.begin()),
                     std::make_move_iterator(taken.list.end()));
    return {};
}

}  // namespace muster
