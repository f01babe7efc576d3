// SPDX-License-Identifier: BSD-3-Clause
// plog/syslog: messages through syslog(3). openlog() is never called: its settings are the host program's.
#include <syslog.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <iterator>
#include <pmix/sdk/component.hpp>

namespace {

namespace sdk = muster::sdk;

constexpr size_t kMaxMessage = 4096;

struct Word {
    const char* name;
    int value;
};
constexpr Word kLevels[] = {{"emerg", LOG_EMERG}, {"alert", LOG_ALERT},  {"crit", LOG_CRIT},
                            {"err", LOG_ERR},     {"warn", LOG_WARNING}, {"notice", LOG_NOTICE},
                            {"info", LOG_INFO},   {"debug", LOG_DEBUG}};
constexpr Word kFacilities[] = {
    {"auth", LOG_AUTH}, {"authpriv", LOG_AUTHPRIV}, {"daemon", LOG_DAEMON}, {"user", LOG_USER}};

template <size_t N>
int value_of(const Word (&words)[N], std::string_view name) {
    const auto* found =
        std::find_if(std::begin(words), std::end(words), [&](const Word& w) { return name == w.name; });
    // The host has checked the parameter against its choices.
    return found == std::end(words) ? 0 : found->value;
}

class Syslog {
  public:
    explicit Syslog(sdk::Host host)
        : level_(value_of(kLevels, host.parameter("level"))),
          facility_(value_of(kFacilities, host.parameter("facility"))),
          gateway_(host.boolean("gateway")) {}

    static constexpr const char* kChannels =
        PMIX_LOG_SYSLOG "," PMIX_LOG_LOCAL_SYSLOG "," PMIX_LOG_GLOBAL_SYSLOG;

    void write(const muster_plog_record_t& record) const {
        if (!gateway_ && std::strcmp(record.channel, PMIX_LOG_GLOBAL_SYSLOG) == 0) {
            throw sdk::Failure(
                PMIX_ERR_NOT_AVAILABLE,
                "this node's syslog is not the global one; set plog_syslog_gateway where it is");
        }
        if (record.message == nullptr) {
            throw sdk::Failure(PMIX_ERR_BAD_PARAM, std::string(record.channel) + " takes a string");
        }
        const int severity =
            record.severity >= LOG_EMERG && record.severity <= LOG_DEBUG ? record.severity : level_;
        std::string text;
        if ((record.flags & MUSTER_PLOG_TIMESTAMP) != 0) {
            // syslog uses its own time: that of arrival.
            tm parts{};
            char when[64];
            if (gmtime_r(&record.timestamp, &parts) != nullptr &&
                strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ ", &parts) != 0) {
                text += when;
            }
        }
        if (record.source != nullptr) {
            text.append(record.source->nspace, strnlen(record.source->nspace, PMIX_MAX_NSLEN));
            text += "," + std::to_string(record.source->rank) + ": ";
        }
        text.append(record.message, std::min(record.length, kMaxMessage));
        for (char& c : text) {
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
        }
        ::syslog(facility_ | severity, "%s", text.c_str());
    }

  private:
    int level_;
    int facility_;
    bool gateway_;
};

constexpr muster_param_t kParameters[] = {
    {"level", MUSTER_PARAM_CHOICE, "err", nullptr, "Priority of messages without one.",
     "emerg,alert,crit,err,warn,notice,info,debug", nullptr},
    {"facility", MUSTER_PARAM_CHOICE, "user", nullptr, "Facility under which messages are filed.",
     "auth,authpriv,daemon,user", nullptr},
    {"gateway", MUSTER_PARAM_BOOL, "false", nullptr, "The syslog of this node is the global one.", nullptr,
     nullptr},
};

constexpr muster_param_attribute_t kAttributes[] = {{PMIX_SERVER_GATEWAY, PMIX_BOOL, "gateway"}};

}  // namespace

MUSTER_COMPONENT(plog, syslog) {
    static const muster_component_t descriptor = sdk::plog_component<Syslog>({.name = "syslog",
                                                                              .version = MUSTER_VERSION,
                                                                              .vendor = "Muster",
                                                                              .priority = 50,
                                                                              .params = kParameters,
                                                                              .attributes = kAttributes});
    return &descriptor;
}
