# SPDX-License-Identifier: BSD-3-Clause
# Shared by the lines of a world (source it; not a command): the helpers of tests/acceptance/common.sh, with
# the library that the packages have installed, found without LD_LIBRARY_PATH.
#
#   line_init   names the world's folders (TRIPLET, LIBDIR) and sets the environment; ACC_LIB is Muster's library
#   works NAME SECS COMMAND...   passes when the command ends with status 0
#   results SECS COMMAND...   takes the PASS, FAIL and NOTE lines of a script of tests/acceptance as its own
#   SELECTED    the folder of the library that programs find, Muster's or with --openpmix the world's
WORLD=${1:-}
TRIPLET=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
LIBDIR=/usr/lib/$TRIPLET
. "$(dirname "${BASH_SOURCE[0]}")/../acceptance/common.sh"

line_init() {
    # Muster may not be installed yet.
    ACC_LIBDIR=$LIBDIR/muster
    ACC_LIB=$(readlink -f "$ACC_LIBDIR/libpmix.so.2" || true)
    ACC_WORK=$(mktemp -d /tmp/line.XXXXXX)
    chmod 755 "$ACC_WORK"
    export ACC_LIB ACC_LIBDIR TMPDIR=$ACC_WORK/tmp
    mkdir -p "$TMPDIR"
    SELECTED=$(dirname "$(readlink -f "$LIBDIR/muster/selected/libpmix.so.2" || true)")
    trap acc_cleanup EXIT
    trap 'exit 130' INT TERM HUP
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl=self,sm,tcp OMPI_MCA_pml=ob1
    # Jobs that connect to each other do so by TCP, and a world has no other network for sure.
    export OMPI_MCA_btl_tcp_if_include=lo
    export OMPI_MCA_mpi_yield_when_idle=1
}

works() {
    local name=$1 secs=$2
    shift 2
    run "$secs" "$@"
    [ "$RC" -eq 0 ] && pass "$name" || fail "$name" "exit $RC: $(tail -n 4 "$OUT")"
}

results() {
    local secs=$1 text
    shift
    run "$secs" "$@"
    while IFS= read -r text; do
        case $text in
        PASS*) pass "${text#PASS }" ;;
        FAIL*) text=${text#FAIL }; fail "${text%%: *}" "${text#*: }" ;;
        NOTE*) echo "$text" ;;
        esac
    done <"$OUT"
    grep -qE '^[0-9]+ passed, [0-9]+ failed$' "$OUT" || fail ends "$(basename "$1") did not come to its end: $(tail -n 3 "$OUT")"
}

# known WORLD NAME REASON: in that world this check does not pass with OpenPMIx either (run --openpmix shows it). Its failure
# is noted and does not count; that it passes is noted too.
#
# left WORLD NAME REASON: this is a gap of Muster's own, which is known and not closed yet. The same holds for it.
declare -A KNOWN=()
known() { [ "$1" != "$WORLD" ] || KNOWN[$2]="fails as with OpenPMIx: $3"; }
left() { [ "$1" != "$WORLD" ] || KNOWN[$2]="fails, a gap of Muster: $3"; }
fail() {
    if [ -n "${KNOWN[$1]:-}" ]; then
        note "$1 ${KNOWN[$1]}"
        return
    fi
    ACC_FAIL=$((ACC_FAIL + 1))
    printf 'FAIL %s: %s\n' "$1" "$(printf '%s' "${*:2}" | tr '\n' '|' | cut -c1-400)"
}
pass() {
    ACC_PASS=$((ACC_PASS + 1))
    printf 'PASS %s\n' "$1"
    [ -z "${KNOWN[$1]:-}" ] || note "$1 passes: take it from the known ones"
}
