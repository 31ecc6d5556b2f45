# SPDX-License-Identifier: MIT
# Changes in per cent by vCPUs sold per pCPU, a panel per benchmark, a colour per number of VMs. Places of equal ratio stand
# beside each other, a published value right of the simulated one, hollow. Blocks of $data: one per panel and series, the fifth
# column the published change. Panels have scales of their own, of at least 10 per cent.

load FOLDER.'/facets.gp'
do for [s = 1:NKEYS] { SERIES[s] = SERIES_TEXT[s].(SLABEL eq 'count' ? ' VMs' : '') }
percent(r) = 100 * (r - 1)
# A NaN in a column takes its whole line out: these are told the number of the column.
half(c) = (strcol(c) eq 'NaN' ? 0 : 100 * column(c))
low(y, h) = (h > 0 ? percent(y) - h : NaN) # no interval, no bar
beside(x, s) = x * 1.035 ** (s - 0.5 * (NSERIES + 1))
XMIN = XMIN / 1.1; XMAX = XMAX * 1.1
do for [f = 1:NFACET] {
    FIRST = (f - 1) * NSERIES; LAST = f * NSERIES - 1
    LOW = -5; HIGH = 5
    if (CELLS[f] > 0) {
        # Values outside of the ranges of the panel before would not count.
        unset logscale; set autoscale
        stats $data index FIRST:LAST using (percent($2) - half(3)):(percent($2) + half(3)) nooutput name 'S_'
        stats $data index FIRST:LAST using (strcol(5) eq 'NaN' ? 0 : $5) nooutput name 'P_'
        LOW = (S_min_x < LOW ? S_min_x : LOW); LOW = (P_min < LOW ? P_min : LOW)
        HIGH = (S_max_y > HIGH ? S_max_y : HIGH); HIGH = (P_max > HIGH ? P_max : HIGH)
    }
    PAD = 0.06 * (HIGH - LOW)
    YLABEL[f] = 'change of operations (%)'
    load FOLDER.'/frame.gp'
    set yrange [LOW - PAD:HIGH + PAD]
    set arrow 2 from 1, graph 0 to 1, graph 1 nohead back lc rgb GREY lw 0.8 dt (2, 4)
    plot 0 with lines lc rgb INK lw 0.8 notitle, \
         for [s = 1:NSERIES] $data index (FIRST + s - 1) using (beside($1, s) * 1.008):5 \
             with points pt hollow(s) ps 0.9 lw 1.3 lc rgb colour(s) notitle, \
         for [s = 1:NSERIES] '' index (FIRST + s - 1) \
             using (beside($1, s) / 1.008):(low($2, half(3))):(0):(2 * half(3)) \
             with vectors heads size screen 0.25 * EMX, 90 lc rgb colour(s) lw 1 dt solid notitle, \
         for [s = 1:NSERIES] '' index (FIRST + s - 1) using (beside($1, s) / 1.008):(percent($2)) \
             with points pt marker(s) ps 0.9 lc rgb colour(s) notitle
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0) {
    plot for [s = 1:NKEYS] -1 with points pt marker(s) ps 0.9 lc rgb colour(s) title SERIES[s], \
         -1 with points pt 6 ps 0.9 lw 1.3 lc rgb 'black' title MARK_KEY
}
unset multiplot
