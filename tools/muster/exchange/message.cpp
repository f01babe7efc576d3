// SPDX-License-Identifier: BSD-3-Clause
// Reading the bodies of messages between launcher and nodes.
#include "tools/muster/exchange/message.hpp"

#include <cstring>

namespace muster::launcher {

bool Reader::take(void* data, size_t size) {
    if (!ok_ || rest_.size() < size) {
        ok_ = false;
        rest_ = {};
        return false;
    }
    std::memcpy(data, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
}

uint32_t Reader::u32() {
    uint32_t value = 0;
    return take(&value, sizeof value) ? value : 0;
}

uint64_t Reader::u64() {
    uint64_t value = 0;
    return take(&value, sizeof value) ? value : 0;
}

ProcId Reader::proc() {
    ProcId id;
    id.job = u32();
    id.rank = u32();
    return id;
}

std::string_view Reader::bytes() {
    const uint64_t size = u64();
    if (!ok_ || size > rest_.size()) {
        ok_ = false;
        rest_ = {};
        return {};
    }
    std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
}

ProcName Reader::name() {
    ProcName proc;
    proc.nspace = bytes();
    proc.rank = u32();
    return proc;
}

uint32_t Reader::count(size_t item_size) {
    const uint32_t number = u32();
    if (number > rest_.size() / item_size) {
        ok_ = false;
        rest_ = {};
        return 0;
    }
    return number;
}

std::vector<ProcName> Reader::names() {
    std::vector<ProcName> procs;
    const uint32_t number = count(sizeof(uint64_t) + sizeof(uint32_t));
    procs.reserve(number);
    for (uint32_t i = 0; i < number && ok_; ++i)
        procs.push_back(name());
    return procs;
}

std::vector<std::string> Reader::texts() {
    std::vector<std::string> list;
    for (uint32_t left = count(sizeof(uint64_t)); left > 0 && ok_; --left)
        list.emplace_back(bytes());
    return list;
}

}  // namespace muster::launcher
