// SPDX-License-Identifier: BSD-3-Clause
// The registry: the selected components, their order, and the recorded reason; with components defined here
// and with files (see components/).
#include "framework/registry.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "framework/base/install.hpp"
#include "framework/plog.hpp"
#include "framework/psec.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

// --- components defined here: their create() records its calls ---

std::vector<std::string> g_created;
std::vector<std::string> g_destroyed;

struct Fake {
    muster_plog_t table{};
    std::string name;
};

std::vector<std::string> g_asked;  // whom a message was offered, and who takes it
std::string g_taker;

pmix_status_t write_fake(void* context, const muster_plog_record_t*, char*) {
    g_asked.push_back(static_cast<Fake*>(context)->name);
    return g_asked.back() == g_taker ? PMIX_SUCCESS : PMIX_ERR_NOT_AVAILABLE;
}

template <int index>
pmix_status_t create_fake(const muster_host_t* host, void** instance, char* reason) {
    static const char* const names[] = {"red", "green", "blue"};
    g_created.emplace_back(names[index]);
    auto* fake = new Fake;
    fake->name = names[index];
    fake->table.struct_size = sizeof fake->table;
    fake->table.context = fake;
    fake->table.channels = PMIX_LOG_STDOUT "," PMIX_LOG_STDERR;
    fake->table.write = write_fake;
    if (const char* mood = host->parameter(host->context, "mood");
        mood != nullptr && std::string_view(mood) == "bad") {
        delete fake;
        std::snprintf(reason, 256, "in a bad mood");
        return PMIX_ERR_NOT_AVAILABLE;
    }
    *instance = &fake->table;
    return PMIX_SUCCESS;
}

void destroy_fake(void* instance) {
    auto* fake = static_cast<Fake*>(static_cast<muster_plog_t*>(instance)->context);
    g_destroyed.push_back(fake->name);
    delete fake;
}

constexpr muster_param_t kParameters[] = {
    {"mood", MUSTER_PARAM_CHOICE, "good", nullptr, "How it feels.", "good,bad", "plog_old_mood"},
};

template <int index>
const muster_component_t* fake() {
    static const char* const names[] = {"red", "green", "blue"};
    static const int priorities[] = {20, 30, 10};
    static const muster_component_t descriptor = [] {
        muster_component_t made{};
        made.struct_size = sizeof made;
        made.sdk_major = MUSTER_SDK_MAJOR;
        made.sdk_minor = MUSTER_SDK_MINOR;
        made.framework = "plog";
        made.interface_version = MUSTER_PLOG_INTERFACE;
        made.name = names[index];
        made.version = "1.2";
        made.priority = priorities[index];
        made.params = kParameters;
        made.nparams = 1;
        made.create = create_fake<index>;
        made.destroy = destroy_fake;
        return made;
    }();
    return &descriptor;
}

constexpr ComponentEntry kFakes[] = {fake<0>, fake<1>, fake<2>, nullptr};

class RegistryTest : public ::testing::Test {
  protected:
    void SetUp() override {
        g_created.clear();
        g_destroyed.clear();
    }
    /// A registry with the fakes and the program's settings.
    Registry& build(std::vector<std::pair<std::string, std::string>> program = {},
                    std::vector<std::string> folders = {}) {
        registry_.reset();
        Parameters::Sources sources;
        sources.environment = false;
        sources.program = std::move(program);
        parameters_ = std::make_unique<Parameters>(sources);
        Registry::Options options;
        options.linked = kFakes;
        options.folders = std::move(folders);
        registry_ = std::make_unique<Registry>(*parameters_, options);
        return *registry_;
    }
    static std::vector<std::string> names(const std::vector<Plog*>& plogs) {
        std::vector<std::string> out;
        for (const Plog* plog : plogs)
            out.push_back(plog->name());
        return out;
    }
    ComponentRecord record(const std::string& name) {
        for (const ComponentRecord& one : registry_->inventory()) {
            if (one.name == name && one.framework == "plog") return one;
        }
        ADD_FAILURE() << "no " << name;
        return {};
    }

    using Names = std::vector<std::string>;
    std::unique_ptr<Parameters> parameters_;
    std::unique_ptr<Registry> registry_;
};

TEST_F(RegistryTest, TheHighestPriorityComesFirst) {
    EXPECT_EQ(names(build().plogs()), (Names{"green", "red", "blue"}));
    EXPECT_TRUE(record("red").chosen);
    EXPECT_EQ(record("red").reason, "usable, priority 20");
    EXPECT_EQ(record("red").version, "1.2");
    registry_.reset();
    EXPECT_EQ(g_destroyed.size(), 3U);
}

TEST_F(RegistryTest, PrioritiesAreParameters) {
    EXPECT_EQ(names(build({{"plog_blue_priority", "99"}, {"plog_green_priority", "-1"}}).plogs()),
              (Names{"blue", "red"}));
    EXPECT_EQ(record("blue").reason, "usable, priority 99 (command line)");
    EXPECT_FALSE(record("green").chosen);
    EXPECT_NE(record("green").reason.find("negative"), std::string::npos);
    EXPECT_EQ(names(build({{"plog_green_priority", "-1"}, {"plog", "green,red"}}).plogs()),
              (Names{"red", "green"}));
    EXPECT_EQ(names(build({{"plog_green_priority", "-1"}, {"plog", "^red"}}).plogs()), (Names{"blue"}));
}

// PMIx_Log: in this order, until one accepts the message; repeated for each message.
TEST_F(RegistryTest, MessagesAreOfferedByPriority) {
    const auto log = [&](std::vector<std::pair<std::string, std::string>> program, const char* taker) {
        g_asked.clear();
        g_taker = taker;
        Info data;
        data.add(PMIX_LOG_STDERR, "one");
        data.add(PMIX_LOG_STDOUT, "two");
        return log_entries(build(std::move(program)).plogs(), nullptr, data, {}).status();
    };
    EXPECT_EQ(log({}, "red"), PMIX_SUCCESS);
    EXPECT_EQ(g_asked, (Names{"green", "red", "green", "red"}));
    EXPECT_EQ(log({{"plog_blue_priority", "99"}}, "green"), PMIX_SUCCESS);
    EXPECT_EQ(g_asked, (Names{"blue", "green", "blue", "green"}));
    EXPECT_EQ(log({{"plog", "red,blue"}}, "nobody"), PMIX_ERR_NOT_AVAILABLE);
    EXPECT_EQ(g_asked, (Names{"red", "blue", "red", "blue"}));
}

TEST_F(RegistryTest, ComponentsAreCreatedOnFirstUse) {
    build();
    EXPECT_TRUE(g_created.empty());
    registry_->plogs();
    registry_->plogs();
    EXPECT_EQ(g_created.size(), 3U);
}

TEST_F(RegistryTest, AnAllowListExcludesAllOthers) {
    EXPECT_EQ(names(build({{"plog", "blue, red"}}).plogs()), (Names{"red", "blue"}));
    EXPECT_EQ(g_created.size(), 2U);
    EXPECT_EQ(record("green").reason, "not opened: ruled out by PMIX_MCA_plog=blue, red (command line)");
}

TEST_F(RegistryTest, ADenyListExcludesItsNames) {
    EXPECT_EQ(names(build({{"plog", "^green,^red"}}).plogs()), (Names{"blue"}));
    EXPECT_EQ(g_created, (Names{"blue"}));
    EXPECT_NE(record("red").reason.find("ruled out"), std::string::npos);
}

TEST_F(RegistryTest, AListThatAllowsAndDeniesAllowsNothing) {
    for (const char* list : {"red,^blue", "red,^green,blue"}) {
        build({{"plog", list}});
        EXPECT_TRUE(registry_->plogs().empty()) << list;
        EXPECT_NE(registry_->why_none("plog").find("where ^ stands behind the beginning"), std::string::npos);
    }
    build({{"plog", "^red,^blue"}});
    EXPECT_FALSE(registry_->plogs().empty());
}

TEST_F(RegistryTest, AskedParametersAndLists) {
    const auto said = [&](std::vector<std::pair<std::string, std::string>> given, const char* asked) {
        build(std::move(given));
        (void)registry_->plogs();
        ::testing::internal::CaptureStderr();
        registry_->warn_unknown_parameters(asked);
        return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(said({{"plog_red_mod", "x"}, {"plog", "red,bogus"}}, "plog_other"), "");
    EXPECT_NE(said({{"plog_red_mod", "x"}}, "plog,plog_red_mod").find("did you mean plog_red_mood?"),
              std::string::npos);
    EXPECT_NE(said({{"plog", "red,bogus"}}, "plog").find("names bogus, and there is no such component"),
              std::string::npos);
    EXPECT_NE(said({{"plog_base_verbose", "much"}}, "plog_base_verbose").find("much"), std::string::npos);
    // Also of an unused framework.
    EXPECT_NE(said({{"pnet", "bogus"}}, "pnet").find("names bogus, and there is no such component"),
              std::string::npos);
    EXPECT_NE(said({{"gds", "bogus"}}, "gds").find("is set aside: it names none of"), std::string::npos);
}

TEST_F(RegistryTest, AFrameworkMayHaveNoComponents) {
    EXPECT_TRUE(build({{"plog", "^red,green,blue"}}).plogs().empty());
    const std::string why = registry_->why_none("plog");
    EXPECT_NE(why.find("red is not opened: ruled out by PMIX_MCA_plog=^red,green,blue"), std::string::npos)
        << why;
    EXPECT_NE(registry_->why_none("plog", "pink").find("of those that the peer has (pink)"),
              std::string::npos);
    EXPECT_NE(registry_->why_none("ptl").find("PMIX_MCA_mca_base_component_path"), std::string::npos);
}

TEST_F(RegistryTest, AnUnusableComponentReportsTheReason) {
    EXPECT_EQ(names(build({{"plog_old_mood", "bad"}, {"plog_red_mood", "good"}}).plogs()), (Names{"red"}));
    EXPECT_EQ(record("blue").reason, "not usable here: in a bad mood");
}

TEST_F(RegistryTest, ParametersComeFromTheComponentsTable) {
    build({{"plog_red_mood", "worse"}});
    registry_->plogs();
    const auto view = parameters_->view("plog_red_mood");
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->value, "good");
    EXPECT_EQ(view->definition->help, "How it feels.");
    EXPECT_EQ(view->definition->choices, (std::vector<std::string_view>{"good", "bad"}));
    ASSERT_EQ(parameters_->complaints().size(), 1U);
    EXPECT_NE(parameters_->complaints()[0].find("valid are good, bad"), std::string::npos);
}

TEST_F(RegistryTest, UnknownParametersAreFoundWithoutOpeningComponents) {
    build({{"plog_red_mod", "x"}, {"plog", "^blue"}, {"plog_blue_thing", "x"}, {"plog_base_verbos", "1"}});
    const auto unknown = registry_->unknown_parameters();
    ASSERT_EQ(unknown.size(), 2U);
    EXPECT_EQ(unknown[0].name, "plog_base_verbos");
    EXPECT_EQ(unknown[0].nearest, "plog_base_verbose");
    EXPECT_EQ(unknown[1].nearest, "plog_red_mood");
    EXPECT_TRUE(g_created.empty());
}

TEST_F(RegistryTest, UnknownParametersAreNamedOnRequestOnly) {
    build({{"plog_red_mod", "x"}});
    ::testing::internal::CaptureStderr();
    registry_->warn_unknown_parameters();
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    build({{"plog_red_mod", "x"}, {"mca_base_warn_unknown", "yes"}});
    ::testing::internal::CaptureStderr();
    registry_->warn_unknown_parameters();
    const std::string line = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(line.find("plog_red_mod (command line); did you mean plog_red_mood?"), std::string::npos)
        << line;
}

TEST_F(RegistryTest, TheVerbosityOfAFrameworkIsAParameter) {
    build({{"plog_base_verbose", "5"}});
    EXPECT_EQ(registry_->log("plog").verbosity(), 5);
    EXPECT_EQ(registry_->log("ptl").verbosity(), 0);
    EXPECT_EQ(registry_->log("server").verbosity(), 0);
    ::testing::internal::CaptureStderr();
    registry_->plogs();
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("component red 1.2 is usable"),
              std::string::npos);
}

TEST_F(RegistryTest, UnsetParametersAreListed) {
    const Names wanted{"mca_base_verbose", "mca_base_component_path", "plog", "plog_base_verbose",
                       "server_base_verbose"};
    const auto undefined = [&] {
        return std::count_if(wanted.begin(), wanted.end(),
                             [&](const std::string& name) { return !parameters_->view(name).has_value(); });
    };
    build({{"plog_red_mood", "good"}});
    EXPECT_EQ(undefined(), 5);
    registry_->inventory();
    EXPECT_EQ(undefined(), 0);
    build({});
    EXPECT_TRUE(registry_->unknown_parameters().empty());
    EXPECT_EQ(undefined(), 0);
    for (const char* given : {"mca_base_verbose", "plog_base_verbose", "pmix_server_base_verbose", "gds"}) {
        build({{given, "0"}});
        EXPECT_EQ(undefined(), 0) << given;
    }
}

TEST_F(RegistryTest, AMissingComponentIsNamedOnFirstUse) {
    build({{"plog", "pink,red"}, {"plog_base_verbose", "1"}});
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(names(registry_->plogs()), (Names{"red"}));
    const std::string line = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(line.find("names pink, and there is no such component; there are red, green, blue"),
              std::string::npos)
        << line;
    build({{"plog", "^pink"}, {"plog_base_verbose", "1"}});
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(registry_->plogs().size(), 3U);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// Users have the names of OpenPMIx's components in their environments.
TEST_F(RegistryTest, AStoreIsSelectedForAnyListOfNames) {
    static const auto entry = [](const char* framework, const char* name) {
        muster_component_t made = *fake<0>();
        made.framework = framework;
        made.name = name;
        made.version = MUSTER_VERSION;
        made.nparams = 0;
        made.create = [](const muster_host_t*, void** instance, char*) {
            static int store;
            *instance = &store;
            return pmix_status_t{PMIX_SUCCESS};
        };
        made.destroy = [](void*) {};
        return made;
    };
    static const muster_component_t first = entry("gds", "hash");
    static const muster_component_t second = entry("gds", "other");
    static constexpr ComponentEntry entries[] = {[] { return &first; }, [] { return &second; }, nullptr};
    const auto count = [](const char* list, std::string& said) {
        Parameters::Sources sources;
        sources.environment = false;
        sources.program = {{"gds", list}, {"gds_base_verbose", "1"}};
        Parameters parameters(sources);
        Registry registry(parameters, {.linked = entries});
        ::testing::internal::CaptureStderr();
        const size_t found = registry.stores().size();
        said = ::testing::internal::GetCapturedStderr();
        return found;
    };
    std::string said;
    EXPECT_EQ(count("ds21,hash", said), 1U);
    EXPECT_NE(said.find("names ds21"), std::string::npos) << said;
    EXPECT_EQ(said.find("set aside"), std::string::npos) << said;
    for (const char* list : {"ds12", "ds21", "shmem3,ds12"}) {
        EXPECT_EQ(count(list, said), 2U) << list;
        EXPECT_NE(said.find("is set aside: it names none of"), std::string::npos) << said;
    }
    EXPECT_EQ(count("^ds12,ds21", said), 2U);
    EXPECT_EQ(said, "");
}

TEST_F(RegistryTest, TheRolesHaveAVerbosity) {
    build({{"server_base_verbose", "10"}, {"pmix_client_base_verbose", "2"}});
    EXPECT_EQ(registry_->log("server").verbosity(), 10);
    EXPECT_EQ(registry_->log("client").verbosity(), 2);
}

TEST_F(RegistryTest, FilesAreOpenedAndRefusalsRecorded) {
    build({{"plog_good_greeting", "good day"}}, {MUSTER_TEST_COMPONENTS});
    EXPECT_EQ(names(registry_->plogs()), (Names{"green", "red", "blue", "good"}));
    EXPECT_EQ(record("good").path, std::string(MUSTER_TEST_COMPONENTS) + "/mca_plog_good.so");
    EXPECT_EQ(record("good").vendor, "Test");
    EXPECT_EQ(record("unavailable").reason, "not usable here: the device is not there");
    EXPECT_NE(record("newmajor").reason.find("component interface 2."), std::string::npos);

    // The component reads its parameter through the host table.
    const std::vector<Plog*> plogs = registry_->plogs();
    muster_plog_record_t message{};
    message.struct_size = sizeof message;
    message.channel = PMIX_LOG_STDOUT;
    message.message = "news";
    message.length = 4;
    const Result<void> written = plogs.back()->write(message);
    EXPECT_EQ(written.error().text, "plog/good: good got \"news\" with good day");
}

TEST_F(RegistryTest, OnlyTheNamedFilesAreOpened) {
    // A file that would cause a message is not even opened.
    build({{"plog", "good"}}, {MUSTER_TEST_COMPONENTS});
    EXPECT_EQ(names(registry_->plogs()), (Names{"good"}));
    EXPECT_NE(record("newmajor").reason.find("ruled out"), std::string::npos);
}

TEST_F(RegistryTest, TheFirstComponentOfANameWins) {
    std::string folder = (fs::temp_directory_path() / "registryXXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    std::ofstream(folder + "/mca_plog_good.so") << "not a library\n";
    std::ofstream(folder + "/mca_plog_red.so") << "not a library\n";
    build({}, {MUSTER_TEST_COMPONENTS, folder});
    EXPECT_EQ(names(registry_->plogs()), (Names{"green", "red", "blue", "good"}));
    size_t losers = 0;
    for (const ComponentRecord& one : registry_->inventory()) {
        if (one.path.rfind(folder, 0) != 0) continue;
        ++losers;
        EXPECT_FALSE(one.chosen);
        const std::string winner = one.name == "red"
                                       ? "linked into the library"
                                       : std::string(MUSTER_TEST_COMPONENTS) + "/mca_plog_good.so";
        EXPECT_EQ(one.reason, "not opened: another of this name was found first, " + winner);
    }
    EXPECT_EQ(losers, 2U);
    fs::remove_all(folder);
}

TEST_F(RegistryTest, AFileThatOthersMayChangeHidesNoComponent) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
    std::string folder = (fs::temp_directory_path() / "registryXXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string planted = folder + "/mca_plog_good.so";
    std::ofstream(planted) << "not a library\n";
    ASSERT_EQ(chown(planted.c_str(), 65534, 0), 0);
    build({}, {folder, MUSTER_TEST_COMPONENTS});
    EXPECT_EQ(names(registry_->plogs()), (Names{"green", "red", "blue", "good"}));
    fs::remove_all(folder);
}

TEST_F(RegistryTest, AFolderThatOthersMayChangeIsReportedOnce) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
    std::string folder = (fs::temp_directory_path() / "registryXXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    std::ofstream(folder + "/mca_plog_planted.so") << "not a library\n";
    ASSERT_EQ(chown(folder.c_str(), 65534, 0), 0);
    ::testing::internal::CaptureStderr();
    build({{"plog_base_verbose", "1"}, {"psec_base_verbose", "1"}}, {folder});
    registry_->plogs();
    registry_->psecs();
    const std::string said = ::testing::internal::GetCapturedStderr();
    const std::string sentence = folder + " is passed over: " + folder + " belongs to user 65534";
    const size_t at = said.find(sentence);
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.find(sentence, at + 1), std::string::npos) << said;
    EXPECT_NE(registry_->why_none("psec").find(sentence), std::string::npos) << registry_->why_none("psec");
    fs::remove_all(folder);
}

TEST_F(RegistryTest, NoFolderOfTheBuildIsSearched) {
    const Parameters parameters{Parameters::Sources{}};
    const std::string beside = install_paths().components;
    for (const std::string& folder : Registry::Options::standard(parameters).folders) {
        EXPECT_TRUE(folder == beside || !folder.starts_with(MUSTER_TEST_TREE)) << folder;
    }
}

TEST_F(RegistryTest, AttributesOfTheInitCallSetParameters) {
    static constexpr muster_param_t params[] = {
        {"nets", MUSTER_PARAM_STRING, "all", nullptr, "Networks.", nullptr, nullptr},
        {"hosts", MUSTER_PARAM_STRING, "any", nullptr, "Hosts.", nullptr, nullptr},
        {"port", MUSTER_PARAM_STRING, "0", nullptr, "Port.", nullptr, nullptr},
        {"door", MUSTER_PARAM_STRING, "0", nullptr, "Port, too.", nullptr, nullptr},
        {"quiet", MUSTER_PARAM_BOOL, "false", nullptr, "Be quiet.", nullptr, nullptr},
        {"mood", MUSTER_PARAM_STRING, "good", nullptr, "Not set.", nullptr, nullptr}};
    static constexpr muster_param_attribute_t attributes[] = {
        {"acme.nets", PMIX_STRING, "nets"}, {"acme.hosts", PMIX_STRING, "hosts"},
        {"acme.port", PMIX_INT, "port"},    {"acme.door", PMIX_INT, "door"},
        {"acme.quiet", PMIX_BOOL, "quiet"}, {"acme.mood", PMIX_STRING, "mood"}};
    static const muster_component_t component = [] {
        muster_component_t made = *fake<0>();
        made.params = params;
        made.nparams = std::size(params);
        made.attributes = attributes;
        made.nattributes = std::size(attributes);
        return made;
    }();
    static constexpr ComponentEntry entries[] = {[] { return &component; }, nullptr};
    Info directives;
    directives.add("acme.nets", "eth0");
    directives.add("acme.hosts", 7);
    directives.add("acme.port", 4711);
    directives.add("acme.door", true);
    directives.add("acme.quiet", true);
    directives.add("acme.other", "unknown");
    Parameters parameters({.environment = false});
    Registry registry(parameters, {.linked = entries, .attributes = init_attributes(directives)});
    ASSERT_EQ(registry.plogs().size(), 1U);
    EXPECT_EQ(parameters.text("plog_red_nets"), "eth0");
    EXPECT_EQ(parameters.text("plog_red_hosts"), "any") << "the attribute is no string";
    EXPECT_EQ(parameters.text("plog_red_port"), "4711");
    EXPECT_EQ(parameters.text("plog_red_door"), "a value of type PMIX_BOOL");
    EXPECT_TRUE(parameters.boolean("plog_red_quiet"));
    EXPECT_EQ(parameters.text("plog_red_mood"), "good");
}

TEST_F(RegistryTest, OnlyNarrowsTheSelection) {
    // psecs() and similar functions take a list of names, as offered by a peer; the order is that of the
    // list.
    static const auto table = [] {
        muster_psec_t made{};
        made.struct_size = sizeof made;
        return made;
    }();
    static const auto entry = [](const char* name, int priority) {
        muster_component_t made = *fake<0>();
        made.framework = "psec";
        made.interface_version = MUSTER_PSEC_INTERFACE;
        made.name = name;
        made.priority = priority;
        made.nparams = 0;
        made.create = [](const muster_host_t*, void** instance, char*) {
            static muster_psec_t copy = table;
            *instance = &copy;
            return pmix_status_t{PMIX_SUCCESS};
        };
        made.destroy = [](void*) {};
        return made;
    };
    static const muster_component_t first = entry("native", 90);
    static const muster_component_t second = entry("munge", 80);
    static const muster_component_t third = entry("none", -1);
    static constexpr ComponentEntry entries[] = {[] { return &first; }, [] { return &second; },
                                                 [] { return &third; }, nullptr};
    Parameters parameters({.environment = false});
    Registry registry(parameters, {.linked = entries});
    const std::vector<Psec*> both = registry.psecs("munge,absent,native");
    ASSERT_EQ(both.size(), 2U);
    EXPECT_STREQ(both[0]->name(), "munge");
    EXPECT_STREQ(both[1]->name(), "native");
    EXPECT_EQ(registry.psecs("absent").size(), 0U);
    EXPECT_EQ(registry.psecs("none").size(), 0U) << "a peer's word does not allow what nobody configured";
    // A table without the operation gives this answer.
    EXPECT_EQ(both[0]->create_credential({}).status(), PMIX_ERR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace muster
