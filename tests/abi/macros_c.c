// SPDX-License-Identifier: BSD-3-Clause
//
// The macros as C uses them.

#include "macros_use.inc"
