# SPDX-License-Identifier: MIT
# Tail latency and steal against oversubscription, one line per idle mechanism.

load FOLDER.'/lines.gp'
