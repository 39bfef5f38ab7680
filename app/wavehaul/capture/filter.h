/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Selects a session's frames: by its peer's address and the identifier in each packet's head. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/encap.h"

struct wh_capture_filter {
	bool all; /* every frame; the other fields are unused */
	struct wh_address peer;
	uint32_t cid_in;          /* by which the peer addresses the session */
	_Atomic uint32_t cid_out; /* by which the session addresses the peer; 0: not known yet */
};

/* The bytes of a frame that the filter reads: up to the identifier, with the longest headers. */
#define WH_CAPTURE_HEAD_BYTES (WH_ENCAP_BYTES_MAX + 8)

/*
 * Whether the filter selects a received or (`leaves`) sent frame; `frame` holds at least the bytes
 * that the filter reads.
 */
bool wh_capture_filter_takes(const struct wh_capture_filter *filter, const uint8_t *frame,
	size_t frame_bytes, bool leaves);
