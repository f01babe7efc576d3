// SPDX-License-Identifier: BSD-3-Clause
// A gds/hash store with the preg components and the v41 encoding, and helpers to fill and query it.
#pragma once

#include <gtest/gtest.h>
#include <pmix/sdk/component.h>

#include <memory>
#include <string>

#include "framework/bfrops.hpp"
#include "framework/gds.hpp"
#include "tests/unit/components/preg/instances.hpp"

MUSTER_COMPONENT(gds, hash);
MUSTER_COMPONENT(bfrops, v41);

namespace muster {

class StoreTest : public testing::Test {
  protected:
    StoreTest() {
        store_ = make(muster_component_gds_hash(), store_instance_);
        bfrops_ = static_cast<const Bfrops*>(create(muster_component_bfrops_v41()));
        use_host(*store_, "alpha");
    }
    ~StoreTest() override {
        for (void* instance : stores_)
            muster_component_gds_hash()->destroy(instance);
        muster_component_bfrops_v41()->destroy(const_cast<Bfrops*>(bfrops_));
    }

    static void* create(const muster_component_t* component) {
        static const muster_host_t host = {sizeof(muster_host_t),
                                           nullptr,
                                           [](void*, int, const char*) {},
                                           [](void*, const char*) -> const char* { return nullptr; },
                                           [](void*, size_t size) { return std::malloc(size); },
                                           [](void*, void* block) { std::free(block); },
                                           [](void*, void (*task)(void*), void* data) { task(data); }};
        void* instance = nullptr;
        char reason[256] = "";
        EXPECT_EQ(component->create(&host, &instance, reason), PMIX_SUCCESS) << reason;
        return instance;
    }
    Gds* make(const muster_component_t* component, void*& instance) {
        instance = create(component);
        stores_.push_back(instance);
        return static_cast<Gds*>(instance);
    }
    Gds* another_store() {
        void* instance = nullptr;
        return make(muster_component_gds_hash(), instance);
    }
    void use_host(Gds& store, const std::string& host, std::vector<std::string> aliases = {},
                  std::optional<uint32_t> id = {}) {
        store.set_context({host, std::move(aliases), id, pregs_.all(), {}});
    }

    Result<void> add(const Info& info, int32_t nlocal = 0, const char* nspace = "job") {
        return store_->register_job(nspace, nlocal, info);
    }
    /// Maps in plain form, and a job size unless it is 0.
    static Info maps(const char* nodes, const char* procs, uint32_t size = 0) {
        Info info;
        if (size != 0) info.add(PMIX_JOB_SIZE, size);
        info.add(PMIX_NODE_MAP, nodes);
        info.add(PMIX_PROC_MAP, procs);
        return info;
    }
    static Info entries() { return {}; }
    template <class... Rest>
    static Info entries(const char* key, auto&& value, Rest&&... rest) {
        Info info;
        info.add(key, std::forward<decltype(value)>(value));
        Info more = entries(std::forward<Rest>(rest)...);
        for (size_t i = 0; i < more.size(); ++i)
            info.add_move(more[i]);
        return info;
    }
    template <class... Rest>
    static void add_array(Info& info, const char* key, Rest&&... rest) {
        info.add(key, entries(std::forward<Rest>(rest)...).to_value());
    }

    struct Ask {
        const char* nspace = "job";
        pmix_rank_t rank = PMIX_RANK_WILDCARD;
        Lookup::Realm realm = Lookup::Realm::Auto;
        std::optional<uint32_t> session_id = {};
        std::optional<uint32_t> appnum = {};
        std::optional<uint32_t> nodeid = {};
        const char* hostname = nullptr;
        pmix_scope_t scope = PMIX_SCOPE_UNDEF;
        InfoView qualifiers = {};
        bool pin = false;
    };
    static Lookup lookup(const char* key, const Ask& ask) {
        Lookup out;
        out.nspace = ask.nspace;
        out.rank = ask.rank;
        out.key = key;
        out.realm = ask.realm;
        out.session_id = ask.session_id;
        out.appnum = ask.appnum;
        out.nodeid = ask.nodeid;
        out.hostname = ask.hostname;
        out.scope = ask.scope;
        out.qualifiers = ask.qualifiers;
        out.pin = ask.pin;
        return out;
    }
    /// The value as text with its type's initial ("u3", "r0", "sabc", ...), or the status.
    std::string get(const Gds& store, const char* key, const Ask& ask) {
        std::string out;
        const pmix_status_t status =
            store.find(lookup(key, ask), [&](const Found& found) { out += text_of(found.value); });
        return status == PMIX_SUCCESS ? out : "error " + std::to_string(status);
    }
    std::string get(const char* key, const Ask& ask) { return get(*store_, key, ask); }
    std::string get(const char* key) { return get(key, Ask()); }
    std::string of_rank(pmix_rank_t rank, const char* key) { return get(key, {.rank = rank}); }

    static std::string text_of(const pmix_value_t& value) {
        switch (value.type) {
            case PMIX_STRING:
                return std::string("s") + (value.data.string != nullptr ? value.data.string : "(null)");
            case PMIX_UINT32:
                return "u" + std::to_string(value.data.uint32);
            case PMIX_UINT16:
                return "h" + std::to_string(value.data.uint16);
            case PMIX_INT:
                return "i" + std::to_string(value.data.integer);
            case PMIX_PROC_RANK:
                return "r" + std::to_string(value.data.rank);
            case PMIX_BOOL:
                return value.data.flag ? "true" : "false";
            case PMIX_PROC:
                return std::string("p") + value.data.proc->nspace + ":" +
                       std::to_string(value.data.proc->rank);
            case PMIX_DATA_ARRAY: {
                std::string out = "[";
                if (value.data.darray->type == PMIX_PROC) {
                    const auto* procs = static_cast<const pmix_proc_t*>(value.data.darray->array);
                    for (size_t i = 0; i < value.data.darray->size; ++i) {
                        out += std::string(i != 0 ? " " : "") + procs[i].nspace + ":" +
                               std::to_string(procs[i].rank);
                    }
                }
                for (const pmix_info_t& info : value_as_infos(&value)) {
                    out += std::string(info.key) + "=" + text_of(info.value) + " ";
                }
                return out + "]";
            }
            default:
                return "type" + std::to_string(value.type);
        }
    }

    PregInstances pregs_{{{"generate", "true"}, {"max_entries", "200000"}}};
    std::vector<void*> stores_;
    void* store_instance_ = nullptr;
    Gds* store_ = nullptr;
    const Bfrops* bfrops_ = nullptr;
};

}  // namespace muster
