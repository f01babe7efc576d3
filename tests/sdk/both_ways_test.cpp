// SPDX-License-Identifier: BSD-3-Clause
// Each of our components linked in and as a file: no symbol twice, the same descriptor, usable both ways.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "framework/linked_components.hpp"
#include "framework/loader.hpp"
#include "framework/registry.hpp"

namespace muster {
namespace {

using Key = std::pair<std::string, std::string>;

std::map<Key, ComponentRecord> inventory(Registry::Options options) {
    Parameters::Sources sources;
    sources.environment = false;
    Parameters parameters(std::move(sources));
    Registry registry(parameters, std::move(options));
    std::map<Key, ComponentRecord> records;
    for (ComponentRecord& one : registry.inventory()) {
        EXPECT_TRUE(records.emplace(Key{one.framework, one.name}, one).second)
            << one.name << " is there twice";
    }
    return records;
}

TEST(Components, LinkedInAreUsable) {
    size_t count = 0;
    for (const ComponentEntry* entry = linked_components(); *entry != nullptr; ++entry) {
        const muster_component_t* descriptor = (*entry)();
        ++count;
        const Result<void> fits =
            check_descriptor(descriptor, descriptor->framework, descriptor->name, "linked in");
        EXPECT_TRUE(fits.ok()) << fits.error().text;
    }
    ASSERT_GT(count, 0U);
    const auto records = inventory({.linked = linked_components()});
    EXPECT_EQ(records.size(), count) << "a framework that the registry does not know";
    for (const auto& [key, record] : records) {
        // A component's external need, such as a daemon, may be missing.
        EXPECT_TRUE(record.chosen || record.priority < 0 || record.reason.starts_with("not usable here"))
            << key.first << "/" << key.second << ": " << record.reason;
        EXPECT_EQ(record.path, "");
    }
}

TEST(Components, FilesAreTheSameAsLinkedIn) {
    Registry::Options options;
    options.folders = {MUSTER_TEST_FOLDER};
    const auto from_files = inventory(options);
    const auto linked = inventory({.linked = linked_components()});
    std::istringstream loaded(MUSTER_TEST_LOADED);
    for (std::string target; std::getline(loaded, target, ',');) {  // "mca_ptl_tcp"
        const size_t middle = target.find('_', 4);
        const Key key{target.substr(4, middle - 4), target.substr(middle + 1)};
        const auto file = from_files.find(key);
        ASSERT_NE(file, from_files.end()) << target << " was built and not found";
        const ComponentRecord& one = linked.at(key);
        EXPECT_EQ(file->second.chosen, one.chosen) << file->second.reason;
        EXPECT_EQ(file->second.reason, one.reason);
        EXPECT_EQ(file->second.version, one.version);
        EXPECT_EQ(file->second.vendor, one.vendor);
        EXPECT_EQ(file->second.priority, one.priority);
        EXPECT_EQ(file->second.flags, one.flags);
        EXPECT_EQ(file->second.path, std::string(MUSTER_TEST_FOLDER) + "/" + target + ".so");
    }
}

}  // namespace
}  // namespace muster
