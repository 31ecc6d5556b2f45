# SPDX-License-Identifier: MIT
# Ratios to bare close to 1: points with 95 % intervals on an axis that reaches as far around 1 as they need, but 10 % at
# most; what lies beyond stands at the edge with its value. The band is 2 % either way.

if (!RELATIVE) {
    BAND_KEY = ''
    load FOLDER.'/bars.gp'
} else {
    STEP = 0.7 / NSERIES
    shift(s) = (s - 0.5 * (NSERIES + 1)) * STEP
    AWAY = 0.03
    REACH = 0
    do for [f = 1:NFACET] {
        if (CELLS[f] > 0) {
            stats $data index ((f - 1) * NSERIES):(f * NSERIES - 1) \
                using (strcol(2) eq 'NaN' ? 0 : (REACH = 1.1 * (abs($2 - 1) + (strcol(3) eq 'NaN' ? 0 : $3)), \
                       REACH > AWAY ? (AWAY = REACH) : 0, 0)) nooutput
        }
    }
    if (AWAY > 0.1) { AWAY = 0.1 }
    inside(y) = (abs(y - 1) <= AWAY)
    edge(y) = (inside(y) ? NaN : (y > 1 ? 1 + 0.95 * AWAY : 1 - 0.95 * AWAY))
    NBAND = 1
    BAND_LOW[1] = 0.98; BAND_HIGH[1] = 1.02
    do for [f = 1:NFACET] {
        load FOLDER.'/frame.gp'
        set yrange [1 - AWAY:1 + AWAY]
        plot 1 with lines lc rgb INK lw 0.8 dt (4, 3) notitle, \
             for [s = 1:NSERIES] $data index ((f - 1) * NSERIES + s - 1) \
                 using ($1 + shift(s)):(inside($2) ? $2 - $3 : NaN):(0):(2 * $3) \
                 with vectors heads size screen 0.18 * EMX, 90 lc rgb colour(s) lw 1 dt solid notitle, \
             for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
                 using ($1 + shift(s)):(inside($2) ? $2 : NaN) with points ls s notitle, \
             for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
                 using ($1 + shift(s)):(edge($2)) with points ls s notitle, \
             for [s = 1:NSERIES] '' index ((f - 1) * NSERIES + s - 1) \
                 using ($1 + shift(s)):(edge($2)):(gprintf('%.2f', $2)) \
                 with labels right offset -0.8, 0 tc rgb colour(s) notitle
        unset label
    }
    load FOLDER.'/legend.gp'
    if (KEY_COLS > 0 && NKEYS + BANDED > 0) {
        plot for [s = 1:NKEYS] -1 with points ls s title SERIES[s], \
             for [i = 1:BANDED] -1 with boxes fs solid 1.0 noborder lc rgb BAND title BAND_KEY
    }
    unset multiplot
}
