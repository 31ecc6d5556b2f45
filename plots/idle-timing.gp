# SPDX-License-Identifier: MIT
# What a VM can tell of its neighbour from its own delays.

load FOLDER.'/bars.gp'
