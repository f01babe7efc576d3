// SPDX-License-Identifier: BSD-3-Clause
// A shared library that is opened when one of its functions is first called. What most processes never need,
// they should not pay for at their start: each library that a program is linked with costs it some hundred
// microseconds.
//
// A file of functions (hwloc_functions.cpp) defines those of the library that we use, under their own names
// and for ourselves alone; each passes its arguments on. So callers include the library's header and call it
// as ever.
#pragma once

namespace muster {

class LateLibrary {
  public:
    enum class Seen {
        ByAll,      ///< its plugins look for its functions among those that all see, as if it had been linked
        ByUsAlone,  ///< a process may have another version of it
    };
    /// `name` as the dynamic linker knows it (libhwloc.so.15).
    explicit constexpr LateLibrary(const char* name, Seen seen = Seen::ByAll) : name_(name), seen_(seen) {}
    LateLibrary(const LateLibrary&) = delete;
    LateLibrary& operator=(const LateLibrary&) = delete;

    /// A function of the library, which is opened for it and never closed; null where the library or the
    /// function is missing, of which standard error tells nothing. Any thread.
    void* find(const char* function);

  private:
    const char* const name_;
    const Seen seen_;
};

}  // namespace muster

/// Defines `name` as what passes on to the function of that name in `library` (a LateLibrary), and returns
/// `otherwise` where there is none.
#define MUSTER_LATE_FUNCTION(library, type, name, parameters, arguments, otherwise)       \
    extern "C" type name parameters {                                                     \
        static auto* const real = reinterpret_cast<decltype(&name)>(library.find(#name)); \
        if (real == nullptr) return otherwise;                                            \
        return real arguments;                                                            \
    }
