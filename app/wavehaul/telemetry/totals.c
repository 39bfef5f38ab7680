/* SPDX-License-Identifier: BSD-3-Clause */

/* All sessions, present and past: the answer of /wavehaul/totals. */

#include <assert.h>

#include "base/clock.h"
#include "job/request.h"
#include "telemetry/answer.h"
#include "telemetry/live.h"

/* Of one role: the counters so far, and the state of the present sessions. */
struct totals_sum {
	struct wh_past past;
	uint64_t live;
	uint64_t paced_bps;
	uint64_t rtt_least_tsc;
	uint64_t rtt_most_tsc;
};

static void add_session(struct totals_sum *sum, enum wh_role role, const struct wh_session *session)
{
	uint64_t rtt_tsc = wh_session_rtt_tsc(session);

	wh_past_add(&sum->past, role, session);
	sum->live++;
	if (role == WH_TRANSMITTER) {
		uint64_t rate_bps = wh_session_pace(session).rate_bps;

		/* A session without pacing has the line's rate, which must not be added up. */
		sum->paced_bps += wh_rate_is_paced(rate_bps) ? rate_bps : 0;
	}
	if (rtt_tsc == 0)
		return;
	sum->rtt_most_tsc = wh_max_u64(sum->rtt_most_tsc, rtt_tsc);
	sum->rtt_least_tsc =
		sum->rtt_least_tsc == 0 ? rtt_tsc : wh_min_u64(sum->rtt_least_tsc, rtt_tsc);
}

/*
 * Counters must not fall, but a session that has left its endpoint is not counted among those that
 * are gone until its worker notices. So this returns at least what was reported before. Under the
 * lock of enter.
 */
static struct wh_past_role never_falling(const struct wh_past_role *now, bool receives)
{
	static struct wh_past told;
	uint64_t *last = (uint64_t *)&told.role[receives];
	const uint64_t *next = (const uint64_t *)now;

	static_assert(sizeof(*now) % sizeof(uint64_t) == 0, "counters of 64 bits");
	for (size_t i = 0; i < sizeof(*now) / sizeof(uint64_t); i++)
		last[i] = wh_max_u64(last[i], next[i]);
	return told.role[receives];
}

static void add_all(struct totals_sum sum[2], const struct wh_host *host)
{
	for (struct wh_tel_found found = {.id = 0}; wh_tel_next_session(host, &found);)
		add_session(&sum[!found.transmits], found.transmits ? WH_TRANSMITTER : WH_RECEIVER,
			found.session);
}

static json_t *tell(const struct totals_sum *sum, bool receives, uint64_t hz)
{
	const struct wh_past_role *role = &sum->past.role[receives];
	json_t *data = json_object();

	wh_tel_put(data, "live", sum->live);
	wh_tel_put(data, "sessions", role->sessions);
	if (sum->rtt_most_tsc > 0) {
		wh_tel_put(data, "rtt_least_us", wh_tsc_to_us(hz, sum->rtt_least_tsc));
		wh_tel_put(data, "rtt_most_us", wh_tsc_to_us(hz, sum->rtt_most_tsc));
	}
	if (!receives) {
		wh_tel_put(data, "paced_bps", sum->paced_bps);
		for (uint32_t i = 0; i < WH_LIMITS; i++)
			wh_tel_put_about(data, "limited_by_", wh_limit_name((enum wh_limit)i),
				"_us", wh_tsc_to_us(hz, role->stats.limit_tsc[i]));
	}
	wh_tel_put_counters(data, &role->stats, role->moved_bytes, role->lost_pkts);
	return data;
}

json_t *wh_tel_totals(const char *params, bool at_once)
{
	const struct wh_host *host = wh_tel_enter_sessions();
	struct totals_sum sum[2] = {{.live = 0}};

	(void)params;
	(void)at_once;
	if (host == NULL)
		return NULL;

	uint64_t hz = host->ctx.hz;

	sum[false].past = sum[true].past = *wh_tel_past();
	add_all(sum, host);
	for (int receives = 0; receives < 2; receives++)
		sum[receives].past.role[receives] =
			never_falling(&sum[receives].past.role[receives], receives);
	wh_tel_leave_sessions();

	json_t *data = json_object();

	json_object_set_new(data, "transmitter", tell(&sum[false], false, hz));
	json_object_set_new(data, "receiver", tell(&sum[true], true, hz));
	return data;
}
