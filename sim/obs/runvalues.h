/* SPDX-License-Identifier: MIT */
/* What the writer and the reader of the text form of a run share, and nobody else needs. */
#ifndef SIM_OBS_RUNVALUES_H
#define SIM_OBS_RUNVALUES_H

#include <inttypes.h>

#include "obs/result.h"

#define RUN_SCHEMA       "tandem.run/1"
#define RUN_CHECK_FORMAT ",\"check\":\"%016" PRIx64 "\"}"
#define RUN_CHECK_LEN    28 /* of what the format prints */

/* Up to here a JSON number means the same to every reader; above it stands a string. */
#define RUN_EXACT_NUMBER ((uint64_t)1 << 53)

uint64_t run_checksum(const char *text, size_t len);

#endif
