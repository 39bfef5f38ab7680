/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_PACKET_H
#define WH_SIM_PACKET_H

/*
 * A packet of the simulator: where it goes, how long it is, and what its agent wrote into it.
 * Payload is virtual: it has a length and no bytes. Packets come from a pool that grows to as
 * many as are in flight at once.
 */

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/event.h" /* picoseconds */
#include "wire/packet.h"

#define WH_SIM_SACKS_MAX 3 /* ranges in one acknowledgement: what fits beside timestamps */

/* Segments are numbered from 0 and all full, as in ns-2's one-way TCPs. */
struct wh_sim_sack {
	uint64_t first;
	uint64_t end; /* one past the last */
};

struct wh_sim_segment {
	uint64_t serial; /* data: its number; acknowledgement: the number of the next one wanted */
	bool retransmission;
	uint8_t probe; /* its place in a train, from 1 on, which comes back; 0: none */
	uint8_t n_sacks;
	struct wh_sim_sack sack[WH_SIM_SACKS_MAX]; /* the latest first, RFC 2018 */
};

/* Of an engine: its head, then payload of a length only; or a control packet. */
struct wh_sim_datagram {
	uint32_t head_bytes; /* above WH_HEAD_BYTES: of a control packet, in the packet's control */
	uint32_t payload_bytes;
	uint8_t head[WH_HEAD_BYTES];
};

/* Longer than any packet, and its bits times picoseconds of a second fit into 64 bits. */
#define WH_SIM_PACKET_BYTES_MAX (1U << 20)

static_assert(WH_SIM_PACKET_BYTES_MAX <= UINT64_MAX / (8 * WH_PS_PER_S), "times do not overflow");

/* For how long a packet is on a line: whole picoseconds, so that none is faster than its rate. */
static inline uint64_t wh_sim_line_ps(uint32_t bytes, uint64_t rate_bps)
{
	return bytes == 0 ? 0 : (8 * WH_PS_PER_S * bytes - 1) / rate_bps + 1;
}

struct wh_sim_packet {
	alignas(64) struct wh_sim_packet *next; /* in its queue, on its line, in the pool */
	uint64_t moment_ps; /* in a queue: when it came; on a line: when it arrives */
	uint32_t bytes;     /* that queues and lines count */
	uint32_t flow;
	uint32_t to;      /* agent */
	uint8_t *control; /* WH_CONTROL_BYTES_MAX of room, by wh_sim_packet_add_control; or NULL */
	union {
		struct wh_sim_segment segment;
		struct wh_sim_datagram datagram;
		uint64_t number; /* of a source without feedback */
	};
};

static_assert(offsetof(struct wh_sim_packet, segment) <= 64, "a hop touches one cache line");

/* First in, first out, linked through the packets. */
struct wh_sim_fifo {
	struct wh_sim_packet *first;
	struct wh_sim_packet *last;
	uint32_t count_pkts;
	uint64_t count_bytes;
};

void wh_sim_fifo_push(struct wh_sim_fifo *fifo, struct wh_sim_packet *packet);
/* Into its place by moment_ps, where all are in that order; behind those of the same. */
void wh_sim_fifo_insert(struct wh_sim_fifo *fifo, struct wh_sim_packet *packet);
struct wh_sim_packet *wh_sim_fifo_pop(struct wh_sim_fifo *fifo); /* NULL: empty */

/* The beginning of each piece of a list of them. */
struct wh_sim_slab {
	struct wh_sim_slab *next;
};

/* Packets, and rooms for control packets. */
struct wh_sim_pool {
	struct wh_sim_packet *spare;
	struct wh_sim_slab *spare_control;
	struct wh_sim_slab *slabs; /* all memory, to be freed with the pool */
	uint64_t in_use_pkts;
	uint64_t in_use_pkts_max;
};

void wh_sim_pool_init(struct wh_sim_pool *pool);
void wh_sim_pool_free(struct wh_sim_pool *pool);

/* All of it undefined but next and control, which are NULL. */
struct wh_sim_packet *wh_sim_packet_get(struct wh_sim_pool *pool);
void wh_sim_packet_put(struct wh_sim_pool *pool, struct wh_sim_packet *packet);

/* Room for a control packet, which goes back with the packet. */
uint8_t *wh_sim_packet_add_control(struct wh_sim_pool *pool, struct wh_sim_packet *packet);

#endif
