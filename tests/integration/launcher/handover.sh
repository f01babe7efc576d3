#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# handover.sh CASE MUSTER - muster with processes on several machines. srun and prterun are scripts in a folder of the test,
# the only one in PATH: they write their arguments, one per line, and the environment.
set -uo pipefail
case_name=$1 muster=$2

. "$(dirname "$0")/harness.sh"

unset "${!SLURM_@}" MUSTER_LAUNCHER
mkdir bin
for program in timeout head cat env hostname sh; do ln -s "$(type -P $program)" bin; done

# fake NAME...: these launchers exist; without arguments, none.
fake() {
    local name
    rm -f bin/srun bin/prterun
    for name in "$@"; do
        printf '#!/bin/bash\n[ $# -eq 0 ] || printf "%%s\\n" "$@" >%q/argv\nenv >%q/environment\nexit 5\n' "$work" "$work" >"bin/$name"
        chmod +x "bin/$name"
    done
}
# alone STATUS VARIABLE=VALUE... -- ARGUMENT...: muster with these variables and the PATH of the test.
alone() {
    local wanted=$1 status
    shift
    local variables=()
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    rm -f argv environment
    timeout --kill-after=5 90 env "${variables[@]}" PATH="$work/bin" "$muster" "$@" >out 2>err
    status=$?
    [ "$status" -eq "$wanted" ] || { wrong "muster $* ended with $status instead of $wanted"; cat out err; }
}
# Whether the launcher was executed with these arguments, or none was.
arguments_are() { [ "$(cat argv 2>/dev/null)" = "$(printf '%s\n' "$@")" ] || wrong "the arguments are: $(cat argv 2>&1)"; }
stays_here() { [ ! -e environment ] || wrong "handed over: $(cat argv)"; }
environment_has() { grep -qx -- "$1" environment || wrong "no '$1' in the environment of the launcher"; }
environment_lacks() { ! grep -q -- "^$1" environment || wrong "the launcher has $(grep -m 1 -- "^$1" environment)"; }

allocation=(SLURM_JOB_ID=7 SLURM_JOB_NUM_NODES=3 "SLURM_JOB_NODELIST=n[1-3]")

case $case_name in
allocation) # of several nodes: srun
    fake srun prterun
    # The status is that of the launcher.
    alone 5 "${allocation[@]}" PMIX_NAMESPACE=outer PMIX_MCA_gds=hash SLURM_NTASKS_PER_NODE=1 -- -n 4 -x A='1 2' --wdir /usr prog 'a b' -n
    arguments_are --mpi=pmix -n4 -N3 --kill-on-bad-exit=1 --input=0 --export=ALL --chdir=/usr prog 'a b' -n
    lines err 1
    err_has "^muster: the Slurm allocation has 3 nodes: running srun --mpi=pmix -n4 -N3 .* prog 'a b' -n$"
    environment_has 'A=1 2'
    environment_has 'PMIX_MCA_gds=hash'
    environment_has 'SLURM_JOB_ID=7'
    # Variables of an outer server do not reach the step.
    environment_lacks PMIX_NAMESPACE
    environment_lacks SLURM_NTASKS_PER_NODE
    alone 5 "${allocation[@]}" -- --prtemca a b --noprefix -n 1 prog
    arguments_are --mpi=pmix -n1 -N1 --kill-on-bad-exit=1 --input=0 --export=ALL prog
    err_has '^muster: --noprefix, --prtemca: of no effect here$'
    lines err 2
    alone 5 "${allocation[@]}" -- -q -n 1 prog
    lines err 0
    # Several programs are a file.
    alone 5 "${allocation[@]}" -- -n 1 one : -n 2 two
    grep -qx -- --multi-prog argv || wrong "no --multi-prog: $(cat argv)"
    # Nodes of the allocation.
    alone 5 "${allocation[@]}" -- --host n2,n3 prog
    grep -qx -- -wn2,n3 argv || wrong "no -w: $(cat argv)"
    # One node that is another machine; the step of a shell is none.
    alone 5 SLURM_JOB_NUM_NODES=1 SLURM_JOB_NODELIST=elsewhere.invalid SLURM_STEP_ID=4294967290 -- -n 2 prog
    arguments_are --mpi=pmix -n2 -N1 --kill-on-bad-exit=1 --input=0 --export=ALL prog
    err_has '^muster: the Slurm allocation is node elsewhere.invalid: running srun '
    ;;
here) # what stays on this machine
    fake srun prterun
    alone 0 -- -n 2 sh -c 'echo here'
    lines out 2
    alone 0 SLURM_JOB_NUM_NODES=1 "SLURM_JOB_NODELIST=$(hostname)" -- -n 1 sh -c 'echo here'
    lines out 1
    alone 0 SLURM_JOB_NUM_NODES=1 SLURM_JOB_NODELIST=n1 SLURMD_NODENAME=n1 -- -n 1 sh -c 'echo here'
    lines out 1
    alone 0 "${allocation[@]}" -- --launcher muster -n 1 sh -c 'echo here'
    lines out 1
    alone 0 "${allocation[@]}" MUSTER_LAUNCHER=muster -- -n 1 sh -c 'echo here'
    lines out 1
    for name in localhost 127.0.0.1 "$(hostname)"; do
        alone 0 "${allocation[@]}" -- --host "$name:2" sh -c 'echo here'
        lines out 2
        echo "$name slots=3" >hosts
        alone 0 "${allocation[@]}" -- --hostfile hosts sh -c 'echo here'
        lines out 3
        lines err 0
    done
    # A pipe can be read once.
    alone 0 -- --hostfile <(echo 'localhost slots=2') sh -c 'echo here'
    lines out 2
    stays_here
    alone 2 -- serve --launcher srun
    err_has '^muster: --launcher: serve, --attach and tools that guide muster need muster itself$'
    stays_here
    ;;
inside) # a step: no launcher is started from there
    fake srun prterun
    alone 0 "${allocation[@]}" SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 -- -n 1 sh -c 'echo here'
    lines err 0
    lines out 1
    alone 0 "${allocation[@]}" SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 -- -n 1 sh -c 'echo here'
    err_has '^muster: the Slurm allocation has 3 nodes, and muster uses this machine alone; --launcher srun uses all inside a step$'
    lines err 1
    alone 1 "${allocation[@]}" SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 -- -n 1 --host n2 sh -c 'echo here'
    err_has "there is no node 'n2'"
    stays_here
    # The variable that muster sets for the launcher that it executes keeps the next muster on its machine.
    printf '#!/bin/bash\nwhile [ $# -gt 0 ] && [ "$1" != %q ]; do shift; done\nexec "$@"\n' "$muster" >bin/srun
    alone 0 "${allocation[@]}" -- -n 1 "$muster" -n 2 sh -c 'echo here'
    lines out 2
    # On request it does.
    fake srun prterun
    alone 5 "${allocation[@]}" SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 -- --launcher srun -n 1 prog
    arguments_are --mpi=pmix -n1 -N1 --overlap --kill-on-bad-exit=1 --input=0 --export=ALL prog
    environment_has MUSTER_LAUNCHER=muster
    ;;
machines) # named by --host or a hostfile: prterun
    fake prterun
    alone 5 PMIX_RANK=3 -- -n 4 --host n1.invalid:2,localhost --bind-to core prog x
    arguments_are --bind-to core -n 4 --host n1.invalid:2,localhost prog x
    lines err 1
    err_has '^muster: other machines are named \(n1.invalid\): running prterun --bind-to core -n 4 --host n1.invalid:2,localhost prog x$'
    environment_lacks PMIX_RANK
    environment_has MUSTER_LAUNCHER=muster
    printf 'n%s.invalid slots=2\n' 1 2 3 4 5 6 >hosts
    alone 5 -- --hostfile hosts prog
    arguments_are --hostfile hosts prog
    err_has '^muster: other machines are named \(n1.invalid, n2.invalid, n3.invalid, n4.invalid and 2 more\): running '
    alone 5 MUSTER_LAUNCHER=prterun -- -n 1 prog
    err_has '^muster: running prterun -n 1 prog$'
    # Simulated nodes have their own names.
    alone 0 -- --nodes 2 --host node1:1 sh -c 'echo here'
    lines out 1
    stays_here
    # PRRTE has its own parameters.
    alone 5 -- --prtemca a b --noprefix --host n1.invalid prog
    arguments_are --prtemca a b --noprefix --host n1.invalid prog
    lines err 1
    # In an allocation without srun.
    alone 5 "${allocation[@]}" -- --host n1.invalid prog
    arguments_are --host n1.invalid prog
    ;;
refused)
    fake
    alone 1 -- --host n1.invalid,localhost prog
    err_has '^muster: host n1.invalid: muster starts processes on this machine only; install .*prterun .*, or start muster in an allocation of Slurm$'
    lines err 1
    alone 1 -- --launcher srun prog
    err_has '^muster: --launcher srun: there is no srun in PATH; install '
    alone 1 MUSTER_LAUNCHER=prterun -- prog
    err_has '^muster: --launcher prterun: .* install '
    alone 2 -- --launcher moon prog
    err_has "^muster: --launcher 'moon': valid are auto, muster, srun, prterun$"
    alone 2 MUSTER_LAUNCHER=moon -- prog
    err_has "^muster: MUSTER_LAUNCHER 'moon': valid are auto, muster, srun, prterun$"
    alone 1 -- --hostfile nowhere prog
    err_has "^muster: the file of nodes 'nowhere' cannot be read"
    alone 0 "${allocation[@]}" -- -n 1 sh -c 'echo here'
    err_has '^muster: the Slurm allocation has 3 nodes, and muster uses this machine alone; with srun in PATH muster uses all$'
    lines out 1
    fake srun prterun
    alone 2 "${allocation[@]}" -- --pset a -n 1 prog
    err_has '^muster: --pset: srun has no such option; leave it out: Slurm has no process sets \(--launcher muster keeps the job on this machine\)$'
    lines err 1
    alone 2 "${allocation[@]}" -- -n 1 one : two
    err_has '^muster: with several programs each needs its -n$'
    alone 2 -- --host n1.invalid --report prog
    err_has '^muster: --report: prterun has no such option; leave it out '
    stays_here
    ;;
esac
finish
