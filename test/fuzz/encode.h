/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Any packet as one string of bytes, as it is on the wire. */

#include "closed.h"

#define WH_FUZZ_PACKET_BYTES_MAX (WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX)

/* `bytes` has room for WH_FUZZ_PACKET_BYTES_MAX; returns the length. */
static inline uint32_t wh_fuzz_encode(
	const struct wh_packet *packet, uint64_t token, uint8_t *bytes)
{
	return closed_encode(packet, token, bytes, WH_FUZZ_PACKET_BYTES_MAX);
}
