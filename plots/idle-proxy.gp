# SPDX-License-Identifier: MIT
# P99 relative to 1:1. Published multipliers at 1:2 and 1:4, each with the workload it was measured on; ranges where the
# source gives one for several workloads together. In one panel with lines of the same size the marks at 1:4 are named.

if (METRIC[1] eq 'latency_p99_us' && RELATIVE && !CATEGORIES) {
    NREF = 16
    WHO = 'file-io mysql-set ping super-pi tcp-loop redis-set redis-get zookeeper-get zookeeper-set'
    AT2 = '2.2 1.6 1.6 1.4'
    do for [i = 1:4] { REF_X[i] = 2; REF_Y[i] = real(word(AT2, i)); REF_SERIES[i] = word(WHO, i) }
    do for [i = 5:8] { REF_X[i] = 2; REF_Y[i] = 2.9; REF_TO[i] = 3.7; REF_SERIES[i] = word(WHO, i) }
    AT4 = '4.9 6.4 7.0 8.2 1.4'
    do for [i = 9:13] {
        REF_X[i] = 4; REF_Y[i] = real(word(AT4, i - 8)); REF_SERIES[i] = word(WHO, i - 4)
        if (NSERIES > 1 && YMAX[1] < 15) { REF_TEXT[i] = REF_SERIES[i] }
    }
    REF_TO[13] = 1.6
    # The range of all CPU-bound and I/O-bound ones.
    do for [i = 14:16] {
        REF_X[i] = 4; REF_Y[i] = 1.8; REF_TO[i] = 3.4
        REF_SERIES[i] = word('file-io mysql-set super-pi', i - 13)
    }
}
load FOLDER.'/lines.gp'
