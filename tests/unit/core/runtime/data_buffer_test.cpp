// SPDX-License-Identifier: BSD-3-Clause
// Packing into and unpacking from pmix_data_buffer_t as applications do it.

#include "core/runtime/data_buffer.hpp"

#include <gtest/gtest.h>
#include <hwloc.h>

#include <string>

#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

using test::codec;

class DataBuffer : public testing::TestWithParam<BufferType> {
  protected:
    ~DataBuffer() override { free(buffer_.base_ptr); }

    pmix_status_t pack(const void* src, int32_t n, pmix_data_type_t type) {
        return data_pack(codec(), GetParam(), &buffer_, src, n, type);
    }
    pmix_status_t unpack(void* dest, int32_t* max, pmix_data_type_t type) {
        return data_unpack(codec(), GetParam(), &buffer_, dest, max, type);
    }
    void expect_consistent() const {
        EXPECT_EQ(buffer_.pack_ptr, buffer_.base_ptr + buffer_.bytes_used);
        EXPECT_GE(buffer_.unpack_ptr, buffer_.base_ptr);
        EXPECT_LE(buffer_.unpack_ptr, buffer_.pack_ptr);
        EXPECT_LE(buffer_.bytes_used, buffer_.bytes_allocated);
    }

    pmix_data_buffer_t buffer_ = PMIX_DATA_BUFFER_STATIC_INIT;
};

TEST_P(DataBuffer, UnpacksInTheOrderOfPacking) {
    const uint32_t numbers[3] = {1, 200, 70000};
    const char* text = "hello";
    ASSERT_EQ(pack(numbers, 3, PMIX_UINT32), PMIX_SUCCESS);
    expect_consistent();
    ASSERT_EQ(pack(&text, 1, PMIX_STRING), PMIX_SUCCESS);
    expect_consistent();

    uint32_t read[5] = {};
    int32_t n = 5;
    ASSERT_EQ(unpack(read, &n, PMIX_UINT32), PMIX_SUCCESS);
    EXPECT_EQ(n, 3);
    EXPECT_EQ(read[2], 70000u);
    // Packing and unpacking are interleaved.
    ASSERT_EQ(pack(&numbers[1], 1, PMIX_UINT32), PMIX_SUCCESS);
    expect_consistent();
    char* copy = nullptr;
    n = 1;
    ASSERT_EQ(unpack(&copy, &n, PMIX_STRING), PMIX_SUCCESS);
    EXPECT_STREQ(copy, "hello");
    free(copy);
    n = 1;
    ASSERT_EQ(unpack(read, &n, PMIX_UINT32), PMIX_SUCCESS);
    EXPECT_EQ(read[0], 200u);
    n = 1;
    EXPECT_EQ(unpack(read, &n, PMIX_UINT32), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EXPECT_EQ(n, 0);
}

TEST_P(DataBuffer, UnpacksPartiallyWhenTheArrayIsTooSmall) {
    const char* texts[3] = {"a", "b", "c"};
    ASSERT_EQ(pack(texts, 3, PMIX_STRING), PMIX_SUCCESS);
    char* read[3] = {};
    int32_t n = 2;
    EXPECT_EQ(unpack(read, &n, PMIX_STRING), PMIX_ERR_UNPACK_INADEQUATE_SPACE);
    EXPECT_EQ(n, 2);
    EXPECT_STREQ(read[1], "b");
    EXPECT_EQ(read[2], nullptr);
    free(read[0]);
    free(read[1]);
    n = 0;
    EXPECT_EQ(unpack(read, &n, PMIX_STRING), PMIX_ERR_UNPACK_INADEQUATE_SPACE);
    n = 3;
    ASSERT_EQ(unpack(read, &n, PMIX_STRING), PMIX_SUCCESS);
    EXPECT_EQ(n, 3);
    EXPECT_STREQ(read[2], "c");
    for (char* text : read) {
        free(text);
    }
}

TEST_P(DataBuffer, RefusesInvalidArguments) {
    int32_t n = 1;
    uint32_t number = 7;
    EXPECT_EQ(data_pack(codec(), GetParam(), nullptr, &number, 1, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(pack(nullptr, 1, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(pack(&number, -1, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(pack(&number, 1, 400), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EXPECT_EQ(buffer_.bytes_used, 0u);
    EXPECT_EQ(data_unpack(codec(), GetParam(), nullptr, &number, &n, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(unpack(nullptr, &n, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(unpack(&number, nullptr, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(unpack(&number, &n, PMIX_UINT32), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    ASSERT_EQ(pack(&number, 1, PMIX_UINT32), PMIX_SUCCESS);
    n = 1;
    EXPECT_EQ(unpack(&number, &n, 400), PMIX_ERR_UNKNOWN_DATA_TYPE);
    buffer_.unpack_ptr = buffer_.base_ptr + buffer_.bytes_used + 1;
    n = 1;
    EXPECT_EQ(unpack(&number, &n, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(pack(&number, 1, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(data_copy_payload(&buffer_, &buffer_), PMIX_ERR_BAD_PARAM);
}

TEST_P(DataBuffer, OnlyADescribedBufferKnowsAWrongType) {
    const int32_t number = 7;
    ASSERT_EQ(pack(&number, 1, PMIX_INT32), PMIX_SUCCESS);
    int64_t wide = 0;
    int32_t n = 1;
    const pmix_status_t status = unpack(&wide, &n, PMIX_INT64);
    if (GetParam() == BufferType::FullyDescribed) {
        EXPECT_EQ(status, PMIX_ERR_PACK_MISMATCH);
        EXPECT_EQ(n, 0);
        int32_t read = 0;
        n = 1;
        EXPECT_EQ(unpack(&read, &n, PMIX_INT32), PMIX_SUCCESS);
        EXPECT_EQ(read, 7);
    } else {
        EXPECT_EQ(status, PMIX_SUCCESS);
        EXPECT_EQ(wide, 7);
    }
}

TEST_P(DataBuffer, CopiesTheUnreadPayload) {
    const uint8_t numbers[2] = {1, 2};
    ASSERT_EQ(pack(&numbers[0], 1, PMIX_UINT8), PMIX_SUCCESS);
    ASSERT_EQ(pack(&numbers[1], 1, PMIX_UINT8), PMIX_SUCCESS);
    uint8_t read = 0;
    int32_t n = 1;
    ASSERT_EQ(unpack(&read, &n, PMIX_UINT8), PMIX_SUCCESS);

    pmix_data_buffer_t other = PMIX_DATA_BUFFER_STATIC_INIT;
    ASSERT_EQ(data_copy_payload(&other, &buffer_), PMIX_SUCCESS);
    ASSERT_EQ(data_copy_payload(&other, &buffer_), PMIX_SUCCESS);
    EXPECT_EQ(other.bytes_used, buffer_.bytes_used);
    for (int i = 0; i < 2; ++i) {
        n = 1;
        ASSERT_EQ(data_unpack(codec(), GetParam(), &other, &read, &n, PMIX_UINT8), PMIX_SUCCESS);
        EXPECT_EQ(read, 2);
    }
    free(other.base_ptr);

    // Onto itself: the remaining content is duplicated.
    ASSERT_EQ(data_copy_payload(&buffer_, &buffer_), PMIX_SUCCESS);
    expect_consistent();
    for (int i = 0; i < 2; ++i) {
        n = 1;
        ASSERT_EQ(unpack(&read, &n, PMIX_UINT8), PMIX_SUCCESS);
        EXPECT_EQ(read, 2);
    }
    EXPECT_EQ(data_copy_payload(&buffer_, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(data_copy_payload(nullptr, &buffer_), PMIX_ERR_BAD_PARAM);
}

TEST_P(DataBuffer, RoundTripsATopology) {
    hwloc_topology_t handle = nullptr;
    ASSERT_EQ(hwloc_topology_init(&handle), 0);
    ASSERT_EQ(hwloc_topology_set_synthetic(handle, "core:3 pu:1"), 0);
    ASSERT_EQ(hwloc_topology_load(handle), 0);
    const pmix_topology_t topology = {const_cast<char*>("hwloc"), handle};
    EXPECT_EQ(pack(&topology, 1, PMIX_TOPO), PMIX_SUCCESS);
    hwloc_topology_destroy(handle);
    pmix_topology_t read;
    int32_t n = 1;
    ASSERT_EQ(unpack(&read, &n, PMIX_TOPO), PMIX_SUCCESS);
    ASSERT_NE(read.topology, nullptr);
    EXPECT_EQ(hwloc_get_nbobjs_by_type(static_cast<hwloc_topology_t>(read.topology), HWLOC_OBJ_CORE), 3);
    data_destruct_elements(&read, 1, PMIX_TOPO);
}

INSTANTIATE_TEST_SUITE_P(Types, DataBuffer,
                         testing::Values(BufferType::NonDescribed, BufferType::FullyDescribed),
                         [](const auto& type) {
                             return type.param == BufferType::NonDescribed ? "NonDescribed"
                                                                           : "FullyDescribed";
                         });

}  // namespace
}  // namespace muster
