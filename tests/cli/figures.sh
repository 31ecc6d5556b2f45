#!/bin/bash
# SPDX-License-Identifier: MIT
# Figures from a real sweep: the script that is kept draws the same picture, for LaTeX too; and the three
# of the top page are there, small, and say where they come from.
# shellcheck disable=SC2015
. "$(dirname "$0")/common.inc"

cd "$root" || exit 1
pictures=$(sed -n 's/^!\[[^]]*\](\(.*\))$/\1/p' README.md)
[ "$(echo "$pictures" | wc -l)" = 3 ] || fail "README.md shows: $pictures"
for picture in $pictures; do
    [ "$(wc -c < "$picture")" -lt 100000 ] || fail "$picture has $(wc -c < "$picture") bytes"
    for part in 'schema":"tandem.figure/1"' 'versions":\["' 'seeds":\["' 'scenario":"[0-9a-f]\{32\}"'; do
        grep -q "^<metadata>.*\"$part" "$picture" || fail "$picture does not say where it comes from: $part"
    done
    git check-ignore -q "$picture" && fail "$picture is not committed"
    [ ! -e /usr/bin/xmllint ] || xmllint --noout "$picture" || fail "$picture"
done
ok "the figures of README.md"

cd "$dir" || exit 1
command -v gnuplot > /dev/null || {
    skip "gnuplot is not installed"
    exit 0
}
cat > sweep.yaml << 'END'
base:
  machine: flat-8
  duration: 300ms
  warmup: 200ms
  vms: [{name: vm, vcpus: 4, workload: cpu-bound, guest: {policy: bare}}]
axes:
  vms.vm.vcpus: [2, 4]
  vms.vm.guest.policy: [{label: "a_b^c{d} 5%", value: bare}, {label: "it's \"x\" `id`", value: cps-load}]
replications: 2
END
"$TANDEM" sweep sweep.yaml -o four.db --quiet 2> err || fail "sweep: $(cat err)"
for format in svg tex; do
    "$TANDEM" plot lines four.db --x vcpus -o first.$format --script kept.gp --data kept.csv 2> err ||
        fail "plot: $(cat err)"
    [ $format = tex ] && sed -i '1i OUTPUT = "second.tex"' kept.gp
    gnuplot -d kept.gp > second.svg 2> err || fail "the script: $(cat err)"
done
head -n 1 kept.csv | grep -q '^"vms.vm.guest.policy","vms.vm.vcpus",throughput_per_s,ci95,n$' || fail "$(cat kept.csv)"
"$TANDEM" plot lines four.db --x vcpus -o first.svg --script kept.gp 2> err && gnuplot -d kept.gp > second.svg
sed '/<metadata>/d; s/, Verdana, sans-serif//' first.svg > a
same "a kept script" a second.svg
grep -q '>a_b^c{d} 5%<' first.svg && grep -q ">it's \"x\" \`id\`<" first.svg || fail "$(grep '<text' first.svg)"
[ -s first-inc.pdf ] && [ -s second.pdf ] && grep -qF 'a\_b\textasciicircum{}c\{d\} 5\%' first.tex || fail "first.tex"
ok "a kept script draws the same picture"
