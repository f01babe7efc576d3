// SPDX-License-Identifier: BSD-3-Clause
// Linked to programs that play a user's: the address build does not report the memory that they do not free.
// muster, the parent of such a program, is still checked.
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void) {
    return 1;
}
