#!/bin/sh
# SPDX-License-Identifier: MIT
# Draws plots/gallery/gantt-barrier.svg, in seconds. usage: gantt-barrier.sh [PICTURE]; the program is $TANDEM, or
# build/tandem of this source.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
tandem=${TANDEM:-$root/build/tandem}
picture=${1:-$root/plots/gallery/gantt-barrier.svg}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for policy in bare cps-load; do
    "$tandem" run "$root/configs/gantt-barrier.yaml" --reps 1 -s vms.barriers.guest.policy=$policy \
        --gantt "$work/$policy.csv" --window 1s:1018ms -o /dev/null
done
"$tandem" plot gantt "$work/bare.csv" "$work/cps-load.csv" --filter vm=barriers -o "$picture"
