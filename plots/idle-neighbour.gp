# SPDX-License-Identifier: MIT
# Tail latency beside an idle VM. The dashed line is the neighbour that idles by hlt.

load FOLDER.'/bars.gp'
