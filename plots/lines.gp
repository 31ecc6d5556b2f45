# SPDX-License-Identifier: MIT
# Lines with 95 % intervals, a panel per facet. Blocks of $data: one per panel and series.

do for [f = 1:NFACET] {
    load FOLDER.'/frame.gp'
    plot for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) \
             using 1:($2 - $3):(0):(2 * $3) \
             with vectors heads size screen 0.25 * EMX, 90 lc rgb colour(s) lw 1 dt solid notitle, \
         for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) using 1:2 \
             with linespoints ls s notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0) { plot for [s = 1:NSERIES] -1 with linespoints ls s title SERIES[s] }
unset multiplot
