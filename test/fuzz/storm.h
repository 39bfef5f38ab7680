/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Two ends of a connection, and a liar on the path between them who may drop, hold back, repeat,
 * change and invent packets. To each end the liar is a hostile peer whose state is as deep as an
 * honest one's. Whatever an end is told, it keeps its promises; storm.c asserts them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "../rig/stream.h"
#include "encode.h"
#include "endpoint/endpoint.h"
#include "liar.h"
#include "script.h"
#include "tally.h"

#define WH_STORM_WAITING  256 /* packets on their way to an end */
#define WH_STORM_ACCEPTED 16  /* receivers, one after the other */

struct wh_post {
	uint32_t bytes;
	uint8_t data[WH_FUZZ_PACKET_BYTES_MAX];
};

/* Of an end, by enum wh_role. */
struct wh_storm_end {
	struct wh_endpoint endpoint;
	struct wh_address address;
	struct wh_profile profile;
	struct wh_profile_options options;
	uint32_t chunks;
	uint8_t *memory;
	struct wh_session *session;
	enum wh_phase phase;
	enum wh_release_status outcome;
	bool leaving; /* asked to close, and not gone yet */

	/* What the liar does to packets on their way to it. */
	uint64_t shift; /* added to data packet numbers */
	uint32_t lie_one_in;
	uint32_t lose_one_in;
	uint32_t take_one_in; /* how rarely its port has room for what it sends */
	bool lied_to;

	/* Of post[], the first n_waiting of `order` are under way, oldest first. */
	uint32_t n_waiting;
	uint32_t order[WH_STORM_WAITING];
	struct wh_post post[WH_STORM_WAITING];
};

struct wh_storm {
	struct wh_script script;
	struct wh_liar liar;
	uint64_t hz;
	uint64_t now_tsc;
	uint64_t seed;
	uint32_t payload_bytes;
	uint32_t chunk_bytes;
	uint32_t window_pkts;
	uint64_t object_bytes;
	uint64_t rate_bps;
	uint32_t burst_pkts;
	uint64_t first_pn;              /* that the receiver is to believe in */
	uint32_t period_us;             /* likewise; 0: the truth */
	struct wh_repair_config repair; /* that the transmitter proposes */
	bool told_verified; /* the transmitter, truly or not, after it had said its digest */
	struct wh_stream_source source;
	struct wh_stream_sink sink; /* of the latest receiver */
	uint32_t n_accepted;
	uint32_t accepted_cid[WH_STORM_ACCEPTED];
	struct wh_storm_end end[2];
};

/* Of all the storms there were: what was delivered. */
extern struct wh_tally wh_storm_tally;

/* Draws the ends and opens the transmitter's. */
void wh_storm_begin(struct wh_storm *storm, const uint8_t *script, size_t length);

/* A packet reaches an end from that address. */
void wh_storm_deliver(struct wh_storm *storm, enum wh_role to, const uint8_t *bytes,
	uint32_t length, const struct wh_address *from);

/* The i-th of those under way to that end reaches it, and may do so again if it is kept. */
void wh_storm_deliver_waiting(struct wh_storm *storm, enum wh_role to, uint32_t i, bool keep);

/* Takes at most `count` packets that an end sends; returns how many there were. */
uint32_t wh_storm_take(struct wh_storm *storm, enum wh_role from, uint32_t count);

int32_t wh_storm_poll_users(struct wh_storm *storm);

/* The receiver, if its outcome is known, is to make room for another. */
void wh_storm_clear_receiver(struct wh_storm *storm);

/* Everything that the ends promise. */
void wh_storm_check(struct wh_storm *storm);

void wh_storm_end(struct wh_storm *storm);
