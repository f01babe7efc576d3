#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: check_exports.sh LIBRARY exports.tsv [COMPONENT...]
# Fails unless LIBRARY exports exactly the functions of the table, and those of the components that are in it (mca_gds_hash),
# unversioned, and no data.
set -eu
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$1" | awk '{ print $NF }' | sort > "$work/found"
awk -F '\t' '!/^#/ { print $1 }' "$2" > "$work/table"
library=$1
shift 2
for component in "$@"; do echo "muster_component_${component#mca_}"; done | sort - "$work/table" > "$work/wanted"
comm -23 "$work/wanted" "$work/found" | sed 's/^/not exported: /' > "$work/report"
comm -13 "$work/wanted" "$work/found" | sed 's/^/exported, but not in the table: /' >> "$work/report"
nm -D --defined-only "$library" | awk '$(NF - 1) !~ /^[TW]$/ { print "not a function: " $NF }' >> "$work/report"
cat "$work/report"
[ ! -s "$work/report" ]
