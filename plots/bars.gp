# SPDX-License-Identifier: MIT
# Grouped bars with 95 % intervals, a panel per facet. Blocks of $data: one per panel and series.

BAR = 0.8 / NSERIES
REF_SHIFT = BAR
shift(s) = (s - 0.5 * (NSERIES + 1)) * BAR
# Intervals have a white edge, to be seen on dark bars.
# On a logarithmic axis an interval ends at the bottom, and a 0 is written there.
low(y, h) = (LOGY && y - h < YLOW ? YLOW : y - h)
set style fill solid 1.0 border rgb INK
do for [f = 1:NFACET] {
    load FOLDER.'/frame.gp'
    plot for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) \
             using ($1 + shift(s)):(LOGY && $2 <= 0 ? NaN : $2):(BAR * 0.92) \
             with boxes lc rgb fill(s) lw 0.5 notitle, \
         for [p = 1:2] for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
             using ($1 + shift(s)):(low($2, $3)):(0):($2 + $3 - low($2, $3)) \
             with vectors heads size screen 0.18 * EMX, 90 lc rgb (p == 1 ? 'white' : INK) \
             lw (p == 1 ? 2.4 : 0.8) dt solid notitle, \
         for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
             using ($1 + shift(s)):(LOGY && $2 == 0 ? YLOW * 1.0001 : NaN):('0') \
             with labels offset 0, 0.7 tc rgb INK notitle, \
         (RELATIVE ? 1 : -1) with lines lc rgb INK lw 0.8 dt (4, 3) notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0 && NKEYS + MARKED + BANDED > 0) {
    plot for [s = 1:NKEYS] -1 with boxes fs solid 1.0 border rgb INK lc rgb fill(s) title SERIES[s], \
         for [i = 1:MARKED] -1 with points pt 12 ps 1.1 lw 1.2 lc rgb 'black' title MARK_KEY, \
         for [i = 1:BANDED] -1 with boxes fs solid 1.0 noborder lc rgb BAND title BAND_KEY
}
unset multiplot
