// SPDX-License-Identifier: BSD-3-Clause
// preg/zstd: lists that OpenPMIx 7.0 has compressed, and blobs with a false header.
#include <gtest/gtest.h>

#include "framework/pcompress.hpp"
#include "framework/preg.hpp"
#include "framework/registry.hpp"

MUSTER_COMPONENT(pcompress, zstd);
MUSTER_COMPONENT(preg, compress);
MUSTER_COMPONENT(preg, zstd);

namespace muster {
namespace {

using namespace std::string_literals;

class ZstdForm : public ::testing::Test {
  protected:
    static constexpr ComponentEntry kEntries[] = {
        muster_component_pcompress_zstd, muster_component_preg_compress, muster_component_preg_zstd, nullptr};

    /// As OpenPMIx 7.0 writes it: zlib's name, the length, a frame of zstd.
    std::string blob(const std::string& list) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(list.data());
        const Bytes block = std::move(*registry_.pcompress()[0]->compress({bytes, list.size()}));
        std::string text = "blob:\0component=zlib:\0size="s + std::to_string(block.size()) + ":\0"s;
        text.append(reinterpret_cast<const char*>(block.data()), block.size());
        return text;
    }
    std::string names(const std::string& regex) {
        std::string out;
        const muster_preg_name_sink_t sink = {&out, [](void* data, const char* name, size_t length) {
                                                  static_cast<std::string*>(data)->append(name, length) +=
                                                      ',';
                                                  return pmix_status_t{PMIX_SUCCESS};
                                              }};
        const auto* bytes = reinterpret_cast<const uint8_t*>(regex.data());
        const Result<void> read = parse_node_regex(registry_.pregs(), {bytes, regex.size()}, sink);
        return read ? out : "error " + std::to_string(read.status());
    }

    Parameters parameters_{Parameters::Sources{.environment = false}};
    Registry registry_{parameters_, Registry::Options{.linked = kEntries}};
};

TEST_F(ZstdForm, ReadsWhatOpenPmixHasCompressed) {
    std::string list;
    for (int i = 0; i < 2000; ++i)
        list += "cn" + std::to_string(i) + ",";
    EXPECT_EQ(names(blob(list)), list);
}

TEST_F(ZstdForm, RefusesBrokenBlobs) {
    const std::string good = blob(std::string(6000, 'x'));
    const std::string bad = "error " + std::to_string(PMIX_ERR_BAD_PARAM);
    const size_t length = good.find("\x28\xb5\x2f\xfd") - 4;
    for (const size_t byte : {length, length + 9, good.size() - 1}) {
        std::string broken = good;
        broken[byte] = static_cast<char>(broken[byte] ^ 0x15);
        EXPECT_TRUE(names(broken).starts_with("error ")) << byte;
    }
    EXPECT_EQ(names(good.substr(0, good.size() - 1)), bad);
    // Both are detected before anything is allocated.
    std::string longer = good;
    longer[length + 3] = '\x0f';
    EXPECT_EQ(names(longer), bad);
    longer[length + 3] = '\x7f';
    EXPECT_EQ(names(longer), "error " + std::to_string(PMIX_ERR_OUT_OF_RESOURCE));
}

}  // namespace
}  // namespace muster
