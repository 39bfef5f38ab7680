/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CAPTURE_FILTER_H
#define WH_CAPTURE_FILTER_H

/* Which frames are a session's: by its peer's address and the identifier in each head. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/encap.h"

struct wh_capture_filter {
	bool all; /* the rest means nothing */
	struct wh_address peer;
	uint32_t lci_in;          /* by which the peer addresses the session */
	_Atomic uint32_t lci_out; /* by which the session addresses the peer; 0: not known yet */
};

/* What is looked at of a frame: up to the identifier, whatever its headers. */
#define WH_CAPTURE_HEAD_BYTES (WH_ENCAP_BYTES_MAX + 8)

/* A frame that has come in, or leaves; as much of it as is looked at lies behind `frame`. */
bool wh_capture_filter_takes(const struct wh_capture_filter *filter, const uint8_t *frame,
	size_t frame_bytes, bool leaves);

#endif
