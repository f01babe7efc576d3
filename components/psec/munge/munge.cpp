// SPDX-License-Identifier: BSD-3-Clause
// psec/munge: the credential is one of MUNGE without payload, as text with its NUL. munged makes it and
// munged judges it, so each call asks the daemon of this node; a context of libmunge serves one thread, hence
// one a call.
#include <munge.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <pmix/sdk/component.hpp>
#include <string>

#include "framework/base/own_component.hpp"

namespace {

namespace sdk = muster::sdk;
using sdk::Failure;

// A credential without payload has about 150 characters; a much longer one is not from this component.
constexpr size_t kMaxCredential = 16384;
constexpr uint32_t kNoGid = UINT32_MAX;

struct CloseContext {
    void operator()(munge_ctx_t context) const { munge_ctx_destroy(context); }
};
using Context = std::unique_ptr<struct munge_ctx, CloseContext>;

/// Whether no process listens at the path any more. libmunge tries for two seconds to find that out. A
/// datagram socket is never connected to munged's (the kernel says EPROTOTYPE), so munged does not notice the
/// test.
bool deserted(const char* path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return false;
    std::strcpy(address.sun_path, path);
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    const int status = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const bool refused = status != 0 && errno == ECONNREFUSED;
    ::close(fd);
    return refused;
}

struct Free {
    void operator()(void* block) const { std::free(block); }
};

class Munge {
  public:
    explicit Munge(sdk::Host host)
        : host_(host), socket_(host.parameter("socket")), lifetime_(host.integer("lifetime")) {
        // To find out now that no munged answers lets the next component be chosen.
        encode();
    }

    sdk::Buffer create_credential(std::span<const pmix_info_t>) const {
        const std::string text = encode();
        sdk::Buffer credential(host_, text.size() + 1);
        std::memcpy(credential.data(), text.c_str(), text.size() + 1);
        return credential;
    }

    void validate_credential(std::span<const uint8_t> credential, const muster_psec_claim_t& claim) const {
        const Owner owner = decode(credential);
        compare("user", owner.uid, claim.uid, "the registered user");
        compare("group", owner.gid, claim.gid, "the registered group");
        if (!claim.kernel_known) return;
        compare("user", owner.uid, claim.kernel_uid, "the user at the other end of the connection");
        if (claim.kernel_gid != kNoGid)
            compare("group", owner.gid, claim.kernel_gid, "the group at the other end of the connection");
    }

    void identify_credential(std::span<const uint8_t> credential, muster_psec_owner_t& found) const {
        const Owner owner = decode(credential);
        found.uid = owner.uid;
        found.gid = owner.gid;
    }

  private:
    struct Owner {
        uid_t uid = 0;
        gid_t gid = 0;
    };

    Context open() const {
        Context context(munge_ctx_create());
        if (!context) throw std::bad_alloc();
        if (!socket_.empty()) set(context.get(), MUNGE_OPT_SOCKET, socket_.c_str());
        char* path = nullptr;  // the context's
        if (munge_ctx_get(context.get(), MUNGE_OPT_SOCKET, &path) == EMUNGE_SUCCESS && deserted(path))
            unreachable("no munged listens at " + std::string(path));
        return context;
    }

    template <class Value>
    static void set(munge_ctx_t context, munge_opt_t option, Value value) {
        if (munge_ctx_set(context, option, value) != EMUNGE_SUCCESS) {
            const char* why = munge_ctx_strerror(context);
            throw Failure(PMIX_ERR_NOT_AVAILABLE, std::string("libmunge refuses an option: ") +
                                                      (why == nullptr ? "it does not say why" : why));
        }
    }

    [[noreturn]] static void unreachable(const std::string& why) {
        throw Failure(PMIX_ERR_NOT_AVAILABLE, "munged cannot be asked (" + why +
                                                  "); start it, or name its socket with " +
                                                  "PMIX_MCA_psec_munge_socket");
    }

    /// munged's status, or libmunge's error if there is none.
    [[noreturn]] void fail(munge_ctx_t context, munge_err_t error, pmix_status_t code) const {
        const char* detail = munge_ctx_strerror(context);
        const std::string text = detail == nullptr ? munge_strerror(error) : detail;
        if (error == EMUNGE_SOCKET) unreachable(text);
        if (error == EMUNGE_NO_MEMORY) throw std::bad_alloc();
        throw Failure(code, text);
    }

    std::string encode() const {
        const Context context = open();
        if (lifetime_ > 0) set(context.get(), MUNGE_OPT_TTL, static_cast<int>(lifetime_));
        char* text = nullptr;
        const munge_err_t error = munge_encode(&text, context.get(), nullptr, 0);
        const std::unique_ptr<char, Free> owner(text);
        if (error != EMUNGE_SUCCESS) fail(context.get(), error, PMIX_ERR_NOT_AVAILABLE);
        return text;
    }

    Owner decode(std::span<const uint8_t> credential) const {
        // libmunge reads up to a NUL. A NUL at the end belongs to the credential; any other NUL is invalid.
        while (!credential.empty() && credential.back() == 0)
            credential = credential.first(credential.size() - 1);
        if (credential.empty()) throw Failure(PMIX_ERR_INVALID_CRED, "the credential is empty");
        if (credential.size() > kMaxCredential) {
            throw Failure(PMIX_ERR_INVALID_CRED, "the credential has " + std::to_string(credential.size()) +
                                                     " bytes, more than any of MUNGE");
        }
        for (const uint8_t byte : credential) {
            if (byte < 0x20 || byte > 0x7e)
                throw Failure(PMIX_ERR_INVALID_CRED, "the credential is no text, as MUNGE's are");
        }
        const std::string text(credential.begin(), credential.end());
        const Context context = open();
        Owner owner;
        void* payload = nullptr;
        int length = 0;
        const munge_err_t error =
            munge_decode(text.c_str(), context.get(), &payload, &length, &owner.uid, &owner.gid);
        const std::unique_ptr<void, Free> payload_owner(payload);
        switch (error) {
            case EMUNGE_SUCCESS:
                return owner;
            case EMUNGE_CRED_EXPIRED:
                throw Failure(PMIX_ERR_INVALID_CRED,
                              "the credential has expired; do the clocks of both nodes agree?");
            case EMUNGE_CRED_REWOUND:
                throw Failure(PMIX_ERR_INVALID_CRED,
                              "the credential comes from the future; do the clocks of both nodes agree?");
            case EMUNGE_CRED_REPLAYED:
                throw Failure(PMIX_ERR_INVALID_CRED,
                              "the credential was shown before; each serves once (a replay?)");
            default:
                fail(context.get(), error, PMIX_ERR_INVALID_CRED);
        }
    }

    static void compare(const char* what, uint32_t proved, uint32_t wanted, const char* whose) {
        if (proved == wanted) return;
        throw Failure(PMIX_ERR_INVALID_CRED, std::string("the credential is of ") + what + " " +
                                                 std::to_string(proved) + ", but " + whose + " is " +
                                                 std::to_string(wanted));
    }

    const sdk::Host host_;
    const std::string socket_;
    const long long lifetime_;
};

constexpr muster_param_t kParams[] = {
    {"socket", MUSTER_PARAM_STRING, "", nullptr,
     "Path of munged's socket; empty: the one that libmunge was built with", nullptr, nullptr},
    {"lifetime", MUSTER_PARAM_UNSIGNED, "0", "seconds",
     "How long a credential made here can be shown; 0: as long as munged is set to", nullptr, nullptr}};

}  // namespace

MUSTER_COMPONENT(psec, munge) {
    static const muster_component_t descriptor =
        sdk::psec_component<Munge>(muster::own_component("munge", 80, kParams));
    return &descriptor;
}
