/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The packets of one turn as messages for sendmmsg(2). Consecutive packets to one peer become one
 * message, which the kernel or the NIC cuts into datagrams (UDP_SEGMENT): all have the first one's
 * length but the last, which may be shorter. Calls no kernel.
 *
 * A head lies in a slot of the batch's own memory, with room for the payload behind it. A payload
 * may also be where it is, in a chunk; wh_udp_batch_keep copies those behind their heads when the
 * kernel does not take them in this turn.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "session/session.h"
#include "udp/sockaddr.h"

/* Packets in one turn: as many as one message may have (UDP_MAX_SEGMENTS of older kernels). */
#define WH_UDP_BURST 64

/* Of one message, with headers in 65,535 bytes for both families. */
#define WH_UDP_MESSAGE_BYTES_MAX (65535 - WH_IPV6_BYTES - WH_UDP_BYTES)

struct wh_udp_pkt {
	uint32_t bytes;
	uint32_t first_part;
	uint32_t parts; /* 1 or 2 */
	bool cut;       /* into fragments, which is of IPv6 alone */
	const struct wh_address *to;
};

union wh_udp_control {
	char bytes[CMSG_SPACE(sizeof(uint16_t))];
	struct cmsghdr align;
};

struct wh_udp_batch {
	uint8_t *memory; /* WH_UDP_BURST slots */
	uint32_t slot_bytes;
	uint32_t pkts;
	uint32_t messages;
	uint32_t next; /* the first message that was not sent */
	struct wh_udp_pkt pkt[WH_UDP_BURST];
	struct iovec part[2 * WH_UDP_BURST];
	struct mmsghdr message[WH_UDP_BURST];
	uint32_t first_pkt[WH_UDP_BURST]; /* by message */
	union wh_sockaddr to[WH_UDP_BURST];
	union wh_udp_control control[WH_UDP_BURST];
};

/* For packets of up to that MTU; 0 or -ENOMEM. */
int wh_udp_batch_init(struct wh_udp_batch *batch, uint16_t mtu);
void wh_udp_batch_free(struct wh_udp_batch *batch);

static inline uint8_t *wh_udp_batch_slot(const struct wh_udp_batch *batch, uint32_t i)
{
	return batch->memory + (size_t)i * batch->slot_bytes;
}

static inline bool wh_udp_batch_waits(const struct wh_udp_batch *batch)
{
	return batch->next < batch->messages;
}

static inline bool wh_udp_batch_message_cut(const struct wh_udp_batch *batch, uint32_t i)
{
	return batch->pkt[batch->first_pkt[i]].cut;
}

static inline uint32_t wh_udp_batch_message_pkts(const struct wh_udp_batch *batch, uint32_t i)
{
	return (i + 1 < batch->messages ? batch->first_pkt[i + 1] : batch->pkts) -
	       batch->first_pkt[i];
}

/*
 * Makes messages of those packets, at most segments_max in each. Packet i has its head in slot i.
 */
void wh_udp_batch_fill(struct wh_udp_batch *batch, const struct wh_out *out, uint32_t count,
	uint32_t segments_max);

/* Makes the messages that are not sent anew, with one packet in each. */
void wh_udp_batch_split(struct wh_udp_batch *batch);

/* Copies what lies elsewhere: the chunks of messages that wait may change from now on. */
void wh_udp_batch_keep(struct wh_udp_batch *batch);
