#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# pdebug.sh BIN EXAMPLES - the debugger of the examples shows where the processes of a running job are.
set -uo pipefail
bin=$1 examples=$2
work=$(mktemp -d)
export TMPDIR=$work
unset PMIX_SERVER_TMPDIR PMIX_SYSTEM_TMPDIR
muster=""
trap '[ -z "$muster" ] || { kill "$muster" 2>/dev/null; wait "$muster"; }; rm -rf "$work"' EXIT
command -v gdb >/dev/null || { echo "SKIPPED: gdb is not installed"; exit 77; }
sleep 60 &
probe=$!
gdb -nx -batch -p "$probe" -ex bt 2>/dev/null </dev/null | grep '^#0' >/dev/null || skip=1
kill "$probe"
[ -z "${skip:-}" ] || { echo "SKIPPED: this system does not allow gdb to attach"; exit 77; }
bad=0
wrong() {
    echo "WRONG: $*"
    bad=1
}
"$bin/muster" -n 3 --nodes 2 "$bin/debuggee" >"$work/out" 2>"$work/err" &
muster=$!
for ((i = 0; i < 1200; i++)); do
    [ "$(grep -c waiting "$work/out")" = 3 ] && break
    sleep 0.05
done
said=$(timeout 180 "$examples/pdebug" "$muster" 2>&1) || wrong "pdebug ended with $?: $said"
[ "$(head -n 1 <<<"$said" | cut -d' ' -f1,2)" = "3 processes" ] || wrong "no heading: $said"
[ "$(grep -c '^rank' <<<"$said")" = 2 ] || wrong "not two different stacks: $said"
first=$(sed -n '/^ranks* 0:/,/^ranks* 1/p' <<<"$said")
grep -q 'wait_as_the_first' <<<"$first" || wrong "rank 0 is elsewhere: $said"
sed -n '/^ranks 1-2:/,$p' <<<"$said" | grep wait_as_the_others >/dev/null || wrong "ranks 1-2 are elsewhere: $said"
# The job was not disturbed: no process has ended.
kill -0 "$muster" || wrong "muster is gone"
[ -s "$work/err" ] && wrong "muster said: $(cat "$work/err")"
[ "$bad" = 1 ] || echo "COVERS TOOL-91 TOOL-95 TOOL-98 TOOL-99 TOOL-100"
exit $bad
