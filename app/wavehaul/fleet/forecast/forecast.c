/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/forecast/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/prng.h"

#define DAY_S         86400.0
#define CLOSE         (1 + 1e-9) /* rates and moments of this ratio are the same */
#define NOTHING_BYTES 1000       /* what rounding leaves of a shard */
#define NONE          UINT32_MAX

struct node {
	enum wh_forecast_time doing;
	double cap_bps;
	double rate_bps;
	double until_s; /* of a start, or of death */
	double dies_s;
	double sent_bytes;
	uint32_t shard;
	uint32_t receiver;
};

struct shard {
	double left_bytes;
	double again_s; /* when it waits again, once its node has died */
	double died_s;
};

/* A receiver, or behind the last one the lambda. */
struct pipe {
	double left_bps;
	uint32_t flows;
};

struct model {
	const struct wh_forecast_config *config;
	struct wh_forecast *told;
	struct wh_prng prng;
	double now_s;
	struct node *node;
	struct shard *shard;
	uint32_t fresh; /* shards before this one were begun */
	uint32_t done;
	uint32_t again; /* shard that waits again first; NONE */
	struct pipe *pipe;
};

static bool sends(const struct node *node)
{
	return node->doing <= WH_FORECAST_RECEIVER;
}

static double draw_death(struct model *model)
{
	double a_day = -log1p(-model->config->fails_a_day);

	return a_day > 0 ? model->now_s - log1p(-wh_prng_unit(&model->prng)) / a_day * DAY_S
			 : INFINITY;
}

static void find_again(struct model *model)
{
	model->again = NONE;
	for (uint32_t i = 0; i < model->fresh; i++)
		if (isfinite(model->shard[i].again_s) &&
			(model->again == NONE ||
				model->shard[i].again_s < model->shard[model->again].again_s))
			model->again = i;
}

/* Slurm begins the tasks of an array in their order, and a requeued one behind all others. */
static uint32_t next_shard(struct model *model)
{
	uint32_t next = model->again;
	struct shard *shard;

	if (model->fresh < model->config->shards)
		return model->fresh++;
	if (next == NONE || model->shard[next].again_s > model->now_s * CLOSE)
		return NONE;
	shard = &model->shard[next];
	shard->again_s = INFINITY;
	model->told->waited_s = fmax(model->told->waited_s, model->now_s - shard->died_s);
	find_again(model);
	return next;
}

static void begin(struct model *model, struct node *node)
{
	uint16_t order[WH_SITE_RECEIVERS_MAX];

	node->shard = next_shard(model);
	if (node->shard == NONE || wh_site_order(model->config->site, node->shard, order) == 0)
		return;
	node->receiver = order[0];
	node->doing = WH_FORECAST_START;
	node->until_s =
		model->now_s +
		model->config->start_s *
			(1 + model->config->start_spread * (2 * wh_prng_unit(&model->prng) - 1));
	node->sent_bytes = 0;
}

static void die(struct model *model, struct node *node)
{
	double lost_bytes = fmin(node->sent_bytes, node->rate_bps / 8 * model->config->lost_s);

	if (node->doing != WH_FORECAST_IDLE) {
		struct shard *shard = &model->shard[node->shard];

		shard->left_bytes += lost_bytes;
		shard->died_s = model->now_s;
		shard->again_s = model->now_s + model->config->requeue_s;
		model->told->repeated_bytes += lost_bytes;
		find_again(model);
	}
	model->told->deaths++;
	node->doing = WH_FORECAST_DEAD;
	node->until_s = model->now_s + model->config->away_s;
	node->dies_s = INFINITY;
}

/* What happens to a node at this moment. */
static void turn(struct model *model, struct node *node)
{
	double now_s = model->now_s * CLOSE;

	if (node->dies_s <= now_s) {
		die(model, node);
	} else if (node->doing == WH_FORECAST_DEAD && node->until_s <= now_s) {
		node->doing = WH_FORECAST_IDLE;
		node->dies_s = draw_death(model);
	} else if (node->doing == WH_FORECAST_START && node->until_s <= now_s) {
		node->doing = WH_FORECAST_NIC;
	} else if (sends(node) && model->shard[node->shard].left_bytes < NOTHING_BYTES) {
		model->done++;
		node->doing = WH_FORECAST_IDLE;
	}
	if (node->doing == WH_FORECAST_IDLE)
		begin(model, node);
}

static double receiver_bps(const struct wh_site *site, uint32_t i)
{
	return site->receiver[i].rate_bps > 0 ? site->receiver[i].rate_bps : INFINITY;
}

static double part_of(const struct pipe *pipe)
{
	return pipe->left_bps / pipe->flows;
}

/* The least of its parts of what is left, and what that is. */
static double least_part(
	const struct model *model, const struct node *node, enum wh_forecast_time *limit)
{
	double to_bps = part_of(&model->pipe[node->receiver]);
	double lambda_bps = part_of(&model->pipe[model->config->site->receivers]);
	double least_bps = fmin(node->cap_bps, fmin(to_bps, lambda_bps));

	if (node->cap_bps <= least_bps * CLOSE)
		*limit = node->cap_bps < model->config->node_bps ? WH_FORECAST_DISK
								 : WH_FORECAST_NIC;
	else
		*limit =
			lambda_bps <= least_bps * CLOSE ? WH_FORECAST_LAMBDA : WH_FORECAST_RECEIVER;
	return least_bps;
}

/* Takes part in the sharing, or leaves it with this rate. */
static void join(struct model *model, const struct node *node, int flows, double rate_bps)
{
	const uint32_t pipes[] = {node->receiver, model->config->site->receivers};

	for (uint32_t i = 0; i < 2; i++) {
		model->pipe[pipes[i]].flows += (uint32_t)flows;
		model->pipe[pipes[i]].left_bps -= rate_bps;
	}
}

/* Max-min fair: the least part is fixed first, and what it leaves is shared by the others. */
static void share_rates(struct model *model)
{
	const struct wh_forecast_config *config = model->config;
	const struct wh_site *site = config->site;
	struct node *least;

	for (uint32_t i = 0; i < site->receivers; i++)
		model->pipe[i] = (struct pipe){.left_bps = receiver_bps(site, i)};
	model->pipe[site->receivers] = (struct pipe){.left_bps = config->lambda_bps};
	for (uint32_t i = 0; i < config->nodes; i++) {
		model->node[i].rate_bps = 0;
		if (sends(&model->node[i]))
			join(model, &model->node[i], 1, 0);
	}
	for (;;) {
		enum wh_forecast_time limit, least_limit = WH_FORECAST_NIC;
		double least_bps = INFINITY;

		least = NULL;
		for (uint32_t i = 0; i < config->nodes; i++) {
			struct node *node = &model->node[i];
			double part_bps;

			if (!sends(node) || node->rate_bps > 0)
				continue;
			part_bps = least_part(model, node, &limit);
			if (part_bps >= least_bps)
				continue;
			least = node;
			least_bps = part_bps;
			least_limit = limit;
		}
		if (least == NULL)
			break;
		least->rate_bps = least_bps;
		least->doing = least_limit;
		join(model, least, -1, least_bps);
	}
}

static double next_moment(const struct model *model)
{
	double next_s = INFINITY;

	for (uint32_t i = 0; i < model->config->nodes; i++) {
		const struct node *node = &model->node[i];

		next_s = fmin(next_s, node->dies_s);
		if (sends(node))
			next_s = fmin(next_s, model->now_s + model->shard[node->shard].left_bytes *
								     8 / node->rate_bps);
		else if (node->doing != WH_FORECAST_IDLE)
			next_s = fmin(next_s, node->until_s);
		else if (model->again != NONE)
			next_s = fmin(next_s, model->shard[model->again].again_s);
	}
	return next_s;
}

static void go_on(struct model *model, double next_s)
{
	double span_s = fmax(next_s - model->now_s, 0);

	for (uint32_t i = 0; i < model->config->nodes; i++) {
		struct node *node = &model->node[i];

		model->told->share[node->doing] += span_s;
		if (!sends(node))
			continue;
		model->shard[node->shard].left_bytes -= span_s * node->rate_bps / 8;
		node->sent_bytes += span_s * node->rate_bps / 8;
	}
	model->now_s = next_s;
}

/* Nodes and shards as they begin, and what follows from them alone. */
static void place(struct model *model)
{
	const struct wh_forecast_config *config = model->config;
	double bytes = 0, nodes_bps = 0, site_bps = 0;

	for (uint32_t i = 0; i < config->shards; i++) {
		model->shard[i] = (struct shard){
			.left_bytes = (double)config->shard[i].bytes, .again_s = INFINITY};
		bytes += model->shard[i].left_bytes;
	}
	for (uint32_t i = 0; i < config->nodes; i++) {
		struct node *node = &model->node[i];

		node->doing = WH_FORECAST_IDLE;
		node->cap_bps = fmin(config->node_bps,
			config->disk_bps / (i < config->slow_nodes ? config->slowness : 1));
		node->dies_s = fmin(draw_death(model), i == 0 ? config->kill_s : INFINITY);
		nodes_bps += node->cap_bps;
	}
	for (uint32_t i = 0; i < config->site->receivers; i++)
		site_bps +=
			config->site->receiver[i].maintenance ? 0 : receiver_bps(config->site, i);
	model->told->ideal_s = bytes * 8 / fmin(nodes_bps, fmin(config->lambda_bps, site_bps));
}

bool wh_forecast_run(
	const struct wh_forecast_config *config, uint64_t seed, struct wh_forecast *forecast)
{
	struct model model = {.config = config, .told = forecast, .again = NONE};
	bool fine;

	WH_ASSERT(config->nodes > 0 && config->shards > 0);
	*forecast = (struct wh_forecast){0};
	wh_prng_init(&model.prng, seed);
	model.node = calloc(config->nodes, sizeof(*model.node));
	model.shard = calloc(config->shards, sizeof(*model.shard));
	model.pipe = calloc(config->site->receivers + 1, sizeof(*model.pipe));
	fine = model.node != NULL && model.shard != NULL && model.pipe != NULL;
	if (fine)
		place(&model);
	while (fine && model.done < config->shards && isfinite(model.now_s)) {
		for (uint32_t i = 0; i < config->nodes; i++)
			turn(&model, &model.node[i]);
		share_rates(&model);
		if (model.done < config->shards)
			go_on(&model, next_moment(&model));
	}
	forecast->seconds = model.now_s;
	for (uint32_t i = 0; i < WH_FORECAST_TIMES; i++)
		forecast->share[i] /= model.now_s * config->nodes;
	free(model.node);
	free(model.shard);
	free(model.pipe);
	return fine;
}

uint32_t wh_forecast_nodes(const struct wh_forecast_config *config, double within_s, uint32_t most)
{
	struct wh_forecast_config config_of = *config;
	struct wh_forecast forecast;

	for (config_of.nodes = 1; config_of.nodes <= most; config_of.nodes++)
		if (!wh_forecast_run(&config_of, 1, &forecast))
			return 0;
		else if (forecast.seconds <= within_s)
			return config_of.nodes;
	return 0;
}
