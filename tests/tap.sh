# SPDX-License-Identifier: BSD-3-Clause
# tap.sh - reports the results of a shell harness in TAP 13 (source it; not a command).
#
#   pass NAME              'ok N - NAME'
#   fail NAME REASON...    'not ok N - NAME', the reason as a diagnostic
#   note TEXT...           a diagnostic
#   bail TEXT...           'Bail out!', status 2: the harness cannot run
#   tap_skip_all TEXT...   an empty plan with the reason, status 77 for ctest
#   tap_results FILE       lines 'PASS NAME' and 'FAIL NAME: REASON', as runs side by side leave them
#   tap_end                the plan and the sums; true when a line passed and none failed

TAP_PASSED=0
TAP_FAILED=0
echo "TAP version 13"

pass() {
    TAP_PASSED=$((TAP_PASSED + 1))
    printf 'ok %d - %s\n' $((TAP_PASSED + TAP_FAILED)) "$1"
}
fail() {
    local name=$1
    shift
    TAP_FAILED=$((TAP_FAILED + 1))
    printf 'not ok %d - %s\n' $((TAP_PASSED + TAP_FAILED)) "$name"
    note "$(printf '%s' "$*" | tr '\n' '|' | cut -c1-400)"
}
note() { printf '# %s\n' "$*"; }
bail() {
    printf 'Bail out! %s\n' "$*"
    exit 2
}
tap_skip_all() {
    printf '1..0 # SKIP %s\n' "$*"
    exit 77
}
tap_results() {
    local line
    while IFS= read -r line; do
        case $line in
            PASS*) pass "${line#PASS }" ;;
            FAIL*) line=${line#FAIL }; fail "${line%%: *}" "${line#*: }" ;;
        esac
    done <"$1"
}
tap_end() {
    echo "1..$((TAP_PASSED + TAP_FAILED))"
    note "$TAP_PASSED passed, $TAP_FAILED failed"
    [ "$TAP_FAILED" -eq 0 ] && [ "$TAP_PASSED" -gt 0 ]
}
