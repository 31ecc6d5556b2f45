# SPDX-License-Identifier: MIT
# Boxes over the runs of each point, a panel per facet: median, quartiles, whiskers, and runs as dots. The axis may leave 0,
# because the spread is the subject. Blocks of $data, one per panel and series: x median q1 q3 low high series; of $dots:
# x value place.

FLOATS = 1
BAR = 0.8 / NSERIES
WIDE = (BAR * 0.86 > 0.4 ? 0.4 : BAR * 0.86)
shift(s) = (s - 0.5 * (NSERIES + 1)) * BAR
above(v) = (LOGY && v <= 0 ? NaN : v)
set style fill solid 1.0 border rgb INK
do for [f = 1:NFACET] {
    load FOLDER.'/frame.gp'
    set boxwidth WIDE
    plot for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) \
             using ($1 + shift(s)):(above($3)):(above($5)):(above($6)):(above($4)) \
             with candlesticks lc rgb fill(s) lw 0.8 notitle whiskerbars 0.5, \
         for [p = 1:2] for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
             using ($1 + shift(s) - WIDE / 2):(above($2)):(WIDE):(0) \
             with vectors nohead lc rgb (p == 1 ? 'white' : 'black') lw (p == 1 ? 3 : 1.6) dt solid notitle, \
         for [p = 1:2] for [s = 1:NSERIES] $dots index ((f - 1) * NSERIES + s - 1) \
             using ($1 + shift(s) + 0.3 * WIDE * $3):(above($2)) \
             with points pt (p == 1 ? 7 : 6) ps 0.5 lw 0.6 lc rgb (p == 1 ? fill(s) : 0x222222) notitle, \
         (RELATIVE ? 1 : NaN) with lines lc rgb INK lw 0.8 dt (4, 3) notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0 && NKEYS > 0) {
    plot for [s = 1:NKEYS] -1 with boxes fs solid 1.0 border rgb INK lc rgb fill(s) title SERIES[s]
}
unset multiplot
