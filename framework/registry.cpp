// SPDX-License-Identifier: BSD-3-Clause
// The registry: see registry.hpp. The states of a component are found (its file's name is known), opened (its
// descriptor was checked, its parameters are defined) and made (create() returned an instance); each
// transition is made at its first use.
#include "framework/registry.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <optional>
#include <utility>

#include "framework/base/install.hpp"
#include "framework/base/words.hpp"
#include "framework/component.hpp"
#include "framework/component_table.hpp"
#include "framework/loader.hpp"

namespace muster {
namespace {

/// A framework, or a service, which has no components and only logs; and the purpose of its parameters.
struct Texts {
    const char* name;
    const char* verbosity_name;
    const char* verbosity;
    const char* restriction = "";
    const char* former_verbosity = nullptr;  // the name under which OpenPMIx's users ask for it
};
#define MUSTER_VERBOSITY_OF(NAME) \
    NAME "_base_verbose",         \
        "Verbosity of " NAME ": 1 errors, 2 warnings, 5 choices, 10 each step, 40 each message."
#define MUSTER_FRAMEWORK(NAME)                                                                          \
    {                                                                                                   \
        NAME, MUSTER_VERBOSITY_OF(NAME),                                                                \
            "Components of the framework " NAME                                                         \
            " that may be used: a comma list, or ^ and a comma list of those that may not; empty: all." \
    }
constexpr Texts kFrameworks[] = {
    MUSTER_FRAMEWORK("bfrops"), MUSTER_FRAMEWORK("gds"),  MUSTER_FRAMEWORK("pcompress"),
    MUSTER_FRAMEWORK("plog"),   MUSTER_FRAMEWORK("pmdl"), MUSTER_FRAMEWORK("pnet"),
    MUSTER_FRAMEWORK("preg"),   MUSTER_FRAMEWORK("psec"), MUSTER_FRAMEWORK("ptl")};
#undef MUSTER_FRAMEWORK
// The frameworks that every process needs, and whose selection affects speed, not trust (so not psec): a list
// that names none of their components (one of another implementation, say) is ignored.
constexpr std::string_view kIndispensable[] = {"bfrops", "gds", "preg", "ptl"};

constexpr Texts kServices[] = {{"client", MUSTER_VERBOSITY_OF("client"), "", "pmix_client_base_verbose"},
                               {"server", MUSTER_VERBOSITY_OF("server"), "", "pmix_server_base_verbose"},
                               {"tool", MUSTER_VERBOSITY_OF("tool"), "", nullptr}};
#undef MUSTER_VERBOSITY_OF

template <class Words>
bool contains(const Words& words, std::string_view word) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// PMIX_MCA_<framework>: which components may be used.
struct Restriction {
    bool deny = false;
    bool aside = false;  // because it named no existing component
    bool mixed = false;  // names that may be used and names that may not: the intention is unclear
    std::vector<std::string> names;
    std::string said;  // for reasons: name, value and origin

    bool allows(std::string_view name) const {
        return !mixed && (names.empty() || contains(names, name) != deny);
    }
    bool names_it(std::string_view name) const { return !deny && contains(names, name); }
};

struct Framework {
    explicit Framework(const Texts& given_texts)
        : texts(given_texts), name(given_texts.name), log(given_texts.name) {}

    const Texts& texts;
    const char* name;
    Log log;
    Restriction restriction;
    std::list<Component> components;
    bool listed = false;
};

}  // namespace

struct Registry::Impl {
    Parameters& parameters;
    Options options;
    Log log{"mca"};
    std::list<Framework> frameworks;
    std::list<Framework> services;                    // without components: for their logs
    std::vector<Component*> made;                     // in the order of creation
    std::optional<std::vector<ComponentFile>> files;  // in the folders; once they were searched
    std::vector<std::string> passed_over;             // folders that others can change, as sentences
    bool passed_over_told = false;
    bool defined = false;  // the parameters of frameworks and services

    Impl(Parameters& given_parameters, Options given_options)
        : parameters(given_parameters), options(std::move(given_options)) {
        for (const Texts& texts : kFrameworks)
            frameworks.emplace_back(texts);
        for (const Texts& texts : kServices)
            services.emplace_back(texts);
        // Without external settings all have their defaults, and are defined only to be listed: defining them
        // would take a sixth of PMIx_Init.
        if (any_given()) define_all();
    }

    bool any_given() const {
        const std::vector<std::string> given = parameters.given();
        const auto is_given = [&](const char* name) { return name != nullptr && contains(given, name); };
        const auto has = [&](const Texts& texts) {
            return is_given(texts.name) || is_given(texts.verbosity_name) || is_given(texts.former_verbosity);
        };
        return !given.empty() && (is_given("mca_base_verbose") || std::ranges::any_of(kFrameworks, has) ||
                                  std::ranges::any_of(kServices, has));
    }

    void define_all() {
        if (std::exchange(defined, true)) return;
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
        for (Framework& framework : frameworks)
            define_framework(framework);
        for (Framework& service : services)
            define_verbosity(service);
    }

    void define(ParameterDefinition definition, const Log& to) {
        const Result<void> result = parameters.define(std::move(definition));
        if (!result.ok()) MUSTER_LOG(to, Error, "%s", result.error().text.c_str());
    }

    void define_verbosity(Framework& framework) {
        ParameterDefinition definition{.framework = framework.name,
                                       .component = "base",
                                       .name = "verbose",
                                       .type = ParameterType::Int,
                                       .default_value = "0",
                                       .help = framework.texts.verbosity};
        if (framework.texts.former_verbosity != nullptr)
            definition.former_names.emplace_back(framework.texts.former_verbosity);
        define(std::move(definition), log);
        framework.log.set_verbosity(static_cast<int>(parameters.integer(framework.texts.verbosity_name)));
    }

    void define_framework(Framework& framework) {
        define_verbosity(framework);
        define({.framework = framework.name, .help = framework.texts.restriction}, log);
        const std::optional<ParameterView> restriction = parameters.view(framework.name);
        if (restriction->value.empty()) return;
        std::string_view value = restriction->value;
        framework.restriction.deny = value.starts_with('^');
        const std::string variable = std::string("PMIX_MCA_") + framework.name;
        framework.restriction.said = variable + "=" + restriction->value;
        if (restriction->origin != variable) framework.restriction.said += " (" + restriction->origin + ")";
        for (std::string_view word : words_of(value, ',')) {
            if (word.starts_with('^')) {
                framework.restriction.mixed |= !framework.restriction.deny;
                word.remove_prefix(1);
            }
            if (!word.empty()) framework.restriction.names.emplace_back(word);
        }
        if (framework.restriction.mixed)
            framework.restriction.said += ", where ^ stands behind the beginning";
    }

    Framework* find(std::string_view name) {
        const auto at = std::ranges::find(frameworks, name, &Framework::name);
        return at != frameworks.end() ? &*at : nullptr;
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
        if (!files) files = find_component_files(options.folders, passed_over);
        if (!passed_over_told && framework.log.enabled(LogLevel::Error)) {
            passed_over_told = true;
            for (const std::string& sentence : passed_over)
                framework.log.write(LogLevel::Error, "%s", sentence.c_str());
        }
        for (const ComponentFile& file : *files) {
            if (file.framework == framework.name) add(framework, file.name, file.path);
        }
        const Restriction& restriction = framework.restriction;
        const auto named = [&](const Component& component) {
            return restriction.names_it(component.record.name);
        };
        if (!restriction.deny && !restriction.mixed && !restriction.names.empty() &&
            contains(kIndispensable, framework.name) && std::ranges::none_of(framework.components, named))
            set_aside(framework);
        for (const std::string& sentence : unknown_names(framework))
            MUSTER_LOG(framework.log, Error, "%s", sentence.c_str());
    }

    /// A sentence for each name in the list that no component has. Excluding a missing component is not an
    /// error: parameter files are shared with other installations.
    static std::vector<std::string> unknown_names(const Framework& framework) {
        std::vector<std::string> sentences;
        const Restriction& restriction = framework.restriction;
        if (restriction.deny) return sentences;
        if (restriction.aside)
            sentences.push_back(restriction.said + " is set aside: it names none of " + names_of(framework));
        for (const std::string& name : restriction.names) {
            const auto has_name = [&](const Component& component) { return component.record.name == name; };
            if (std::ranges::none_of(framework.components, has_name)) {
                sentences.push_back(restriction.said + " names " + name +
                                    ", and there is no such component; there are " + names_of(framework));
            }
        }
        return sentences;
    }

    /// From here on PMIX_MCA_<framework> counts for nothing.
    static void set_aside(Framework& framework) {
        framework.restriction.aside = true;
        framework.restriction.names.clear();
        for (Component& component : framework.components) {
            if (component.ruled_out) component.step = Component::Step::Found;
            component.ruled_out = false;
        }
    }

    static Component& add(Framework& framework, const std::string& name, std::string path) {
        const auto has_name = [&](const Component& other) { return other.record.name == name; };
        const auto first = std::ranges::find_if(framework.components, has_name);
        const bool shadowed = first != framework.components.end();
        Component& component = framework.components.emplace_back();
        component.record.framework = framework.name;
        component.record.name = name;
        component.record.path = std::move(path);
        if (shadowed) {
            component.shadowed = true;
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

    /// A file that others can change does not hide one of the same name in a later folder.
    static void use_next(Framework& framework, const Component& passed) {
        for (Component& other : framework.components) {
            if (!other.shadowed || other.record.name != passed.record.name) continue;
            other.shadowed = false;
            other.step = Component::Step::Found;
            return;
        }
    }

    static std::string priority_name(const ComponentRecord& record) {
        return record.framework + "_" + record.name + "_priority";
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
            if (opened.status() == PMIX_ERR_NO_PERMISSIONS) use_next(framework, component);
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

        define({.framework = framework.name,
                .component = descriptor.name,
                .name = "priority",
                .type = ParameterType::Int,
                .default_value = std::to_string(descriptor.priority),
                .help =
                    "Priority: the highest is preferred; a component below 0 is used only when it is named."},
               framework.log);
        record.priority = static_cast<int>(parameters.integer(priority_name(record)));
        component.host = std::make_unique<HostContext>();
        component.host->component = record.name;
        component.host->log = &framework.log;
        component.host->loop = options.loop;
        set_by_attributes(descriptor, options.attributes, parameters);
        for (size_t i = 0; i < descriptor.nparams; ++i) {
            ParameterDefinition definition = definition_of(descriptor, descriptor.params[i]);
            const std::string full_name = definition.full_name();
            define(std::move(definition), framework.log);
            component.host->values.emplace_back(descriptor.params[i].name, parameters.text(full_name));
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
            // Components that are unusable here are common; failures are not.
            const LogLevel level = status == PMIX_ERR_NOT_AVAILABLE ? LogLevel::Info : LogLevel::Error;
            framework.log.write(level, "component %s is %s", record.name.c_str(), record.reason.c_str());
            return;
        }
        made.push_back(&component);
        component.facade = make_facade(framework.name, component.instance, record.name);
        component.step = Component::Step::Made;
        record.chosen = true;
        record.reason = "usable, priority " + std::to_string(record.priority);
        if (const auto view = parameters.view(priority_name(record));
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
        const std::vector<std::string_view> wanted = words_of(only, ',');
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
    add(MUSTER_INSTALLED_COMPONENTS);  // "" if that would be a folder of the build
    const std::string more = parameters.raw("mca_base_component_path").value_or("");
    for (const std::string_view folder : words_of(more, ':'))
        add(std::string(folder));
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
        if (component.step != Component::Step::Made) continue;
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
        for (const std::string& sentence : impl_->passed_over)
            out += "; " + sentence;
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
    impl_->define_all();
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
    static const auto names = [] {
        std::vector<std::string> out;
        for (const Texts& texts : kFrameworks)
            out.emplace_back(texts.name);
        return out;
    }();
    return names;
}

std::vector<Parameters::Unknown> Registry::unknown_parameters() {
    impl_->define_all();
    std::vector<std::string> closed;  // prefixes of names that cannot be checked
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
        return std::ranges::any_of(closed,
                                   [&](const auto& beginning) { return one.name.starts_with(beginning); });
    });
    return unknown;
}

void Registry::warn_unknown_parameters(std::optional<std::string_view> asked) {
    const bool all = impl_->parameters.boolean("mca_base_warn_unknown");
    if (!all && !asked) return;
    const std::vector<std::string_view> names = words_of(asked.value_or(""), ',');
    const auto is_asked = [&](std::string_view name, bool in_file) {
        return all || in_file || contains(names, name);
    };
    const auto counts = [&](const Parameters::Unknown& one) { return is_asked(one.name, one.in_file); };
    Log said("mca");
    said.set_verbosity(static_cast<int>(LogLevel::Warning));
    // Opening all components takes time, and mostly there is nothing to report.
    if (all || std::ranges::any_of(impl_->parameters.unknown(), counts)) {
        for (const Parameters::Unknown& one : unknown_parameters()) {
            if (!counts(one)) continue;
            const std::string meant = one.nearest.empty() ? "" : "; did you mean " + one.nearest + "?";
            said.write(LogLevel::Warning, "nothing knows the parameter %s (%s)%s", one.name.c_str(),
                       one.origin.c_str(), meant.c_str());
        }
    }
    if (!asked) return;
    for (const std::string& complaint : impl_->parameters.complaints())
        said.write(LogLevel::Warning, "%s", complaint.c_str());
    for (Framework& framework : impl_->frameworks) {
        const auto view = impl_->parameters.view(framework.name);
        if (!view || !is_asked(framework.name, is_file(view->source))) continue;
        impl_->list(framework);
        for (const std::string& sentence : Impl::unknown_names(framework))
            said.write(LogLevel::Warning, "%s", sentence.c_str());
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
