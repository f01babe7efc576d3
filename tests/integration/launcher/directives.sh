#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# directives.sh CASE MUSTER EXAMPLES DIRECTIVES - the effects of the directives of a spawn, and of the equivalent options.
set -uo pipefail
case_name=$1 muster=$2 examples=$3 directives=$4

here=$(cd "$(dirname "$0")" && pwd)
. "$here/harness.sh"

# nodes_are NODES: the nodes of the ranks of the job whose hello is in out, in the order of ranks.
nodes_are() {
    local nodes
    nodes=$(sed -n 's/.*hello from rank \([0-9]*\) of .* on node\([0-9]*\).*/\1 \2/p' out | sort -n | sed 's/.* //' | tr -d '\n')
    [ "$nodes" = "$1" ] || wrong "the nodes of the ranks are $nodes, not $1: $(cat out)"
}

# refused STATUS ARGUMENT...: muster runs a program whose spawn fails with STATUS.
refused() {
    local wanted=$1
    shift
    run 0 "$@"
    out_has "^REFUSED $wanted\$"
}

# A persistent muster for the tools of a case; its process is `server`.
serve() {
    "$muster" serve "$@" --report-uri uri >serve.out 2>serve.err &
    server=$!
    until_true '[ -s uri ]'
}
end_server() {
    kill -TERM "$server"
    wait "$server" || wrong "the server ended with $?"
}

# The default slots of a node.
cores() { "$muster" -n 1 --display allocation true 2>&1 | sed -n 's/.*: \([0-9]*\) slots\{0,1\},.*/\1/p'; }

case $case_name in
slots)
    run 0 -n 5 --nodes 3 --host node2:2,node0:3 "$examples/hello"
    nodes_are 22000
    printf 'node1 slots=1\nnode0 slots=2 # and no more\n' >hosts
    run 0 --nodes 2 --hostfile hosts "$examples/hello"
    nodes_are 100
    run 0 -n 5 --nodes 2 --hostfile hosts "$examples/hello"
    nodes_are 11000
    run 1 -n 4 --nodes 2 --hostfile hosts --nooversubscribe "$examples/hello"
    err_has "^muster: '.*hello' is to have 4 processes, but its nodes have 3 slots \(node1: 1, node0: 2\); start fewer"
    lines err 1
    run 1 -n 4 --nodes 2 --map-by node:nooversubscribe --hostfile hosts "$examples/hello"
    run 0 -n 3 --nodes 2 --map-by node:nooversubscribe --hostfile hosts "$examples/hello"
    nodes_are 100
    run 1 --launcher muster --host moon true
    err_has "there is no node 'moon'; the nodes are "
    # The maximum applies if processes may exceed the slots.
    printf 'node1 slots=1 max_slots=2\nnode0 slots = 1 max-slots = 3\n' >bounds
    run 0 -n 5 --nodes 2 --hostfile bounds "$examples/hello"
    nodes_are 11000
    run 1 -n 6 --nodes 2 --hostfile bounds "$examples/hello"
    err_has "^muster: '.*hello' is to have 6 processes, but max_slots leaves room for 5 on its nodes \(node1: 2, node0: 3\);"
    lines err 1
    printf '# nodes\nnode1 max_slot=2\n' >misspelt
    run 1 -n 1 --nodes 2 --hostfile misspelt true
    err_has "^muster: file of nodes 'misspelt', line 2: unknown word 'max_slot=2'; valid are slots=N and max_slots=N$"
    lines err 1
    # The spawner is one of two on its node.
    refused PMIX_ERR_OUT_OF_RESOURCE -n 1 --nodes 2 "$directives" 5 PMIX_HOSTFILE="$work/bounds" -- true
    run 0 -n 1 --nodes 2 "$directives" 4 PMIX_HOSTFILE="$work/bounds" -- "$examples/hello"
    nodes_are 1100
    # The same for a spawn. The spawner occupies a slot, which counts on its node.
    run 0 -n 1 --nodes 3 "$directives" 4 PMIX_HOST=node2:2,node1:2 PMIX_NO_OVERSUBSCRIBE -- "$examples/hello"
    nodes_are 2211
    out_has '^ENDED PMIX_SUCCESS$'
    refused PMIX_ERR_OUT_OF_RESOURCE -n 1 --nodes 2 "$directives" 4 PMIX_HOST=node1:2,node0:2 PMIX_NO_OVERSUBSCRIBE -- "$examples/hello"
    err_has '^muster: a spawn is refused: .*4 processes, but its nodes have 4 slots \(node1: 2, node0: 2\), 1 of them in use;'
    lines err 1
    run 0 -n 1 --nodes 2 "$directives" 3 PMIX_HOSTFILE="$work/hosts" -- "$examples/hello"
    nodes_are 110
    # A tool's job at a running muster.
    serve --nodes 2
    run 0 --attach "$server" -n 4 --host node1:3,node0 "$examples/hello" </dev/null
    nodes_are 1110
    run 0 --attach "$server" --hostfile hosts "$examples/hello" </dev/null
    nodes_are 100
    run 1 --attach "$server" -n 4 --hostfile hosts --nooversubscribe "$examples/hello" </dev/null
    err_has 'the job cannot be started: PMIX_ERR_OUT_OF_RESOURCE'
    end_server
    ;;
spellings) # command lines of other launchers
    run 0 -H localhost:3 "$examples/hello"
    lines out 3
    run 0 -hosts "127.0.0.1:2,$(hostname):1" -l "$examples/hello"
    for rank in 0 1 2; do out_has "^\[$rank\]<stdout>: hello from rank $rank of 3 "; done
    run 0 -n2 -genv A 3 sh -c 'echo "A is $A"'
    [ "$(grep -c '^A is 3$' out)" = 2 ] || wrong "$(cat out)"
    lines err 0
    run 0 --npernode 2 --nodes 2 "$examples/hello"
    nodes_are 0011
    run 0 -N2 --nodes=2 -rank-by node "$examples/hello"
    nodes_are 0101
    run 0 -n 2 --nodes 2 --map-by :NOLOCAL "$examples/hello"
    nodes_are 11
    run 0 -n 1 --use-hwthread-cpus --bind-to hwthread:report true
    err_has '^  rank 0 on .*: processors [0-9]+$'
    cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
    run 0 -n 1 --cpu-set "$cpu" --display bind true
    err_has "^  rank 0 on .*: processors $cpu\$"
    run 0 -n 1 -v true
    err_has '^Allocation of job '
    err_has '^Map of job '
    run 0 -n 1 --prtemca a b --prtemca c d true
    [ "$(cat err)" = 'muster: --prtemca: of no effect here' ] || wrong "$(cat err)"
    run 0 -n 1 -q --prtemca a b true
    lines err 0
    run 2 --rankfile file true
    [ "$(cat err)" = 'muster: --rankfile is not an option of muster; order the nodes by --host, and the ranks by --rank-by' ] || wrong "$(cat err)"
    ;;
ranks)
    run 0 -n 4 --nodes 2 --rank-by node "$examples/hello"
    nodes_are 0101
    run 0 -n 1 --nodes 2 "$directives" 4 PMIX_RANKBY=node -- "$examples/hello"
    nodes_are 0101
    run 0 -n 1 --nodes 2 "$directives" 4 PMIX_MAPBY=node PMIX_RANKBY=slot -- "$examples/hello"
    nodes_are 0011
    refused PMIX_ERR_JOB_FAILED_TO_MAP -n 1 --nodes 2 "$directives" 4 PMIX_RANKBY=moon -- "$examples/hello"
    err_has "^muster: a spawn is refused: --rank-by 'moon': valid are slot, node, fill, span$"
    ;;
processors)
    cpu=$(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status | sed 's/[-,].*//')
    seen="grep Cpus_allowed_list /proc/self/status"
    run 0 -n 2 --cpu-list "$cpu" $seen
    lines out 2
    [ "$(sort -u out)" = "$(printf 'Cpus_allowed_list:\t%s' "$cpu")" ] || wrong "other processors: $(cat out)"
    run 0 -n 1 "$directives" 2 PMIX_CPU_LIST="$cpu" -- $seen
    [ "$(grep -c "Cpus_allowed_list:.$cpu\$" out)" = 2 ] || wrong "other processors: $(cat out)"
    run 1 -n 1 --cpu-list 60000 true
    err_has '^muster: --cpu-list: there is no processor 60000 that muster may use$'
    refused PMIX_ERR_BAD_PARAM -n 1 "$directives" 2 PMIX_CPU_LIST=60000 -- true
    ;;
added_hosts)
    run 0 -n 1 --nodes 3 "$directives" 4 PMIX_HOST=node2:1 PMIX_ADD_HOST=node1:3 -- "$examples/hello"
    nodes_are 2111
    echo 'node1 slots=3' >hosts
    run 0 -n 1 --nodes 3 "$directives" 4 PMIX_HOST=node2:1 PMIX_ADD_HOSTFILE="$work/hosts" -- "$examples/hello"
    nodes_are 2111
    refused PMIX_ERR_JOB_ALLOC_FAILED -n 1 --nodes 2 "$directives" 4 PMIX_ADD_HOST=moon -- "$examples/hello"
    err_has "^muster: a spawn is refused: no node can be added: there is no node 'moon'; the nodes are node0, node1$"
    ;;
display)
    run 0 -n 3 --nodes 2 --host node1:2,node0:3 --display map,allocation,bindings,topology true
    err_has '^Map of job .*@1: 3 processes on 2 nodes, mapped by slot, ranked by slot, bound to none$'
    err_has '^  node0: rank 2$'
    err_has '^  node1: ranks 0-1$'
    err_has '^Allocation of job .*@1: 2 nodes$'
    err_has '^  node0: 3 slots, 0 in use by other jobs$'
    err_has '^Bindings of job .*@1$'
    err_has '^  rank 2 on node0: not bound$'
    err_has '^Topology of the nodes of job .*@1$'
    err_has '^  node1: [1-9][0-9]* packages, .* cores, .* hwthreads$'
    lines err 13
    lines out 0
    run 0 -n 1 --display-map true
    err_has '^Map of job'
    lines err 2
    run 0 -n 1 --report-bindings --bind-to hwthread true
    err_has '^  rank 0 on .*: processors [0-9]+$'
    lines err 2
    run 2 -n 1 --display moon true
    # The same for a spawn: the spawner occupies a slot.
    run 0 -n 1 --nodes 2 "$directives" 2 PMIX_DISPLAY_MAP_DETAILED PMIX_DISPLAY_ALLOCATION PMIX_REPORT_BINDINGS \
        PMIX_DISPLAY_TOPOLOGY=node1 PMIX_HOST=node0:2 -- echo said
    err_has '^    rank 1: program 0 \(echo\), local rank 1, node rank 2, not bound$'
    err_has '^  node0: 2 slots, 1 in use by other jobs$'
    err_has '^  node1: .* hwthreads$'
    err_has '^  rank 0 on node0: not bound$'
    # A tool that receives the job's standard error gets them there.
    serve --nodes 2
    run 0 --attach "$server" -n 2 --display map,bindings,allocation,topology echo said </dev/null
    err_has '^Map of job'
    err_has '^Allocation of job'
    err_has '^Topology of'
    err_has '^  rank 1 on node1: not bound$'
    end_server
    grep -q 'Map of' serve.err && wrong "it is shown elsewhere, too: $(cat serve.err)"
    ;;
restarts)
    client=$(dirname "$directives")/launcher_client
    for nodes in 1 2; do
        for how in kill exit leave; do
            run 0 -n 3 --nodes $nodes --max-restarts 2 "$client" restarts 2 $how
            for life in 0 1 2; do out_has "^life $life of rank 1\$"; done
            lines out 5
            err_has '^muster: rank 1 on .*; it is started again \(restart 2 of 2\)$'
            lines err 2
        done
    done
    # More often than allowed.
    run 3 -n 3 --max-restarts 2 sh -c '[ "$PMIX_RANK" != 1 ] && exec sleep 61; echo once; exit 3'
    lines out 3
    err_has 'rank 1 .* exited with status 3 before it called PMIx_Init$'
    lines err 3
    # Each program has its own number; a job that is continuous has none.
    run 3 -n 1 sleep 61 : --max-restarts 1 -n 1 sh -c 'echo once; exit 3'
    lines out 2
    run 0 -n 2 --continuous sh -c 'echo once >>life.$PMIX_RANK; [ "$(wc -l <life.$PMIX_RANK)" = 5 ]'
    lines err 8
    lines life.1 5
    run 1 -n 1 --continuous --max-restarts 0 false
    # A process that is terminated on request is not restarted, nor any process of a job that ends.
    run 42 -n 2 --continuous "$client" abort 1
    start -n 2 --continuous sh -c 'echo up; exec sleep 61'
    until_true '[ "$(grep -c up out)" = 2 ]'
    kill -TERM "$background"
    ended_with 143
    lines out 2
    # A pending restart does not keep the job alive.
    start -n 1 --continuous false
    until_true 'grep -q "restart 9)" err'
    kill -TERM "$background"
    ended_with 143
    # A restarted process has end-of-file as its input, its own directory, and its output.
    echo words | timeout 60 "$muster" -n 1 --max-restarts 1 \
        sh -c 'cat; [ -e again ] || { : >again; exit 1; }; echo done' >out 2>err || wrong "input: $(cat err)"
    [ "$(cat out)" = "words
done" ] || wrong "the input is another: $(cat out)"
    # The same for a spawn.
    run 0 -n 1 --nodes 2 "$directives" 3 PMIX_MAX_RESTARTS:=1 -- "$client" restarts 1 kill
    out_has '^life 1 of rank 1$'
    out_has '^ENDED PMIX_SUCCESS$'
    rm again
    run 0 -n 1 "$directives" 1 PMIX_JOB_CONTINUOUS -- sh -c 'echo x >>again; [ "$(wc -l <again)" = 4 ]'
    out_has '^ENDED PMIX_SUCCESS$'
    lines again 4
    # If a program is missing at its restart, the job fails.
    printf '#!/bin/sh\nrm "$0"; exit 1\n' >vanishes
    chmod +x vanishes
    run 127 -n 1 --continuous ./vanishes
    ;;
preload)
    client=$(dirname "$directives")/launcher_client
    echo words >data
    ln -s data link
    mkdir dir
    run 0 -n 4 --nodes 2 --preload-binary --preload-files data "$client" preloaded
    for rank in 0 1 2 3; do out_has "^rank $rank has words$"; done
    lines err 0
    # The program by its name in PATH; a file in the working directory, and by a link of this user's.
    PATH=$(dirname "$client"):$PATH run 0 -n 1 "$directives" 2 PMIX_PRELOAD_BIN PMIX_PRELOAD_FILES=data,link -- \
        launcher_client preloaded
    out_has '^ENDED PMIX_SUCCESS$'
    # A restarted program finds them again.
    run 0 -n 1 --max-restarts 1 --preload-files "$work/data" \
        sh -c 'ls $TMPDIR/muster-*/node0/1/0; [ -e again ] || { : >again; exit 1; }'
    [ "$(cat out)" = 'data
data' ] || wrong "the files are others: $(cat out)"
    # A file that cannot be copied is refused.
    run 1 -n 2 --preload-files nowhere true
    err_has "^muster: node .*: the file '$work/nowhere' cannot be preloaded: No such file or directory$"
    lines err 1
    run 1 -n 2 --preload-files dir true
    err_has "the file '$work/dir' cannot be preloaded: it is not a regular file$"
    run 1 -n 2 --preload-files data,"$work/data" true
    err_has "cannot be preloaded: another file has its name$"
    run 127 -n 2 --preload-binary ./no-program
    refused PMIX_ERR_JOB_FAILED_TO_LAUNCH -n 1 "$directives" 2 PMIX_PRELOAD_FILES=nowhere -- true
    err_has "^muster: a spawn is refused: node .*: the file '$work/nowhere' cannot be preloaded"
    # Root does not follow a link of another user, wherever it is in the path.
    if [ "$(id -u)" = 0 ]; then
        ln -s "$work" shortcut
        chown -h nobody link shortcut
        for path in link shortcut/data; do
            run 1 -n 1 --preload-files $path true
            err_has "the file '$work/$path' cannot be preloaded: it is reached by a symbolic link of another user"
        done
    fi
    ;;
output) # the format and destination of a spawned job's output
    run 0 -n 1 "$directives" 1 PMIX_IOF_TAG_OUTPUT -- echo said
    out_has '^\[.*2,0\]<stdout>: said$'
    run 0 -n 1 "$directives" 1 PMIX_IOF_RANK_OUTPUT -- echo said
    out_has '^\[0\].*said$'
    run 0 -n 1 "$directives" 1 PMIX_IOF_TIMESTAMP_OUTPUT -- echo said
    out_has '[0-9]:[0-9][0-9].*said$'
    run 0 -n 1 "$directives" 1 PMIX_IOF_XML_OUTPUT -- echo said
    out_has '^<stdout .*rank="0">said.*</stdout>$'
    run 0 -n 1 "$directives" 1 PMIX_IOF_MERGE_STDERR_STDOUT -- sh -c 'echo problem >&2'
    out_has '^problem$'
    lines err 0
    run 0 -n 1 "$directives" 1 PMIX_IOF_OUTPUT_TO_FILE="$work/kept" -- echo said
    out_has '^said$'
    [ "$(cat kept.*2.0.stdout)" = said ] || wrong "no file: $(ls)"
    run 0 -n 1 "$directives" 1 PMIX_IOF_OUTPUT_TO_FILE="$work/only" PMIX_IOF_FILE_ONLY -- echo said
    grep -q said out && wrong "a copy of what is in a file: $(cat out)"
    [ "$(cat only.*2.0.stdout)" = said ] || wrong "no file: $(ls)"
    run 0 -n 1 "$directives" 1 PMIX_IOF_OUTPUT_TO_FILE="$work/%n-%r" PMIX_IOF_FILE_PATTERN -- echo said
    [ "$(cat *2-0.stdout)" = said ] || wrong "no file: $(ls)"
    run 0 -n 1 "$directives" 1 PMIX_IOF_OUTPUT_TO_DIRECTORY="$work/folder" -- echo said
    [ "$(cat folder/*2/rank.0/stdout)" = said ] || wrong "no file: $(find folder)"
    echo "COVERS TOOL-56"
    ;;
timeout)
    client=$(dirname "$directives")/launcher_client
    # One of the searched programs, and none of them.
    mkdir with without
    for tool in sh sleep timeout head grep dirname; do
        ln -s "$(command -v $tool)" with/$tool
        ln -s "$(command -v $tool)" without/$tool
    done
    printf '#!/bin/sh\necho "stack of $1"\necho trouble >&2\n' >with/gstack
    chmod +x with/gstack
    PATH=$work/with run 124 -n 2 --nodes 2 --timeout 2 --report-state-on-timeout --get-stack-traces sleep 61
    err_has '^State of job .*@1$'
    err_has '^  rank 0 on node0 \(pid [0-9]+\): .*RUNNING'
    err_has '^Stack trace of rank 1 on node1 \(pid [0-9]+\) of job .*@1$'
    pid=$(sed -n 's/^Stack trace of rank 1 .*(pid \([0-9]*\)).*/\1/p' err)
    err_has "^stack of $pid$"
    err_has '^trouble$'
    err_has 'did not end within 2 seconds and is ended; still running: ranks 0-1$'
    lines err 10
    PATH=$work/without run 124 -n 2 --timeout 0.5 --get-stack-traces sleep 61
    err_has '^No stack traces of node .*: none of gstack, eu-stack and gdb is in PATH$'
    lines err 2
    # Only requested output.
    run 124 -n 1 --timeout 0.5 --report-state-on-timeout "$client" signal 9
    err_has '^  rank 0 on .*: .*CONNECTED'
    lines err 3
    # A real stack, if this machine has the program and permits it.
    if command -v gdb >/dev/null && [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]; then
        run 124 -n 1 --timeout 0.5 --get-stack-traces sleep 61
        err_has '#[0-9]+ .*(sleep|clone|\?\?|main)'
    fi
    # The same for a spawn.
    PATH=$work/with run 0 -n 1 --nodes 2 "$directives" 2 PMIX_JOB_TIMEOUT:=1 PMIX_TIMEOUT_REPORT_STATE \
        PMIX_TIMEOUT_STACKTRACES -- sleep 61
    out_has '^ENDED PMIX_ERR_TIMEOUT$'
    err_has '^State of job .*@2$'
    err_has '^Stack trace of rank 1 on node1 .* of job .*@2$'
    serve --nodes 2
    run 124 --attach "$server" -n 2 --timeout 1 --report-state-on-timeout sleep 61 </dev/null
    err_has '^State of job .*@1$'
    end_server
    ;;
realms) # the host's data of session, job, nodes and processes
    realms=$(dirname "$directives")/launcher_realms
    host=$(uname -n)
    run 0 -n 4 --nodes 2 --host node0:3,node1:5 "$realms" 8 node0,node1 3,5 '(vector,(0,1,3),(1,1,1))'
    run 0 -n 6 --nodes 3 --map-by node "$realms" "$((3 * $(cores) > 6 ? 3 * $(cores) : 6))" node0,node1,node2 \
        "$(cores),$(cores),$(cores)" '(vector,(0,3,1),(0,3,1))'
    run 0 -n 1 --host localhost:4 "$realms" 4 "$host" 4 '(vector,(0,1,1))'
    # Not fewer than are running.
    run 0 -n 3 --host localhost:2 "$realms" 3 "$host" 2 '(vector,(0,1,3))'
    run 0 -n 1 --nodes 2 "$directives" 4 PMIX_HOST=node0:1,node1:1 -- "$realms" 5 node0,node1 1,1 '(vector,(0,2,2))'
    out_has '^ENDED PMIX_SUCCESS$'
    # A bound process has a rank on its package.
    cpu=$(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status | sed 's/[-,].*//')
    run 0 -n 2 --cpu-list "$cpu" --bind-to hwthread:overload-allowed --host localhost:2 \
        sh -c 'exec "$0" "$@" "$PMIX_RANK"' "$realms" 2 "$host" 2 '(vector,(0,1,2))'
    grep -h WRONG out err
    ;;
not_launched)
    run 0 -n 3 --nodes 2 --do-not-launch --display map sh -c 'echo run; : >run'
    err_has '^Map of job .*@1: 3 processes on 2 nodes'
    lines out 0
    [ ! -e run ] || wrong "a process was started"
    # An impossible preparation is refused in the same way.
    run 1 -n 3 --do-not-launch --host localhost:1 --nooversubscribe true
    run 0 -n 1 --nodes 2 "$directives" 2 +PMIX_DO_NOT_LAUNCH PMIX_DISPLAY_MAP -- sh -c ': >run'
    out_has '^SPAWNED .*@2$'
    out_has '^ENDED PMIX_SUCCESS$'
    err_has '^Map of job .*@2: 2 processes on 2 nodes'
    [ ! -e run ] || wrong "a process was started"
    refused PMIX_ERR_JOB_FAILED_TO_LAUNCH -n 1 "$directives" 2 PMIX_DO_NOT_LAUNCH PMIX_PRELOAD_FILES=nowhere -- true
    # Its slots are free again.
    serve
    run 0 --attach "$server" -n 2 --host localhost:2 --nooversubscribe --do-not-launch --display map true </dev/null
    err_has '^Map of job .*@1'
    run 0 --attach "$server" -n 2 --host localhost:2 --nooversubscribe echo said </dev/null
    lines out 2
    end_server
    ;;
disconnected) # PMIX_COSPAWN_APP
    facts='echo "$PMIX_NAMESPACE has $0 of $OMPI_COMM_WORLD_SIZE, rank $PMIX_RANK"; exec sleep 0.1'
    run 0 -n 1 --nodes 2 "$directives" 2 -- sh -c "$facts" app -- 3 +PMIX_COSPAWN_APP -- sh -c "$facts" beside
    out_has '^SPAWNED .*@2$'
    for rank in 0 1; do out_has "^.*@2 has app of 2, rank $rank\$"; done
    for rank in 0 1 2; do out_has "^.*@3 has beside of 3, rank $rank\$"; done
    out_has '^ENDED PMIX_SUCCESS$'
    # If one cannot be started, the application ends too.
    refused PMIX_ERR_JOB_EXE_NOT_FOUND -n 1 "$directives" 1 -- sleep 61 -- 1 PMIX_COSPAWN_APP -- ./no-program
    # Without other programs it is the job.
    run 0 -n 1 "$directives" 2 PMIX_COSPAWN_APP -- sh -c "$facts" alone
    out_has '^.*@2 has alone of 2, rank 1$'
    ;;
environment) # PMIX_FWD_ENVIRONMENT, of the job or of one program
    says='echo "mark $MARK, rank $PMIX_RANK of $PMIX_NAMESPACE, in $PWD"'
    run 0 -n 1 --nodes 2 env MARK=here "$directives" 1 -- sh -c "$says"
    out_has '^mark , rank 0 of .*@2,'
    mkdir -p elsewhere
    run 0 -n 1 --nodes 2 env MARK=here "$directives" 2 +PMIX_FWD_ENVIRONMENT PMIX_WDIR="$work/elsewhere" -- sh -c "$says"
    for rank in 0 1; do out_has "^mark here, rank $rank of .*@2, in $work/elsewhere\$"; done
    run 0 -n 1 env MARK=here "$directives" 1 -- sh -c "$says" -- 1 +PMIX_FWD_ENVIRONMENT -- sh -c "$says"
    out_has '^mark , rank 0 of .*@2,'
    out_has '^mark here, rank 1 of .*@2,'
    # The caller has done it in its own way.
    run 0 -n 1 env MARK=here "$directives" 1 PMIX_FWD_ENVIRONMENT +PMIX_ENVARS_HARVESTED -- sh -c "$says"
    out_has '^mark , rank 0 of .*@2,'
    # Its own variable takes precedence.
    run 0 -n 1 env MARK=here "$directives" 1 PMIX_FWD_ENVIRONMENT ENV:MARK=own -- sh -c "$says"
    out_has '^mark own, rank 0 of .*@2,'
    ;;
required) # none of them is ignored
    cpu=$(sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status | sed 's/[-,].*//')
    : >file
    echo node0 >hosts
    for attribute in RANKBY=slot CPU_LIST="$cpu" ADD_HOST=node0 ADD_HOSTFILE="$work/hosts" DISPLAY_MAP DISPLAY_MAP_DETAILED \
        DISPLAY_ALLOCATION DISPLAY_TOPOLOGY=node0 REPORT_BINDINGS MAX_RESTARTS:=1 JOB_CONTINUOUS PRELOAD_BIN \
        PRELOAD_FILES="$work/file" TIMEOUT_REPORT_STATE TIMEOUT_STACKTRACES NON_PMI NO_OVERSUBSCRIBE DO_NOT_LAUNCH COSPAWN_APP \
        FWD_ENVIRONMENT FWD_STDDIAG ENVARS_HARVESTED SPAWNED USERID:=1 GRPID:=1 REQUESTOR_IS_CLIENT REQUESTOR_IS_TOOL WDIR_USER_SPECIFIED; do
        run 0 -n 1 --nodes 2 "$directives" 1 "+PMIX_$attribute" -- true
        out_has '^ENDED PMIX_SUCCESS$'
    done
    for attribute in SPAWN_PTY PERSONALITY=ompi SPAWN_TOOL; do
        refused PMIX_ERR_NOT_SUPPORTED -n 1 --nodes 2 "$directives" 1 "+PMIX_$attribute" -- true
    done
    for attribute in PERSONALITY=ompi SPAWN_TOOL; do
        run 0 -n 1 "$directives" 1 "PMIX_$attribute" -- true
        out_has '^ENDED PMIX_SUCCESS$'
    done
    # An attribute that is ignored is one of these, or described above.
    listed=$(sed -n '/^bool is_remark/,/^}/p; /^bool is_without_effect/,/^}/p' "$here/../../../tools/muster/host/spawn.cpp" |
        grep -o 'PMIX_[A-Z_]*' | grep -v PMIX_INFO | sort -u)
    for attribute in $listed; do
        grep -qw "${attribute#PMIX_}" "$here/directives.sh" || wrong "no test of $attribute, which muster passes over"
    done
    # The start of a program without PMIx is complete when it runs.
    mkfifo go
    start -n 1 "$directives" 1 PMIX_NON_PMI -- sh -c 'read x <go'
    until_true 'grep -q "^SPAWNED" out'
    echo >go
    ended_with 0
    ;;
*)
    wrong "there is no case $case_name"
    ;;
esac

finish
