/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The path between two ends, in the hands of somebody who reads all that passes and forwards what
 * he likes: he drops, delays, repeats, sends back, alters, joins the parts of several packets, and
 * makes packets of his own, from either address. He knows no key. Until he tires of it; from then
 * on all that is sent arrives, and what he adds goes on.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "wire/encap.h"
#include "wire/packet.h"

#define WH_FOE_ROOM  2048
#define WH_FOE_KEEPS 256 /* packets that he remembers: a power of two */

/* What he does with a packet, in thousandths; what is added is added to any. */
struct wh_foe_habits {
	uint64_t tires_tsc;
	uint64_t delay_tsc; /* of the path, there and back each */
	uint64_t later_tsc; /* the most that he adds */
	uint32_t drops;
	uint32_t delays;
	uint32_t alters; /* and drops the true one */
	uint32_t adds[6];
	bool never_stops; /* to add */
};

enum wh_foe_act {
	WH_FOE_REPEATS,
	WH_FOE_REFLECTS,
	WH_FOE_REPLAYS, /* any packet that he remembers, to either end */
	WH_FOE_ALTERS,
	WH_FOE_JOINS, /* head, body and tag of different packets */
	WH_FOE_INVENTS,
	WH_FOE_ACTS,
};

struct wh_foe_parcel {
	uint64_t due_tsc;
	uint64_t number; /* those due at once keep their order */
	uint8_t to;      /* 0 or 1 */
	uint8_t from;    /* whose address it bears; 2: a stranger's */
	uint32_t bytes;
	uint8_t data[WH_FOE_ROOM];
};

struct wh_foe {
	struct wh_foe_habits habits;
	struct wh_prng prng;
	struct wh_foe_parcel **heap; /* the next one first */
	uint32_t parcels;
	uint32_t room;
	struct wh_foe_parcel *spare;
	struct wh_foe_parcel *kept; /* WH_FOE_KEEPS */
	uint64_t seen;
	uint64_t number;
	uint64_t done[WH_FOE_ACTS];
	uint64_t dropped;
	uint64_t altered;
};

/* Habits drawn by the seed but for the times. */
void wh_foe_open(struct wh_foe *foe, uint64_t seed, uint64_t hz);
void wh_foe_close(struct wh_foe *foe);

/* An end sends a packet to the other one. */
void wh_foe_meet(struct wh_foe *foe, uint64_t now_tsc, uint8_t to, const uint8_t *head,
	uint32_t head_bytes, const uint8_t *payload, uint32_t payload_bytes);

/* The next one that is due, until the next call; NULL: none. */
struct wh_foe_parcel *wh_foe_take(struct wh_foe *foe, uint64_t now_tsc);
uint64_t wh_foe_deadline(const struct wh_foe *foe);
