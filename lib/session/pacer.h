/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The pacer: when the next packet may be sent. The n-th packet is due at the sum of the intervals
 * before it. Fractions of a cycle are kept (44.20 fixed point), so that a rate is exact over any
 * number of packets.
 *
 * A late sender catches up by at most `burst_pkts` packets back to back. Lateness beyond that is
 * forfeited and counted, or owed: then packets are sent a third faster until it is recovered. A
 * histogram records how late each packet was.
 *
 * Without an interval a packet may be sent at any time, except before hold_until, and none counts
 * as late.
 *
 * A token lets one packet go before it is due, without charging an interval. Tokens do not expire;
 * a packet that is due needs none. In the other mode (by_tokens) every packet needs a token and
 * waits for its interval as well, and tokens may be withdrawn.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/histogram.h"
#include "profile/interval.h"

struct wh_pacer {
	uint64_t interval_fp; /* cycles between full packets, 44.20; 0: not paced */
	uint64_t due_tsc;     /* when the next packet is due, in whole cycles */
	uint64_t due_fp;      /* fraction of a cycle to add to due_tsc, below 2^20 */
	uint32_t full_bytes;  /* size of a full packet on the wire */
	uint32_t burst_pkts;  /* >= 1 */
	uint64_t tokens;      /* packets that may go before they are due */
	uint64_t granted;     /* total of tokens granted */
	bool by_tokens;       /* every packet needs a token */
	uint64_t allowed;     /* by tokens: total of packets that may be sent */
	uint64_t gone;        /* total of packets sent */
	uint64_t held_until_tsc;
	uint64_t burst_fp;      /* burst_pkts intervals: greater lateness is not caught up */
	uint64_t forfeited_tsc; /* lateness forfeited, other than in wait for a token */
	uint64_t owed_tsc;      /* lateness to be recovered */
	uint64_t owed_most_tsc; /* lateness beyond this is forfeited */
	bool waited;            /* for a token, which does not count as lateness */
	uint64_t late_tsc;      /* largest lateness that a burst caught up, since it was read */
	struct wh_histogram lateness_tsc;
};

void wh_pacer_init(
	struct wh_pacer *pacer, uint64_t now_tsc, uint32_t full_bytes, uint32_t burst_pkts);

/* 0, or within interval.h's bounds. Applies from the next packet on. */
void wh_pacer_set_interval(struct wh_pacer *pacer, uint64_t interval_fp);

/* Most packets back to back when the sender is late. Applies from the next packet on. */
void wh_pacer_set_burst(struct wh_pacer *pacer, uint32_t burst_pkts);

/* Most lateness that is owed rather than forfeited. Applies from the next packet on. */
void wh_pacer_set_owed_most(struct wh_pacer *pacer, uint64_t owed_most_tsc);

/* Sets the total of tokens granted; a smaller total than before is ignored. */
void wh_pacer_grant(struct wh_pacer *pacer, uint64_t granted);

/* From the first call on every packet needs a token; `allowed` is the total that may be sent. */
void wh_pacer_allow(struct wh_pacer *pacer, uint64_t allowed);

/* Whether the next packet waits for a token, whatever the time. */
static inline bool wh_pacer_tokens_out(const struct wh_pacer *pacer)
{
	return pacer->by_tokens && pacer->gone >= pacer->allowed;
}

/* When the next packet may be sent; WH_TSC_NEVER: it waits for a token. */
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
 * A packet of wire_bytes is sent at now_tsc. The next packet is due one interval, in proportion to
 * wire_bytes, after this one was due, not after it was sent. A packet sent before it is due
 * (control, the second of a pair) uses a token. Without a token it is charged like any other, so
 * that the mean rate holds.
 */
void wh_pacer_charge(struct wh_pacer *pacer, uint64_t now_tsc, uint32_t wire_bytes);

/* The next packet waits for one interval at most, even if earlier intervals were longer. */
void wh_pacer_hasten(struct wh_pacer *pacer, uint64_t now_tsc);

/* Nothing was to be sent until now: the unused time does not count as lateness. */
void wh_pacer_idle(struct wh_pacer *pacer, uint64_t now_tsc);

/* No packet is sent before until_tsc, with a token or without. */
void wh_pacer_hold_until(struct wh_pacer *pacer, uint64_t until_tsc);

/*
 * A busy CPU makes packets late, and a burst makes up for it. Returns the greatest lateness that
 * was made up for since the last call.
 */
static inline uint64_t wh_pacer_take_late(struct wh_pacer *pacer)
{
	uint64_t late_tsc = pacer->late_tsc;

	pacer->late_tsc = 0;
	return late_tsc;
}

/* The lateness in cycles that at least `share` (0 to 1) of the packets did not exceed. */
static inline uint64_t wh_pacer_lateness_quantile(const struct wh_pacer *pacer, double share)
{
	return wh_histogram_quantile(&pacer->lateness_tsc, share);
}
