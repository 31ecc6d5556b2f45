# SPDX-License-Identifier: MIT
# Ratios to bare by workload.

load FOLDER.'/facets.gp'
load FOLDER.'/bars.gp'
