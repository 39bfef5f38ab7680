/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_FUZZ_ENCODE_H
#define WH_TEST_FUZZ_ENCODE_H

/* Any packet as one string of bytes, as it is on the wire. */

#include <string.h>

#include "wire/packet.h"

#define WH_FUZZ_PACKET_BYTES_MAX (WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX)

/* `bytes` has room for WH_FUZZ_PACKET_BYTES_MAX; returns the length. */
static inline uint32_t wh_fuzz_encode(const struct wh_packet *packet, uint8_t *bytes)
{
	if (packet->type != WH_PACKET_DATA && packet->type != WH_PACKET_REPAIR)
		return wh_packet_encode(packet, bytes, WH_FUZZ_PACKET_BYTES_MAX);
	wh_packet_encode_data(packet, bytes);
	memcpy(bytes + WH_HEAD_BYTES, packet->payload, packet->data.payload_bytes);
	return WH_HEAD_BYTES + packet->data.payload_bytes;
}

#endif
