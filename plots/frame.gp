# SPDX-License-Identifier: MIT
# One panel's place, axes and name; `f` is its number. Used by the templates of all kinds.

set lmargin at screen LEFT[f]
set rmargin at screen RIGHT[f]
set tmargin at screen TOP[f]
set bmargin at screen BOTTOM[f]
unset object
unset arrow
YTOP = (LOGY ? 2 * YMAX[f] : YMAX[f])
YLOW = (LOGY || FLOATS ? YMIN[f] : 0)
if (RELATIVE && YTOP < 1.06) { YTOP = 1.06 }
load FOLDER.'/published.gp'
set xrange [XMIN:XMAX]
set yrange [YLOW:YTOP]
set ytics autofreq
if (LOGY) {
    # Decades by name, short enough for the margin, and their parts without.
    set logscale y
    set ytics ()
    do for [k = floor(log10(YLOW) + 0.01):floor(log10(YTOP))] {
        V = 10.0 ** k
        set ytics add ((k < 3 ? sprintf('%g', V) : (k < 6 ? sprintf('%gk', V / 1e3) : sprintf('%gM', V / 1e6))) V)
        do for [n = 2:9] { if (n * V < YTOP) { set ytics add ('' n * V 1) } }
    }
}
if (METRICS > 1 || (f - 1) % COLS == 0) {
    set label 6 YLABEL[f] at screen LEFT[f] - YLABEL_AT, screen 0.5 * (TOP[f] + BOTTOM[f]) \
        center rotate by 90 textcolor rgb INK
}
if (COLS == 1) {
    # gnuplot takes turned texts for longer than they are.
    if (ROTATE) {
        set label 5 XLABEL at screen 0.5 * (LEFT[f] + RIGHT[f]), screen BOTTOM[f] - XLABEL_AT \
            center textcolor rgb INK
    } else {
        set xlabel XLABEL offset 0, 0.3 textcolor rgb INK
    }
} else {
    if (f == 1) {
        set label 5 XLABEL at screen 0.5 * (LEFT[1] + RIGHT[COLS]), screen 2.3 * EM \
            center textcolor rgb INK
    }
}
if (ROTATE) { set xtics rotate by ROTATE right offset 0, -0.2 } else { set xtics norotate offset 0, 0.2 }
if (LOGX) { set logscale x }
if (OWN_TICS) {
    set xtics ()
    set xtics scale (CATEGORIES ? 0 : 0.6)
    do for [i = 1:NX] { set xtics add (XTEXT[i] XPOS[i]) }
    if (LOGX) { unset mxtics }
} else {
    if (ZERO_APART) { set xtics 10 ** ceil(log10(XPOS[2])), 10; set xtics add ('0' XPOS[1]) }
}
# A 0 beside a logarithmic axis: the axis is broken between the two.
if (ZERO_APART) {
    set arrow 1 from sqrt(XPOS[1] * XPOS[2]), graph 0 to sqrt(XPOS[1] * XPOS[2]), graph 1 \
        nohead back lc rgb GREY lw 0.8 dt (2, 4)
}
if (strlen(FACET[f]) > 0) {
    set label 3 FACET[f] at graph 0.5, \
        screen TOP[f] + (0.9 + 1.3 * (FACET_LINES[f] - 1)) * EM center textcolor rgb INK
}
if (CELLS[f] == 0) {
    set label 4 'no data for'.(COLS > 2 ? "\n" : ' ').METRIC[f] at graph 0.5, graph 0.5 center textcolor rgb GREY
    set ytics (-1)
} else {
    unset label 4
}
