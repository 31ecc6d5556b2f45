# SPDX-License-Identifier: MIT
# The look that all figures share. Loaded before the template of the figure; what the program sets
# before that is listed in plots/README.md.

# Okabe-Ito colours, told apart with any colour vision; grey for their yellow, a line of which cannot
# be seen on white.
array COLOUR[8] = [0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0x000000, 0xE69F00, 0x56B4E9, 0x7F7F7F]
# Without colour, lines differ by dashes and markers.
array MARKER[8] = [7, 5, 9, 13, 11, 6, 4, 8]
# Bars differ by brightness, dark and light in turn.
array FILL[8] = [0x0072B2, 0xE69F00, 0x004D3A, 0xF0E442, 0x8C3A00, 0x56B4E9, 0x000000, 0xCC79A7]

INK = '#222222'
GREY = '#666666'
RULE = '#C8C8C8'

colour(s) = COLOUR[(s - 1) % 8 + 1]
fill(s) = FILL[(s - 1) % 8 + 1]
marker(s) = MARKER[(s - 1 + (s - 1) / 8) % 8 + 1]

# Dashes in units of the line width; the first line is solid.
do for [s = 1:NSERIES] {
    d = (s - 1 + (s - 1) / 8) % 6
    if (d == 0) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.8 dt solid }
    if (d == 1) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.8 dt (8, 4) }
    if (d == 2) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.9 dt (2, 3) }
    if (d == 3) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.9 dt (10, 3, 2, 3) }
    if (d == 4) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.9 dt (14, 4) }
    if (d == 5) { set style line s lc rgb colour(s) lw 1.6 pt marker(s) ps 0.9 dt (4, 3, 4, 6) }
}

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
