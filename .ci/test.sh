#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs what `make test` built: the scripts tests/KIND/*.sh, then the Criterion program. What was skipped
# is told before Criterion's own summary, which is the last line.
#
# usage: .ci/test.sh BUILD-FOLDER TEST-PROGRAM KIND...
# environment: T     only tests whose SUITE/NAME (for scripts KIND/NAME) matches this pattern
#              SAN=1 reports of the sanitizers fail the run: Criterion alone would let a leak pass
set -uo pipefail
shopt -s extglob lastpipe # the last part of a pipe runs here and may set variables
build=$1 program=$2
shift 2
only=${T:-}
san=${SAN:-0}
jobs=$(nproc 2> /dev/null || echo 2)
report=$build/tests/report.xml
reports=$PWD/$build/san
[ "${build#/}" = "$build" ] || reports=$build/san

# A test that runs make wants its own build, not the flags of this one.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL B CC CFLAGS LDFLAGS OPT SAN T V WERROR KINDS
export TANDEM=$build/tandem
rm -rf "$reports"
if [ "$san" = 1 ]; then
    mkdir -p "$reports"
    export ASAN_OPTIONS="log_path=$reports/log:${ASAN_OPTIONS:-}"
    export LSAN_OPTIONS="exitcode=0:${LSAN_OPTIONS:-}" # leaks are judged by their reports, below
    export UBSAN_OPTIONS="log_path=$reports/log:print_stacktrace=1:${UBSAN_OPTIONS:-}"
fi

failed=0 ran=0 skipped=()

# One script, in half an hour at most. Its "skip" lines are counted.
run_script() { # FILE KIND/NAME
    local line status
    timeout --foreground 1800 bash "$1" 2>&1 < /dev/null | while IFS= read -r line; do
        case $line in
        'skip '*) skipped+=("${line#skip }") ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
    status=${PIPESTATUS[0]}
    [ "$status" = 0 ] && return
    echo "FAIL $2 (exit status $status)"
    failed=1
}

for kind; do
    for script in tests/"$kind"/*.sh; do
        [ -e "$script" ] || continue
        name=$kind/$(basename "$script" .sh)
        # shellcheck disable=SC2053 # a pattern
        [[ -z $only || $name == $only ]] || continue
        ran=$((ran + 1))
        run_script "$script" "$name"
    done
done

# Criterion's lines as they come, its summary kept for the end.
summary=
rm -f "$report"
# A locale with decimal commas, without touching the system's.
locales=$build/tests/locale
[ -e "$locales/de_DE.UTF-8" ] || {
    mkdir -p "$locales"
    localedef -i de_DE -f UTF-8 "$locales/de_DE.UTF-8" > "$locales/log" 2>&1
}
LC_ALL=C LOCPATH=$(cd "$locales" && pwd) timeout --foreground 3600 "$program" "-j$jobs" "--xml=$report" ${only:+--filter "$only"} 2>&1 < /dev/null |
    while IFS= read -r line; do
        case $line in
        '[====] Synthesis:'*) summary=$line ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
[ "${PIPESTATUS[0]}" = 0 ] || failed=1

suite=
[ ! -e "$report" ] || while IFS= read -r line; do
    case $line in
    *'<testsuite name="'*) suite=${line#*name=\"} suite=${suite%%\"*} ;;
    *'<testcase name="'*'status="SKIPPED"'*)
        name=${line#*name=\"}
        name=$suite/${name%%\"*}
        # What the pattern left out bears the same word.
        # shellcheck disable=SC2053
        [[ -n $only && $name != $only ]] || skipped+=("$name")
        ;;
    esac
done < "$report"

# Criterion itself loses a few bytes when two of its workers end at once: a leak in which no frame but its own
# has a part is none of ours.
is_foreign() { # LOG
    grep -q 'LeakSanitizer: detected' "$1" &&
        ! grep -E '^ +#[0-9]+ ' "$1" | grep -qvE 'libsanitizer/|/libcriterion\.'
}

if [ "$san" = 1 ]; then
    for log in "$reports"/log.*; do
        [ -e "$log" ] || continue
        is_foreign "$log" && continue
        failed=1
        echo "FAIL sanitizer: $log"
        head -n 30 "$log"
    done
fi
case $summary in
*'Tested: 0 |'*) [ $ran -gt 0 ] || { echo "FAIL no test matches '$only'"; failed=1; } ;;
'') failed=1 summary="FAIL the test program ended without a summary" ;;
esac
[ $failed = 0 ] || echo "FAILED, see above"
# A test without its premise (a locale, a privilege, the collection of traces) passes nothing.
echo "scripts: $ran, skipped tests: ${#skipped[@]}, $SECONDS s"
[ ${#skipped[@]} = 0 ] || printf '  skipped %s\n' "${skipped[@]}"
echo "$summary"
exit $failed
