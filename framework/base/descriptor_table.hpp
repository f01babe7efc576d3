// SPDX-License-Identifier: BSD-3-Clause
// Space for descriptors in a process that will have many of them.
#pragma once

namespace muster {

/// Grows the process's descriptor table to `count` entries, or to its limit (RLIMIT_NOFILE), if the process
/// is single-threaded. With several threads the kernel waits for every processor at each growth of the table
/// (to 128, 256, 512 and so on): for about 10 ms no thread can accept a connection, open a file or create a
/// pipe. An entry costs the kernel 8 bytes. Does nothing if another thread exists, because that thread might
/// use the number that is opened here for a moment. No error: the kernel grows the table on demand.
void make_room_for_descriptors(unsigned count);

}  // namespace muster
