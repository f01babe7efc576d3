#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# debug.sh NODES BIN CASE... - a debugger's front end (debug_tool) at a `muster serve` with NODES nodes, one case after the other.
# No process or file may be left afterwards.
set -uo pipefail
nodes=$1 bin=$2
shift 2
work=$(mktemp -d)
export TMPDIR=$work/tmp MUSTER_OUT=$work/out MUSTER_ERR=$work/err
mkdir "$TMPDIR"
unset PMIX_SERVER_TMPDIR PMIX_SYSTEM_TMPDIR
muster=""
trap '[ -z "$muster" ] || { kill -9 "$muster" 2>/dev/null; wait "$muster"; }; rm -rf "$work"' EXIT
bad=0
declare -A covers=(
    [init]="TOOL-88 TOOL-99 TLO-15" [app]="" [exec]="" [one]="" [tree]=""
    [pernode]="TOOL-91 TOOL-95 TOOL-96 TOOL-97 TOOL-98 TOOL-100 TLO-09 TLO-16 TLO-17"
    [cospawn]="TOOL-101 TOOL-102 TOOL-103 TOOL-105" [perproc]="TOOL-95"
    [execagent]="TOOL-84 TOOL-108" [forkagent]="TOOL-83 TOOL-106 TOOL-107"
    [refusals]="TOOL-60 TOOL-61 TOOL-90 TLO-08 TLO-10" [input]="TOOL-79" [logged]="TOOL-114 TOOL-115" [directives]="TOOL-55 TOOL-56 TOOL-61"
)
skipped=""
for name in "$@"; do
    uri=$work/uri.$name
    "$bin/muster" serve --nodes "$nodes" --report-uri "$uri" >"$work/out" 2>"$work/err" &
    muster=$!
    for ((i = 0; i < 1200; i++)); do [ -s "$uri" ] && break; sleep 0.05; done
    mkdir "$work/$name"
    said=$(timeout 120 "$bin/debug_tool" "$name" "$(cat "$uri")" "$bin/debug_client" "$work/$name" "$nodes" 2>&1)
    status=$?
    kill -TERM "$muster"
    wait "$muster" || { echo "WRONG: muster ended with $? after $name"; cat "$work/err"; bad=1; }
    muster=""
    if [ "$status" = 77 ]; then
        skipped=$said
    elif [ "$status" != 0 ] || [ -n "$said" ] || grep -q WRONG "$work/err"; then
        echo "WRONG: case $name ended with $status: $said"
        head -n 20 "$work/err" "$work/out"
        bad=1
    elif [ -n "${covers[$name]}" ]; then
        echo "COVERS ${covers[$name]}"
    fi
done
left=$(ls -A "$TMPDIR")
[ -z "$left" ] || { echo "WRONG: left behind: $left"; bad=1; }
[ -z "$skipped" ] || [ "$bad" = 1 ] || [ $# -gt 1 ] || { echo "$skipped"; exit 77; }
exit $bad
