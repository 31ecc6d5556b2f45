# SPDX-License-Identifier: MIT
# Names of panels that stand for a workload's label ('alone'), or for that and a number of threads: without the axes'.
# Panels of ratios have one scale.

do for [f = 1:NFACET] {
    AT = strstrt(FACET[f], ': ')
    if (AT > 0 && FACET[f][1:8] eq 'workload') {
        TAIL = (strstrt(FACET[f], 'threads:') > 0 ? ' threads' : '')
        FACET[f] = FACET[f][AT + 2:*].TAIL
    }
}
if (RELATIVE && METRICS == 1) {
    TALLEST = YMAX[1]
    do for [f = 1:NFACET] { if (CELLS[f] > 0 && YMAX[f] > TALLEST) { TALLEST = YMAX[f] } }
    do for [f = 1:NFACET] { if (CELLS[f] > 0) { YMAX[f] = TALLEST } }
}
