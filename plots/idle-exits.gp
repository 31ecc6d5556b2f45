# SPDX-License-Identifier: MIT
# Exits because guests go idle, beside the published ones of a single VM.

if (METRIC[1] eq 'idle_exits_per_s' && !RELATIVE) {
    NREF = 3
    REF_X[1] = 'mwait-nop'; REF_Y[1] = 1826602
    REF_X[2] = 'hlt'; REF_Y[2] = 1773
    REF_X[3] = 'mwait-passthrough'; REF_Y[3] = 0
    # Beside many thin bars there is no room for numbers.
    if (NSERIES <= 3) { REF_TEXT[1] = '1,826,602'; REF_TEXT[2] = '1,773'; REF_TEXT[3] = '0' }
}
load FOLDER.'/bars.gp'
