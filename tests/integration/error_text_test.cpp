// SPDX-License-Identifier: BSD-3-Clause
// The sentence of a failed init call, which MUSTER_ERROR_TEXT returns to the caller.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix/muster.h>
#include <pmix_tool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "tests/integration/host.hpp"
#include "tests/integration/restricted.hpp"

namespace {

using integration::Host;
using integration::well_apart;

/// The status of an init call, and its sentence; "none" if it has set the pointer to null.
struct Said {
    pmix_status_t status = PMIX_SUCCESS;
    std::string text;
    bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
};

template <class Init>
Said say(const Init& init) {
    char unset[] = "unset";
    char* text = unset;
    pmix_info_t info;
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_LOAD_KEY(info.key, MUSTER_ERROR_TEXT);
    info.value.type = PMIX_POINTER;
    info.value.data.ptr = &text;
    Said said{init(&info), text == nullptr ? "none" : text};
    if (text != unset) std::free(text);
    return said;
}

Said client_init() {
    return say([](pmix_info_t* info) { return PMIx_Init(nullptr, info, 1); });
}

/// Result of a tool for the server at this address.
Said tool_init(const char* uri) {
    return say([uri](pmix_info_t* text) {
        pmix_info_t infos[2];
        infos[0] = *text;
        EXPECT_EQ(PMIx_Info_load(&infos[1], PMIX_SERVER_URI, uri, PMIX_STRING), PMIX_SUCCESS);
        pmix_proc_t self;
        const pmix_status_t status = PMIx_tool_init(&self, infos, 2);
        PMIX_INFO_DESTRUCT(&infos[1]);
        return status;
    });
}

/// Result for the server in the environment.
const char* address() {
    for (const char* name : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3"}) {
        if (const char* value = std::getenv(name)) return value;
    }
    return "";
}

Said server_init() {
    return say([](pmix_info_t* info) {
        pmix_server_module_t module{};
        return PMIx_server_init(&module, info, 1);
    });
}

/// A host in a separate process, until this object ends; the environment of its client is in the environment
/// of this process.
class HostApart {
  public:
    HostApart() {
        EXPECT_EQ(pipe(told_), 0);
        EXPECT_EQ(pipe(end_), 0);
        host_ = fork();
        if (host_ == 0) serve();
        close(std::exchange(told_[1], -1));
        close(std::exchange(end_[0], -1));
        std::string all;
        char piece[4096];
        for (ssize_t got = 0; (got = read(told_[0], piece, sizeof piece)) > 0;)
            all.append(piece, static_cast<size_t>(got));
        for (size_t at = 0, stop = 0; (stop = all.find('\0', at)) != std::string::npos; at = stop + 1) {
            const std::string variable = all.substr(at, stop - at);
            const size_t equals = variable.find('=');
            setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
        }
    }
    HostApart(const HostApart&) = delete;
    ~HostApart() {
        close(end_[1]);
        close(told_[0]);
        waitpid(host_, nullptr, 0);
    }

  private:
    [[noreturn]] void serve() {
        close(end_[1]);
        {
            Host host;
            for (const std::string& variable : host.environment(host.start_job(1), 0))
                EXPECT_GT(write(told_[1], variable.c_str(), variable.size() + 1), 0);
            close(told_[1]);
            char nothing = 0;
            EXPECT_EQ(read(end_[0], &nothing, 1), 0);
        }
        _exit(0);
    }

    int told_[2] = {-1, -1}, end_[2] = {-1, -1};
    pid_t host_ = -1;
};

TEST(ErrorText, OfAClientWhoseServerIsGone) {
    EXPECT_TRUE(well_apart([] {
        alarm(30);
        { const HostApart gone; }
        const Said said = client_init();
        EXPECT_NE(said.status, PMIX_SUCCESS);
        EXPECT_TRUE(said.has("usock") || said.has("://") || said.has("server")) << said.text;
        EXPECT_EQ(PMIx_Initialized(), 0);
    }));
}

TEST(ErrorText, OfAClientWithoutASecurityComponent) {
    EXPECT_TRUE(well_apart([] {
        alarm(30);
        const HostApart host;
        setenv("PMIX_MCA_psec", "nativ", 1);
        const Said said = client_init();
        EXPECT_NE(said.status, PMIX_SUCCESS);
        EXPECT_TRUE(said.has("psec") && said.has("nativ")) << said.text;
    }));
}

TEST(ErrorText, OfAToolWhoseServerIsGone) {
    EXPECT_TRUE(well_apart([] {
        alarm(30);
        const Said said = tool_init("nobody.0;tcp4://127.0.0.1:1");
        EXPECT_EQ(said.status, PMIX_ERR_UNREACH);
        EXPECT_TRUE(said.has("127.0.0.1:1")) << said.text;
    }));
}

TEST(ErrorText, OfAToolWithoutASecurityComponent) {
    EXPECT_TRUE(well_apart([] {
        alarm(30);
        const HostApart host;
        setenv("PMIX_MCA_psec", "nativ", 1);
        const Said said = tool_init(address());
        EXPECT_NE(said.status, PMIX_SUCCESS);
        EXPECT_TRUE(said.has("psec") && said.has("nativ")) << said.text;
    }));
}

TEST(ErrorText, IsNullWhereNothingFails) {
    EXPECT_TRUE(well_apart([] {
        alarm(30);
        Said said = server_init();
        EXPECT_EQ(said.status, PMIX_SUCCESS);
        EXPECT_EQ(said.text, "none");
        said = client_init();  // another reference
        EXPECT_EQ(said.text, "none");
    }));
}

TEST(ErrorText, OfAThreadThatTheKernelRefuses) {
    EXPECT_TRUE(well_apart([] {
        alarm(30);
        integration::refuse(SYS_clone3, EPERM);
        const Said said = server_init();
        EXPECT_EQ(said.status, PMIX_ERR_NO_PERMISSIONS);
        EXPECT_TRUE(said.has("thread") && said.has("clone3")) << said.text;
    }));
}

}  // namespace
