# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Functions of the tests of muster; to be sourced. `muster` is the program. The test's directory becomes the
# current one, and TMPDIR is below it. finish ends the test: no process and no file below TMPDIR may be left.
work=$(mktemp -d)
export TMPDIR=$work/tmp MUSTER_TEST_MARK=$work
mkdir "$TMPDIR"
cd "$work" || exit 1
bad=0
background=""

wrong() {
    echo "WRONG: $*"
    bad=1
}

# Processes that this test has started, by a mark in their environment; except its own shells.
survivors() {
    local pid pids
    pids=$(grep -slFa "MUSTER_TEST_MARK=$work" /proc/[0-9]*/environ | grep -o '[0-9]*')
    for pid in $pids; do
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] && continue
        # Short-lived helper processes have ended by now.
        grep -qsFa "MUSTER_TEST_MARK=$work" "/proc/$pid/environ" && echo "$pid"
    done
}

# run STATUS ARGUMENT...: runs muster, which must exit with STATUS; its output is in out and err.
run() {
    local wanted=$1 status
    shift
    timeout --kill-after=5 90 "$muster" "$@" >out 2>err
    status=$?
    if [ "$status" -ne "$wanted" ]; then
        wrong "muster $* ended with $status instead of $wanted"
        head -n 20 out err
    fi
}

# The same in the background; its pid is in `background`.
start() {
    "$muster" "$@" >out 2>err &
    background=$!
}

# Waits until `condition` holds, at most 20 s.
until_true() {
    local i
    for ((i = 0; i < 400; i++)); do
        eval "$1" && return 0
        sleep 0.05
    done
    wrong "did not come true: $1"
}

ended_with() {
    local status
    wait "$background"
    status=$?
    [ "$status" -eq "$1" ] || wrong "ended with $status instead of $1: $(cat err)"
}

out_has() { grep -qE -- "$1" out || wrong "no '$1' in the output: $(head -n 5 out)"; }
err_has() { grep -qE -- "$1" err || wrong "no '$1' in the errors: $(head -n 5 err)"; }
lines() { [ "$(wc -l <"$1")" -eq "$2" ] || wrong "$1 has $(wc -l <"$1") lines instead of $2: $(head -n 5 "$1")"; }


finish() {
    local left pid files
    left=$(survivors)
    if [ -n "$left" ]; then
        wrong "processes are left:"
        for pid in $left; do
            ps -o pid,ppid,args -p "$pid"
            kill -KILL "$pid"
        done
    fi
    # ThreadSanitizer's own file stays when a process is killed while it starts.
    files=$(ls -A "$TMPDIR" | grep -v '^tsan\.rodata\.' || true)
    [ -z "$files" ] || wrong "files are left: $files"
    cd / && rm -rf "$work"
    exit $bad
}
