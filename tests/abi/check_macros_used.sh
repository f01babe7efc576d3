#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: check_macros_used.sh macros.tsv SOURCE
# Fails when a macro of the table is not used in SOURCE, which the build has compiled in C and in C++.
set -eu
awk -F '\t' '!/^#/ { print $1 }' "$1" | {
    status=0
    while read -r name; do
        if ! grep -qw "$name" "$2"; then
            echo "not used: $name"
            status=1
        fi
    done
    exit $status
}
