#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: run_in_tmpdir.sh PROGRAM ARGUMENTS...
# Runs the program with a fresh directory as its last argument; fails when it fails or leaves something in there.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$@" "$dir"
left=$(find "$dir" -mindepth 1)
if [ -n "$left" ]; then
    echo "left behind: $left"
    exit 1
fi
