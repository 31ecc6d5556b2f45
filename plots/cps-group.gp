# SPDX-License-Identifier: MIT
# Ratios to bare on FxMark. Published are two averages, but not whether they are those of 4 and 128 threads or of the two
# neighbourhoods, nor which is which: the edges of the band.

if (METRIC[1] eq 'throughput_per_s' && RELATIVE) {
    NBAND = 1
    BAND_LOW[1] = 1.624; BAND_HIGH[1] = 2.40
}
load FOLDER.'/gain.gp'
