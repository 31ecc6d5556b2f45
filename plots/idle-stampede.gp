# SPDX-License-Identifier: MIT
# VM-wide wake-ups of many VMs at once.

load FOLDER.'/lines.gp'
