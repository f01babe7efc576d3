#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# launcher.sh CASE MUSTER EXAMPLES CLIENT LIBDIR [MPI] - one test of muster.
set -uo pipefail
case_name=$1 muster=$2 examples=$3 client=$4 libdir=$5 mpi=${6:-}

services=$(dirname "$client")/launcher_services

. "$(dirname "$0")/harness.sh"

case $case_name in
ring_*) # ring_RANKS_NODES
    IFS=_ read -r _ ranks nodes <<<"$case_name"
    run 0 -n "$ranks" --nodes "$nodes" "$examples/ring" 3
    lines out $((ranks + 1))
    out_has "went round $ranks ranks 3 times"
    lines err 0
    # The example passes valid arguments to PMIx_Get, Put, Commit and Fence.
    echo "COVERS SRV-20 SRV-22 SRV-29 SRV-35 SRV-70 SRV-71 SRV-72"
    ;;
hello)
    run 0 -n 3 --output rank "$examples/hello"
    for rank in 0 1 2; do out_has "^\[$rank\]<stdout>: hello from rank $rank of 3 on "; done
    ;;
facts)
    run 0 -n 4 "$client" facts 4 1
    run 0 -n 8 --nodes 4 "$client" facts 8 4
    run 0 -n 2 "$client" apps 0 0 2 : -n 3 "$client" apps 1 2 3
    echo "COVERS SRV-09 SRV-10 SRV-11 SRV-12 SRV-13 SRV-18"
    ;;
reinit_[13]) # reinit_NODES
    cycles=${MUSTER_REINIT_CYCLES:-200}
    run 0 -n 4 --nodes "${case_name#reinit_}" "$(dirname "$client")/reinit_client" cycles "$cycles"
    [ "$(grep -c "^cycles: $cycles\$" out)" -eq 4 ] || wrong "not all have come to their end: $(head -n 5 out)"
    lines err 0
    ;;
reinit_mixed_[13]) # reinit_mixed_NODES
    cycles=${MUSTER_REINIT_CYCLES:-60}
    run 0 -n 8 --nodes "${case_name#reinit_mixed_}" "$(dirname "$client")/reinit_client" mixed "$cycles"
    [ "$(grep -c "^cycles: $cycles\$" out)" -eq 8 ] || wrong "not all have come to their end: $(head -n 5 out)"
    lines err 0
    ;;
reinit_programs) # one after the other, under the same rank
    program="$(dirname "$client")/reinit_client cycles 1"
    run 0 -n 4 sh -c "for i in 1 2 3 4 5 6 7 8; do $program || exit 1; done"
    lines out 32
    lines err 0
    ;;
finalized_exit)
    run 0 -n 3 "$(dirname "$client")/reinit_client" leaves
    [ "$(grep -c '^PMIX_ERR_LOST_CONNECTION$' out)" -eq 2 ] || wrong "not both say so: $(head -n 5 out)"
    ;;
closed_descriptors)
    # closed MASK STATUS ARGUMENT...: muster with those of its standard descriptors closed; `out` and `err` have the output of the
    # open ones.
    closed() {
        local mask=$1 wanted=$2 status
        shift 2
        (
            exec >out 2>err </dev/null
            [ $((mask & 1)) -eq 0 ] || exec <&-
            [ $((mask & 2)) -eq 0 ] || exec >&-
            [ $((mask & 4)) -eq 0 ] || exec 2>&-
            exec timeout --kill-after=5 60 "$muster" "$@"
        )
        status=$?
        [ "$status" -eq "$wanted" ] || wrong "with descriptors $mask closed, muster $* ended with $status instead of $wanted"
    }
    broken="muster: standard output cannot be written: Bad file descriptor; the job is ended"
    for mask in 1 2 3 4 5 6 7; do
        # Output that cannot be written is a failure; a message may be impossible.
        closed $mask $(((mask & 2) == 0 ? 0 : 141)) -n 2 echo said
        [ $((mask & 6)) -ne 2 ] || [ "$(cat err)" = "$broken" ] || wrong "with $mask closed: '$(head -n 3 err)'"
        [ $((mask & 2)) -ne 0 ] || [ "$(sort -u out)" = said ] || wrong "with $mask closed: '$(head -n 3 out)'"
        closed $mask 0 -n 2 cat
        [ ! -s out ] || wrong "cat read something with $mask closed: $(head -c 200 out | od -c | head -n 3)"
        # The ranks' own output must not reach their server.
        run 0 -n 2 "$(dirname "$client")/closed_descriptors" client $mask
        run 0 -n 1 sh -c "$(dirname "$client")/closed_descriptors tool $mask"
    done
    # The same for its own output.
    closed 2 1 --help
    [ "$(cat err)" = "muster: standard output cannot be written: Bad file descriptor" ] || wrong "help: '$(head -n 3 err)'"
    "$muster" --help 2>err >/dev/full && wrong "a full disk is no error"
    [ "$(cat err)" = "muster: standard output cannot be written: No space left on device" ] || wrong "help: '$(cat err)'"
    # A signal still ends it.
    (
        exec >&- 2>err
        exec "$muster" -n 2 sleep 100
    ) &
    background=$!
    until_true '[ "$(pgrep -cf "^sleep 100\$" -P "$(pgrep -d, -P $background)")" -eq 2 ]'
    kill -TERM "$background"
    ended_with 143
    ;;
why_no_server)
    # The message names the setting and the valid choices.
    PMIX_MCA_psec=nativ run 1 -n 1 true
    err_has 'the PMIx server did not start: .*psec.*nativ'
    PMIX_MCA_psec=^native,none,munge run 1 -n 1 true
    err_has 'the PMIx server did not start: .*psec.*ruled out by'
    PMIX_MCA_ptl=tcp PMIX_MCA_ptl_tcp_if_include=nosuch0 run 1 -n 1 true
    err_has 'the PMIx server did not start: .*nosuch0'
    # The socket of a missing munged; a build without psec/munge does not know the component.
    PMIX_MCA_psec=munge PMIX_MCA_psec_munge_socket=$work/no-munged run 1 -n 1 true
    err_has 'the PMIx server did not start: .*(munge is not usable here.*no-munged|psec.*munge)'
    # A lack of descriptors is not reported as a lack of permissions, and no process ends silently.
    for few in 10 16; do
        status=0
        (ulimit -n $few; exec timeout 90 "$muster" -n 1 true) >out 2>err || status=$?
        [ "$status" -eq 1 ] || wrong "muster exits with $status where it may open $few files"
        err_has 'the PMIx server did not start: .*Too many open files \(PMIX_ERR_OUT_OF_RESOURCE\)'
    done
    # A full folder for temporary files, where this user may mount one.
    mkdir full
    if unshare -m mount -t tmpfs -o nr_inodes=1 none full 2>/dev/null; then
        full() { unshare -m sh -c 'mount -t tmpfs -o "$1" none full; shift; [ "$1" = - ] && shift && head -c 4096 /dev/zero >full/x; exec "$@"' sh "$@"; }
        status=0
        TMPDIR=$work/full full nr_inodes=1 timeout 90 "$muster" -n 1 true >out 2>err || status=$?
        [ "$status" -eq 1 ] || wrong "muster exits with $status where TMPDIR has no room for a folder"
        err_has "cannot make a directory '$work/full/.*No space left on device; set TMPDIR"
        status=0
        TMPDIR=$work/full full size=4k,nr_inodes=6 - timeout 90 "$muster" -n 1 true >out 2>err || status=$?
        [ "$status" -eq 1 ] || wrong "muster exits with $status where TMPDIR is full"
        err_has "the PMIx server did not start: the rendezvous file $work/full/.*No space left on device"
    fi
    ;;
modex)
    run 0 -n 4 "$client" modex
    run 0 -n 8 --nodes 4 "$client" modex
    ;;
fences)
    # The servers time out a fence themselves if the host has not done so in time, and report it.
    export PMIX_MCA_server_base_verbose=1
    run 0 -n 8 --nodes 4 "$client" fences
    err_has 'reached its time limit waiting for '
    ! grep 'the host has not answered' err || wrong "muster does not look at the time limit"
    run 0 -n 8 --nodes 2 --map-by node "$client" fences
    ! grep 'the host has not answered' err || wrong "muster does not look at the time limit"
    echo "COVERS SRV-68"
    ;;
not_found)
    run 127 -n 2 no-such-program-here
    err_has "program 'no-such-program-here' not found"
    lines err 1
    run 127 -n 2 --nodes 2 ./not-here
    err_has "program './not-here' not found"
    printf '#!/not/here\n' >script && chmod +x script
    run 127 ./script
    err_has 'its interpreter is not there'
    ;;
not_executable)
    touch plain
    run 126 -n 2 ./plain
    err_has "cannot execute './plain': Permission denied"
    lines err 1
    run 126 -n 2 "$work"
    run 1 -n 2 --wdir /not/here true
    err_has "cannot work in directory '/not/here'"
    ;;
script_without_interpreter)
    echo 'echo from $0' >script && chmod +x script
    run 0 -n 1 ./script
    out_has 'from ./script'
    ;;
exit_status)
    run 7 -n 4 sh -c '[ $PMIX_RANK = 2 ] && exit 7; exec sleep 60'
    err_has 'rank 2 on .* \(pid [0-9]+\) exited with status 7 before it called PMIx_Init'
    lines err 1
    run 0 -n 4 true
    lines err 0
    ;;
death)
    for nodes in 1 2; do
        run 139 -n 4 --nodes $nodes "$client" signal 3
        err_has 'rank 3 on .* was ended by signal 11 \(Segmentation fault\)'
        run 1 -n 4 --nodes $nodes "$client" no-finalize 1
        err_has 'rank 1 on .* exited with status 0 without calling PMIx_Finalize'
    done
    ;;
recovery) # the others continue
    for nodes in 1 2; do
        run 0 -n 4 --nodes $nodes --enable-recovery "$client" survive
        err_has 'rank 1 on .* was ended by signal 9 \(Killed\); the job goes on'
        lines err 1
    done
    run 7 -n 2 --enable-recovery sh -c 'exit 7'
    err_has 'no process of the job ended well'
    run 42 -n 4 --enable-recovery "$client" abort 1
    ;;
setup) # gathered once, passed to each node's server before its first process starts
    for nodes in 1 3; do
        run 0 -n 3 --nodes $nodes "$client" set-up
        lines out 3
        [ "$(sort -u out | wc -l)" = 1 ] || wrong "not the same for all: $(cat out)"
        out_has '^key [0-9a-f]{64}$'
    done
    echo "COVERS SRV-41 SRV-44"
    ;;
upcalls) # a pending upcall does not block the server
    start -n 2 "$client" upcalls
    until_true '[ -e up.0 ] && [ -e up.1 ]'
    kill -STOP "$background"
    : >stopped
    until_true '[ -e served.0 ] && [ -e served.1 ]'
    kill -CONT "$background"
    ended_with 0
    lines err 0
    echo "COVERS SRV-54"
    ;;
move)
    run 0 -n 4 --nodes 2 "$client" move
    echo "COVERS SRV-24"
    ;;
abort)
    for nodes in 1 2; do
        run 42 -n 4 --nodes $nodes "$client" abort 1
        err_has 'rank 1 on .* called PMIx_Abort with status 42: no more'
        lines err 1
        run 0 -n 4 --nodes $nodes "$client" abort-one 2
        err_has 'called PMIx_Abort for rank 2: you'
    done
    echo "COVERS SRV-63 SRV-64"
    ;;
never_init)
    run 0 -n 3 sh -c 'exit 0'
    run 0 -n 2 "$examples/hello" : -n 1 true
    lines out 2
    for nodes in 1 3; do
        run 0 -n 3 --nodes $nodes sh -c '[ $PMIX_RANK = 1 ] && exit 0; exec "$0" absent' "$client"
    done
    echo "COVERS SRV-59"
    ;;
interrupt_*)
    signal=${case_name#interrupt_}
    # Ranks that ignore signals, and grandchildren in their own sessions.
    start -n 4 --nodes 2 sh -c 'trap "" TERM INT; setsid sleep 61 & echo up; sleep 61; sleep 61'
    until_true '[ "$(grep -c up out)" -eq 4 ]'
    kill -s "$signal" "$background"
    ended_with $((128 + $(kill -l "$signal")))
    err_has 'the job is ended by signal'
    ;;
suspend)
    mkfifo go.0 go.1
    start -n 2 --nodes 2 sh -c 'echo $$; exec cat go.$PMIX_RANK'
    until_true '[ "$(wc -l <out)" -eq 2 ]'
    state_of() { sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"; }
    kill -TSTP "$background"
    for pid in "$background" $(cat out); do until_true "[ \"\$(state_of $pid)\" = T ]"; done
    kill -CONT "$background"
    : >go.0
    : >go.1
    ended_with 0
    lines err 0
    ;;
launcher_killed)
    start -n 4 --nodes 2 sh -c 'setsid sleep 61 & echo up; sleep 61'
    until_true '[ "$(grep -c up out)" -eq 4 ]'
    kill -KILL "$background"
    wait "$background" 2>/dev/null
    until_true '[ -z "$(survivors)" ]'
    until_true '[ -z "$(ls -A "$TMPDIR")" ]'
    ;;
node_killed)
    start -n 4 --nodes 2 sh -c 'setsid sleep 61 & echo up; sleep 61'
    until_true '[ "$(grep -c up out)" -eq 4 ]'
    kill -KILL "$(pgrep -P "$background" | head -n 1)"
    ended_with 1
    err_has 'the server of node node[01] ended unexpectedly'
    ;;
timeout)
    run 124 -n 3 --timeout 0.5 sleep 61
    err_has 'did not end within 0.5 seconds and is ended; still running: ranks 0-2'
    run 124 -n 1 --timeout 0.5 sh -c 'kill -STOP $$'
    ;;
grandchildren)
    run 0 -n 2 --nodes 2 sh -c 'sleep 61 & setsid sleep 61 & exit 0'
    ;;
output)
    run 0 -n 2 --output tag sh -c 'echo a; echo b >&2'
    for rank in 0 1; do out_has "^\[1,$rank\]<stdout>: a$" && err_has "^\[1,$rank\]<stderr>: b$"; done
    run 0 -n 2 --output rank,merge sh -c 'echo a; echo b >&2'
    lines out 4
    lines err 0
    run 0 -n 1 --output timestamp echo a
    out_has '^\[20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}[^]]*\]<stdout>: a$'
    run 0 -n 11 --output dir=d,nocopy sh -c 'echo $PMIX_RANK; echo e >&2'
    lines out 0
    [ "$(cat d/*@1/rank.7/stdout d/*@1/rank.10/stderr)" = $'7\ne' ] || wrong "files of dir=: $(find d)"
    run 0 -n 2 --output file=f sh -c 'echo $PMIX_RANK'
    lines out 2
    [ "$(cat f.*@1.0.stdout f.*@1.1.stdout)" = $'0\n1' ] || wrong "files of file=: $(ls)"
    # Much output through a slow reader, complete to the last byte; and an unterminated line.
    "$muster" -n 3 sh -c 'seq 1 60000; printf end' | { sleep 0.5; cat; } >much
    [ "$(grep -c . much)" -ge 180000 ] || wrong "lines are lost: $(wc -l <much)"
    [ "$(grep -o end much | wc -l)" -eq 3 ] || wrong "unfinished lines are lost"
    # A reader that disconnects.
    timeout 30 "$muster" -n 2 yes 2>err | head -n 1 >/dev/null
    [ "${PIPESTATUS[0]}" -eq 141 ] || wrong "without a reader: ${PIPESTATUS[*]}"
    ;;
stdin)
    seq 1 50000 >numbers
    timeout 60 "$muster" -n 3 cat <numbers | cmp - numbers || wrong "rank 0 did not get it all"
    timeout 60 "$muster" -n 3 --stdin 2 --output rank wc -l <numbers | grep -c '^\[2\]<stdout>: 50000' >/dev/null || wrong "rank 2"
    [ "$(timeout 60 "$muster" -n 3 --nodes 2 --stdin all wc -l <numbers | grep -c '^50000')" -eq 3 ] || wrong "not all"
    [ "$(timeout 60 "$muster" -n 2 --stdin none wc -c <numbers | grep -c '^0')" -eq 2 ] || wrong "not none"
    # A rank that does not read does not block the job.
    run 0 -n 2 true <numbers
    run 1 -n 2 --stdin 2 true
    err_has 'the ranks are 0 to 1'
    ;;
environment)
    PASSED=on run 0 -n 1 -x PASSED -x SET=1 sh -c 'echo $PASSED $SET' : -n 1 -x MORE=2 sh -c 'echo $PASSED $SET $MORE'
    out_has '^on 1$'
    out_has '^on 1 2$'
    run 0 -n 1 --pmixmca ptl_base_verbose 0 --mca btl self env
    out_has '^PMIX_MCA_ptl_base_verbose=0$'
    out_has '^OMPI_MCA_btl=self$'
    PMIX_SERVER_URI41=junk PMIX_NAMESPACE=other run 0 -n 1 "$examples/hello"
    # Stores that only another library has, for servers and ranks, and for only the ranks.
    for stores in ds12 ds21 shmem shmem2,ds21 ds21,hash ^ds12,ds21; do
        PMIX_MCA_gds=$stores run 0 -n 2 --nodes 2 "$examples/ring" 1
        lines err 0
        run 0 -n 2 -x "PMIX_MCA_gds=$stores" "$examples/ring" 1
    done
    run 0 -n 1 -wdir / pwd
    out_has '^/$'
    # A relative path means a file in the current folder, otherwise one in the program's folder.
    mkdir -p there
    printf '#!/bin/sh\necho here; pwd\n' >prog
    chmod +x prog
    run 0 -n 1 --wdir there ./prog
    out_has '^here$'
    out_has '/there$'
    mv prog there/other
    run 0 -n 1 --wdir there ./other
    out_has '/there$'
    run 127 -n 1 --wdir there ./prog
    err_has "program './prog' not found in '.*/there'"
    # Errors of the command line or a file are reported once; the environment may be meant for other programs.
    run 0 -n 2 --nodes 2 --pmixmca ptl_tcp_if_inlcude lo --mca gds shmem,bogus --pmixmca ptl_base_verbose abc true
    err_has 'nothing knows the parameter ptl_tcp_if_inlcude .*did you mean ptl_tcp_if_include'
    err_has 'names bogus, and there is no such component'
    err_has 'ptl_base_verbose.*abc'
    lines err 3
    PMIX_MCA_ptl_tcp_if_inlcude=lo PMIX_MCA_gds=hash,bogus run 0 -n 1 true
    lines err 0
    echo 'ptl_nosuch = 1' >params
    PMIX_MCA_mca_base_param_files=$PWD/params run 0 -n 1 true
    err_has 'nothing knows the parameter ptl_nosuch'
    lines err 1
    run 0 -n 1 --mca server_base_max_payload abc true
    err_has 'server_base_max_payload.*abc'
    # Parameters of every framework and part of the library are its own.
    for word in $("$(dirname "$muster")/pmix_info" --parsable --all | sed -nE 's/.*param:([a-z]+)_.*/\1/p' | sort -u); do
        run 0 -n 1 --mca "${word}_nosuch" 1 true
        err_has "nothing knows the parameter ${word}_nosuch"
    done
    run 0 -n 1 --mca plm rsh true
    err_has 'plm rsh is a parameter of another launcher'
    run 0 -n 2 --nodes 2 --mca psce native true
    err_has '--mca psce: no framework is called psce; did you mean psec'
    lines err 1
    PMIX_MCA_ptl=usock,^tcp run 1 -n 1 true
    err_has 'usock is not opened: ruled out by PMIX_MCA_ptl=usock,.tcp, where . stands behind'
    PMIX_MCA_ptl=^tcp,usock run 1 -n 1 true
    err_has 'no transport can be listened on: .*usock is not opened: ruled out by PMIX_MCA_ptl=.tcp,usock'
    run 2 ps --bogus
    err_has "unknown option '--bogus'"
    run 2 kill --bogus
    err_has "unknown option '--bogus'"
    mkdir bare
    for program in timeout head; do ln -s "$(type -P $program)" bare; done
    PATH=$PWD/bare SLURM_JOB_NUM_NODES=4 run 0 -n 1 /bin/true
    err_has 'the Slurm allocation has 4 nodes, and muster uses this machine alone'
    SLURM_JOB_NUM_NODES=1 run 0 -n 1 true
    lines err 0
    run 2 -x NOT_SET_ANYWHERE true
    err_has 'NOT_SET_ANYWHERE: this variable is not set here'
    ;;
binding)
    run 0 -n 1 --bind-to hwthread --output rank sh -c 'grep Cpus_allowed_list /proc/self/status'
    out_has 'Cpus_allowed_list:.[0-9]+$'
    run 1 -n 4096 --bind-to core true
    err_has 'too few here'
    run 0 -n 8 --bind-to core:overload-allowed --map-by core true
    run 0 --map-by ppr:2:node --nodes 3 --output rank "$examples/hello"
    lines out 6
    out_has 'rank 5 of 6 on node2'
    run 0 -n 4 --nodes 2 --map-by node --output rank "$examples/hello"
    out_has 'rank 1 of 4 on node1'
    out_has 'rank 2 of 4 on node0'
    ;;
usage)
    run 2
    err_has 'no program is given'
    run 2 --no-such-option true
    err_has '--no-such-option is not an option of muster'
    run 2 -n 0 true
    run 2 -n 4x true
    run 2 --bind-to nothing true
    err_has 'valid are none, hwthread'
    run 2 --output colour true
    run 1 true : -n 1 true
    err_has 'each needs its -n'
    run 0 --version
    run 0 --help
    out_has '^Usage: muster'
    ;;
report)
    run 0 -n 4 --nodes 2 --report "$examples/ring"
    for row in servers spawn init finalize end fence; do err_has "^  $row +[0-9]"; done
    ;;
serve) # servers without a job: tools connect, query, start jobs and end them
    start serve --nodes 2 --report-uri uri
    until_true '[ -s uri ]'
    # Neither its own name nor variables of other servers are needed.
    timeout 60 "$services" tool "$background" >tool.out 2>tool.err || wrong "the tool failed: $(cat tool.err)"
    timeout 60 "$muster" ps "$(cat uri)" >ps.out || wrong "muster ps failed"
    lines ps.out 3
    [ "$(grep -cE '@1 +[01] node[01] +[0-9]+ .*launcher_services$' ps.out)" = 2 ] || wrong "$(cat ps.out)"
    timeout 60 "$muster" kill "$background" || wrong "muster kill failed"
    until_true '[ "$(timeout 60 "$muster" ps "$background" | wc -l)" = 1 ]'
    timeout 60 "$muster" kill "$background" nobody 2>tool.err && wrong "a job that is not there was killed"
    timeout 60 "$services" tool "$background" || wrong "the second tool failed"
    # Published data that persist with a tool are removed when the tool ends in any way.
    timeout 60 "$services" tool_data "$background" publish || wrong "a tool could not publish"
    timeout 60 "$services" tool_data "$background" look || wrong "data of a tool outlives it, or too much is gone"
    (timeout 60 "$services" tool_data "$background" die) 2>/dev/null
    timeout 60 "$services" tool_data "$background" look || wrong "data of a dead tool is left"
    # A stopped server sends no answers.
    node=$(pgrep -P "$background" | head -n 1)
    kill -STOP "$node"
    timeout 60 "$muster" ps "$(cat uri)" 2>tool.err && wrong "a stopped server answered"
    grep -q "cannot connect with muster" tool.err || wrong "$(cat tool.err)"
    kill -CONT "$node"
    kill -TERM "$background"
    ended_with 0
    [ ! -e uri ] || wrong "the file of the URI is left"
    timeout 60 "$muster" ps 1 2>tool.err && wrong "ps found a server that is not there"
    echo "COVERS TOOL-23 TOOL-81"
    ;;
attach) # jobs at a running muster: input, output, status and signals are local
    "$muster" serve --nodes 2 --report-uri uri >serve.out 2>serve.err &
    server=$!
    until_true '[ -s uri ]'
    mkdir elsewhere
    run 0 --attach "$server" -n 4 --output tag "$examples/ring" 3
    out_has '@1,0\]<stdout>: .*went round 4 ranks 3 times'
    lines out 5
    run 0 --attach "$(cat uri)" -n 3 --wdir elsewhere --pset all -x A=b sh -c 'echo "$A $PWD"; echo problem >&2'
    [ "$(sort -u out)" = "b $work/elsewhere" ] || wrong "$(cat out)"
    lines out 3
    lines err 3
    # More than any cache keeps, before any process can have requested it.
    run 0 --attach "$server" -n 2 --map-by node --stdin none sh -c 'head -c 3000000 /dev/zero; echo end >&2'
    [ "$(wc -c <out)" = 6000000 ] || wrong "$(wc -c <out) bytes instead of 6000000"
    seq 100000 >numbers
    run 0 --attach "$server" -n 2 --stdin all sha256sum <numbers
    [ "$(sort -u out)" = "$(sha256sum <numbers)" ] || wrong "the input is another: $(cat out)"
    run 0 --attach "$server" -n 1 --output file=kept,nocopy --stdin none echo into a file
    lines out 0
    grep -qx 'into a file' kept.*.0.stdout || wrong "no file: $(ls)"
    run 3 --attach "$server" -n 2 sh -c 'exit 3' </dev/null
    err_has '^muster: job .* has failed: .*, first rank [01] with exit code 3$'
    lines err 1
    run 127 --attach "$server" -n 2 ./no-such-program
    run 124 --attach "$server" -n 2 --timeout 1 sleep 60
    # The same if the limit expires while the processes are being started: a node is stopped.
    stopped=$(pgrep -P "$server" | tail -n 1)
    kill -STOP "$stopped"
    run 124 --attach "$server" -n 2 --timeout 1 sleep 60
    kill -CONT "$stopped"
    err_has 'was not started within 1 seconds'
    run 2 --attach "$server" --nodes 2 "$examples/ring"
    start --attach "$server" -n 2 sh -c 'trap "echo usr1" USR1; echo up; while :; do sleep 0.05; done'
    until_true '[ "$(grep -c up out)" = 2 ]'
    kill -USR1 "$background"
    until_true '[ "$(grep -c usr1 out)" = 2 ]'
    kill -INT "$background"
    ended_with 130
    # No process would look for the job at the server.
    start --attach "$server" -n 1 sleep 60
    until_true '[ "$(timeout 60 "$muster" ps "$server" | wc -l)" = 2 ]'
    kill -KILL "$background"
    ended_with 137
    until_true '[ "$(timeout 60 "$muster" ps "$server" | wc -l)" = 1 ]'
    start --attach "$server" -n 1 sleep 60
    until_true '[ "$(timeout 60 "$muster" ps "$server" | wc -l)" = 2 ]'
    kill -TERM "$server"
    # The end of the job, or of the connection: whichever is detected first.
    wait "$background" && wrong "the job ended well although its server was ended"
    wait "$server" || wrong "the server ended with $?"
    grep -q 'up\|end\|problem' serve.out && wrong "output of the jobs is elsewhere: $(cat serve.out)"
    run 1 --attach "$server" "$examples/ring"
    echo "COVERS TOOL-80 IOF-01"
    ;;
tool_late) # a tool at a muster with a program
    start -n 2 "$services" tool_host
    until_true 'timeout 60 "$muster" ps "$background" >ps.out 2>/dev/null && [ "$(wc -l <ps.out)" = 3 ]'
    timeout 60 "$muster" kill -s 9 "$background" || wrong "muster kill failed"
    ended_with 137
    ;;
services_round) # spawn, connect, publish and lookup, repeatedly; MUSTER_ROUNDS sets the number of rounds
    rounds=${MUSTER_ROUNDS:-10}
    for ((i = 0; i < rounds && bad == 0; i++)); do run 0 -n 8 --nodes 4 "$services" round; done
    echo "COVERS SRV-21 SRV-25"
    ;;
services_attributes)
    export SVC_ADD=already SVC_GONE=1
    run 0 -n 2 --nodes 2 "$services" attributes
    set_by_all="set=one add=already list=c:a:b:d gone=1"
    for rank in 0 1; do
        out_has "^\[2,$rank\]<stdout>: child $rank $set_by_all app=first cwd=/ argv0=launcher_services-$rank\$"
    done
    out_has "^\[2,2\]<stdout>: child 2 $set_by_all app=second cwd=/usr argv0=launcher_services-2\$"
    lines out 3
    echo "COVERS TOOL-60 TOOL-104"
    ;;
services_log)
    run 0 -n 4 --nodes 2 "$services" log
    lines out 3
    out_has '^\[.*@1,3\]: to the output$'
    out_has '^<stdout nspace=".*@1" rank="3">a&lt;b</stdout>$'
    out_has '^to the output$'
    err_has '^\[.*@1,3\]: to the errors$'
    lines err 1
    ;;
services_linked) # jobs connected with a failing job end with it
    for nodes in 1 3; do
        run 9 -n 4 --nodes $nodes "$services" linked
        err_has '^muster: rank 1 of job 2 .* exited with status 9'
        lines err 1
    done
    echo "COVERS GRP-31"
    ;;
services_*)
    # Counts for a node are given in two halves.
    counts="3 1"
    [ "$case_name" = services_ranges ] && counts=2
    for nodes in $counts; do
        run 0 -n 4 --nodes $nodes "$services" "${case_name#services_}"
        [ "$bad" = 0 ] || cat err
    done
    case $case_name in
    services_ranges) echo "COVERS SRV-76 SRV-78 SRV-81" ;;
    services_access) echo "COVERS SRV-79" ;;
    services_persistence) echo "COVERS SRV-77" ;;
    services_required) echo "COVERS SRV-68 SRV-69 SRV-74 SRV-82 SRV-83 SRV-84" ;;
    services_events) echo "COVERS EVT-32 EVT-49 TOOL-62 TOOL-63 TOOL-109 TOOL-110 TOOL-111 TOOL-112 TOOL-113 TOOL-115" ;;
    esac
    ;;
forward) # a tool pulls the output of all ranks, on two nodes, and pushes input to rank 0
    mkfifo keep_open
    # Rank 0 waits for its input, and muster itself has none.
    "$muster" -n 4 --nodes 2 "$(dirname "$client")/launcher_probe" iof <>keep_open >out 2>err &
    background=$!
    until_true 'timeout 60 "$muster" ps "$background" >ps.out 2>/dev/null && [ "$(grep -c CONNECTED ps.out)" = 4 ]'
    export ACC_NSPACE ACC_NPROCS=4 ACC_SERVER_PID=$background
    ACC_NSPACE=$(awk 'NR == 2 { print $1 }' ps.out)
    timeout 60 "$(dirname "$client")/launcher_tool" pid pull >tool.out || wrong "the tool failed: $(cat tool.out)"
    ended_with 0
    # muster does not show the output that the tool pulled, but does show later output.
    grep -q 'IOF-' out && wrong "redirected output was shown: $(cat out)"
    [ "$(grep -c 'GOOD iof$' out)" = 4 ] || wrong "not all ranks are good: $(cat out)"
    echo "COVERS IOF-01 IOF-05 IOF-10 TLO-19 TLO-33 TLO-34 TOOL-80"
    ;;
spawned_output) # a tool with the attribute gets the output of its jobs without a pull
    spawner=$(dirname "$client")/launcher_spawner
    "$muster" serve --nodes 2 --report-uri uri >serve.out 2>serve.err &
    server=$!
    until_true '[ -s uri ]'
    mkfifo go end
    # spawn WORD...: the job prints a line, and another one on request; the tool ends on request
    spawn() {
        : >tool.out
        timeout 60 "$spawner" "$server" "echo first; read x <$work/go; echo second; echo third >&2" "$@" \
            <end >tool.out 2>tool.err &
        background=$!
        exec 8>end
        until_true 'grep -q "^SPAWNED" tool.out'
    }
    go_on() { echo >go; }
    over() {
        exec 8>&-
        ended_with 0
    }
    spawn forward local
    until_true 'grep -qx first tool.out' # while the job runs
    go_on
    until_true 'grep -qx second tool.out && grep -qx third serve.err'
    over
    # As the job's own directives request.
    spawn forward local tag
    until_true 'grep -q "^\[.*@2,0\]<stdout>: first" tool.out'
    go_on
    until_true 'grep -q "@2,0\]<stdout>: second" tool.out'
    over
    # Only the tool's callback gets the pulled output.
    spawn forward local pull
    until_true 'grep -q PULLS tool.out'
    go_on
    until_true 'grep -q second tool.out'
    over
    [ "$(grep -c 'PULLED second' tool.out)" = 1 ] && ! grep -qx second tool.out || wrong "twice: $(cat tool.out)"
    [ "$(grep -c first tool.out)" = 1 ] || wrong "not once: $(cat tool.out)"
    # All other output waits for a pull.
    for words in "forward pull" "forward local quiet pull"; do
        # shellcheck disable=SC2086 # several
        spawn $words
        until_true 'grep -qx "PULLED first" tool.out'
        go_on
        until_true 'grep -qx "PULLED second" tool.out'
        over
    done
    grep -qE '^(first|second)$' serve.out && wrong "output came out of muster, too: $(cat serve.out)"
    spawn local
    go_on
    until_true 'grep -qx second serve.out' # no process requests it
    over
    lines tool.out 1
    kill -TERM "$server"
    wait "$server" || wrong "the server ended with $?"
    echo "COVERS IOF-18 TOOL-80"
    ;;
probe_*) # an acceptance probe, which counts its ranks by the lines "GOOD"
    probe=${case_name#probe_}
    run 0 -n 4 --nodes 2 "$(dirname "$client")/launcher_probe" "$probe"
    [ "$(grep -c "GOOD $probe\$" out)" = 4 ] || wrong "not all ranks are good: $(grep -v PROOF out)"
    ;;
mpi_*) # mpi_PROGRAM_LIBRARY
    IFS=_ read -r _ program library <<<"$case_name"
    if [ "$library" = own ]; then
        expected=$(readlink -f /usr/lib/x86_64-linux-gnu/libpmix.so.2)
    else
        expected=$(readlink -f "$libdir/libpmix.so.2")
        export LD_LIBRARY_PATH=$libdir
    fi
    for nodes in 1 2; do
        # Between nodes TCP, even if the only network is the loopback.
        run 0 -n 4 --nodes $nodes -x OMPI_MCA_btl_tcp_if_include=lo \
            -x OMPI_MCA_mpi_yield_when_idle=1 "$mpi" "$program"
        out_has "^$program of 4 ranks: right"
        [ "$program" != spawn ] || out_has "^child 2 of 3"
        [ "$(sed -n 's/^library //p' out)" = "$expected" ] || wrong "another library: $(grep ^library out)"
    done
    ;;
*)
    wrong "there is no case $case_name"
    ;;
esac

finish
