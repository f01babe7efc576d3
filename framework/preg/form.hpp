// SPDX-License-Identifier: BSD-3-Clause
// Components of preg as C++ classes: the base that the forms share, and the operations of pmix/sdk/preg.h
// that call them. No exception crosses; the host allocates the results. A class has
//   pmix_status_t generate_nodes(std::string_view list, const Output& out);   // and generate_ppn
//   pmix_status_t parse_nodes(std::string_view regex, const muster_preg_name_row_sink_t& sink);
//   pmix_status_t parse_ppn(std::string_view regex, const muster_preg_rank_row_sink_t& sink);
// The row() of a sink may be null.
#pragma once

#include <pmix/sdk/preg.h>

#include <algorithm>
#include <concepts>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "framework/base/own_component.hpp"
#include "framework/preg/name_list.hpp"
#include "framework/preg/plain_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster::preg {

/// The parameter of all forms.
inline constexpr muster_param_t kMaxEntries = {
    "max_entries",
    MUSTER_PARAM_UNSIGNED,
    "4194304",
    "entries",
    "Names or ranks that one expression may stand for; one that stands for more is refused.",
    nullptr,
    nullptr};

class Form {
  public:
    explicit Form(sdk::Host host) : host_(host), limit_(number("max_entries", kDefaultLimit)) {}
    const muster_host_t& host() const { return *host_.table(); }

  protected:
    size_t limit() const { return limit_; }
    /// A parameter of the component as a number, or `fallback` if it is not a number.
    size_t number(const char* name, size_t fallback) const {
        const char* text = host().parameter(host().context, name);
        const unsigned long long value = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
        return value == 0 ? fallback : static_cast<size_t>(value);
    }

  private:
    sdk::Host host_;
    size_t limit_;
};

/// Where a form is written: one block of the host's, once, as a map of many nodes is mostly new memory.
class Output {
  public:
    Output(const muster_host_t& host, char** result, size_t* size)
        : host_(host), result_(result), size_(size) {}
    /// The parts one after the other. @return PMIX_SUCCESS; PMIX_ERR_NOMEM
    pmix_status_t write(std::initializer_list<std::string_view> parts) const {
        size_t size = 0;
        for (const std::string_view part : parts)
            size += part.size();
        char* at = static_cast<char*>(host_.allocate(host_.context, size));
        if (at == nullptr) return PMIX_ERR_NOMEM;
        *result_ = at;
        *size_ = size;
        for (const std::string_view part : parts)
            at = std::copy(part.begin(), part.end(), at);
        return PMIX_SUCCESS;
    }

  private:
    const muster_host_t& host_;
    char** const result_;
    size_t* const size_;
};

/// The end of a text.
inline constexpr std::string_view kTerminator{"\0", 1};

/// Whether lists are written in this form, and not only read.
template <class Codec>
concept WritesLists = requires(const Codec& codec, std::string_view list, const Output& out) {
    { codec.wanted() } -> std::same_as<bool>;
    { codec.wrap(list, out) } -> std::same_as<pmix_status_t>;
};

/// A form that holds the plain list, of nodes and of ranks alike, which OpenPMIx reads. `Codec` has
///   pmix_status_t unwrap(std::string_view& text, std::string& space) const;
/// which turns the form into the list and may put it into `space`; and where it writes lists
///   bool wanted() const;
///   pmix_status_t wrap(std::string_view list, const Output& out) const;
template <class Codec>
class ListForm : public Form {
  public:
    using Form::Form;

    pmix_status_t generate_nodes(std::string_view list, const Output& out) requires WritesLists<Codec> {
        std::string space;
        if (!self().wanted()) return PMIX_ERR_NOT_SUPPORTED;
        return self().wrap(plain_names(list, limit(), space), out);
    }
    pmix_status_t generate_ppn(std::string_view list, const Output& out) requires WritesLists<Codec> {
        std::string space;
        if (!self().wanted()) return PMIX_ERR_NOT_SUPPORTED;
        return self().wrap(plain_ranks(list, limit(), space), out);
    }
    pmix_status_t parse_nodes(std::string_view text, const muster_preg_name_row_sink_t& sink) {
        std::string space;
        const pmix_status_t status = self().unwrap(text, space);
        return status == PMIX_SUCCESS ? parse_names(text, limit(), sink) : status;
    }
    pmix_status_t parse_ppn(std::string_view text, const muster_preg_rank_row_sink_t& sink) {
        std::string space;
        const pmix_status_t status = self().unwrap(text, space);
        return status == PMIX_SUCCESS ? parse_ranks(text, limit(), sink) : status;
    }

  private:
    Codec& self() { return static_cast<Codec&>(*this); }
};

template <class T>
void fill_preg(muster_preg_t& table) {
    // Without these functions a component only reads.
    if constexpr (requires(T & of, const Output& out) { of.generate_nodes(std::string_view(), out); }) {
        table.generate_nodes = [](void* form, const char* list, size_t length, char** result, size_t* size) {
            return call_on<T>(form, [&](T& of) {
                return of.generate_nodes({list, length}, Output(of.host(), result, size));
            });
        };
        table.generate_ppn = [](void* form, const char* list, size_t length, char** result, size_t* size) {
            return call_on<T>(form, [&](T& of) {
                return of.generate_ppn({list, length}, Output(of.host(), result, size));
            });
        };
    }
    table.parse_nodes = [](void* form, const char* text, size_t size, const muster_preg_name_sink_t* sink) {
        return call_on<T>(form, [&](T& of) { return of.parse_nodes({text, size}, {*sink, nullptr}); });
    };
    table.parse_ppn = [](void* form, const char* text, size_t size, const muster_preg_rank_sink_t* sink) {
        return call_on<T>(form, [&](T& of) { return of.parse_ppn({text, size}, {*sink, nullptr}); });
    };
    table.parse_node_rows = [](void* form, const char* text, size_t size,
                               const muster_preg_name_row_sink_t* sink) {
        return call_on<T>(form, [&](T& of) { return of.parse_nodes({text, size}, *sink); });
    };
    table.parse_ppn_rows = [](void* form, const char* text, size_t size,
                              const muster_preg_rank_row_sink_t* sink) {
        return call_on<T>(form, [&](T& of) { return of.parse_ppn({text, size}, *sink); });
    };
}

/// The descriptor of a preg component that is made of T.
template <class T>
muster_component_t form_component(const sdk::Identity& identity) {
    return sdk::descriptor<T, muster_preg_t, fill_preg<T>>("preg", MUSTER_PREG_INTERFACE, identity);
}

/// Takes `tag` off the front, and a terminator off the end; false where `regex` does not begin with the tag.
inline bool strip_tag(std::string_view& regex, std::string_view tag) {
    if (!regex.starts_with(tag)) return false;
    regex.remove_prefix(tag.size());
    if (!regex.empty() && regex.front() == '\0')
        regex.remove_prefix(1);  // "pmix:" NUL, as later texts write it
    if (!regex.empty() && regex.back() == '\0') regex.remove_suffix(1);
    return true;
}

}  // namespace muster::preg
