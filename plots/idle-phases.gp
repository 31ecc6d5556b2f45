# SPDX-License-Identifier: MIT
# The slice classifier on VMs that change phase.

load FOLDER.'/lines.gp'
