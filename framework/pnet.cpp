// SPDX-License-Identifier: BSD-3-Clause
// pnet: see pnet.hpp.
#include "framework/pnet.hpp"

namespace muster {
namespace {

/// Collects a component's entries; no exception may pass through the component.
struct Taken {
    Info infos;
    pmix_status_t status = PMIX_SUCCESS;

    static void add(void* to, const pmix_info_t* info) noexcept {
        auto* in = static_cast<Taken*>(to);
        if (info == nullptr || in->status != PMIX_SUCCESS) return;
        try {
            in->status = in->infos.add_copy(*info);
        } catch (...) {
            in->status = PMIX_ERR_NOMEM;
        }
    }
};

Error lacks(const std::string& name, const char* operation) {
    return {PMIX_ERR_NOT_AVAILABLE, "pnet/" + name + " does not offer " + operation};
}

}  // namespace

PnetJob::PnetJob(std::string nspace, std::string hostname, std::vector<std::string> nodes,
                 std::vector<uint32_t> node_of)
    : nspace_(std::move(nspace)),
      hostname_(std::move(hostname)),
      nodes_(std::move(nodes)),
      node_of_(std::move(node_of)) {
    for (const std::string& node : nodes_)
        names_.push_back(node.c_str());
    job_.struct_size = sizeof job_;
    job_.nspace = nspace_.c_str();
    job_.hostname = hostname_.c_str();
    job_.nodes = names_.data();
    job_.nnodes = names_.size();
    job_.node_of = node_of_.data();
    job_.size = node_of_.size();
}

// Calls one operation of the table, whose last arguments are where to add to and the reason.
#define MUSTER_PNET_CALL(operation, out, ...)                                                             \
    if (!MUSTER_HAS(operations_, operation)) return lacks(name_, #operation);                             \
    Taken taken;                                                                                          \
    Reason reason;                                                                                        \
    const pmix_status_t status =                                                                          \
        operations_->operation(operations_->context, __VA_ARGS__, &Taken::add, &taken, reason.text);      \
    if (status != PMIX_SUCCESS) return failed("pnet", name_, status, reason);                             \
    if (taken.status != PMIX_SUCCESS)                                                                     \
        return Error{taken.status, "pnet/" + name_ + ": an info that it added cannot be copied"};         \
    for (pmix_info_t* info = taken.infos.data(); info != taken.infos.data() + taken.infos.size(); ++info) \
        (out).add_move(*info);                                                                            \
    return {}

Result<void> Pnet::allocate(const PnetJob& job, InfoView directives, uint32_t what, Info& out) const {
    MUSTER_PNET_CALL(allocate, out, &job.c(), directives.data, directives.size, what);
}

Result<void> Pnet::setup_local(const PnetJob& job, InfoView entries, Info& out) const {
    MUSTER_PNET_CALL(setup_local, out, &job.c(), entries.data, entries.size);
}

Result<void> Pnet::collect_inventory(InfoView directives, Info& out) const {
    MUSTER_PNET_CALL(collect_inventory, out, directives.data, directives.size);
}

Result<void> Pnet::describe_fabric(InfoView directives, Info& out) const {
    MUSTER_PNET_CALL(describe_fabric, out, directives.data, directives.size);
}

bool Pnet::sets_variables() const {
    return MUSTER_HAS(operations_, setup_fork);
}

Result<void> Pnet::setup_fork(const pmix_proc_t& proc, Variables& variables) const {
    if (!MUSTER_HAS(operations_, setup_fork)) return lacks(name_, "setup_fork");
    return take_variables("pnet", name_, variables, [&](auto set, void* to, char* reason) {
        return operations_->setup_fork(operations_->context, &proc, set, to, reason);
    });
}

void Pnet::deregister(const char* nspace) const {
    if (MUSTER_HAS(operations_, deregister)) operations_->deregister(operations_->context, nspace);
}

Result<void> Pnet::deliver_inventory(const char* node, InfoView info) const {
    if (!MUSTER_HAS(operations_, deliver_inventory)) return lacks(name_, "deliver_inventory");
    Reason reason;
    const pmix_status_t status =
        operations_->deliver_inventory(operations_->context, node, info.data, info.size, reason.text);
    if (status != PMIX_SUCCESS) return failed("pnet", name_, status, reason);
    return {};
}

}  // namespace muster
