// SPDX-License-Identifier: BSD-3-Clause
// pnet/tcp through its table, and its parts.
#include <gtest/gtest.h>
#include <pmix/sdk/pnet.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "components/pnet/tcp/allocation.hpp"
#include "components/pnet/tcp/interfaces.hpp"
#include "components/pnet/tcp/ports.hpp"
#include "framework/pnet.hpp"

MUSTER_COMPONENT(pnet, tcp);

namespace muster {
namespace {

using namespace pnet_tcp;

TEST(PnetPorts, ListsAreReadOrRefusedWithTheirPart) {
    Ports ports;
    std::string complaint;
    EXPECT_TRUE(ports.parse("", complaint));
    EXPECT_TRUE(ports.parse("tcp:eth0:32000-32003,33000;udp:fd00::/8:40000;", complaint)) << complaint;
    EXPECT_EQ(ports.free_ports(), 6U);
    for (const char* bad : {"tcp", "tcp:eth0", "tcp:eth0:", "tcp:eth0:0", "tcp:eth0:70000", "tcp:eth0:5-4",
                            "tcp:eth0:5-", "tcp:eth0:x", ":eth0:5", "tcp:eth0:1,,2"}) {
        EXPECT_FALSE(ports.parse(bad, complaint)) << bad;
        EXPECT_NE(complaint.find("type:plane:ports"), std::string::npos);
    }
    EXPECT_EQ(ports.free_ports(), 6U) << "a list that cannot be read has changed something";
}

TEST(PnetPorts, EachPortHasOneOwnerUntilItIsReleased) {
    Ports ports;
    std::string complaint;
    ASSERT_TRUE(ports.parse("tcp:a:10-13;tcp:b:20-29", complaint));
    std::string type = "tcp", plane;
    PortRanges first, second, third;
    ASSERT_EQ(ports.take("one", 3, type, plane, first), Ports::Outcome::Taken);
    EXPECT_EQ(to_text(first), "10-12");
    EXPECT_EQ(plane, "a");
    plane = "a";
    EXPECT_EQ(ports.take("two", 2, type, plane, second), Ports::Outcome::TooFew);
    plane = "";  // the next pool has enough
    ASSERT_EQ(ports.take("two", 2, type, plane, second), Ports::Outcome::Taken);
    EXPECT_EQ(to_text(second), "20-21");
    EXPECT_EQ(plane, "b");
    plane = "c";
    EXPECT_EQ(ports.take("three", 1, type, plane, third), Ports::Outcome::NoSuchPool);
    ports.give_back("one");
    plane = "a";
    ASSERT_EQ(ports.take("three", 4, type, plane, third), Ports::Outcome::Taken);
    EXPECT_EQ(to_text(third), "10-13");
    EXPECT_EQ(count_of(third), 4U);
    EXPECT_EQ(port_at(third, 3), 13);
    EXPECT_EQ(port_at(third, 4), 0);
}

TEST(PnetInterfaces, PlanesAreNamesSubnetsOrBeginnings) {
    std::vector<Interface> all(3);
    all[0].name = "lo";
    all[0].loopback = all[0].up = true;
    all[0].addresses = {"127.0.0.1"};
    all[1].name = "eth0";
    all[1].up = true;
    all[1].addresses = {"10.1.2.3", "fd00::7"};
    all[2].name = "eth1";
    all[2].addresses = {"10.9.9.9"};  // down
    EXPECT_EQ(address_on(all, "").text, "10.1.2.3");
    EXPECT_EQ(address_on(all, "any").device, "eth0");
    EXPECT_EQ(address_on(all, "lo").text, "127.0.0.1");
    EXPECT_EQ(address_on(all, "10.1.0.0/16").text, "10.1.2.3");
    EXPECT_EQ(address_on(all, "10.1.2.2/31").text, "10.1.2.3");
    EXPECT_EQ(address_on(all, "10.1.2.4/31").text, "");
    EXPECT_EQ(address_on(all, "fd00::/8").text, "fd00::7");
    EXPECT_EQ(address_on(all, "10.1.2").text, "10.1.2.3");
    EXPECT_EQ(address_on(all, "eth1").text, "");
    EXPECT_EQ(address_on(all, "10.1.0.0/99").text, "");

    const Value devices = to_devices(all, "node7");
    const auto back = from_devices(value_as_infos(devices.get()));
    ASSERT_EQ(back.size(), 3U);
    EXPECT_EQ(back[1].name, "eth0");
    EXPECT_EQ(back[1].addresses, all[1].addresses);
    EXPECT_TRUE(back[0].loopback);
    EXPECT_FALSE(back[2].up);
}

TEST(PnetInterfaces, FindsTheInterfacesOfThisMachine) {
    const auto all = local_interfaces();
    ASSERT_FALSE(all.empty());
    for (const Interface& one : all)
        EXPECT_NE(one.name, "");
}

Carried sample() {
    Carried carried;
    carried.variables = {{"NAME", "value"}, {"EMPTY", ""}};
    Allocation one;
    one.id = "net";
    one.type = "tcp";
    one.plane = "any";
    one.per_process = 2;
    one.per_node = 1;
    one.ports = {{32000, 32004}, {33000, 33000}};
    one.key = std::string("\0\1\2", 3);
    one.addresses = {{"n0", "eth0", "10.0.0.1"}, {"n1", "eth0", "10.0.0.2"}};
    carried.allocations = {one, Allocation{}};
    return carried;
}

TEST(PnetAllocation, RoundTrips) {
    const Bytes bytes = write(sample());
    Carried back;
    ASSERT_TRUE(read(bytes.view(), back));
    EXPECT_EQ(back.variables, sample().variables);
    ASSERT_EQ(back.allocations.size(), 2U);
    const Allocation& one = back.allocations[0];
    EXPECT_EQ(one.id, "net");
    EXPECT_EQ(one.per_process, 2U);
    EXPECT_EQ(to_text(one.ports), "32000-32004,33000");
    EXPECT_EQ(one.key.size(), 3U);
    ASSERT_EQ(one.addresses.size(), 2U);
    EXPECT_EQ(one.addresses[1].address, "10.0.0.2");
}

TEST(PnetAllocation, TruncatedOrChangedDataIsRefusedOrHarmless) {
    const Bytes bytes = write(sample());
    Carried back;
    for (size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(read(ByteView{bytes.data(), size}, back)) << size;
        EXPECT_TRUE(back.empty());
    }
    for (size_t at = 0; at < bytes.size(); ++at) {
        Bytes changed(bytes.view());
        changed.data()[at] = 0xff;
        EXPECT_TRUE(read(changed.view(), back) || back.empty()) << at;
    }
}

class PnetTcp : public testing::Test {
  protected:
    PnetTcp() {
        values_ = {
            {"static_ports", "tcp:lo:32000-32007;udp:lo:40000-40001"}, {"include", ""}, {"exclude", ""}};
        host_.struct_size = sizeof host_;
        host_.context = &values_;
        host_.log = [](void*, int, const char*) {};
        host_.parameter = [](void* context, const char* name) -> const char* {
            return (*static_cast<std::map<std::string, std::string>*>(context))[name].c_str();
        };
        host_.allocate = [](void*, size_t size) { return std::malloc(size); };
        host_.release = [](void*, void* block) { std::free(block); };
        host_.post = [](void*, void (*task)(void*), void* data) { task(data); };
    }
    ~PnetTcp() override {
        pnet_.reset();
        if (instance_ != nullptr) muster_component_pnet_tcp()->destroy(instance_);
    }
    pmix_status_t create() {
        char reason[256] = "";
        const pmix_status_t status = muster_component_pnet_tcp()->create(&host_, &instance_, reason);
        reason_ = reason;
        if (status == PMIX_SUCCESS)
            pnet_ = std::make_unique<Pnet>(static_cast<const muster_pnet_t*>(instance_), "tcp");
        return status;
    }
    /// Two nodes, ranks 0 and 1 on "here", 2 on "there".
    static PnetJob job(const char* nspace, const char* hostname = "here") {
        return {nspace, hostname, {"here", "there"}, {0, 0, 1}};
    }
    static Info request(size_t per_process, size_t per_node, const char* type = "tcp", bool key = false) {
        Info wanted;
        wanted.add(PMIX_ALLOC_FABRIC_ID, "my.net");
        wanted.add(PMIX_ALLOC_FABRIC_TYPE, type);
        wanted.add(PMIX_ALLOC_FABRIC_ENDPTS, per_process);
        wanted.add(PMIX_ALLOC_FABRIC_ENDPTS_NODE, per_node);
        if (key) wanted.add(PMIX_ALLOC_FABRIC_SEC_KEY, true);
        Info directives;
        directives.add(PMIX_ALLOC_FABRIC, std::move(wanted).to_value());
        return directives;
    }
    pmix_status_t allocate(const PnetJob& job, InfoView directives, Info& out, uint32_t what = 0) {
        const auto done = pnet_->allocate(job, directives, what, out);
        reason_ = done.ok() ? "" : done.error().text;
        return done.status();
    }
    /// The results of setup_local under the request's ID.
    static InfoView facts(const Info& local) { return local.view().infos("my.net"); }

    std::map<std::string, std::string> values_;
    muster_host_t host_{};
    void* instance_ = nullptr;
    std::unique_ptr<Pnet> pnet_;
    std::string reason_;
};

TEST_F(PnetTcp, ABrokenListOfPortsIsNamed) {
    values_["static_ports"] = "tcp:lo:none";
    EXPECT_EQ(create(), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_NE(reason_.find("pnet_tcp_static_ports"), std::string::npos) << reason_;
}

TEST_F(PnetTcp, PortsAndAKeyReachEachNode) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    Info carried;
    ASSERT_EQ(allocate(job("a"), request(2, 1, "tcp", true), carried), PMIX_SUCCESS) << reason_;
    ASSERT_EQ(carried.size(), 1U);
    EXPECT_EQ(carried[0].value.type, PMIX_BYTE_OBJECT) << "some hosts carry simple types only";
    Info here, there;
    ASSERT_TRUE(pnet_->setup_local(job("a"), carried, here).ok());
    ASSERT_TRUE(pnet_->setup_local(job("a", "there"), carried, there).ok());
    for (const Info* local : {&here, &there}) {
        EXPECT_STREQ(facts(*local).string(PMIX_ALLOC_FABRIC_TYPE), "tcp");
        EXPECT_STREQ(facts(*local).string(PMIX_ALLOC_FABRIC_PLANE), "lo");
        EXPECT_STREQ(facts(*local).string("pnet.tcp.ports"), "32000-32004");
        EXPECT_STREQ(facts(*local).string("pnet.tcp.ports.node"), "32000");
        const pmix_value_t* key = facts(*local).value(PMIX_ALLOC_FABRIC_SEC_KEY);
        ASSERT_NE(key, nullptr);
        EXPECT_EQ(key->data.bo.size, 32U);
        EXPECT_EQ(value_compare(key, facts(here).value(PMIX_ALLOC_FABRIC_SEC_KEY)), PMIX_EQUAL);
    }
    // Endpoints of the ranks of the own node: two each, after the node's port.
    std::string found;
    for (const pmix_info_t& entry : here) {
        if (!key_is(entry.key, PMIX_PROC_INFO_ARRAY)) continue;
        const InfoView process = value_as_infos(&entry.value);
        const pmix_value_t* points = process.value(PMIX_FABRIC_ENDPT);
        ASSERT_NE(points, nullptr);
        ASSERT_EQ(points->data.darray->type, PMIX_ENDPOINT);
        found += std::to_string(process.value(PMIX_RANK)->data.rank) + ":";
        const auto* point = static_cast<const pmix_endpoint_t*>(points->data.darray->array);
        for (size_t i = 0; i < points->data.darray->size; ++i)
            found += " " + std::string(point[i].endpt.bytes, point[i].endpt.size);
        found += ";";
    }
    EXPECT_EQ(found, "0: 127.0.0.1:32001 127.0.0.1:32002;1: 127.0.0.1:32003 127.0.0.1:32004;");
}

TEST_F(PnetTcp, InventoriesProvideTheAddressesOfOtherNodes) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    std::vector<Interface> interfaces(1);
    interfaces[0].name = "lo";
    interfaces[0].up = true;
    interfaces[0].addresses = {"10.0.0.9"};
    Info node;
    node.add(PMIX_FABRIC_DEVICES, to_devices(interfaces, nullptr));
    ASSERT_TRUE(pnet_->deliver_inventory("there", node).ok());
    Info carried, local;
    ASSERT_EQ(allocate(job("a"), request(1, 0), carried), PMIX_SUCCESS) << reason_;
    ASSERT_TRUE(pnet_->setup_local(job("a"), carried, local).ok());
    std::string rank2;
    for (const pmix_info_t& entry : local) {
        const InfoView process = value_as_infos(&entry.value);
        if (!key_is(entry.key, PMIX_PROC_INFO_ARRAY) || process.value(PMIX_RANK)->data.rank != 2) continue;
        const auto* point =
            static_cast<const pmix_endpoint_t*>(process.value(PMIX_FABRIC_ENDPT)->data.darray->array);
        rank2 = std::string(point->endpt.bytes, point->endpt.size) + " " + point->osname;
    }
    EXPECT_EQ(rank2, "10.0.0.9:32000 lo");
    Info fabric;
    ASSERT_TRUE(pnet_->describe_fabric({}, fabric).ok());
    EXPECT_GE(*fabric.view().number<size_t>(PMIX_FABRIC_NUM_DEVICES), 1U);
    EXPECT_STREQ(fabric.view().string(PMIX_FABRIC_IDENTIFIER), "tcp");
}

TEST_F(PnetTcp, JobsHaveDifferentPortsUntilTheyEnd) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    Info one, two, three;
    ASSERT_EQ(allocate(job("a"), request(2, 0), one), PMIX_SUCCESS) << reason_;  // 32000-32003
    ASSERT_EQ(allocate(job("b"), request(2, 0), two), PMIX_SUCCESS) << reason_;  // 32004-32007
    EXPECT_EQ(allocate(job("c"), request(1, 0), three), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_NE(reason_.find("static_ports"), std::string::npos);
    EXPECT_TRUE(three.empty());
    Info local;
    ASSERT_TRUE(pnet_->setup_local(job("b"), two, local).ok());
    EXPECT_STREQ(facts(local).string("pnet.tcp.ports"), "32004-32007");
    // On a repeated request a job keeps its ports.
    ASSERT_EQ(allocate(job("a"), request(2, 0), one), PMIX_SUCCESS) << reason_;
    pnet_->deregister("a");
    pnet_->deregister("never.there");
    EXPECT_EQ(allocate(job("c"), request(2, 0), three), PMIX_SUCCESS) << reason_;
}

TEST_F(PnetTcp, RequestsForOtherNetworksAreDeclined) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    Info out;
    EXPECT_EQ(allocate(job("a"), request(1, 0, "infiniband"), out), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_EQ(allocate(job("a"), request(0, 0, "infiniband"), out), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_EQ(allocate(job("a"), {}, out, MUSTER_PNET_NONENVARS), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_EQ(allocate(job("a"), request(0, 0, "tcp", true), out), PMIX_SUCCESS) << "a key alone";
}

TEST_F(PnetTcp, MalformedRequestsAreRefused) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    Info out, no_array, no_id, no_number;
    no_array.add(PMIX_ALLOC_FABRIC, "tcp");
    EXPECT_EQ(allocate(job("a"), no_array, out), PMIX_ERR_BAD_PARAM);
    Info empty;
    empty.add(PMIX_ALLOC_FABRIC_TYPE, "tcp");
    no_id.add(PMIX_ALLOC_FABRIC, std::move(empty).to_value());
    EXPECT_EQ(allocate(job("a"), no_id, out), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(allocate(job("a"), request(size_t{1} << 40, 0), out), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(allocate(PnetJob("a", "here", {}, {}), request(1, 0), out), PMIX_ERR_BAD_PARAM) << "no maps";
}

TEST_F(PnetTcp, VariablesAreForwardedByList) {
    values_["include"] = "PNET_TEST_*,PNET_OTHER";
    values_["exclude"] = "PNET_TEST_SECRET";
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    setenv("PNET_TEST_ONE", "1", 1);
    setenv("PNET_TEST_SECRET", "2", 1);
    setenv("PNET_OTHER_NOT", "3", 1);
    Info carried, local;
    EXPECT_EQ(allocate(job("a"), {}, carried, MUSTER_PNET_ENVARS), PMIX_SUCCESS) << reason_;
    ASSERT_TRUE(pnet_->setup_local(job("a"), carried, local).ok());
    ASSERT_EQ(local.size(), 1U);
    EXPECT_STREQ(local[0].key, PMIX_SET_ENVAR);
    EXPECT_STREQ(local[0].value.data.envar.envar, "PNET_TEST_ONE");
    EXPECT_STREQ(local[0].value.data.envar.value, "1");
    for (const char* name : {"PNET_TEST_ONE", "PNET_TEST_SECRET", "PNET_OTHER_NOT"})
        unsetenv(name);
}

TEST_F(PnetTcp, DataOfOtherNodesIsValidated) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    Info broken, text, local;
    char bytes[] = "nonsense";
    broken.add(kCarriedKey, pmix_byte_object_t{bytes, sizeof bytes});
    EXPECT_EQ(pnet_->setup_local(job("a"), broken, local).status(), PMIX_ERR_BAD_PARAM);
    text.add(kCarriedKey, "text");
    EXPECT_EQ(pnet_->setup_local(job("a"), text, local).status(), PMIX_ERR_BAD_PARAM);
    EXPECT_TRUE(local.empty());
    Info no_devices;
    no_devices.add(PMIX_FABRIC_DEVICES, "none");
    EXPECT_TRUE(pnet_->deliver_inventory("there", no_devices).ok());
}

}  // namespace
}  // namespace muster
