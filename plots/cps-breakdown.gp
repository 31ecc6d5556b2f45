# SPDX-License-Identifier: MIT
# Where the time of a write goes, by distance.

do for [s = 1:NSERIES] {
    if (SERIES_TEXT[s] eq 'lock1_per_op_us') { SERIES[s] = "inode's lock" }
    if (SERIES_TEXT[s] eq 'lock2_per_op_us') { SERIES[s] = "journal's lock" }
    if (SERIES_TEXT[s] eq 'latency_mean_us') { SERIES[s] = 'the rest' }
}
load FOLDER.'/stack.gp'
