/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Two session ends over two directions of lib/lab/netem in virtual time, with a source and a sink
 * at the far ends (stream.h), which know the sessions as users on other cores do. Everything
 * follows from the configuration: the same one gives the same run, event for event.
 */

#include <stdbool.h>
#include <stdint.h>

#include "../rig/stream.h"
#include "lab/netem/netem.h"
#include "seal/sa.h"
#include "session/session.h"

/* What is to happen besides the transfer. */
enum wh_world_event {
	WH_WORLD_NOTHING,
	WH_WORLD_CUT,            /* both directions fall silent for good */
	WH_WORLD_ABORT_SENDER,   /* an operator interrupts the transmitter ... */
	WH_WORLD_ABORT_RECEIVER, /* ... or the receiver */
	WH_WORLD_SINK_FULL,      /* the writer reports a full disk */
	WH_WORLD_SOURCE_STOPS,   /* the reader hangs for good */
	WH_WORLD_SOURCE_PAUSES,  /* the stream lies idle for WH_WORLD_PAUSE_NS and goes on */
	WH_WORLD_CLOSE_SENDER,   /* the users of one end let go without a word */
	WH_WORLD_CLOSE_RECEIVER,
	WH_WORLD_EVENTS,
};

struct wh_world_config {
	uint64_t hz;
	uint64_t seed;
	enum wh_cipher cipher; /* 0: packets have checksums alone */
	const struct wh_profile *profile;
	struct wh_profile_options options;
	uint64_t send_rate_bps; /* of `fixed`, and upper bound of others; 0: none */
	uint32_t mtu_bytes;
	uint32_t chunk_bytes;
	uint32_t chunks_sender;
	uint32_t chunks_receiver;
	uint32_t window_pkts;
	uint32_t burst_pkts;
	struct wh_known_path known; /* the sender's */
	struct wh_repair_config repair;
	uint64_t object_bytes;
	bool size_unknown;       /* to the sessions */
	bool short_chunks;       /* of random sizes anywhere in the stream */
	bool close_early;        /* users close when the outcome is known, not when all is said */
	uint64_t writer_rest_ns; /* the writer is polled only this often; 0: whenever */
	uint64_t reader_rest_ns; /* likewise, and yields a chunk each time; 0: all at once */
	uint64_t steal_ns; /* others have the sender's core every second span of this; 0: nobody */
	uint64_t steal_receiver_ns; /* likewise the receiver's */
	/*
	 * The receiver's bookkeeping has a core of its own, which looks after pauses of up to
	 * books_ns, and now and then one of WH_WORLD_BOOKS_STOP_NS. 0: it is done at once, where
	 * packets are taken. So do the sender's acknowledgements.
	 */
	uint64_t books_ns;
	uint64_t sender_books_ns;
	struct wh_link_model forward;
	struct wh_link_model reverse;
	uint64_t heal_ns; /* from then on both directions are clean; never: UINT64_MAX */
	enum wh_world_event event;
	uint64_t event_ns;
	uint64_t limit_ns; /* by then both ends must be closed */
	bool check_deep;   /* walk all tables now and then */
	/*
	 * Instead of the world's own source and sink, whose stream is then never looked at; called
	 * after every event, receiver NULL before CONFIRM. How much was done.
	 */
	int32_t (*poll_users)(void *context, uint64_t now_tsc, struct wh_session *sender,
		struct wh_session *receiver);
	void *context;
};

#define WH_WORLD_BOOKS_STOP_NS (UINT64_C(50) * 1000000)

#define WH_WORLD_PAUSE_NS (UINT64_C(7200) * 1000000000)

struct wh_world_result {
	bool in_time;
	enum wh_release_status sender;
	enum wh_release_status receiver;
	bool pattern_ok;       /* the writer found every byte right */
	uint64_t object_bytes; /* that the writer took */
	uint64_t end_ns;
	/* Of the receiver; 0: there was none, or not that. */
	uint64_t outcome_ns;
	uint64_t gone_ns;
	uint64_t events;
	uint64_t packet_hops; /* packets that entered a direction */
	struct wh_session_stats sender_stats;
	struct wh_session_stats receiver_stats;
	enum wh_limit stalled_by; /* of the sender, when it ended */
};

struct wh_world;

struct wh_world *wh_world_create(const struct wh_world_config *config);
void wh_world_destroy(struct wh_world *world);

/* Runs until both ends are closed and gone, or until virtual time until_ns. True: gone. */
bool wh_world_run(struct wh_world *world, uint64_t until_ns);

uint64_t wh_world_now_ns(const struct wh_world *world);
struct wh_session *wh_world_sender(struct wh_world *world);
struct wh_session *wh_world_receiver(struct wh_world *world); /* NULL before CONFIRM */
void wh_world_result(struct wh_world *world, struct wh_world_result *result);
