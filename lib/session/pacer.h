/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_PACER_H
#define WH_SESSION_PACER_H

/*
 * When may the next packet go? The n-th packet is due at the sum of the intervals before it, with
 * fractions of a cycle kept (44.20 fixed point), so that a rate is exact over any number of
 * packets. When the sender comes late it catches up, but by no more than `burst_pkts` packets
 * back to back: what is later than that is forfeited, and counted, or it is owed: packets go a
 * third faster until that is made good.
 *
 * Without an interval a packet may go at any time (but see hold_until), and none counts as late.
 *
 * A token lets one packet go before it is due: it is taken, and nothing is charged. Tokens wait for
 * packets however long; what is due by the interval needs none.
 *
 * Or a packet always needs a token, and waits for the interval as well: then they may be taken
 * back.
 *
 * How late each packet was goes into a histogram.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/histogram.h"
#include "profile/interval.h"

struct wh_pacer {
	uint64_t interval_fp; /* cycles between full packets, 44.20; 0: no pacing */
	uint64_t due_tsc;     /* next packet's due time, whole cycles ... */
	uint64_t due_fp;      /* ... and fraction, below 2^20 */
	uint32_t full_bytes;  /* what a full packet takes on the wire */
	uint32_t burst_pkts;  /* >= 1 */
	uint64_t tokens;      /* packets that may go before they are due */
	uint64_t granted;     /* tokens that there ever were */
	bool by_tokens;       /* no packet without one: */
	uint64_t allowed;     /* so many may have gone ... */
	uint64_t gone;        /* ... and so many have, ever */
	uint64_t held_until_tsc;
	uint64_t burst_fp;      /* burst_pkts intervals: as late as this is too late */
	uint64_t forfeited_tsc; /* lateness given up */
	uint64_t owed_tsc;      /* lateness to be made good */
	uint64_t owed_most_tsc; /* more is given up */
	bool waited;            /* for a token: nobody was late */
	uint64_t late_tsc;      /* the latest of a burst, since it was taken */
	struct wh_histogram lateness_tsc;
};

void wh_pacer_init(
	struct wh_pacer *pacer, uint64_t now_tsc, uint32_t full_bytes, uint32_t burst_pkts);

/* 0, or within interval.h's bounds. From the next packet on; what is charged stays charged. */
void wh_pacer_set_interval(struct wh_pacer *pacer, uint64_t interval_fp);

/* From the next packet on: late, so many go back to back. */
void wh_pacer_set_burst(struct wh_pacer *pacer, uint32_t burst_pkts);

/* From the next packet on: so much is owed at most, where none waited for a token. */
void wh_pacer_set_owed_most(struct wh_pacer *pacer, uint64_t owed_most_tsc);

/* There were so many tokens ever; less than before means as many as before. */
void wh_pacer_grant(struct wh_pacer *pacer, uint64_t granted);

/* From the first call on no packet goes without a token: so many may have gone, ever. */
void wh_pacer_allow(struct wh_pacer *pacer, uint64_t allowed);

/* Whatever the time: a token is missing. */
static inline bool wh_pacer_tokens_out(const struct wh_pacer *pacer)
{
	return pacer->by_tokens && pacer->gone >= pacer->allowed;
}

/* When the next packet may go; WH_TSC_NEVER: when there is a token. */
static inline uint64_t wh_pacer_next_tsc(const struct wh_pacer *pacer)
{
	if (wh_pacer_tokens_out(pacer))
		return WH_TSC_NEVER;
	return pacer->tokens > 0 && pacer->held_until_tsc < pacer->due_tsc ? pacer->held_until_tsc
									   : pacer->due_tsc;
}

/* May a packet go now? */
static inline bool wh_pacer_due(const struct wh_pacer *pacer, uint64_t now_tsc)
{
	if (wh_pacer_tokens_out(pacer))
		return false;
	return now_tsc >= pacer->due_tsc || (pacer->tokens > 0 && now_tsc >= pacer->held_until_tsc);
}

/*
 * A packet of wire_bytes goes at now_tsc: the next is due one (proportional) interval after this
 * one was, not after it went. Packets sent before they are due (control, the second of a pair)
 * take a token; without one they are charged alike, so that the mean rate holds.
 */
void wh_pacer_charge(struct wh_pacer *pacer, uint64_t now_tsc, uint32_t wire_bytes);

/* The next packet waits for one interval at most: what a slower pace has charged is forgotten. */
void wh_pacer_hasten(struct wh_pacer *pacer, uint64_t now_tsc);

/* There was nothing to send until now: time unused is not saved up. */
void wh_pacer_idle(struct wh_pacer *pacer, uint64_t now_tsc);

/* No packet before then, with a token or without. */
void wh_pacer_hold_until(struct wh_pacer *pacer, uint64_t until_tsc);

/*
 * How late a burst went for want of a CPU since this was asked before, at most; what is forfeited
 * is no burst's.
 */
static inline uint64_t wh_pacer_take_late(struct wh_pacer *pacer)
{
	uint64_t late_tsc = pacer->late_tsc;

	pacer->late_tsc = 0;
	return late_tsc;
}

/* Cycles that at least `share` (0 to 1) of the packets were not later than: histogram.h. */
static inline uint64_t wh_pacer_lateness_quantile(const struct wh_pacer *pacer, double share)
{
	return wh_histogram_quantile(&pacer->lateness_tsc, share);
}

#endif
