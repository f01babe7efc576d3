#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# programs.sh BIN - pps, pquery, pevent, plookup and pattrs of folder BIN against a server (integration_tool serve)
set -uo pipefail
bin=$1
work=$(mktemp -d)
export TMPDIR=$work PMIX_SERVER_TMPDIR=$work PMIX_SYSTEM_TMPDIR=$work
coproc server { exec "$bin/integration_tool" serve one tools syssupport; }
server_pid=$server_PID
trap 'exec {server[1]}>&- 2>/dev/null; wait "$server_pid" 2>/dev/null; rm -rf "$work"' EXIT
read -r -t 60 ready <&"${server[0]}" || { echo "no server"; exit 1; }
failures=0
# check WORDS-OF-OUTPUT STATUS COMMAND...
check() {
    local want=$1 status=$2 out rc
    shift 2
    out=$(timeout 60 "$@" 2>&1)
    rc=$?
    if [ $rc -ne "$status" ] || [[ $out != *"$want"* ]]; then
        echo "FAIL: $*: status $rc, wanted $status and '$want', got: $out"
        failures=$((failures + 1))
    fi
}
check 'Active nspaces: of the host' 0 "$bin/pps" --pid "$server_pid"
check '"nspace": "of the host"' 0 "$bin/pps" --json --system-server
check 'PMIX_QUERY_NAMESPACES:' 0 "$bin/pquery" --namespace one PMIX_QUERY_NAMESPACES
check '    of the host' 0 "$bin/pquery" "PMIX_TIME_REMAINING[PMIX_NSPACE=x;PMIX_RANK=3]"
check '"pmix.nothing": "of the host"' 0 "$bin/pquery" --json pmix.nothing
check 'there is no attribute PMIX_NOTHING' 1 "$bin/pquery" PMIX_NOTHING
check 'do not end in ]' 1 "$bin/pquery" 'PMIX_QUERY_NAMESPACES[PMIX_NSPACE=x'
check 'reported PMIX_EVENT_NODE_DOWN' 0 "$bin/pevent" -v --range local PMIX_EVENT_NODE_DOWN
check 'reported' 0 "$bin/pevent" --json --range 2 -31
check 'there is no such range' 1 "$bin/pevent" --range far PMIX_EVENT_NODE_DOWN
check 'neither a number nor the name' 1 "$bin/pevent" --range local PMIX_NO_SUCH_EVENT
check 'not (all) found' 1 "$bin/plookup" --timeout 1 nothing
check 'PMIX_TOOL_DO_NOT_CONNECT' 0 "$bin/pattrs" --do-not-connect --tool all
check 'PMIx_Fence_nb' 0 "$bin/pattrs" --client-fns
check 'PMIx_server_setup_fork' 0 "$bin/pattrs" --do-not-connect --server-fns
check 'PMIx_tool_get_servers' 0 "$bin/pattrs" --do-not-connect --tool-fns
check '"PMIx_Fence_nb"' 0 "$bin/pattrs" --json --client-fns
check 'PMIx_server_init' 0 "$bin/pquery" PMIX_SERVER_FUNCTIONS
check 'PMIX_QUERY_AVAIL_SERVERS' 0 "$bin/pquery" PMIX_QUERY_SUPPORTED_KEYS
check '"PMIx_Fence"' 0 "$bin/pattrs" --json --server PMIx_Fence
check 'no server to connect to' 1 "$bin/pps" --pid 1 --num-connect-retries 1
check 'neither a process number' 1 "$bin/pps" --pid x
for program in pps pquery pevent plookup pattrs; do
    check 'Usage' 0 "$bin/$program" --help
    check 'Muster' 0 "$bin/$program" --version
done
echo "$failures failed"
[ "$failures" = 0 ]
