# SPDX-License-Identifier: BSD-3-Clause
# Completion in bash for muster and the tools. The options are those that the program's own --help lists, so that this file need
# not list them; it lists the words that options take.

# The options of program $1, one a line.
_muster_options() {
    "$1" --help 2>/dev/null | grep -E '^ +-' | sed 's/^ *\([^ ]*\).*/\1/' | tr ',' '\n' | sed 's/[=:[].*//' | sort -u
}

# Process IDs of the musters that run, by their rendezvous files.
_muster_servers() {
    local file pid
    for file in "${TMPDIR:-/tmp}"/pmix.*.tool.muster-*; do
        pid=${file##*-}
        [[ $pid =~ ^[0-9]+$ ]] && kill -0 "$pid" 2>/dev/null && echo "$pid"
    done
}

# The words of $2 that begin with the text after the last comma of $1.
_muster_words() {
    local before=""
    [[ $1 == *,* ]] && before=${1%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$2" -- "${1#"$before"}")
}

_muster_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# The words that option $2 takes, completing $1. False: it takes no known words.
_muster_values() {
    case $2 in
        --map-by) _muster_words "$1" "slot node hwthread core l1cache l2cache l3cache numa package" ;;
        --bind-to) _muster_words "$1" "none hwthread core l1cache l2cache l3cache numa package" ;;
        --output) _muster_words "$1" "tag rank timestamp merge dir= file= nocopy" ;;
        --rank-by) _muster_words "$1" "slot node fill span" ;;
        --launcher) _muster_words "$1" "auto muster srun prterun" ;;
        --stdin) _muster_words "$1" "all none" ;;
        --range) _muster_words "$1" "rm local namespace session global proc_local" ;;
        --color) _muster_words "$1" "auto never always" ;;
        --path) _muster_words "$1" "all prefix bindir libdir" ;;
        --pid | --attach) _muster_words "$1" "$(_muster_servers)" ;;
        --wdir | --wd | --output-filename | --tmpdir | --report-uri) _muster_files "$1" ;;
        *) return 1 ;;
    esac
}

# Whether option $2 of program $1 takes a word.
_muster_takes_word() {
    "$1" --help 2>/dev/null | grep -qE -- "^ +(-[^ ]*,)?$2(,[^ ]*)? [A-Z]"
}

_muster() {
    local command=$1 current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i program=""
    COMPREPLY=()
    if [[ ${COMP_WORDS[1]} =~ ^(ps|top|kill)$ ]] && ((COMP_CWORD > 1)); then
        case ${COMP_WORDS[1]}$current in
            top-*) _muster_words "$current" "--once --json -d --help" ;;
            kill-*) _muster_words "$current" "-s --help" ;;
            ps-*) _muster_words "$current" "--help" ;;
            *) _muster_words "$current" "$(_muster_servers)" ;;
        esac
        return
    fi
    _muster_values "$current" "$previous" && return
    # The words after the program belong to the program.
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
            :) program="" ;;
            -*) [[ -z $program ]] && _muster_takes_word "$command" "${COMP_WORDS[i]}" && ((++i)) ;;
            *) program=${program:-${COMP_WORDS[i]}} ;;
        esac
    done
    if [[ -n $program && $program != serve ]]; then
        _muster_files "$current"
    elif [[ $current == -* ]]; then
        _muster_words "$current" "$(_muster_options "$command")"
    elif [[ $previous != -* ]] || ! _muster_takes_word "$command" "$previous"; then
        compopt -o filenames 2>/dev/null
        local commands=""
        ((COMP_CWORD == 1)) && commands="serve ps top kill"
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current"; compgen -c -- "$current"; compgen -f -- "$current")
    fi
}

_muster_tool() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    _muster_values "$current" "$previous" && return
    [[ $current == -* ]] && _muster_words "$current" "$(_muster_options "$1")"
}

_muster_cc() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local what="command compile link incdirs libdirs libs version help"
    COMPREPLY=()
    # bash treats the colon as a separate word.
    if [[ $current == : && $previous == --showme ]]; then
        _muster_words "" "$what"
    elif [[ $previous == : ]] && ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 2]} == --showme ]]; then
        _muster_words "$current" "$what"
    elif [[ $current == --* ]]; then
        _muster_words "$current" "--showme --showme: --help"
    else
        _muster_files "$current"
    fi
}

complete -F _muster muster
complete -F _muster_tool pps pquery pevent plookup pattrs pmix_info
complete -F _muster_cc pmixcc
