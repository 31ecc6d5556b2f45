# SPDX-License-Identifier: MIT
# Verdicts of the slice classifier by kind of VM.

load FOLDER.'/bars.gp'
