// SPDX-License-Identifier: BSD-3-Clause
// psec/native and psec/none, through their tables.
#include <gtest/gtest.h>
#include <pmix/sdk/psec.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "framework/psec.hpp"

MUSTER_COMPONENT(psec, native);
MUSTER_COMPONENT(psec, none);

namespace muster {
namespace {

class PsecTest : public testing::Test {
  protected:
    PsecTest() {
        host_.struct_size = sizeof host_;
        host_.log = [](void*, int, const char*) {};
        host_.context = this;
        host_.parameter = [](void* test, const char* name) -> const char* {
            if (std::string_view(name) != "trust_claims") return nullptr;
            return static_cast<PsecTest*>(test)->trust_claims_ ? "true" : "false";
        };
        host_.allocate = [](void*, size_t size) { return std::malloc(size); };
        host_.release = [](void*, void* block) { std::free(block); };
        host_.post = [](void*, void (*task)(void*), void* data) { task(data); };
    }
    ~PsecTest() override {
        psec_.reset();
        if (instance_ != nullptr) descriptor_->destroy(instance_);
    }
    void use(const muster_component_t* descriptor) {
        descriptor_ = descriptor;
        char reason[256] = "";
        ASSERT_EQ(descriptor->create(&host_, &instance_, reason), PMIX_SUCCESS) << reason;
        psec_ = std::make_unique<Psec>(static_cast<const muster_psec_t*>(instance_), descriptor->name);
    }
    static Bytes credential(uint32_t uid, uint32_t gid) {
        Bytes bytes;
        bytes.append(&uid, sizeof uid);
        bytes.append(&gid, sizeof gid);
        return bytes;
    }
    pmix_status_t validate(const Bytes& bytes, const PsecClaim& claim) {
        const Result<void> result = psec_->validate_credential(bytes.view(), claim);
        reason_ = result.error().text;
        return result.status();
    }

    muster_host_t host_{};
    const muster_component_t* descriptor_ = nullptr;
    void* instance_ = nullptr;
    std::unique_ptr<Psec> psec_;
    std::string reason_;
    bool trust_claims_ = false;
};

TEST_F(PsecTest, NativeCredentialIsUserAndGroupInHostOrder) {
    use(muster_component_psec_native());
    auto made = psec_->create_credential({});
    ASSERT_TRUE(made.ok()) << made.error().text;
    const Bytes want = credential(geteuid(), getegid());
    ASSERT_EQ(made->size(), 8U);
    EXPECT_EQ(std::memcmp(made->data(), want.data(), 8), 0);
    EXPECT_EQ(validate(*made, {geteuid(), getegid(), PeerCredentials{geteuid(), getegid(), getpid()}}),
              PMIX_SUCCESS);
}

TEST_F(PsecTest, NativeAcceptsOnlyTheRegisteredUserAndGroup) {
    use(muster_component_psec_native());
    const PeerCredentials kernel{1000, 100, 17};
    EXPECT_EQ(validate(credential(1000, 100), {1000, 100, kernel}), PMIX_SUCCESS);
    // Registered as another user or group.
    EXPECT_EQ(validate(credential(1000, 100), {1001, 100, kernel}), PMIX_ERR_INVALID_CRED);
    EXPECT_NE(reason_.find("user is 1000"), std::string::npos) << reason_;
    EXPECT_NE(reason_.find("1001"), std::string::npos) << reason_;
    EXPECT_EQ(validate(credential(1000, 100), {1000, 101, kernel}), PMIX_ERR_INVALID_CRED);
    EXPECT_NE(reason_.find("group"), std::string::npos) << reason_;
}

TEST_F(PsecTest, NativeRefusesClaimsWithoutKernelCredentials) {
    use(muster_component_psec_native());
    EXPECT_EQ(validate(credential(1000, 100), {1000, 100, std::nullopt}), PMIX_ERR_INVALID_CRED);
    EXPECT_NE(reason_.find("psec_native_trust_claims"), std::string::npos) << reason_;
}

TEST_F(PsecTest, NativeTrustsClaimsWhenConfigured) {
    trust_claims_ = true;
    use(muster_component_psec_native());
    EXPECT_EQ(validate(credential(1000, 100), {1000, 100, std::nullopt}), PMIX_SUCCESS);
    EXPECT_EQ(validate(credential(1000, 100), {1000, 101, std::nullopt}), PMIX_ERR_INVALID_CRED);
    EXPECT_EQ(validate(credential(0, 0), {0, 0, PeerCredentials{1000, 100, 17}}), PMIX_ERR_INVALID_CRED);
}

TEST_F(PsecTest, NativeRefusesClaimsThatContradictTheKernel) {
    use(muster_component_psec_native());
    // Claims the registered user, but runs as another.
    EXPECT_EQ(validate(credential(0, 0), {0, 0, PeerCredentials{1000, 100, 17}}), PMIX_ERR_INVALID_CRED);
    EXPECT_NE(reason_.find("its user is 1000"), std::string::npos) << reason_;
    EXPECT_EQ(validate(credential(0, 0), {0, 0, PeerCredentials{0, 100, 17}}), PMIX_ERR_INVALID_CRED);
    // Over TCP the kernel reports only the user.
    EXPECT_EQ(validate(credential(7, 8), {7, 8, PeerCredentials{7, PeerCredentials::kNoGid, 0}}),
              PMIX_SUCCESS);
    EXPECT_EQ(validate(credential(7, 8), {7, 8, PeerCredentials{9, PeerCredentials::kNoGid, 0}}),
              PMIX_ERR_INVALID_CRED);
}

TEST_F(PsecTest, NativeRefusesOtherLengths) {
    use(muster_component_psec_native());
    Bytes bytes = credential(1, 2);
    bytes.push_back(0);
    for (const size_t size : {0U, 1U, 4U, 7U, 9U}) {
        const Bytes cut(bytes.view().first(size));
        EXPECT_EQ(validate(cut, {1, 2, std::nullopt}), PMIX_ERR_INVALID_CRED) << size;
    }
}

TEST_F(PsecTest, NoneIsEmptyAndOnlyUsedWhenNamed) {
    use(muster_component_psec_none());
    EXPECT_LT(descriptor_->priority, 0);
    auto made = psec_->create_credential({});
    ASSERT_TRUE(made.ok()) << made.error().text;
    EXPECT_TRUE(made->empty());
    EXPECT_EQ(validate(Bytes(), {1, 2, PeerCredentials{3, 4, 5}}), PMIX_SUCCESS);
}

}  // namespace
}  // namespace muster
