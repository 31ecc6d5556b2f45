# SPDX-License-Identifier: MIT
# Guests whose idle loop is not that of Linux.

load FOLDER.'/bars.gp'
