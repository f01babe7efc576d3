#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: check_exports.sh LIBRARY exports.tsv
# Fails unless LIBRARY exports exactly the functions of the table, unversioned, and no data but what the table says to be.
set -eu
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$1" | awk '{ print $NF }' | sort > "$work/found"
awk -F '\t' '!/^#/ { print $1 }' "$2" | sort > "$work/wanted"
library=$1
table=$2
comm -23 "$work/wanted" "$work/found" | sed 's/^/not exported: /' > "$work/report"
comm -13 "$work/wanted" "$work/found" | sed 's/^/exported, but not in the table: /' >> "$work/report"
awk -F '\t' '$2 == "data" { print $1 }' "$table" > "$work/data"
nm -D --defined-only "$library" | awk '$(NF - 1) !~ /^[TW]$/ { print $NF }' | grep -vxFf "$work/data" |
    sed 's/^/not a function: /' >> "$work/report" || true
cat "$work/report"
[ ! -s "$work/report" ]
