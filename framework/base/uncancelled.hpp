// SPDX-License-Identifier: BSD-3-Clause
// Keeps a thread from being cancelled (pthread_cancel) while it is where that could happen: its unwinding
// must not cross our frames, which end at the C boundary.
#pragma once

#include <pthread.h>

namespace muster {

/// While one of these lives, its thread cannot be cancelled: a thread in a call may drive the loop for all.
/// The call returns first.
class Uncancelled {
  public:
    Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
    Uncancelled(const Uncancelled&) = delete;
    Uncancelled& operator=(const Uncancelled&) = delete;

  private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace muster
