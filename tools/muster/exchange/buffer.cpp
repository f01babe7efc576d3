// SPDX-License-Identifier: BSD-3-Clause
// Packing and unpacking through the public API.
#include "tools/muster/exchange/buffer.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace muster::launcher {

ProcName name_of(const pmix_proc_t& proc) {
    return {std::string(proc.nspace, strnlen(proc.nspace, PMIX_MAX_NSLEN)), proc.rank};
}

pmix_proc_t to_pmix(const ProcName& name) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, name.nspace.c_str(), name.rank);
    return proc;
}

std::vector<pmix_proc_t> to_pmix(const std::vector<ProcName>& names) {
    std::vector<pmix_proc_t> procs;
    for (const ProcName& name : names)
        procs.push_back(to_pmix(name));
    return procs;
}

Buffer::Buffer(std::string_view bytes) {
    if (bytes.empty()) return;
    const pmix_byte_object_t object{const_cast<char*>(bytes.data()), bytes.size()};  // only read
    if (PMIx_Data_embed(&buffer_, &object) != PMIX_SUCCESS) throw std::bad_alloc();
}

Buffer::Buffer(Bytes bytes) noexcept {
    pmix_byte_object_t object{nullptr, bytes.size()};
    object.bytes = bytes.release();
    PMIx_Data_load(&buffer_, &object);
}

std::string_view Buffer::rest() const {
    if (buffer_.base_ptr == nullptr) return {};
    return {buffer_.unpack_ptr,
            static_cast<size_t>(buffer_.base_ptr + buffer_.bytes_used - buffer_.unpack_ptr)};
}

void Buffer::put_item(const void* value, pmix_data_type_t type) {
    ok_ = ok_ && PMIx_Data_pack(nullptr, &buffer_, const_cast<void*>(value), 1, type) == PMIX_SUCCESS;
}

void Buffer::put_text(std::string_view text) {
    const pmix_byte_object_t object{const_cast<char*>(text.data()), text.size()};
    put_item(&object, PMIX_BYTE_OBJECT);
}

Buffer& Buffer::pack_array(const void* elements, size_t count, pmix_data_type_t type) {
    put(static_cast<uint64_t>(count));
    if (count == 0) return *this;
    ok_ = ok_ && count <= INT32_MAX &&
          PMIx_Data_pack(nullptr, &buffer_, const_cast<void*>(elements), static_cast<int32_t>(count), type) ==
              PMIX_SUCCESS;
    return *this;
}

size_t Buffer::unpack_array(void* elements, size_t room, pmix_data_type_t type) {
    auto count = static_cast<int32_t>(room);
    ok_ = ok_ && PMIx_Data_unpack(nullptr, &buffer_, elements, &count, type) == PMIX_SUCCESS;
    return ok_ ? static_cast<size_t>(count) : 0;
}

void Buffer::get_item(void* value, pmix_data_type_t type) {
    int32_t one = 1;
    ok_ = ok_ && PMIx_Data_unpack(nullptr, &buffer_, value, &one, type) == PMIX_SUCCESS && one == 1;
}

Bytes Buffer::get_bytes() {
    pmix_byte_object_t object{};
    get_item(&object, PMIX_BYTE_OBJECT);
    return {object.bytes, object.bytes != nullptr ? object.size : 0};
}

uint32_t Buffer::get_count() {
    uint32_t count = 0;
    get(count);
    ok_ = ok_ && count <= rest().size();
    return count;
}

}  // namespace muster::launcher
