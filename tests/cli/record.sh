#!/bin/bash
# SPDX-License-Identifier: MIT
# What run writes about the course of a run: whole, the same from every number of processes, and without an
# influence on the result.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$root" || exit 1
scenario=configs/quickstart.yaml
run() { # run NAME WANT OPTION...
    local name=$1 want=$2
    shift 2
    "$TANDEM" run $scenario --reps 2 -f json "$@" > "$dir/out" 2> "$dir/err"
    status "$name" "$want" $?
}

run "plain" 0 -o "$dir/plain.json"
run "both" 0 -o "$dir/both.json" --series "$dir/a.csv" --timeline "$dir/a.json" --series-step 20ms
same "result of a recorded run" "$dir/plain.json" "$dir/both.json"
run "two processes" 0 -j 2 -o "$dir/two.json" --series "$dir/b.csv" --timeline "$dir/b.json" \
    --series-step 20ms
same "series" "$dir/a.csv" "$dir/b.csv"
same "timeline" "$dir/a.json" "$dir/b.json"
run "series alone" 0 -o "$dir/one.json" --series "$dir/c.csv" --series-step 20ms
same "series alone" "$dir/a.csv" "$dir/c.csv"
ok "the same whatever else is written, and by whom"

head -1 "$dir/a.csv" | grep -q '^time_s,vm,preferred_vcpus,' || fail "head of the series"
awk -F, 'NR > 1 && NF != 7 { bad = 1 } NR > 1 && $2 == "" { n++; idle += $7 }
         END { exit bad || n < 2 || idle < 0 }' "$dir/a.csv" || fail "rows of the series"
tail -c 3 "$dir/a.json" | grep -q '^]}$' && grep -q '"name":"busy vCPUs"' "$dir/a.json" ||
    fail "the timeline is not whole"
ok "both are complete"

"$TANDEM" run $scenario -s vms.0.guest.policy=steal-governor -s vms.0.guest.policy.steal-governor.mode=told \
    -s host.quota=10ms -f csv > "$dir/out" 2> "$dir/err" || fail "told: $(cat "$dir/err")"
grep -q '^preferred_vcpus' "$dir/out" || grep -q 'preferred_vcpus' "$dir/out" || fail "no preferred_vcpus"
ok "a host that tells"

run "window" 0 -o "$dir/win.json" --gantt "$dir/g.csv" --timeline "$dir/w.json" --window 1s:1005ms
same "result of a run with a window" "$dir/plain.json" "$dir/win.json"
run "window, two processes" 0 -j 2 -o "$dir/win.json" --gantt "$dir/h.csv" --timeline "$dir/x.json" --window 1s:1005ms
same "spans" "$dir/g.csv" "$dir/h.csv"
same "timeline of a window" "$dir/w.json" "$dir/x.json"
# Every lane is filled, and nothing is outside.
head -1 "$dir/g.csv" | grep -q '^# {"schema":"tandem.gantt/1","from_ns":"1000000000","to_ns":"1005000000"' || fail "first line"
awk -F, '$1 == "pcpu" || $1 == "vcpu" { sum[$1 "," $2 "," ($1 == "vcpu" ? $3 "," $4 : "")] += $9 - $8 }
         NR > 2 && ($8 < 1000000000 || $9 > 1005000000) { bad = 1 }
         END { for (lane in sum) { n++; bad = bad || sum[lane] != 5000000 } exit bad || n != 24 }' "$dir/g.csv" ||
    fail "lanes"
run "open window" 0 -o "$dir/win.json" --gantt "$dir/g.csv" --window 1999ms:
grep -q '"from_ns":"1999000000","to_ns":"2000000000"' "$dir/g.csv" || fail "open window"
run "no folder for spans" 3 -o "$dir/z.json" --timeline "$dir/z.js" --gantt "$dir/none/a.csv"
[ ! -e "$dir/z.json" ] && [ ! -e "$dir/z.js" ] || fail "something is there although the spans could not be written"
for window in 5ms 5ms:4ms :0 1:2 x:y 1s:2.5s 2s:; do
    run "window $window" 2 --gantt "$dir/z.csv" --window $window
    grep -q "'--window' is '$window'" "$dir/err" || fail "message: $(cat "$dir/err")"
done
run "window alone" 2 --window 1ms:2ms
grep -q "'--window' is for --timeline and --gantt" "$dir/err" || fail "message: $(cat "$dir/err")"
[ ! -e "$dir/z.csv" ] || fail "spans were begun"
ok "windows"

run "no such folder" 3 -o "$dir/z.json" --series "$dir/none/a.csv"
[ ! -e "$dir/z.json" ] || fail "a result is there although the series could not be written"
run "short step" 2 --series "$dir/d.csv" --series-step 100ns
grep -q "'--series-step' is '100ns'" "$dir/err" || fail "message: $(cat "$dir/err")"
run "no step" 2 --series "$dir/d.csv" --series-step often
[ ! -e "$dir/d.csv" ] || fail "a series was begun"
ok "refusals"
