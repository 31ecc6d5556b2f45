# SPDX-License-Identifier: MIT
# Lengths of idle episodes. Published: almost none between 0.2 and 1 ms.

if (METRIC[1] eq 'idle_length_mean_us') {
    NBAND = 1
    BAND_X0[1] = 200; BAND_X1[1] = 1000
}
load FOLDER.'/cdf.gp'
