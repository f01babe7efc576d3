// SPDX-License-Identifier: BSD-3-Clause
// Reading entries and maps: see reader.hpp.
#include "components/gds/shmem/reader.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "components/gds/shmem/words.hpp"
#include "framework/gds/job_map.hpp"

namespace muster::gds::shmem {
namespace {

/// Attempts of a lookup. An attempt fails when the writer reuses the entry during the read.
constexpr int kMostTries = 100;

}  // namespace

Result<void> Reader::check(std::string_view nspace) const {
    const auto refused = [](std::string why) {
        return Error{PMIX_ERR_BAD_PARAM, "the server's segment is refused: " + std::move(why)};
    };
    const Header* header = this->header();
    if (header == nullptr) return refused("it is too short");
    Header copy;
    std::memcpy(&copy, header, sizeof copy);
    if (copy.magic != kMagic) return refused("it has no header of gds/shmem");
    if (copy.layout != kLayout) {
        return refused("its layout is " + std::to_string(copy.layout) + ", this library reads " +
                       std::to_string(kLayout));
    }
    if (copy.machine != kMachine) return refused("it was made by a program for another machine");
    if (std::string_view(copy.nspace, strnlen(copy.nspace, sizeof copy.nspace)) != nspace)
        return refused("it is another namespace's");
    return {};
}

bool Reader::find(uint64_t key_hash, Kind kind, uint32_t of, std::string_view key, Item& out) const {
    for (int i = 0; i < kMostTries; ++i) {
        if (const Seen seen = look(key_hash, kind, of, key, out); seen != Seen::Changed)
            return seen == Seen::There;
    }
    return false;  // the server is asked
}

Reader::Seen Reader::look(uint64_t key_hash, Kind kind, uint32_t of, std::string_view key, Item& out) const {
    const Header* header = this->header();
    if (header == nullptr) return Seen::Absent;
    const uint64_t table_at = load_word(header->table);
    const auto* table = segment_.at<Table>(table_at);
    if (table == nullptr) return Seen::Absent;
    const uint64_t capacity = table->capacity;
    if (capacity == 0 || (capacity & (capacity - 1)) != 0) return Seen::Absent;
    const auto* slots = segment_.at<uint64_t>(table_at + sizeof(Table), capacity);
    if (slots == nullptr) return Seen::Absent;
    const uint64_t hash = hash_of(key_hash, kind, of);
    const uint64_t mask = capacity - 1;
    uint64_t at = static_cast<uint32_t>(hash) & mask;
    for (uint64_t tried = 0; tried < std::min(capacity, kMostProbes); ++tried, at = (at + 1) & mask) {
        const uint64_t slot = load_word(slots[at]);
        if (slot == 0) return Seen::Absent;
        const uint64_t offset = slot & kOffsetMask;
        if (offset == kGone || ((slot ^ hash) & ~kOffsetMask) != 0) continue;
        const auto* words = segment_.at<uint64_t>(offset, kEntryWords);
        if (words == nullptr) return Seen::Absent;
        uint64_t header_of[kEntryWords];
        header_of[kEntryWords - 1] = load_word(words[kEntryWords - 1]);
        load_words(header_of, words, (kEntryWords - 1) * sizeof(uint64_t));
        Entry entry;
        std::memcpy(&entry, header_of, sizeof entry);
        if (entry.hash == static_cast<uint32_t>(hash) && entry.kind == kind && entry.of == of &&
            has_name(entry, key)) {
            const bool good = load(offset, entry, out);
            if (load_word(words[kEntryWords - 1]) != header_of[kEntryWords - 1]) return Seen::Changed;
            return good ? Seen::There : Seen::Absent;
        }
        // Another key, or our entry has been reused since.
        if (load_word(slots[at]) != slot || load_word(header->table) != table_at) return Seen::Changed;
    }
    return Seen::Absent;
}

bool Reader::has_name(const Entry& entry, std::string_view key) const {
    const auto* name = segment_.at<Key>(entry.key);
    if (name == nullptr || name->length != key.size()) return false;
    const uint8_t* text = segment_.at(entry.key + sizeof(Key), key.size());
    return text != nullptr && std::memcmp(text, key.data(), key.size()) == 0;
}

bool Reader::load(uint64_t offset, const Entry& entry, Item& out) const {
    if (entry.length >= segment_.limit()) return false;
    const uint64_t size = entry.length + 1;
    const uint8_t* payload = segment_.at(offset + sizeof(Entry), size);
    if (payload == nullptr) return false;
    // A posted value may become another entry while it is read, so it is copied.
    const bool copied = entry.kind == Kind::Posted;
    std::unique_ptr<char, decltype(&std::free)> large(nullptr, &std::free);
    if (copied) {
        const uint64_t words = (entry.length + kAlign) / kAlign * kAlign;
        if (segment_.at(offset + sizeof(Entry), words) == nullptr) return false;
        char* copy = out.small;
        if (size > sizeof out.small) {
            large.reset(static_cast<char*>(std::malloc(size)));
            copy = large.get();
        }
        if (copy == nullptr) return false;
        load_payload(copy, reinterpret_cast<const uint64_t*>(payload), size);
        payload = reinterpret_cast<const uint8_t*>(copy);
    }
    char* text = const_cast<char*>(reinterpret_cast<const char*>(payload));
    out.value = {};
    switch (entry.form) {
        case Form::Scalar:
            if (entry.length != sizeof out.value.data || !is_scalar(entry.type)) return false;
            if (entry.type == PMIX_BOOL) {
                out.value.data.flag = *payload != 0;
            } else {
                std::memcpy(&out.value.data, payload, sizeof out.value.data);
            }
            out.value.type = entry.type;
            return true;
        case Form::Text:
            if (payload[entry.length] != 0) return false;
            out.value.type = PMIX_STRING;
            out.value.data.string = text;
            break;
        case Form::Bytes:
            out.value.type =
                entry.type == PMIX_COMPRESSED_BYTE_OBJECT ? PMIX_COMPRESSED_BYTE_OBJECT : PMIX_BYTE_OBJECT;
            out.value.data.bo.size = entry.length;
            if (entry.length != 0) out.value.data.bo.bytes = text;
            break;
        case Form::Packed:
            return unpack({payload, entry.length}, copied, out);
        default:
            return false;
    }
    out.parts = Value();
    if (large != nullptr) {
        out.parts = Value::adopt(out.value);
        static_cast<void>(large.release());  // it belongs to parts now
    }
    return true;
}

bool Reader::unpack(ByteView packed, bool copied, Item& out) const {
    if (format_.bfrops == nullptr) return false;
    try {
        // Read from a copy: lengths in it must not change meanwhile.
        const Bytes copy = copied ? Bytes() : Bytes(packed);
        Unpacker in(format_, copied ? packed : copy.view());
        pmix_value_t value;
        if (!in.item(&value, PMIX_VALUE)) return false;
        out.parts = Value::adopt(value);
        out.value = value;
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// --- the map ---

bool Reader::map(Map& out) const {
    if (header() == nullptr) return false;
    const auto* there = segment_.at<Map>(load_word(header()->map));
    if (there == nullptr) return false;
    std::memcpy(&out, there, sizeof out);
    // Ranks derived from a rule use no space in the segment, so its size does not limit them.
    return out.rank_end <= JobMapBuilder::kMaxRank;
}

/// Returns the number that the column's rule gives.
uint32_t Reader::number_in(const Column& column, uint32_t index) const {
    switch (column.rule) {
        case Column::Rule::Constant:
            return column.base;
        case Column::Rule::Sum:
            return index + column.base;
        case Column::Rule::Block:
            return column.base != 0 ? index / column.base : kNone;
        case Column::Rule::Listed: {
            // A multiple of four: the column was 8-aligned, or is refused here.
            const auto* value = segment_.at<uint32_t>(column.at + uint64_t{index} * 4);
            return value != nullptr ? *value : kNone;
        }
        default:
            return kNone;
    }
}

uint32_t Reader::of_rank(const Map& map, const Column& column, uint32_t rank) const {
    if (rank >= map.rank_end) return kNone;
    if (column.rule == Column::Rule::Starts) return node_by_starts(map, rank);
    return column.rule == Column::Rule::Position ? position(map, rank) : number_in(column, rank);
}

uint32_t Reader::node_id(const Map& map, uint32_t node) const {
    return node < map.node_count ? number_in(map.node_id, node) : kNone;
}

uint32_t Reader::node_by_starts(const Map& map, uint32_t rank) const {
    const auto* starts = segment_.at<uint32_t>(map.rank_starts, uint64_t{map.node_count} + 1);
    if (starts == nullptr || rank >= map.placed || rank >= starts[map.node_count]) return kNone;
    const auto* behind = std::upper_bound(starts, starts + map.node_count, rank);
    return behind != starts ? static_cast<uint32_t>(behind - starts - 1) : kNone;
}

const char* Reader::node_name(const Map& map, uint32_t node) const {
    if (node >= map.node_count) return nullptr;
    const auto* start = segment_.at<uint32_t>(map.name_starts + uint64_t{node} * 4);
    if (start == nullptr) return nullptr;
    const uint32_t from = *start;
    if (from == kNone || from >= map.names_size) return nullptr;
    const uint8_t* names = segment_.at(map.names, map.names_size);
    if (names == nullptr || names[map.names_size - 1] != 0) return nullptr;
    return reinterpret_cast<const char*>(names + from);
}

/// Whether the ranks of a node follow each other, so that their places are the ranks themselves.
static bool consecutive(const Map& map) {
    return map.node_of.rule == Column::Rule::Block || map.node_of.rule == Column::Rule::Starts;
}

/// Places in the list of ranks, or the ranks themselves.
Reader::Range Reader::range_on(const Map& map, uint32_t node) const {
    if (node >= map.node_count) return {};
    Range range;
    if (map.node_of.rule == Column::Rule::Block) {
        range.begin = uint64_t{node} * map.node_of.base;
        range.end = std::min<uint64_t>(range.begin + map.node_of.base, map.rank_end);
    } else {
        const auto* starts = segment_.at<uint32_t>(map.rank_starts + uint64_t{node} * 4, 2);
        if (starts == nullptr) return {};
        range.begin = starts[0];
        range.end = std::min(starts[1], map.placed);
    }
    return range.begin < range.end ? range : Range();
}

uint32_t Reader::ranks_on(const Map& map, uint32_t node) const {
    const Range range = range_on(map, node);
    return static_cast<uint32_t>(range.end - range.begin);
}

uint32_t Reader::rank_on(const Map& map, uint32_t node, uint32_t place) const {
    const Range range = range_on(map, node);
    if (place >= range.end - range.begin) return kNone;
    if (consecutive(map)) return static_cast<uint32_t>(range.begin + place);
    const auto* rank = segment_.at<uint32_t>(map.ranks + (range.begin + place) * 4);
    return rank != nullptr ? *rank : kNone;
}

uint32_t Reader::position(const Map& map, uint32_t rank) const {
    // A hostile map may derive the node from the place on the node, and the place from the node.
    if (map.node_of.rule == Column::Rule::Position) return kNone;
    const uint32_t node = node_of(map, rank);
    const Range range = range_on(map, node);
    if (consecutive(map)) {
        return rank >= range.begin && rank < range.end ? static_cast<uint32_t>(rank - range.begin) : kNone;
    }
    const uint64_t count = range.end - range.begin;
    const auto* ranks = segment_.at<uint32_t>(map.ranks + range.begin * 4, count);
    if (ranks == nullptr) return kNone;
    const auto place = static_cast<uint64_t>(std::lower_bound(ranks, ranks + count, rank) - ranks);
    return place < count && ranks[place] == rank ? static_cast<uint32_t>(place) : kNone;
}

}  // namespace muster::gds::shmem
