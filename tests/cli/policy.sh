#!/bin/bash
# SPDX-License-Identifier: MIT
# Policies from shared objects, built outside of the tree: they do what the same source does inside of it,
# their builds are told apart, and what does not fit is refused with the reason.
. "$(dirname "$0")/common.inc"

cd "$dir" || exit 1
cc=${CC:-gcc}
build() { # SOURCE OUT [FLAG]...
    local source=$1 out=$2
    shift 2
    mkdir -p "$(dirname "$out")"
    "$cc" -std=c11 -O1 -shared -fPIC -Wall -Wextra -Werror -I "$root/sim" "$@" "$source" -o "$out" ||
        fail "cannot compile $source"
}
refused() { # NAME STATUS TEXT OBJECT
    "$TANDEM" run scenario.yaml --policy "$4" > out 2> err
    status "$1" "$2" $?
    grep -qF -- "$3" err || fail "$1: $(cat err)"
    [ ! -s out ] || fail "$1: wrote a result"
}
cat > scenario.yaml << 'END'
machine: flat-8
duration: 60ms
warmup: 20ms
replications: 2
vms:
  - {name: a, vcpus: 8, workload: phase-200us, guest: {policy: cps-load}}
  - {name: b, vcpus: 4, workload: cpu-bound, role: background}
END

# cps-load under another name, outside of the tree.
sed 's/guest_policy_cps_load/guest_policy_mine/; s/"cps-load"/"mine"/; s/"cps_load\.h"/"'"${root//\//\\/}"'\/models\/guest\/cps_load.h"/' \
    "$root/models/guest/cps_load.c" > mine.c
build mine.c mine.so
fingerprints() { grep -o '"fingerprint": "[0-9a-f]*"' "$1"; }
"$TANDEM" run scenario.yaml -f json -o inside.json || fail "inside"
"$TANDEM" run scenario.yaml -f json -o outside.json --policy mine.so -s vms.a.guest.policy=mine || fail "outside"
"$TANDEM" run scenario.yaml -f json -o jobs.json --policy ./mine.so -s vms.a.guest.policy=mine -j 2 || fail "outside -j 2"
[ "$(fingerprints inside.json | wc -l)" -ge 2 ] || fail "no fingerprints in the result"
[ "$(fingerprints inside.json)" = "$(fingerprints outside.json)" ] ||
    fail "the same policy runs differently from a shared object"
same "any number of processes" outside.json jobs.json
grep -q '"policy": "[0-9a-f]\{32\}"' outside.json || fail "the manifest does not tell the loaded policy"
! grep -q '^    "policy"' inside.json || fail "the manifest tells a policy that was not loaded"
ok "a shared object runs as the same source in the tree"

"$TANDEM" list policies --policy ./mine.so | grep -q '^  mine ' || fail "list does not show it"
sed 's/policy: cps-load/policy: mine/' scenario.yaml > mine.yaml
"$TANDEM" check mine.yaml --policy ./mine.so > out || fail "check does not know it"
"$TANDEM" check mine.yaml > out 2> err
status "without --policy" 2 $?
grep -q "mine.yaml:.*'mine'" err || fail "an unknown policy: $(cat err)"
ok "list and check know it"

# A sweep: finished runs are kept for this build, and another build is run again.
cat > sweep.yaml << 'END'
base: mine.yaml
axes: {vms.b.vcpus: [2, 4]}
END
runs() { "$TANDEM" export s.db | tail -n +2 | wc -l; }
"$TANDEM" sweep sweep.yaml --policy ./mine.so -o s.db -q -j 2 || fail "sweep"
first=$(runs)
"$TANDEM" sweep sweep.yaml --policy ./mine.so -o s.db -q || fail "sweep again"
[ "$(runs)" = "$first" ] || fail "the same build was run again"
build mine.c other/mine.so -DOTHER -g
cmp -s mine.so other/mine.so && fail "two builds are the same file"
"$TANDEM" sweep sweep.yaml --policy other/mine.so -o s.db -q || fail "sweep of another build"
[ "$(runs)" = $((2 * first)) ] || fail "another build was not run: $(runs) rows, before $first"
ok "builds are told apart in a store"

# Several: whatever the order.
sed 's/guest_policy_mine/guest_policy_second/; s/"mine"/"second"/' mine.c > second.c
build second.c second.so
"$TANDEM" run mine.yaml -f json -o one.json --policy mine.so --policy second.so &&
    "$TANDEM" run mine.yaml -f json -o two.json --policy second.so --policy mine.so || fail "two policies"
same "the order of policies" one.json two.json
grep -h '"policy": "' one.json > a
grep -h '"policy": "' outside.json > b
cmp -s a b && fail "a second policy leaves no mark"
ok "several policies, in any order"

# What does not fit.
sed 's/TANDEM_POLICY_ABI/99/' mine.c > old.c
build old.c abi/mine.so
refused "another version of the contract" 2 "built for contract version 99, this is version" abi/mine.so
build mine.c named/yours.so
refused "a file of another name" 2 "exports none of host_policy_yours, guest_policy_yours" named/yours.so
sed 's/guest_policy_mine/guest_policy_taken/; s/"mine"/"bare"/' mine.c > taken.c
build taken.c taken.so
refused "a name that is taken" 2 "another policy has this name" taken.so
sed 's/\.summary = .*/.summary = "",/' mine.c > dumb.c
sed -i 's/guest_policy_mine/guest_policy_dumb/' dumb.c
build dumb.c dumb.so
refused "no summary" 2 "it has no summary" dumb.so
{
    cat mine.c
    echo 'int not_there(void); int guest_policy_call(void); int guest_policy_call(void) { return not_there(); }'
} > call.c
build call.c call.so
refused "a call that is not there" 2 "undefined symbol: not_there" call.so
echo text > text.so
refused "no shared object" 2 "text.so: cannot be loaded" text.so
refused "no file" 3 "none.so: cannot be read: No such file" none.so
refused "a folder" 3 "$dir: cannot be read: Is a directory" "$dir"
refused "a device" 3 "/dev/full: cannot be read: Invalid argument" /dev/full
"$TANDEM" run scenario.yaml --policy mine.so --policy ./mine.so > out 2> err
status "the same one twice" 2 $?
ok "what does not fit is refused"

# A bug in a loaded policy ends with the report of a bug in any: when, who, which run.
buggy() { # NAME BODY
    sed "s/guest_policy_mine/guest_policy_$1/; s/\"mine\"/\"$1\"/; s/\.select = cps_load_place/.select = fall/" mine.c |
        sed "/^const struct guest_ops/i static int fall(struct guest *k, struct task *t, int prev, int waker, unsigned flags)\n{\n    (void)k; (void)t; (void)waker; (void)flags; (void)prev;\n    $2\n}\n" > "$1.c"
    build "$1.c" "$1.so"
    "$TANDEM" run scenario.yaml --policy "./$1.so" -s vms.a.guest.policy="$1" > out 2> err
    status "$1" 70 $?
    for word in 'seed  ' 'time  ' 'replication  ' 'hash  '; do
        grep -qi -- "$word" err || fail "$1: the report has no '$word': $(cat err)"
    done
    [ ! -s out ] || fail "$1: wrote a result"
}
buggy far 'return prev + 1000;'
buggy fault 'return *(volatile int *)0;'
ok "a bug in it is reported"

# The example of configs/ci-example, with an installed Tandem's headers alone.
build "$root/configs/ci-example/low_first.c" low_first.so
"$TANDEM" run "$root/configs/ci-example/gate.yaml" --policy ./low_first.so --reps 1 > out || fail "the example"
ok "the example compiles and runs"
