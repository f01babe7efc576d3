// SPDX-License-Identifier: BSD-3-Clause
// Tools in memory: processes that attach to a server that accepts tools. Their blocking calls
// run on a thread, while the test drives the server.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/tool/tool.hpp"
#include "tests/unit/core/in_memory/services.hpp"

namespace muster::testing_in_memory {

class ToolsInMemory : public ServicesInMemory {
  protected:
    ToolsInMemory() : ServicesInMemory(with(PMIX_SERVER_TOOL_SUPPORT)) {
        node.host.agreeable.insert("tool_connected");
    }
    explicit ToolsInMemory(Info directives) : ServicesInMemory(std::move(directives)) {
        node.host.agreeable.insert("tool_connected");
    }

    /// PMIx_tool_init with these directives and those that keep the tool in the test's folder.
    Result<std::unique_ptr<Process>> make_tool(Info directives,
                                               const std::function<void()>& each_turn = nullptr) {
        directives.add(PMIX_EXTERNAL_PROGRESS, true);
        directives.add(PMIX_HOSTNAME, node.name().c_str());
        if (!directives.view().has(PMIX_SERVER_TMPDIR)) directives.add(PMIX_SERVER_TMPDIR, node.folder());
        directives.add(PMIX_SYSTEM_TMPDIR, node.folder());
        Result<std::unique_ptr<Process>> made = Error{PMIX_ERROR, "not made"};
        beside([&] { made = Process::create_tool(directives); }, each_turn);
        return made;
    }
    pmix_status_t tool_status(Info directives, const std::function<void()>& each_turn = nullptr) {
        auto made = make_tool(std::move(directives), each_turn);
        const pmix_status_t status = made.status();
        if (made) leave(std::move(*made));
        return status;
    }
    /// A tool of this name, attached to the server and driven with the clients.
    Process& attach_tool(const char* nspace = "tool", Info directives = {}) {
        directives.add(PMIX_TOOL_NSPACE, nspace);
        directives.add(PMIX_SERVER_URI, uri().c_str());
        auto made = make_tool(std::move(directives));
        if (!made) {
            ADD_FAILURE() << made.error().text;
            return node.process();
        }
        return node.adopt(std::move(*made));
    }
    /// The tool finalizes and ends.
    void leave(std::unique_ptr<Process> tool) {
        beside([&] {
            tool->say_goodbye();
            tool.reset();
        });
    }
    const std::string& uri() { return node.server().tool_uri(); }
    static Info to(const std::string& server) {
        Info info;
        info.add(PMIX_SERVER_URI, server.c_str());
        return info;
    }
    size_t connected() {
        size_t count = 0;
        node.on_loop([&] { count = node.server().peers().size(); });
        return count;
    }
};

}  // namespace muster::testing_in_memory
