# SPDX-License-Identifier: MIT
# A metric, or its ratio to bare, against the number of threads.

load FOLDER.'/facets.gp'
load FOLDER.'/lines.gp'
