// SPDX-License-Identifier: BSD-3-Clause
// Parameters: precedence of sources, types, former names, unknown names, hostile files.
#include "framework/parameters.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "framework/parameter_file.hpp"

namespace muster {
namespace {

class ParametersTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "parametersXXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override {
        std::filesystem::remove_all(folder_);
        for (const std::string& name : variables_)
            unsetenv(name.c_str());
    }
    std::string file(const std::string& name, const std::string& text) {
        const std::string path = folder_ + "/" + name;
        std::ofstream(path) << text;
        return path;
    }
    void environment(const std::string& name, const std::string& value) {
        ASSERT_EQ(setenv(name.c_str(), value.c_str(), 1), 0);
        variables_.push_back(name);
    }
    static Parameters::Sources nothing() {
        Parameters::Sources sources;
        sources.environment = false;
        return sources;
    }

    std::string folder_;
    std::vector<std::string> variables_;
};

ParameterDefinition definition(ParameterType type, const char* default_value) {
    return {.framework = "fw",
            .component = "comp",
            .name = "thing",
            .type = type,
            .default_value = default_value,
            .help = "A thing."};
}

TEST_F(ParametersTest, TheStrongerSourceWins) {
    Parameters::Sources sources;
    const std::string system = file("system.conf", "fw_comp_thing = from system\n");
    const std::string user = file("user.conf", "# mine\n\nfw_comp_thing=from user\n");

    sources.environment = true;
    const auto value = [&] {
        Parameters parameters(sources);
        EXPECT_TRUE(parameters.define(definition(ParameterType::String, "built in")).ok());
        return *parameters.view("fw_comp_thing");
    };
    EXPECT_EQ(value().value, "built in");
    EXPECT_EQ(value().source, ParameterSource::Default);
    sources.files = {system};
    EXPECT_EQ(value().value, "from system");
    EXPECT_EQ(value().source, ParameterSource::SystemFile);
    EXPECT_EQ(value().origin, system + ":1");
    sources.user_files = {user};
    EXPECT_EQ(value().value, "from user");
    EXPECT_EQ(value().source, ParameterSource::UserFile);
    EXPECT_EQ(value().origin, user + ":3");
    environment("PMIX_MCA_fw_comp_thing", "from environment");
    EXPECT_EQ(value().value, "from environment");
    EXPECT_EQ(value().source, ParameterSource::Environment);
    EXPECT_EQ(value().origin, "PMIX_MCA_fw_comp_thing");
    sources.program = {{"fw_comp_thing", "from program"}};
    EXPECT_EQ(value().value, "from program");
    EXPECT_EQ(value().source, ParameterSource::Program);
}

TEST_F(ParametersTest, APrivilegedProcessIgnoresEnvironmentAndUserFile) {
    environment("PMIX_MCA_fw_comp_thing", "from environment");
    Parameters::Sources sources;
    sources.user_files = {file("user.conf", "fw_comp_thing=from user\n")};
    sources.privileged = true;
    Parameters parameters(sources);
    EXPECT_TRUE(parameters.define(definition(ParameterType::String, "built in")).ok());
    EXPECT_EQ(parameters.text("fw_comp_thing"), "built in");
}

TEST_F(ParametersTest, APrivilegedProcessRefusesAFileThatOthersMayWrite) {
    const std::string path = file("system.conf", "fw_comp_thing=x\n");
    ASSERT_EQ(chmod(path.c_str(), 0666), 0);
    EXPECT_EQ(read_parameter_file(path, ParameterFileOwner::Root).status(), PMIX_ERR_NO_PERMISSIONS);
    EXPECT_TRUE(read_parameter_file(path, ParameterFileOwner::Anyone).ok());
    if (geteuid() == 0) {
        ASSERT_EQ(chmod(path.c_str(), 0644), 0);
        EXPECT_TRUE(read_parameter_file(path, ParameterFileOwner::Root).ok());
        ASSERT_EQ(chown(path.c_str(), 12345, 0), 0);
        EXPECT_EQ(read_parameter_file(path, ParameterFileOwner::Root).status(), PMIX_ERR_NO_PERMISSIONS);
    }
}

TEST_F(ParametersTest, ASystemFileThatOthersMayWriteIsSkipped) {
    const std::string path = file("system.conf", "fw_comp_thing=x\n");
    const auto complaints = [&] {
        Parameters::Sources sources;
        sources.files = {path};
        return Parameters(sources).complaints();
    };
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    EXPECT_TRUE(complaints().empty());
    ASSERT_EQ(chmod(path.c_str(), 0666), 0);
    ASSERT_EQ(complaints().size(), 1U);
    EXPECT_EQ(complaints()[0], path +
                                   " is passed over: it can be changed by every user (mode 0666); change its "
                                   "owner or mode");
    if (geteuid() != 0) GTEST_SKIP() << "the rest needs root";
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    ASSERT_EQ(chown(path.c_str(), 65534, 0), 0);
    ASSERT_EQ(complaints().size(), 1U);
}

TEST_F(ParametersTest, RootTakesNoFileFromTheHomeOfAnother) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
    const char* const home = getenv("HOME");
    const std::string before = home == nullptr ? "" : home;
    ASSERT_EQ(setenv("HOME", folder_.c_str(), 1), 0);
    const std::string path = folder_ + "/.pmix/mca-params.conf";
    const auto files = [] { return Parameters::Sources::standard().user_files; };
    EXPECT_EQ(files(), std::vector<std::string>{path});
    ASSERT_EQ(chown(folder_.c_str(), 12345, 12345), 0);
    EXPECT_NE(files(), std::vector<std::string>{path});
    home == nullptr ? unsetenv("HOME") : setenv("HOME", before.c_str(), 1);
}

TEST_F(ParametersTest, AFormerNameIsAnAlias) {
    ParameterDefinition renamed = definition(ParameterType::String, "");
    renamed.former_names = {"fw_old_thing", "fw_older_thing"};
    Parameters::Sources sources = nothing();
    sources.program = {{"fw_older_thing", "x"}};
    Parameters parameters(sources);
    ASSERT_TRUE(parameters.define(renamed).ok());
    EXPECT_EQ(parameters.text("fw_comp_thing"), "x");
    EXPECT_EQ(parameters.text("fw_old_thing"), "x");
    EXPECT_TRUE(parameters.unknown().empty());

    // A source of higher precedence under the former name overrides one of lower precedence under the present
    // name, and not the reverse.
    sources.files = {file("system.conf", "fw_comp_thing = weak\n")};
    Parameters stronger(sources);
    ASSERT_TRUE(stronger.define(renamed).ok());
    EXPECT_EQ(stronger.text("fw_comp_thing"), "x");
    sources.program.emplace_back("fw_comp_thing", "present name");
    Parameters both(sources);
    ASSERT_TRUE(both.define(renamed).ok());
    EXPECT_EQ(both.text("fw_comp_thing"), "present name");
}

struct TypeCase {
    ParameterType type;
    const char* given;
    const char* expected;  // nullptr: does not fit
};

TEST_F(ParametersTest, ValuesAreCheckedAgainstTheType) {
    const TypeCase cases[] = {
        {ParameterType::Int, "-7", "-7"},          {ParameterType::Int, "0x10", "0x10"},
        {ParameterType::Int, "7x", nullptr},       {ParameterType::Int, "", nullptr},
        {ParameterType::Int, "+-7", nullptr},      {ParameterType::Int, "99999999999999999999", nullptr},
        {ParameterType::Unsigned, "7", "7"},       {ParameterType::Unsigned, "-7", nullptr},
        {ParameterType::Size, "4k", "4096"},       {ParameterType::Size, "2M", "2097152"},
        {ParameterType::Size, "1g", "1073741824"}, {ParameterType::Size, "17179869184g", nullptr},
        {ParameterType::Size, "k", nullptr},       {ParameterType::Size, "-1", nullptr},
        {ParameterType::Bool, "Yes", "true"},      {ParameterType::Bool, "enabled", "true"},
        {ParameterType::Bool, "off", "false"},     {ParameterType::Bool, "maybe", nullptr},
        {ParameterType::Seconds, "0.5", "0.5"},    {ParameterType::Seconds, "-1", nullptr},
        {ParameterType::Seconds, "inf", nullptr},  {ParameterType::Choice, "red", "red"},
        {ParameterType::Choice, "blue", nullptr},
    };
    for (const TypeCase& one : cases) {
        Parameters::Sources sources = nothing();
        sources.program = {{"fw_comp_thing", one.given}};
        Parameters parameters(sources);
        const bool choice = one.type == ParameterType::Choice;
        ParameterDefinition typed = definition(one.type, choice ? "green" : "1");
        typed.choices = {"red", "green"};
        const Result<void> result = parameters.define(typed);
        EXPECT_EQ(result.ok(), one.expected != nullptr) << one.given;
        if (one.expected != nullptr) {
            EXPECT_EQ(parameters.text("fw_comp_thing"), one.expected) << one.given;
        } else {
            EXPECT_EQ(result.status(), PMIX_ERR_BAD_PARAM);
            EXPECT_EQ(parameters.view("fw_comp_thing")->source, ParameterSource::Default) << one.given;
            ASSERT_EQ(parameters.complaints().size(), 1U);
            EXPECT_NE(parameters.complaints()[0].find("valid are"), std::string::npos);
        }
        if (choice && one.expected == nullptr) {
            EXPECT_NE(result.error().text.find("valid are red, green"), std::string::npos)
                << result.error().text;
        }
    }
}

/// As "a_b_<name>".
bool define(Parameters& parameters, const char* name, ParameterType type, const char* value) {
    return parameters
        .define({.framework = "a", .component = "b", .name = name, .type = type, .default_value = value})
        .ok();
}

TEST_F(ParametersTest, NumbersAreRead) {
    Parameters::Sources sources = nothing();
    sources.program = {{"a_b_int", "-0"}, {"a_b_size", "3k"}, {"a_b_time", "2.5"}, {"a_b_flag", "on"}};
    Parameters parameters(sources);
    EXPECT_TRUE(define(parameters, "int", ParameterType::Int, "5"));
    EXPECT_TRUE(define(parameters, "size", ParameterType::Size, "5"));
    EXPECT_TRUE(define(parameters, "time", ParameterType::Seconds, "5"));
    EXPECT_TRUE(define(parameters, "flag", ParameterType::Bool, "0"));
    EXPECT_EQ(parameters.integer("a_b_int"), 0);
    EXPECT_EQ(parameters.size("a_b_size"), 3072U);
    EXPECT_DOUBLE_EQ(parameters.seconds("a_b_time"), 2.5);
    EXPECT_TRUE(parameters.boolean("a_b_flag"));
    EXPECT_FALSE(parameters.boolean("a_b_nothing"));
}

TEST_F(ParametersTest, DefaultsAreReadInAllFormsOfTheirType) {
    Parameters parameters(nothing());
    EXPECT_TRUE(define(parameters, "size", ParameterType::Size, "4k"));
    EXPECT_TRUE(define(parameters, "flag", ParameterType::Bool, "Yes"));
    EXPECT_EQ(parameters.size("a_b_size"), 4096U);
    EXPECT_EQ(parameters.integer("a_b_size"), 4096) << "by a reader that knows no units";
    EXPECT_EQ(parameters.text("a_b_size"), "4096");
    EXPECT_TRUE(parameters.boolean("a_b_flag"));
    EXPECT_EQ(parameters.text("a_b_flag"), "true");
}

TEST_F(ParametersTest, ListsTheGivenNames) {
    EXPECT_TRUE(Parameters(nothing()).given().empty());
    Parameters::Sources sources = nothing();
    sources.program = {{"fw_comp_thing", "x"}, {"another", "y"}};
    Parameters parameters(sources);
    ASSERT_TRUE(parameters.define(definition(ParameterType::String, "")).ok());
    EXPECT_EQ(parameters.given(), (std::vector<std::string>{"another", "fw_comp_thing"}));
}

TEST_F(ParametersTest, UnknownNamesComeWithTheNearestKnownOne) {
    Parameters::Sources sources = nothing();
    sources.program = {{"fw_comp_thnig", "x"}, {"fw_comp_thing", "y"}, {"completely_different_name", "z"}};
    Parameters parameters(sources);
    ASSERT_TRUE(parameters.define(definition(ParameterType::String, "")).ok());
    const auto unknown = parameters.unknown();
    ASSERT_EQ(unknown.size(), 2U);
    EXPECT_EQ(unknown[0].name, "completely_different_name");
    EXPECT_EQ(unknown[0].nearest, "");
    EXPECT_EQ(unknown[1].name, "fw_comp_thnig");
    EXPECT_EQ(unknown[1].nearest, "fw_comp_thing");
    EXPECT_EQ(unknown[1].origin, "command line");
    EXPECT_EQ(parameters.raw("completely_different_name"), "z");
}

TEST_F(ParametersTest, TheFirstDefinitionCounts) {
    Parameters parameters(nothing());
    ASSERT_TRUE(parameters.define(definition(ParameterType::String, "first")).ok());
    ASSERT_TRUE(parameters.define(definition(ParameterType::Int, "2")).ok());
    EXPECT_EQ(parameters.text("fw_comp_thing"), "first");
}

TEST_F(ParametersTest, MissingFilesAreSkippedAndUnreadableOnesReported) {
    Parameters::Sources sources = nothing();
    ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
    sources.files = {folder_ + "/none.conf", folder_, folder_ + "/fifo"};
    Parameters parameters(sources);
    EXPECT_EQ(parameters.complaints().size(), 2U);
}

TEST_F(ParametersTest, TheUsualFilesCanBeReplaced) {
    environment("PMIX_MCA_mca_base_param_files", "/strong.conf,/weak.conf");
    Parameters::Sources sources = Parameters::Sources::standard();
    EXPECT_TRUE(sources.files.empty());
    EXPECT_EQ(sources.user_files, (std::vector<std::string>{"/weak.conf", "/strong.conf"}));
    environment("PMIX_MCA_mca_base_param_files", "none");
    EXPECT_TRUE(Parameters::Sources::standard().user_files.empty());
}

TEST(ParameterFile, MalformedLinesAreNamed) {
    const ParameterFile file = parse_parameter_file(
        "good = 1\r\n// comment\nno equal sign\n= nothing\nbad name = 2\nempty =\n  spaced\t=\ta b  # kept "
        "\nx=\x01\nlast=9",
        "f.conf");
    ASSERT_EQ(file.entries.size(), 4U);
    EXPECT_EQ(file.entries[0].name, "good");
    EXPECT_EQ(file.entries[0].value, "1");
    EXPECT_EQ(file.entries[1].value, "");
    EXPECT_EQ(file.entries[2].value, "a b  # kept");
    EXPECT_EQ(file.entries[3].line, 9U);
    ASSERT_EQ(file.complaints.size(), 4U);
    EXPECT_EQ(file.complaints[0].rfind("f.conf:3: expected 'name = value'", 0), 0U) << file.complaints[0];
    EXPECT_NE(file.complaints[3].find("control characters"), std::string::npos);
}

TEST_F(ParametersTest, AFileThatIsTooLongIsRefused) {
    const std::string path = file("long.conf", std::string(kMaxParameterFile + 1, '#'));
    const Result<ParameterFile> result = read_parameter_file(path, ParameterFileOwner::Anyone);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().text.find("longer than"), std::string::npos);
    const ParameterFile names =
        parse_parameter_file(std::string(300, 'n') + "=1\nv=" + std::string(9000, 'v'), "f");
    EXPECT_TRUE(names.entries.empty());
    EXPECT_EQ(names.complaints.size(), 2U);
}

}  // namespace
}  // namespace muster
