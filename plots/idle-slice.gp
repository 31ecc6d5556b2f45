# SPDX-License-Identifier: MIT
# Tail latency against the slice; the band is the published range of the best slices. XUNIT is the unit of the axis in ns.

if (METRIC[1] eq 'latency_p99_us' && LOGX) {
    NBAND = 1
    BAND_X0[1] = 20e3 / XUNIT; BAND_X1[1] = 50e3 / XUNIT
}
load FOLDER.'/lines.gp'
