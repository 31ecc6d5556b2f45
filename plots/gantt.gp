# SPDX-License-Identifier: MIT
# A time window of one run, or of two beside each other: which vCPU each pCPU has, above, and what each vCPU does, below.
# Blocks of $spans, $numbers, $joints (where spans of one style touch) and $lanes per panel, of $wakes per run. Styles: 1 to NVM are VMs, then the states of
# a vCPU in the order of the program: idle task kernel lock-spin idle-spin held-idle steal unseen-wait.

array PATTERN[NSTYLE]; array TINT[NSTYLE]
do for [k = 1:NSTYLE] { PATTERN[k] = 3; TINT[k] = fill(k) }
# Waiting for a pCPU is hatched, idling on one is grey or dotted, so that neither is mistaken for a VM without colour.
TINT[NVM + 3] = 0x222222; PATTERN[NVM + 3] = 3 # kernel
TINT[NVM + 4] = 0x8C3A00; PATTERN[NVM + 4] = 2 # lock spin
TINT[NVM + 5] = 0x606060; PATTERN[NVM + 5] = 6 # idle spin
TINT[NVM + 6] = 0xD8D8D8; PATTERN[NVM + 6] = 3 # held idle
TINT[NVM + 7] = 0xB84A00; PATTERN[NVM + 7] = 4 # steal
TINT[NVM + 8] = 0x882255; PATTERN[NVM + 8] = 1 # unseen wait
# Numbers are white on what is dark.
light(c) = 0.30 * (c / 65536) + 0.59 * (c / 256 % 256) + 0.11 * (c % 256)
on(k) = (k > 0 && light(TINT[k > 0 ? int(k) : 1]) < 128 ? 0xFFFFFF : 0x000000)
HALF = 0.4 # of a lane
# Those that are there, apart: patterns and borders are costly in files, so what is solid has none.
NSOLID = 0; NHATCHED = 0; array SOLID[NSTYLE]; array HATCHED[NSTYLE]
SOLID[1] = 1; HATCHED[1] = NVM + 7 # evaluated even where there are none
do for [k = 1:NSTYLE] {
    if (USED[k] && PATTERN[k] == 3) { NSOLID = NSOLID + 1; SOLID[NSOLID] = k }
    if (USED[k] && PATTERN[k] != 3) { NHATCHED = NHATCHED + 1; HATCHED[NHATCHED] = k }
}

set style fill solid 1.0 border rgb INK
unset ytics
unset grid
set grid xtics back lt 1 lc rgb RULE lw 0.6 dt solid
set label 7 NUMBERS at screen NUMBERS_X, NUMBERS_Y textcolor rgb GREY
if (NUMBERS_X > 0.5) { set label 7 right }
do for [p = 1:NPANEL] {
    set lmargin at screen LEFT[p]
    set rmargin at screen RIGHT[p]
    set tmargin at screen TOP[p]
    set bmargin at screen BOTTOM[p]
    set xrange [0:XMAX]
    set yrange [LANES[p]:0]
    set xtics XSTEP norotate offset 0, 0.3
    set format x (AXIS[p] ? '%g' : '')
    set xlabel (AXIS[p] ? XLABEL : '') offset 0, 0.6 textcolor rgb INK
    if (strlen(HEAD[p]) > 0) {
        set label 3 HEAD[p] at screen 0.5 * (LEFT[p] + RIGHT[p]), screen TOP[p] + 0.75 * EM center textcolor rgb INK
    }
    do for [i = 1:NGROUP] {
        if (GROUP_PANEL[i] == p) {
            set label (100 + i) GROUP[i] at screen LEFT[p] - 3.2 * EMX, first GROUP_Y[i] \
                center rotate by 90 textcolor rgb INK
        }
    }
    if (EMPTY[p]) { set label 4 'nothing runs in this window' at graph 0.5, graph 0.5 center textcolor rgb GREY }
    plot $lanes index (p - 1) using (0):1:(XMAX):(0) with vectors nohead lc rgb RULE lw 0.6 notitle, \
         '' index (p - 1) using (NAMED[p] && $1 > 0 ? 0 : NaN):1:(sprintf('%d', $2)) \
             with labels right offset character -0.6, 0 textcolor rgb INK notitle, \
         for [i = 1:NSOLID] $spans index (p - 1) using ($4 == SOLID[i] ? ($1 + $2) / 2 : NaN):3:1:2:($3 - HALF):($3 + HALF) \
             with boxxyerror fs solid 1.0 noborder lc rgb TINT[SOLID[i]] notitle, \
         $joints index (p - 1) using 1:($2 - HALF):(0):(2 * HALF) with vectors nohead lc rgb 'white' lw 0.8 notitle, \
         for [i = 1:NHATCHED] $spans index (p - 1) using ($4 == HATCHED[i] ? ($1 + $2) / 2 : NaN):3:1:2:($3 - HALF):($3 + HALF) \
             with boxxyerror fs pattern PATTERN[HATCHED[i]] border rgb INK lc rgb TINT[HATCHED[i]] lw 0.4 notitle, \
         $numbers index (p - 1) using 1:2:(sprintf('%d', $3)):(on($4)) with labels textcolor rgb variable notitle, \
         $wakes index ((p - 1) / 2) using (p % 2 ? NaN : $1):2:3:4 \
             with vectors filled head size screen 0.45 * EMX, 18 lc rgb INK lw 0.6 notitle
    unset label
    set style fill solid 1.0 border rgb INK
}
load FOLDER.'/legend.gp'
if (NKEYS > 0) {
    plot for [i = 1:NSOLID] -1 with boxes fs solid 1.0 noborder lc rgb TINT[SOLID[i]] title KEY[SOLID[i]], \
         for [i = 1:NHATCHED] -1 with boxes fs pattern PATTERN[HATCHED[i]] border rgb INK lc rgb TINT[HATCHED[i]] lw 0.4 \
             title KEY[HATCHED[i]]
}
unset multiplot
