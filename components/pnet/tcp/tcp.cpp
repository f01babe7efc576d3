// SPDX-License-Identifier: BSD-3-Clause
// pnet/tcp: static ports, addresses, keys and variables for jobs over IP; see README.md.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <pmix/sdk/component.hpp>
#include <string>

#include "components/pnet/tcp/allocation.hpp"
#include "components/pnet/tcp/interfaces.hpp"
#include "components/pnet/tcp/ports.hpp"
#include "framework/base/info.hpp"
#include "framework/base/own_component.hpp"
#include "framework/base/value.hpp"
#include "framework/base/words.hpp"

extern char** environ;

namespace {

namespace sdk = muster::sdk;
using namespace muster::pnet_tcp;  // NOLINT(google-build-using-namespace): this component's own
using muster::Info;
using muster::InfoView;
using muster::key_is;
using muster::Value;
using sdk::Failure;

constexpr size_t kKeyBytes = 32;
constexpr size_t kMaxPorts = 65535;

std::string random_key() {
    std::string key(kKeyBytes, '\0');
    if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
        throw Failure(PMIX_ERR_NOT_AVAILABLE, "the system gives no random numbers for a security key");
    return key;
}

/// Ranks of each node, in order.
std::vector<std::vector<pmix_rank_t>> ranks_by_node(const muster_pnet_job_t& job) {
    std::vector<std::vector<pmix_rank_t>> ranks(job.nnodes);
    for (size_t rank = 0; rank < job.size; ++rank) {
        if (job.node_of[rank] < job.nnodes)
            ranks[job.node_of[rank]].push_back(static_cast<pmix_rank_t>(rank));
    }
    return ranks;
}

void add_all(const Info& infos, const sdk::InfoSink& add) {
    for (const pmix_info_t& info : infos)
        add(info);
}

class Tcp {
  public:
    explicit Tcp(sdk::Host host)
        : host_(host), include_(host.parameter("include")), exclude_(host.parameter("exclude")) {
        std::string complaint;
        if (!ports_.parse(host.parameter("static_ports"), complaint))
            throw Failure(PMIX_ERR_NOT_AVAILABLE, "PMIX_MCA_pnet_tcp_static_ports: " + complaint);
    }

    void allocate(const muster_pnet_job_t& job, sdk::Infos directives, uint32_t what, sdk::InfoSink add) {
        Carried carried;
        if ((what & MUSTER_PNET_ENVARS) != 0) harvest(carried);
        bool mine = !carried.empty();
        for (const pmix_info_t& directive : directives) {
            if (!key_is(directive.key, PMIX_ALLOC_FABRIC)) continue;
            if (directive.value.type != PMIX_DATA_ARRAY)
                throw Failure(PMIX_ERR_BAD_PARAM, "PMIX_ALLOC_FABRIC is not an array of infos");
            carried.allocations.push_back(reserve(job, muster::value_as_infos(&directive.value)));
            mine = true;
        }
        if (!mine) throw Failure(PMIX_ERR_NOT_AVAILABLE, "nothing was asked of it");
        const muster::Bytes bytes = write(carried);
        Info out;
        out.add(kCarriedKey, pmix_byte_object_t{reinterpret_cast<char*>(const_cast<uint8_t*>(bytes.data())),
                                                bytes.size()});
        add_all(out, add);
    }

    void setup_local(const muster_pnet_job_t& job, sdk::Infos info, sdk::InfoSink add) {
        for (const pmix_info_t& entry : info) {
            if (!key_is(entry.key, kCarriedKey)) continue;
            Carried carried;
            if (entry.value.type != PMIX_BYTE_OBJECT ||
                !read(muster::value_as_bytes(&entry.value), carried)) {
                throw Failure(PMIX_ERR_BAD_PARAM, std::string("the entry ") + kCarriedKey +
                                                      " cannot be read; do all nodes have the same version?");
            }
            for (const auto& [name, value] : carried.variables) {
                Info out;
                pmix_envar_t variable{const_cast<char*>(name.c_str()), const_cast<char*>(value.c_str()), ':'};
                out.add(PMIX_SET_ENVAR, Value::of(PMIX_ENVAR, &variable));
                add_all(out, add);
            }
            for (const Allocation& allocation : carried.allocations) {
                add_facts(allocation, add);
                add_endpoints(job, allocation, add);
            }
        }
    }

    void deregister(const char* nspace) {
        const auto range = owners_.equal_range(nspace);
        for (auto at = range.first; at != range.second; ++at)
            ports_.give_back(at->second);
        owners_.erase(range.first, range.second);
    }

    void collect_inventory(sdk::Infos, sdk::InfoSink add) {
        Info out;
        out.add(PMIX_FABRIC_DEVICES, to_devices(local_interfaces(), nullptr));
        add_all(out, add);
    }

    void deliver_inventory(const char* node, sdk::Infos info) {
        const InfoView view{info.data(), info.size()};
        if (!view.has(PMIX_FABRIC_DEVICES)) throw Failure(PMIX_ERR_NOT_AVAILABLE, "it names no devices");
        nodes_[node] = from_devices(view.infos(PMIX_FABRIC_DEVICES));
    }

    void describe_fabric(sdk::Infos directives, sdk::InfoSink add) {
        const InfoView wanted{directives.data(), directives.size()};
        const char* type = wanted.string(PMIX_FABRIC_DEVICE_TYPE);
        const char* vendor = wanted.string(PMIX_FABRIC_VENDOR);
        const char* identifier = wanted.string(PMIX_FABRIC_IDENTIFIER);
        if ((type != nullptr && std::strcmp(type, "ip") != 0) || vendor != nullptr ||
            (identifier != nullptr && std::strcmp(identifier, "tcp") != 0))
            throw Failure(PMIX_ERR_NOT_AVAILABLE, "another fabric is meant");
        const char* plane = wanted.string(PMIX_FABRIC_PLANE);
        Info devices;
        add_devices(nullptr, local_interfaces(), plane, devices);
        for (const auto& [node, interfaces] : nodes_)
            add_devices(node.c_str(), interfaces, plane, devices);
        if (plane != nullptr && devices.empty())
            throw Failure(PMIX_ERR_NOT_AVAILABLE, std::string("no device is on plane ") + plane);
        Info out;
        out.add(PMIX_FABRIC_IDENTIFIER, "tcp");
        if (plane != nullptr) out.add(PMIX_FABRIC_PLANE, plane);
        out.add(PMIX_FABRIC_NUM_DEVICES, devices.size());
        out.add(PMIX_FABRIC_DEVICES, std::move(devices).to_value());
        add_all(out, add);
    }

  private:
    void harvest(Carried& carried) const {
        if (include_.empty()) return;
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
            const char* equals = std::strchr(*entry, '=');
            if (equals == nullptr) continue;
            std::string name(*entry, static_cast<size_t>(equals - *entry));
            if (muster::on_list(include_, name) && !muster::on_list(exclude_, name))
                carried.variables.emplace_back(std::move(name), equals + 1);
        }
    }

    static uint32_t number(InfoView request, const char* key, const char* what) {
        if (!request.has(key)) return 0;
        const auto found = request.number<uint32_t>(key);
        if (!found || *found > kMaxPorts)
            throw Failure(PMIX_ERR_BAD_PARAM, std::string(what) + " is not a number up to 65535");
        return *found;
    }

    Allocation reserve(const muster_pnet_job_t& job, InfoView request) {
        Allocation one;
        const auto text = [&](const char* key) {
            const char* found = request.string(key);
            return std::string(found == nullptr ? "" : found);
        };
        one.id = text(PMIX_ALLOC_FABRIC_ID);
        one.type = text(PMIX_ALLOC_FABRIC_TYPE);
        one.plane = text(PMIX_ALLOC_FABRIC_PLANE);
        if (one.id.empty() || one.id.size() > PMIX_MAX_KEYLEN)
            throw Failure(PMIX_ERR_BAD_PARAM, "PMIX_ALLOC_FABRIC names no PMIX_ALLOC_FABRIC_ID");
        one.per_process = number(request, PMIX_ALLOC_FABRIC_ENDPTS, "PMIX_ALLOC_FABRIC_ENDPTS");
        one.per_node = number(request, PMIX_ALLOC_FABRIC_ENDPTS_NODE, "PMIX_ALLOC_FABRIC_ENDPTS_NODE");
        const auto ranks = ranks_by_node(job);
        size_t most = 0;
        for (const auto& on_node : ranks)
            most = std::max(most, on_node.size());
        if (one.per_process > 0 && most == 0) {
            throw Failure(PMIX_ERR_BAD_PARAM,
                          "ports for each process need PMIX_NODE_MAP and PMIX_PROC_MAP of the job");
        }
        const std::string owner = std::string(job.nspace) + '\n' + one.id;
        ports_.give_back(owner);  // a repeated request gets a new allocation
        const size_t count = one.per_node + most * one.per_process;
        if (count > 0) {
            take(owner, count, one);
            const auto range = owners_.equal_range(job.nspace);
            if (std::none_of(range.first, range.second, [&](const auto& at) { return at.second == owner; }))
                owners_.emplace(job.nspace, owner);
        } else if (!one.type.empty() && one.type != "tcp" && one.type != "udp") {
            throw Failure(PMIX_ERR_NOT_AVAILABLE, "it has nothing to do with a fabric of type " + one.type);
        }
        const pmix_value_t* key = request.value(PMIX_ALLOC_FABRIC_SEC_KEY);
        // Its type is a byte object; some ask with a flag.
        if (key != nullptr && (key->type != PMIX_BOOL || key->data.flag)) one.key = random_key();
        find_addresses(job, one);
        return one;
    }

    void take(const std::string& owner, size_t count, Allocation& one) {
        switch (ports_.take(owner, count, one.type, one.plane, one.ports)) {
            case Ports::Outcome::Taken:
                return;
            case Ports::Outcome::NoSuchPool:
                throw Failure(PMIX_ERR_NOT_AVAILABLE,
                              "PMIX_MCA_pnet_tcp_static_ports has no ports of type '" + one.type +
                                  "' on plane '" + one.plane + "'");
            case Ports::Outcome::TooFew:
                break;
        }
        throw Failure(PMIX_ERR_OUT_OF_RESOURCE, "of the ports in PMIX_MCA_pnet_tcp_static_ports not " +
                                                    std::to_string(count) +
                                                    " are free, which each node of the job needs");
    }

    void find_addresses(const muster_pnet_job_t& job, Allocation& one) const {
        for (size_t i = 0; i < job.nnodes; ++i) {
            const auto known = nodes_.find(job.nodes[i]);
            if (known == nodes_.end()) continue;
            Address address = address_on(known->second, one.plane);
            if (!address.text.empty())
                one.addresses.push_back({job.nodes[i], std::move(address.device), std::move(address.text)});
        }
    }

    static void add_facts(const Allocation& one, const sdk::InfoSink& add) {
        Info facts;
        facts.add(PMIX_ALLOC_FABRIC_ID, one.id.c_str());
        if (!one.type.empty()) facts.add(PMIX_ALLOC_FABRIC_TYPE, one.type.c_str());
        if (!one.plane.empty()) facts.add(PMIX_ALLOC_FABRIC_PLANE, one.plane.c_str());
        facts.add(PMIX_ALLOC_FABRIC_ENDPTS, size_t{one.per_process});
        facts.add(PMIX_ALLOC_FABRIC_ENDPTS_NODE, size_t{one.per_node});
        if (!one.ports.empty()) facts.add("pnet.tcp.ports", to_text(one.ports).c_str());
        if (one.per_node > 0) {
            std::string own;
            for (size_t i = 0; i < one.per_node && port_at(one.ports, i) != 0; ++i)
                own += (own.empty() ? "" : ",") + std::to_string(port_at(one.ports, i));
            facts.add("pnet.tcp.ports.node", own.c_str());
        }
        if (!one.key.empty()) {
            facts.add(PMIX_ALLOC_FABRIC_SEC_KEY,
                      pmix_byte_object_t{const_cast<char*>(one.key.data()), one.key.size()});
        }
        Info out;
        out.add(one.id.c_str(), std::move(facts).to_value());
        add_all(out, add);
    }

    void add_endpoints(const muster_pnet_job_t& job, const Allocation& one, const sdk::InfoSink& add) const {
        if (one.per_process == 0) return;
        std::map<std::string, Address> known;
        for (const NodeAddress& node : one.addresses)
            known[node.node] = {node.device, node.address};
        if (known.count(job.hostname) == 0) {
            Address own = address_on(local_interfaces(), one.plane);
            if (!own.text.empty()) known[job.hostname] = std::move(own);
        }
        const auto ranks = ranks_by_node(job);
        for (size_t node = 0; node < job.nnodes; ++node) {
            const auto address = known.find(job.nodes[node]);
            if (address == known.end()) continue;
            for (size_t index = 0; index < ranks[node].size(); ++index) {
                Info process;
                process.add(PMIX_RANK, Value::rank(ranks[node][index]));
                process.add(PMIX_FABRIC_ENDPT, endpoints(one, address->second, index));
                Info out;
                out.add(PMIX_PROC_INFO_ARRAY, std::move(process).to_value());
                add_all(out, add);
            }
        }
    }

    /// Returns the endpoints of the process with that index on its node.
    static Value endpoints(const Allocation& one, const Address& address, size_t index) {
        std::vector<std::string> names;
        for (size_t i = 0; i < one.per_process; ++i) {
            const uint16_t port = port_at(one.ports, one.per_node + index * one.per_process + i);
            if (port != 0) names.push_back(address.text + ":" + std::to_string(port));
        }
        std::vector<pmix_endpoint_t> points;
        for (std::string& name : names) {
            points.push_back({const_cast<char*>(address.text.c_str()),
                              const_cast<char*>(address.device.c_str()),
                              {name.data(), name.size()}});
        }
        return Value::array(points.data(), points.size(), PMIX_ENDPOINT);
    }

    static void add_devices(const char* node, const std::vector<Interface>& interfaces, const char* plane,
                            Info& devices) {
        std::vector<Interface> meant;
        for (const Interface& one : interfaces) {
            if (plane == nullptr || !address_on({one}, plane).text.empty()) meant.push_back(one);
        }
        Value value = to_devices(meant, node);
        for (const pmix_info_t& device : muster::value_as_infos(value.get()))
            devices.add_copy(device);
    }

    const sdk::Host host_;
    const std::string include_, exclude_;
    Ports ports_;
    std::multimap<std::string, std::string> owners_;       // by job: owners of ports, for ports_
    std::map<std::string, std::vector<Interface>> nodes_;  // by node, from inventories
};

constexpr muster_param_t kParams[] = {
    {"static_ports", MUSTER_PARAM_STRING, "", nullptr,
     "Ports to give to jobs: type:plane:ports, separated by semicolons, such as tcp:10.1.0.0/16:32000-32100",
     nullptr, nullptr},
    {"include", MUSTER_PARAM_STRING, "", nullptr,
     "Variables of the launcher's environment that its jobs get: a comma list, * at the end of a name for "
     "all "
     "that begin so",
     nullptr, nullptr},
    {"exclude", MUSTER_PARAM_STRING, "", nullptr,
     "Variables that are not carried, though included: a list as that one", nullptr, nullptr}};

}  // namespace

MUSTER_COMPONENT(pnet, tcp) {
    static const muster_component_t descriptor =
        sdk::pnet_component<Tcp>(muster::own_component("tcp", 5, kParams));
    return &descriptor;
}
