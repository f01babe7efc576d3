// SPDX-License-Identifier: BSD-3-Clause
// The data of a job for clients of this node, for a store that shares them: the same values as in the reply
// to a client's request (wire.cpp), one by one.
#include "components/gds/hash/find.hpp"
#include "components/gds/hash/registration.hpp"

namespace muster::gds {

class JobDescriber {
  public:
    using Realm = Lookup::Realm;

    JobDescriber(const HashStore& store, std::string_view nspace, const Job& job, const JobFactVisitor& visit)
        : store_(store), job_(job), finder_(store, nspace, &job), visit_(visit) {}

    void describe() {
        describe_job_level();
        describe_session();
        describe_nodes();
        describe_apps();
        for (const auto& [rank, table] : job_.procs)
            give_all(Realm::Proc, rank, table);
    }

  private:
    void give(Realm realm, uint32_t of, const std::string& key, const pmix_value_t& value,
              bool resource = false) {
        visit_({realm, of, key.c_str(), value, resource});
    }
    /// Omits values of the preceding tables.
    void give_all(Realm realm, uint32_t of, const Table& table,
                  std::initializer_list<const Table*> before = {}, bool resource = false) {
        for (const auto& [key, value] : table) {
            bool said = false;
            for (const Table* other : before)
                said = said || (other != nullptr && other->contains(key));
            if (!said) give(realm, of, key, *value.get(), resource);
        }
    }

    void describe_job_level() {
        for (const auto& [key, value] : job_.facts) {
            // The maps are not sent: the client gets their content.
            if (key != PMIX_NODE_MAP && key != PMIX_PROC_MAP) give(Realm::Job, 0, key, *value.get());
        }
        for (const Fact fact : kDerivedJobFacts) {
            Derived derived;
            if (job_.facts.contains(key_of(fact)) || !finder_.derive_job(fact, derived)) continue;
            give(Realm::Job, 0, key_of(fact), derived.value);
        }
        give_all(Realm::Job, 0, store_.resources_.facts, {&job_.facts}, true);
    }

    void describe_session() {
        if (job_.session_id) give(Realm::Session, 0, PMIX_SESSION_ID, *Value::from(*job_.session_id));
        const Table* shared = job_.session_id ? table_in(store_.sessions_, *job_.session_id) : nullptr;
        if (shared != nullptr) give_all(Realm::Session, 0, *shared, {}, true);
        give_all(Realm::Session, 0, job_.session, {shared});
        Derived derived;
        if (!job_.session.contains(PMIX_UNIV_SIZE) &&
            (shared == nullptr || !shared->contains(PMIX_UNIV_SIZE)) &&
            finder_.derive_session(Fact::UniverseSize, derived)) {
            give(Realm::Session, 0, PMIX_UNIV_SIZE, derived.value);
        }
    }

    void describe_nodes() {
        const JobMap& map = *job_.map;
        const uint32_t own = store_.own_node(map);
        for (uint32_t node = 0; node < map.node_count(); ++node) {
            const Table* facts = table_in(job_.nodes, node);
            if (facts != nullptr) give_all(Realm::Node, node, *facts);
            if (node == own) give_all(Realm::Node, node, job_.own_node, {facts});
            if (store_.resources_.no_nodes() && store_.session_nodes_.empty()) continue;
            const Table* mine = node == own ? &job_.own_node : nullptr;
            const ResourceNode* resource = store_.resources_.node(map.node_name(node), map.node_id(node));
            if (resource != nullptr) give_all(Realm::Node, node, resource->facts, {facts, mine}, true);
            const ResourceNode* in_session =
                store_.session_node(job_.session_id, map.node_name(node), map.node_id(node));
            if (in_session != nullptr)
                give_all(Realm::Node, node, in_session->facts,
                         {facts, mine, resource != nullptr ? &resource->facts : nullptr}, true);
        }
        // This node has no process of the job, but some registered data.
        if (own == JobMap::kNone) give_all(Realm::Node, JobMap::kNone, job_.own_node);
    }

    void describe_apps() {
        for (const auto& [number, table] : job_.apps)
            give_all(Realm::App, number, table);
        if (job_.map->single_app()) return;
        for (const JobMap::App& app : job_.map->apps()) {
            const Table* table = table_in(job_.apps, app.number);
            for (const Fact fact : {Fact::AppSize, Fact::AppLeader, Fact::NumNodes, Fact::NodeList}) {
                Derived derived;
                if (table != nullptr && table->contains(key_of(fact))) continue;
                if (finder_.derive_app(fact, app.number, derived))
                    give(Realm::App, app.number, key_of(fact), derived.value);
            }
        }
    }

    const HashStore& store_;
    const Job& job_;
    Finder finder_;
    const JobFactVisitor& visit_;
};

pmix_status_t HashStore::describe_job(const char* nspace,
                                      const std::function<void(const JobMap&, uint32_t own_node)>& with_map,
                                      const JobFactVisitor& visit) const {
    if (nspace == nullptr) return PMIX_ERR_BAD_PARAM;
    try {
        const std::shared_lock lock(content_guard_);
        const Job* known = job(nspace_view(nspace));
        if (known == nullptr) return PMIX_ERR_INVALID_NAMESPACE;
        with_map(*known->map, own_node(*known->map));
        JobDescriber(*this, nspace_view(nspace), *known, visit).describe();
        return PMIX_SUCCESS;
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

}  // namespace muster::gds
