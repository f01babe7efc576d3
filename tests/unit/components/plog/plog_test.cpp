// SPDX-License-Identifier: BSD-3-Clause
// plog/stdfd and plog/syslog, through log_entries() as PMIx_Log uses them. syslog(3) is replaced by a
// recorder.
#include <gtest/gtest.h>
#include <syslog.h>

#include <cstdarg>
#include <ctime>

#include "framework/base/info.hpp"
#include "framework/plog.hpp"
#include "framework/registry.hpp"

MUSTER_COMPONENT(plog, stdfd);
MUSTER_COMPONENT(plog, syslog);

namespace {

struct Note {
    int priority;
    std::string text;
};
std::vector<Note> g_notes;

void note(int priority, const char* format, va_list arguments) {
    char text[8192];
    std::vsnprintf(text, sizeof text, format, arguments);
    g_notes.push_back({priority, text});
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void syslog(int priority, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note(priority, format, arguments);
    va_end(arguments);
}
// In optimised builds gcc calls the second of these for syslog(), and clang the first.
extern "C" __attribute__((visibility("default"))) void __vsyslog_chk(int priority, int, const char* format,
                                                                     va_list arguments) {
    note(priority, format, arguments);
}
extern "C" __attribute__((visibility("default"))) void __syslog_chk(int priority, int, const char* format,
                                                                    ...) {
    va_list arguments;
    va_start(arguments, format);
    note(priority, format, arguments);
    va_end(arguments);
}

namespace muster {
namespace {

class PlogTest : public ::testing::Test {
  protected:
    void SetUp() override {
        g_notes.clear();
        build({});
    }
    void build(std::vector<std::pair<std::string, std::string>> program) {
        static constexpr ComponentEntry entries[] = {muster_component_plog_stdfd,
                                                     muster_component_plog_syslog, nullptr};
        registry_.reset();
        parameters_ =
            std::make_unique<Parameters>(Parameters::Sources{.environment = false, .program = program});
        registry_ = std::make_unique<Registry>(*parameters_, Registry::Options{.linked = entries});
    }
    struct Output {
        Result<void> result;
        std::string out, err;
    };
    Output log(const Info& data, const Info& directives) {
        const std::vector<Plog*> plogs = registry_->plogs();
        const pmix_proc_t source = {"job,1", 3};
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        Result<void> result = log_entries(plogs, &source, data.view(), directives.view());
        Output output{std::move(result), ::testing::internal::GetCapturedStdout(),
                      ::testing::internal::GetCapturedStderr()};
        return output;
    }

    std::unique_ptr<Parameters> parameters_;
    std::unique_ptr<Registry> registry_;
};

TEST_F(PlogTest, PlainTextIsWrittenUnchanged) {
    Info data;
    data.add(PMIX_LOG_STDOUT, Value::from("to out"));
    data.add(PMIX_LOG_STDERR, Value::from("to err\n"));
    const Output output = log(data, {});
    EXPECT_TRUE(output.result.ok()) << output.result.error().text;
    EXPECT_EQ(output.out, "to out");
    EXPECT_EQ(output.err, "to err\n");
}

TEST_F(PlogTest, DirectivesAddSourceAndTime) {
    setenv("TZ", "UTC", 1);
    tzset();
    Info data;
    data.add(PMIX_LOG_STDOUT, Value::from("x"));
    Info directives;
    directives.add(PMIX_LOG_TAG_OUTPUT, Value::from(true));
    EXPECT_EQ(log(data, directives).out, "[job,1,3]<stdout>: x\n");
    const time_t when = 86400;
    directives.add(PMIX_LOG_TIMESTAMP, Value::of(PMIX_TIME, &when));
    EXPECT_EQ(log(data, directives).out, "1970-01-02T00:00:00+0000[job,1,3]<stdout>: x\n");
}

TEST_F(PlogTest, XmlIsEscaped) {
    Info data;
    data.add(PMIX_LOG_STDERR, Value::from("a<b>&\n\x1b"));
    Info directives;
    directives.add(PMIX_LOG_XML_OUTPUT, Value::from(true));
    EXPECT_EQ(log(data, directives).err,
              "<stderr nspace=\"job,1\" rank=\"3\">a&lt;b&gt;&amp;&#010;&#027;</stderr>\n");
}

TEST_F(PlogTest, SyslogTakesPriorityAndSource) {
    Info data;
    data.add(PMIX_LOG_SYSLOG, Value::from("disk full\nfake line %s"));
    data.add(PMIX_LOG_LOCAL_SYSLOG, Value::from("second"));
    Info directives;
    directives.add(PMIX_LOG_SYSLOG_PRI, Value::from(static_cast<int>(LOG_ALERT)));
    EXPECT_TRUE(log(data, directives).result.ok());
    ASSERT_EQ(g_notes.size(), 2U);
    EXPECT_EQ(g_notes[0].priority, LOG_USER | LOG_ALERT);
    EXPECT_EQ(g_notes[0].text, "job,1,3: disk full?fake line %s");
    EXPECT_EQ(g_notes[1].text, "job,1,3: second");
}

TEST_F(PlogTest, SyslogFollowsItsParameters) {
    build({{"plog_syslog_level", "notice"}, {"plog_syslog_facility", "daemon"}});
    Info data;
    data.add(PMIX_LOG_SYSLOG, Value::from("x"));
    EXPECT_TRUE(log(data, {}).result.ok());
    ASSERT_EQ(g_notes.size(), 1U);
    EXPECT_EQ(g_notes[0].priority, LOG_DAEMON | LOG_NOTICE);
}

TEST_F(PlogTest, OnlyAGatewayWritesToTheGlobalSyslog) {
    Info data;
    data.add(PMIX_LOG_GLOBAL_SYSLOG, Value::from("x"));
    EXPECT_EQ(log(data, {}).result.status(), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_TRUE(g_notes.empty());
    build({{"plog_syslog_gateway", "yes"}});
    EXPECT_TRUE(log(data, {}).result.ok());
    EXPECT_EQ(g_notes.size(), 1U);
}

TEST_F(PlogTest, LogOnceUsesTheFirstSupportedChannel) {
    Info data;
    data.add(PMIX_LOG_EMAIL, Value::from("nobody takes it"));
    data.add(PMIX_LOG_SYSLOG, Value::from("taken"));
    data.add(PMIX_LOG_STDOUT, Value::from("too late"));
    Info directives;
    directives.add(PMIX_LOG_ONCE, Value::from(true));
    const Output output = log(data, directives);
    EXPECT_TRUE(output.result.ok());
    EXPECT_EQ(output.out, "");
    EXPECT_EQ(g_notes.size(), 1U);
}

TEST_F(PlogTest, UnsupportedChannelsAreReported) {
    Info data;
    data.add("acme.log", Value::from("x"));
    const Output none = log(data, {});
    EXPECT_EQ(none.result.status(), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_NE(none.result.error().text.find("acme.log"), std::string::npos);
    data.add(PMIX_LOG_STDOUT, Value::from("y"));
    EXPECT_EQ(log(data, {}).result.status(), PMIX_ERR_PARTIAL_SUCCESS);
}

TEST_F(PlogTest, AValueOfAnotherTypeIsNotRead) {
    Info data;
    data.add(PMIX_LOG_STDOUT, Value::from(17));
    EXPECT_EQ(log(data, {}).result.status(), PMIX_ERR_BAD_PARAM);
}

}  // namespace
}  // namespace muster
