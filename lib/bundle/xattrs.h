/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_XATTRS_H
#define WH_BUNDLE_XATTRS_H

/*
 * Extended attributes as they travel, one after the other: how long the name is (1 byte), how long
 * the value (2, little-endian), the name, the value. Names are of the namespace "user", or the two
 * of POSIX ACLs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bundle/choice.h"
#include "bundle/owners.h"

/* Whether these wishes carry an attribute of that name. */
bool wh_xattr_is_kept(const char *name, uint32_t wishes);

/*
 * Those of an open file that the wishes carry, into `bytes`; *left_out: whether others are there
 * that somebody has set. How much it is; more than there is room for: none of them, and left out.
 */
size_t wh_xattrs_read(int fd, uint32_t wishes, uint8_t *bytes, size_t room, bool *left_out);

/*
 * Sets those that the wishes keep, with owners in ACLs by these rules; NULL: as they are. 0, or a
 * negative errno: -EINVAL: they make no sense.
 */
int wh_xattrs_apply(int fd, uint32_t wishes, const struct wh_owners *owners, const uint8_t *bytes,
	size_t count);

#endif
