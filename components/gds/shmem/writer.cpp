// SPDX-License-Identifier: BSD-3-Clause
// Writing entries, their table, and the map: see writer.hpp.
#include "components/gds/shmem/writer.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "components/gds/shmem/words.hpp"
#include "framework/base/data_type.hpp"

namespace muster::gds::shmem {
namespace {

constexpr uint64_t kFirstCapacity = 256;

}  // namespace

Result<void> Writer::begin(std::string_view nspace) {
    auto header = allocate(sizeof(Header));
    if (!header) return header.error();
    auto room = make_room();
    if (!room) return room;
    auto& out = *object<Header>(0);
    std::memcpy(out.nspace, nspace.data(), std::min(nspace.size(), sizeof out.nspace - 1));
    out.layout = kLayout;
    out.machine = kMachine;
    out.magic = kMagic;
    return {};
}

/// New space of the segment, all zero.
Result<uint64_t> Writer::allocate(uint64_t size) {
    const uint64_t offset = used_;
    if (size > segment_.limit() || offset > segment_.limit() - size)
        return Error{PMIX_ERR_OUT_OF_RESOURCE, "its limit is reached (gds_shmem_limit)"};
    const uint64_t end = offset + size;
    if (auto grown = segment_.grow(end); !grown) return grown.error();
    used_ = (end + kAlign - 1) / kAlign * kAlign;
    return offset;
}

void Writer::expect(uint64_t bytes) {
    constexpr uint64_t kMost = 1024 * 1024;
    const uint64_t end = used_ + std::min(bytes, kMost);
    if (end <= segment_.limit()) (void)segment_.grow(end);
}

/// Ensures that the table has one free slot more than it needs: readers stop at one.
Result<void> Writer::make_room() {
    const uint64_t capacity = table_ != 0 ? object<Table>(table_)->capacity : 0;
    if (table_ != 0 && (slots_used_ + 1) * 8 <= capacity * 5) return {};
    const uint64_t wanted = std::max(kFirstCapacity, capacity * 2);
    auto made = allocate(sizeof(Table) + wanted * sizeof(uint64_t));
    if (!made) return made.error();
    object<Table>(*made)->capacity = wanted;
    auto* fresh = object<uint64_t>(*made + sizeof(Table));
    slots_used_ = 0;
    // In their order, starting after a free slot: so no entry moves further from its position.
    const auto* slots = capacity != 0 ? object<uint64_t>(table_ + sizeof(Table)) : nullptr;
    const uint64_t first =
        capacity != 0 ? static_cast<uint64_t>(std::find(slots, slots + capacity, 0U) - slots) : 0;
    for (uint64_t i = 0; i < capacity; ++i) {
        const uint64_t slot = slots[(first + i) & (capacity - 1)];
        if (slot == 0 || (slot & kOffsetMask) == kGone) continue;
        uint64_t at = object<Entry>(slot & kOffsetMask)->hash & (wanted - 1);
        while (fresh[at] != 0)
            at = (at + 1) & (wanted - 1);
        fresh[at] = slot;
        ++slots_used_;
    }
    table_ = *made;
    store_word(object<Header>(0)->table, table_);
    return {};
}

uint64_t* Writer::find_slot(uint64_t hash, Kind kind, uint32_t of, std::string_view key,
                            uint64_t** free_slot) {
    const uint64_t mask = object<Table>(table_)->capacity - 1;
    auto* slots = object<uint64_t>(table_ + sizeof(Table));
    uint64_t at = static_cast<uint32_t>(hash) & mask;
    for (uint64_t tried = 0; tried < std::min(mask + 1, kMostProbes); ++tried, at = (at + 1) & mask) {
        const uint64_t slot = slots[at];
        const bool gone = (slot & kOffsetMask) == kGone;
        if ((slot == 0 || gone) && free_slot != nullptr && *free_slot == nullptr) *free_slot = &slots[at];
        if (slot == 0) return nullptr;
        if (gone || ((slot ^ hash) & ~kOffsetMask) != 0) continue;
        const Entry& entry = *object<Entry>(slot & kOffsetMask);
        if (entry.kind != kind || entry.of != of) continue;
        const Key& name = *object<Key>(entry.key);
        if (std::string_view(reinterpret_cast<const char*>(&name + 1), name.length) == key) return &slots[at];
    }
    return nullptr;
}

Result<uint64_t> Writer::intern(std::string_view key) {
    if (last_key_ != nullptr && last_key_->first == key) return last_key_->second;
    const auto known = keys_.find(key);
    if (known != keys_.end()) {
        last_key_ = &*known;
        return known->second;
    }
    auto at = allocate(sizeof(Key) + key.size());
    if (!at) return at;
    object<Key>(*at)->length = static_cast<uint32_t>(key.size());
    std::memcpy(object<Key>(*at) + 1, key.data(), key.size());
    last_key_ = &*keys_.emplace(key, *at).first;
    return at;
}

Result<void> Writer::describe(const pmix_value_t& value, Payload& out) const {
    out.type = value.type;
    if (is_scalar(value.type)) {
        out.form = Form::Scalar;
        out.data = &value.data;
        out.length = sizeof value.data;
        return {};
    }
    if (value.type == PMIX_STRING && value.data.string != nullptr) {
        out.form = Form::Text;
        out.data = value.data.string;
        out.length = std::strlen(value.data.string);
        return {};
    }
    if ((value.type == PMIX_BYTE_OBJECT || value.type == PMIX_COMPRESSED_BYTE_OBJECT) &&
        (value.data.bo.size == 0 || value.data.bo.bytes != nullptr)) {
        out.form = Form::Bytes;
        out.data = value.data.bo.bytes;
        out.length = value.data.bo.size;
        return {};
    }
    if (value.type == PMIX_POINTER || format_.bfrops == nullptr)
        return Error{PMIX_ERR_NOT_SUPPORTED,
                     std::string("a value of type ") + data_type_name(value.type) + " cannot be shared"};
    Packer packer(format_);
    packer.items(&value, 1, PMIX_VALUE);
    if (packer.error() != PMIX_SUCCESS)
        return Error{packer.error(),
                     std::string("a value of type ") + data_type_name(value.type) + " cannot be packed"};
    out.form = Form::Packed;
    out.packed = packer.take();
    out.data = out.packed.data();
    out.length = out.packed.size();
    return {};
}

/// Space for an entry, which is not all zero if there was one before.
Result<uint64_t> Writer::block_for(Kind kind, uint64_t length) {
    const uint64_t size = block_size(length);
    if (kind == Kind::Posted) {
        if (const uint64_t left = free_.take(size); left != 0) return left;
    }
    return allocate(size);
}

void Writer::write_entry(uint64_t offset, Entry entry, const void* payload) {
    auto* words = object<uint64_t>(offset);
    uint64_t header[kEntryWords];
    std::memcpy(header, &entry, sizeof header);
    // The last word is cleared first and written last: a reader compares it before and after its copy.
    store_word(words[kEntryWords - 1], kBeingWritten);
    store_words(words, header, (kEntryWords - 1) * sizeof(uint64_t));
    store_words(words + kEntryWords, payload, entry.length);
    if (entry.length % sizeof(uint64_t) == 0)
        store_word(words[kEntryWords + entry.length / sizeof(uint64_t)], 0);  // the terminator
    store_word(words[kEntryWords - 1], header[kEntryWords - 1]);
}

void Writer::refer(uint64_t& slot, uint64_t hash, uint64_t offset) {
    const uint64_t before = slot & kOffsetMask;
    store_word(slot, slot_of(hash, offset));
    if (before == 0 || before == kGone) return;
    const Entry& replaced = *object<Entry>(before);
    if (replaced.kind == Kind::Posted) free_.add(block_size(replaced.length), before);
}

Result<void> Writer::insert(Kind kind, uint32_t of, std::string_view key, const Payload& payload, Put* done) {
    const uint64_t hash = hash_of(hash_of(key), kind, of);
    uint64_t* free_slot = nullptr;
    uint64_t* known = find_slot(hash, kind, of, key, &free_slot);
    if (done != nullptr) done->fresh = known == nullptr;
    if (known != nullptr) {
        const uint64_t offset = *known & kOffsetMask;
        const Entry& entry = *object<Entry>(offset);
        if (entry.type == payload.type && entry.form == payload.form && entry.length == payload.length &&
            (payload.length == 0 ||
             std::memcmp(object<uint8_t>(offset + sizeof(Entry)), payload.data, payload.length) == 0)) {
            if (done != nullptr) done->key = entry.key;
            return {};
        }
    }
    const auto write = [&]() -> Result<void> {
        const auto crowded = [] {
            return Error{PMIX_ERR_OUT_OF_RESOURCE, "too many keys collide in its table"};
        };
        if (known == nullptr && free_slot == nullptr) return crowded();
        auto name = intern(key);
        if (!name) return name.error();
        if (done != nullptr) done->key = *name;
        if (payload.length > segment_.limit())
            return Error{PMIX_ERR_OUT_OF_RESOURCE, "its limit is reached (gds_shmem_limit)"};
        const uint64_t table = table_;
        if (auto room = make_room(); !room) return room;
        uint64_t* slot = known;
        if (table != table_) {
            free_slot = nullptr;
            slot = find_slot(hash, kind, of, key, &free_slot);
        }
        if (slot == nullptr && free_slot == nullptr) return crowded();
        auto at = block_for(kind, payload.length);
        if (!at) return at.error();
        write_entry(*at,
                    {static_cast<uint32_t>(hash), of, *name, payload.length, payload.type, kind, payload.form,
                     ++generation_},
                    payload.data);
        if (slot == nullptr) {
            slot = free_slot;
            if (*slot == 0) ++slots_used_;
        }
        refer(*slot, hash, *at);
        return {};
    };
    Result<void> result = write();
    if (!result) remove(kind, of, key);
    return result;
}

Result<void> Writer::put(Kind kind, uint32_t of, std::string_view key, const pmix_value_t& value, Put* done) {
    Payload payload;
    if (auto described = describe(value, payload); !described) {
        remove(kind, of, key);
        return described;
    }
    return insert(kind, of, key, payload, done);
}

Result<void> Writer::put_bytes(Kind kind, std::string_view key, ByteView bytes) {
    Payload payload;
    payload.form = Form::Bytes;
    payload.type = PMIX_BYTE_OBJECT;
    payload.data = bytes.data();
    payload.length = bytes.size();
    return insert(kind, 0, key, payload);
}

void Writer::remove(Kind kind, uint32_t of, std::string_view key) {
    uint64_t* slot = find_slot(hash_of(hash_of(key), kind, of), kind, of, key, nullptr);
    if (slot != nullptr) refer(*slot, *slot, kGone);
}

void Writer::remove_all(Kind kind, uint32_t of) {
    auto* slots = object<uint64_t>(table_ + sizeof(Table));
    for (uint64_t i = 0; i < object<Table>(table_)->capacity; ++i) {
        if (slots[i] == 0 || (slots[i] & kOffsetMask) == kGone) continue;
        const Entry& entry = *object<Entry>(slots[i] & kOffsetMask);
        if (entry.kind == kind && entry.of == of) refer(slots[i], slots[i], kGone);
    }
}

/// The shortest rule that gives all numbers. `out` may hold one already, which is tried first.
template <class F>
Result<void> Writer::put_column(Column& out, uint32_t count, F&& value_of) {
    const auto fits = [&](Column::Rule rule, uint32_t base) {
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t value = value_of(i);
            if (rule == Column::Rule::Constant ? value != base
                : rule == Column::Rule::Sum    ? value == kNone || value - i != base
                                               : value != i / base)
                return false;
        }
        out = {rule, base, 0};
        return true;
    };
    if (count == 0 || fits(Column::Rule::Constant, kNone)) {
        out = {Column::Rule::None, 0, 0};
        return {};
    }
    if (fits(Column::Rule::Constant, value_of(0)) || fits(Column::Rule::Sum, value_of(0))) return {};
    uint32_t block = 0;
    while (block < count && value_of(block) == 0)
        ++block;
    if (block != 0 && fits(Column::Rule::Block, block)) return {};
    auto at = allocate(uint64_t{count} * 4);
    if (!at) return at.error();
    auto* values = object<uint32_t>(*at);
    for (uint32_t i = 0; i < count; ++i)
        values[i] = value_of(i);
    out = {Column::Rule::Listed, 0, *at};
    return {};
}

Result<void> Writer::put_map(const JobMap& map, uint32_t own_node) {
    const uint32_t nodes = map.node_count(), ranks = map.rank_end();
    Map out = {};
    out.node_count = nodes;
    out.used_nodes = map.used_nodes();
    out.placed = map.placed();
    out.rank_end = ranks;
    out.own_node = own_node;
    out.apps = static_cast<uint32_t>(map.apps().size());

    uint64_t names_size = 0;
    map.each_node_name([&](uint32_t, std::string_view name) { names_size += name.size() + 1; });
    out.has_aliases = map.has_aliases() ? 1 : 0;
    if (names_size >= kNone) return Error{PMIX_ERR_OUT_OF_RESOURCE, "the names of its nodes are too long"};
    auto starts = allocate(uint64_t{nodes} * 4 + 4);
    if (!starts) return starts.error();
    auto names = allocate(names_size + 1);
    if (!names) return names.error();
    out.name_starts = *starts;
    out.names = *names;
    out.names_size = names_size;
    uint32_t name_at = 0;
    map.each_node_name([&](uint32_t node, std::string_view name) {
        object<uint32_t>(*starts)[node] = name.empty() ? kNone : name_at;
        std::memcpy(object<char>(*names + name_at), name.data(), name.size());
        name_at += static_cast<uint32_t>(name.size()) + 1;
    });

    // Uses the map's rules for all ranks instead of a look-up for each rank.
    const auto or_none = [](std::optional<uint32_t> value) { return value.value_or(kNone); };
    Result<void> result;
    if (const auto each = map.block()) {
        out.node_of = {Column::Rule::Block, *each, 0};
    } else if (map.in_order() && map.placed() != 0) {
        out.node_of = {Column::Rule::Starts, 0, 0};
    } else {
        result = put_column(out.node_of, ranks, [&](uint32_t rank) { return map.node_of(rank); });
    }
    // The ranks of each node follow from blocks, or from where those of each node begin; else they are
    // listed, and give each rank's place.
    if (result && out.node_of.rule != Column::Rule::Block && map.placed() != 0) {
        auto rank_starts = allocate((uint64_t{nodes} + 1) * 4);
        if (!rank_starts) return rank_starts.error();
        out.rank_starts = *rank_starts;
        auto* starts_of = object<uint32_t>(*rank_starts);
        starts_of[0] = 0;
        for (uint32_t node = 0; node < nodes; ++node)
            starts_of[node + 1] = starts_of[node] + static_cast<uint32_t>(map.ranks_on(node).size());
    }
    if (result && out.rank_starts != 0 && out.node_of.rule != Column::Rule::Starts) {
        auto listed = allocate(uint64_t{map.placed()} * 4);
        if (!listed) return listed.error();
        out.ranks = *listed;
        auto* rank_of = object<uint32_t>(*listed);
        for (uint32_t node = 0; node < nodes; ++node) {
            for (const pmix_rank_t rank : map.ranks_on(node))
                *rank_of++ = rank;
        }
    }
    // Mostly a rank's number on its node is its place among the others there.
    const auto by_place = [&](auto&& value_of) {
        if (map.placed() != ranks) return false;
        for (uint32_t node = 0; node < nodes; ++node) {
            uint32_t place = 0;
            for (const pmix_rank_t rank : map.ranks_on(node)) {
                if (value_of(rank) != place++) return false;
            }
        }
        return true;
    };
    const auto put_place = [&](Column& column, bool plain, auto&& value_of) {
        if (!result) return;
        if (plain ? map.placed() == ranks : by_place(value_of)) {
            column = {Column::Rule::Position, 0, 0};
        } else {
            result = put_column(column, ranks, value_of);
        }
    };
    put_place(out.local_rank, map.plain_local_ranks(),
              [&](uint32_t rank) { return or_none(map.local_rank(rank)); });
    put_place(out.node_rank, map.plain_node_ranks(),
              [&](uint32_t rank) { return or_none(map.node_rank(rank)); });
    const auto put = [&](Column& column, uint32_t count, auto&& value_of) {
        if (result) result = put_column(column, count, value_of);
    };
    const auto offset = map.global_offset();
    if (ranks != 0 && map.plain_global_ranks() && (!offset || *offset <= kNone - ranks)) {
        if (offset) out.global_rank = {Column::Rule::Sum, *offset, 0};
    } else {
        put(out.global_rank, ranks, [&](uint32_t rank) { return or_none(map.global_rank(rank)); });
    }
    if (ranks != 0 && map.plain_app_ranks()) {
        out.appnum = {Column::Rule::Constant, 0, 0};
        out.app_rank = {Column::Rule::Sum, 0, 0};
    } else {
        put(out.appnum, ranks, [&](uint32_t rank) { return or_none(map.appnum(rank)); });
        put(out.app_rank, ranks, [&](uint32_t rank) { return or_none(map.app_rank(rank)); });
    }
    put(out.node_id, nodes, [&](uint32_t node) { return map.node_id(node); });
    if (!result) return result;

    auto at = allocate(sizeof(Map));
    if (!at) return at.error();
    std::memcpy(object<Map>(*at), &out, sizeof out);
    store_word(object<Header>(0)->map, *at);
    return {};
}

}  // namespace muster::gds::shmem
