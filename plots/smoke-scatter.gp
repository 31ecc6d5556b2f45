# SPDX-License-Identifier: MIT
# Simulated against published changes in per cent: on the dashed line both are equal.

load FOLDER.'/facets.gp'
percent(r) = 100 * (r - 1)
# A NaN in a column takes its whole line out: these are told the number of the column.
half(c) = (strcol(c) eq 'NaN' ? 0 : 100 * column(c))
low(y, h) = (h > 0 ? percent(y) - h : NaN) # no interval, no bar
do for [f = 1:NFACET] {
    LOW = XMIN; HIGH = XMAX
    if (CELLS[f] > 0) {
        # Values outside of the ranges of the panel before would not count.
        unset logscale; set autoscale
        stats $data index (f - 1) * NSERIES:f * NSERIES - 1 \
            using (percent($2) - half(3)):(percent($2) + half(3)) nooutput name 'S_'
        LOW = (S_min_x < LOW ? S_min_x : LOW); HIGH = (S_max_y > HIGH ? S_max_y : HIGH)
    }
    PAD = 0.04 * (HIGH - LOW)
    YLABEL[f] = 'simulated change (%)'
    load FOLDER.'/frame.gp'
    set yrange [LOW - PAD:HIGH + PAD]
    plot x with lines lc rgb INK lw 0.8 dt (4, 3) notitle, 0 with lines lc rgb RULE lw 0.8 notitle, \
         for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) \
             using 1:(low($2, half(3))):(0):(2 * half(3)) \
             with vectors heads size screen 0.25 * EMX, 90 lc rgb colour(s) lw 1 dt solid notitle, \
         for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) using 1:(percent($2)) \
             with points pt marker(s) ps 0.8 lc rgb colour(s) notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0 && NKEYS > 0) {
    plot for [s = 1:NKEYS] -1 with points pt marker(s) ps 0.8 lc rgb colour(s) title SERIES[s]
}
unset multiplot
