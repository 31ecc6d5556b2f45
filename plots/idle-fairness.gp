# SPDX-License-Identifier: MIT
# Shares of VMs that idle beside one that never does.

load FOLDER.'/bars.gp'
