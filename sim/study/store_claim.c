/* SPDX-License-Identifier: MIT */
/*
 * Claims: which runs are being made right now, by processes that share a store. A claim is a lock of
 * one byte in a file beside the store, at a place made from the run's key: the kernel takes it away
 * when its process ends, so nothing is left to be cleaned up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/store_internal.h"

#define DIGITS 15 /* of the key: any place below 2^60 */

static char *claims_path(const struct store *s)
{
    char *path = malloc(strlen(s->path) + 8);

    if (path)
        sprintf(path, "%s-claims", s->path);
    return path;
}

static off_t place_of(const char *key)
{
    char digits[DIGITS + 1] = "";

    memcpy(digits, key, strnlen(key, DIGITS));
    return (off_t)strtoull(digits, NULL, 16);
}

/* All of the file when `length` is 0. */
static int lock(const struct store *s, short type, off_t start, off_t length)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};

    return fcntl(s->claims, F_SETLK, &l);
}

bool store_claim(struct store *s, const char *key)
{
    if (s->claims < 0) {
        char *path = claims_path(s);

        s->claims = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
        free(path);
        if (s->claims < 0)
            return true;
    }
    return lock(s, F_WRLCK, place_of(key), 1) == 0 || (errno != EACCES && errno != EAGAIN);
}

void store_unclaim(struct store *s, const char *key)
{
    if (s->claims >= 0)
        lock(s, F_UNLCK, place_of(key), 1);
}

/* The last one takes the file away. Who opens it just then may make a run twice, no more. */
void store_claims_close(struct store *s)
{
    char *path;

    if (s->claims < 0)
        return;
    path = lock(s, F_WRLCK, 0, 0) == 0 ? claims_path(s) : NULL;
    if (path)
        unlink(path);
    free(path);
    close(s->claims);
    s->claims = -1;
}
