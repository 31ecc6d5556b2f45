#!/bin/bash
# SPDX-License-Identifier: MIT
# The command lines of the top page do what they say: those that need no other command's hour of work, with
# one replication instead of many.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$dir" || exit 1
ln -s "$root/configs" "$root/workloads" "$root/traces" "$root/plots" .
sed -n 's/^build\/tandem \(.*\)/\1/p' "$root/README.md" | sed 's/  *#.*//' |
    grep -v -e '^validate' -e '^baseline' -e '^compare baseline' > lines
[ "$(wc -l < lines)" -ge 7 ] || fail "commands found: $(cat lines)"
while read -r line; do
    case $line in
    run*) line="$line --reps 1" ;;
    sweep*) line="$line --replications 1" ;;
    plot*) command -v gnuplot > /dev/null || continue ;;
    esac
    # shellcheck disable=SC2086 # words of a command line
    "$TANDEM" $line > out 2> err < /dev/null || fail "tandem $line: exit status $?: $(cat err)"
    [ -s out ] || [ -s cps.svg ] || fail "tandem $line: says nothing"
done < lines
ok "command lines of the top page"
