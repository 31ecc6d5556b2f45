# SPDX-License-Identifier: MIT
# Parts of a whole as stacked bars, a panel per facet. The last series is the whole, with its 95 % interval: what the
# others leave of it is drawn on top of them. Blocks of $data: one per panel and series.

BAR = 0.6
array PART[NSERIES * NX]
upto(s, x) = (s == NSERIES ? PART[(s - 1) * NX + int(x)] : (sum [k = 1:s] PART[(k - 1) * NX + int(x)]))
set style fill solid 1.0 border rgb INK
do for [f = 1:NFACET] {
    set xrange [*:*]; set yrange [*:*] # stats leaves out what is beyond them
    do for [s = 1:NSERIES] {
        do for [i = 1:NX] { PART[(s - 1) * NX + i] = NaN }
        if (CELLS[f] > 0) {
            stats $data index ((f - 1) * NSERIES + s - 1) \
                using (strcol(2) eq 'NaN' ? 0 : (PART[(s - 1) * NX + int($1)] = $2, 0)) nooutput
        }
    }
    load FOLDER.'/frame.gp'
    plot for [s = NSERIES:1:-1] $data index ((f - 1) * NSERIES + s - 1) using 1:(upto(s, $1)):(BAR) \
             with boxes lc rgb fill(s) lw 0.5 notitle, \
         for [p = 1:2] '' index (f * NSERIES - 1) using 1:($2 - $3):(0):(2 * $3) \
             with vectors heads size screen 0.18 * EMX, 90 lc rgb (p == 1 ? 'white' : INK) \
             lw (p == 1 ? 2.4 : 0.8) dt solid notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0 && NKEYS > 0) {
    plot for [s = 1:NKEYS] -1 with boxes fs solid 1.0 border rgb INK lc rgb fill(s) title SERIES[s]
}
unset multiplot
