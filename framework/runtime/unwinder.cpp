// SPDX-License-Identifier: BSD-3-Clause
// The unwinder of exceptions, libgcc_s, opened when something is first thrown (MUSTER_LATE_UNWINDER;
// docs/decisions/0020): hardly any process throws, and each would pay for one library more at its start. Part
// of no library: the linker turns references to the functions of <unwind.h> to those here (--wrap), in the
// library and in each file of components.
//
// All that throw in a process are to use one unwinder. Where libgcc_s cannot be opened (there is no memory,
// or the process has changed its root) the copy serves that is linked in as the last resort.
#include <dlfcn.h>
#include <unwind.h>

#include <atomic>
#include <cstddef>

namespace {

enum class Choice : int { None, Shared, Own };
constinit std::atomic<Choice> choice{Choice::None};

Choice choose();

Choice chosen() {
    const Choice made = choice.load(std::memory_order_acquire);
    return made != Choice::None ? made : choose();
}

/// A function of libgcc_s; the same whoever stores it.
using Found = std::atomic<void*>;

bool find(void* library, const char* name, Found& found) {
    void* const address = dlsym(library, name);
    if (address != nullptr) found.store(address, std::memory_order_relaxed);
    return address != nullptr;
}

}  // namespace

// The stack is unwound through these: they hold nothing, and nothing in them is to be run.
#define MUSTER_UNWIND_FUNCTION(type, name, parameters, arguments)                                         \
    namespace {                                                                                           \
    constinit Found found_##name{nullptr};                                                                \
    }                                                                                                     \
    extern "C" type __real_##name parameters;                                                             \
    extern "C" type __wrap_##name parameters;                                                             \
    type __wrap_##name parameters {                                                                       \
        if (chosen() == Choice::Own) return __real_##name arguments;                                      \
        return reinterpret_cast<decltype(&name)>(found_##name.load(std::memory_order_relaxed)) arguments; \
    }

MUSTER_UNWIND_FUNCTION(_Unwind_Reason_Code, _Unwind_RaiseException, (_Unwind_Exception * exception),
                       (exception))
MUSTER_UNWIND_FUNCTION(_Unwind_Reason_Code, _Unwind_ForcedUnwind,
                       (_Unwind_Exception * exception, _Unwind_Stop_Fn stop, void* argument),
                       (exception, stop, argument))
MUSTER_UNWIND_FUNCTION(void, _Unwind_Resume, (_Unwind_Exception * exception), (exception))
MUSTER_UNWIND_FUNCTION(_Unwind_Reason_Code, _Unwind_Resume_or_Rethrow, (_Unwind_Exception * exception),
                       (exception))
MUSTER_UNWIND_FUNCTION(_Unwind_Reason_Code, _Unwind_Backtrace, (_Unwind_Trace_Fn trace, void* argument),
                       (trace, argument))
MUSTER_UNWIND_FUNCTION(_Unwind_Word, _Unwind_GetGR, (_Unwind_Context * context, int index), (context, index))
MUSTER_UNWIND_FUNCTION(void, _Unwind_SetGR, (_Unwind_Context * context, int index, _Unwind_Word value),
                       (context, index, value))
MUSTER_UNWIND_FUNCTION(_Unwind_Ptr, _Unwind_GetIP, (_Unwind_Context * context), (context))
MUSTER_UNWIND_FUNCTION(_Unwind_Ptr, _Unwind_GetIPInfo, (_Unwind_Context * context, int* before),
                       (context, before))
MUSTER_UNWIND_FUNCTION(void, _Unwind_SetIP, (_Unwind_Context * context, _Unwind_Ptr value), (context, value))
MUSTER_UNWIND_FUNCTION(_Unwind_Word, _Unwind_GetCFA, (_Unwind_Context * context), (context))
MUSTER_UNWIND_FUNCTION(void*, _Unwind_GetLanguageSpecificData, (_Unwind_Context * context), (context))
MUSTER_UNWIND_FUNCTION(_Unwind_Ptr, _Unwind_GetRegionStart, (_Unwind_Context * context), (context))
MUSTER_UNWIND_FUNCTION(_Unwind_Ptr, _Unwind_GetDataRelBase, (_Unwind_Context * context), (context))
MUSTER_UNWIND_FUNCTION(_Unwind_Ptr, _Unwind_GetTextRelBase, (_Unwind_Context * context), (context))
#undef MUSTER_UNWIND_FUNCTION

// The copy finds tables of unwinding by this function of newer C libraries. With older ones it finds none, so
// that an exception without memory ends the process; but the library can be used with them.
extern "C" int __wrap__dl_find_object(void* address, void* result);
int __wrap__dl_find_object(void* address, void* result) {
    using Function = int (*)(void*, void*);
    const auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
    return function == nullptr ? -1 : function(address, result);
}

namespace {

_Unwind_Reason_Code stop_at_once(_Unwind_Context*, void*) {
    return _URC_NORMAL_STOP;
}

Choice choose() {
    void* const library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    bool whole = library != nullptr;
#define MUSTER_FIND(name) whole = whole && find(library, #name, found_##name);
    MUSTER_FIND(_Unwind_RaiseException)
    MUSTER_FIND(_Unwind_ForcedUnwind)
    MUSTER_FIND(_Unwind_Resume)
    MUSTER_FIND(_Unwind_Resume_or_Rethrow)
    MUSTER_FIND(_Unwind_Backtrace)
    MUSTER_FIND(_Unwind_GetGR)
    MUSTER_FIND(_Unwind_SetGR)
    MUSTER_FIND(_Unwind_GetIP)
    MUSTER_FIND(_Unwind_GetIPInfo)
    MUSTER_FIND(_Unwind_SetIP)
    MUSTER_FIND(_Unwind_GetCFA)
    MUSTER_FIND(_Unwind_GetLanguageSpecificData)
    MUSTER_FIND(_Unwind_GetRegionStart)
    MUSTER_FIND(_Unwind_GetDataRelBase)
    MUSTER_FIND(_Unwind_GetTextRelBase)
#undef MUSTER_FIND
    // Threads may come here at the same time, and one of them without memory: the first one's choice counts.
    Choice first = Choice::None;
    const Choice made = whole ? Choice::Shared : Choice::Own;
    if (choice.compare_exchange_strong(first, made)) first = made;
    // Each copy has a table of the registers' sizes, which it makes when it first walks over the stack, and
    // aborts without it: one that only sees what another copy throws has never walked.
    if (first == Choice::Own) {
        __real__Unwind_Backtrace(&stop_at_once, nullptr);
    } else {
        __wrap__Unwind_Backtrace(&stop_at_once, nullptr);
    }
    return first;
}

}  // namespace
