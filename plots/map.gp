# SPDX-License-Identifier: MIT
# Heat map: a cell per pair of values, its number in it where there is room; cells without a value stay white. Panels
# of one metric share their scale. Blocks of $data: one per panel and row.

# Even steps of brightness, dark to light, also in grey and with any colour vision.
set palette defined (0 '#00224E', 1 '#35456C', 2 '#666970', 3 '#948E77', 4 '#C8B866', 5 '#FEE838')
set cbtics scale 0.4
unset grid
set border 15 lc rgb INK lw 0.6
ink(v) = (v > 0.55 * VMAX[f] ? 0x000000 : 0xFFFFFF)

do for [f = 1:NFACET] {
    load FOLDER.'/frame.gp'
    set yrange [0.5:NSERIES + 0.5]
    set xrange [0.5:NX + 0.5]
    set cbrange [0:(VMAX[f] > 0 ? VMAX[f] : 1)]
    form = (VMAX[f] >= 100 ? '%.0f' : (VMAX[f] >= 10 ? '%.1f' : '%.2f'))
    if (METRICS > 1 || (f - 1) % COLS == 0) { set label 6 SLABEL }
    set cblabel (METRICS > 1 || f % COLS == 0 || f == NFACET ? YLABEL[f] : '') offset 2.2, 0 textcolor rgb INK
    set ytics ()
    set ytics scale 0
    do for [s = 1:NSERIES] { set ytics add (SERIES_TEXT[s] s) }
    plot $data index ((f - 1) * NSERIES):(f * NSERIES - 1) \
             using 1:4:(0.5):(0.5):2 with boxxyerror fs solid 1.0 noborder lc palette notitle, \
         '' index ((f - 1) * NSERIES):(f * NSERIES - 1) \
             using 1:4:(!NUMBERS || strcol(2) eq 'NaN' ? '' : gprintf(form, $2)):(ink($2)) \
             with labels tc rgb variable notitle
    unset label
}
unset multiplot
