# SPDX-License-Identifier: MIT
# Distributions: steps of the buckets, a panel per facet. Blocks of $data: one per panel and series, lines `x y marker`.

do for [f = 1:NFACET] {
    YMAX[f] = 100
    load FOLDER.'/frame.gp'
    set yrange [0:100]
    if (CELLS[f] > 0) { set ytics 0, 20, 100 }
    plot for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) using 1:2 \
             with steps ls s notitle, \
         for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) using 1:3 \
             with points ls s notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0 && NKEYS + MARKED + BANDED > 0) {
    plot for [s = 1:NKEYS] -1 with linespoints ls s title SERIES[s], \
         for [i = 1:MARKED] -1 with points pt 12 ps 1.1 lw 1.2 lc rgb 'black' title MARK_KEY, \
         for [i = 1:BANDED] -1 with boxes fs solid 1.0 noborder lc rgb BAND title BAND_KEY
}
unset multiplot
