# SPDX-License-Identifier: MIT
# Ratios to bare by benchmark. Published are two averages over the benchmarks, alone and overcommitted, but not which is
# which: the edges of the band.

if (METRIC[1] eq 'throughput_per_s' && RELATIVE) {
    NBAND = 1
    BAND_LOW[1] = 1.59; BAND_HIGH[1] = 2.03
}
load FOLDER.'/gain.gp'
