// SPDX-License-Identifier: BSD-3-Clause
// The layout of every data type on the wire, defined once for both directions: each function here is
// instantiated for the Encoder and for the Decoder, which have the same members. An element of a type is its
// members in the order given here, or else in that of the table of data types; a run is the elements of an
// item or an array, one after the other.
//
// OpenPMIx's library is the authority for the order. If its writer and reader differ (PROC_STATS), the layout
// follows the reader.
#pragma once

#include <pmix_common.h>
#include <pmix_deprecated.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "framework/base/data_type.hpp"
#include "framework/base/unaligned.hpp"
#include "framework/bfrops.hpp"

namespace muster::v41 {

/// An element as the coder sees it: the Encoder reads memory, the Decoder writes it.
template <class Coder, class T>
using As = std::conditional_t<Coder::kReadsMemory, const T, T>;

/// An element of type T, const for the Encoder.
template <class Element, class T>
concept Of = std::same_as<std::remove_const_t<Element>, T>;

bool element(auto& c, Of<pmix_proc_t> auto& v) {
    return c.name(v.nspace) && c.number(v.rank);
}
bool element(auto& c, Of<pmix_value_t> auto& v) {
    return c.value(v);
}
bool element(auto& c, Of<pmix_info_t> auto& v) {
    return c.name(v.key) && c.info_flags(v) && c.value(v.value);
}
bool element(auto& c, Of<pmix_byte_object_t> auto& v) {
    return c.bytes(v.bytes, v.size);
}
bool element(auto& c, Of<pmix_data_buffer_t> auto& v) {
    return c.data_buffer(v);
}
bool element(auto& c, Of<pmix_data_array_t> auto& v) {
    return c.data_array(v);
}
// Without the exit code: no version carries it.
bool element(auto& c, Of<pmix_proc_info_t> auto& v) {
    return element(c, v.proc) && c.text(v.hostname) && c.text(v.executable_name) && c.pid(v.pid) &&
           c.number(v.state);
}
bool element(auto& c, Of<timeval> auto& v) {
    return c.number(v.tv_sec) && c.number(v.tv_usec);
}
// Without the share of the processor: no version carries it.
bool element(auto& c, Of<pmix_proc_stats_t> auto& v) {
    return c.text(v.node) && element(c, v.proc) && c.pid(v.pid) && c.text(v.cmd) && c.number(v.state) &&
           element(c, v.time) && c.number(v.priority) && c.signed_number(v.num_threads) && c.real(v.pss) &&
           c.real(v.vsize) && c.real(v.rss) && c.real(v.peak_vsize) && c.signed_number(v.processor) &&
           element(c, v.sample_time);
}
bool element(auto& c, Of<pmix_cpuset_t> auto& v) {
    return c.cpuset(v);
}
bool element(auto& c, Of<pmix_topology_t> auto& v) {
    return c.topology(v);
}
bool element(auto& c, Of<pmix_nspace_t> auto& v) {
    return c.name(v);
}
bool element(auto& c, Of<float> auto& v) {
    return c.real(v);
}
bool element(auto& c, Of<double> auto& v) {
    return c.real(v);
}
bool element(auto& c, Of<KeyValue> auto& v) {
    return c.text(v.key) && c.value(v.value);
}
bool element(auto& c, Of<PackedBuffer> auto& v) {
    return c.buffer_type(v.type) && c.bytes(v.content.bytes, v.content.size);
}

template <class T, class C>
bool each(C& c, As<C, void>* elements, std::size_t n) {
    auto* element_at = static_cast<As<C, T>*>(elements);
    for (std::size_t i = 0; i < n; ++i) {
        if (!element(c, element_at[i])) return false;
    }
    return true;
}

template <class C>
bool run(C& c, As<C, void>* elements, std::size_t n, pmix_data_type_t type);

/// A struct whose members are on the wire in the form described by the table of data types.
template <class C>
bool members(C& c, As<C, void>* element, const DataType& type) {
    for (const Field& field : type.fields) {
        As<C, void>* member = at(element, field.offset);
        bool good = false;
        switch (field.form) {
            case FieldForm::kMember:
                good = run(c, member, 1, field.type);
                break;
            case FieldForm::kKey:
                good = c.name(*static_cast<As<C, pmix_key_t>*>(member));
                break;
            case FieldForm::kArgv:
                good = c.texts(*static_cast<As<C, char**>*>(member));
                break;
            case FieldForm::kArray:
                good = c.array(member, at(element, field.count_offset), field.type);
                break;
        }
        if (!good) return false;
    }
    return true;
}

/// A run of `n` elements of any type. PMIX_REGEX is char* here; values and data arrays, which hold it as a
/// byte object, handle it themselves.
template <class C>
bool run(C& c, As<C, void>* elements, std::size_t n, pmix_data_type_t type) {
    switch (type) {
        case PMIX_BOOL:
            return c.booleans(elements, n);
        case PMIX_BYTE:
        case PMIX_INT8:
        case PMIX_UINT8:
        case PMIX_PERSIST:
        case PMIX_SCOPE:
        case PMIX_DATA_RANGE:
        case PMIX_COMMAND:
        case PMIX_PROC_STATE:
        case PMIX_ALLOC_DIRECTIVE:
        case PMIX_JOB_STATE:
        case PMIX_LINK_STATE:
        case PMIX_RESBLOCK_DIRECTIVE:
        case PMIX_ALLOC_INHERIT:
            return c.raw(elements, n);
        case PMIX_UINT16:
        case PMIX_DATA_TYPE:
        case PMIX_IOF_CHANNEL:
        case PMIX_LOCTYPE:
        case PMIX_STOR_ACCESS_TYPE:
            return c.template numbers<uint16_t>(elements, n);
        case PMIX_UINT32:
        case PMIX_INFO_DIRECTIVES:
        case PMIX_PROC_RANK:
            return c.template numbers<uint32_t>(elements, n);
        case PMIX_SIZE:
        case PMIX_UINT64:
        case PMIX_TIME:
        case PMIX_DEVTYPE:
        case PMIX_STOR_MEDIUM:
        case PMIX_STOR_ACCESS:
        case PMIX_STOR_PERSIST:
            return c.template numbers<uint64_t>(elements, n);
        case PMIX_INT16:
            return c.template numbers<int16_t>(elements, n);
        case PMIX_INT:
        case PMIX_INT32:
        case PMIX_STATUS:
        // unsigned int travels as if it had a sign.
        case PMIX_UINT:
            return c.template numbers<int32_t>(elements, n);
        case PMIX_INT64:
            return c.template numbers<int64_t>(elements, n);
        case PMIX_PID:
            return c.pids(elements, n);
        case PMIX_POINTER:
            return c.pointers(elements, n);
        case PMIX_FLOAT:
            return each<float>(c, elements, n);
        case PMIX_DOUBLE:
            return each<double>(c, elements, n);
        case PMIX_STRING:
            return c.strings(elements, n);
        case PMIX_REGEX:
            return c.regexes(elements, n);
        case PMIX_TIMEVAL:
            return each<timeval>(c, elements, n);
        case PMIX_VALUE:
            return each<pmix_value_t>(c, elements, n);
        case PMIX_PROC:
            return each<pmix_proc_t>(c, elements, n);
        case PMIX_PROC_NSPACE:
            return each<pmix_nspace_t>(c, elements, n);
        case PMIX_INFO:
            return each<pmix_info_t>(c, elements, n);
        case PMIX_BYTE_OBJECT:
        case PMIX_COMPRESSED_STRING:
        case PMIX_COMPRESSED_BYTE_OBJECT:
            return each<pmix_byte_object_t>(c, elements, n);
        case PMIX_DATA_BUFFER:
            return each<pmix_data_buffer_t>(c, elements, n);
        case PMIX_DATA_ARRAY:
            return each<pmix_data_array_t>(c, elements, n);
        case PMIX_PROC_INFO:
            return each<pmix_proc_info_t>(c, elements, n);
        case PMIX_PROC_STATS:
            return each<pmix_proc_stats_t>(c, elements, n);
        case PMIX_PROC_CPUSET:
            return each<pmix_cpuset_t>(c, elements, n);
        case PMIX_TOPO:
            return each<pmix_topology_t>(c, elements, n);
        default:
            break;
    }
    const DataType* described = find_data_type(type);
    if (described == nullptr || described->form != TypeForm::kStruct)
        return c.fail(PMIX_ERR_UNKNOWN_DATA_TYPE);
    for (std::size_t i = 0; i < n; ++i) {
        if (!members(c, at(elements, i * described->size), *described)) return false;
    }
    return true;
}

}  // namespace muster::v41
