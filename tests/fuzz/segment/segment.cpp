// SPDX-License-Identifier: BSD-3-Clause
// A segment of gds/shmem, as a client maps it. Nothing in it may lead outside it, whatever is asked; what is
// found can be copied. The header's beginning is made good, since without it nothing else is looked at.
#include <pmix/sdk/component.h>

#include <cstring>
#include <vector>

#include "components/gds/shmem/finder.hpp"
#include "tests/fuzz/require.hpp"

MUSTER_COMPONENT(bfrops, v41);

namespace {

using namespace muster;
using namespace muster::gds::shmem;

WireFormat format() {
    static const WireFormat made = [] {
        static const muster_host_t host = {
            sizeof(muster_host_t), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
        void* instance = nullptr;
        char reason[256] = "";
        muster_component_bfrops_v41()->create(&host, &instance, reason);
        return WireFormat{static_cast<const Bfrops*>(instance), BufferType::NonDescribed};
    }();
    return made;
}

void ask(const Reader& reader, const char* key, pmix_rank_t rank, Lookup::Realm realm) {
    Lookup lookup;
    lookup.nspace = "job";
    lookup.key = key;
    lookup.rank = rank;
    lookup.realm = realm;
    Item item;
    Finder finder(reader, "job", lookup, false, item);
    if (finder.find() == Answer::Given) (void)Value::copy_of(&item.value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::vector<uint64_t> memory(size / 8 + 2);  // aligned, and a zero behind
    std::memcpy(memory.data(), data, size);
    auto* bytes = reinterpret_cast<uint8_t*>(memory.data());
    if (size >= sizeof(Header)) {
        auto* header = reinterpret_cast<Header*>(bytes);
        header->magic = kMagic;
        header->layout = kLayout;
        header->machine = kMachine;
        std::memcpy(header->nspace, "job", 4);
    }
    const auto segment = Segment::over({bytes, size});
    const Reader reader(*segment, format());
    require(reader.check("job").ok() == (size >= sizeof(Header)));
    for (const KeyInfo& info : known_keys()) {
        for (const pmix_rank_t rank : {PMIX_RANK_WILDCARD, 0u, 1u, 70000u})
            ask(reader, info.key.data(), rank, Lookup::Realm::Auto);
        ask(reader, info.key.data(), 1, Lookup::Realm::Node);
        ask(reader, info.key.data(), 1, Lookup::Realm::App);
    }
    ask(reader, "key", 0, Lookup::Realm::Auto);
    ask(reader, "key", 1, Lookup::Realm::Auto);
    Item packed;
    (void)reader.find(Kind::Packed, 0, "job", packed);
    Map map;
    if (!reader.map(map)) return 0;
    for (const uint32_t node : {0u, 1u, map.node_count - 1, map.own_node, kNone}) {
        const char* name = reader.node_name(map, node);
        if (name != nullptr) require(std::strlen(name) < size);
        const uint32_t count = reader.ranks_on(map, node);
        for (uint32_t i = 0; i < count && i < 100; ++i)
            (void)reader.rank_on(map, node, i);
    }
    return 0;
}
