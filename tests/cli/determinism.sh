#!/bin/bash
# SPDX-License-Identifier: MIT
# The same seed gives the same bytes: for any number of workers, twice, in a locale with decimal commas,
# with other variants of libm, and from gcc and clang with and without optimisation. The scenario uses
# every distribution. Builds go to build/det-*; DETERMINISM_ALL=1 adds the two left out here.
. "$(dirname "$0")/common.inc"

cd "$dir" || exit 1
printf '# measured, ns\n1000\n2500\n40000\n' > values.txt
cat > all.yaml << 'END'
machine: x86-32
duration: 150ms
warmup: 50ms
seed: 20240501
replications: 3
pool: "0-7"
host: {scheduler: cfs, placement: float, tick: 250, preempted: any-deschedule}
oversubscription: 2
channel: {delay: 5us}
vms:
  - name: all
    fill: true
    vcpus: 4
    pin: "0-7"
    guest: {policy: cps-load}
    idle: {hlt: {poll: 50us}}
    workload:
      objects:
        locks: {m: {kind: sleep, spin: 20us}, s: {kind: spin, kernel: on}}
        barriers: {b: {parties: 4}}
        queues: {q: {capacity: 4}}
        devices: {d: {depth: 2, service: {weibull: {scale: 90us, exponent: 1.5}}}}
      tasks:
        - name: phase
          count: 4
          program:
            - loop:
                count: forever
                body:
                  - run: {amount: {exponential: 70us}, shared: on}
                  - barrier: b
                  - run: {gamma: {shape: 0.5, scale: 40us}}
                  - lock: m
                  - run: {lognormal: {median: 5us, sigma: 1.2}}
                  - unlock: m
                  - mark: {op: x}
        - name: service
          count: 2
          start: {uniform: [0us, 500us]}
          program:
            - loop:
                count: forever
                body:
                  - sleep: {pareto: {min: 20us, exponent: 1.5}}
                  - mark: {open: r}
                  - run: {mixture: [{weight: 0.7, amount: 3us}, {weight: 0.3, amount: {exponential: 30us}}]}
                  - io: d
                  - lock: s
                  - run: {histogram: [[300ns, 5], [1200ns, 3], [5us, 1]], scale: 3/2}
                  - unlock: s
                  - run: {file: values.txt}
                  - mark: {close: r}
                  - send: q
        - name: sink
          program: [{loop: {count: forever, body: [{recv: q}, {run: {lognormal: {mean: 8us, sigma: 0.5}}}]}}]
END

# result NAME PROGRAM OPTION...: SHA-256 of the result file.
result() {
    local name=$1 program=$2
    shift 2
    rm -f result.json
    "$program" run all.yaml --format json -o result.json "$@" > out 2> err
    status "$name" 0 $?
    [ ! -s err ] || fail "$name: $(head -1 err)"
    sha256sum < result.json | cut -d' ' -f1
}

equal() {
    local got
    got=$(result "$@") || exit 1
    [ "$got" = "$want" ] || {
        diff <(tr ',' '\n' < first.json) <(tr ',' '\n' < result.json) | head -10 >&2
        fail "$1: the result differs"
    }
    ok "$1"
}

want=$(result "first run" "$TANDEM") || exit 1
cp result.json first.json
grep -q '"operations"' first.json || fail "the result has no operations"
equal "second run" "$TANDEM"
equal "-j 1" "$TANDEM" -j 1
equal "-j 2" "$TANDEM" -j 2
equal "-j 3" "$TANDEM" -j 3
other=$(result "another seed" "$TANDEM" --seed 7) || exit 1
[ "$other" != "$want" ] || fail "another seed gives the same result"
ok "another seed gives another result"

# with ASSIGNMENT...: a program that runs Tandem in that environment.
with() {
    printf '#!/bin/sh\nexec env %s "%s" "$@"\n' "$*" "$TANDEM" > with
    chmod +x with
    echo "$dir/with"
}

equal "libm without FMA" "$(with GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2_Usable)"

if localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" > /dev/null 2>&1; then
    [ "$(env "LOCPATH=$dir" LC_ALL=de_DE.UTF-8 locale decimal_point 2> /dev/null)" = , ] ||
        fail "the locale that was made has no decimal comma"
    equal "decimal commas" "$(with "LOCPATH=$dir" LC_ALL=de_DE.UTF-8)"
else
    skip "decimal commas: localedef cannot make de_DE.UTF-8"
fi

# built CC OPTIMISATION: the program of that build.
built() {
    local b="$root/build/det-$1$2"
    make -s -C "$root" -j2 CC="$1" OPT="$2" B="$b" "$b/tandem" > make.log 2>&1 || {
        tail -5 make.log >&2
        fail "build with $1 $2"
    }
    echo "$b/tandem"
}

builds="gcc:-O0 clang:-O2"
[ "${DETERMINISM_ALL:-0}" = 0 ] || builds="$builds gcc:-O2 clang:-O0"
for b in $builds; do
    cc=${b%:*} opt=${b#*:}
    command -v "$cc" > /dev/null || {
        skip "$cc $opt: no $cc here"
        continue
    }
    program=$(built "$cc" "$opt") || exit 1
    [ "$("$program" --version)" = "$("$TANDEM" --version)" ] ||
        fail "$TANDEM is of another revision than the source: build it first"
    equal "$cc $opt" "$program"
done
