#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command explains itself and shows an example that exists; every kind of list has entries; all
# shipped files are sound.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$root" || exit 1
quiet() { # quiet NAME WANT COMMAND...: stdout to $dir/out, stderr to $dir/err
    local name=$1 want=$2
    shift 2
    "$@" > "$dir/out" 2> "$dir/err"
    status "$name" "$want" $?
}

quiet "--help" 0 "$TANDEM" --help
[ -s "$dir/out" ] && [ ! -s "$dir/err" ] || fail "--help: prints nothing, or on stderr"
commands=$(sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' "$dir/out" | grep -vx tandem)
for wanted in run sweep merge export plot validate trace check list; do
    echo "$commands" | grep -qx $wanted || fail "--help does not name '$wanted'"
done
grep -q '^exit status:' "$dir/out" || fail "--help does not tell the exit statuses"
ok "--help names the commands and exit statuses"

for c in $commands; do
    quiet "$c --help" 0 "$TANDEM" "$c" --help
    [ ! -s "$dir/err" ] || fail "$c --help: $(head -1 "$dir/err")"
    head -1 "$dir/out" | grep -q "^usage: tandem $c" || fail "$c --help does not start with its usage"
    [ "$(awk '{ if (length > n) n = length } END { print n }' "$dir/out")" -le 100 ] ||
        fail "$c --help has lines of more than 100 characters"
    cp "$dir/out" "$dir/long"
    quiet "$c -h" 0 "$TANDEM" "$c" -h
    same "$c -h" "$dir/long" "$dir/out"
done
ok "each command has --help and -h"

# A command without what it needs says so, on stderr alone, and exits with 2.
for c in $commands; do
    quiet "$c without arguments" 2 "$TANDEM" "$c"
    [ ! -s "$dir/out" ] && [ -s "$dir/err" ] || fail "$c without arguments: stdout or no message"
done
quiet "no command" 2 "$TANDEM"
[ ! -s "$dir/out" ] && [ -s "$dir/err" ] || fail "no command: stdout or no message"
ok "missing arguments are told"

quiet "--version" 0 "$TANDEM" --version
grep -Eq '^tandem [0-9]+\.[0-9]+\.[0-9]+ \(.+\)$' "$dir/out" || fail "--version: $(cat "$dir/out")"
ok "--version"

for kind in policies workloads machines metrics figures programs; do
    quiet "list $kind" 0 "$TANDEM" list $kind
    [ "$(wc -l < "$dir/out")" -ge 3 ] && [ ! -s "$dir/err" ] || fail "list $kind prints too little"
done
ok "list of every kind"

for c in $commands; do
    "$TANDEM" "$c" --help | grep -qi "^ *example: tandem $c" || fail "$c --help has no example"
done
example=$("$TANDEM" --help | sed -n 's/^  tandem run/run/p' | head -1)
# shellcheck disable=SC2086
quiet "the example of --help" 0 "$TANDEM" $example --reps 1 -s duration=210ms
ok "examples"

# Each policy, workload and machine in the tree is listed.
"$TANDEM" list policies > "$dir/policies"
for f in models/host/*.c models/guest/*.c models/idle/*.c; do
    name=$(basename "$f" .c | tr _ -)
    grep -q -- "$name" "$dir/policies" || fail "list policies lacks $name of $f"
done
for kind in workloads machines; do
    "$TANDEM" list $kind > "$dir/out"
    [ $kind = workloads ] && folder=workloads || folder=configs/machines
    for f in "$folder"/*.yaml; do
        grep -q -- "$(basename "$f" .yaml)" "$dir/out" || fail "list $kind lacks $f"
    done
done
ok "lists are complete"

quiet "list polices" 2 "$TANDEM" list polices
[ "$(cat "$dir/err")" = "tandem list: cannot list 'polices'; did you mean 'policies'?" ] ||
    fail "list polices: $(cat "$dir/err")"
quiet "list with two kinds" 2 "$TANDEM" list policies machines
ok "unknown kinds are refused with a hint"

for f in configs/*.yaml configs/machines/*.yaml configs/published/*.yaml workloads/*.yaml; do
    quiet "check $f" 0 "$TANDEM" check "$f"
    grep -q "^$f: ." "$dir/out" || fail "check $f does not say what it is: $(cat "$dir/out")"
done
ok "all shipped files pass check"
