// SPDX-License-Identifier: BSD-3-Clause
// Services in detail: reports of monitors and their receivers, cached query results, supported attributes,
// and the host's arguments for fabrics, allocations, sessions and resource blocks.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"

namespace {

using integration::Host;

/// The arguments of the host's upcalls.
struct Told {
    std::mutex lock;  // guards all below
    std::condition_variable changed;
    std::vector<std::string> lines;
    uint32_t fact = 0;

    void note(std::string line) {
        std::lock_guard guard(lock);
        lines.push_back(std::move(line));
        changed.notify_all();
    }
    bool wait_for(const std::string& line) {
        std::unique_lock guard(lock);
        return changed.wait_for(guard, std::chrono::seconds(30),
                                [&] { return std::find(lines.begin(), lines.end(), line) != lines.end(); });
    }
    size_t count(const std::string& line) {
        std::lock_guard guard(lock);
        return static_cast<size_t>(std::count(lines.begin(), lines.end(), line));
    }
};
Told* told = nullptr;

class Details : public ::testing::Test {
  protected:
    void SetUp() override { told = &told_; }
    void TearDown() override { told = nullptr; }
    Told told_;
};

std::string id_of(const pmix_info_t* info, size_t ninfo) {
    for (size_t i = 0; i < ninfo; ++i) {
        if (strcmp(info[i].key, PMIX_MONITOR_ID) == 0) return info[i].value.data.string;
    }
    return "-";
}

pmix_status_t on_event(pmix_status_t code, const pmix_proc_t*, pmix_data_range_t, pmix_info_t info[],
                       size_t ninfo, pmix_op_cbfunc_t, void*) {
    told->note(std::string(PMIx_Error_string(code)) + " " + id_of(info, ninfo));
    return PMIX_OPERATION_SUCCEEDED;
}

TEST_F(Details, MonitorAlertsReachTheProcessAndOtherNodes) {
    const char* base = std::getenv("TMPDIR");
    std::string path = std::string(base == nullptr ? "/tmp" : base) + "/muster-watched-XXXXXX";
    const int file = mkstemp(path.data());
    ASSERT_GE(file, 0);
    close(file);
    Host host([](pmix_server_module_t& module) { module.notify_event = on_event; });
    const auto job = host.start_job(2, 1);  // one rank on another node
    auto beats = host.start_program(job, 0, SERVICES_CLIENT, {"heartbeat", "stay"});
    EXPECT_EQ(beats.line(), "MONITOR SUCCESS");
    auto client = host.start_program(job, 1, SERVICES_CLIENT, {"watch", path, "stay"});
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(client.line(), "MONITOR SUCCESS");
    EXPECT_EQ(client.line(), "CANCEL SUCCESS");
    EXPECT_EQ(client.line(), "CANCEL NOT_FOUND");
    EXPECT_EQ(client.line(), "TIMELESS BAD_PARAM");
    const std::set<std::string> alerts{client.line(30), client.line(30)};
    EXPECT_EQ(alerts, (std::set<std::string>{std::string("ALERT ") + PMIX_MONITOR_FILE_SIZE,
                                             std::string("ALERT ") + PMIX_MONITOR_FILE_MODIFY}));
    const std::string file_alert = PMIx_Error_string(PMIX_MONITOR_FILE_ALERT);
    EXPECT_TRUE(told_.wait_for(file_alert + " " + PMIX_MONITOR_FILE_SIZE));
    EXPECT_TRUE(told_.wait_for(file_alert + " " + PMIX_MONITOR_FILE_MODIFY));
    EXPECT_TRUE(told_.wait_for(std::string(PMIx_Error_string(PMIX_MONITOR_HEARTBEAT_ALERT)) + " -"));
    // Once is enough, as long as nothing changes.
    EXPECT_EQ(told_.count(file_alert + " " + PMIX_MONITOR_FILE_SIZE), 1U);
    for (auto* one : {&beats, &client}) {
        one->go_on();
        EXPECT_EQ(one->wait(), 0);
    }
    unlink(path.c_str());
}

TEST_F(Details, UsageOfANodeIsMeasuredByItsServer) {
    Host host;
    const auto job = host.start_job(2);
    auto other = host.start_program(job, 1, SERVICES_CLIENT, {"heartbeat", "stay"});
    EXPECT_EQ(other.line(), "MONITOR SUCCESS");
    auto client = host.start_program(job, 0, SERVICES_CLIENT, {"usage"});
    EXPECT_EQ(client.line(), "PROCESSES SUCCESS 0 1");
    EXPECT_EQ(client.line(), "REPORTING SUCCESS 0");
    EXPECT_EQ(client.line(30), "CANCEL SUCCESS");
    EXPECT_EQ(client.line(), "CANCEL NOT_FOUND");
    EXPECT_EQ(client.line(), "NODES NOT_SUPPORTED");
    EXPECT_EQ(client.wait(), 0);
    other.go_on();
    EXPECT_EQ(other.wait(), 0);
}

pmix_status_t on_monitor(const pmix_proc_t*, const pmix_info_t* monitor, pmix_status_t, const pmix_info_t*,
                         size_t, pmix_info_cbfunc_t done, void* data) {
    told->note(monitor->key);
    if (PMIx_Check_key(monitor->key, PMIX_MONITOR_CANCEL)) return PMIX_ERR_NOT_FOUND;
    const float load = 1;
    pmix_info_t facts[2], sample;
    PMIx_Info_load(&facts[0], PMIX_HOSTNAME, "elsewhere", PMIX_STRING);
    PMIx_Info_load(&facts[1], PMIX_NODE_LOAD_AVG, &load, PMIX_FLOAT);
    pmix_data_array_t array{PMIX_INFO, 2, facts};
    PMIx_Info_load(&sample, PMIX_NODE_RESOURCE_USAGE, &array, PMIX_DATA_ARRAY);
    done(PMIX_SUCCESS, &sample, 1, data, nullptr, nullptr);
    for (pmix_info_t* info : {&facts[0], &facts[1], &sample})
        PMIx_Info_destruct(info);
    return PMIX_SUCCESS;
}

TEST_F(Details, UsageOfOtherNodesIsTheHosts) {
    Host host([](pmix_server_module_t& module) { module.monitor = on_monitor; });
    const auto job = host.start_job(1);
    auto client = host.start_program(job, 0, SERVICES_CLIENT, {"usage"});
    EXPECT_EQ(client.line(), "PROCESSES SUCCESS 0");
    EXPECT_EQ(client.line(), "REPORTING SUCCESS 0");
    EXPECT_EQ(client.line(30), "CANCEL SUCCESS");
    EXPECT_EQ(client.line(), "CANCEL NOT_FOUND");
    EXPECT_EQ(client.line(), "NODES SUCCESS own other");
    EXPECT_EQ(client.wait(), 0);
    EXPECT_EQ(told_.count(PMIX_MONITOR_PROC_RESOURCE_USAGE), 0U);
    EXPECT_EQ(told_.count(PMIX_MONITOR_NODE_RESOURCE_USAGE), 1U);
    // Other nodes may report under the cancelled name.
    EXPECT_EQ(told_.count(PMIX_MONITOR_CANCEL), 2U);
}

TEST_F(Details, AQueryCachesResultsUntilARefresh) {
    Host host([](pmix_server_module_t& module) {
        module.query = [](pmix_proc_t*, pmix_query_t* queries, size_t, pmix_info_cbfunc_t done, void* data) {
            pmix_info_t info;
            memset(static_cast<void*>(&info), 0, sizeof info);
            uint32_t fact = 0;
            {
                std::lock_guard guard(told->lock);
                fact = ++told->fact;
            }
            PMIx_Info_load(&info, queries[0].keys[0], &fact, PMIX_UINT32);
            done(PMIX_SUCCESS, &info, 1, data, nullptr, nullptr);
            return PMIX_SUCCESS;
        };
    });
    const auto job = host.start_job(1);
    auto client = host.start_program(job, 0, SERVICES_CLIENT, {"ask_again"});
    EXPECT_EQ(client.line(), "FACT 1 1 2 2");
    EXPECT_EQ(client.wait(), 0);
    std::lock_guard guard(told_.lock);
    EXPECT_EQ(told_.fact, 2U);
}

TEST_F(Details, AQueryReturnsTheSupportedAttributesOfEachLevel) {
    Host host;
    // PRRTE names functions rather than upcalls, "NONE" and "N/A" if there is no attribute, and attributes
    // that only some version of the library knows; it does not start if one of them is refused.
    char function[] = "direct_modex", name[] = "PMIX_TIMEOUT", own[] = "MY_SITE_SAYS";
    char init[] = "PMIx_Init", none[] = "NONE", abort[] = "PMIx_Abort", not_there[] = "N/A";
    char* names[] = {name, own, nullptr};
    char* no_names[] = {none, nullptr};
    char* neither[] = {not_there, nullptr};
    EXPECT_EQ(PMIx_Register_attributes(function, names), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Register_attributes(init, no_names), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Register_attributes(abort, neither), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Register_attributes(function, names), PMIX_ERR_REPEAT_ATTR_REGISTRATION);
    auto client = host.start_program(host.start_job(1), 0, SERVICES_CLIENT, {"attributes"});
    const std::string begin = "LEVEL ";
    for (const char* level : {PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES, PMIX_SERVER_ATTRIBUTES}) {
        const std::string line = client.line();
        EXPECT_EQ(line.rfind(begin + level + " SUCCESS", 0), 0U) << line;
        EXPECT_NE(line.find(" PMIx_"), std::string::npos) << line;
    }
    // The attributes that the host registered, by the function that leads to the upcall.
    const std::string line = client.line();
    EXPECT_EQ(line, begin + PMIX_HOST_ATTRIBUTES +
                        " SUCCESS PMIx_Abort() PMIx_Init() PMIx_Get(PMIX_TIMEOUT,MY_SITE_SAYS)");
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Details, AFabricOfTheHostIsRegisteredUpdatedAndDeregistered) {
    Host host([](pmix_server_module_t& module) {
        module.fabric = [](const pmix_proc_t*, pmix_fabric_operation_t operation,
                           const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t done,
                           void* data) {
            told->note("fabric " + std::to_string(operation));
            for (size_t i = 0; i < ndirs; ++i) {
                if (strcmp(directives[i].key, PMIX_USERID) == 0) told->note("of a user");
            }
            const size_t index = 7;
            pmix_info_t info[2];
            PMIx_Info_load(&info[0], PMIX_FABRIC_INDEX, &index, PMIX_SIZE);
            PMIx_Info_load(&info[1], PMIX_FABRIC_VENDOR,
                           operation == PMIX_FABRIC_UPDATE_INFO ? "updated" : "first", PMIX_STRING);
            done(PMIX_SUCCESS, info, 2, data, nullptr, nullptr);
            PMIx_Info_destruct(&info[1]);
            return PMIX_SUCCESS;
        };
    });
    const auto vendor = [](const pmix_fabric_t& fabric) -> std::string {
        for (size_t i = 0; i < fabric.ninfo; ++i) {
            if (strcmp(fabric.info[i].key, PMIX_FABRIC_VENDOR) == 0) return fabric.info[i].value.data.string;
        }
        return "";
    };
    pmix_fabric_t fabric;
    memset(static_cast<void*>(&fabric), 0, sizeof fabric);
    EXPECT_EQ(PMIx_Fabric_register(nullptr, nullptr, 0), PMIX_ERR_BAD_PARAM);
    ASSERT_EQ(PMIx_Fabric_register(&fabric, nullptr, 0), PMIX_SUCCESS);
    EXPECT_EQ(fabric.index, 7U);
    EXPECT_EQ(vendor(fabric), "first");
    EXPECT_EQ(PMIx_Fabric_update(&fabric), PMIX_SUCCESS);
    EXPECT_EQ(vendor(fabric), "updated");
    EXPECT_EQ(PMIx_Fabric_deregister(&fabric), PMIX_SUCCESS);
    EXPECT_EQ(fabric.info, nullptr);
    EXPECT_GE(told_.count("of a user"), 1U);

    struct Waiter {
        std::mutex lock;
        std::condition_variable changed;
        std::vector<pmix_status_t> statuses;
        static void done(pmix_status_t status, void* data) {
            auto& self = *static_cast<Waiter*>(data);
            std::lock_guard guard(self.lock);
            self.statuses.push_back(status);
            self.changed.notify_all();
        }
        pmix_status_t wait(pmix_status_t returned, size_t count) {
            if (returned == PMIX_OPERATION_SUCCEEDED) {
                done(PMIX_SUCCESS, this);
            } else if (returned != PMIX_SUCCESS) {
                return returned;
            }
            std::unique_lock guard(lock);
            if (!changed.wait_for(guard, std::chrono::seconds(30), [&] { return statuses.size() >= count; }))
                return PMIX_ERR_TIMEOUT;
            return statuses.back();
        }
    } waiter;
    EXPECT_EQ(waiter.wait(PMIx_Fabric_register_nb(&fabric, nullptr, 0, Waiter::done, &waiter), 1),
              PMIX_SUCCESS);
    EXPECT_EQ(vendor(fabric), "first");
    EXPECT_EQ(waiter.wait(PMIx_Fabric_update_nb(&fabric, Waiter::done, &waiter), 2), PMIX_SUCCESS);
    EXPECT_EQ(vendor(fabric), "updated");
    EXPECT_EQ(waiter.wait(PMIx_Fabric_deregister_nb(&fabric, Waiter::done, &waiter), 3), PMIX_SUCCESS);
    EXPECT_EQ(fabric.info, nullptr);
    EXPECT_EQ(told_.count("fabric " + std::to_string(PMIX_FABRIC_REQUEST_INFO)), 2U);
    EXPECT_EQ(told_.count("fabric " + std::to_string(PMIX_FABRIC_UPDATE_INFO)), 2U);
}

/// Records an upcall's name with its relevant infos.
void note_keys(const std::string& name, const pmix_info_t info[], size_t ninfo) {
    std::string line = name;
    for (const char* key : {PMIX_USERID, PMIX_GRPID, PMIX_ALLOC_NUM_NODES, PMIX_SESSION_TERMINATE}) {
        for (size_t i = 0; i < ninfo; ++i) {
            if (strcmp(info[i].key, key) == 0) line += std::string(" ") + key;
        }
    }
    told->note(line);
}

TEST_F(Details, AllocationsSessionsAndBlocksReachTheHostWithTheRequester) {
    covers("SRV-49");
    Host host([](pmix_server_module_t& module) {
        module.allocate = [](const pmix_proc_t*, pmix_alloc_directive_t directive, const pmix_info_t info[],
                             size_t ninfo, pmix_info_cbfunc_t done, void* data) -> pmix_status_t {
            note_keys("allocate " + std::to_string(directive), info, ninfo);
            if (directive != PMIX_ALLOC_NEW) return PMIX_ERR_NOT_SUPPORTED;
            pmix_info_t answer;
            PMIx_Info_load(&answer, PMIX_ALLOC_ID, "granted", PMIX_STRING);
            done(PMIX_SUCCESS, &answer, 1, data, nullptr, nullptr);
            PMIx_Info_destruct(&answer);
            return PMIX_SUCCESS;
        };
        module.session_control = [](const pmix_proc_t*, uint32_t session, const pmix_info_t info[],
                                    size_t ninfo, pmix_info_cbfunc_t, void*) -> pmix_status_t {
            note_keys("session " + std::to_string(session), info, ninfo);
            return PMIX_OPERATION_SUCCEEDED;
        };
        module.resource_block = [](const pmix_proc_t*, pmix_resource_block_directive_t directive,
                                   const char* block, const pmix_resource_unit_t units[], size_t nunits,
                                   const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t,
                                   void*) -> pmix_status_t {
            note_keys("block " + std::to_string(directive) + " " + block + " " + std::to_string(nunits) +
                          "x" + std::to_string(units == nullptr ? 0 : units[0].count),
                      info, ninfo);
            return PMIX_ERR_NO_PERMISSIONS;
        };
    });
    const std::string who = std::string(" ") + PMIX_USERID + " " + PMIX_GRPID;
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const uint64_t nodes = 2;
    pmix_info_t info;
    PMIx_Info_load(&info, PMIX_ALLOC_NUM_NODES, &nodes, PMIX_UINT64);
    ASSERT_EQ(PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &results, &count), PMIX_SUCCESS);
    ASSERT_EQ(count, 1U);
    EXPECT_STREQ(results[0].value.data.string, "granted");
    PMIx_Info_free(results, count);
    EXPECT_EQ(told_.count("allocate " + std::to_string(PMIX_ALLOC_NEW) + who + " " + PMIX_ALLOC_NUM_NODES),
              1U);
    // A request that the host refuses fails with the host's status.
    EXPECT_EQ(PMIx_Allocation_request(PMIX_ALLOC_RELEASE, &info, 1, &results, &count),
              PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(count, 0U);
    PMIx_Info_load(&info, PMIX_SESSION_TERMINATE, nullptr, PMIX_BOOL);
    EXPECT_EQ(PMIx_Session_control(12, &info, 1, nullptr, nullptr), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(told_.count("session 12" + who + " " + PMIX_SESSION_TERMINATE), 1U);
    char block[] = "a.block";
    pmix_resource_unit_t unit{PMIX_DEVTYPE_GPU, 3};
    EXPECT_EQ(PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, block, &unit, 1, nullptr, 0),
              PMIX_ERR_NO_PERMISSIONS);
    EXPECT_EQ(told_.count("block " + std::to_string(PMIX_RESOURCE_BLOCK_DEFINE) + " a.block 1x3" + who), 1U);
}

}  // namespace
