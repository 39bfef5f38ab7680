/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Format of extended attributes, one after the other: length of the name (1 byte), length of the
 * value (2, little-endian), name, value. Names are in the namespace "user", or those of POSIX ACLs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bundle/choice.h"
#include "bundle/owners.h"

/*
 * Reads the attributes of an open file that the wishes include. *left_out: whether somebody has set
 * others. Returns the length; if there is not enough room: none, and left out.
 */
size_t wh_xattrs_read(int fd, uint32_t wishes, uint8_t *bytes, size_t room, bool *left_out);

/*
 * Sets the attributes that the wishes include, with owners in ACLs mapped; NULL: unmapped. 0, or a
 * negative errno: -EINVAL: invalid format.
 */
int wh_xattrs_apply(int fd, uint32_t wishes, const struct wh_owners *owners, const uint8_t *bytes,
	size_t count);
