/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROBE_ANSWERER_H
#define WH_PROBE_ANSWERER_H

/*
 * The end that is probed (prober.h is the other): notes what arrives of another one's trains and
 * when, and answers his questions. It knows no session and keeps no clock.
 *
 * What who probes makes us spend is bounded by what he spends: an answer is never longer than the
 * question, goes nowhere but where the question came from, and there is one for each; the first one
 * is a cookie, which he gets only where he says he is, and without it nothing is kept of him. With
 * it he has one of a few places, each with room for the arrivals of one train, until he is silent
 * for a while or the cookie is too old.
 *
 * Where there are bonds he is a peer, and nobody else hears a word. A question is closed by the
 * bond that it names, all that follows by a key of that bond about the cookie's proof. Each proved
 * packet counts once: one that is older than the probe that its bond last began counts for nothing.
 *
 * Trains take a line for themselves, so that `welcome` is asked again and again: where it does not
 * say PENDING, questions are answered with its reason, and a prober stops.
 */

#include <stdbool.h>
#include <stdint.h>

#include "seal/seal.h"
#include "track/replay.h"
#include "wire/cookie.h"
#include "wire/packet.h"

#define WH_ANSWERER_PLACES 2

/* Arrivals that are noted of a train, for who has no reason for another number. */
#define WH_ANSWERER_ROOM_PKTS 32768

/* A cookie is good for so long, and so is a probe. */
#define WH_ANSWERER_LIFETIME_S 60

/* A place whose prober has said nothing for so long is another's. */
#define WH_ANSWERER_PATIENCE_S 3

struct wh_answerer_stats {
	uint64_t asks;
	uint64_t refused_asks;
	uint64_t probes;          /* that began */
	uint64_t train_pkts;      /* that came, noted or not */
	uint64_t answers;         /* to echoes, and about trains */
	uint64_t bad_cookie_pkts; /* of nobody who has asked, or asked long ago */
	uint64_t no_place_pkts;
	uint64_t stale_pkts; /* of a train before the latest, or contradicting it */
	/* Under bonds alone. */
	uint64_t unsealed_pkts; /* closed by none, ... */
	uint64_t unbound_pkts;  /* ... or by one that is not known */
	uint64_t replayed_pkts;
	uint64_t hurried_pkts; /* that wanted a key too soon after another */
};

/* Of packets of a probe under a bond: as far apart as those may come that count. */
#define WH_ANSWERER_WINDOW_PKTS (UINT32_C(1) << 16)

/* Keys that are worked out for who begins, in a second: he has proved nothing yet. */
#define WH_ANSWERER_KEYS_PER_S 1000

struct wh_answerer_config {
	uint64_t hz;
	uint8_t key[WH_SIPHASH_KEY_BYTES]; /* the listener's secret */
	uint32_t room_pkts;                /* of each place; up to WH_PROBE_PKTS_MAX */
	struct wh_bonds *bonds;            /* of this process; NULL: nothing is sealed */
	/* WH_STATUS_PENDING, or why this peer may not probe now; NULL: he has no bond. */
	enum wh_release_status (*welcome)(void *context, uint64_t now_tsc,
		const struct wh_address *peer, const struct wh_bond *bond);
	void *context;
};

/* Of a proved peer. */
struct wh_answerer_place {
	struct wh_address peer;
	uint64_t made_us; /* of its cookie, which is its name; 0: nobody's */
	uint32_t bond;    /* our number of his; 0: none */
	struct wh_seal seal;
	struct wh_seal answer_seal;
	uint64_t begun_end;      /* serials before are of probes before */
	struct wh_replay window; /* with a bond */
	uint8_t *keys;           /* of both seals */
	uint64_t heard_tsc;      /* latest */
	uint32_t echoes;
	bool has_train;
	uint16_t train; /* the latest, of `count` packets */
	uint32_t count;
	uint32_t heard;
	uint32_t noted;
	uint64_t first_tsc; /* its first arrival */
	uint64_t *arrival;  /* room_pkts, as in wh_probe_answer */
};

struct wh_answerer {
	struct wh_answerer_config config;
	struct wh_answerer_place place[WH_ANSWERER_PLACES];
	uint64_t *arrivals;
	uint8_t *keys;     /* of all places; NULL: there are no bonds */
	uint64_t *windows; /* likewise */
	uint64_t serial;
	uint64_t next_key_tsc;
	struct wh_answerer_stats stats;
};

/* 0 or -ENOMEM. */
int wh_answerer_init(struct wh_answerer *answerer, const struct wh_answerer_config *config);
void wh_answerer_free(struct wh_answerer *answerer);

/*
 * A packet that has been peeked at: a probe, and of no session. It is opened where it is. The
 * answer, *answer_bytes long, goes back to `from`; 0: there is none. `answer` has room for
 * WH_CONTROL_BYTES_MAX.
 */
enum wh_wire_reason wh_answerer_input(struct wh_answerer *answerer, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes);

#endif
