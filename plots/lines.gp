# SPDX-License-Identifier: MIT
# Lines with 95 % intervals, a panel per facet. Blocks of $data: one per panel and series.

# On a logarithmic axis an interval ends at the bottom, and a 0 is written there.
low(y, h) = (LOGY && y - h < YLOW ? YLOW : y - h)
do for [f = 1:NFACET] {
    load FOLDER.'/frame.gp'
    plot for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) \
             using (at($1)):(low($2, $3)):(0):($2 + $3 - low($2, $3)) \
             with vectors heads size screen 0.25 * EMX, 90 lc rgb colour(s) lw 1 dt solid notitle, \
         for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
             using (at($1)):(LOGY && $2 <= 0 ? NaN : $2) with linespoints ls s notitle, \
         for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
             using (at($1)):(LOGY && $2 == 0 ? YLOW * 1.0001 : NaN):('0') \
             with labels offset 0, 0.7 tc rgb colour(s) notitle, \
         (RELATIVE ? 1 : -1) with lines lc rgb INK lw 0.8 dt (4, 3) notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0 && NKEYS + MARKED + BANDED > 0) {
    plot for [s = 1:NKEYS] -1 with linespoints ls s title SERIES[s], \
         for [i = 1:MARKED] -1 with points pt 12 ps 1.1 lw 1.2 lc rgb 'black' title MARK_KEY, \
         for [i = 1:BANDED] -1 with boxes fs solid 1.0 noborder lc rgb BAND title BAND_KEY
}
unset multiplot
