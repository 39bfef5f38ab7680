/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Our own identity. */

#include <stdio.h>

#include "trust/identity.h"

/*
 * Reads the identity at `path`, or creates one if there is none, which is reported on stderr. -1,
 * or the exit status after a complaint.
 */
int wh_own_identity(struct wh_identity *identity, const char *path);

/*
 * Creates a new identity; with `replace` even if one exists. -1, or the exit status after a
 * complaint.
 */
int wh_own_make(struct wh_identity *identity, const char *path, bool replace);

/* Prints the fingerprint in a line of its own. */
void wh_id_print(const uint8_t id[WH_IDENTITY_BYTES], FILE *to);
