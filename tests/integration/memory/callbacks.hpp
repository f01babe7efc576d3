// SPDX-License-Identifier: BSD-3-Clause
// Shared parts of the calls under test: their callbacks, which are counted, and the wait for them.
#pragma once

#include <pmix_server.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "tests/integration/memory/calls.hpp"

namespace failing {

constexpr pmix_status_t kCode = -3000;

extern pmix_proc_t self, everybody;
extern size_t handler;  ///< the reference of the last registration

// The number of the awaited non-blocking call: it distinguishes its callback from late ones.
extern std::atomic<long> promised;
extern std::atomic<pmix_status_t> answer;
extern std::atomic<bool> here;
extern std::atomic<long> number;

void on_status(pmix_status_t status, void* data);
void on_value(pmix_status_t status, pmix_value_t* value, void* data);
void on_info(pmix_status_t status, pmix_info_t* results, size_t nresults, void* data,
             pmix_release_cbfunc_t release, void* release_data);
void on_handler(pmix_status_t status, size_t id, void* data);
void on_lookup(pmix_status_t status, pmix_pdata_t* found, size_t count, void* data);
void on_setup(pmix_status_t status, pmix_info_t* results, size_t nresults, void* data,
              pmix_op_cbfunc_t release, void* release_data);
void on_spawn(pmix_status_t status, char* nspace, void* data);
void on_credential(pmix_status_t status, pmix_byte_object_t* credential, pmix_info_t* results,
                   size_t nresults, void* data);
void on_validation(pmix_status_t status, pmix_info_t* results, size_t nresults, void* data);
void on_distances(pmix_status_t status, pmix_device_distance_t* distances, size_t count, void* data,
                  pmix_release_cbfunc_t release, void* release_data);
void on_modex(pmix_status_t status, char* bytes, size_t size, void* data);
void on_event(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t* info, size_t ninfo,
              pmix_info_t* results, size_t nresults, pmix_event_notification_cbfunc_fn_t done, void* data);
void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t* source, pmix_byte_object_t* bytes,
               pmix_info_t* info, size_t ninfo);

/// Hooks of programs that watch when and on which thread calls happen: `begin` starts each call, and
/// `on_callback` runs first in each callback.
using Begin = pmix_status_t (*)(const std::function<pmix_status_t()>& start);
extern Begin begin;
extern void (*on_callback)();

/// `start` begins a call with the data of its callback. PMIX_OPERATION_SUCCEEDED counts as success.
template <class Start>
pmix_status_t wait_for(const Start& start) {
    here = false;
    void* const data = reinterpret_cast<void*>(++number);
    const pmix_status_t status = begin([&start, data] { return start(data); });
    if (status == PMIX_OPERATION_SUCCEEDED) return PMIX_SUCCESS;
    if (status != PMIX_SUCCESS) return status;
    ++promised;
    while (!here)
        usleep(50);
    return answer;
}

/// One directive, valid until the next call of this function.
pmix_info_t* info(const char* key, const void* value, pmix_data_type_t type);
pmix_status_t discard(pmix_info_t* results, size_t nresults, pmix_status_t status);

/// A list of calls, filled by functions.
class Calls {
  public:
    Call& add(const char* name, std::function<pmix_status_t()> run) {
        calls_.push_back({name, std::move(run)});
        return calls_.back();
    }
    std::vector<Call> take() { return std::move(calls_); }

  private:
    std::vector<Call> calls_;
};

// The families of calls.
std::vector<Call> everyday_calls();
std::vector<Call> service_calls();
std::vector<Call> input_calls();
std::vector<Call> node_calls();
std::vector<Call> client_calls();
std::vector<Call> group_calls();
std::vector<Call> tool_calls();
std::vector<Call> server_calls();
std::vector<Call> host_calls();
std::vector<Call> value_calls();

}  // namespace failing
