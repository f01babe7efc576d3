// SPDX-License-Identifier: BSD-3-Clause
// The preg components as a test uses them: created from their descriptors, with parameters of the test's
// choice.
#pragma once

#include <pmix/sdk/component.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/preg.hpp"

MUSTER_COMPONENT(preg, pmix);
MUSTER_COMPONENT(preg, raw);
MUSTER_COMPONENT(preg, compress);
MUSTER_COMPONENT(preg, zstd);

namespace muster {

class PregInstances {
  public:
    explicit PregInstances(std::map<std::string, std::string> parameters = {})
        : parameters_(std::move(parameters)) {
        parameters_.emplace("generate", "false");
        host_.struct_size = sizeof host_;
        host_.context = this;
        host_.log = [](void*, int, const char*) {};
        host_.parameter = [](void* self, const char* name) -> const char* {
            const auto& all = static_cast<PregInstances*>(self)->parameters_;
            const auto at = all.find(name);
            return at == all.end() ? nullptr : at->second.c_str();
        };
        host_.allocate = [](void*, size_t size) { return std::malloc(size); };
        host_.release = [](void*, void* block) { std::free(block); };
        host_.post = [](void*, void (*task)(void*), void* data) { task(data); };
        std::vector<const muster_component_t*> components = {
            muster_component_preg_pmix(), muster_component_preg_compress(), muster_component_preg_raw()};
#ifdef MUSTER_TEST_PREG_ZSTD
        components.push_back(muster_component_preg_zstd());
#endif
        for (const muster_component_t* component : components) {
            void* instance = nullptr;
            char reason[256];
            if (component->create(&host_, &instance, reason) != PMIX_SUCCESS) std::abort();
            created_.emplace_back(component, instance);
            owned_.push_back(
                std::make_unique<Preg>(static_cast<const muster_preg_t*>(instance), component->name));
            all_.push_back(owned_.back().get());
        }
    }
    ~PregInstances() {
        for (const auto& [component, instance] : created_)
            component->destroy(instance);
    }
    PregInstances(const PregInstances&) = delete;
    PregInstances& operator=(const PregInstances&) = delete;

    const std::vector<Preg*>& all() const {
        return all_;
    }
    Preg& pmix() {
        return *all_[0];
    }
    Preg& compress() {
        return *all_[1];
    }
    Preg& raw() {
        return *all_[2];
    }

  private:
    muster_host_t host_{};
    std::map<std::string, std::string> parameters_;
    std::vector<std::pair<const muster_component_t*, void*>> created_;
    std::vector<std::unique_ptr<Preg>> owned_;
    std::vector<Preg*> all_;
};

}  // namespace muster
