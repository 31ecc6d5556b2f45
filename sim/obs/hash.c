/* SPDX-License-Identifier: MIT */
/* 64-bit FNV-1a: names contents and finds damage. Not for anything that an adversary may choose. */
#include <inttypes.h>
#include <stdio.h>

#include "obs/runvalues.h"

#define FNV_PRIME  UINT64_C(0x100000001b3)
#define FNV_BASIS  UINT64_C(0xcbf29ce484222325)
#define FNV_SECOND UINT64_C(0x9e3779b97f4a7c15)

static uint64_t fnv1a(uint64_t h, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * FNV_PRIME;
    return h;
}

uint64_t run_checksum(const char *text, size_t len)
{
    return fnv1a(FNV_BASIS, text, len);
}

void hash_hex(const char *text, size_t len, char out[33])
{
    snprintf(out, 33, "%016" PRIx64 "%016" PRIx64, fnv1a(FNV_BASIS, text, len),
             fnv1a(FNV_SECOND, text, len));
}
