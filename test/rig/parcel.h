/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <string.h>

#include "lab/netem/netem.h"
#include "session/session.h"

/* A packet as it arrives: in one piece, with the bit flipped that its link damages. */
static inline void wh_rig_parcel_fill(
	uint8_t *data, const struct wh_out *out, const struct wh_netem_fate *fate)
{
	uint64_t bits = (uint64_t)(out->head_bytes + out->payload_bytes) * 8;

	memcpy(data, out->head, out->head_bytes);
	if (out->payload_bytes > 0)
		memcpy(data + out->head_bytes, out->payload, out->payload_bytes);
	if (fate->corrupt)
		data[fate->corrupt_bit % bits / 8] ^= (uint8_t)(1 << fate->corrupt_bit % bits % 8);
}
