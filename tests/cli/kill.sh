#!/bin/bash
# SPDX-License-Identifier: MIT
# A sweep that is killed carries on where it was: nothing finished is run again, nothing is lost, and the
# store exports the same as that of an undisturbed sweep.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$dir" || exit 1
cat > base.yaml <<'END'
machine: flat-8
duration: 800ms
warmup: 100ms
host: {scheduler: eevdf, tick: 250}
vms:
  - {name: a, vcpus: 8, workload: phase-200us}
  - {name: b, vcpus: 8, role: background, workload: stress}
END
cat > sweep.yaml <<'END'
base: base.yaml
axes:
  vms.a.guest.policy: [bare, cps-load]
  host.scheduler: [eevdf, cfs]
replications: 50
END
runs=200

# Finished runs of a store; 0 while there is none.
count() {
    [ -s "$1" ] || {
        echo 0
        return
    }
    "$TANDEM" export "$1" 2> /dev/null | tail -n +2 | grep -c .
}

# wait_for STORE N PID: until N runs are finished, at most 60 s.
wait_for() {
    for _ in $(seq 1200); do
        [ "$(count "$1")" -ge "$2" ] && return
        kill -0 "$3" 2> /dev/null || fail "the sweep ended before it could be stopped"
        sleep 0.05
    done
    fail "no $2 runs within 60 s"
}

gone() {
    for _ in $(seq 100); do
        kill -0 "$1" 2> /dev/null || return 0
        # A zombie has ended.
        case $(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2> /dev/null) in Z | '') return 0 ;; esac
        sleep 0.05
    done
    return 1
}

start=$(date +%s%N)
"$TANDEM" sweep sweep.yaml -j 2 -o whole.db --quiet > out 2> err
status "undisturbed sweep" 0 $?
took_ms=$((($(date +%s%N) - start) / 1000000))
"$TANDEM" export whole.db > whole.csv
[ "$(count whole.db)" -eq $runs ] || fail "an undisturbed sweep keeps $(count whole.db) of $runs runs"
ok "undisturbed sweep of $runs runs"

# -- kill -9, at ten moments of the sweep --
# The first ones are early, where the store is being made; the others come within a tenth of the time that
# the sweep takes, so that all ten take half of it, more or less.
rows_of() { # sorted rows, up to the fingerprint: a metric that no run has yet has no column
    tail -n +2 | cut -d, -f1-7 | sort
}
RANDOM=${SEED:=$$}
last=0
for round in 1 2 3 4 5 6 7 8 9 10; do
    "$TANDEM" sweep sweep.yaml -j 2 -o killed.db --quiet > out 2> err &
    pid=$!
    if [ $round -le 2 ]; then ms=$((RANDOM % 40)); else ms=$((RANDOM % (took_ms / 10 + 1))); fi
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
    workers=$(cat "/proc/$pid/task/$pid/children" 2> /dev/null)
    kill -9 $pid 2> /dev/null || fail "round $round: the sweep ended before it could be killed (SEED=$SEED)"
    wait $pid 2> /dev/null
    for w in $workers; do
        gone "$w" || fail "worker $w lives on after the sweep was killed (SEED=$SEED)"
    done
    : > now.csv
    [ ! -s killed.db ] || "$TANDEM" export killed.db 2> err | rows_of > now.csv
    # What was there stays as it is, and all of it is right.
    if [ $round -gt 1 ]; then
        [ -z "$(comm -23 before.csv now.csv)" ] || fail "kill $round lost runs (SEED=$SEED)"
    fi
    [ -z "$(rows_of < whole.csv | comm -13 - now.csv)" ] ||
        fail "the killed sweep has rows that an undisturbed one has not (SEED=$SEED)"
    mv now.csv before.csv
    last=$(grep -c . before.csv)
    [ "$last" -lt $runs ] || fail "killed too late: all runs were finished (SEED=$SEED)"
done
[ "$last" -gt 0 ] || fail "nothing was finished in ten sessions (SEED=$SEED)"
ok "ten times kill -9 (SEED=$SEED): $last of $runs runs kept, workers end too"

if command -v sqlite3 > /dev/null; then
    sqlite3 killed.db 'PRAGMA integrity_check' > integrity
    [ "$(cat integrity)" = ok ] || fail "integrity_check: $(head -1 integrity)"
    sqlite3 killed.db 'SELECT key, wall_ms, rowid FROM run ORDER BY key' > rows
    ok "the killed store is sound"
else
    : > rows
    skip "integrity and times of rows: no sqlite3"
fi
before=$(count killed.db)
"$TANDEM" sweep sweep.yaml -j 2 -o killed.db --dry-run > plan 2> err
status "dry run" 0 $?
grep -q "$runs runs, $before of them" plan || fail "the plan does not say that $before runs are there: $(tail -1 plan)"
"$TANDEM" sweep sweep.yaml -j 2 -o killed.db --quiet > out 2> err
status "resumed sweep" 0 $?
[ "$(count killed.db)" -eq $runs ] || fail "resumed: $(count killed.db) of $runs runs"
"$TANDEM" export killed.db > killed.csv
same "export of the resumed sweep" whole.csv killed.csv
for rest in killed.db-*; do
    [ ! -e "$rest" ] || fail "$rest is left after the sweep"
done
"$TANDEM" export whole.db --format json > whole.json
"$TANDEM" export killed.db --format json > killed.json
same "export as JSON" whole.json killed.json
if [ -s rows ]; then
    sqlite3 killed.db 'SELECT key, wall_ms, rowid FROM run ORDER BY key' > rows-now
    [ -z "$(sort rows | comm -23 - <(sort rows-now))" ] || fail "a finished run was run again"
fi
ok "resumed: nothing lost, nothing repeated, the same export"

# -- once more: nothing to do --
cp killed.csv again.csv
"$TANDEM" sweep sweep.yaml -j 2 -o killed.db --quiet > out 2> err
status "a sweep that is done" 0 $?
"$TANDEM" export killed.db > killed.csv
same "a sweep that is done" again.csv killed.csv
ok "a finished sweep runs nothing"

# -- SIGINT and SIGTERM --
"$TANDEM" sweep sweep.yaml -j 2 --replications 10 -o ten.db --quiet > out 2> err
status "40 runs" 0 $?
"$TANDEM" export ten.db > whole.csv
runs=40
set -m # a job of its own: SIGINT is not ignored
for sig in INT TERM; do
    "$TANDEM" sweep sweep.yaml -j 2 --replications 10 -o $sig.db --quiet > out 2> err &
    pid=$!
    wait_for $sig.db 5 $pid
    kill -$sig $pid
    wait $pid
    rc=$?
    case $sig in INT) want=130 ;; *) want=143 ;; esac
    [ $rc -eq $want ] || fail "SIG$sig: exit status $rc, expected $want: $(head -c 300 err)"
    n=$(count $sig.db)
    [ "$n" -ge 5 ] && [ "$n" -lt $runs ] || fail "SIG$sig: $n runs kept"
    "$TANDEM" sweep sweep.yaml -j 2 --replications 10 -o $sig.db --quiet > out 2> err
    status "resumed after SIG$sig" 0 $?
    "$TANDEM" export $sig.db > $sig.csv
    same "resumed after SIG$sig" whole.csv $sig.csv
    ok "SIG$sig gives $want and keeps finished runs"
done
