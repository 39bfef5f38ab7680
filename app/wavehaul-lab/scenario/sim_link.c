/* SPDX-License-Identifier: BSD-3-Clause */

/* [link ...] of a scenario. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "lab/sim/sim_memory.h"
#include "scenario/lex.h"
#include "scenario/point.h"

#define RATE_BPS_MIN UINT64_C(1)
#define RATE_BPS_MAX UINT64_C(1000000000000000)

/* So that the sum over all links of a path is a valid time. */
#define DELAY_PS_MAX (1000 * WH_PS_PER_S)

#define LOSS_BURST_MAX 1e6

#define HOPS_MAX   1000.0
#define HOP_PS_MAX WH_PS_PER_S

#define HERE_PS_MIN (1000 * WH_PS_PER_NS)
#define HERE_PS_MAX (1000 * WH_PS_PER_S)

uint32_t wh_point_find_node(const struct wh_point *point, const char *name, size_t chars)
{
	for (uint32_t i = 0; i < point->scenario.n_nodes; i++)
		if (strlen(point->nodes[i]) == chars && memcmp(point->nodes[i], name, chars) == 0)
			return i;
	return UINT32_MAX;
}

static bool add_node(struct wh_point *point, const char *name, size_t chars, uint32_t *node)
{
	char copy[WH_WORD_BYTES];

	*node = wh_point_find_node(point, name, chars);
	if (*node != UINT32_MAX)
		return true;
	if (chars >= sizeof(copy) || point->scenario.n_nodes == WH_POINT_NODES_MAX)
		return false;
	memcpy(copy, name, chars);
	copy[chars] = '\0';
	if (!wh_is_name(copy))
		return false;
	*node = point->scenario.n_nodes++;
	point->nodes[*node] = wh_sim_allocate(chars + 1);
	memcpy(point->nodes[*node], copy, chars);
	return true;
}

static bool add_direction(
	struct wh_point *point, const struct wh_sim_link_config *config, uint32_t from, uint32_t to)
{
	struct wh_sim_link_config *link = &point->links[point->scenario.n_links];

	WH_ASSERT(from < point->scenario.n_nodes && to < point->scenario.n_nodes);
	if (from == to || point->scenario.n_links == WH_POINT_LINKS_MAX)
		return false;
	for (uint32_t i = 0; i < point->scenario.n_links; i++)
		if (point->links[i].from == from && point->links[i].to == to)
			return false;
	*link = *config;
	link->from = from;
	link->to = to;
	point->scenario.n_links++;
	return true;
}

/* "A-B" or "A>B". */
static bool add_link(
	struct wh_point *point, const struct wh_sim_link_config *config, const char *text)
{
	size_t chars = strcspn(text, "->");
	bool both = text[chars] == '-';
	uint32_t from;
	uint32_t to;

	return text[chars] != '\0' && add_node(point, text, chars, &from) &&
	       add_node(point, text + chars + 1, strlen(text + chars + 1), &to) &&
	       add_direction(point, config, from, to) &&
	       (!both || add_direction(point, config, to, from));
}

static void take_queue(struct wh_taker *taker, struct wh_sim_queue_config *queue)
{
	const char *names[WH_SIM_DISCIPLINES + 1] = {NULL};

	for (uint32_t i = 0; i < WH_SIM_DISCIPLINES; i++)
		names[i] = wh_sim_discipline_name((enum wh_sim_discipline)i);
	wh_take_require(taker, "queue", "100");
	queue->limit_pkts = (uint32_t)wh_take_count_or_none(taker, "queue", UINT32_MAX);
	queue->limit_bytes = wh_take_count(taker, "queue_bytes", 0, 1, UINT64_C(1) << 50);
	queue->discipline =
		(enum wh_sim_discipline)wh_take_choice(taker, "discipline", names, WH_SIM_DROPTAIL);
	if (queue->discipline == WH_SIM_RED && queue->limit_pkts == 0)
		wh_take_refuse(taker, "queue", "is none, and red needs a limit");
}

static void take_bursts(struct wh_taker *taker, struct wh_link_model *loss)
{
	double shares[4] = {0.0, 0.0, 0.0, 1.0}; /* P, R, H, K */
	uint32_t count = wh_take_list(taker, "gilbert_elliott", WH_VALUE_NUMBER, shares, 4);

	if (count == 0)
		return;
	for (uint32_t i = 0; i < 4; i++)
		if (!(shares[i] >= 0.0 && shares[i] <= 1.0))
			count = 0;
	if (count < 2)
		wh_take_refuse(taker, "gilbert_elliott",
			"is not understood; write P, R, H, K, each from 0 to 1, as 0.1%, 10%");
	if (loss->loss > 0.0)
		wh_take_refuse(taker, "gilbert_elliott",
			"is a loss model beside another one, loss; "
			"remove one of the two");
	loss->loss_model = WH_LOSS_GILBERT_ELLIOTT;
	loss->gilbert_elliott = (struct wh_gilbert_elliott){
		.good_to_bad = shares[0],
		.bad_to_good = shares[1],
		.loss_bad = 1.0 - shares[2],
		.loss_good = 1.0 - shares[3],
	};
}

/*
 * Losses in bursts of geometrically distributed length with this mean; the total share stays
 * `loss`.
 */
static void take_loss_burst(struct wh_taker *taker, struct wh_link_model *loss)
{
	double pkts = wh_take_number(taker, "loss_burst", 0.0, 1.0, LOSS_BURST_MAX);
	double share = loss->loss;

	if (pkts == 0.0)
		return;
	if (wh_take_has(taker, "gilbert_elliott") || !wh_take_has(taker, "loss") || share > 0.5) {
		wh_take_refuse(
			taker, "loss_burst", "wants a loss of at most 50%, and no gilbert_elliott");
		return;
	}
	/* A sweep may begin at 0. */
	if (share == 0.0)
		return;
	loss->loss = 0.0;
	loss->loss_model = WH_LOSS_GILBERT_ELLIOTT;
	loss->gilbert_elliott = (struct wh_gilbert_elliott){
		.good_to_bad = share / (1.0 - share) / pkts,
		.bad_to_good = 1.0 / pkts,
		.loss_bad = 1.0,
	};
}

static uint32_t take_spans(struct wh_taker *taker, const char *key, struct wh_link_outage *spans)
{
	struct wh_taken_at taken[WH_LINK_OUTAGES_MAX];
	uint32_t count = wh_take_ats(taker, key, true, taken, WH_LINK_OUTAGES_MAX);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t length_ps = 0;

		if (!wh_seconds_to_ps(taken[i].x, &length_ps))
			wh_take_refuse(taker, key, "has a length that is none");
		spans[i] = (struct wh_link_outage){
			.start_ns = taken[i].at_ps / WH_PS_PER_NS,
			.length_ns = length_ps / WH_PS_PER_NS,
		};
	}
	return count;
}

static void take_loss(struct wh_taker *taker, struct wh_link_model *loss)
{
	loss->loss = wh_take_number(taker, "loss", 0.0, 0.0, 1.0);
	loss->bit_error = wh_take_number(taker, "ber", 0.0, 0.0, 1.0);
	take_bursts(taker, loss);
	take_loss_burst(taker, loss);
	loss->n_outages = take_spans(taker, "outage", loss->outage);
}

/* What perf_host_noise prints of a machine: HERE AWAY, in microseconds. */
static bool put_span(void *context, const double *us, char why[WH_EXPR_WRONG_BYTES])
{
	struct wh_point_noise *noise = context;
	struct wh_absence_span *span = &noise->spans[noise->count];

	if (noise->count < WH_POINT_SPANS_MAX && wh_seconds_to_ps(us[0] / 1e6, &span->here_ps) &&
		wh_seconds_to_ps(us[1] / 1e6, &span->away_ps) && span->here_ps > 0) {
		noise->count++;
		return true;
	}
	snprintf(why, WH_EXPR_WRONG_BYTES, "is no HERE above 0 and AWAY, or one of more than %d",
		WH_POINT_SPANS_MAX);
	return false;
}

static void take_noise(struct wh_point *point, struct wh_taker *taker, const char *key,
	struct wh_absence_config *absence)
{
	struct wh_point_noise *noise = wh_sim_allocate(sizeof(*noise));

	noise->next = point->noises;
	point->noises = noise;
	wh_take_rows(taker, key,
		&(struct wh_rows){
			.form = "is not HERE AWAY in microseconds, as 3980 4016",
			.n_fields = 2,
			.n_required = 2,
			.kinds = "nn",
			.no_row = "has no pause",
			.put = put_span,
			.context = noise,
		});
	absence->spans = noise->spans;
	absence->n_spans = noise->count;
}

void wh_point_take_absence(struct wh_point *point, struct wh_taker *taker,
	const struct wh_absence_keys *keys, struct wh_absence_config *absence)
{
	if (wh_take_has(taker, keys->noise) && wh_take_has(taker, keys->away))
		wh_take_refuse(taker, keys->noise, "is there beside means of absences");
	else if (wh_take_has(taker, keys->noise))
		take_noise(point, taker, keys->noise, absence);
	if (!wh_take_has(taker, keys->away))
		return;
	wh_take_require(taker, keys->here, "3ms");
	absence->mean.away_ps = wh_take_ps(taker, keys->away, 0);
	absence->mean.here_ps = wh_take_ps(taker, keys->here, 0);
	if (absence->mean.away_ps > WH_PS_PER_S)
		wh_take_refuse(taker, keys->away, "is more than a second");
	if (absence->mean.here_ps < HERE_PS_MIN || absence->mean.here_ps > HERE_PS_MAX)
		wh_take_refuse(taker, keys->here, "is not within 1us and 1000s");
}

/* A network that only adds delay: sim/hops.h. */
static void take_hops(struct wh_taker *taker, struct wh_sim_hops *hops)
{
	if (!wh_take_has(taker, "hops"))
		return;
	hops->mean = wh_take_number(taker, "hops", 1.0, 1.0, HOPS_MAX);
	hops->service_ps = wh_take_ps(taker, "hop_service", 0);
	hops->wait_ps = wh_take_ps(taker, "hop_wait", 0);
	if (hops->service_ps > HOP_PS_MAX || hops->wait_ps > HOP_PS_MAX)
		wh_take_refuse(taker, "hops", "takes more than 1s each");
}

/* Changes of a value at given times; the values are themselves times if first_is_time. */
static void take_steps(struct wh_taker *taker, const char *key, bool first_is_time, uint64_t least,
	uint64_t most, struct wh_sim_steps *steps)
{
	struct wh_taken_at taken[WH_SIM_STEPS_MAX];

	steps->count = wh_take_ats(taker, key, first_is_time, taken, WH_SIM_STEPS_MAX);
	for (uint32_t i = 0; i < steps->count; i++) {
		double value = first_is_time ? taken[i].x * (double)WH_PS_PER_S : taken[i].x;

		if (!(value >= (double)least && value <= (double)most))
			wh_take_refuse(taker, key, "has a value that no link may have");
		else if (i > 0 && taken[i].at_ps <= taken[i - 1].at_ps)
			wh_take_refuse(taker, key, "is out of order: times ascend");
		if (taker->failed)
			return;
		steps->step[i] = (struct wh_sim_step){
			.at_ps = taken[i].at_ps, .value = (uint64_t)llround(value)};
	}
}

static void take_line(struct wh_taker *taker, struct wh_sim_link_config *config)
{
	wh_take_require(taker, "rate", "100M");
	config->rate_bps = wh_take_count(taker, "rate", 1, RATE_BPS_MIN, RATE_BPS_MAX);
	config->delay_ps = wh_take_ps(taker, "delay", 0);
	if (config->delay_ps > DELAY_PS_MAX)
		wh_take_refuse(taker, "delay", "is more than 1000s");
	take_steps(taker, "rate_steps", false, RATE_BPS_MIN, RATE_BPS_MAX, &config->rate_steps);
	take_steps(taker, "delay_steps", true, 0, DELAY_PS_MAX, &config->delay_steps);
}

static void take_reorder(struct wh_taker *taker, struct wh_sim_link_config *config)
{
	config->reorder = wh_take_number(taker, "reorder", 0.0, 0.0, 1.0);
	if (config->reorder > 0.0)
		wh_take_require(taker, "reorder_delay", "1ms");
	config->reorder_delay_ps = wh_take_ps(taker, "reorder_delay", 0);
	if (config->reorder_delay_ps > DELAY_PS_MAX)
		wh_take_refuse(taker, "reorder_delay", "is more than 1000s");
}

static void take_policer(struct wh_taker *taker, struct wh_sim_policer_config *policer)
{
	if (!wh_take_has(taker, "police"))
		return;
	wh_take_require(taker, "police_bucket", "250K");
	policer->rate_bps = wh_take_count(taker, "police", 1, RATE_BPS_MIN, RATE_BPS_MAX);
	policer->bucket_bytes = wh_take_count(taker, "police_bucket", 1, 1, UINT64_C(1) << 50);
}

bool wh_point_take_link(struct wh_point *point, struct wh_taker *taker)
{
	const char *list = taker->section->name;
	struct wh_sim_link_config config = {0};
	char item[WH_ITEM_BYTES];

	take_line(taker, &config);
	take_hops(taker, &config.hops);
	take_policer(taker, &config.policer);
	take_queue(taker, &config.queue);
	take_loss(taker, &config.loss);
	take_reorder(taker, &config);
	config.counts_delays = point->shows_delays;
	config.n_pauses = take_spans(taker, "pause", config.pause);
	wh_point_take_absence(
		point, taker, &(struct wh_absence_keys){"away", "here", "noise"}, &config.absence);
	while (!taker->failed && wh_lex_item(&list, ',', item)) {
		if (add_link(point, &config, item))
			continue;
		wh_complain("%s: '%s' is no new link between two nodes; write A-B for both "
			    "directions, A>B for one",
			taker->section->where, item);
		taker->failed = true;
	}
	return !taker->failed;
}
