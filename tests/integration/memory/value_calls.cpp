// SPDX-License-Identifier: BSD-3-Clause
// Functions that only use the caller's memory. Each call creates its values, and frees them.
#include <pmix.h>
#include <pmix_server.h>

#include <cstdlib>
#include <cstring>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

char text[] = "text";
char list[] = "one,two,three";

/// A value that holds others.
pmix_info_t* nested() {
    static pmix_info_t one;
    if (one.value.type != PMIX_UNDEF) return &one;
    pmix_data_array_t* array = nullptr;
    PMIX_DATA_ARRAY_CREATE(array, 2, PMIX_INFO);
    auto* infos = static_cast<pmix_info_t*>(array->array);
    PMIX_INFO_LOAD(&infos[0], PMIX_HOSTNAME, text, PMIX_STRING);
    const uint32_t size = 2;
    PMIX_INFO_LOAD(&infos[1], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIX_LOAD_KEY(one.key, PMIX_PROC_INFO_ARRAY);
    one.value.type = PMIX_DATA_ARRAY;
    one.value.data.darray = array;
    return &one;
}

pmix_status_t good(bool yes) {
    return yes ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t printed(char* made) {
    std::free(made);
    return good(made != nullptr);
}

void buffers(Calls& calls) {
    calls.add("pack", [] {
        pmix_data_buffer_t buffer, other;
        PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
        PMIX_DATA_BUFFER_CONSTRUCT(&other);
        pmix_status_t status = PMIx_Data_pack(nullptr, &buffer, nested(), 1, PMIX_INFO);
        if (status == PMIX_SUCCESS) status = PMIx_Data_copy_payload(&other, &buffer);
        pmix_info_t back;
        PMIX_INFO_CONSTRUCT(&back);
        int32_t count = 1;
        if (status == PMIX_SUCCESS) status = PMIx_Data_unpack(nullptr, &other, &back, &count, PMIX_INFO);
        PMIX_INFO_DESTRUCT(&back);
        PMIX_DATA_BUFFER_DESTRUCT(&buffer);
        PMIX_DATA_BUFFER_DESTRUCT(&other);
        return status;
    });
    calls.add("copy", [] {
        void* made = nullptr;
        const pmix_status_t status = PMIx_Data_copy(&made, &nested()->value, PMIX_VALUE);
        auto* value = static_cast<pmix_value_t*>(made);
        if (status == PMIX_SUCCESS) PMIX_VALUE_RELEASE(value);
        return status;
    });
    calls.add("print", [] {
        char* made = nullptr;
        const pmix_status_t status = PMIx_Data_print(&made, text, nested(), PMIX_INFO);
        std::free(made);
        return status;
    });
    calls.add("embed", [] {
        pmix_data_buffer_t buffer;
        PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
        pmix_byte_object_t bytes{text, sizeof text};
        pmix_status_t status = PMIx_Data_embed(&buffer, &bytes);
        pmix_byte_object_t out{};
        if (status == PMIX_SUCCESS) status = PMIx_Data_unload(&buffer, &out);
        std::free(out.bytes);
        PMIX_DATA_BUFFER_DESTRUCT(&buffer);
        return status;
    });
    calls.add("compress", [] {
        static uint8_t zeros[100000];
        uint8_t *small = nullptr, *large = nullptr;
        size_t size = 0, back = 0;
        const bool whole = PMIx_Data_compress(zeros, sizeof zeros, &small, &size) &&
                           PMIx_Data_decompress(small, size, &large, &back);
        std::free(small);
        std::free(large);
        return good(whole);
    });
}

void values(Calls& calls) {
    calls.add("value_xfer", [] {
        pmix_value_t copy;
        PMIX_VALUE_CONSTRUCT(&copy);
        const pmix_status_t status = PMIx_Value_xfer(&copy, &nested()->value);
        PMIX_VALUE_DESTRUCT(&copy);
        return status;
    });
    calls.add("value_load", [] {
        pmix_value_t value;
        PMIX_VALUE_CONSTRUCT(&value);
        pmix_status_t status = PMIx_Value_load(&value, text, PMIX_STRING);
        void* back = nullptr;
        size_t size = 0;
        if (status == PMIX_SUCCESS) status = PMIx_Value_unload(&value, &back, &size);
        std::free(back);
        PMIX_VALUE_DESTRUCT(&value);
        return status;
    });
    calls.add("info_list", [] {
        void* infos = PMIx_Info_list_start();
        if (infos == nullptr) return PMIX_ERR_NOMEM;
        pmix_status_t status = PMIx_Info_list_add(infos, PMIX_HOSTNAME, text, PMIX_STRING);
        if (status == PMIX_SUCCESS) status = PMIx_Info_list_xfer(infos, nested());
        pmix_data_array_t array{};
        if (status == PMIX_SUCCESS) status = PMIx_Info_list_convert(infos, &array);
        PMIX_DATA_ARRAY_DESTRUCT(&array);
        PMIx_Info_list_release(infos);
        return status;
    });
    calls.add("value_string", [] { return printed(PMIx_Value_string(&nested()->value)); });
    calls.add("info_string", [] { return printed(PMIx_Info_string(nested())); });
    calls.add("proc_string", [] { return printed(PMIx_Proc_string(&self)); });
    calls.add("creators", [] {
        pmix_info_t* infos = PMIx_Info_create(3);
        pmix_app_t* apps = PMIx_App_create(2);
        pmix_query_t* queries = PMIx_Query_create(2);
        pmix_value_t* several = PMIx_Value_create(2);
        const bool whole = infos && apps && queries && several;
        if (infos != nullptr) PMIx_Info_free(infos, 3);
        if (apps != nullptr) PMIx_App_free(apps, 2);
        if (queries != nullptr) PMIx_Query_free(queries, 2);
        if (several != nullptr) PMIx_Value_free(several, 2);
        return good(whole);
    });
}

void argument_lists(Calls& calls) {
    calls.add("argv", [] {
        char** split = PMIx_Argv_split(list, ',');
        if (split == nullptr) return PMIX_ERR_NOMEM;
        pmix_status_t status = PMIx_Argv_append_nosize(&split, text);
        if (status == PMIX_SUCCESS) status = PMIx_Argv_prepend_nosize(&split, text);
        char** copy = PMIx_Argv_copy(split);
        char* joined = PMIx_Argv_join(split, ',');
        if (status == PMIX_SUCCESS) status = good(copy != nullptr && joined != nullptr);
        std::free(joined);
        PMIx_Argv_free(copy);
        PMIx_Argv_free(split);
        return status;
    });
    calls.add("setenv", [] {
        char** env = nullptr;
        pmix_status_t status = PMIx_Setenv("NAME", text, true, &env);
        if (status == PMIX_SUCCESS) status = PMIx_Setenv("NAME", list, true, &env);
        PMIx_Argv_free(env);
        return status;
    });
}

}  // namespace

std::vector<Call> value_calls() {
    Calls calls;
    buffers(calls);
    values(calls);
    argument_lists(calls);
    return calls.take();
}

}  // namespace failing
