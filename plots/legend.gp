# SPDX-License-Identifier: MIT
# After the first panel the labels of the page are drawn; the legend of all panels stands in a strip
# of its own above them, drawn by a plot without axes.

unset label
unset object
unset arrow
if (KEY_COLS > 0) {
    set lmargin at screen 0
    set rmargin at screen 1
    set tmargin at screen KEY_TOP
    set bmargin at screen KEY_BOTTOM
    unset border; unset tics; unset grid; unset xlabel; unset ylabel
    unset logscale
    set xrange [0:1]
    set yrange [0:1]
    set key at screen 0.5, (KEY_TOP + KEY_BOTTOM) / 2 center center horizontal maxcols KEY_COLS \
        Left reverse samplen 3 spacing 1.1 width 1 textcolor rgb INK noenhanced
    if (MARK_KEY eq '') { MARKED = 0 }
    if (BAND_KEY eq '') { BANDED = 0 }
}
