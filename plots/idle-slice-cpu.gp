# SPDX-License-Identifier: MIT
# Host and guest CPU use against the slice. Published: host 8-10 % at 400 us and 50-60 % up to 20 us, guest 6-9 % at any
# slice. What they are shares of is not known, so each range is in both panels that it may belong to.

SPREAD = 1.2
if (LOGX && !RELATIVE) {
    NBAND = 6
    do for [i = 0:1] {
        BAND_FACET[3 * i + 1] = (i == 0 ? 'host_cpu_pool_ratio' : 'host_cpu_machine_ratio')
        BAND_X0[3 * i + 1] = 400e3 / XUNIT / SPREAD; BAND_X1[3 * i + 1] = 400e3 / XUNIT * SPREAD
        BAND_LOW[3 * i + 1] = 0.08; BAND_HIGH[3 * i + 1] = 0.10
        BAND_FACET[3 * i + 2] = BAND_FACET[3 * i + 1]
        BAND_X1[3 * i + 2] = 20e3 / XUNIT * SPREAD
        BAND_LOW[3 * i + 2] = 0.5; BAND_HIGH[3 * i + 2] = 0.6
        BAND_FACET[3 * i + 3] = (i == 0 ? 'guest_cpu_pcpu_ratio' : 'guest_cpu_vcpu_ratio')
        BAND_LOW[3 * i + 3] = 0.06; BAND_HIGH[3 * i + 3] = 0.09
    }
}
load FOLDER.'/lines.gp'
