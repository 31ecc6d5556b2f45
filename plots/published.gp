# SPDX-License-Identifier: MIT
# Published values beside the simulated ones, in panel `f`. Loaded by frame.gp once the ranges are known; a template of a
# figure sets
#   NREF, REF_X[i] (a text where x is a category, else a number), REF_Y[i] in the metric's own unit, and where they are
#   needed REF_TO[i] (end of a range), REF_TEXT[i], REF_FACET[i] and REF_SERIES[i] (texts of a panel and a series; left
#   out: all of them): hollow diamonds;
#   NBAND, BAND_X0[i], BAND_X1[i], BAND_LOW[i], BAND_HIGH[i] (left out: the edge of the panel), BAND_TEXT[i],
#   BAND_FACET[i]: light boxes behind the data.

series_at(t) = (sum [s_ = 1:NSERIES] (SERIES_TEXT[s_] eq t ? s_ : 0))
category_at(t) = (sum [x_ = 1:NX] (XTEXT[x_] eq t ? XPOS[x_] : 0))
in_panel(t) = (t eq '' || t eq FACET_TEXT[f])
has_series(t) = (t eq '' || t eq FACET_TEXT[f] || series_at(t) > 0)
ref_shown(i) = (in_panel(REF_FACET[i]) && has_series(REF_SERIES[i]) && ref_x(i) >= XMIN && ref_x(i) <= XMAX)
ref_x(i) = (CATEGORIES ? (category_at(REF_X[i]) > 0 ? category_at(REF_X[i]) + ref_shift(i) : NaN) : REF_X[i] + 0)
ref_shift(i) = (REF_SHIFT == 0 || series_at(REF_SERIES[i]) == 0 ? 0 : \
    (series_at(REF_SERIES[i]) - 0.5 * (NSERIES + 1)) * REF_SHIFT)
# Nothing is below the bottom of a logarithmic axis: a published 0 stands on it.
on_axis(v) = (LOGY && v < YLOW ? YLOW : v)
on_right(x) = (LOGX ? log(x / XMIN) / log(XMAX / XMIN) : (x - XMIN) / (XMAX - XMIN)) > 0.7
least(a, b) = (a < b ? a : b)
most(a, b) = (a > b ? a : b)

do for [i = 1:NREF] {
    if (ref_shown(i)) {
        MARKED = 1
        top = (REF_TO[i] == REF_TO[i] ? REF_TO[i] : REF_Y[i]) / SCALE[f]
        if (top * 1.06 > YTOP) { YTOP = top * (LOGY ? 2 : 1.06) }
        if (LOGY && REF_Y[i] > 0) { do for [k = 1:30] { if (REF_Y[i] / SCALE[f] <= YLOW) { YLOW = YLOW / 10 } } }
    }
}
do for [i = 1:NREF] {
    if (ref_shown(i)) {
        x = ref_x(i)
        y = on_axis(REF_Y[i] / SCALE[f])
        if (REF_TO[i] == REF_TO[i]) {
            to = on_axis(REF_TO[i] / SCALE[f])
            set arrow from x, y to x, to nohead front lc rgb INK lw 0.8 dt solid
            set label (1000 + i) '' at x, to point pt 13 ps 1.1 lc rgb 'white' front
            set label (1100 + i) '' at x, to point pt 12 ps 1.1 lw 1.2 lc rgb 'black' front
        }
        set label (1200 + i) '' at x, y point pt 13 ps 1.1 lc rgb 'white' front
        set label (1300 + i) '' at x, y point pt 12 ps 1.1 lw 1.2 lc rgb 'black' front
        if (strlen(REF_TEXT[i]) > 0) {
            if (on_right(x)) {
                set label (1400 + i) REF_TEXT[i] at x, y offset -0.9, 0 right @BOXED textcolor rgb INK front
            } else {
                set label (1400 + i) REF_TEXT[i] at x, y offset 0.9, 0 left @BOXED textcolor rgb INK front
            }
        }
    }
}
do for [i = 1:NBAND] {
    if (in_panel(BAND_FACET[i])) {
        x0 = (BAND_X0[i] == BAND_X0[i] ? most(BAND_X0[i], XMIN) : XMIN)
        x1 = (BAND_X1[i] == BAND_X1[i] ? least(BAND_X1[i], XMAX) : XMAX)
        low = (BAND_LOW[i] == BAND_LOW[i] ? most(BAND_LOW[i] / SCALE[f], YLOW) : YLOW)
        if (BAND_HIGH[i] == BAND_HIGH[i] && BAND_HIGH[i] / SCALE[f] * 1.06 > YTOP) {
            YTOP = BAND_HIGH[i] / SCALE[f] * 1.06
        }
        high = (BAND_HIGH[i] == BAND_HIGH[i] ? BAND_HIGH[i] / SCALE[f] : YTOP)
        if (x0 < x1) {
            BANDED = 1
            set object i rectangle from x0, low to x1, high behind fc rgb BAND fs solid noborder
            if (strlen(BAND_TEXT[i]) > 0) {
                set label (1500 + i) BAND_TEXT[i] at x0, high offset 0.4, -0.7 left textcolor rgb GREY
            }
        }
    }
}
