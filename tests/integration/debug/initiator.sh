#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# initiator.sh CASE BIN EXAMPLES - tools that start launchers: the initiator of the examples with muster, and launchers that the
# library starts. No process or file may be left afterwards.
set -uo pipefail
name=$1 bin=$2 examples=$3
work=$(mktemp -d)
export TMPDIR=$work/tmp
mkdir "$TMPDIR" "$work/dir"
unset PMIX_SERVER_TMPDIR PMIX_SYSTEM_TMPDIR
pids=""
trap 'for pid in $pids; do kill -9 "$pid" 2>/dev/null; done; wait; rm -rf "$work"' EXIT
bad=0
wrong() {
    echo "WRONG: $*"
    bad=1
}
until_true() {
    local i
    for ((i = 0; i < 1200; i++)); do
        eval "$1" && return 0
        sleep 0.05
    done
    wrong "did not come true: $1"
}
# initiate ARGUMENT... - its output is in out
initiate() {
    timeout 120 "$examples/initiator" "$@" >"$work/out" 2>"$work/err" || wrong "initiator ended with $?"
    said=$(grep -v "ready for tools and jobs" "$work/err")
    [ -z "$said" ] || wrong "it said: $said"
    grep -q '^launched' "$work/out" || wrong "no launch"
    grep -q '^ended: .*SUCCESS.*exit code 0' "$work/out" || wrong "no good end"
    for rank in 0 1 2; do [ -e "$work/dir/target.$rank" ] || wrong "rank $rank has not run"; done
    [ "$bad" = 0 ] || cat "$work/out"
}
case $name in
parsed)
    initiate "$bin/muster" -n 3 --output tag "$bin/debug_client" target "$work/dir"
    covers="TOOL-64 TOOL-65 TOOL-67 TOOL-72 TOOL-73 TOOL-74 TOOL-75 TOOL-77 TOOL-78 TLO-11 TLO-12 TLO-15 TLO-18" ;;
stopped)
    initiate --stop "$bin/muster" -n 3 --nodes 3 "$bin/debug_client" target "$work/dir"
    [ "$(grep -c '^rank [012] is process [1-9]' "$work/out")" = 3 ] || wrong "no table: $(cat "$work/out")"
    covers="TOOL-76 TOOL-77 TOOL-85" ;;
asked)
    initiate --launcher "$bin/muster serve --nodes 2" -n 3 "$bin/debug_client" target "$work/dir"
    covers="TOOL-64 TOOL-86" ;;
hosted)
    "$bin/muster" serve --report-uri "$work/uri" >"$work/serve" 2>&1 &
    pids=$!
    until_true '[ -s "$work/uri" ]'
    initiate --uri "$(cat "$work/uri")" --daemon "$bin/muster" "$bin/muster" -n 3 --nodes 2 "$bin/debug_client" target "$work/dir"
    kill "$pids"
    wait "$pids" || wrong "muster serve ended with $?"
    pids=""
    covers="TOOL-55 TOOL-75" ;;
daemon)
    # Except for the launcher's own first node, its nodes run the named program, which finally executes muster.
    cat >"$work/daemon" <<END
#!/bin/sh
echo "\$1 \$2" >>"$work/dir/daemons"
shift
exec "$bin/muster" "\$@"
END
    chmod +x "$work/daemon"
    initiate --daemon "$work/daemon own-word" "$bin/muster" -n 3 --nodes 3 "$bin/debug_client" target "$work/dir"
    [ "$(grep -c '^own-word --' "$work/dir/daemons")" = 2 ] || wrong "other daemons: $(cat "$work/dir/daemons")"
    # If it cannot be started, there is no job, and nothing is left.
    timeout 120 "$examples/initiator" --daemon "$work/none" "$bin/muster" -n 3 --nodes 3 "$bin/debug_client" target \
        "$work/dir" >"$work/out" 2>"$work/err" && wrong "a launch without its daemons"
    grep -q "/none' cannot be started as node node1" "$work/err" || wrong "not said: $(cat "$work/err")"
    covers="TOOL-65 TOOL-82" ;;
scheduled)
    mkfifo "$work/fifo"
    "$bin/integration_tool" serve scheduler tools scheduler tmpdir="$TMPDIR" <"$work/fifo" >"$work/scheduler" 2>&1 &
    scheduler=$!
    exec 3>"$work/fifo"
    until_true 'grep -q READY "$work/scheduler"'
    "$bin/muster" serve --nodes 2 --report-uri "$work/uri" --scheduler "$(head -n 1 "$TMPDIR"/pmix.*.tool.scheduler)" \
        >"$work/out" 2>&1 3>&- &
    pids=$!
    until_true '[ -s "$work/uri" ]'
    timeout 60 "$bin/debug_tool" allocated "$(cat "$work/uri")" "$bin/debug_client" "$work/dir" 2 || wrong "tool: $?"
    until_true 'grep -q "RELEASE allocation-2" "$work/scheduler"'
    said=$(grep -E '^(ALLOCATE|RELEASE)' "$work/scheduler" | tr '\n' ';')
    [ "$said" = "ALLOCATE 2;ALLOCATE 1;RELEASE allocation-1;ALLOCATE 1;RELEASE allocation-2;" ] || wrong "asked: $said"
    kill "$pids"
    wait "$pids" || wrong "muster serve ended with $?: $(cat "$work/out")"
    pids=""
    exec 3>&-
    wait "$scheduler" || wrong "the scheduler ended with $?"
    "$bin/muster" serve --scheduler "none.0;tcp4://127.0.0.1:1" >"$work/out" 2>&1 && wrong "without its scheduler"
    grep -q "the scheduler at 'none.0;.*' cannot be reached" "$work/out" || wrong "not said: $(cat "$work/out")"
    covers="TOOL-59" ;;
killed)
    # The launcher detects the end of the tool, and ends its job.
    "$examples/initiator" "$bin/muster" -n 2 sh -c "echo \$\$ >$work/dir/pid.\$PMIX_RANK; exec sleep 600" >"$work/out" 2>"$work/err" &
    pids=$!
    until_true '[ -s "$work/dir/pid.0" ] && [ -s "$work/dir/pid.1" ]'
    kill -9 "$pids"
    wait "$pids" 2>/dev/null
    pids=$(cat "$work"/dir/pid.*)
    for pid in $pids; do until_true "! kill -0 $pid 2>/dev/null"; done
    until_true '[ -z "$(ls -A "$TMPDIR" | grep -v "^pmix")" ]'
    rm -f "$TMPDIR"/pmix*  # of the tool that was killed
    covers="TOOL-68" ;;
paused)
    # Without a tool that started it, muster nevertheless waits until one connects.
    PMIX_LAUNCHER_PAUSE_FOR_TOOL=1 "$bin/muster" -n 3 --report-uri "$work/uri" "$bin/debug_client" target "$work/dir" >"$work/out" 2>&1 &
    pids=$!
    until_true '[ -s "$work/uri" ]'
    [ -e "$work/dir/target.0" ] && wrong "it did not wait"
    timeout 60 "$bin/debug_tool" release "$(cat "$work/uri")" - "$work/dir" 1 || wrong "no release"
    wait "$pids" || wrong "muster ended with $?: $(cat "$work/out")"
    pids=""
    [ -e "$work/dir/target.2" ] || wrong "the job did not run"
    covers="TLO-11 TLO-12" ;;
library)
    timeout 120 "$bin/debug_tool" launcher - "$bin/debug_client" "$work/dir" 1 || wrong "launcher: $?"
    until_true '[ -e "$work/dir/launcher.end" ]'
    timeout 60 "$bin/debug_tool" alone - "$bin/debug_client" "$work/dir" 1 || wrong "alone: $?"
    mkfifo "$work/fifo"
    "$bin/integration_tool" serve hostless tools tmpdir="$TMPDIR" <"$work/fifo" >"$work/out" 2>&1 &
    pids=$!
    exec 3>"$work/fifo"
    until_true 'grep -q READY "$work/out"'
    uri=$(head -n 1 "$TMPDIR"/pmix.*.tool.hostless)
    timeout 60 "$bin/debug_tool" nohost "$uri" "$bin/debug_client" "$work/dir" 1 || wrong "nohost: $?"
    exec 3>&-
    wait "$pids"
    pids=""
    covers="TOOL-58 TOOL-61 TOOL-66 TOOL-67 TOOL-68 TOOL-69 TOOL-70 TOOL-71 TOOL-72 TOOL-76 TOOL-85" ;;
esac
until_true '[ -z "$(ls -A "$TMPDIR")" ]'
[ "$bad" = 1 ] || echo "COVERS $covers"
exit $bad
