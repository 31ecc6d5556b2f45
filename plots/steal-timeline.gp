# SPDX-License-Identifier: MIT
# The course of a run, averages over steps: panels above each other with one time axis. The blocks of $data are
# those of the VMs and, last, of the machine; COLUMN[f] is the one that panel f shows.

do for [f = 1:NFACET] {
    XLABEL = (f == NFACET ? TIME : '')
    load FOLDER.'/frame.gp'
    set format x (f == NFACET ? '%g' : '')
    if (f == NFACET) {
        plot $data index NSERIES using 1:COLUMN[f] with fsteps lc rgb INK lw 1.6 notitle
    } else {
        plot for [s = 1:NSERIES] $data index (s - 1) using 1:(column(COLUMN[f]) / SCALE[f]) \
                 with fsteps ls s notitle, \
             -1 with lines notitle
    }
    unset label
}
load FOLDER.'/legend.gp'
if (KEY_COLS > 0) {
    plot for [s = 1:NKEYS] -1 with lines ls s title SERIES[s]
}
unset multiplot
