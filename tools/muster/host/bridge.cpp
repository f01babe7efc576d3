// SPDX-License-Identifier: BSD-3-Clause
// Reading what upcalls are given, and bringing it into a form that can be sent.
#include "tools/muster/host/bridge.hpp"

#include <pmix.h>

#include <cstdlib>
#include <cstring>

namespace muster::launcher {
namespace {

Bridge* the_bridge = nullptr;

}  // namespace

Bridge& bridge() {
    return *the_bridge;
}

void set_bridge(Bridge& node) {
    the_bridge = &node;
}

ProcName name_of(const pmix_proc_t& proc) {
    return {std::string(proc.nspace, strnlen(proc.nspace, PMIX_MAX_NSLEN)), proc.rank};
}

std::vector<ProcName> names_of(const pmix_proc_t procs[], size_t count) {
    std::vector<ProcName> names;
    for (size_t i = 0; procs != nullptr && i < count; ++i)
        names.push_back(name_of(procs[i]));
    return names;
}

pmix_proc_t to_pmix(const ProcName& name) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, name.nspace.c_str(), name.rank);
    return proc;
}

std::optional<int64_t> integer_of(const pmix_value_t& value) {
    switch (value.type) {
        case PMIX_INT:
            return value.data.integer;
        case PMIX_INT8:
            return value.data.int8;
        case PMIX_INT16:
            return value.data.int16;
        case PMIX_INT32:
            return value.data.int32;
        case PMIX_INT64:
            return value.data.int64;
        case PMIX_UINT:
            return value.data.uint;
        case PMIX_UINT8:
            return value.data.uint8;
        case PMIX_UINT16:
            return value.data.uint16;
        case PMIX_UINT32:
            return value.data.uint32;
        case PMIX_UINT64:
            return static_cast<int64_t>(value.data.uint64);
        case PMIX_SIZE:
            return static_cast<int64_t>(value.data.size);
        case PMIX_PROC_RANK:
            return value.data.rank;
        case PMIX_STATUS:
            return value.data.status;
        case PMIX_DATA_RANGE:
            return value.data.range;
        case PMIX_PERSIST:
            return value.data.persist;
        default:
            return std::nullopt;
    }
}

bool is_true(const pmix_info_t& info) {
    if (info.value.type == PMIX_UNDEF) return true;
    if (info.value.type == PMIX_BOOL) return info.value.data.flag;
    if (info.value.type == PMIX_STRING) {
        const std::string text = text_of(info.value);
        return text.empty() || text[0] == 't' || text[0] == 'T' || text[0] == '1' || text[0] == 'y';
    }
    return integer_of(info.value).value_or(0) != 0;
}

std::string text_of(const pmix_value_t& value) {
    if (value.type == PMIX_STRING) return value.data.string != nullptr ? value.data.string : "";
    if (value.type == PMIX_PROC_NSPACE && value.data.nspace != nullptr)
        return {*value.data.nspace, strnlen(*value.data.nspace, PMIX_MAX_NSLEN)};
    return {};
}

const pmix_info_t* find_info(const pmix_info_t info[], size_t count, const char* key) {
    for (size_t i = 0; info != nullptr && i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], key)) return &info[i];
    }
    return nullptr;
}

std::vector<ProcName> targets_of(const pmix_info_t info[], size_t count) {
    const pmix_info_t* custom = find_info(info, count, PMIX_EVENT_CUSTOM_RANGE);
    if (custom == nullptr) return {};
    if (custom->value.type == PMIX_PROC && custom->value.data.proc != nullptr)
        return {name_of(*custom->value.data.proc)};
    if (custom->value.type == PMIX_DATA_ARRAY && custom->value.data.darray != nullptr &&
        custom->value.data.darray->type == PMIX_PROC) {
        return names_of(static_cast<const pmix_proc_t*>(custom->value.data.darray->array),
                        custom->value.data.darray->size);
    }
    return {};
}

std::optional<uint32_t> timeout_of(const pmix_info_t info[], size_t count) {
    const pmix_info_t* found = find_info(info, count, PMIX_TIMEOUT);
    if (found == nullptr) return 0;
    const std::optional<int64_t> value = integer_of(found->value);
    if (!value || *value < 0 || *value > INT32_MAX) return std::nullopt;
    return static_cast<uint32_t>(*value);
}

Bridge::Done done_op(pmix_op_cbfunc_t callback, void* data) {
    return [callback, data](pmix_status_t status, std::string_view) {
        if (callback != nullptr) callback(status, data);
    };
}

std::string packed(const void* elements, size_t count, pmix_data_type_t type) {
    std::string text;
    if (count == 0 || elements == nullptr) return text;
    pmix_data_buffer_t buffer;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    auto number = static_cast<uint64_t>(count);
    if (PMIx_Data_pack(nullptr, &buffer, &number, 1, PMIX_UINT64) == PMIX_SUCCESS &&
        PMIx_Data_pack(nullptr, &buffer, const_cast<void*>(elements), static_cast<int32_t>(count), type) ==
            PMIX_SUCCESS) {
        pmix_byte_object_t bytes{};
        if (PMIx_Data_unload(&buffer, &bytes) == PMIX_SUCCESS) {
            text.assign(bytes.bytes, bytes.size);
            free(bytes.bytes);
        }
    }
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    return text;
}

UnpackedInfo::UnpackedInfo(std::string_view bytes) {
    if (bytes.empty()) {
        ok_ = true;
        return;
    }
    pmix_data_buffer_t buffer;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    pmix_byte_object_t object{};
    object.size = bytes.size();
    object.bytes = static_cast<char*>(malloc(bytes.size()));
    if (object.bytes == nullptr) throw std::bad_alloc();
    std::memcpy(object.bytes, bytes.data(), bytes.size());
    uint64_t number = 0;
    int32_t one = 1;
    // An element takes at least a byte.
    if (PMIx_Data_load(&buffer, &object) == PMIX_SUCCESS &&
        PMIx_Data_unpack(nullptr, &buffer, &number, &one, PMIX_UINT64) == PMIX_SUCCESS &&
        number <= bytes.size()) {
        data_ = static_cast<pmix_info_t*>(calloc(number, sizeof(pmix_info_t)));
        auto count = static_cast<int32_t>(number);
        if (data_ != nullptr &&
            PMIx_Data_unpack(nullptr, &buffer, data_, &count, PMIX_INFO) == PMIX_SUCCESS) {
            size_ = static_cast<size_t>(count);
            ok_ = true;
        }
    }
    free(object.bytes);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
}

UnpackedInfo::~UnpackedInfo() {
    for (size_t i = 0; i < size_; ++i)
        PMIX_INFO_DESTRUCT(&data_[i]);
    free(data_);
}

}  // namespace muster::launcher
