#!/bin/sh
# SPDX-License-Identifier: MIT
# One table of what an event costs, of the queue alone (bench_hold) and of whole simulations (bench_sim), and
# what a run costs in a sweep (bench_sweep), each beside what it is to be judged by. usage: table.sh
# FOLDER-OF-THE-PROGRAMS
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$1/bench_hold" --csv > "$out"
"$1/bench_sim" >> "$out"
"$1/bench_sweep" >> "$out"
awk -F, '
function row(name, size, events, cost, against, ratio, aim) {
    printf "%-22s %-30s %10s %9s  %-30s %6s  %s\n", name, size, events, cost, against, ratio, aim
}
BEGIN {
    row("benchmark", "size", "events", "ns/event", "against", "ratio", "aim")
}
$1 == "delays" || $1 == "case" {
    next
}
$1 == "exp" || $1 == "mix" {
    delays = $1 == "exp" ? "exponential" : "10 us to 4 ms"
    aim = $1 == "exp" && $2 == 1000
    row("hold", $2 " pending, " delays, "", $3, "4-ary heap: " $5 " ns", $6, aim ? "<= 1.00" : "")
    row("hold and re-arm", $2 " pending, " delays, "", $4, "4-ary heap: " $5 " ns", $7,
        aim ? "<= 1.20" : "")
    next
}
$1 == "sweep" {
    size = $2 " points, 1 worker"
    row("store, pipe, scenario", size, $2, "", sprintf("%.2f ms a run, %s KiB", $3, $7), "", "< 2 ms a run")
    row("resume, nothing to do", size, $2, "", $4 " ms", "", $2 == 10000 ? "< 1000 ms" : "")
    row("memory of the parent", size, $2, "", sprintf("%.1f MB, resume %.1f MB", $5 / 1024, $6 / 1024),
        few ? sprintf("%.2f", $5 / few) : "", few ? "<= 1.50 x 1000" : "")
    few = $5
    next
}
{
    size = $2 " pCPUs, " $3 " vCPUs"
    cost[$1] = $5
    best = "best round " $6 " ns"
    rss[$1] = $7
}
$1 == "barrier" {
    row("barrier story", size, $4, $5, best, "", "< 250 ns/event")
}
$1 == "barrier-4x" {
    row("barrier story, 4x time", size, $4, $5, sprintf("1x: %.1f MB, 4x: %.1f MB", rss["barrier"] / 1024, $7 / 1024),
        sprintf("%.2f", $7 / rss["barrier"]), "memory constant")
}
$1 == "scale-32" {
    row("oversubscribed 1:2", size, $4, $5, best ", " sprintf("%.1f MB", $7 / 1024), "", "")
}
$1 == "scale-4096" {
    row("oversubscribed 1:2", size, $4, $5, best ", " sprintf("%.1f MB", $7 / 1024),
        sprintf("%.2f", $5 / cost["scale-32"]), "<= 3.00 x 32 pCPUs")
}' "$out"
