/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/planner.h"

#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "base/assert.h"

/*
 * How many losses r repair packets of tornado can repair in 99.9 % of random patterns, as measured
 * by test/perf/fec.c:
 *
 *   (0.79 - 3.5 / sqrt(r)) r    for k of 700 to 10,000 and r of 20 to 2,000
 *   0.77 r - 32                 from k = 700 on: a lower bound for k of 700 and r of 71 to 2,133,
 *                               and for k of 10,000
 *
 * The second counts if it is larger. The first is too careful for large r, where the limit is 0.818
 * (tornado_graph.h).
 */
#define TORNADO_SHARE       0.79
#define TORNADO_SHARE_ROOT  3.5
#define TORNADO_LARGE_PKTS  700
#define TORNADO_LARGE_SHARE 0.77
#define TORNADO_LARGE_LESS  32.0

/* A plan is reused while its estimates have changed by less than this share. */
#define SAME_PLAN 0.05

/* Memory of the mean burst length, in loss events. */
#define BURST_MEMORY 32.0

/* Probabilities below this are dropped from the distribution. */
#define NEGLIGIBLE 1e-18

/* Above this many packets, the number of losses is taken as normally distributed. */
#define COUNTED_PKTS 2048
#define COUNTS_MAX   (COUNTED_PKTS + 1)

/* Rule of three: without a loss among n packets, loss is below 3 / n with 95 % confidence. */
#define NO_LOSS_SEEN 3.0

void wh_fec_planner_config_init(struct wh_fec_planner_config *config, enum wh_fec_code code)
{
	*config = (struct wh_fec_planner_config){
		.code = code,
		.target = 1e-4,
		.ceiling = 0.25,
		.initial_loss = 1e-3,
		.clean_pkts = 65536,
		.r_max = UINT32_MAX,
	};
}

void wh_fec_planner_init(struct wh_fec_planner *planner, const struct wh_fec_planner_config *config)
{
	WH_ASSERT(config->target > 0.0 && config->target < 1.0);
	WH_ASSERT(config->ceiling > 0.0 && config->ceiling < 1.0);
	WH_ASSERT(config->initial_loss >= 0.0 && config->initial_loss <= 1.0);
	WH_ASSERT(config->code == WH_FEC_RS || config->code == WH_FEC_TORNADO);

	memset(planner, 0, sizeof(*planner));
	planner->config = *config;
	planner->burst_pkts = 1.0;
	wh_loss_rate_init(&planner->loss);
}

void wh_fec_planner_feedback(
	struct wh_fec_planner *planner, uint64_t total, uint64_t lost, uint64_t events)
{
	WH_ASSERT(lost <= total && events <= lost && (events > 0) == (lost > 0));

	if (total == 0)
		return;
	wh_loss_rate_add(&planner->loss, total, lost);
	if (lost == 0) {
		planner->since_loss_pkts += total;
		return;
	}
	planner->since_loss_pkts = 0;

	double weight = (double)events / BURST_MEMORY;
	double length = (double)lost / (double)events;

	planner->burst_pkts += (weight < 1.0 ? weight : 1.0) * (length - planner->burst_pkts);
}

/*
 * Until the first feedback the projected loss is used (ttp.txt II A, footnote 2: for the first
 * chunk alone). It does not enter the mean, which II B says is counted. A projection below the
 * path's loss would otherwise keep repair too low when it is needed.
 */
double wh_fec_planner_loss(const struct wh_fec_planner *planner)
{
	double projected = planner->config.initial_loss;

	if (planner->loss.lost_pkts > 0)
		return wh_loss_rate_get(&planner->loss);
	if (planner->loss.total_pkts == 0)
		return projected;
	return fmin(projected, NO_LOSS_SEEN / (double)planner->loss.total_pkts);
}

/*
 * Probability distribution of the number of losses, split by whether the latest packet was lost.
 * Outside of the window [low, low + counts) it is negligible.
 */
struct losses {
	uint32_t low;
	uint32_t counts;
	double after_good[COUNTS_MAX];
	double after_loss[COUNTS_MAX];
};

/* Adds a packet, lost with probability `stay_lost` after a loss and `get_lost` otherwise. */
static void add_packet(struct losses *l, double get_lost, double stay_lost)
{
	double carried = 0.0;

	WH_DEBUG_ASSERT(l->counts < COUNTS_MAX);
	for (uint32_t i = 0; i <= l->counts; i++) {
		double good = i < l->counts ? l->after_good[i] : 0.0;
		double bad = i < l->counts ? l->after_loss[i] : 0.0;

		l->after_good[i] = good * (1.0 - get_lost) + bad * (1.0 - stay_lost);
		l->after_loss[i] = carried;
		carried = good * get_lost + bad * stay_lost;
	}
	l->counts++;
}

static double chance_at(const struct losses *l, uint32_t i)
{
	return l->after_good[i] + l->after_loss[i];
}

static void leave_out_negligible(struct losses *l)
{
	uint32_t skip = 0;

	while (l->counts > 1 && chance_at(l, l->counts - 1) < NEGLIGIBLE)
		l->counts--;
	while (skip + 1 < l->counts && chance_at(l, skip) < NEGLIGIBLE)
		skip++;
	if (skip < 64) /* moving costs as much as some packets */
		return;
	WH_ASSERT(skip < l->counts);
	memmove(l->after_good, l->after_good + skip, (l->counts - skip) * sizeof(double));
	memmove(l->after_loss, l->after_loss + skip, (l->counts - skip) * sizeof(double));
	l->low += skip;
	l->counts -= skip;
}

static double counted_chance(uint32_t packets, uint32_t bears, double loss, double memory)
{
	struct losses l = {.counts = 1};
	double excess = 0.0;

	WH_ASSERT(packets <= COUNTED_PKTS);
	l.after_good[0] = 1.0 - loss;
	l.after_loss[0] = loss; /* of the packet before the first one */
	for (uint32_t i = 0; i < packets; i++) {
		add_packet(&l, loss * (1.0 - memory), loss + (1.0 - loss) * memory);
		leave_out_negligible(&l);
	}
	for (uint32_t i = 0; i < l.counts; i++)
		if (l.low + i > bears)
			excess += chance_at(&l, i);
	return excess;
}

static double normal_chance(uint32_t packets, uint32_t bears, double loss, double memory)
{
	double variance = packets * loss * (1.0 - loss) * (1.0 + memory) / (1.0 - memory);

	return wh_normal_tail((bears + 0.5 - packets * loss) / sqrt(variance));
}

double wh_fec_excess_chance(
	uint32_t packets, uint32_t bears, double loss, double burst_pkts, uint32_t stride)
{
	WH_ASSERT(loss >= 0.0 && loss <= 1.0 && burst_pkts >= 1.0 && stride >= 1);

	if (bears >= packets || loss == 0.0)
		return 0.0;
	if (loss == 1.0)
		return 1.0;

	/* Correlation of losses of neighbours in a block, which are sent `stride` packets apart. */
	double memory = 1.0 - 1.0 / burst_pkts - loss / ((1.0 - loss) * burst_pkts);

	memory = memory > 0.0 ? wh_power(memory, stride) : 0.0;
	WH_ASSERT(memory >= 0.0 && memory <= 1.0);
	if (packets > COUNTED_PKTS)
		return normal_chance(packets, bears, loss, memory);
	return counted_chance(packets, bears, loss, memory);
}

/* Losses that r repair packets can repair in a block (rs) or a chunk (tornado) of k. */
static uint32_t bears(enum wh_fec_code code, uint32_t k, uint32_t r)
{
	double pkts;

	if (code == WH_FEC_RS)
		return r;
	pkts = (TORNADO_SHARE - TORNADO_SHARE_ROOT / sqrt(r)) * r;
	if (k >= TORNADO_LARGE_PKTS)
		pkts = fmax(pkts, TORNADO_LARGE_SHARE * r - TORNADO_LARGE_LESS);
	return pkts > 0.0 ? (uint32_t)pkts : 0;
}

/*
 * The fewest repair packets for a block of k, at most r_max. By bisection, since the probability
 * falls with each packet.
 */
static uint32_t fewest(const struct wh_fec_planner *planner, uint32_t k, uint32_t r_max,
	double loss, uint32_t stride)
{
	enum wh_fec_code code = planner->config.code;
	uint32_t low = 0; /* known or assumed not to suffice */
	uint32_t high = 1;

	WH_ASSERT(k >= 1 && r_max >= 1);
	while (high < r_max && wh_fec_excess_chance(k + high, bears(code, k, high), loss,
				       planner->burst_pkts, stride) > planner->config.target) {
		low = high;
		high *= 2;
	}
	if (high > r_max)
		high = r_max;
	while (high - low > 1) {
		uint32_t r = low + (high - low) / 2;

		if (wh_fec_excess_chance(k + r, bears(code, k, r), loss, planner->burst_pkts,
			    stride) > planner->config.target)
			low = r;
		else
			high = r;
	}
	WH_ASSERT(high >= 1 && high <= r_max);
	return high;
}

static bool same(double a, double b)
{
	return fabs(a - b) <= SAME_PLAN * fmax(a, b);
}

/* Repair packets per block (rs) or chunk (tornado), from the latest plan if its inputs hold. */
static uint32_t plan_r(struct wh_fec_planner *planner, uint32_t k, uint32_t r_max, uint32_t stride)
{
	double loss = wh_fec_planner_loss(planner);

	if (planner->planned_k != k || planner->planned_r_max != r_max ||
		planner->planned_stride != stride || !same(planner->planned_loss, loss) ||
		!same(planner->planned_burst, planner->burst_pkts)) {
		planner->planned_k = k;
		planner->planned_r_max = r_max;
		planner->planned_stride = stride;
		planner->planned_loss = loss;
		planner->planned_burst = planner->burst_pkts;
		planner->planned_r = fewest(planner, k, r_max, loss, stride);
	}
	return planner->planned_r;
}

static uint32_t at_most(uint32_t value, uint32_t limit)
{
	return value < limit ? value : limit;
}

void wh_fec_planner_plan(struct wh_fec_planner *planner, struct wh_fec_shape *shape)
{
	const struct wh_fec_planner_config *config = &planner->config;
	double per_data = config->ceiling / (1.0 - config->ceiling);
	uint32_t k = shape->k;

	WH_ASSERT(k >= 1);
	shape->code = WH_FEC_NONE;
	shape->r = 0;
	shape->blocks = 1;
	if (planner->since_loss_pkts >= config->clean_pkts || wh_fec_planner_loss(planner) == 0.0)
		return;
	if (config->code == WH_FEC_RS) {
		uint32_t blocks = k / WH_PLAN_BLOCK_PKTS + (k % WH_PLAN_BLOCK_PKTS != 0);
		uint32_t k_block = k / blocks + (k % blocks != 0);

		WH_ASSERT(k_block <= WH_PLAN_BLOCK_PKTS);
		uint32_t r_max =
			at_most(at_most((uint32_t)(per_data * k_block), config->r_max / blocks),
				WH_FEC_RS_PACKETS_MAX - k_block);

		if (r_max == 0)
			return;
		shape->blocks = blocks;
		shape->r = blocks * plan_r(planner, k_block, r_max, blocks);
	} else {
		uint32_t r_max = at_most((uint32_t)(per_data * k), config->r_max);

		if (r_max == 0)
			return;
		shape->r = plan_r(planner, k, r_max, 1);
	}
	WH_ASSERT(shape->blocks <= k && shape->r >= shape->blocks);
	shape->code = config->code;
}
