// SPDX-License-Identifier: BSD-3-Clause
// Contributions of servers: see contribution.hpp.
#include "core/modex/contribution.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "framework/base/element.hpp"
#include "framework/base/proc.hpp"
#include "framework/base/value.hpp"

namespace muster {

namespace {

// The first byte of the older form. In the newer one it is a boolean: whether the rest is compressed.
constexpr uint8_t kCollected = 1;
constexpr uint8_t kHasKeys = 2;  ///< names of keys come first, values refer to them by number

/// A contribution expands to this at most.
constexpr size_t kMostExpanded = size_t{1} << 30;

/// An array of strings as it was unpacked.
struct Keys {
    ~Keys() { data_free_elements(names, n, PMIX_STRING); }
    char** names = nullptr;
    size_t n = 0;
};

pmix_status_t read_values(Unpacker& in, const pmix_proc_t& proc, const VisitPosted& visit) {
    while (!in.at_end()) {
        std::string key;
        Value value;
        if (!in.kval(key, value)) return in.error();
        if (const pmix_status_t status = visit(proc, key.c_str(), *value); status != PMIX_SUCCESS)
            return status;
    }
    return PMIX_SUCCESS;
}

pmix_status_t read_values(Unpacker& in, const pmix_proc_t& proc, const Keys& keys, const VisitPosted& visit) {
    while (!in.at_end()) {
        uint32_t number = 0;
        pmix_value_t raw{};
        if (!in.uint32(number) || !in.item(&raw, PMIX_VALUE)) return in.error();
        const Value value = Value::adopt(raw);
        if (number >= keys.n || keys.names[number] == nullptr) return PMIX_ERR_UNPACK_FAILURE;
        if (const pmix_status_t status = visit(proc, keys.names[number], *value); status != PMIX_SUCCESS)
            return status;
    }
    return PMIX_SUCCESS;
}

/// `in`: after the flags.
pmix_status_t read_older(Unpacker& in, bool has_keys, const CountedProcesses& counted,
                         const VisitPosted& visit) {
    Keys keys;
    // Without any value there are neither names nor their number.
    if (has_keys && !in.at_end()) {
        uint32_t count = 0;
        void* names = nullptr;
        if (!in.uint32(count) || !in.items(&names, keys.n, PMIX_STRING)) return in.error();
        keys.names = static_cast<char**>(names);
        if (keys.n != count) return PMIX_ERR_UNPACK_FAILURE;
    }
    while (!in.at_end()) {
        ByteView bytes;
        if (!in.bytes(bytes)) return in.error();
        Unpacker object(in.format(), bytes);
        pmix_rank_t number = 0;
        pmix_proc_t proc{};
        if (!object.rank(number)) return object.error();
        if (!counted.find(number, proc)) return PMIX_ERR_UNPACK_FAILURE;
        const pmix_status_t status =
            has_keys ? read_values(object, proc, keys, visit) : read_values(object, proc, visit);
        if (status != PMIX_SUCCESS) return status;
    }
    return PMIX_SUCCESS;
}

pmix_status_t read_newer(WireFormat format, ByteView content, const VisitPosted& visit) {
    Unpacker in(format, content);
    // Whether this was collected, or contains later changes: both contain posted data.
    uint8_t kind = 0;
    if (!in.byte(kind)) return in.error();
    while (!in.at_end()) {
        ByteView bytes;
        if (!in.bytes(bytes)) return in.error();
        Unpacker object(format, bytes);
        pmix_proc_t proc{};
        if (!object.proc(proc)) return object.error();
        if (const pmix_status_t status = read_values(object, proc, visit); status != PMIX_SUCCESS)
            return status;
    }
    return PMIX_SUCCESS;
}

/// Reads the contribution of a server: an object in one of the forms.
pmix_status_t read_object(WireFormat format, ByteView object, const CountedProcesses& counted,
                          const Expand& expand, const VisitPosted& visit, ContributorsSeen& seen) {
    Unpacker in(format, object);
    uint8_t first = 0;
    if (!in.byte(first)) return in.error();
    if (first > (kCollected | kHasKeys)) return PMIX_ERR_UNPACK_FAILURE;
    // Newer: 0, or 1 before one compressed object, which differs from the older form in being expandable.
    if (first <= 1 && !in.at_end()) {
        Unpacker rest = in;
        ByteView content;
        const bool whole = rest.bytes(content) && rest.at_end();
        if (first == 0) {
            seen.newer = true;
            return whole ? read_newer(format, content, visit) : PMIX_ERR_UNPACK_FAILURE;
        }
        if (whole) {
            const std::optional<Bytes> expanded = expand(content, kMostExpanded);
            if (expanded) seen.newer = true;
            if (expanded) return read_newer(format, expanded->view(), visit);
        }
    }
    seen.older = true;
    if ((first & kCollected) == 0) return in.at_end() ? PMIX_SUCCESS : PMIX_ERR_UNPACK_FAILURE;
    return read_older(in, (first & kHasKeys) != 0, counted, visit);
}

}  // namespace

void CountedProcesses::add(const std::string& nspace, uint32_t size) {
    const auto place = std::ranges::lower_bound(jobs_, nspace, {}, &std::pair<std::string, uint32_t>::first);
    if (place == jobs_.end() || place->first != nspace) jobs_.insert(place, {nspace, size});
}

pmix_rank_t CountedProcesses::number_of(const pmix_proc_t& proc) const {
    uint64_t before = 0;
    for (const auto& [nspace, size] : jobs_) {
        if (nspace == proc.nspace) {
            // One job's ranks are as they are, however many there are.
            const uint64_t number = before + proc.rank;
            return proc.rank < size && number < PMIX_RANK_VALID ? static_cast<pmix_rank_t>(number)
                                                                : PMIX_RANK_INVALID;
        }
        before += size;
    }
    return PMIX_RANK_INVALID;
}

bool CountedProcesses::find(pmix_rank_t number, pmix_proc_t& proc) const {
    for (const auto& [nspace, size] : jobs_) {
        if (number < size) {
            proc = make_proc(nspace, number);
            return true;
        }
        number -= size;
    }
    return false;
}

Bytes write_contribution(ContributionForm form, WireFormat format, bool collected,
                         const std::vector<PostedValues>& posted, const CountedProcesses& counted) {
    Packer body(format);
    body.byte(collected ? kCollected : 0);
    for (const auto& [proc, values] : posted) {
        Packer object(format);
        if (form != ContributionForm::Older) {
            object.proc(proc);
        } else {
            const pmix_rank_t number = counted.number_of(proc);
            if (number == PMIX_RANK_INVALID) continue;
            object.rank(number);
        }
        object.raw(values.view());
        body.bytes(object.view());
    }
    Packer out(format);
    if (form == ContributionForm::Marked) out.bytes({});
    if (form != ContributionForm::Older) {
        Packer envelope(format);
        envelope.boolean(false);  // not compressed
        envelope.bytes(body.view());
        out.bytes(envelope.view());
    } else {
        out.bytes(body.view());
    }
    return out.take();
}

pmix_status_t read_contributions(WireFormat format, ByteView data, const CountedProcesses& counted,
                                 const Expand& expand, const VisitPosted& visit, ContributorsSeen& seen) {
    Unpacker servers(format, data);
    bool marked = false;
    while (!servers.at_end()) {
        ByteView object;
        if (!servers.bytes(object)) return servers.error();
        if (object.size() == 0) {
            marked = true;
            continue;
        }
        ContributorsSeen one;
        if (const pmix_status_t status = read_object(format, object, counted, expand, visit, one);
            status != PMIX_SUCCESS)
            return status;
        seen.older |= one.older;
        seen.newer |= one.newer && !marked;
        marked = false;
    }
    return PMIX_SUCCESS;
}

}  // namespace muster
