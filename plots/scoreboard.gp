# SPDX-License-Identifier: MIT
# A scoreboard: panels of means and errors per group as bars, from 0 up or down; the claims below are labels that the
# script has set. Blocks of $data: one per panel and series, lines `x value`.

BAR = 0.8 / 3
FLOATS = 1
# Panels of means have the first two series, those of errors the others.
slot(f, s) = (f <= 2 ? (s - 1.5) : (s - 3)) * BAR
set style fill solid 1.0 border rgb INK
do for [f = 1:NFACET] {
    load FOLDER.'/frame.gp'
    set border 3
    plot for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) \
             using ($1 + slot(f, s)):2:(BAR * 0.92) with boxes lc rgb fill(s) lw 0.5 notitle, \
         0 with lines lc rgb INK lw 0.8 notitle
    unset label
}
load FOLDER.'/legend.gp'
plot for [s = 1:NKEYS] -1 with boxes fs solid 1.0 border rgb INK lc rgb fill(s) title SERIES[s]
unset multiplot
