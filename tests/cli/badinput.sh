#!/bin/bash
# SPDX-License-Identifier: MIT
# Bad files, options and values: the exit status, exactly the lines that are expected on stderr, nothing
# on stdout, and no output file.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$dir" || exit 1
mkdir in && cd in || exit 1

# refuse NAME STATUS LINES ARGUMENT...: LINES are all of stderr.
refuse() {
    local name=$1 want=$2 lines=$3
    shift 3
    "$TANDEM" "$@" > ../out 2> ../err
    status "$name" "$want" $?
    printf '%s\n' "$lines" > ../want
    same "$name" ../want ../err
    [ ! -s ../out ] || fail "$name: something on stdout: $(head -1 ../out)"
    [ ! -e ../result.json ] || fail "$name: an output file was made"
}

# scenario NAME LINES < text: a scenario that is refused by run and by check.
scenario() {
    cat > s.yaml
    refuse "$1" 2 "$2" run s.yaml --format json -o ../result.json
    refuse "$1, checked" 2 "$2" check s.yaml
}

# -- files --
: > empty.yaml
refuse "empty file" 2 "empty.yaml:1:1: empty, expected YAML text" run empty.yaml -o ../result.json
printf '\001\000\377' > binary.yaml
refuse "binary file" 2 "binary.yaml:1:2: a NUL byte, expected YAML text: not a text file" \
    run binary.yaml -o ../result.json
head -c 100000 "$TANDEM" > elf.yaml
"$TANDEM" run elf.yaml > ../out 2> ../err
status "a program as scenario" 2 $?
[ "$(wc -l < ../err)" -eq 1 ] && [ ! -s ../out ] || fail "a program as scenario: $(head -2 ../err)"
printf '# nothing\n' > comment.yaml
refuse "only a comment" 2 "comment.yaml:1:1: only blanks and comments, expected YAML text" run comment.yaml
printf '[1, 2]\n' > list.yaml
refuse "a list" 2 "list.yaml:1:1: a scenario must be a mapping (key: value)" run list.yaml
printf 'a: b: c\n' > syntax.yaml
refuse "syntax" 2 "syntax.yaml:1:5: not valid YAML: an unexpected ':' (wrong indentation, or a text that needs quotes)" \
    run syntax.yaml
printf 'a: &x [*x]\n' > alias.yaml
refuse "aliases" 2 "alias.yaml:1:4: anchor '&x': anchors and aliases are not supported
alias.yaml:1:8: alias '*x': anchors and aliases are not supported" run alias.yaml
ok "files that are no scenario"

# -- scenarios --
scenario "duplicate key" "s.yaml:3:1: key 'duration' is given twice, first on line 2" << 'END'
machine: uni
duration: 10ms
duration: 20ms
vms: [{name: a, vcpus: 1, workload: cpu-bound}]
END
scenario "unknown key" "s.yaml:1:1: a scenario needs a 'duration'
s.yaml:2:1: unknown key 'durration' in scenario; did you mean 'duration'?
s.yaml:3:17: unknown key 'vcpu' in VM; did you mean 'vcpus'?" << 'END'
machine: uni
durration: 10ms
vms: [{name: a, vcpu: 1, vcpus: 1, workload: cpu-bound}]
END
scenario "no unit" "s.yaml:2:11: 'duration' is '10': a unit is required, one of ns, us, ms, s" << 'END'
machine: uni
duration: 10
vms: [{name: a, vcpus: 1, workload: cpu-bound}]
END
scenario "wrong unit" "s.yaml:2:11: 'duration' is '10m', expected a time such as 10us, 2ms or 1.5s" << 'END'
machine: uni
duration: 10m
vms: [{name: a, vcpus: 1, workload: cpu-bound}]
END
scenario "comma in a time" "s.yaml:2:11: 'duration' is '1,5s': use a point as decimal mark" << 'END'
machine: uni
duration: 1,5s
vms: [{name: a, vcpus: 1, workload: cpu-bound}]
END
scenario "comma in a ratio" "s.yaml:3:19: 'oversubscription' is '1,5': use a point as decimal mark" << 'END'
machine: flat-8
duration: 10ms
oversubscription: 1,5
vms: [{name: a, vcpus: 4, fill: true, workload: cpu-bound}]
END
scenario "negative values" "s.yaml:2:11: 'duration' is '-5ms': a time cannot be negative
s.yaml:3:7: 'seed' is '-1', expected a whole number from 0 to 2^64-1
s.yaml:4:15: 'replications' is '-3', expected a whole number from 1 to 100000
s.yaml:5:24: 'vcpus' is '-1', expected a whole number from 1 to 4096
s.yaml:5:35: 'count' is '-2', expected a whole number from 1 to 1000000" << 'END'
machine: uni
duration: -5ms
seed: -1
replications: -3
vms: [{name: a, vcpus: -1, count: -2, workload: cpu-bound}]
END
scenario "zeros" "s.yaml:2:11: duration must be above 0
s.yaml:3:15: 'replications' is '0', expected a whole number from 1 to 100000
s.yaml:4:24: 'vcpus' is '0', expected a whole number from 1 to 4096
s.yaml:4:34: 'count' is '0', expected a whole number from 1 to 1000000" << 'END'
machine: uni
duration: 0s
replications: 0
vms: [{name: a, vcpus: 0, count: 0, workload: cpu-bound}]
END
scenario "no whole number" "s.yaml:3:24: 'vcpus' is '1.5', expected a whole number from 1 to 4096
s.yaml:3:36: 'count' is '99999999999999999999', expected a whole number from 1 to 1000000" << 'END'
machine: uni
duration: 10ms
vms: [{name: a, vcpus: 1.5, count: 99999999999999999999, workload: cpu-bound}]
END
scenario "a ratio that fits no VM" "s.yaml:3:19: oversubscription 1.3 of 8 pCPUs is no whole number of VMs 'a' of 4 vCPUs; the nearest that fits is 1.5" << 'END'
machine: flat-8
duration: 10ms
oversubscription: 1.3
vms: [{name: a, vcpus: 4, fill: true, workload: cpu-bound}]
END
scenario "unknown policies" "s.yaml:3:19: unknown host scheduler 'eevfd'; did you mean 'eevdf'?
s.yaml:4:54: unknown idle policy 'hltt'; did you mean 'hlt'?
s.yaml:4:76: unknown guest policy 'cps-lod'; did you mean 'cps-load'?" << 'END'
machine: uni
duration: 10ms
host: {scheduler: eevfd}
vms: [{name: a, vcpus: 1, workload: cpu-bound, idle: hltt, guest: {policy: cps-lod}}]
END
scenario "unknown machine and workload" "s.yaml:1:10: unknown machine 'unni'; did you mean 'uni'?
s.yaml:3:37: unknown workload 'cpu-bond'; did you mean 'cpu-bound'?" << 'END'
machine: unni
duration: 10ms
vms: [{name: a, vcpus: 1, workload: cpu-bond}]
END
scenario "warm-up beyond the end" "s.yaml:3:9: the warm-up takes the whole duration: nothing would be measured" << 'END'
machine: uni
duration: 10ms
warmup: 20ms
vms: [{name: a, vcpus: 1, workload: cpu-bound}]
END
scenario "no VM" "s.yaml:3:6: vms is a list of groups of VMs, with at least one" << 'END'
machine: uni
duration: 10ms
vms: []
END
ok "scenarios with impossible values"

# -- overrides and options --
cat > good.yaml << 'END'
machine: uni
duration: 10ms
vms: [{name: a, vcpus: 1, workload: cpu-bound}]
END
# option BEGINNING ARGUMENT...: one line on stderr that begins so.
option() {
    local begins="tandem run: $1"
    shift
    "$TANDEM" run good.yaml "$@" > ../out 2> ../err
    status "run $*" 2 $?
    [ "$(wc -l < ../err)" -eq 1 ] && [ "$(cut -c "1-${#begins}" ../err)" = "$begins" ] ||
        fail "run $*: $(cat ../err)"
    [ ! -s ../out ] || fail "run $*: something on stdout"
}
option "'--reps' is '0', expected a whole number from 1 to" --reps 0
option "'--reps' is '-1', expected a whole number from 1 to" --reps -1
option "'--reps' is '1,5', expected a whole number from 1 to" --reps 1,5
option "'--seed' is 'x', expected a whole number from 0 to" --seed x
option "'--jobs' is '0', expected a whole number from 1 to" -j 0
option "'--format' is 'xml', expected one of: table, json, csv" --format xml
option "unknown option '--repz'; did you mean '--reps'?" --repz 1
option "unknown option '-x'" -x
option "option '-o' needs a value" -o
refuse "two files" 2 "tandem run: one scenario file is wanted, 2 given" run good.yaml good.yaml
refuse "unknown command" 2 "tandem: unknown command 'rum'; did you mean 'run'?" rum good.yaml
refuse "a path that leads nowhere" 2 \
    "command line:1:1: path 'vms.b.idle': 'vms' has no element 'b'; the only name is a" \
    run good.yaml -s vms.b.idle=hlt -o ../result.json
refuse "an override of the wrong kind" 2 "command line:1:1: 'duration' is 'soon', expected a time such as 10us, 2ms or 1.5s" \
    run good.yaml -s duration=soon -o ../result.json
ok "options and overrides"

# -- what cannot be written --
refuse "no such folder" 3 "tandem run: none/result.json: No such file or directory" \
    run good.yaml -o none/result.json
refuse "a folder as output" 3 "tandem run: .: Is a directory" run good.yaml -o .
if [ -w /dev/full ]; then
    refuse "a full disk" 3 "tandem run: /dev/full: No space left on device" run good.yaml -o /dev/full
    "$TANDEM" run good.yaml > /dev/full 2> ../err
    status "a full stdout" 3 $?
else
    skip "full disk: no /dev/full"
fi
ok "outputs that cannot be written"

# -- input that cannot be read, output that breaks off --
for c in run check sweep; do
    refuse "$c of a missing file" 3 "missing.yaml: cannot be opened: No such file or directory" $c missing.yaml
    refuse "$c of a folder" 3 ".: is a directory, expected a YAML file" $c .
done
echo 'base: missing.yaml' > orphan.yaml
refuse "a sweep of a missing file" 2 "orphan.yaml:1:7: 'missing.yaml' cannot be read: No such file or directory" \
    sweep orphan.yaml
echo 'base: good.yaml' > sweep.yaml
echo 'base: sweep.yaml' > nested.yaml
refuse "run of a sweep" 2 "sweep.yaml:1:7: a sweep, not a scenario: 'tandem sweep' runs it, into a store" run sweep.yaml
refuse "sweep of a scenario" 2 \
    "good.yaml:3:6: a scenario, not a sweep: 'tandem run' runs it; a sweep has one as its 'base'" sweep good.yaml
refuse "sweep of a sweep" 2 "nested.yaml:1:7: 'sweep.yaml' is a sweep itself, expected a scenario" sweep nested.yaml
refuse "a store in no folder" 3 "tandem sweep: no/where.db: cannot open: No such file or directory" sweep sweep.yaml -o no/where.db
: > st.db
refuse "a sweep's name in a store's" 2 "tandem sweep: st.db:mine: a sweep within st.db; name the store alone, each is called like its file" sweep sweep.yaml -o st.db:mine
[ ! -e st.db:mine ] || fail "a store st.db:mine was made"
(trap '' XFSZ; ulimit -f 1; "$TANDEM" run good.yaml --format json -o ../part.json) > ../out 2> ../err
status "file too large" 3 $?
[ ! -e ../part.json ] || fail "file too large: a partial output file is left"
ok "unreadable input and broken output"

# -- a result that is there already survives bad input --
echo precious > ../kept.json
"$TANDEM" run empty.yaml -o ../kept.json > ../out 2> ../err
status "bad input over a result" 2 $?
[ "$(cat ../kept.json)" = precious ] || fail "bad input overwrote an older result"
ok "bad input leaves older results alone"
