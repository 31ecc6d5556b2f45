# SPDX-License-Identifier: MIT
# The VM-wide wake-up of a 48-vCPU VM, beside the published times.

NREF = 2
REF_FACET[1] = 'vm_wake_mark_mean_us'; REF_X[1] = '1.5'; REF_Y[1] = 20
REF_FACET[2] = 'vm_wake_all_mean_us'; REF_X[2] = '1.5'; REF_Y[2] = 240
load FOLDER.'/lines.gp'
