# SPDX-License-Identifier: MIT
# What gathering idle vCPUs costs when the classifier errs.

load FOLDER.'/lines.gp'
