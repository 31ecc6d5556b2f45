# SPDX-License-Identifier: MIT
# The look that all figures share. Loaded before the template of the figure; what the program sets
# before that is listed in plots/README.md.

# Okabe-Ito colours and two dark ones of Paul Tol's: told apart with any colour vision. The first five
# are apart in brightness, too, and so in grey. No yellow: a line of it cannot be seen on white.
array COLOUR[10] = [0x0072B2, 0xE69F00, 0x882255, 0x009E73, 0x000000, 0x56B4E9, 0xD55E00, 0xCC79A7, 0x332288, 0x7F7F7F]
# Lines also differ by dashes and markers.
array MARKER[8] = [7, 5, 9, 13, 11, 6, 4, 8]
# Bars differ by brightness, dark and light in turn.
array FILL[10] = [0x0072B2, 0xE69F00, 0x004D3A, 0xF0E442, 0xCC79A7, 0x8C3A00, 0x56B4E9, 0x000000, 0x606060, 0xFFFFFF]

INK = '#222222'
GREY = '#666666'
RULE = '#C8C8C8'

colour(s) = COLOUR[(s - 1) % 10 + 1]
fill(s) = FILL[(s - 1) % 10 + 1]
marker(s) = MARKER[(s - 1 + (s - 1) / 8) % 8 + 1]
# A published value beside a simulated one: the same shape, hollow.
hollow(s) = marker(s) - (marker(s) % 2 == 1 ? 1 : 0)

# Dashes in units of the line width; the first line is solid.
do for [s = 1:NSERIES] {
    d = (s - 1 + (s - 1) / 8) % 6
    if (d == 0) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.8 dt solid }
    if (d == 1) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.8 dt (8, 4) }
    if (d == 2) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.9 dt (3, 4) }
    if (d == 3) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.9 dt (10, 3, 2, 3) }
    if (d == 4) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.9 dt (14, 4) }
    if (d == 5) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.9 dt (4, 3, 4, 6) }
}

# Bands and marks of published values, none unless a template of a figure sets them (published.gp).
NREF = 0; NBAND = 0; MARKED = 0; BANDED = 0
array REF_X[40]; array REF_Y[40]; array REF_TO[40]
array REF_TEXT[40]; array REF_FACET[40]; array REF_SERIES[40]
array BAND_X0[20]; array BAND_X1[20]; array BAND_LOW[20]; array BAND_HIGH[20]
array BAND_TEXT[20]; array BAND_FACET[20]
do for [i = 1:40] { REF_TO[i] = NaN; REF_TEXT[i] = ''; REF_FACET[i] = ''; REF_SERIES[i] = '' }
do for [i = 1:20] {
    BAND_X0[i] = NaN; BAND_X1[i] = NaN; BAND_LOW[i] = NaN; BAND_HIGH[i] = NaN
    BAND_TEXT[i] = ''; BAND_FACET[i] = ''
}
at(x) = x # lines: where a place of the data stands on the axis
FLOATS = 0 # boxes: the axis starts at YMIN instead of 0
REF_SHIFT = 0 # bars: width of one bar of a group
BAND = '#E2E2E2'
# LaTeX would need another package for a box behind a text.
BOXED = (GPVAL_TERM eq 'cairolatex' ? '' : 'boxed')
set style textbox opaque noborder fillcolor rgb 'white' margins 0.4, 0.2

set border 3 lc rgb INK lw 0.8
set tics nomirror scale 0.6 textcolor rgb INK
set grid ytics lt 1 lc rgb RULE lw 0.6 dt solid
set format '%g'
set key off
set samples 2
unset title

set multiplot
if (strlen(TITLE) > 0) { set label 1 TITLE at screen 0.5, TITLE_Y center textcolor rgb INK }
if (strlen(NOTE) > 0) {
    set label 2 NOTE at screen 1 - 0.6 * EMX, 0.75 * EM right textcolor rgb GREY
}
