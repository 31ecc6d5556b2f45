# SPDX-License-Identifier: MIT
# Power, host CPU use and throughput against oversubscription.

load FOLDER.'/lines.gp'
