// SPDX-License-Identifier: BSD-3-Clause
// Makes the C operations of pmix/sdk/preg.h from a C++ class that knows one form: no exception crosses,
// results are allocated by the host. The class has
//   pmix_status_t generate_nodes(std::string_view list, std::string& out);   // and generate_ppn
//   pmix_status_t parse_nodes(std::string_view regex, const muster_preg_name_row_sink_t& sink);
//   pmix_status_t parse_ppn(std::string_view regex, const muster_preg_rank_row_sink_t& sink);
// where the sinks' row() may be null,
// and a constructor from `const muster_host_t*`.
#pragma once

#include <pmix/sdk/preg.h>

#include <cstring>
#include <new>
#include <string>
#include <string_view>

namespace muster::preg {

template <class Form>
class Adapter {
  public:
    static pmix_status_t create(const muster_host_t* host, void** instance, char* /*reason*/) {
        auto* adapter = new (std::nothrow) Adapter(host);
        if (adapter == nullptr) return PMIX_ERR_NOMEM;
        // The table is the first member, and its context leads back.
        *instance = &adapter->operations_;
        return PMIX_SUCCESS;
    }
    static void destroy(void* instance) {
        delete static_cast<Adapter*>(static_cast<muster_preg_t*>(instance)->context);
    }

  private:
    explicit Adapter(const muster_host_t* host) : host_(host), form_(host) {
        operations_.struct_size = sizeof operations_;
        operations_.context = this;
        operations_.generate_nodes = [](void* context, const char* list, size_t length, char** result,
                                        size_t* size) {
            return generate(context, &Form::generate_nodes, {list, length}, result, size);
        };
        operations_.generate_ppn = [](void* context, const char* list, size_t length, char** result,
                                      size_t* size) {
            return generate(context, &Form::generate_ppn, {list, length}, result, size);
        };
        operations_.parse_nodes = [](void* context, const char* regex, size_t size,
                                     const muster_preg_name_sink_t* sink) {
            return parse(context, &Form::parse_nodes, {regex, size},
                         muster_preg_name_row_sink_t{*sink, nullptr});
        };
        operations_.parse_ppn = [](void* context, const char* regex, size_t size,
                                   const muster_preg_rank_sink_t* sink) {
            return parse(context, &Form::parse_ppn, {regex, size},
                         muster_preg_rank_row_sink_t{*sink, nullptr});
        };
        operations_.parse_node_rows = [](void* context, const char* regex, size_t size,
                                         const muster_preg_name_row_sink_t* sink) {
            return parse(context, &Form::parse_nodes, {regex, size}, *sink);
        };
        operations_.parse_ppn_rows = [](void* context, const char* regex, size_t size,
                                        const muster_preg_rank_row_sink_t* sink) {
            return parse(context, &Form::parse_ppn, {regex, size}, *sink);
        };
    }

    static pmix_status_t generate(void* context, pmix_status_t (Form::*make)(std::string_view, std::string&),
                                  std::string_view list, char** result, size_t* size) {
        auto* self = static_cast<Adapter*>(context);
        try {
            std::string out;
            const pmix_status_t status = (self->form_.*make)(list, out);
            if (status != PMIX_SUCCESS) return status;
            void* block = self->host_->allocate(self->host_->context, out.size());
            if (block == nullptr) return PMIX_ERR_NOMEM;
            std::memcpy(block, out.data(), out.size());
            *result = static_cast<char*>(block);
            *size = out.size();
            return PMIX_SUCCESS;
        } catch (const std::bad_alloc&) {
            return PMIX_ERR_NOMEM;
        }
    }

    template <class Sink>
    static pmix_status_t parse(void* context, pmix_status_t (Form::*read)(std::string_view, const Sink&),
                               std::string_view regex, const Sink& sink) {
        try {
            return (static_cast<Adapter*>(context)->form_.*read)(regex, sink);
        } catch (const std::bad_alloc&) {
            return PMIX_ERR_NOMEM;
        }
    }

    muster_preg_t operations_ = {};
    const muster_host_t* host_;
    Form form_;
};

/// A parameter of the component as a number, or `fallback` where it is none.
inline size_t number_parameter(const muster_host_t* host, const char* name, size_t fallback) {
    const char* text = host->parameter(host->context, name);
    if (text == nullptr) return fallback;
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    return end == text || value == 0 ? fallback : static_cast<size_t>(value);
}

/// What is left of `regex` behind `tag`, without a terminator; nothing when it does not begin so.
inline bool strip_tag(std::string_view& regex, std::string_view tag) {
    if (!regex.starts_with(tag)) return false;
    regex.remove_prefix(tag.size());
    if (!regex.empty() && regex.front() == '\0')
        regex.remove_prefix(1);  // "pmix:" NUL, as later texts write it
    if (!regex.empty() && regex.back() == '\0') regex.remove_suffix(1);
    return true;
}

}  // namespace muster::preg
