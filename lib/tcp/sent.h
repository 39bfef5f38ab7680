/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TCP_SENT_H
#define WH_TCP_SENT_H

/*
 * What a sender with selective acknowledgements knows of each segment that is outstanding: when it
 * went, what had been delivered by then, whether it has arrived or is taken for lost, and whether
 * it goes again. Those under way are in a list by the time they went, as RFC 8985 wants it. All
 * costs what the segments are worth that an acknowledgement brings, however large the window.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tcp/ranges.h"

#define WH_SIM_NO_SERIAL UINT64_MAX

struct wh_sim_sent_slot {
	uint64_t sent_ps;       /* the latest time */
	uint64_t first_sent_ps; /* the rate's state when it went */
	uint64_t delivered_pkts;
	uint64_t delivered_ps;
	uint64_t earlier; /* in the list; NO_SERIAL: the end of it */
	uint64_t later;
	bool listed;      /* under way, or so it is believed */
	bool sacked : 1;  /* arrived, beyond what is acknowledged in order */
	bool lost : 1;    /* so it is believed, of the first one that went */
	bool again : 1;   /* and the one that went instead is under way */
	bool twice : 1;   /* it went more than once */
	bool limited : 1; /* it went when the user had no more */
};

struct wh_sim_sent {
	struct wh_sim_sent_slot *slot; /* by serial, modulo slots, a power of two */
	uint32_t slots;
	uint64_t una;
	uint64_t end;
	uint64_t oldest;
	uint64_t newest;
	uint64_t sacked_pkts;
	uint64_t lost_pkts;
	uint64_t again_pkts;
	uint64_t lost_ever_pkts;
	struct wh_sim_ranges sacked;
	struct wh_sim_ranges lost; /* to go again; may hold some that have arrived meanwhile */
};

void wh_sim_sent_init(struct wh_sim_sent *sent);
void wh_sim_sent_free(struct wh_sim_sent *sent);

static inline struct wh_sim_sent_slot *wh_sim_sent_slot(
	const struct wh_sim_sent *sent, uint64_t serial)
{
	return &sent->slot[serial & (sent->slots - 1)];
}

static inline uint64_t wh_sim_sent_in_flight(const struct wh_sim_sent *sent)
{
	return sent->end - sent->una - sent->sacked_pkts - sent->lost_pkts + sent->again_pkts;
}

/* It goes, for the first time (serial == end) or again; the rest of its slot is the caller's. */
struct wh_sim_sent_slot *wh_sim_sent_note(
	struct wh_sim_sent *sent, uint64_t now_ps, uint64_t serial);

/* The next one from `serial` on, and below `end`, that is not known to have arrived; or `end`. */
uint64_t wh_sim_sent_unsacked(const struct wh_sim_sent *sent, uint64_t serial, uint64_t end);

/* It has arrived: in order, in which case una goes on behind it, or beyond a hole. */
void wh_sim_sent_pass(struct wh_sim_sent *sent);
void wh_sim_sent_sack(struct wh_sim_sent *sent, uint64_t serial);

/* Taken for lost; the second time: what went instead of it. */
void wh_sim_sent_lose(struct wh_sim_sent *sent, uint64_t serial);

/* The lowest that is lost and has not gone again; NO_SERIAL: none. */
uint64_t wh_sim_sent_lowest_lost(struct wh_sim_sent *sent);

/* None is lost after all. */
void wh_sim_sent_lose_none(struct wh_sim_sent *sent);

#endif
