/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/hystart.h"

#include <math.h>

#include "base/assert.h"
#include "base/clock.h"
#include "lab/sim/event.h"

#define WINDOW_LEAST_PKTS 16
#define MS_PS             (WH_PS_PER_S / 1000)
#define CLOSE_PS          (2 * MS_PS)
#define SAMPLES           8
#define LATER_LEAST_PS    (4 * MS_PS)
#define LATER_MOST_PS     (16 * MS_PS)

/* Allowance for four bursts of a device, at most a millisecond. */
#define BURSTS_BYTES 262144.0
#define BURSTS_PS    MS_PS

static void begin_round(struct wh_sim_hystart *hystart, const struct wh_sim_hystart_ack *ack)
{
	hystart->begun = true;
	hystart->round_end = ack->next;
	hystart->round_ps = hystart->close_ps = ack->now_ps;
	hystart->least_ps = UINT64_MAX;
	hystart->samples = 0;
}

/* Closely spaced acknowledgements over half a round trip: the path is full. */
static bool train_is_long(struct wh_sim_hystart *hystart, const struct wh_sim_hystart_ack *ack)
{
	double bursts_ps = BURSTS_BYTES / ack->pace_bytes_ps * (double)WH_PS_PER_S;
	double most_ps = ((double)ack->min_rtt_ps + fmin(bursts_ps, (double)BURSTS_PS)) / 2;

	if (ack->now_ps - hystart->close_ps > CLOSE_PS)
		return false;
	hystart->close_ps = ack->now_ps;
	return (double)(ack->now_ps - hystart->round_ps) > most_ps;
}

static bool is_late(struct wh_sim_hystart *hystart, const struct wh_sim_hystart_ack *ack)
{
	uint64_t later_ps =
		wh_min_u64(wh_max_u64(ack->min_rtt_ps / 8, LATER_LEAST_PS), LATER_MOST_PS);

	if (ack->rtt_ps < hystart->least_ps)
		hystart->least_ps = ack->rtt_ps;
	if (hystart->samples < SAMPLES) {
		hystart->samples++;
		return false;
	}
	return hystart->least_ps > ack->min_rtt_ps + later_ps;
}

bool wh_sim_hystart_ends(struct wh_sim_hystart *hystart, const struct wh_sim_hystart_ack *ack)
{
	bool is_long, late;

	WH_ASSERT(ack->pace_bytes_ps > 0 && ack->rtt_ps >= ack->min_rtt_ps);
	if (!hystart->begun || ack->una > hystart->round_end)
		begin_round(hystart, ack);
	if (hystart->found || ack->cwnd_pkts < WINDOW_LEAST_PKTS)
		return hystart->found;
	is_long = train_is_long(hystart, ack);
	late = is_late(hystart, ack);
	hystart->found = is_long || late;
	return hystart->found;
}
