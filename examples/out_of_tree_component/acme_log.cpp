// SPDX-License-Identifier: BSD-3-Clause
// plog/acme: what programs give to PMIx_Log under the key "acme.log" becomes a line in a file. An example of
// a component that is not part of Muster: a class, a table of parameters, and the function that the library
// exports.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <pmix/sdk/component.hpp>

namespace {

namespace sdk = muster::sdk;

class AcmeLog {
  public:
    explicit AcmeLog(sdk::Host host) : path_(host.parameter("path")) {
        // pmix_info shows this reason; the other components are not affected.
        if (path_.empty()) throw sdk::Failure(PMIX_ERR_NOT_AVAILABLE, "plog_acme_path names no file");
        host.log(5, "messages for acme.log go to " + path_);
    }

    static constexpr const char* kChannels = "acme.log";

    void write(const muster_plog_record_t& record) const {
        if (record.message == nullptr) throw sdk::Failure(PMIX_ERR_BAD_PARAM, "acme.log takes a string");
        std::string line;
        if (record.source != nullptr) line = std::to_string(record.source->rank) + ": ";
        // One line a message, whatever is in it.
        for (const char c : std::string_view(record.message, record.length))
            line += c == '\n' ? ' ' : c;
        line += '\n';
        const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        const bool written =
            fd >= 0 && ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
        const int error = errno;
        if (fd >= 0) ::close(fd);
        if (!written) throw sdk::Failure(PMIX_ERROR, path_ + ": " + std::strerror(error));
    }

  private:
    std::string path_;
};

constexpr muster_param_t kParameters[] = {
    {"path", MUSTER_PARAM_STRING, "", nullptr, "File to which messages are appended.", nullptr, nullptr},
};

}  // namespace

MUSTER_COMPONENT(plog, acme) {
    static const muster_component_t descriptor = sdk::plog_component<AcmeLog>(
        {.name = "acme", .version = "1.0", .vendor = "Acme", .priority = 60, .params = kParameters});
    return &descriptor;
}
