#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# running_job.sh BIN - a tool attaches to a job that muster runs, by the launcher's process ID and by its namespace, and uses the
# services for that job.
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
# ask STEP... - the output of a tool that takes these steps
ask() { timeout 60 "$bin/integration_tool" run "$@"; }

: >"$work/out"
# Rank 2 also queries, as a process of the job, when all have started.
"$bin/muster" -n 2 --nodes 2 --report-uri "$work/uri" sh -c 'echo PID $PMIX_RANK:$$; exec sleep 600' : \
    -n 1 sh -c "echo PID 2:\$\$; until [ -e $work/all ]; do sleep 0.05; done; $bin/integration_tool run init publish:color,blue table:\$PMIX_NAMESPACE fence" >"$work/out" 2>"$work/err" &
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
# Functions of all levels, also for OpenPMIx's own program where it is installed.
for level in client:PMIx_Fence_nb server:PMIx_server_setup_fork tool:PMIx_tool_get_servers host:PMIx_Spawn; do
    has "${level#*:}" "$("$bin/pattrs" --pid "$muster" "--${level%:*}-fns")"
    has ",${level#*:}," ",$(ask "init:pid=$muster" "query:pmix.$(sed s/server/srvr/ <<<"${level%:*}").fns" finalize 2>&1 | sed -n 's/^query PMIX_SUCCESS //p' | head -1),"
done
if dpkg -S /usr/bin/pattrs >/dev/null 2>&1; then
    has "PMIx_Spawn" "$(unset LD_LIBRARY_PATH; timeout 60 /usr/bin/pattrs --uri "$(cat "$work/uri")" --host-fns 2>&1)"
fi
# Each listed key can be queried.
keys=$("$bin/pquery" --pid "$muster" PMIX_QUERY_SUPPORTED_KEYS | sed -n 's/^    //p')
for key in PMIX_QUERY_NUM_PSETS PMIX_QUERY_PSET_MEMBERSHIP PMIX_QUERY_ATTRIBUTE_SUPPORT PMIX_QUERY_AVAIL_SERVERS \
    PMIX_QUERY_STABLE_ABI_VERSION PMIX_HOST_FUNCTIONS PMIX_QUERY_PROC_TABLE; do has " $key " " ${keys//$'\n'/ } "; done
[ -z "$(sort <<<"$keys" | uniq -d)" ] || wrong "keys are listed twice: $keys"
for key in $keys; do
    said=$("$bin/pquery" --pid "$muster" "$key[PMIX_NSPACE=$job;PMIX_RANK=0]" 2>&1)
    [[ $said != *PMIX_ERR_NOT_SUPPORTED* ]] || wrong "$key is listed, and not supported: $said"
done
# The published data of rank 2, and all output of the programs as JSON.
has "blue" "$("$bin/plookup" --pid "$muster" color)"
for words in "plookup color" "pps" "pps --nodes" "pps -v" "pquery PMIX_QUERY_NAMESPACES" \
    "pevent --range local PMIX_EVENT_NODE_DOWN" "pattrs --client-fns"; do
    # shellcheck disable=SC2086 # a program and its words
    said=$("$bin/"${words%% *} --json --pid "$muster" ${words#"${words%% *}"}) || wrong "$words fails"
    [ -n "$said" ] || wrong "$words says nothing"
    ! type python3 >/dev/null 2>&1 || python3 -m json.tool <<<"$said" >/dev/null 2>&1 || wrong "no JSON of $words: $said"
done
has '"blue"' "$("$bin/plookup" --json --pid "$muster" color)"
# muster top: once, as JSON, and on a terminal, where q ends it.
until_true 'grep -q "$job *2 .* fence: " <("$bin/muster" top --once "$muster")'
said=$("$bin/muster" top "$muster")
for entry in $pids; do grep -qE "^$job +${entry%:*} +node[01] +${entry#*:} +RUNNING +[0-9]+[KM] " <<<"$said" || wrong "top: $said"; done
said=$("$bin/muster" top --json "$muster")
has '"waits": "fence: ' "$said"
has '"memory_kib": ' "$said"
if type script >/dev/null 2>&1; then
    said=$(sleep 0.3 | (cat; printf q) | timeout 60 script -qec "stty rows 4 cols 40; $bin/muster top -d 60 $muster" /dev/null)
    has "and 2 more" "$said"
    has $'\033[?1049l' "$said"
    while read -r line; do [ ${#line} -lt 64 ] || wrong "a line of top on 40 columns: $line"; done <<<"$said"
fi
timeout 60 "$bin/muster" top -d x "$muster" 2>/dev/null
[ $? = 2 ] || wrong "top -d x does not end with 2"
timeout 60 "$bin/muster" top 1 2>/dev/null
[ $? = 1 ] || wrong "top of no muster does not end with 1"
echo "COVERS TOOL-41 TOOL-92 TOOL-93 TOOL-94 TLO-07"
exit $bad
