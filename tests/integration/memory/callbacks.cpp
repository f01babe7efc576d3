// SPDX-License-Identifier: BSD-3-Clause
// See callbacks.hpp.
#include "tests/integration/memory/callbacks.hpp"

namespace failing {

namespace {
std::atomic<long> called{0};
}  // namespace

pmix_proc_t self, everybody;
size_t handler = 0;
std::atomic<long> promised{0};
std::atomic<pmix_status_t> answer;
std::atomic<bool> here;
std::atomic<long> number;

Begin begin = [](const std::function<pmix_status_t()>& start) { return start(); };
void (*on_callback)() = [] {};

void on_status(pmix_status_t status, void* data) {
    on_callback();
    ++called;
    if (reinterpret_cast<long>(data) != number) return;
    answer = status;
    here = true;
}

void on_value(pmix_status_t status, pmix_value_t*, void* data) {
    on_status(status, data);
}

void on_info(pmix_status_t status, pmix_info_t*, size_t, void* data, pmix_release_cbfunc_t release,
             void* release_data) {
    if (release != nullptr) release(release_data);
    on_status(status, data);
}

void on_handler(pmix_status_t status, size_t id, void* data) {
    handler = id;
    on_status(status, data);
}

void on_lookup(pmix_status_t status, pmix_pdata_t*, size_t, void* data) {
    on_status(status, data);
}

void on_setup(pmix_status_t status, pmix_info_t*, size_t, void* data, pmix_op_cbfunc_t release,
              void* release_data) {
    if (release != nullptr) release(PMIX_SUCCESS, release_data);
    on_status(status, data);
}

void on_event(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], size_t, pmix_info_t[], size_t,
              pmix_event_notification_cbfunc_fn_t done, void* data) {
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

void on_spawn(pmix_status_t status, char*, void* data) {
    on_status(status, data);
}

void on_credential(pmix_status_t status, pmix_byte_object_t*, pmix_info_t*, size_t, void* data) {
    on_status(status, data);
}

void on_validation(pmix_status_t status, pmix_info_t*, size_t, void* data) {
    on_status(status, data);
}

void on_distances(pmix_status_t status, pmix_device_distance_t*, size_t, void* data,
                  pmix_release_cbfunc_t release, void* release_data) {
    if (release != nullptr) release(release_data);
    on_status(status, data);
}

void on_modex(pmix_status_t status, char*, size_t, void* data) {
    on_status(status, data);
}

void on_output(size_t, pmix_iof_channel_t, pmix_proc_t*, pmix_byte_object_t*, pmix_info_t*, size_t) {}

pmix_info_t* info(const char* key, const void* value, pmix_data_type_t type) {
    static pmix_info_t one;
    PMIX_INFO_LOAD(&one, key, value, type);
    return &one;
}

pmix_status_t discard(pmix_info_t* results, size_t nresults, pmix_status_t status) {
    if (results != nullptr) PMIX_INFO_FREE(results, nresults);
    return status;
}

bool callbacks_are_right() {
    for (int looks = 0; looks < 200 && called < promised; ++looks)
        usleep(1000);
    return called == promised;
}

}  // namespace failing
