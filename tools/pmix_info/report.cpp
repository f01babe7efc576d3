// SPDX-License-Identifier: BSD-3-Clause
// The forms of output: see report.hpp.
#include "tools/pmix_info/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "framework/base/words.hpp"

namespace muster::info {
namespace {

// The column of the colons, and the length of a line.
constexpr size_t kLabelWidth = 24;
constexpr size_t kLineWidth = 100;

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

std::string join(const std::vector<std::string_view>& words) {
    std::string out;
    for (const std::string_view word : words) {
        out += out.empty() ? "" : ", ";
        out += word;
    }
    return out;
}

/// The asked-for part of "1.2.3".
std::string part_of(const std::string& version, const std::string& part) {
    if (part == "full") return version;
    const std::vector<std::string_view> numbers = words_of(version, '.');
    const size_t index = part == "major" ? 0 : part == "minor" ? 1 : 2;
    return std::string(index < numbers.size() ? numbers[index] : "0");
}

std::string interface_version(const ComponentRecord& component, const std::string& part) {
    return part_of(fmt::format("{}.{}.0", component.sdk_major, component.sdk_minor), part);
}

std::string table_version(const ComponentRecord& component, const std::string& part) {
    return part_of(fmt::format("{}.0.0", component.interface_version), part);
}

bool was_opened(const ComponentRecord& component) {
    return component.sdk_major != 0;
}

/// A report of facts, one after the other.
class TextReport : public Report {
  public:
    void print(const Inventory& inventory, const Selection& selection) override {
        if (selection.version) {
            fact("Package", "package", inventory.package);
            fact("PMIx", "pmix:version:full", part_of(inventory.version, selection.version_part));
        }
        for (const auto& [kind, folder] : inventory.paths) {
            if (!contains(selection.paths, kind) && !contains(selection.paths, "all")) continue;
            std::string label = kind;
            if (label[0] >= 'a' && label[0] <= 'z') label[0] = static_cast<char>(label[0] - 'a' + 'A');
            fact(label, "path:" + kind, folder);
        }
        if (selection.architecture) fact("Configured architecture", "config:arch", inventory.architecture);
        if (selection.hostname) fact("Configure host", "config:host", "not recorded");
        if (selection.configuration) {
            for (const Fact& one : inventory.configuration)
                fact(one.label, one.key, one.value);
        }
        if (selection.components) {
            for (const ComponentRecord& component : inventory.components) {
                if (selection.wants(component)) print_component(component, selection.version_part);
            }
        }
        if (!selection.parameters) return;
        for (const ParameterView& parameter : inventory.parameters) {
            if (selection.wants(parameter, inventory)) print_parameter(parameter);
        }
        for (const Parameters::Unknown& one : inventory.unknown)
            print_unknown(one);
        for (const std::string& complaint : inventory.complaints)
            fact("Not understood", "complaint", complaint);
    }

  private:
    /// Under its label for people, or its key for programs.
    virtual void fact(const std::string& label, const std::string& key, std::string_view value) const = 0;
    virtual void print_component(const ComponentRecord& component, const std::string& part) const = 0;
    virtual void print_parameter(const ParameterView& parameter) const = 0;
    virtual void print_unknown(const Parameters::Unknown& parameter) const = 0;
};

class Pretty : public TextReport {
  public:
    explicit Pretty(bool color) : color_(color) {}

  private:
    void fact(const std::string& label, const std::string&, std::string_view value) const override {
        line(label, value);
    }
    void print_unknown(const Parameters::Unknown& one) const override {
        line("Unknown parameter",
             fmt::format("{} ({}){}", one.name, one.origin,
                         one.nearest.empty() ? "" : "; did you mean " + one.nearest + "?"));
    }
    /// Label and value; long values continue on the next line, after the label's column.
    static void line(const std::string& label, std::string_view value) {
        wrapped(fmt::format("{:>{}}: ", label, kLabelWidth), value);
    }
    static void below(std::string_view value) { wrapped(std::string(kLabelWidth + 2, ' '), value); }

    static void wrapped(std::string head, std::string_view value) {
        const size_t room = kLineWidth - kLabelWidth - 2;
        for (;;) {
            size_t end = value.size();
            if (end > room) {
                end = value.rfind(' ', room);
                if (end == std::string_view::npos || end == 0) end = value.find(' ', room);
                end = std::min(end, value.size());
            }
            fmt::print("{}{}\n", head, value.substr(0, end));
            if (end >= value.size()) return;
            value.remove_prefix(end + 1);
            head.assign(kLabelWidth + 2, ' ');
        }
    }

    void print_component(const ComponentRecord& component, const std::string& part) const override {
        const std::string label = "MCA " + component.framework;
        if (was_opened(component)) {
            line(label, fmt::format("{} (MCA v{}, API v{}, Component v{})", component.name,
                                    interface_version(component, part), table_version(component, part),
                                    part_of(component.version, part)));
        } else {
            line(label, component.name);
        }
        below(component.reason);
    }

    void print_parameter(const ParameterView& parameter) const override {
        const ParameterDefinition& definition = *parameter.definition;
        const std::string framework(definition.framework.empty() ? "pmix" : definition.framework);
        std::string text = fmt::format("parameter {} (current value: {}, data source: {}, type: {}",
                                       colored("\"" + definition.full_name() + "\"", "\033[1;36m"),
                                       colored("\"" + parameter.value + "\"", "\033[1;32m"),
                                       source_text(parameter), type_name(definition.type));
        if (!definition.unit.empty()) text += fmt::format(", unit: {}", definition.unit);
        if (!definition.former_names.empty()) text += ", synonyms: " + join(definition.former_names);
        line("MCA " + framework, text + ")");
        if (!definition.help.empty()) below(definition.help);
        if (!definition.choices.empty()) below("Valid values: " + join(definition.choices));
    }
    std::string colored(const std::string& text, const char* code) const {
        return color_ ? code + text + "\033[0m" : text;
    }

    bool color_;
};

class Parsable : public TextReport {
  private:
    void fact(const std::string&, const std::string& key, std::string_view value) const override {
        line(key, value);
    }
    void print_unknown(const Parameters::Unknown& one) const override {
        line("unknown:" + one.name + ":source", one.origin);
        line("unknown:" + one.name + ":nearest", one.nearest);
    }
    /// Quotes are escaped, and a value with a colon is quoted.
    static void line(const std::string& key, std::string_view value) {
        std::string text;
        for (const char c : value) {
            if (c == '"') text += '\\';
            text += c == '\n' ? ' ' : c;
        }
        if (text.find(':') != std::string::npos) text = "\"" + text + "\"";
        fmt::print("{}:{}\n", key, text);
    }

    void print_component(const ComponentRecord& component, const std::string& part) const override {
        const std::string head = "mca:" + component.framework + ":" + component.name + ":";
        if (was_opened(component)) {
            line(head + "version", "mca:" + interface_version(component, part));
            line(head + "version", "api:" + table_version(component, part));
            line(head + "version", "component:" + part_of(component.version, part));
            line(head + "priority", std::to_string(component.priority));
        }
        line(head + "path", component.path.empty() ? "linked in" : component.path);
        line(head + "chosen", component.chosen ? "yes" : "no");
        line(head + (component.chosen ? "reason" : "failed"), component.reason);
    }

    void print_parameter(const ParameterView& parameter) const override {
        const ParameterDefinition& definition = *parameter.definition;
        const std::string framework(definition.framework.empty() ? "pmix" : definition.framework);
        const std::string component(definition.component.empty() ? "base" : definition.component);
        const std::string head =
            "mca:" + framework + ":" + component + ":param:" + definition.full_name() + ":";
        line(head + "value", parameter.value);
        line(head + "source", source_text(parameter));
        line(head + "default", definition.default_value);
        line(head + "status", "read-only");
        if (!definition.help.empty()) line(head + "help", definition.help);
        size_t number = 0;
        for (const std::string_view choice : definition.choices) {
            fmt::print("{}enumerator:value:{}:{}\n", head, number++, choice);
        }
        line(head + "deprecated", "no");
        line(head + "type", type_name(definition.type));
        if (!definition.unit.empty()) line(head + "unit", definition.unit);
        for (const std::string_view name : definition.former_names)
            line(head + "synonym:name", name);
    }
};

class Json : public Report {
  public:
    void print(const Inventory& inventory, const Selection& selection) override {
        using nlohmann::ordered_json;
        ordered_json out = ordered_json::object();
        if (selection.version) {
            out["package"] = inventory.package;
            out["pmix_version"] = inventory.version;
        }
        for (const auto& [kind, folder] : inventory.paths) {
            if (contains(selection.paths, kind) || contains(selection.paths, "all"))
                out["paths"][kind] = folder;
        }
        if (selection.architecture) out["architecture"] = inventory.architecture;
        if (selection.configuration) {
            for (const Fact& fact : inventory.configuration)
                out["configuration"][fact.key] = fact.value;
        }
        if (selection.components) {
            out["components"] = ordered_json::array();
            for (const ComponentRecord& component : inventory.components) {
                if (selection.wants(component)) out["components"].push_back(of(component));
            }
        }
        if (selection.parameters) {
            out["parameters"] = ordered_json::array();
            for (const ParameterView& parameter : inventory.parameters) {
                if (selection.wants(parameter, inventory)) out["parameters"].push_back(of(parameter));
            }
            out["unknown_parameters"] = ordered_json::array();
            for (const Parameters::Unknown& one : inventory.unknown) {
                out["unknown_parameters"].push_back(
                    {{"name", one.name}, {"origin", one.origin}, {"nearest", one.nearest}});
            }
            out["complaints"] = inventory.complaints;
        }
        // Values come from files and the environment, and need not be UTF-8.
        fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    }

  private:
    static nlohmann::ordered_json of(const ComponentRecord& component) {
        nlohmann::ordered_json out = {{"framework", component.framework}, {"name", component.name}};
        if (was_opened(component)) {
            out["version"] = component.version;
            out["vendor"] = component.vendor;
            out["sdk"] = interface_version(component, "full");
            out["interface_version"] = component.interface_version;
            out["priority"] = component.priority;
            out["hostile_input"] = (component.flags & MUSTER_COMPONENT_HOSTILE_INPUT) != 0;
        }
        if (component.path.empty()) {
            out["path"] = nullptr;
        } else {
            out["path"] = component.path;
        }
        out["chosen"] = component.chosen;
        out["reason"] = component.reason;
        return out;
    }

    static nlohmann::ordered_json of(const ParameterView& parameter) {
        const ParameterDefinition& definition = *parameter.definition;
        return {{"name", definition.full_name()},
                {"framework", definition.framework},
                {"component", definition.component},
                {"type", type_name(definition.type)},
                {"value", parameter.value},
                {"default", definition.default_value},
                {"source", parameter_source_name(parameter.source)},
                {"origin", parameter.origin},
                {"unit", definition.unit},
                {"help", definition.help},
                {"choices", definition.choices},
                {"former_names", definition.former_names}};
    }
};

}  // namespace

bool Selection::wants(const ComponentRecord& component) const {
    if (selected_only && !component.chosen) return false;
    if (framework != "all" && component.framework != framework) return false;
    return component_names.empty() || contains(component_names, component.name);
}

bool Selection::wants(const ParameterView& parameter, const Inventory& inventory) const {
    const ParameterDefinition& definition = *parameter.definition;
    if (!types.empty() && !contains(types, type_name(definition.type))) return false;
    if (framework != "all" && definition.framework != framework) return false;
    const bool of_framework = definition.component.empty() || definition.component == "base";
    if (!component_names.empty() &&
        !contains(component_names, of_framework ? "base" : definition.component)) {
        return false;
    }
    if (!selected_only || of_framework) return true;
    return std::ranges::any_of(inventory.components, [&](const ComponentRecord& one) {
        return one.chosen && one.framework == definition.framework && one.name == definition.component;
    });
}

std::unique_ptr<Report> pretty_report(bool color) {
    return std::make_unique<Pretty>(color);
}
std::unique_ptr<Report> parsable_report() {
    return std::make_unique<Parsable>();
}
std::unique_ptr<Report> json_report() {
    return std::make_unique<Json>();
}

}  // namespace muster::info
