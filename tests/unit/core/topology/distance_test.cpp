// SPDX-License-Identifier: BSD-3-Clause
// Distances to the devices of a made-up machine.
#include "core/topology/distance.hpp"

#include "core/topology/topology.hpp"
#include "tests/unit/core/topology/hwloc_fixture.hpp"

namespace muster {
namespace {

class Distance : public testing::Test {
  protected:
    Distance() : machine_(Topology::from_xml(machine_with_devices())) {
        if (!machine_) ADD_FAILURE() << machine_.error().text;
    }
    std::vector<DeviceDistance> from(const char* list, const DeviceFilter& filter = {}) {
        auto found = device_distances(machine_->get(), units(list).get(), filter, "node7");
        return found ? *found : std::vector<DeviceDistance>{};
    }
    static const DeviceDistance* named(const std::vector<DeviceDistance>& all, const std::string& name) {
        for (const auto& one : all) {
            if (one.name == name) return &one;
        }
        return nullptr;
    }

    Result<Topology> machine_;
};

TEST_F(Distance, ListsEachDeviceOnce) {
    const auto all = from("0");
    ASSERT_EQ(all.size(), 4U);
    EXPECT_TRUE(named(all, "eth0"));
    EXPECT_TRUE(named(all, "vda"));
    EXPECT_TRUE(named(all, "cuda0"));
    EXPECT_TRUE(named(all, "mlx5_0"));
    EXPECT_EQ(named(all, "eth0")->uuid, "ipv4://52:54:00:12:34:56");
    EXPECT_EQ(named(all, "mlx5_0")->uuid, "fab://0002:c903:0001:4a5c::0002:c903:0001:4a5f");
    EXPECT_EQ(named(all, "cuda0")->uuid, "gpu://node7::cuda0");
    EXPECT_EQ(named(all, "mlx5_0")->type, PMIX_DEVTYPE_OPENFABRICS);
}

TEST_F(Distance, IsSmallerOnTheSamePackage) {
    const auto near = from("0"), far = from("1"), both = from("0-1");
    EXPECT_LT(named(near, "eth0")->nearest, named(far, "eth0")->nearest);
    EXPECT_GT(named(near, "cuda0")->nearest, named(far, "cuda0")->nearest);
    EXPECT_EQ(named(both, "eth0")->nearest, named(near, "eth0")->nearest);
    EXPECT_EQ(named(both, "eth0")->farthest, named(far, "eth0")->farthest);
    EXPECT_EQ(named(near, "eth0")->nearest, named(near, "eth0")->farthest);
}

TEST_F(Distance, IsUnknownWithoutABinding) {
    const auto all = from("55");
    ASSERT_TRUE(named(all, "eth0"));
    EXPECT_EQ(named(all, "eth0")->nearest, UINT16_MAX);
    EXPECT_EQ(named(all, "eth0")->farthest, UINT16_MAX);
}

TEST_F(Distance, SelectsByTypeNameAndUuid) {
    EXPECT_EQ(from("0", {PMIX_DEVTYPE_NETWORK, {}}).size(), 1U);
    EXPECT_EQ(from("0", {PMIX_DEVTYPE_NETWORK | PMIX_DEVTYPE_OPENFABRICS, {}}).size(), 2U);
    const auto gpus = from("0", {PMIX_DEVTYPE_GPU, {}});
    ASSERT_EQ(gpus.size(), 1U);
    EXPECT_EQ(gpus[0].name, "renderD128");
    EXPECT_EQ(from("0", {0, {"card0"}}).size(), 1U);
    EXPECT_EQ(from("0", {0, {"IPV4://52:54:00:12:34:56", "vda"}}).size(), 2U);
    EXPECT_EQ(device_distances(machine_->get(), units("0").get(), {PMIX_DEVTYPE_DMA, {}}, "n").status(),
              PMIX_ERR_NOT_FOUND);
}

TEST_F(Distance, StartsAtADevice) {
    const auto nearest = [&](const char* origin, const char* device) {
        DeviceFilter filter;
        filter.origin = origin;
        auto found = device_distances(machine_->get(), nullptr, filter, "node7");
        const DeviceDistance* one = found ? named(*found, device) : nullptr;
        return one == nullptr ? -1 : int{one->nearest};
    };
    for (const char* gpu : {"card0", "cuda0", "gpu://node7::cuda0", "0000:81:00.0", "81:00.0"}) {
        EXPECT_EQ(nearest(gpu, "cuda0"), 0) << gpu;
        EXPECT_GT(nearest(gpu, "mlx5_0"), 0) << gpu;
        EXPECT_LT(nearest(gpu, "mlx5_0"), nearest(gpu, "eth0")) << gpu;
    }
    EXPECT_LT(nearest("IPV4://52:54:00:12:34:56", "vda"), nearest("eth0", "mlx5_0"));
    DeviceFilter filter;
    filter.origin = "0000:99:00.0";
    EXPECT_EQ(device_distances(machine_->get(), units("0").get(), filter, "node7").status(),
              PMIX_ERR_NOT_FOUND);
}

}  // namespace
}  // namespace muster
