# SPDX-License-Identifier: MIT
# Against how often a vCPU that runs changes places: the axis of the data has the time between two moves, in XUNIT ns,
# where 0 is never.

if (LOGX) {
    rate(x) = 1e9 / (x * XUNIT)
    FIRST = 1 + ZERO_APART
    NEVER = XPOS[1]
    array RATE[NX]
    do for [i = FIRST:NX] { RATE[NX + FIRST - i] = rate(XPOS[i]) }
    # As far left of the others as the program would put it.
    if (ZERO_APART) { RATE[1] = RATE[2] / (RATE[NX] / RATE[2] < 50 ? 1.8 : (RATE[NX] / RATE[2]) ** 0.15) }
    at(x) = (ZERO_APART && x == NEVER ? RATE[1] : rate(x))
    do for [i = 1:NX] {
        XPOS[i] = RATE[i]
        XTEXT[i] = (i < FIRST ? '0' : sprintf(RATE[i] < 10 ? '%.3g' : '%.0f', RATE[i]))
    }
    PAD = (RATE[NX] / RATE[1]) ** 0.04
    XMIN = RATE[1] / PAD; XMAX = RATE[NX] * PAD
}
load FOLDER.'/facets.gp'
load FOLDER.'/lines.gp'
