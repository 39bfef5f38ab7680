/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Makes packets that are well formed and untrue. It listens to a connection, remembers the numbers
 * that its ends told each other, and puts these, their neighbours and the limits of the format into
 * every field, so that the lies lie close to the truth.
 */

#include <stdbool.h>
#include <stdint.h>

#include "script.h"
#include "session/session.h"
#include "wire/packet.h"

#define WH_LIAR_KNOWN 32 /* numbers remembered of a kind */

/* Of fields, for what may stand in for them. */
enum wh_liar_kind {
	WH_LIAR_PN,    /* a data packet's place in the order, or next to one */
	WH_LIAR_COUNT, /* everything else */
	WH_LIAR_KINDS,
};

struct wh_liar {
	struct wh_script *script;
	uint64_t known[WH_LIAR_KINDS][WH_LIAR_KNOWN];
	struct wh_packet last[WH_PACKET_TYPES]; /* heard; of data and repair without the payload */
	struct wh_open_params proposed;         /* that the listener heard last, true or not */
	uint32_t cid[2];                        /* by enum wh_role: of that end; 0: not heard yet */
	uint64_t token[2];                      /* likewise */
	uint8_t payload[WH_PAYLOAD_BYTES_MAX];
};

void wh_liar_init(struct wh_liar *liar, struct wh_script *script);

/* An end said this. */
void wh_liar_hear(struct wh_liar *liar, const struct wh_packet *packet);

/*
 * Adds to every data packet number in the packet, which moves the connection along the number line.
 */
void wh_liar_shift(struct wh_packet *packet, uint64_t add);

/*
 * Changes a field or a few. What comes out is within the format's limits; false: it is not, or
 * nothing came of it, and the packet is to be forgotten.
 */
bool wh_liar_change(struct wh_liar *liar, struct wh_packet *packet);

/* What such a packet to that end is closed with. */
uint64_t wh_liar_token(const struct wh_liar *liar, enum wh_role to, enum wh_packet_type type);

/* One out of nothing but what is known, addressed to that end. */
bool wh_liar_forge(
	struct wh_liar *liar, enum wh_role to, enum wh_packet_type type, struct wh_packet *packet);
