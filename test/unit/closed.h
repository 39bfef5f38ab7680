/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Packets as they are on the wire, closed with the checksum and a token; 0: as to a listener. */

#include <string.h>

#include "seal/seal.h"
#include "wire/packet.h"

static inline void closed_tag(uint8_t *bytes, size_t length, uint64_t token)
{
	struct wh_seal seal;

	wh_seal_begin_checksum(&seal, token);
	wh_seal_close_packet(&seal, bytes, length);
}

/* Any packet, head and payload together, where there is room for it; returns its length. */
static inline uint32_t closed_encode(
	const struct wh_packet *packet, uint64_t token, uint8_t *bytes, size_t room)
{
	uint32_t length = WH_HEAD_BYTES + packet->data.payload_bytes;

	if (packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR) {
		wh_packet_encode_data(packet, bytes);
		memcpy(bytes + WH_HEAD_BYTES, packet->payload, packet->data.payload_bytes);
	} else {
		length = wh_packet_encode(packet, bytes, room);
	}
	closed_tag(bytes, length, token);
	return length;
}
