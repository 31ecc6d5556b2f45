# SPDX-License-Identifier: MIT
# Two cores that add to one counter. The published values are those that the machine's prices were calibrated with.

if (METRIC[1] eq 'throughput_per_s' && !RELATIVE) {
    NREF = 4
    REF_X[1] = 'cache group'; REF_Y[1] = 7.08e6
    REF_X[2] = 'node'; REF_Y[2] = 4.76e6
    REF_X[3] = 'socket'; REF_Y[3] = 4.45e6
    REF_X[4] = 'other socket'; REF_Y[4] = 2.97e6
    # With one bar at a place the published values stand above them.
    if (NSERIES == 1 && NFACET == 1) {
        YMAX[1] = YMAX[1] * 1.06
        do for [k = 1:NX] {
            do for [i = 1:NREF] {
                if (XTEXT[k] eq REF_X[i]) {
                    set label (1600 + i) sprintf('%.2f M', REF_Y[i] / 1e6) at XPOS[k], REF_Y[i] / SCALE[1] \
                        offset 0, 0.9 center textcolor rgb INK front
                }
            }
        }
    }
}
load FOLDER.'/bars.gp'
