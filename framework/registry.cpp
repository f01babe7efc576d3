// SPDX-License-Identifier: BSD-3-Clause
// The registry: see registry.hpp. A component goes from found (its file's name is known) by way of opened
// (its descriptor was checked, its parameters are defined) to made (create() gave an instance), each step at
// its first use.
#include "framework/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <optional>

#include "framework/base/install.hpp"
#include "framework/base/loop.hpp"
#include "framework/component_table.hpp"
#include "framework/loader.hpp"
#include "framework/pcompress.hpp"
#include "framework/plog.hpp"
#include "framework/pmdl.hpp"
#include "framework/pnet.hpp"
#include "framework/preg.hpp"
#include "framework/psec.hpp"

namespace muster {
namespace {

constexpr const char* kFrameworks[] = {"bfrops", "gds",  "pcompress", "plog", "pmdl",
                                       "pnet",   "preg", "psec",      "ptl"};
// Those without which no process gets anywhere, and whose choice is a matter of speed, not of trust: a list
// that names none of their components (that of another implementation, say) is set aside. So not psec.
constexpr std::string_view kIndispensable[] = {"bfrops", "gds", "preg", "ptl"};

// Parts of the library that log without being a framework, and the names under which OpenPMIx's users ask for
// that.
struct Service {
    const char* name;
    const char* former_verbosity;
};
constexpr Service kServices[] = {{"client", "pmix_client_base_verbose"},
                                 {"server", "pmix_server_base_verbose"}};

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const size_t end = text.find(separator);
        std::string_view word = text.substr(0, end);
        while (!word.empty() && word.front() == ' ')
            word.remove_prefix(1);
        while (!word.empty() && word.back() == ' ')
            word.remove_suffix(1);
        if (!word.empty()) words.emplace_back(word);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return words;
}

template <class Words>
bool contains(const Words& words, std::string_view word) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// What one component is given; its values do not change any more, so any thread may read them.
struct HostContext {
    std::string component;
    const Log* log = nullptr;
    EventLoop* loop = nullptr;
    std::map<std::string, std::string, std::less<>> values;
    muster_host_t table{};

    HostContext() {
        table.struct_size = sizeof table;
        table.context = this;
        table.log = [](void* context, int level, const char* message) {
            const auto* self = static_cast<const HostContext*>(context);
            self->log->write(static_cast<LogLevel>(level), "%s: %s", self->component.c_str(), message);
        };
        table.parameter = [](void* context, const char* name) -> const char* {
            const auto* self = static_cast<const HostContext*>(context);
            const auto at = self->values.find(std::string_view(name));
            return at == self->values.end() ? nullptr : at->second.c_str();
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
                self->log->write(LogLevel::Error, "%s: out of memory, a task is lost",
                                 self->component.c_str());
            }
        };
    }
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

    void give_up(std::string reason) {
        step = Step::Unusable;
        record.reason = std::move(reason);
    }
};

/// PMIX_MCA_<framework>: which components may be used.
struct Restriction {
    bool deny = false;
    std::vector<std::string> names;
    std::string said;  // for reasons: name, value and origin

    bool allows(std::string_view name) const {
        if (names.empty()) return true;
        return contains(names, name) != deny;
    }
    bool names_it(std::string_view name) const { return !deny && contains(names, name); }
};

struct Framework {
    explicit Framework(const char* framework_name) : name(framework_name), log(framework_name) {}

    const char* name;
    Log log;
    Restriction restriction;
    std::list<Component> components;
    bool listed = false;
};

ParameterDefinition definition_of(const muster_component_t& component, const muster_param_t& param) {
    ParameterDefinition definition;
    definition.framework = component.framework;
    definition.component = component.name;
    definition.name = param.name;
    switch (param.type) {
        case MUSTER_PARAM_INT:
            definition.type = ParameterType::Int;
            break;
        case MUSTER_PARAM_UNSIGNED:
            definition.type = ParameterType::Unsigned;
            break;
        case MUSTER_PARAM_SIZE:
            definition.type = ParameterType::Size;
            break;
        case MUSTER_PARAM_BOOL:
            definition.type = ParameterType::Bool;
            break;
        case MUSTER_PARAM_STRING:
            definition.type = ParameterType::String;
            break;
        case MUSTER_PARAM_SECONDS:
            definition.type = ParameterType::Seconds;
            break;
        case MUSTER_PARAM_CHOICE:
            definition.type = ParameterType::Choice;
            break;
    }
    definition.default_value = param.default_value;
    if (param.unit != nullptr) definition.unit = param.unit;
    if (param.help != nullptr) definition.help = param.help;
    if (param.choices != nullptr) definition.choices = split(param.choices, ',');
    if (param.former_names != nullptr) definition.former_names = split(param.former_names, ',');
    return definition;
}

/// The facade of a framework that is open to vendors, over the table that create() returned.
std::shared_ptr<void> make_facade(std::string_view framework, void* instance, const std::string& name) {
    if (framework == "psec") return adapt_psec(static_cast<const muster_psec_t*>(instance), name);
    if (framework == "pcompress") {
        return std::make_shared<Pcompress>(static_cast<const muster_pcompress_t*>(instance), name);
    }
    if (framework == "plog") return std::make_shared<Plog>(static_cast<const muster_plog_t*>(instance), name);
    if (framework == "pmdl") return std::make_shared<Pmdl>(static_cast<const muster_pmdl_t*>(instance), name);
    if (framework == "pnet") return std::make_shared<Pnet>(static_cast<const muster_pnet_t*>(instance), name);
    if (framework == "preg") return std::make_shared<Preg>(static_cast<const muster_preg_t*>(instance), name);
    return nullptr;
}

}  // namespace

struct Registry::Impl {
    Parameters& parameters;
    Options options;
    Log log{"mca"};
    std::list<Framework> frameworks;
    std::list<Framework> services;                    // without components: for their logs
    std::vector<Component*> made;                     // in the order of creation
    std::optional<std::vector<ComponentFile>> files;  // in the folders; once they were looked at

    Impl(Parameters& given_parameters, Options given_options)
        : parameters(given_parameters), options(std::move(given_options)) {
        define({.framework = "mca",
                .component = "base",
                .name = "verbose",
                .type = ParameterType::Int,
                .default_value = "0",
                .help = "Verbosity of the registry of components: 1 errors, 5 choices, 10 each step."},
               log);
        log.set_verbosity(static_cast<int>(parameters.integer("mca_base_verbose")));
        define({.framework = "mca",
                .component = "base",
                .name = "component_path",
                .help = "Folders, separated by colons, where components are looked for after those of the "
                        "installation."},
               log);
        for (const std::string& complaint : parameters.complaints()) {
            MUSTER_LOG(log, Warning, "%s", complaint.c_str());
        }
        for (const char* name : kFrameworks)
            define_framework(frameworks.emplace_back(name));
        for (const Service& service : kServices) {
            define_verbosity(services.emplace_back(service.name), {service.former_verbosity});
        }
    }

    void define(ParameterDefinition definition, const Log& to) {
        const Result<void> result = parameters.define(std::move(definition));
        if (!result.ok()) MUSTER_LOG(to, Error, "%s", result.error().text.c_str());
    }

    void define_verbosity(Framework& framework, std::vector<std::string> former_names) {
        const std::string name = framework.name;
        define({.framework = name,
                .component = "base",
                .name = "verbose",
                .type = ParameterType::Int,
                .default_value = "0",
                .help = "Verbosity of " + name +
                        ": 1 errors, 2 warnings, 5 choices, 10 each step, 40 each message.",
                .former_names = std::move(former_names)},
               log);
        framework.log.set_verbosity(static_cast<int>(parameters.integer(name + "_base_verbose")));
    }

    void define_framework(Framework& framework) {
        const std::string name = framework.name;
        define_verbosity(framework, {});
        define(
            {.framework = name,
             .help =
                 "Components of the framework " + name +
                 " that may be used: a comma list, or ^ and a comma list of those that may not; empty: all."},
            log);
        const std::optional<ParameterView> restriction = parameters.view(name);
        std::string_view value = restriction->value;
        framework.restriction.deny = value.starts_with('^');
        framework.restriction.said =
            "PMIX_MCA_" + name + "=" + restriction->value + " (" + restriction->origin + ")";
        for (std::string& word : split(value, ',')) {
            if (word.starts_with('^')) {
                if (!framework.restriction.deny) {
                    MUSTER_LOG(framework.log, Error, "%s: ^ counts only at the beginning; \"%s\" is ignored",
                               framework.restriction.said.c_str(), word.c_str());
                    continue;
                }
                word.erase(0, 1);
            }
            if (!word.empty()) framework.restriction.names.push_back(std::move(word));
        }
    }

    Framework* find(std::string_view name) {
        for (Framework& framework : frameworks) {
            if (name == framework.name) return &framework;
        }
        return nullptr;
    }

    /// Finds out which components there are, without opening any file.
    void list(Framework& framework) {
        if (framework.listed) return;
        framework.listed = true;
        for (const ComponentEntry* entry = options.linked; entry != nullptr && *entry != nullptr; ++entry) {
            const muster_component_t* descriptor = (*entry)();
            if (descriptor == nullptr || std::strcmp(descriptor->framework, framework.name) != 0) continue;
            add(framework, descriptor->name, "").linked = *entry;
        }
        if (!files) files = find_component_files(options.folders);
        for (const ComponentFile& file : *files) {
            if (file.framework == framework.name) add(framework, file.name, file.path);
        }
        const Restriction& restriction = framework.restriction;
        // To rule out what is not there is no mistake: files of parameters are shared with other
        // installations.
        for (const std::string& name : restriction.deny ? std::vector<std::string>() : restriction.names) {
            const auto has_name = [&](const Component& component) { return component.record.name == name; };
            if (std::none_of(framework.components.begin(), framework.components.end(), has_name)) {
                MUSTER_LOG(framework.log, Error, "%s names %s, and there is no such component; there are %s",
                           restriction.said.c_str(), name.c_str(), names_of(framework).c_str());
            }
        }
        const auto named = [&](const Component& component) {
            return restriction.names_it(component.record.name);
        };
        if (!restriction.deny && !restriction.names.empty() && contains(kIndispensable, framework.name) &&
            std::none_of(framework.components.begin(), framework.components.end(), named)) {
            set_aside(framework);
        }
    }

    /// From here on PMIX_MCA_<framework> counts for nothing.
    static void set_aside(Framework& framework) {
        MUSTER_LOG(framework.log, Error, "%s is set aside: it names no component that there is",
                   framework.restriction.said.c_str());
        framework.restriction.names.clear();
        for (Component& component : framework.components) {
            if (component.ruled_out) component.step = Component::Step::Found;
            component.ruled_out = false;
        }
    }

    static Component& add(Framework& framework, const std::string& name, std::string path) {
        const Component* first = nullptr;
        for (const Component& other : framework.components) {
            if (first == nullptr && other.record.name == name) first = &other;
        }
        Component& component = framework.components.emplace_back();
        component.record.framework = framework.name;
        component.record.name = name;
        component.record.path = std::move(path);
        if (first != nullptr) {
            component.give_up("not opened: another of this name was found first, " +
                              (first->record.path.empty() ? "linked into the library" : first->record.path));
            MUSTER_LOG(framework.log, Info, "%s is %s", component.record.path.c_str(),
                       component.record.reason.c_str());
        } else if (!framework.restriction.allows(name)) {
            component.give_up("not opened: ruled out by " + framework.restriction.said);
            component.ruled_out = true;
        }
        return component;
    }

    static std::string names_of(const Framework& framework) {
        std::string names;
        for (const Component& component : framework.components) {
            if (!names.empty()) names += ", ";
            names += component.record.name;
        }
        return names.empty() ? "none" : names;
    }

    /// Descriptor and parameters.
    void open(Framework& framework, Component& component) {
        if (component.step != Component::Step::Found) return;
        ComponentRecord& record = component.record;
        Result<const muster_component_t*> opened(static_cast<const muster_component_t*>(nullptr));
        if (component.linked != nullptr) {
            opened = component.linked();
            Result<void> fits =
                check_descriptor(*opened, framework.name, record.name, "linked-in " + record.name);
            if (!fits.ok()) opened = fits.error();
        } else {
            opened = open_component_file({record.framework, record.name, record.path}, options.privileged);
        }
        if (!opened.ok()) {
            MUSTER_LOG(framework.log, Error, "%s", opened.error().text.c_str());
            component.give_up(opened.error().text);
            return;
        }
        const muster_component_t& descriptor = **opened;
        component.descriptor = &descriptor;
        component.step = Component::Step::Opened;
        record.version = descriptor.version;
        record.vendor = descriptor.vendor == nullptr ? "" : descriptor.vendor;
        record.flags = descriptor.flags;
        record.sdk_major = descriptor.sdk_major;
        record.sdk_minor = descriptor.sdk_minor;
        record.interface_version = descriptor.interface_version;

        define(
            {.framework = framework.name,
             .component = record.name,
             .name = "priority",
             .type = ParameterType::Int,
             .default_value = std::to_string(descriptor.priority),
             .help =
                 "Priority of the component: the highest is preferred; one below 0 is used only when named."},
            framework.log);
        record.priority = static_cast<int>(
            parameters.integer(std::string(framework.name) + "_" + record.name + "_priority"));
        component.host = std::make_unique<HostContext>();
        component.host->component = record.name;
        component.host->log = &framework.log;
        component.host->loop = options.loop;
        for (size_t i = 0; i < descriptor.nparams; ++i) {
            ParameterDefinition definition = definition_of(descriptor, descriptor.params[i]);
            const std::string full_name = definition.full_name();
            define(std::move(definition), framework.log);
            component.host->values[descriptor.params[i].name] = parameters.text(full_name);
        }
    }

    /// The instance.
    void make(Framework& framework, Component& component) {
        open(framework, component);
        if (component.step != Component::Step::Opened) return;
        ComponentRecord& record = component.record;
        if (record.priority < 0 && !framework.restriction.names_it(record.name)) {
            component.give_up("not used: its priority is negative (" + std::to_string(record.priority) +
                              "), so PMIX_MCA_" + framework.name + " has to name it");
            return;
        }
        Reason reason;
        pmix_status_t status = PMIX_ERROR;
        try {
            status = component.descriptor->create(&component.host->table, &component.instance, reason.text);
        } catch (const std::bad_alloc&) {
            status = PMIX_ERR_NOMEM;
        } catch (...) {
            std::strcpy(reason.text, "it let an exception out");
        }
        if (status != PMIX_SUCCESS || component.instance == nullptr) {
            const std::string why = reason.str().empty() ? "status " + std::to_string(status) : reason.str();
            component.give_up("not usable here: " + why);
            // That something cannot be used here is an everyday thing, a failure is not.
            const LogLevel level = status == PMIX_ERR_NOT_AVAILABLE ? LogLevel::Info : LogLevel::Error;
            framework.log.write(level, "component %s is %s", record.name.c_str(), record.reason.c_str());
            return;
        }
        made.push_back(&component);
        component.facade = make_facade(framework.name, component.instance, record.name);
        component.step = Component::Step::Made;
        record.chosen = true;
        record.reason = "usable, priority " + std::to_string(record.priority);
        if (const auto view = parameters.view(std::string(framework.name) + "_" + record.name + "_priority");
            view && view->source != ParameterSource::Default) {
            record.reason += " (" + view->origin + ")";
        }
        if (!framework.restriction.names.empty())
            record.reason += ", allowed by " + framework.restriction.said;
        MUSTER_LOG(framework.log, Info, "component %s %s is %s", record.name.c_str(), record.version.c_str(),
                   record.reason.c_str());
    }

    /// The usable components, best first or in the order of `only`.
    std::vector<Component*> usable(std::string_view framework_name, std::string_view only) {
        Framework* framework = find(framework_name);
        if (framework == nullptr) return {};
        list(*framework);
        const std::vector<std::string> wanted = split(only, ',');
        std::vector<Component*> chosen;
        for (Component& component : framework->components) {
            if (!wanted.empty() && !contains(wanted, component.record.name)) continue;
            make(*framework, component);
            if (component.step == Component::Step::Made) chosen.push_back(&component);
        }
        std::stable_sort(chosen.begin(), chosen.end(), [&](const Component* a, const Component* b) {
            if (wanted.empty()) return a->record.priority > b->record.priority;
            const auto place = [&](const Component* component) {
                return std::find(wanted.begin(), wanted.end(), component->record.name);
            };
            return place(a) < place(b);
        });
        return chosen;
    }

    template <class T>
    std::vector<T*> instances(std::string_view framework, std::string_view only = {}) {
        std::vector<T*> out;
        for (const Component* component : usable(framework, only)) {
            void* object = component->facade != nullptr ? component->facade.get() : component->instance;
            out.push_back(static_cast<T*>(object));
        }
        return out;
    }
};

Registry::Options Registry::Options::standard(const Parameters& parameters) {
    Options options;
    options.privileged = process_is_privileged();
    const auto add = [&](const std::string& folder) {
        if (!folder.empty() && folder.front() == '/' && !contains(options.folders, folder)) {
            options.folders.push_back(folder);
        }
    };
    add(install_paths().components);
    add(MUSTER_INSTALLED_COMPONENTS);
    for (const std::string& folder : split(parameters.raw("mca_base_component_path").value_or(""), ':'))
        add(folder);
    return options;
}

Registry::Registry(Parameters& parameters, Options options)
    : impl_(std::make_unique<Impl>(parameters, std::move(options))) {}

Registry::~Registry() {
    for (auto at = impl_->made.rbegin(); at != impl_->made.rend(); ++at) {
        Component& component = **at;
        component.facade.reset();
        component.descriptor->destroy(component.instance);
    }
}

std::vector<Ptl*> Registry::ptls(std::string_view only) {
    return impl_->instances<Ptl>("ptl", only);
}
std::vector<Gds*> Registry::stores(std::string_view only) {
    return impl_->instances<Gds>("gds", only);
}
Gds* Registry::store_behind(std::string_view name) {
    Framework* framework = impl_->find("gds");
    impl_->list(*framework);
    for (Component& component : framework->components) {
        if (component.record.name != name) continue;
        if (component.step == Component::Step::Unusable && component.descriptor == nullptr &&
            !framework->restriction.allows(name))
            component.step = Component::Step::Found;
        impl_->make(*framework, component);
        if (component.step != Component::Step::Made) return nullptr;
        if (!framework->restriction.allows(name))
            component.record.reason = "used behind another, not ruled in by " + framework->restriction.said;
        return static_cast<Gds*>(component.instance);
    }
    return nullptr;
}
std::vector<Bfrops*> Registry::bfrops(std::string_view only) {
    return impl_->instances<Bfrops>("bfrops", only);
}
std::vector<Psec*> Registry::psecs(std::string_view only) {
    return impl_->instances<Psec>("psec", only);
}
std::vector<Preg*> Registry::pregs() {
    return impl_->instances<Preg>("preg");
}
std::vector<Pcompress*> Registry::pcompress() {
    return impl_->instances<Pcompress>("pcompress");
}
std::vector<Plog*> Registry::plogs() {
    return impl_->instances<Plog>("plog");
}
std::vector<Pmdl*> Registry::pmdls() {
    return impl_->instances<Pmdl>("pmdl");
}

std::vector<Pnet*> Registry::pnets() {
    return impl_->instances<Pnet>("pnet");
}

std::string Registry::why_none(std::string_view framework_name, std::string_view only) {
    Framework* framework = impl_->find(framework_name);
    if (framework == nullptr) return "there is no framework " + std::string(framework_name);
    impl_->list(*framework);
    std::string out = "no component of framework " + std::string(framework_name) + " can be used";
    if (!only.empty()) out += " of those that the peer has (" + std::string(only) + ")";
    if (framework->components.empty()) {
        out += ": none was found in";
        for (const std::string& folder : impl_->options.folders)
            out += " " + folder;
        return out + "; check the installation, or set PMIX_MCA_mca_base_component_path";
    }
    const char* separator = ": ";
    for (const Component& component : framework->components) {
        if (component.step != Component::Step::Unusable) continue;
        out += separator + component.record.name + " is " + component.record.reason;
        separator = "; ";
    }
    return out;
}

std::vector<ComponentRecord> Registry::inventory() {
    std::vector<ComponentRecord> records;
    for (Framework& framework : impl_->frameworks) {
        impl_->list(framework);
        const size_t begin = records.size();
        for (Component& component : framework.components) {
            impl_->make(framework, component);
            records.push_back(component.record);
        }
        std::stable_sort(records.begin() + static_cast<std::ptrdiff_t>(begin), records.end(),
                         [](const ComponentRecord& a, const ComponentRecord& b) {
                             return a.chosen != b.chosen ? a.chosen : a.priority > b.priority;
                         });
    }
    return records;
}

const std::vector<std::string>& Registry::frameworks() {
    static const std::vector<std::string> names(std::begin(kFrameworks), std::end(kFrameworks));
    return names;
}

std::vector<Parameters::Unknown> Registry::unknown_parameters() {
    std::vector<std::string> closed;  // beginnings of names that nobody can judge
    for (Framework& framework : impl_->frameworks) {
        impl_->list(framework);
        for (Component& component : framework.components) {
            impl_->open(framework, component);
            if (component.descriptor == nullptr) {
                closed.push_back(std::string(framework.name) + "_" + component.record.name + "_");
            }
        }
    }
    std::vector<Parameters::Unknown> unknown = impl_->parameters.unknown();
    std::erase_if(unknown, [&](const Parameters::Unknown& one) {
        return std::any_of(closed.begin(), closed.end(),
                           [&](const std::string& beginning) { return one.name.starts_with(beginning); });
    });
    return unknown;
}

void Registry::warn_unknown_parameters() {
    if (!impl_->parameters.boolean("mca_base_warn_unknown")) return;
    Log asked_for("mca");
    asked_for.set_verbosity(static_cast<int>(LogLevel::Warning));
    for (const Parameters::Unknown& one : unknown_parameters()) {
        const std::string meant = one.nearest.empty() ? "" : "; did you mean " + one.nearest + "?";
        asked_for.write(LogLevel::Warning, "nothing knows the parameter %s (%s)%s", one.name.c_str(),
                        one.origin.c_str(), meant.c_str());
    }
}

Log& Registry::log(std::string_view framework_name) {
    if (Framework* framework = impl_->find(framework_name)) return framework->log;
    for (Framework& service : impl_->services) {
        if (framework_name == service.name) return service.log;
    }
    return impl_->log;
}

Parameters& Registry::parameters() {
    return impl_->parameters;
}

}  // namespace muster
