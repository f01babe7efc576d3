#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: check_runtime.sh OBJDUMP LIBDIR - the library and its components need no shared C++ runtime, export no function of the
# one that is linked into them, and are not linked with hwloc.
objdump=$1
failed=0
seen=0
for library in "$2"/libpmix.so.2 "$2"/pmix/mca_*.so; do
    [ -e "$library" ] || continue
    seen=$((seen + 1))
    wanted=$("$objdump" -p "$library" | grep -E "NEEDED +lib(stdc\\+\\+|m|hwloc)\.so")
    if [ -n "$wanted" ]; then
        echo "$library: $wanted"
        failed=1
    fi
    shown=$("$objdump" -T "$library" | grep -v '\*UND\*' | grep -E ' (_ZNS|_ZNK|_ZS|_ZT|_Zn|_Zd|__cxa|__gxx|_Unwind)[A-Za-z0-9_]*$')
    if [ -n "$shown" ]; then
        echo "$library exports of the runtime: $shown"
        failed=1
    fi
done
if [ "$seen" -eq 0 ]; then
    echo "no library in $2"
    exit 1
fi
exit $failed
