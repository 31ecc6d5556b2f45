# SPDX-License-Identifier: MIT
# Heat map: a cell per pair of values, its number in it where there is room; cells without a value stay white. Panels
# of one metric share their scale. Blocks of $data: one per panel and row.

# Even steps of brightness, dark to light, also in grey and with any colour vision.
set palette defined (0 '#00224E', 1 '#35456C', 2 '#666970', 3 '#948E77', 4 '#C8B866', 5 '#FEE838')
set cbtics scale 0.4
unset grid
set border 15 lc rgb INK lw 0.6
ink(v) = (v > 0.55 * VMAX[f] ? 0x000000 : 0xFFFFFF)
shade(v) = v
sign(v) = ''

# Ratios: white at 1, as dark at half as at twice; without numbers a sign tells which of the two it is.
if (RELATIVE) {
    set palette defined (-1 '#A03F00', -0.5 '#E8A06A', 0 '#FFFFFF', 0.5 '#6FB1D8', 1 '#00507D')
    shade(v) = (v > 0 ? log(v) / log(2) : -99)
    sign(v) = (v > 1.01 ? '+' : (v < 0.99 ? '−' : ''))
    ink(v) = (abs(shade(v)) > 0.55 * FAR ? 0xFFFFFF : 0x000000)
}

# A logarithmic scale of colours, with tics at 1, 2, 5, 10...; the axes of the panel have none.
LOGC = (LOGY && !RELATIVE)
LOGY = 0
if (LOGC) {
    shade(v) = (v > 0 ? log10(v) : NaN)
    ink(v) = (shade(v) > log10(YMIN[f]) + 0.55 * (log10(VMAX[f]) - log10(YMIN[f])) ? 0x000000 : 0xFFFFFF)
}

do for [f = 1:NFACET] {
    load FOLDER.'/frame.gp'
    set cbrange [0:(VMAX[f] > 0 ? VMAX[f] : 1)]
    if (LOGC && CELLS[f] > 0) {
        set cbrange [log10(YMIN[f]):log10(VMAX[f]) + 1e-6]
        set cbtics ()
        do for [k = 0:30] {
            V = word('1 2 5', k % 3 + 1) * 10.0 ** (floor(log10(YMIN[f]) + 0.5) + k / 3)
            if (V <= VMAX[f]) { set cbtics add (sprintf('%g', V) log10(V)) }
        }
    }
    if (RELATIVE) {
        FAR = 0.25
        set xrange [*:*]; set yrange [*:*] # stats leaves out what is beyond them
        do for [p = 1:NFACET] {
            if (CELLS[p] > 0 && (METRICS == 1 || p == f)) {
                stats $data index ((p - 1) * NSERIES):(p * NSERIES - 1) \
                    using (strcol(2) eq 'NaN' || $2 <= 0 ? 0 : abs(shade($2))) nooutput
                if (STATS_max > FAR) { FAR = STATS_max }
            }
        }
        FAR = FAR * 1.0001 # a tic at the very end would get lost
        set cbrange [-FAR:FAR]
        NTH = (FAR < 1 ? 0.25 : ceil(FAR / 4))
        set cbtics ()
        do for [k = -4:4] {
            if (abs(k * NTH) <= FAR) {
                TEXT = (NTH >= 1 && k < 0 ? sprintf('1/%.0f', 2 ** (-k * NTH)) : sprintf('%.2f', 2 ** (k * NTH)))
                if (NTH >= 1 && k >= 0) { TEXT = sprintf('%.0f', 2 ** (k * NTH)) }
                set cbtics add (TEXT k * NTH)
            }
        }
    }
    set yrange [0.5:NSERIES + 0.5]
    set xrange [0.5:NX + 0.5]
    size(v) = (RELATIVE ? v : VMAX[f])
    if (LOGC) { size(v) = v }
    form(v) = (size(v) >= 100 ? '%.0f' : (size(v) >= 10 ? '%.1f' : '%.2f'))
    if (METRICS > 1 || (f - 1) % COLS == 0) { set label 6 SLABEL }
    set cblabel (METRICS > 1 || f % COLS == 0 || f == NFACET ? YLABEL[f] : '') offset (RELATIVE ? 0.4 : 2.2), 0 textcolor rgb INK
    set ytics ()
    set ytics scale 0
    NTH_ROW = ceil(1.1 * EM * NSERIES / (TOP[f] - BOTTOM[f])) # more of them would touch
    do for [s = 1:NSERIES:NTH_ROW] { set ytics add (SERIES_TEXT[s] s) }
    plot $data index ((f - 1) * NSERIES):(f * NSERIES - 1) \
             using 1:4:(0.5):(0.5):(shade($2)) with boxxyerror fs solid 1.0 noborder lc palette notitle, \
         '' index ((f - 1) * NSERIES):(f * NSERIES - 1) \
             using 1:4:(strcol(2) eq 'NaN' ? '' : NUMBERS ? gprintf(form($2), $2) : sign($2)):(ink($2)) \
             with labels tc rgb variable notitle
    unset label
}
unset multiplot
