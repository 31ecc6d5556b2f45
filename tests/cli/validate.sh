#!/bin/bash
# SPDX-License-Identifier: MIT
# tandem validate on a sweep of two cells: the exit status says what the scoreboard says, and what is
# wrong with the facts is told with its place.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$dir" || exit 1
cat > sweep.yaml << 'END'
base:
  machine: flat-8
  duration: 300ms
  warmup: 200ms
  vms: [{name: vm, count: 1, vcpus: 4, workload: cpu-bound, guest: {policy: bare}}]
axes:
  vms.vm.vcpus: [4, 16]
  vms.vm.guest.policy: [bare, cps-load]
replications: 2
END
printf '# two cells\nname,vms,cpus,delta,host\nx,1,4,0,8\nx,1,16,-50,8\n' > table.csv
cat > facts.yaml << 'END'
source: nowhere
facts: table.csv
change: delta
metric: throughput_per_s
axes: {vms.vm.vcpus: cpus}
policy: {axis: vms.vm.guest.policy, base: bare, new: cps-load}
group: name
ratio: {sold: [vms, cpus], of: host}
predictors: {null: {below: 0, above: -1}, oracle: group-means}
claims:
  - {claim: small-change, limit: 5, side: below}
END
sed 's/limit: 5, side: below/limit: 2, group: x/; s/small-change/mean/' facts.yaml > failing.yaml

try() { # try NAME WANT ARGUMENT...: stdout to out, stderr to err
    local name=$1 want=$2
    shift 2
    "$TANDEM" validate "$@" > out 2> err
    status "$name" "$want" $?
}

"$TANDEM" sweep sweep.yaml -o two.db --quiet 2> err || fail "sweep: $(cat err)"
try "claims that hold" 0 --facts facts.yaml two.db
grep -q '^held  *predicted  *all up to ratio 1: every change within 5 %  *1 of 1 cells' out || fail "$(cat out)"
grep -q '^simulated  two.db, 2 cells: change of throughput_per_s, cps-load over bare, 2 paired runs each' out ||
    fail "$(cat out)"
try "a claim that fails" 1 --facts failing.yaml two.db
grep -q '^FAILED .*published -50.00 %' out || fail "$(cat out)"
ok "the exit status is that of the claims"

# Without the cells a claim cannot hold.
"$TANDEM" sweep sweep.yaml --filter vcpus=4 -o half.db > out 2> err || fail "sweep: $(cat err)"
[ "$(grep -c '^4  ' out)" = 2 ] && ! grep -q '^16 ' out || fail "a part of a sweep: $(cat out)"
try "missing cells" 1 --facts failing.yaml half.db
grep -q '^incomplete .*1 of 1 cells missing' out || fail "$(cat out)"
ok "missing cells"

# Part by part is the same as at once; what does not exist is not run.
"$TANDEM" sweep sweep.yaml --filter vcpus=16 --filter policy=bare --filter vcpus=4 -o half.db --quiet
"$TANDEM" sweep sweep.yaml -o half.db --quiet
"$TANDEM" export half.db > half.csv
"$TANDEM" export two.db > two.csv
same "a sweep in parts" half.csv two.csv
for wrong in 'vcpus=5:the axis vms.vm.vcpus has no value .5.' 'vcpu=4:no axis .vcpu.; the sweep has vms.vm.vcpus' \
    'vcpus:expected PATH=VALUE'; do
    "$TANDEM" sweep sweep.yaml --filter "${wrong%%:*}" -o none.db > out 2> err
    status "--filter ${wrong%%:*}" 2 $?
    grep -q "${wrong#*:}" err || fail "--filter ${wrong%%:*}: $(cat err)"
    [ ! -e none.db ] || fail "--filter ${wrong%%:*} made a store"
done
ok "parts of a sweep"

for format in table json csv; do
    try "$format" 0 --facts facts.yaml two.db --format $format --cells
    mv out first
    try "$format again" 0 --facts facts.yaml two.db --format $format --cells
    same "$format" first out
    ! grep -qi 'nan' out || fail "$format: $(grep -i nan out | head -1)"
done
head -1 out | grep -qx 'cpus,ratio,published_percent,simulated_percent,ci95,n' || fail "csv: $(head -1 out)"
ok "formats"

sed -i 's/delta/dleta/' facts.yaml
try "an unknown column" 2 --facts facts.yaml two.db
grep -qx "facts.yaml:3:9: unknown column 'dleta'; did you mean 'delta'?" err || fail "$(cat err)"
printf 'x,2\n' >> table.csv
try "a broken table" 2 --facts failing.yaml two.db
grep -qx "table.csv:5:1: 2 fields, expected 5 as in the line of names" err || fail "$(cat err)"
try "an unknown name" 2 --facts smoke-x68 two.db
grep -q "did you mean 'smoke-x86'" err || fail "$(cat err)"
try "no such file" 3 --facts nowhere.yaml two.db
try "no such store" 3 --facts smoke-x86 nowhere.db
try "a store of something else" 2 --facts smoke-x86 two.db
[ ! -s out ] && [ -s err ] || fail "a store of something else: $(cat out)"
ok "messages"
