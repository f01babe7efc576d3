// SPDX-License-Identifier: BSD-3-Clause
// Room for descriptors in a process that will have many of them.
#pragma once

namespace muster {

/// Makes room in the process's table of descriptors for `count` of them, or for as many as its limit allows
/// (RLIMIT_NOFILE), where this is its only thread. Once there is another one, the kernel waits for every
/// processor each time that this table has to grow (to 128, 256, 512 and so on): for some 10 ms no thread
/// accepts a connection, opens a file or makes a pipe. Costs the kernel 8 bytes for each. Does nothing if
/// another thread exists, which might use the number that is opened here for a moment. No error: the kernel
/// grows the table on demand.
void make_room_for_descriptors(unsigned count);

}  // namespace muster
