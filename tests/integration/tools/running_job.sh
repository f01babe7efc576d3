#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# running_job.sh BIN - a tool attaches to a job that muster runs, by the launcher's process ID and by its namespace, and
# uses what PMIx offers on that job.
set -uo pipefail
bin=$1
work=$(mktemp -d)
export TMPDIR=$work
unset PMIX_SERVER_TMPDIR PMIX_SYSTEM_TMPDIR
muster=""
trap '[ -z "$muster" ] || { kill "$muster" 2>/dev/null; wait "$muster"; }; rm -rf "$work"' EXIT
bad=0
wrong() {
    echo "WRONG: $*"
    bad=1
}
# has WORDS TEXT
has() { [[ $2 == *"$1"* ]] || wrong "no '$1' in: $2"; }
until_true() {
    local i
    for ((i = 0; i < 1200; i++)); do
        eval "$1" && return 0
        sleep 0.05
    done
    wrong "did not come true: $1"
}
# ask STEP... - what a tool says that takes these steps
ask() { timeout 60 "$bin/integration_tool" run "$@"; }

: >"$work/out"
# Rank 2 asks as well, as a process of the job, when all are there.
"$bin/muster" -n 2 --nodes 2 --report-uri "$work/uri" sh -c 'echo PID $PMIX_RANK:$$; exec sleep 600' : \
    -n 1 sh -c "echo PID 2:\$\$; until [ -e $work/all ]; do sleep 0.05; done; $bin/integration_tool run init table:\$PMIX_NAMESPACE; sleep 600" >"$work/out" 2>"$work/err" &
muster=$!
until_true '[ "$(grep -c "^PID" "$work/out")" = 3 ] && [ -s "$work/uri" ]'
touch "$work/all"
until_true 'grep -q "^table" "$work/out"'
pids=$(sed -n 's/^PID //p' "$work/out" | sort | tr '\n' ' ' | sed 's/ $//')
server=$(cut -d. -f1 "$work/uri")
for way in "pid=$muster" "nspace=$server" "uri=$(cat "$work/uri")"; do
    said=$(ask "init:$way" servers query:pmix.qry.ns finalize)
    has "init PMIX_SUCCESS" "$said"
    has "servers PMIX_SUCCESS $server:" "$said"
    has "query PMIX_SUCCESS $server@1" "$said"
done
# Each process of the job with its ID; those of the server's own node; the size of the job.
job=$server@1
said=$(ask "init:pid=$muster" "table:$job" "table:$job,local" "size:$job" finalize)
has "table PMIX_SUCCESS $pids" "$said"
has "table PMIX_SUCCESS $pids" "$(cat "$work/out")"
here=$(sed -n 's/^table PMIX_SUCCESS //p' <<<"$said" | sed -n 2p)
for entry in $here; do has " $entry " " $pids "; done
[ -n "$here" ] && [ "$here" != "$pids" ] || wrong "the local table is '$here', the whole one '$pids'"
has "size PMIX_SUCCESS 3" "$said"
has "finalize PMIX_SUCCESS" "$said"
echo "COVERS TOOL-41 TOOL-92 TOOL-93 TOOL-94 TLO-07"
exit $bad
