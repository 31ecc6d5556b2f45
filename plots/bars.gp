# SPDX-License-Identifier: MIT
# Grouped bars with 95 % intervals, a panel per facet. Blocks of $data: one per panel and series.

BAR = 0.8 / NSERIES
shift(s) = (s - 0.5 * (NSERIES + 1)) * BAR
set style fill solid 1.0 border rgb INK
do for [f = 1:NFACET] {
    load FOLDER.'/frame.gp'
    plot for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) \
             using ($1 + shift(s)):2:(BAR * 0.92) with boxes lc rgb fill(s) lw 0.5 notitle, \
         for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
             using ($1 + shift(s)):($2 - $3):(0):(2 * $3) \
             with vectors heads size screen 0.18 * EMX, 90 lc rgb INK lw 0.8 dt solid notitle, \
         (RELATIVE ? 1 : -1) with lines lc rgb INK lw 0.8 dt (4, 3) notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0) {
    plot for [s = 1:NSERIES] -1 with boxes fs solid 1.0 border rgb INK lc rgb fill(s) title SERIES[s]
}
unset multiplot
