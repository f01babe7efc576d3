// SPDX-License-Identifier: BSD-3-Clause
// The annotations of clang's thread-safety analysis; nothing for other compilers.
#pragma once

#if defined(__clang__)
#define MUSTER_THREAD_SAFETY(x) __attribute__((x))
#else
#define MUSTER_THREAD_SAFETY(x)
#endif

/// A class whose objects can be held.
#define MUSTER_CAPABILITY(name) MUSTER_THREAD_SAFETY(capability(name))
#define MUSTER_SCOPED_CAPABILITY MUSTER_THREAD_SAFETY(scoped_lockable)
/// A member that is used while this is held only.
#define MUSTER_GUARDED_BY(x) MUSTER_THREAD_SAFETY(guarded_by(x))
/// A function whose caller holds this.
#define MUSTER_REQUIRES(...) MUSTER_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// A function that takes this, gives it back, or tries to take it.
#define MUSTER_ACQUIRE(...) MUSTER_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define MUSTER_ACQUIRE_SHARED(...) MUSTER_THREAD_SAFETY(acquire_shared_capability(__VA_ARGS__))
#define MUSTER_RELEASE(...) MUSTER_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define MUSTER_RELEASE_SHARED(...) MUSTER_THREAD_SAFETY(release_shared_capability(__VA_ARGS__))
#define MUSTER_TRY_ACQUIRE(...) MUSTER_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
/// A function that checks at run time that this is held.
#define MUSTER_ASSERTS(x) MUSTER_THREAD_SAFETY(assert_capability(x))
/// A function that the analysis cannot follow; a comment there says why it is right.
#define MUSTER_NO_THREAD_SAFETY_ANALYSIS MUSTER_THREAD_SAFETY(no_thread_safety_analysis)
