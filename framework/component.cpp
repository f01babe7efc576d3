// SPDX-License-Identifier: BSD-3-Clause
// A component and its host table: see component.hpp.
#include "framework/component.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "framework/base/data_type.hpp"
#include "framework/base/loop.hpp"
#include "framework/base/words.hpp"
#include "framework/pcompress.hpp"
#include "framework/plog.hpp"
#include "framework/pmdl.hpp"
#include "framework/pnet.hpp"
#include "framework/preg.hpp"
#include "framework/psec.hpp"

namespace muster {

HostContext::HostContext() {
    table.struct_size = sizeof table;
    table.context = this;
    table.log = [](void* context, int level, const char* message) {
        const auto* self = static_cast<const HostContext*>(context);
        self->log->write(static_cast<LogLevel>(level), "%s: %s", self->component.c_str(), message);
    };
    table.parameter = [](void* context, const char* name) -> const char* {
        const auto* self = static_cast<const HostContext*>(context);
        for (const auto& [known, value] : self->values) {
            if (known == name) return value.c_str();
        }
        return nullptr;
    };
    table.allocate = [](void*, size_t size) { return std::malloc(size); };
    table.release = [](void*, void* block) { std::free(block); };
    table.post = [](void* context, void (*task)(void*), void* data) {
        const auto* self = static_cast<const HostContext*>(context);
        if (self->loop == nullptr) {
            task(data);
            return;
        }
        try {
            self->loop->post([task, data] { task(data); });
        } catch (const std::exception&) {
            self->log->write(LogLevel::Error, "%s: out of memory, a task is lost", self->component.c_str());
        }
    };
}

ParameterDefinition definition_of(const muster_component_t& component, const muster_param_t& param) {
    ParameterDefinition definition;
    definition.framework = component.framework;
    definition.component = component.name;
    definition.name = param.name;
    // The numbers are the same; the loader has checked this one.
    static_assert(static_cast<int>(ParameterType::Choice) == MUSTER_PARAM_CHOICE);
    definition.type = static_cast<ParameterType>(param.type);
    definition.default_value = param.default_value;
    if (param.unit != nullptr) definition.unit = param.unit;
    if (param.help != nullptr) definition.help = param.help;
    if (param.choices != nullptr) definition.choices = words_of(param.choices, ',');
    if (param.former_names != nullptr) definition.former_names = words_of(param.former_names, ',');
    return definition;
}

std::vector<InitAttribute> init_attributes(InfoView info) {
    const auto text_of = [](const pmix_value_t& value) -> std::string {
        if (const char* text = value_as_string(&value)) return text;
        if (const auto number = value_as_number<int64_t>(&value)) return std::to_string(*number);
        if (const auto number = value_as_number<uint64_t>(&value)) return std::to_string(*number);
        return std::string("a value of type ") + data_type_name(value.type);
    };
    std::vector<InitAttribute> attributes;
    for (const pmix_info_t& entry : info) {
        attributes.push_back({entry.key, text_of(entry.value), value_as_string(&entry.value) != nullptr,
                              value_as_bool(&entry.value).value_or(false)});
    }
    return attributes;
}

void set_by_attributes(const muster_component_t& component, const std::vector<InitAttribute>& attributes,
                       Parameters& parameters) {
    const bool states_any =
        component.struct_size >= offsetof(muster_component_t, nattributes) + sizeof(size_t);
    if (attributes.empty() || !states_any) return;
    for (size_t i = 0; i < component.nattributes; ++i) {
        const muster_param_attribute_t& wanted = component.attributes[i];
        const auto given =
            std::find_if(attributes.begin(), attributes.end(),
                         [&](const InitAttribute& attribute) { return attribute.key == wanted.attribute; });
        if (given == attributes.end() || (wanted.type == PMIX_STRING && !given->is_string)) continue;
        const ParameterDefinition parameter{
            .framework = component.framework, .component = component.name, .name = wanted.param};
        const char* truth = given->is_true ? "true" : "false";
        parameters.set(parameter.full_name(), wanted.type == PMIX_BOOL ? truth : given->text);
    }
}

std::shared_ptr<void> make_facade(std::string_view framework, void* instance, const std::string& name) {
    if (framework == "psec") return std::make_shared<Psec>(static_cast<const muster_psec_t*>(instance), name);
    if (framework == "pcompress") {
        return std::make_shared<Pcompress>(static_cast<const muster_pcompress_t*>(instance), name);
    }
    if (framework == "plog") return std::make_shared<Plog>(static_cast<const muster_plog_t*>(instance), name);
    if (framework == "pmdl") return std::make_shared<Pmdl>(static_cast<const muster_pmdl_t*>(instance), name);
    if (framework == "pnet") return std::make_shared<Pnet>(static_cast<const muster_pnet_t*>(instance), name);
    if (framework == "preg") return std::make_shared<Preg>(static_cast<const muster_preg_t*>(instance), name);
    return nullptr;
}

}  // namespace muster
