#!/bin/bash
# SPDX-License-Identifier: MIT
# What a sweep does beside running: plans and their times, more replications, replications until an interval is
# narrow, stores shared by sweeps at the same moment, crashes, a full disk.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$dir" || exit 1
cat > base.yaml <<'END'
machine: flat-8
duration: 300ms
warmup: 50ms
vms:
  - {name: a, vcpus: 2, workload: redis-get}
  - {name: b, vcpus: 8, role: background, workload: stress}
END
cat > first.yaml <<'END'
base: base.yaml
axes:
  vms.a.guest.policy: [bare, idle-bit]
  vms.a.vcpus: {from: 1, to: 3, steps: 3}
except: [{policy: idle-bit, vcpus: 3}]
replications: 3
END
cat > second.yaml <<'END'
base: base.yaml
axes:
  vms.a.guest.policy: [bare, idle-bit]
  host.scheduler: [eevdf, cfs]
replications: 3
END

# sweep STATUS SWEEP ARG...
sweep() {
    local want=$1 name=$2
    shift 2
    "$TANDEM" sweep "$name.yaml" "$@" > out 2> err
    status "sweep of $name $*" "$want" $?
}

# says FILE PATTERN
says() {
    grep -q "$2" "$1" || fail "$1 does not say '$2': $(head -c 600 "$1")"
}

# -- the page about sweep files --
awk '/^```yaml/ { on = 1; next } /^```/ { on = 0 } on' "$root/configs/README.md" > page.yaml
cp "$root/configs/quickstart.yaml" .
sweep 0 page --dry-run
# (5 slices of bare + 2 of cps 3) x 3 pairs - 1, and each with 2 numbers by 2 percentages or none
says out '^100 points, 500 runs, 0 of them in page.db, 500 missing$'
says out '^until the interval of throughput_per_s is within 2 %: at most 5000 runs$'
ok "the example of the page is a sweep"

# -- plans --
sweep 0 first --dry-run -o first.db
[ "$(grep -c '^[0-9]  ' out)" -eq 5 ] || fail "the plan has not 5 points: $(cat out)"
says out '^5 points, 15 runs, 0 of them in first.db, 15 missing$'
says out '^estimated time: 0:0[0-9] with 1 worker, from trials of at most [0-9]* ms at 5 of the points$'
[ ! -e first.db ] || fail "a dry run makes a store"
sweep 0 first --dry-run -o first.db --format csv
[ "$(wc -l < out)" -eq 6 ] && grep -q '^0,.*,[0-9a-f]\{32\},3$' out || fail "the plan as CSV: $(cat out)"
sweep 0 first --dry-run -o first.db --format json
grep -q '"missing": 3}' out || fail "the plan as JSON: $(cat out)"
sweep 0 first --replications 1 -j 2 -o first.db --quiet
[ ! -s out ] && [ ! -s err ] || fail "--quiet is not quiet: $(cat out err)"
"$TANDEM" export first.db | sort > one.csv
sweep 0 first --dry-run -o first.db -j 2
says out '^5 points, 15 runs, 5 of them in first.db, 10 missing$'
says out '^estimated time: [0-9:]* with 2 workers, from the wall times of 5 runs at 5 of the points in first.db$'
ok "plans: points, missing runs, time"

# -- more replications --
sweep 0 first -j 2 -o first.db
"$TANDEM" export first.db > three.csv
[ -z "$(sort three.csv | comm -23 one.csv -)" ] || fail "runs changed when there are more replications"
[ "$(wc -l < three.csv)" -eq 16 ] || fail "$(wc -l < three.csv) lines, not 16"
grep -v '^ *[0-9]* %  [0-9]*/[0-9]*  ' err > rest
[ ! -s rest ] || fail "a log has more than lines of progress: $(cat rest)"
ok "more replications keep the earlier runs"

# -- until --
cat first.yaml - > until.yaml <<'END'
until: {metric: p99, half_width: 1.5%, max: 12}
END
sweep 0 until -j 1 -o u1.db
"$TANDEM" export u1.db > u1.csv
n=$(($(wc -l < u1.csv) - 1))
[ $n -gt 15 ] && [ $n -lt 60 ] || fail "until: $n runs, between 15 and 60 would show that something is decided"
sweep 0 until -j 3 -o u3.db
"$TANDEM" export u3.db > u3.csv
same "until with 1 and 3 workers" u1.csv u3.csv
for k in 1 2; do
    sweep 0 until --shard $k/2 -o "part$k.db" --quiet
done
"$TANDEM" merge parts.db part1.db part2.db || fail "merge"
"$TANDEM" export parts.db > parts.csv
same "until in shards" u1.csv parts.csv
sweep 0 until -o u1.db --dry-run
says out "^5 points, $n runs, $n of them in u1.db, 0 missing$"
sed 's/1.5%/0.01%/; s/max: 12/max: 4/' until.yaml > narrow.yaml
sweep 0 narrow -o narrow.db
says err 'the interval of latency_p99_us is wider than 0.01 % after 4 runs at 5 points'
sed 's/p99/barriers_per_s/' until.yaml > without.yaml
sweep 0 without -o without.db
says err '5 points have no value of barriers_per_s'
[ "$("$TANDEM" export without.db | wc -l)" -eq 16 ] || fail "a metric without values makes more runs than the least"
ok "until: the same $n runs for any workers and shards"

# -- two sweeps, one store --
sweep 0 first -o serial.db --quiet
sweep 0 second -o serial.db --quiet
"$TANDEM" export serial.db > serial.csv
"$TANDEM" sweep first.yaml -j 2 -o both.db --quiet > out1 2> err1 &
one=$!
"$TANDEM" sweep second.yaml -j 2 -o both.db --quiet > out2 2> err2 &
two=$!
wait $one || fail "the first of two sweeps: exit status $?: $(cat err1)"
wait $two || fail "the second of two sweeps: exit status $?: $(cat err2)"
"$TANDEM" export both.db > both.csv
same "two sweeps at once and one after the other" serial.csv both.csv
"$TANDEM" export serial.db:first > alone.csv
same "one of two sweeps and it alone" three.csv alone.csv
"$TANDEM" plot lines serial.db -o x.svg > out 2> err
status "a figure of two sweeps" 2 $?
says err 'several sweeps with different axes; say which: serial.db:first, serial.db:second'
ok "sweeps share a store"

# -- a run that is killed --
sed 's/300ms/20s/' base.yaml > long.yaml
cat > crash.yaml <<'END'
base: long.yaml
axes: {vms.a.vcpus: [1, 2]}
END
"$TANDEM" sweep crash.yaml -j 1 -o crash.db --quiet > out 2> err &
pid=$!
for _ in $(seq 200); do
    worker=$(cat "/proc/$pid/task/$pid/children" 2> /dev/null)
    [ -z "$worker" ] || break
    sleep 0.02
done
if [ -n "$worker" ]; then
    kill -9 $worker
    wait $pid
    status "a sweep with a crash" 4 $?
    says err '1 failed run at point 0 (vms.a.vcpus=1)'
    says err 'ended by signal 9'
    "$TANDEM" export crash.db > crash.csv
    [ "$(grep -c ',137,the worker was ended by signal 9' crash.csv)" -eq 1 ] &&
        [ "$(wc -l < crash.csv)" -eq 3 ] || fail "the failure is not in the export: $(cut -c1-200 crash.csv)"
    sweep 0 crash -j 2 -o crash.db --quiet
    "$TANDEM" export crash.db > crash.csv
    ! grep -q 'signal 9' crash.csv || fail "the failure outlives its repair"
    ok "a crash costs its run, and is tried again"
else
    wait $pid
    skip "a crash: no list of children in /proc"
fi

# -- a full disk --
"$TANDEM" sweep first.yaml -o /dev/full --quiet > out 2> err
status "/dev/full" 3 $?
says err '/dev/full: No space left on device'
mkdir disk
if mount -t tmpfs -o size=2m tandem disk 2> /dev/null; then
    trap 'umount "$dir/disk"; rm -rf "$dir"' EXIT
    sed 's/replications: 3/replications: 30/' second.yaml > fill.yaml
    "$TANDEM" sweep fill.yaml -j 2 -o disk/f.db --quiet > out 2> err
    status "a full disk" 3 $?
    says err 'disk/f.db: no space left on the disk; all finished runs before this one are kept'
    "$TANDEM" export disk/f.db > full.csv || fail "the store of a full disk cannot be read"
    n=$(($(wc -l < full.csv) - 1))
    [ $n -gt 10 ] && [ $n -lt 120 ] || fail "$n runs on a disk of 2 MB"
    mount -o remount,size=20m disk || fail "remount"
    "$TANDEM" sweep fill.yaml -j 2 -o disk/f.db --quiet > out 2> err
    status "with room again" 0 $?
    "$TANDEM" sweep fill.yaml -j 2 -o fill.db --quiet > out 2> err
    "$TANDEM" export disk/f.db > full.csv
    "$TANDEM" export fill.db > fill.csv
    same "after a full disk" fill.csv full.csv
    ok "a full disk keeps its $n runs, and goes on with more room"
else
    skip "a full disk: mounting needs root"
fi
