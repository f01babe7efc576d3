// SPDX-License-Identifier: BSD-3-Clause
// Parameters: see parameters.hpp. External settings are read once, at construction, and kept by name; a
// definition takes its value from them, under its own name or a former one. Every process defines some dozens
// and reads a few, so that a definition is only recorded: without external settings it allocates little and
// compares hashes.
#include "framework/parameters.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <map>

#include "framework/base/decimal.hpp"
#include "framework/base/install.hpp"
#include "framework/base/mutex.hpp"
#include "framework/base/words.hpp"
#include "framework/parameter_file.hpp"

namespace muster {
namespace {

constexpr std::string_view kPrefix = "PMIX_MCA_";
constexpr const char* kParameterFiles = "PMIX_MCA_mca_base_param_files";

template <class T>
std::optional<T> parse_number(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return std::nullopt;
    }
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
        if (text.starts_with('-')) return std::nullopt;
    }
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<uint64_t> parse_size(std::string_view text) {
    constexpr std::string_view kUnits = "kKmMgG";
    const size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
    const size_t shift = unit == kUnits.npos ? 0 : 10 * (unit / 2 + 1);
    if (shift != 0) text.remove_suffix(1);
    const std::optional<uint64_t> number = parse_number<uint64_t>(text);
    if (!number || *number > (UINT64_MAX >> shift)) return std::nullopt;
    return *number << shift;
}

std::optional<bool> parse_bool(std::string_view text) {
    constexpr std::string_view kYes[] = {"true", "yes", "on", "1", "t", "y", "enabled"};
    constexpr std::string_view kNo[] = {"false", "no", "off", "0", "f", "n", "disabled"};
    const auto lower = [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); };
    const auto is_word = [&](std::string_view word) { return std::ranges::equal(text, word, {}, lower); };
    if (std::ranges::any_of(kYes, is_word)) return true;
    if (std::ranges::any_of(kNo, is_word)) return false;
    return std::nullopt;
}

/// A number of few digits, as nearly all are: exact, and without the C library's tables, which are read from
/// its file into each process.
std::optional<double> parse_short_decimal(std::string_view text) {
    constexpr double kPowers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    if (text.empty() || text.size() > 9 || text.front() == '.') return std::nullopt;
    const size_t point = std::min(text.find('.'), text.size());
    uint32_t digits = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (i == point) continue;
        if (text[i] < '0' || text[i] > '9') return std::nullopt;
        digits = digits * 10 + static_cast<uint32_t>(text[i] - '0');
    }
    const size_t fraction = point == text.size() ? 0 : text.size() - point - 1;
    return digits / kPowers[fraction];
}

std::optional<double> parse_seconds(std::string_view text) {
    if (const std::optional<double> value = parse_short_decimal(text)) return value;
    const std::optional<double> value = read_decimal(text);
    if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
    return value;
}

std::string join(const std::vector<std::string_view>& words) {
    std::string out;
    for (const std::string_view word : words) {
        if (!out.empty()) out += ", ";
        out += word;
    }
    return out;
}

bool fits(const ParameterDefinition& definition, std::string_view value) {
    switch (definition.type) {
        case ParameterType::Int:
            return parse_number<int64_t>(value).has_value();
        case ParameterType::Unsigned:
            return parse_number<uint64_t>(value).has_value();
        case ParameterType::Size:
            return parse_size(value).has_value();
        case ParameterType::Bool:
            return parse_bool(value).has_value();
        case ParameterType::Seconds:
            return parse_seconds(value).has_value();
        case ParameterType::Choice: {
            const auto& choices = definition.choices;
            return std::find(choices.begin(), choices.end(), value) != choices.end();
        }
        case ParameterType::String:
            return true;
    }
    return false;
}

/// Whether values of this type have another form, too, in which they can be given.
bool has_forms(ParameterType type) {
    return type == ParameterType::Size || type == ParameterType::Bool;
}

/// The value in its one form, or nothing when it does not fit the type.
std::optional<std::string> canonical(const ParameterDefinition& definition, const std::string& value) {
    if (!fits(definition, value)) return std::nullopt;
    if (definition.type == ParameterType::Size) return std::to_string(*parse_size(value));
    if (definition.type == ParameterType::Bool) return *parse_bool(value) ? "true" : "false";
    return value;
}

std::string valid_values(const ParameterDefinition& definition) {
    if (definition.type == ParameterType::Choice) return join(definition.choices);
    constexpr const char* kByType[] = {"whole numbers",
                                       "whole numbers from 0",
                                       "numbers of bytes from 0, also with k, m or g",
                                       "true, false, yes, no, on, off, 1, 0",
                                       "any text",
                                       "numbers of seconds from 0, also with a fraction"};
    return kByType[static_cast<size_t>(definition.type)];
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one name into the other.
size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> before(b.size() + 1);
    std::vector<size_t> previous(b.size() + 1);
    std::vector<size_t> current(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j)
        previous[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                current[j] = std::min(current[j], before[j - 2] + 1);
            }
        }
        before.swap(previous);
        previous.swap(current);
    }
    return previous[b.size()];
}

/// HOME of root may be that of the user who became root; files there must not choose what root runs.
bool is_ours(const char* home) {
    struct stat facts {};
    return geteuid() != 0 || (::stat(home, &facts) == 0 && facts.st_uid == 0);
}

std::string home_folder() {
    if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/' && is_ours(home))
        return home;
    std::vector<char> buffer(4096);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return {};
    return found->pw_dir != nullptr && found->pw_dir[0] == '/' ? found->pw_dir : "";
}

struct Given {
    std::string value;
    ParameterSource source = ParameterSource::Default;
    std::string origin;
};

struct Defined {
    Defined(uint32_t name_hash, ParameterDefinition&& what) : hash(name_hash), definition(std::move(what)) {}

    uint32_t hash;  // of the full name
    ParameterDefinition definition;
    std::unique_ptr<Given> given{};  // with the value in its one form; hardly any has one

    std::string value() const {
        if (given) return given->value;
        return canonical(definition, definition.default_value).value_or(definition.default_value);
    }
    ParameterView view() const {
        if (given) return {&definition, given->value, given->source, given->origin};
        return {&definition, value(), ParameterSource::Default, {}};
    }
};

/// The parts of a full name, those that are empty left out, with "_" between them.
template <class Take>
void each_part(const ParameterDefinition& definition, Take&& take) {
    bool first = true;
    for (const std::string_view part : {definition.framework, definition.component, definition.name}) {
        if (part.empty()) continue;
        if (!first) take(std::string_view("_"));
        take(part);
        first = false;
    }
}

/// FNV-1a.
struct NameHash {
    uint32_t value = 2166136261U;
    void operator()(std::string_view part) {
        for (const char c : part)
            value = (value ^ static_cast<unsigned char>(c)) * 16777619U;
    }
};

uint32_t hash_of(std::string_view full_name) {
    NameHash hash;
    hash(full_name);
    return hash.value;
}

bool has_name(const ParameterDefinition& definition, std::string_view full_name) {
    bool same = true;
    each_part(definition, [&](std::string_view part) {
        same = same && full_name.starts_with(part);
        if (same) full_name.remove_prefix(part.size());
    });
    return same && full_name.empty();
}

}  // namespace

std::string ParameterDefinition::full_name() const {
    std::string out;
    each_part(*this, [&](std::string_view part) { out += part; });
    return out;
}

const char* parameter_source_name(ParameterSource source) {
    constexpr const char* kNames[] = {"default", "system file", "user file", "environment", "command line"};
    return kNames[static_cast<size_t>(source)];
}

struct Parameters::Impl {
    mutable Mutex lock;
    std::map<std::string, Given, std::less<>> given MUSTER_GUARDED_BY(lock);
    std::list<std::vector<Defined>> defined
        MUSTER_GUARDED_BY(lock);  // in the order of definition, in vectors that stay where they are
    std::vector<Defined*> by_hash MUSTER_GUARDED_BY(lock);  // the same, one by one
    std::vector<Defined*> renamed MUSTER_GUARDED_BY(lock);  // those that have former names
    std::vector<std::string> complaints MUSTER_GUARDED_BY(lock);

    void take_file(const std::string& path, ParameterSource source, ParameterFileOwner owner)
        MUSTER_REQUIRES(lock) {
        Result<ParameterFile> file = read_parameter_file(path, owner);
        if (!file.ok()) {
            if (file.status() != PMIX_ERR_NOT_FOUND) complaints.push_back(file.error().text);
            return;
        }
        for (ParameterFile::Entry& entry : file->entries) {
            given[entry.name] = {std::move(entry.value), source, path + ":" + std::to_string(entry.line)};
        }
        complaints.insert(complaints.end(), file->complaints.begin(), file->complaints.end());
    }

    void take_environment() MUSTER_REQUIRES(lock) {
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
            const std::string_view text(*entry);
            if (!text.starts_with(kPrefix)) continue;
            const size_t equal = text.find('=');
            if (equal == std::string_view::npos || equal <= kPrefix.size()) continue;
            const std::string name(text.substr(kPrefix.size(), equal - kPrefix.size()));
            const std::string_view value = text.substr(equal + 1);
            if (name.size() > kMaxParameterName || value.size() > kMaxParameterValue) {
                complaints.push_back("the environment variable " + std::string(text.substr(0, 64)) +
                                     "... is too long and is ignored");
                continue;
            }
            given[name] = {std::string(value), ParameterSource::Environment,
                           std::string(text.substr(0, equal))};
        }
    }

    /// Returns the setting of the name or a former one; the strongest source wins, then the present name.
    const Given* find_given(const ParameterDefinition& definition) const MUSTER_REQUIRES(lock) {
        if (given.empty()) return nullptr;
        const Given* best = nullptr;
        const auto consider = [&](std::string_view name) MUSTER_REQUIRES(lock) {
            const auto at = given.find(name);
            if (at != given.end() && (best == nullptr || at->second.source > best->source))
                best = &at->second;
        };
        consider(definition.full_name());
        for (const std::string_view name : definition.former_names)
            consider(name);
        return best;
    }

    /// The first of these hashes and beyond.
    std::vector<Defined*>::const_iterator first_of(uint32_t hash) const MUSTER_REQUIRES(lock) {
        return std::lower_bound(by_hash.begin(), by_hash.end(), hash,
                                [](const Defined* entry, uint32_t wanted) { return entry->hash < wanted; });
    }

    const Defined* find_present(std::string_view full_name) const MUSTER_REQUIRES(lock) {
        const uint32_t hash = hash_of(full_name);
        for (auto at = first_of(hash); at != by_hash.end() && (*at)->hash == hash; ++at) {
            if (has_name((*at)->definition, full_name)) return *at;
        }
        return nullptr;
    }

    const Defined* find(std::string_view full_name) const MUSTER_REQUIRES(lock) {
        if (const Defined* entry = find_present(full_name)) return entry;
        for (const Defined* entry : renamed) {
            const auto& names = entry->definition.former_names;
            if (std::find(names.begin(), names.end(), full_name) != names.end()) return entry;
        }
        return nullptr;
    }

    Defined& add(uint32_t hash, ParameterDefinition&& definition) MUSTER_REQUIRES(lock) {
        constexpr size_t kBlock = 16;
        if (defined.empty() || defined.back().size() == kBlock) defined.emplace_back().reserve(kBlock);
        Defined& entry = defined.back().emplace_back(hash, std::move(definition));
        if (!entry.definition.former_names.empty()) renamed.push_back(&entry);
        return entry;
    }

    /// Returns the result of `read` for the value's text, which is valid if the parameter is of `type`, or
    /// for an empty text if there is no such parameter.
    template <class Read>
    auto read(std::string_view full_name, ParameterType type, Read&& read) const {
        const MutexLock guard(lock);
        const Defined* entry = find(full_name);
        if (entry == nullptr) return read(std::string_view());
        if (entry->given) return read(std::string_view(entry->given->value));
        if (entry->definition.type != type && has_forms(entry->definition.type))
            return read(std::string_view(entry->value()));
        return read(std::string_view(entry->definition.default_value));
    }

    /// In the order of their names.
    std::vector<std::pair<std::string, const Defined*>> sorted() const MUSTER_REQUIRES(lock) {
        std::vector<std::pair<std::string, const Defined*>> out;
        for (const Defined* entry : by_hash)
            out.emplace_back(entry->definition.full_name(), entry);
        std::sort(out.begin(), out.end());
        return out;
    }

    std::string nearest(std::string_view name) const MUSTER_REQUIRES(lock) {
        std::string best;
        // A third of the letters may be wrong; more is another word.
        size_t limit = std::max<size_t>(2, name.size() / 3);
        for (const auto& [known, entry] : sorted()) {
            const size_t difference =
                known.size() > name.size() ? known.size() - name.size() : name.size() - known.size();
            if (difference > limit) continue;
            const size_t distance = edit_distance(name, known);
            if (distance < limit || (distance == limit && best.empty())) {
                best = known;
                limit = distance;
            }
        }
        return best;
    }
};

Parameters::Sources Parameters::Sources::standard() {
    Sources sources;
    sources.privileged = process_is_privileged();
    sources.environment = !sources.privileged;
    const InstallPaths& paths = install_paths();
    if (!paths.system_parameter_file.empty()) sources.files.push_back(paths.system_parameter_file);
    if (sources.privileged) return sources;
    if (const char* list = std::getenv(kParameterFiles); list != nullptr) {
        sources.files.clear();
        if (std::strcmp(list, "none") == 0) return sources;
        const auto strongest_first = words_of(list, ',');
        sources.user_files.assign(strongest_first.rbegin(), strongest_first.rend());
        return sources;
    }
    if (const std::string home = home_folder(); !home.empty()) {
        sources.user_files.push_back(home + "/.pmix/mca-params.conf");
    }
    return sources;
}

Parameters::Parameters(Sources sources) : impl_(std::make_unique<Impl>()) {
    for (const std::string& path : sources.files) {
        impl_->take_file(path, ParameterSource::SystemFile,
                         sources.privileged ? ParameterFileOwner::Root : ParameterFileOwner::Trusted);
    }
    if (!sources.privileged) {
        for (const std::string& path : sources.user_files)
            impl_->take_file(path, ParameterSource::UserFile, ParameterFileOwner::Anyone);
        if (sources.environment) impl_->take_environment();
    }
    for (auto& [name, value] : sources.program)
        set(name, std::move(value));
    // Read by Sources::standard() already; defined so that it is known and shown.
    (void)define(
        {.framework = "mca",
         .component = "base",
         .name = "param_files",
         .help = "Files of parameters to read in place of the usual ones: a comma list, strongest first, or "
                 "none; only from the environment."});
    (void)define({.framework = "mca",
                  .component = "base",
                  .name = "warn_unknown",
                  .type = ParameterType::Bool,
                  .default_value = "false",
                  .help = "List, once, the parameters that are set and unknown."});
}

Parameters::~Parameters() = default;

Result<void> Parameters::define(ParameterDefinition definition) {
    NameHash hash;
    each_part(definition, hash);
    const MutexLock guard(impl_->lock);
    auto at = impl_->first_of(hash.value);
    for (; at != impl_->by_hash.end() && (*at)->hash == hash.value; ++at) {
        if (has_name((*at)->definition, definition.full_name())) return {};
    }
    Defined& entry = impl_->add(hash.value, std::move(definition));
    impl_->by_hash.insert(at, &entry);
    const ParameterDefinition& kept = entry.definition;

    const Given* given = impl_->find_given(kept);
    if (given == nullptr) {
        if (fits(kept, kept.default_value)) return {};
        return Error{PMIX_ERR_BAD_PARAM, "the default of parameter " + kept.full_name() + ", \"" +
                                             kept.default_value + "\", does not fit its type"};
    }
    if (std::optional<std::string> value = canonical(kept, given->value)) {
        entry.given = std::make_unique<Given>(Given{std::move(*value), given->source, given->origin});
        return {};
    }
    Error error{PMIX_ERR_BAD_PARAM, "parameter " + kept.full_name() + " cannot be \"" + given->value +
                                        "\" (" + given->origin + "); valid are " + valid_values(kept) +
                                        "; \"" + kept.default_value + "\" is used"};
    impl_->complaints.push_back(error.text);
    return error;
}

void Parameters::set(const std::string& full_name, std::string value) {
    const MutexLock guard(impl_->lock);
    impl_->given[full_name] = {std::move(value), ParameterSource::Program, "command line"};
}

std::optional<std::string> Parameters::raw(std::string_view full_name) const {
    const MutexLock guard(impl_->lock);
    if (const Defined* entry = impl_->find(full_name)) return entry->value();
    const auto at = impl_->given.find(full_name);
    if (at == impl_->given.end()) return std::nullopt;
    return at->second.value;
}

std::vector<std::string> Parameters::given() const {
    const MutexLock guard(impl_->lock);
    std::vector<std::string> names;
    for (const auto& [name, value] : impl_->given)
        names.push_back(name);
    return names;
}

std::optional<ParameterView> Parameters::view(std::string_view full_name) const {
    const MutexLock guard(impl_->lock);
    const Defined* entry = impl_->find(full_name);
    return entry != nullptr ? std::optional(entry->view()) : std::nullopt;
}

std::string Parameters::text(std::string_view full_name) const {
    const MutexLock guard(impl_->lock);
    const Defined* entry = impl_->find(full_name);
    return entry == nullptr ? std::string() : entry->value();
}

int64_t Parameters::integer(std::string_view full_name) const {
    return impl_->read(full_name, ParameterType::Int, parse_number<int64_t>).value_or(0);
}

uint64_t Parameters::size(std::string_view full_name) const {
    return impl_->read(full_name, ParameterType::Size, parse_size).value_or(0);
}

bool Parameters::boolean(std::string_view full_name) const {
    return impl_->read(full_name, ParameterType::Bool, parse_bool).value_or(false);
}

double Parameters::seconds(std::string_view full_name) const {
    return impl_->read(full_name, ParameterType::Seconds, parse_seconds).value_or(0);
}

std::vector<ParameterView> Parameters::all() const {
    const MutexLock guard(impl_->lock);
    std::vector<ParameterView> out;
    out.reserve(impl_->by_hash.size());
    for (const auto& [name, entry] : impl_->sorted())
        out.push_back(entry->view());
    return out;
}

std::vector<Parameters::Unknown> Parameters::unknown() const {
    const MutexLock guard(impl_->lock);
    std::vector<Unknown> out;
    for (const auto& [name, given] : impl_->given) {
        if (impl_->find(name) == nullptr)
            out.push_back({name, given.origin, impl_->nearest(name), is_file(given.source)});
    }
    return out;
}

std::vector<std::string> Parameters::complaints() const {
    const MutexLock guard(impl_->lock);
    return impl_->complaints;
}

}  // namespace muster
