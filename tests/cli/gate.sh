#!/bin/bash
# SPDX-License-Identifier: MIT
# The gate of configs/ci-example, copied out of the tree: the policy as it is passes exactly, other seeds
# pass, a broken one is caught; every report says the same; what does not fit is refused.
. "$(dirname "$0")/common.inc"

cp -r "$root/configs/ci-example/." "$dir" && cd "$dir" || exit 1
export TANDEM HEADERS="-I $root/sim" CC=${CC:-gcc}
gate() { # NAME WANT [ARGUMENT]...
    local name=$1 want=$2
    shift 2
    ./gate.sh "$@" > out 2> err
    status "$name" "$want" $?
}

gate "the policy as it was" 0
[ "$(tail -1 out)" = "identical: 7 identical" ] || fail "the committed baseline is not what the policy does now (./gate.sh renew): $(tail -1 out)"
cp baseline.json committed.json
gate "renewing" 0 renew
# The object's hash depends on the compiler.
sed '/^ *"policy": /d' baseline.json > a
sed '/^ *"policy": /d' committed.json > b
same "a renewed baseline" a b
[ "$(wc -c < baseline.json)" -le 20000 ] || fail "the baseline has $(wc -c < baseline.json) bytes"
ok "an unchanged policy is recognised by its fingerprints"

# Eight other samples of the same: none is worse.
for seed in 101 102 103 104 105 106 107 108; do
    gate "seed $seed" 0 --seed $seed --reps 10
    grep -q '^identical' out && fail "seed $seed gives the same runs"
done
ok "a mere reseed passes"

# cps-load under the name of the policy, built out of the tree, gets a baseline; then its test is inverted.
cp low_first.c good.c
sed 's/guest_policy_cps_load/guest_policy_low_first/; s/"cps-load"/"low-first"/; s/"cps_load\.h"/"rule.h"/' \
    "$root/models/guest/cps_load.c" > low_first.c
cp "$root/models/guest/cps_load.h" rule.h
gate "a baseline for cps-load" 0 renew
gate "cps-load as it is" 0
sed 's/== DEGREE_LOW/!= DEGREE_LOW/' "$root/models/guest/cps_load.h" > rule.h
cmp -s "$root/models/guest/cps_load.h" rule.h && fail "nothing was inverted"
gate "a broken policy" 1 --annotate --format table
for metric in throughput_per_s latency_p99_us; do
    grep -q "^$metric .* worse by" out || fail "$metric is not worse: $(cat out)"
    grep -q "^::error title=$metric::worse by" out || fail "no annotation of $metric"
    grep -A1 "name=\"$metric\"" gate.xml | grep -q '<failure type="worse" message="worse by' || fail "JUnit passes $metric"
    grep -F "| ${metric//_/\\_} |" gate.md | grep -qF '**worse by' || fail "Markdown passes $metric: $(cat gate.md)"
done
grep -q '^worse: ' out && grep -q '^::error title=tandem compare::worse: ' out && grep -q 'compare: failed' gate.md ||
    fail "the verdicts differ"
xmllint --noout --nonet --schema "$root/tests/cli/data/junit.xsd" gate.xml 2> err || fail "JUnit: $(cat err)"
gate "a broken policy, as JSON" 1 --format json
grep -q '"verdict": "worse"' out && grep -q '"failed": true' out || fail "JSON passes it"
gate "a broken policy, as CSV" 1 --format csv
grep -q '^,latency_p99_us,us,worse,yes,' out || fail "CSV passes it"
gate "a broken policy, quietly" 1 -q
[ ! -s out ] || fail "--quiet prints: $(head -3 out)"
for seed in 201 202 203; do
    gate "a broken policy with seed $seed" 1 --seed $seed --reps 10
done
ok "a broken policy is caught, and every report says so"

# Back to the example's own.
cp good.c low_first.c
cp committed.json baseline.json
sed 's/== DEGREE_LOW/!= DEGREE_LOW/' good.c > low_first.c
gate "the example, broken" 1
cp good.c low_first.c
gate "the example, mended" 0
ok "so is the example's own"

# Undecided passes unless --strict.
gate "too few replications" 0 --seed 5 --reps 2
grep -q '^undecided: ' out && grep -q 'replications instead of 2 would tell' out || fail "two replications decide: $(tail -1 out)"
gate "too few replications, strictly" 1 --seed 5 --reps 2 --strict
grep -q '<failure type="undecided"' gate.xml || fail "JUnit passes what --strict fails"
xmllint --noout --nonet --schema "$root/tests/cli/data/junit.xsd" gate.xml 2> err || fail "JUnit: $(cat err)"
ok "undecided passes, and fails with --strict"

refused() { # NAME TEXT [ARGUMENT]...
    local name=$1 text=$2
    shift 2
    gate "$name" 2 "$@"
    grep -qF -- "$text" err || fail "$name: $(cat err)"
    [ ! -s out ] || fail "$name: prints a table"
}
refused "another scenario" "baseline.json was made of another scenario: host.tick was 250, is 1000. If the change is wanted, make a new one: tandem baseline write baseline.json gate.yaml" -s host.tick=1000
refused "a metric that is not there" "unknown metric 'throughputt'; did you mean 'throughput'?" --metrics throughputt
refused "a margin without its sign" "'--margin' is '2', expected a percentage" --margin 2
refused "a margin of nonsense" "'--margin' is 'two', expected a percentage" --margin two
echo '{"schema": "tandem.baseline/1", "points": []}' > baseline.json
refused "an empty baseline" "damaged: a baseline without points"
echo '{' > baseline.json
refused "no JSON" "baseline.json: neither a result store nor a result file"
echo '{"schema": "tandem.result/1"}' > baseline.json
refused "a result of nothing" "baseline.json: damaged: a point without runs"
rm baseline.json
refused "no baseline" "baseline.json: there is no such base; 'tandem baseline write baseline.json gate.yaml' makes one"
ok "bases that do not fit are refused, each with its own message"

# Output that cannot be written is told, and nothing is left half.
cp committed.json baseline.json
"$TANDEM" compare baseline.json gate.yaml --policy ./low_first.so -o /dev/full > out 2> err
status "a full disk" 3 $?
grep -q '/dev/full: No space left' err || fail "a full disk: $(cat err)"
"$TANDEM" baseline write nowhere/b.json gate.yaml --policy ./low_first.so > out 2> err
status "no folder" 3 $?
ok "outputs that cannot be written are told"

# Two stores, and two sides of one store.
cat > sweep.yaml << 'END'
base: {machine: flat-8, duration: 60ms, warmup: 20ms, vms: [{name: a, vcpus: 8, workload: phase-200us}, {name: b, role: background, vcpus: 4, workload: cpu-bound}]}
axes: {vms.a.guest.policy: [bare, cps-load], vms.b.vcpus: [2, 4]}
replications: 4
END
"$TANDEM" sweep sweep.yaml -q -o a.db -j 2 && "$TANDEM" sweep sweep.yaml -q -o b.db && "$TANDEM" sweep sweep.yaml -q -o c.db --seed 9 ||
    fail "sweep"
"$TANDEM" compare a.db b.db > out || fail "equal stores"
grep -q '^identical: ' out || fail "equal stores are not identical"
"$TANDEM" compare a.db c.db > out || fail "stores of other seeds: $(tail -1 out)"
"$TANDEM" compare a.db --by policy=bare:cps-load > out 2> err
[ $? -le 1 ] || fail "--by: $(cat err)"
grep -q '^warning' out && fail "--by warns of what it asks for"
grep -q '^vcpus=4' out || fail "--by: no labels: $(cat out)"
"$TANDEM" baseline write s.json a.db -q && "$TANDEM" compare s.json b.db > out || fail "a baseline of a store"
grep -q '^identical: ' out || fail "a baseline of a store is not identical to it"
sed 's/^axes: {\(.*\]\), \(vms.*\)}/axes: {\2, \1}/' sweep.yaml > turned.yaml
grep -q '^axes: {vms.b' turned.yaml || fail "the axes are not turned: $(cat turned.yaml)"
"$TANDEM" sweep turned.yaml -q -o t.db && "$TANDEM" compare a.db t.db > out || fail "axes in another order: $(tail -1 out)"
grep -q '^identical: ' out || fail "axes in another order are not identical"
"$TANDEM" sweep sweep.yaml -q -o d.db --filter b.vcpus=2
"$TANDEM" compare a.db d.db > out
status "points that are gone" 1 $?
grep -q 'worse: it has no runs of this point' out || fail "points that are gone: $(cat out)"
"$TANDEM" compare s.json b.db --metrics p99,throughput,p99 --format csv > out
[ "$(grep -c ',throughput_per_s,' out)" -eq 4 ] || fail "a metric named twice: $(cat out)"
sqlite3 a.db "INSERT INTO run SELECT key || 'x', point, seed, replication, '0.0.1', policy, fingerprint, vals, wall_ms FROM run" ||
    fail "sqlite3"
"$TANDEM" baseline write t.json a.db > out 2> err
status "a baseline of two versions" 2 $?
grep -q 'is there more than once' err && [ ! -e t.json ] || fail "a baseline of two versions: $(cat err)"
ok "stores, baselines of stores, and sides of one store"
