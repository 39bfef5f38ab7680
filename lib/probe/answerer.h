/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The end that is probed (prober.h is the other). An answerer records which packets of a prober's
 * trains arrive and when, and answers the prober's questions. It uses no session and no clock.
 *
 * The cost that a prober can cause is bounded by its own: an answer is never longer than its
 * question, goes only to the sender's address, and there is one per question. The first answer is a
 * cookie, which reaches the prober only if its address is genuine; before that nothing is kept.
 * With the cookie the prober gets one of a few places, each with room for the arrivals of one
 * train, until it is silent for a while or the cookie expires.
 *
 * If this process has SAs, only peers with an SA get answers. The first question is sealed by
 * the SA that it names, everything after it by a key of that SA about the cookie's proof. Each
 * authenticated packet counts once; packets older than the latest probe under the SA are ignored.
 *
 * Trains occupy the whole line, so `welcome` is asked for each question. When it does not return
 * PENDING, questions are answered with its reason, and the prober stops.
 */

#include <stdbool.h>
#include <stdint.h>

#include "seal/seal.h"
#include "track/replay.h"
#include "wire/cookie.h"
#include "wire/packet.h"

#define WH_ANSWERER_PLACES 2

/* Default number of arrivals recorded per train. */
#define WH_ANSWERER_ROOM_PKTS 32768

/* Lifetime of a cookie, and so of a probe. */
#define WH_ANSWERER_LIFETIME_S 60

/* After this long without a packet a place may be given to another prober. */
#define WH_ANSWERER_PATIENCE_S 3

struct wh_answerer_stats {
	uint64_t asks;
	uint64_t refused_asks;
	uint64_t probes;          /* begun */
	uint64_t train_pkts;      /* received, recorded or not */
	uint64_t answers;         /* to echoes, and with arrivals */
	uint64_t bad_cookie_pkts; /* without a valid cookie */
	uint64_t no_place_pkts;
	uint64_t stale_pkts; /* of an older train, or contradicting the latest */
	/* Only if this process has SAs. */
	uint64_t unsealed_pkts;
	uint64_t no_sa_pkts; /* under an SA that is unknown here */
	uint64_t replayed_pkts;
	uint64_t hurried_pkts; /* exceeding WH_ANSWERER_KEYS_PER_S */
};

/* Replay window of packets under an SA. */
#define WH_ANSWERER_WINDOW_PKTS (UINT32_C(1) << 16)

/* Keys derived per second for first packets, which are not authenticated yet. */
#define WH_ANSWERER_KEYS_PER_S 1000

struct wh_answerer_config {
	uint64_t hz;
	uint8_t key[WH_SIPHASH_KEY_BYTES]; /* the listener's secret */
	uint32_t room_pkts;                /* recorded per place; up to WH_PROBE_PKTS_MAX */
	struct wh_sadb *sadb;              /* of this process; NULL: nothing is sealed */
	/* WH_STATUS_PENDING, or why this peer may not probe now; SA NULL: it has none. */
	enum wh_release_status (*welcome)(void *context, uint64_t now_tsc,
		const struct wh_address *peer, const struct wh_sa *sa);
	void *context;
};

/* Of an authenticated prober. */
struct wh_answerer_place {
	struct wh_address peer;
	uint64_t made_us; /* of the prober's cookie, which identifies the place; 0: free */
	uint32_t sa;      /* our number of the SA; 0: none */
	struct wh_seal seal;
	struct wh_seal answer_seal;
	uint64_t begun_end;      /* lower packet numbers are of earlier probes */
	struct wh_replay window; /* with an SA */
	uint8_t *keys;           /* of both seals */
	uint64_t heard_tsc;      /* latest packet */
	uint32_t echoes;
	bool has_train;
	uint16_t train; /* the latest, of `count` packets */
	uint32_t count;
	uint32_t heard;
	uint32_t noted;
	uint64_t first_tsc; /* of the train's first arrival */
	uint64_t *arrival;  /* room_pkts, as in wh_probe_answer */
};

struct wh_answerer {
	struct wh_answerer_config config;
	struct wh_answerer_place place[WH_ANSWERER_PLACES];
	uint64_t *arrivals;
	/* Keys and replay windows of all places; NULL: this process has no SAs. */
	uint8_t *keys;
	uint64_t *windows;
	uint64_t pn;
	uint64_t next_key_tsc;
	struct wh_answerer_stats stats;
};

/* 0 or -ENOMEM. */
int wh_answerer_init(struct wh_answerer *answerer, const struct wh_answerer_config *config);
void wh_answerer_free(struct wh_answerer *answerer);

/*
 * A probe packet of no session, already peeked at; opened in place. The answer, *answer_bytes long,
 * goes back to `from`; 0: no answer. `answer` has room for WH_CONTROL_BYTES_MAX.
 */
enum wh_wire_reason wh_answerer_input(struct wh_answerer *answerer, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes);
