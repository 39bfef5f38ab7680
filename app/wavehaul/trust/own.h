/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_OWN_H
#define WH_APP_TRUST_OWN_H

/* Who we are. */

#include <stdio.h>

#include "trust/identity.h"

/*
 * What stands at `path`, or a new identity where nothing does, which one line on stderr tells. -1,
 * or the exit status after a complaint.
 */
int wh_own_identity(struct wh_identity *identity, const char *path);

/* A new one, whatever is there if `replace` says so; likewise. */
int wh_own_make(struct wh_identity *identity, const char *path, bool replace);

/* Fingerprint and picture, each line behind `before`. */
void wh_id_print(const uint8_t id[WH_IDENTITY_BYTES], const char *before, FILE *to);

#endif
