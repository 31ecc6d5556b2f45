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
for wanted in run sweep merge export plot validate trace check list help; do
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
    [ "$c" != help ] || continue # which then tells everything
    quiet "$c without arguments" 2 "$TANDEM" "$c"
    [ ! -s "$dir/out" ] && [ -s "$dir/err" ] || fail "$c without arguments: stdout or no message"
done
quiet "no command" 2 "$TANDEM"
[ ! -s "$dir/out" ] && [ -s "$dir/err" ] || fail "no command: stdout or no message"
ok "missing arguments are told"

# Words of many letters, each an option of its own; the first word of several commands.
letters=$(printf '%4000s' '' | tr ' ' v)
quiet "4000 options in one word" 0 "$TANDEM" list "-$letters" -- metrics
for c in trace baseline; do
    quiet "help $c" 0 "$TANDEM" help $c
    [ ! -s "$dir/err" ] && grep -q "^usage: tandem $c" "$dir/out" || fail "help $c: $(cat "$dir/err")"
done
ok "many options, and help of a group"

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

# The man page and the completions know every command and option that the helps show.
"$TANDEM" help --man > "$dir/man" || fail "help --man"
for shell in bash zsh; do
    "$TANDEM" help --completion $shell > "$dir/$shell" || fail "help --completion $shell"
done
bash -n "$dir/bash" || fail "the completions are no script of bash"
"$TANDEM" --help | sed -n 's/^  \([a-z]*\( [a-z]*\)\{0,1\}\)   *[a-z].*/\1/p' > "$dir/names"
[ "$(wc -l < "$dir/names")" -ge 10 ] || fail "the help names too few commands"
while read -r c; do
    grep -qx "\.SS tandem $c" "$dir/man" || fail "the man page lacks '$c'"
    # shellcheck disable=SC2086 # a command of two words
    "$TANDEM" help $c | sed -n 's/^  .*[ ,]--\([a-z][a-z-]*\).*/\1/p' > "$dir/options"
    grep -qx help "$dir/options" || fail "help $c shows no --help"
    sed -n "/^\.SS tandem $c\$/,/^\.S[SH]/p" "$dir/man" | tail -n +2 | sed 's/\\-/-/g; s/\\f[BRI]//g' > "$dir/section"
    for shell in bash zsh; do
        sed -n "/^    $(echo "$c" | tr ' ' _))/,/^        ;;/p" "$dir/$shell" > "$dir/$shell.part"
    done
    while read -r o; do
        grep -q -- "--$o\b" "$dir/section" || fail "the man page lacks $c --$o"
        for shell in bash zsh; do
            grep -q -- "--$o\b" "$dir/$shell.part" || fail "the completion of $shell lacks $c --$o"
        done
    done < "$dir/options"
done < "$dir/names"
if command -v groff > /dev/null; then
    groff -man -ww -z -Tutf8 "$dir/man" 2> "$dir/err" || fail "groff refuses the man page"
    [ ! -s "$dir/err" ] || fail "the man page: $(head -3 "$dir/err")"
else
    skip "no groff to read the man page"
fi
if command -v zsh > /dev/null; then
    zsh -n "$dir/zsh" || fail "the completions are no script of zsh"
else
    skip "no zsh to read its completions"
fi
ok "the man page and the completions are complete"

# completed WORDS...: what bash offers for the last word.
completed() {
    bash -c 'compopt() { :; }; . "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tandem
        printf "%s\n" "${COMPREPLY[@]}"' - "$dir/bash" tandem "$@" | tr '\n' ' '
}
[ "$(completed sw)" = "sweep " ] || fail "completion of 'sw': $(completed sw)"
[ "$(completed trace i)" = "info import " ] || fail "completion of 'trace i': $(completed trace i)"
[ "$(completed run --time)" = "--timeline " ] || fail "completion of 'run --time'"
[ "$(completed run x.yaml --format j)" = "json " ] || fail "completion of '--format j'"
[ "$(completed list mach)" = "machines " ] || fail "completion of 'list mach'"
[ "$(completed check configs/quick)" = "configs/quickstart.yaml " ] || fail "completion of files"
[ "$(completed run x.yaml --format = j)" = "json " ] ||
    fail "completion of '--format=j': $(completed run x.yaml --format = j)"
touch "$dir/a b.json"
[ "$(completed compare --junit = "$dir/a")" = "$dir/a b.json " ] || fail "completion of a file with a blank: $(completed compare --junit = "$dir/a")"
ok "bash completes commands, options, values and files"

for what in policies workloads machines metrics figures programs; do
    "$TANDEM" list $what --format csv > "$dir/csv" && "$TANDEM" list $what --format json > "$dir/json" ||
        fail "list $what in a format"
    [ "$(wc -l < "$dir/csv")" -eq "$(($(grep -c '^  {' "$dir/json") + 1))" ] ||
        fail "list $what: CSV and JSON differ in length"
done
"$TANDEM" check -f csv configs/demo.yaml workloads/redis.yaml > "$dir/csv" 2> /dev/null
[ "$(head -1 "$dir/csv")" = file,what,faults ] || fail "check -f csv: $(head -1 "$dir/csv")"
ok "lists as CSV and JSON"

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
