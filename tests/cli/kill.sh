#!/bin/bash
# SPDX-License-Identifier: MIT
# A sweep that is killed carries on where it was: nothing finished is run again, nothing is lost, and the
# store exports the same as that of an undisturbed sweep.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$dir" || exit 1
cat > base.yaml <<'END'
machine: flat-8
duration: 4s
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
replications: 10
END
runs=40

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

"$TANDEM" sweep sweep.yaml -j 2 -o whole.db --quiet > out 2> err
status "undisturbed sweep" 0 $?
"$TANDEM" export whole.db > whole.csv
[ "$(count whole.db)" -eq $runs ] || fail "an undisturbed sweep keeps $(count whole.db) of $runs runs"
ok "undisturbed sweep of $runs runs"

# -- kill -9, twice --
for round in 5 15; do
    "$TANDEM" sweep sweep.yaml -j 2 -o killed.db --quiet > out 2> err &
    pid=$!
    wait_for killed.db $round $pid
    workers=$(cat "/proc/$pid/task/$pid/children" 2> /dev/null)
    kill -9 $pid
    wait $pid 2> /dev/null
    for w in $workers; do
        gone "$w" || fail "worker $w lives on after the sweep was killed"
    done
    n=$(count killed.db)
    [ "$n" -ge $round ] || fail "$round runs were finished before the kill, $n after it"
    [ "$n" -lt $runs ] || fail "killed too late: all runs were finished"
    "$TANDEM" export killed.db | tail -n +2 | sort > "after-$round.csv"
    # Every row that was there stays as it is.
    [ -z "$(tail -n +2 whole.csv | sort | comm -13 - "after-$round.csv")" ] ||
        fail "the killed sweep has rows that an undisturbed one has not"
done
[ -z "$(comm -23 after-5.csv after-15.csv)" ] || fail "a second kill lost runs of the first"
ok "kill -9 keeps what was finished, workers end too"

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
set -m # a job of its own: SIGINT is not ignored
for sig in INT TERM; do
    "$TANDEM" sweep sweep.yaml -j 2 -o $sig.db --quiet > out 2> err &
    pid=$!
    wait_for $sig.db 5 $pid
    kill -$sig $pid
    wait $pid
    rc=$?
    case $sig in INT) want=130 ;; *) want=143 ;; esac
    [ $rc -eq $want ] || fail "SIG$sig: exit status $rc, expected $want: $(head -c 300 err)"
    n=$(count $sig.db)
    [ "$n" -ge 5 ] && [ "$n" -lt $runs ] || fail "SIG$sig: $n runs kept"
    "$TANDEM" sweep sweep.yaml -j 2 -o $sig.db --quiet > out 2> err
    status "resumed after SIG$sig" 0 $?
    "$TANDEM" export $sig.db > $sig.csv
    same "resumed after SIG$sig" whole.csv $sig.csv
    ok "SIG$sig gives $want and keeps finished runs"
done
