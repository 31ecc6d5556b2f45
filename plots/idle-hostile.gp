# SPDX-License-Identifier: MIT
# Tail latency beside a guest that keeps out of the hypervisor, or pulses its line.

load FOLDER.'/bars.gp'
