# SPDX-License-Identifier: MIT
# What waiting for looks adds to an fsync.

load FOLDER.'/bars.gp'
