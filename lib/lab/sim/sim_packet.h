/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A packet of the simulator: destination, length, and its agent's content. Payload is virtual: it
 * has a length and no bytes. Packets come from a pool that grows to the number in flight at once.
 */

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/sim/event.h" /* picoseconds */
#include "wire/packet.h"

#define WH_SIM_SACKS_MAX 3 /* ranges in one acknowledgement: those that fit beside timestamps */

/* Segments are numbered from 0 and all full, as in ns-2's one-way TCPs. */
struct wh_sim_sack {
	uint64_t first;
	uint64_t end; /* one past the last */
};

struct wh_sim_segment {
	uint64_t pn; /* data: its number; acknowledgement: the next number expected */
	bool retransmission;
	uint8_t probe; /* position in a train, from 1 on, echoed by the acknowledgement; 0: none */
	uint8_t n_sacks;
	struct wh_sim_sack sack[WH_SIM_SACKS_MAX]; /* the latest first, RFC 2018 */
};

/* An engine's packet: a head and payload by length, or a control packet. */
struct wh_sim_datagram {
	uint32_t head_bytes; /* above WH_HEAD_BYTES: control packet, held in `control` */
	uint32_t payload_bytes;
	uint8_t head[WH_HEAD_BYTES];
};

/* Above any packet, and small enough that bits times WH_PS_PER_S fit into 64 bits. */
#define WH_SIM_PACKET_BYTES_MAX (1U << 20)

static_assert(WH_SIM_PACKET_BYTES_MAX <= UINT64_MAX / (8 * WH_PS_PER_S), "times do not overflow");

/* Transmission time, rounded up to whole picoseconds so that no packet exceeds the rate. */
static inline uint64_t wh_sim_line_ps(uint32_t bytes, uint64_t rate_bps)
{
	return bytes == 0 ? 0 : (8 * WH_PS_PER_S * bytes - 1) / rate_bps + 1;
}

struct wh_sim_packet {
	alignas(64) struct wh_sim_packet *next; /* in its queue, in the pool */
	uint64_t moment_ps;                     /* in a queue: arrival there */
	uint32_t bytes;                         /* as counted by queues and links */
	uint32_t flow;
	uint32_t to;      /* agent */
	uint8_t *control; /* WH_CONTROL_BYTES_MAX bytes, from wh_sim_packet_add_control; or NULL */
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
struct wh_sim_packet *wh_sim_fifo_pop(struct wh_sim_fifo *fifo); /* NULL: empty */

/* Header of each block in a linked list of them. */
struct wh_sim_slab {
	struct wh_sim_slab *next;
};

/* Packets, and buffers for control packets. */
struct wh_sim_pool {
	struct wh_sim_packet *spare;
	struct wh_sim_slab *spare_control;
	struct wh_sim_slab *slabs; /* all memory, for wh_sim_pool_free */
	uint64_t in_use_pkts;
	uint64_t in_use_pkts_max;
};

void wh_sim_pool_init(struct wh_sim_pool *pool);
void wh_sim_pool_free(struct wh_sim_pool *pool);

/* Only next and control are defined: both NULL. */
struct wh_sim_packet *wh_sim_packet_get(struct wh_sim_pool *pool);
void wh_sim_packet_put(struct wh_sim_pool *pool, struct wh_sim_packet *packet);

/* A buffer for a control packet, returned to the pool with the packet. */
uint8_t *wh_sim_packet_add_control(struct wh_sim_pool *pool, struct wh_sim_packet *packet);
