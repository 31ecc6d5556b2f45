# SPDX-License-Identifier: MIT
# Panels of ratios have one scale.

if (RELATIVE && METRICS == 1) {
    TALLEST = YMAX[1]
    do for [f = 1:NFACET] { if (CELLS[f] > 0 && YMAX[f] > TALLEST) { TALLEST = YMAX[f] } }
    do for [f = 1:NFACET] { if (CELLS[f] > 0) { YMAX[f] = TALLEST } }
}
