// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Data_*: buffers, copies, printing and compression, through the library itself.

#include <gtest/gtest.h>
#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

TEST(DataBuffer, LoadsEmbedsAndUnloads) {
    pmix_data_buffer_t* buffer = PMIx_Data_buffer_create();
    ASSERT_NE(buffer, nullptr);
    pmix_byte_object_t payload = {strdup("payload"), 7};
    char* const bytes = payload.bytes;
    ASSERT_EQ(PMIx_Data_load(buffer, &payload), PMIX_SUCCESS);
    EXPECT_EQ(payload.bytes, nullptr) << "taken over";
    EXPECT_EQ(buffer->base_ptr, bytes);
    EXPECT_EQ(buffer->bytes_used, 7U);

    const pmix_byte_object_t source = {bytes, 3};
    pmix_data_buffer_t second;
    PMIx_Data_buffer_construct(&second);
    ASSERT_EQ(PMIx_Data_embed(&second, &source), PMIX_SUCCESS);
    EXPECT_NE(second.base_ptr, bytes);
    EXPECT_EQ(std::string(second.base_ptr, second.bytes_used), "pay");
    PMIx_Data_buffer_destruct(&second);

    buffer->unpack_ptr += 3;  // as after an unpack
    ASSERT_EQ(PMIx_Data_unload(buffer, &payload), PMIX_SUCCESS);
    EXPECT_EQ(std::string(payload.bytes, payload.size), "load");
    EXPECT_EQ(buffer->base_ptr, nullptr);
    PMIx_Byte_object_destruct(&payload);
    ASSERT_EQ(PMIx_Data_unload(buffer, &payload), PMIX_SUCCESS);
    EXPECT_EQ(payload.size, 0U);
    PMIx_Data_buffer_release(buffer);

    EXPECT_EQ(PMIx_Data_load(nullptr, &payload), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Data_unload(nullptr, &payload), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Data_embed(nullptr, &source), PMIX_ERR_BAD_PARAM);
}

TEST(DataBuffer, LoadReplacesTheContent) {
    pmix_data_buffer_t buffer;
    PMIx_Data_buffer_construct(&buffer);
    PMIx_Data_buffer_load(&buffer, strdup("first"), 5);
    PMIx_Data_buffer_load(&buffer, strdup("second"), 6);
    buffer.unpack_ptr = buffer.pack_ptr;
    char* bytes = buffer.base_ptr;
    size_t size = 1;
    PMIx_Data_buffer_unload(&buffer, &bytes, &size);
    EXPECT_EQ(bytes, nullptr) << "all of it was read";
    EXPECT_EQ(size, 0U);
    PMIx_Data_buffer_load(&buffer, strdup("third"), 5);
    EXPECT_EQ(PMIx_Data_load(&buffer, nullptr), PMIX_SUCCESS);
    EXPECT_EQ(buffer.base_ptr, nullptr);
}

TEST(DataCopy, MakesIndependentElements) {
    char text[] = "text";
    char* string = nullptr;
    ASSERT_EQ(PMIx_Data_copy(reinterpret_cast<void**>(&string), text, PMIX_STRING), PMIX_SUCCESS);
    EXPECT_STREQ(string, "text");
    EXPECT_NE(string, text);
    free(string);

    pmix_info_t info;
    PMIx_Info_load(&info, "key", "text", PMIX_STRING);
    pmix_info_t* copy = nullptr;
    ASSERT_EQ(PMIx_Data_copy(reinterpret_cast<void**>(&copy), &info, PMIX_INFO), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    EXPECT_STREQ(copy->value.data.string, "text");
    PMIx_Info_free(copy, 1);

    void* none = nullptr;
    EXPECT_EQ(PMIx_Data_copy(nullptr, &info, PMIX_INFO), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Data_copy(&none, nullptr, PMIX_INFO), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Data_copy(&none, &info, 499), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EXPECT_EQ(PMIx_Data_copy(&none, &info, PMIX_UNDEF), PMIX_ERR_UNKNOWN_DATA_TYPE);
}

std::string print(void* source, pmix_data_type_t type, const char* prefix = nullptr) {
    char* text = nullptr;
    std::string own = prefix == nullptr ? "" : prefix;
    const pmix_status_t status =
        PMIx_Data_print(&text, prefix == nullptr ? nullptr : own.data(), source, type);
    if (status != PMIX_SUCCESS) return PMIx_Error_string(status);
    std::string result = text;
    free(text);
    return result;
}

TEST(DataPrint, SaysTypeAndValue) {
    int number = -3;
    EXPECT_EQ(print(&number, PMIX_INT), " Data type: PMIX_INT\tValue: -3");
    EXPECT_EQ(print(&number, PMIX_INT, "> "), "> Data type: PMIX_INT\tValue: -3");
    char text[] = "hello";
    EXPECT_EQ(print(text, PMIX_STRING, ""), "Data type: PMIX_STRING\tValue: hello");
    pmix_proc_t proc = {"job", 2};
    EXPECT_EQ(print(&proc, PMIX_PROC, ""), "Data type: PMIX_PROC\tValue: job:2");
    pmix_status_t status = PMIX_ERR_TIMEOUT;
    EXPECT_EQ(print(&status, PMIX_STATUS, ""), "Data type: PMIX_STATUS\tValue: PMIX_ERR_TIMEOUT");
    char host[] = "host";
    pmix_node_pid_t node = {host, 4, 99};
    EXPECT_EQ(print(&node, PMIX_NODE_PID, ""),
              "Data type: PMIX_NODE_PID\tValue: {hostname: \"host\", nodeid: 4, pid: 99}");
    uint32_t numbers[] = {1, 2};
    pmix_data_array_t array = {PMIX_UINT32, 2, numbers};
    EXPECT_EQ(print(&array, PMIX_DATA_ARRAY, ""),
              "Data type: PMIX_DATA_ARRAY\tType: PMIX_UINT32\tSize: 2\n"
              "\tData type: PMIX_UINT32\tValue: 1\n\tData type: PMIX_UINT32\tValue: 2");
    EXPECT_EQ(print(&number, 499), "PMIX_ERR_UNKNOWN_DATA_TYPE");
    EXPECT_EQ(print(nullptr, PMIX_INT), "PMIX_ERR_BAD_PARAM");
}

TEST(DataCompress, RoundTrips) {
    const std::string text(20000, 'z');
    const auto* input = reinterpret_cast<const uint8_t*>(text.data());
    uint8_t* packed = nullptr;
    size_t packed_size = 0;
    ASSERT_TRUE(PMIx_Data_compress(input, text.size(), &packed, &packed_size));
    EXPECT_LT(packed_size, text.size());
    uint8_t* plain = nullptr;
    size_t plain_size = 0;
    ASSERT_TRUE(PMIx_Data_decompress(packed, packed_size, &plain, &plain_size));
    EXPECT_EQ(std::string(reinterpret_cast<char*>(plain), plain_size), text);
    free(plain);
    EXPECT_FALSE(PMIx_Data_decompress(packed, packed_size - 1, &plain, &plain_size));
    EXPECT_EQ(plain, nullptr);
    EXPECT_EQ(plain_size, 0U);
    EXPECT_FALSE(PMIx_Data_decompress(packed, 3, &plain, &plain_size));
    free(packed);
    EXPECT_FALSE(PMIx_Data_compress(input, 8, &packed, &packed_size)) << "it would not be smaller";
    EXPECT_FALSE(PMIx_Data_compress(nullptr, 8, &packed, &packed_size));
    EXPECT_FALSE(PMIx_Data_compress(input, 8, nullptr, &packed_size));
}

}  // namespace
