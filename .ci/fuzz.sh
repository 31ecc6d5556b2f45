#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the fuzz targets, each from the shipped files of its kind; the same program tries the same bytes
# again. What it found on the way, and bytes that crash, stay in the build folder. usage: .ci/fuzz.sh BUILD-FOLDER RUNS
set -euo pipefail
build=$1 runs=$2
for program in "$build"/tests/fuzz/fuzz_*; do
    name=${program##*/fuzz_}
    case $name in
    conf) seeds=(configs configs/machines workloads) ;;
    trace) seeds=(traces/samples) ;;
    *) seeds=() ;;
    esac
    corpus=$build/corpus/$name
    rm -rf "$corpus"
    mkdir -p "$corpus"
    "$program" -seed=1 "-runs=$runs" -timeout=10 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=0 \
        "-artifact_prefix=$build/crash-$name-" "$corpus" "${seeds[@]}" > "$build/$name.log" 2>&1 || {
        tail -n 60 "$build/$name.log" >&2
        echo "FAIL fuzz $name: the bytes are in $build/crash-$name-*" >&2
        exit 1
    }
    echo "ok fuzz $name: $(grep -E '^(#|Done)' "$build/$name.log" | tail -n 1)"
done
