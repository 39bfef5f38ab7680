/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A selective-acknowledgement sender's state per outstanding segment: when it was sent, what had
 * been delivered by then, whether it arrived, is marked as lost or was retransmitted. Segments in
 * flight are in a list by sending time, as in RFC 8985. An acknowledgement costs time in proportion
 * to the segments it covers, however large the window.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/tcp/ranges.h"

#define WH_SIM_NO_PN UINT64_MAX

struct wh_sim_sent_slot {
	uint64_t sent_ps;       /* latest transmission */
	uint64_t first_sent_ps; /* rate estimation state at transmission */
	uint64_t delivered_pkts;
	uint64_t delivered_ps;
	uint64_t in_flight_pkts; /* at transmission, with it */
	uint64_t lost_ever_pkts; /* lost until then */
	uint64_t earlier;        /* in the list; NO_PN: none */
	uint64_t later;
	bool listed;      /* in flight, as far as known */
	bool sacked : 1;  /* arrived, above una */
	bool lost : 1;    /* the first transmission is marked as lost */
	bool again : 1;   /* and a retransmission is in flight */
	bool twice : 1;   /* sent more than once */
	bool limited : 1; /* sent while application-limited */
};

struct wh_sim_sent {
	struct wh_sim_sent_slot *slot; /* by packet number, modulo slots, a power of two */
	uint32_t slots;
	uint64_t una;
	uint64_t end;
	uint64_t oldest;
	uint64_t newest;
	uint64_t sacked_pkts;
	uint64_t lost_pkts;
	uint64_t retransmitted_pkts;
	uint64_t lost_ever_pkts;
	struct wh_sim_ranges sacked;
	struct wh_sim_ranges lost; /* to be retransmitted; may include some that have arrived */
};

void wh_sim_sent_init(struct wh_sim_sent *sent);
void wh_sim_sent_free(struct wh_sim_sent *sent);

static inline struct wh_sim_sent_slot *wh_sim_sent_slot(const struct wh_sim_sent *sent, uint64_t pn)
{
	return &sent->slot[pn & (sent->slots - 1)];
}

static inline uint64_t wh_sim_sent_in_flight(const struct wh_sim_sent *sent)
{
	return sent->end - sent->una - sent->sacked_pkts - sent->lost_pkts +
	       sent->retransmitted_pkts;
}

/*
 * Records a transmission, the first (packet number == end) or a repeated one; the caller fills in
 * the rest of the slot.
 */
struct wh_sim_sent_slot *wh_sim_sent_note(struct wh_sim_sent *sent, uint64_t now_ps, uint64_t pn);

/* The first packet number from `pn` on, below `end`, not known to have arrived; or `end`. */
uint64_t wh_sim_sent_unsacked(const struct wh_sim_sent *sent, uint64_t pn, uint64_t end);

/* Arrival: pass, of una in order, which advances una; sack, beyond a hole. */
void wh_sim_sent_pass(struct wh_sim_sent *sent);
void wh_sim_sent_sack(struct wh_sim_sent *sent, uint64_t pn);

/* Marks a segment as lost; the second time, its retransmission. */
void wh_sim_sent_lose(struct wh_sim_sent *sent, uint64_t pn);

/* The lowest lost packet number that is not retransmitted yet; NO_PN: none. */
uint64_t wh_sim_sent_lowest_lost(struct wh_sim_sent *sent);

/* Clears all loss marks. */
void wh_sim_sent_lose_none(struct wh_sim_sent *sent);
