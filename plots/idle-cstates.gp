# SPDX-License-Identifier: MIT
# What deep C-states cost and save by processor generation.

load FOLDER.'/bars.gp'
