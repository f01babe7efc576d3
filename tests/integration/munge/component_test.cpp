// SPDX-License-Identifier: BSD-3-Clause
// psec/munge through its table, with a real munged: created, accepted and refused credentials, and the
// messages for refused ones.
#include <gtest/gtest.h>
#include <pmix/sdk/psec.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "framework/psec.hpp"
#include "tests/integration/munge/munged.hpp"

MUSTER_COMPONENT(psec, munge);

namespace muster {
namespace {

using integration::Munged;

class MungeComponent : public testing::Test {
  protected:
    void SetUp() override {
        if (!Munged::installed()) GTEST_SKIP() << "munged is not installed";
        ASSERT_EQ(munged_.emplace().error(), "");
        values_["socket"] = munged_->socket();
        values_["lifetime"] = "0";
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
    void TearDown() override {
        psec_.reset();
        if (instance_ != nullptr) muster_component_psec_munge()->destroy(instance_);
    }
    pmix_status_t create() {
        char reason[256] = "";
        const pmix_status_t status = muster_component_psec_munge()->create(&host_, &instance_, reason);
        reason_ = reason;
        if (status == PMIX_SUCCESS)
            psec_ = std::make_unique<Psec>(static_cast<const muster_psec_t*>(instance_), "munge");
        return status;
    }
    Bytes credential() {
        auto made = psec_->create_credential({});
        EXPECT_TRUE(made.ok()) << made.error().text;
        return made.ok() ? std::move(*made) : Bytes{};
    }
    static PsecClaim ourselves() { return {geteuid(), getegid(), std::nullopt}; }
    pmix_status_t validate(ByteView bytes, const PsecClaim& claim = ourselves()) {
        const Result<void> result = psec_->validate_credential(bytes, claim);
        reason_ = result.ok() ? "" : result.error().text;
        return result.status();
    }
    pmix_status_t validate(const std::string& text) {
        return validate(ByteView{reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    }
    bool said(const char* words) const { return reason_.find(words) != std::string::npos; }

    std::optional<Munged> munged_;
    std::map<std::string, std::string> values_;
    muster_host_t host_{};
    void* instance_ = nullptr;
    std::unique_ptr<Psec> psec_;
    std::string reason_;
};

TEST_F(MungeComponent, ACredentialIsTextAndValidOnce) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    const Bytes made = credential();
    ASSERT_GT(made.size(), 20U);
    const std::string text(reinterpret_cast<const char*>(made.data()));  // ended by a NUL, as OpenPMIx's
    EXPECT_EQ(text.size() + 1, made.size());
    EXPECT_EQ(text.rfind("MUNGE:", 0), 0U);
    EXPECT_EQ(validate(made.view()), PMIX_SUCCESS) << reason_;
    EXPECT_EQ(validate(made.view()), PMIX_ERR_INVALID_CRED);
    EXPECT_TRUE(said("shown before")) << reason_;
}

TEST_F(MungeComponent, ACredentialIsValidWithoutItsTerminator) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    const Bytes made = credential();
    EXPECT_EQ(validate(ByteView{made.data(), made.size() - 1}), PMIX_SUCCESS) << reason_;
}

TEST_F(MungeComponent, ACredentialNamesItsOwner) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    const Bytes made = credential();
    const auto owner = psec_->identify_credential(made.view());
    ASSERT_TRUE(owner.ok()) << owner.error().text;
    EXPECT_EQ(owner->uid, geteuid());
    EXPECT_EQ(owner->gid, getegid());
    EXPECT_EQ(psec_->identify_credential(made.view()).status(), PMIX_ERR_INVALID_CRED) << "a replay";
}

TEST_F(MungeComponent, ACredentialOfAnotherUserIsRefused) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    PsecClaim claim = ourselves();
    claim.uid += 1;
    EXPECT_EQ(validate(credential().view(), claim), PMIX_ERR_INVALID_CRED);
    EXPECT_TRUE(said("registered user")) << reason_;
    claim = ourselves();
    claim.gid += 1;
    EXPECT_EQ(validate(credential().view(), claim), PMIX_ERR_INVALID_CRED);
    EXPECT_TRUE(said("registered group")) << reason_;
    claim = ourselves();
    claim.kernel = PeerCredentials{};
    claim.kernel->uid = geteuid() + 1;
    claim.kernel->gid = getegid();
    EXPECT_EQ(validate(credential().view(), claim), PMIX_ERR_INVALID_CRED);
    EXPECT_TRUE(said("other end of the connection")) << reason_;
}

TEST_F(MungeComponent, AnExpiredCredentialIsRefused) {
    values_["lifetime"] = "1";
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    const Bytes made = credential();
    // munged counts whole seconds: the credential has expired when its clock has advanced by two.
    const auto end = std::chrono::system_clock::now() + std::chrono::milliseconds(2100);
    std::this_thread::sleep_until(end);
    EXPECT_EQ(validate(made.view()), PMIX_ERR_INVALID_CRED);
    EXPECT_TRUE(said("expired")) << reason_;
}

TEST_F(MungeComponent, ACredentialOfAnotherKeyIsRefused) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    const Bytes made = credential();
    psec_.reset();
    muster_component_psec_munge()->destroy(std::exchange(instance_, nullptr));
    const Munged stranger;
    ASSERT_EQ(stranger.error(), "");
    values_["socket"] = stranger.socket();
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    EXPECT_EQ(validate(made.view()), PMIX_ERR_INVALID_CRED);
    EXPECT_NE(reason_, "");
}

TEST_F(MungeComponent, MalformedCredentialsAreRefused) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    EXPECT_EQ(validate(""), PMIX_ERR_INVALID_CRED);
    EXPECT_EQ(validate(std::string(3, '\0')), PMIX_ERR_INVALID_CRED);
    EXPECT_EQ(validate("MUNGE:"), PMIX_ERR_INVALID_CRED);
    EXPECT_EQ(validate("nonsense"), PMIX_ERR_INVALID_CRED);
    EXPECT_EQ(validate(std::string("MUNGE:\0AAAA:", 12)), PMIX_ERR_INVALID_CRED);
    EXPECT_TRUE(said("no text")) << reason_;
    EXPECT_EQ(validate("MUNGE:" + std::string(1 << 20, 'A') + ":"), PMIX_ERR_INVALID_CRED);
    EXPECT_TRUE(said("more than any")) << reason_;
    Bytes made = credential();
    // One character changed; not every bit of the last base64 characters is significant.
    for (size_t i = 0; i + 8 < made.size(); i += 7) {
        Bytes changed;
        changed.append(made.view());
        changed.data()[i] = changed.data()[i] == 'A' ? 'B' : 'A';
        EXPECT_NE(validate(changed.view()), PMIX_SUCCESS) << "at " << i;
    }
    EXPECT_EQ(validate(made.view()), PMIX_SUCCESS) << "the attempts have used it up: " << reason_;
}

TEST_F(MungeComponent, TheSocketIsNamedWhenTheDaemonIsDown) {
    ASSERT_EQ(create(), PMIX_SUCCESS) << reason_;
    const Bytes made = credential();
    munged_->kill();
    EXPECT_EQ(validate(made.view()), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_TRUE(said("munged cannot be asked")) << reason_;
    const auto none = psec_->create_credential({});
    EXPECT_EQ(none.status(), PMIX_ERR_NOT_AVAILABLE);
    psec_.reset();
    muster_component_psec_munge()->destroy(std::exchange(instance_, nullptr));
    EXPECT_EQ(create(), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_TRUE(said("PMIX_MCA_psec_munge_socket")) << reason_;
    values_["socket"] = munged_->socket() + ".not.there";
    EXPECT_EQ(create(), PMIX_ERR_NOT_AVAILABLE);
}

}  // namespace
}  // namespace muster
