/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/limit/ration.h"

#include "session/limit/shared_rate.h"
#include "session/session_internal.h"

/*
 * So much time's bytes are reserved at once. A smaller reservation costs more cycles per byte, a
 * larger one makes other sessions wait longer.
 */
#define TURN_US 100

#define TURN_BYTES_MAX (UINT64_C(64) << 10)

/* Packets granted before anything is reserved: enough for most requests. */
#define FIRST_PKTS 4

/*
 * How far a receiver grants ahead of what has arrived, the sum of three parts: the bytes of a round
 * trip, of at most RTT_MOST_MS; those of the time between two reports; and UNUSED_BYTES, for slow
 * streams, whose reports are rarer.
 */
#define RTT_MOST_MS  1000
#define STATES_MS    20
#define UNUSED_BYTES (UINT64_C(128) << 10)

void wh_ration_init(struct wh_session *s)
{
	bool grants = s->role == WH_RECEIVER && s->config.shared_rate != NULL;

	s->ration = (struct wh_ration){
		.rate = s->config.shared_rate,
		.granted_end = grants ? s->params.first_pn + FIRST_PKTS : WH_PN_MAX,
	};
	s->ration.told_end = s->ration.granted_end;
}

static uint64_t bytes_in(const struct wh_session *s, uint64_t time_us)
{
	return wh_muldiv_u64(wh_shared_rate_bps(s->ration.rate), time_us, 8 * WH_US_PER_S);
}

/* Reserves whole packets, since packets are granted. */
static void reserve(struct wh_session *s, uint64_t now_tsc)
{
	uint64_t most_bytes = wh_min_u64(bytes_in(s, TURN_US), TURN_BYTES_MAX);
	uint64_t pkts = wh_max_u64(most_bytes / s->config.wire_bytes, 1);

	s->ration.reserved_bytes = pkts * s->config.wire_bytes;
	s->ration.from_tsc = wh_shared_rate_reserve(
		s->ration.rate, s->config.hz, now_tsc, s->ration.reserved_bytes);
}

/* Takes the reservation if its time has come: 0, or all reserved bytes, which may move now. */
static uint64_t take(struct wh_session *s, uint64_t now_tsc)
{
	uint64_t bytes;

	if (s->ration.reserved_bytes == 0)
		reserve(s, now_tsc);
	if (now_tsc < s->ration.from_tsc)
		return 0;
	bytes = s->ration.reserved_bytes;
	s->ration.reserved_bytes = 0;
	return bytes;
}

bool wh_ration_allows(struct wh_session *s, uint64_t now_tsc)
{
	if (likely(s->ration.rate == NULL))
		return true;
	while (s->ration.left_bytes <= 0) {
		uint64_t bytes = take(s, now_tsc);

		if (bytes == 0)
			return false;
		s->ration.left_bytes += (int64_t)bytes;
	}
	return true;
}

uint64_t wh_ration_next_tsc(const struct wh_session *s)
{
	return s->ration.left_bytes <= 0 && s->ration.reserved_bytes > 0 ? s->ration.from_tsc : 0;
}

enum wh_limit wh_ration_limit(const struct wh_session *s, enum wh_limit limit)
{
	return s->ration.held_up && limit == WH_LIMIT_START ? WH_LIMIT_RATE : limit;
}

/* Reserves again as soon as a reservation is used up, so that the sessions take turns. */
void wh_ration_spend(struct wh_session *s, uint64_t now_tsc, uint32_t wire_bytes)
{
	if (likely(s->ration.rate == NULL))
		return;
	s->ration.left_bytes -= wire_bytes;
	if (s->ration.left_bytes <= 0 && s->ration.reserved_bytes == 0)
		reserve(s, now_tsc);
}

/* The end of what should be granted by now. */
static uint64_t wanted_end(const struct wh_session *s)
{
	uint64_t rtt_us = wh_min_u64(
		wh_tsc_to_us(s->config.hz, wh_rtt_get(&s->rtt)), RTT_MOST_MS * UINT64_C(1000));
	uint64_t unused_bytes = bytes_in(s, rtt_us + STATES_MS * 1000) + UNUSED_BYTES;
	uint64_t wanted = s->rx.table.highest_end + unused_bytes / s->config.wire_bytes;

	return wh_min_u64(wanted, wh_recv_table_upper(&s->rx.table));
}

void wh_ration_grant(struct wh_session *s, uint64_t now_tsc)
{
	uint64_t end;

	if (likely(s->ration.rate == NULL) || s->phase != WH_PHASE_RUNNING)
		return;
	end = wanted_end(s);
	while (s->ration.granted_end < end) {
		uint64_t bytes = take(s, now_tsc);

		if (bytes == 0)
			return;
		s->ration.granted_end += bytes / s->config.wire_bytes;
	}
}

uint64_t wh_ration_deadline(const struct wh_session *s)
{
	return s->ration.reserved_bytes > 0 && s->ration.granted_end < wanted_end(s)
		       ? s->ration.from_tsc
		       : WH_TSC_NEVER;
}

void wh_ration_note(struct wh_session *s, uint32_t payload_bytes)
{
	if (likely(s->ration.rate == NULL))
		return;
	s->ration.unused_bytes += s->config.payload_bytes - payload_bytes;
	if (s->ration.unused_bytes < s->config.wire_bytes)
		return;
	s->ration.unused_bytes -= s->config.wire_bytes;
	s->ration.granted_end++;
}

static uint64_t intake_pkts(const struct wh_session *s, uint64_t now_tsc)
{
	const struct wh_half *half = atomic_load_explicit(&s->half, memory_order_relaxed);
	uint64_t table_pkts = s->rx.table.size;

	return half != NULL ? wh_intake_pkts(&half->intake, s->config.hz, now_tsc, table_pkts)
			    : table_pkts;
}

/* Never below highest_end: such packets have arrived or have been sent. */
uint64_t wh_ration_upper(struct wh_session *s, uint64_t now_tsc)
{
	const struct wh_recv_table *table = &s->rx.table;
	uint64_t granted_end = wh_min_u64(wh_recv_table_upper(table), s->ration.granted_end);
	uint64_t intake_end = table->lower + intake_pkts(s, now_tsc);

	s->ration.behind = intake_end < granted_end;
	return wh_max_u64(wh_min_u64(granted_end, intake_end), table->highest_end);
}
