# SPDX-License-Identifier: MIT
# Ratios to bare against the publication delay. A policy whose name is a number is cps-load with this threshold.

do for [s = 1:NSERIES] {
    if (SERIES[s][1:9] eq 'policy = ') { SERIES[s] = 'threshold '.SERIES[s][10:*] }
}
if (XLABEL[1:5] eq 'delay') { XLABEL = 'publication '.XLABEL }
load FOLDER.'/facets.gp'
load FOLDER.'/lines.gp'
