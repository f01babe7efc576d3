// SPDX-License-Identifier: BSD-3-Clause
// One component in the registry: its data, its state, and its host table. Loop thread, or before the loop
// starts, unless noted otherwise.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/registry.hpp"

namespace muster {

/// The context of one component; immutable, so any thread may read it.
struct HostContext {
    std::string component;
    const Log* log = nullptr;
    EventLoop* loop = nullptr;
    std::vector<std::pair<std::string_view, std::string>> values;
    muster_host_t table{};

    HostContext();
    HostContext(const HostContext&) = delete;
    HostContext& operator=(const HostContext&) = delete;
};

struct Component {
    enum class Step { Found, Opened, Made, Unusable };

    ComponentRecord record;
    Step step = Step::Found;
    ComponentEntry linked = nullptr;
    const muster_component_t* descriptor = nullptr;
    std::unique_ptr<HostContext> host;
    void* instance = nullptr;
    std::shared_ptr<void> facade;  // over the instance, for frameworks that are open to vendors

    bool ruled_out = false;  // by PMIX_MCA_<framework>
    bool shadowed = false;   // another of this name was found first

    void give_up(std::string reason) {
        step = Step::Unusable;
        record.reason = std::move(reason);
    }
};

/// A parameter of a component, whose descriptor stays.
ParameterDefinition definition_of(const muster_component_t& component, const muster_param_t& param);

/// Sets the parameters of a component that is not opened yet from the attributes of the init call.
void set_by_attributes(const muster_component_t& component, const std::vector<InitAttribute>& attributes,
                       Parameters& parameters);

/// The facade of a framework that is open to vendors, over the table that create() returned; null for the
/// other frameworks.
std::shared_ptr<void> make_facade(std::string_view framework, void* instance, const std::string& name);

}  // namespace muster
