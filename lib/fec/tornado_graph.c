/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/tornado_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"

/* Draws for a packet: half of them until two may share two checks, all until they may be twins. */
#define DRAWS 64

bool wh_tornado_plan(uint32_t k, uint32_t r, struct wh_tornado_levels *plan)
{
	uint32_t rest = r;
	uint32_t n = k;

	if (k == 0 || r == 0)
		return false;
	for (plan->levels = 0; plan->levels < WH_TORNADO_LEVELS_MAX;) {
		plan->packets[plan->levels++] = n;
		if (n + rest <= WH_TORNADO_CLOSE_PKTS) {
			plan->closing = rest;
			return true;
		}
		n = (uint32_t)((uint64_t)n * r / ((uint64_t)k + r));
		if (n >= rest)
			n = rest - 1;
		if (n == 0)
			return false;
		rest -= n;
	}
	return false;
}

/* One level: packets [from, from + n), checks [checks_from, checks_from + m). */
struct level {
	uint32_t from;
	uint32_t n;
	uint32_t checks_from;
	uint32_t m;
	uint32_t degree;
	uint32_t room; /* members of a check */
	struct wh_tornado_scratch *scratch;
};

/* The most checks that the packet shares with any that has joined before. */
static uint32_t most_shared(
	const struct wh_tornado_graph *graph, const struct level *level, uint32_t packet)
{
	const uint32_t *mine = graph->check[packet];
	uint32_t most = 0;

	for (uint32_t i = 0; i < level->degree; i++) {
		uint32_t c = mine[i] - level->checks_from;

		for (uint32_t j = 0; j < level->scratch->members[c]; j++) {
			uint32_t other = level->scratch->member[c * level->room + j];
			uint32_t shared = 0;

			for (uint32_t a = 0; a < level->degree; a++)
				for (uint32_t b = 0; b < level->degree; b++)
					shared += mine[a] == graph->check[other][b];
			if (shared > most)
				most = shared;
		}
	}
	return most;
}

static bool repeats_a_check(const struct level *level, const uint32_t *check)
{
	for (uint32_t i = 1; i < level->degree; i++)
		for (uint32_t j = 0; j < i; j++)
			if (check[i] == check[j])
				return true;
	return false;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t other = *a;

	*a = *b;
	*b = other;
}

/* Draws a packet's checks from the ends that are left; at worst it has fewer than it should. */
static void join_packet(
	struct wh_tornado_graph *graph, struct level *level, uint32_t i, struct wh_prng *prng)
{
	uint32_t packet = level->from + i;
	uint32_t *ends = &level->scratch->end[i * level->degree];
	uint32_t left = (level->n - i) * level->degree;

	for (uint32_t draw = 0; draw < DRAWS; draw++) {
		for (uint32_t d = 0; d < level->degree; d++)
			swap(&ends[d], &ends[d + wh_prng_below(prng, left - d)]);
		if (repeats_a_check(level, ends))
			continue;
		memcpy(graph->check[packet], ends, level->degree * sizeof(*ends));
		if (most_shared(graph, level, packet) <= 1 + draw / (DRAWS / 2))
			break;
	}
	graph->degree[packet] = 0;
	for (uint32_t d = 0; d < level->degree; d++) {
		uint32_t c = ends[d] - level->checks_from;
		bool again = false;

		for (uint32_t j = 0; j < graph->degree[packet]; j++)
			again = again || graph->check[packet][j] == ends[d];
		if (again)
			continue;
		graph->check[packet][graph->degree[packet]++] = ends[d];
		level->scratch->member[c * level->room + level->scratch->members[c]++] = packet;
	}
}

static void make_level(struct wh_tornado_graph *graph, struct level *level, struct wh_prng *prng)
{
	level->degree = level->m < WH_TORNADO_DEGREE ? level->m : WH_TORNADO_DEGREE;

	uint32_t ends = level->n * level->degree;

	level->room = ends / level->m + 1;
	memset(level->scratch->members, 0, level->m * sizeof(uint32_t));
	for (uint32_t i = 0; i < ends; i++)
		level->scratch->end[i] = level->checks_from + i % level->m;
	for (uint32_t i = 0; i < level->n; i++)
		join_packet(graph, level, i, prng);
}

/* The same edges by check. */
static void list_by_check(struct wh_tornado_graph *graph)
{
	uint32_t at = 0;

	for (uint32_t p = 0; p < graph->close_first; p++)
		for (uint32_t d = 0; d < graph->degree[p]; d++)
			graph->first[graph->check[p][d] + 1]++;
	for (uint32_t c = 0; c < graph->checks; c++) {
		at += graph->first[c + 1];
		graph->first[c + 1] = at;
	}
	/* first[c] counts up to where check c + 1 begins, and is put back after. */
	for (uint32_t p = 0; p < graph->close_first; p++)
		for (uint32_t d = 0; d < graph->degree[p]; d++)
			graph->packet[graph->first[graph->check[p][d]]++] = p;
	for (uint32_t c = graph->checks; c > 0; c--)
		graph->first[c] = graph->first[c - 1];
	graph->first[0] = 0;
}

void wh_tornado_graph_make(
	struct wh_tornado_graph *graph, struct wh_tornado_scratch *scratch, uint32_t k, uint32_t r)
{
	struct wh_tornado_levels plan;
	struct wh_prng prng;
	struct level level = {.scratch = scratch};
	bool exists = wh_tornado_plan(k, r, &plan);

	WH_ASSERT(exists);
	graph->k = k;
	graph->r = r;
	graph->checks = r - plan.closing;
	graph->close_k = plan.packets[plan.levels - 1];
	graph->close_r = plan.closing;
	graph->close_first = k + graph->checks - graph->close_k;
	memset(graph->first, 0, (graph->checks + 1) * sizeof(uint32_t));
	memset(graph->degree, 0, (k + r) * sizeof(uint32_t));
	wh_prng_init(&prng, (uint64_t)k << 32 | r);
	for (uint32_t i = 0; i + 1 < plan.levels; i++) {
		level.n = plan.packets[i];
		level.m = plan.packets[i + 1];
		make_level(graph, &level, &prng);
		level.from += level.n;
		level.checks_from += level.m;
	}
	list_by_check(graph);
}

int wh_tornado_graph_init(struct wh_tornado_graph *graph, uint32_t k_max, uint32_t r_max)
{
	size_t packets = (size_t)k_max + r_max;

	memset(graph, 0, sizeof(*graph));
	graph->first = malloc(((size_t)r_max + 1) * sizeof(uint32_t));
	graph->packet = malloc(packets * WH_TORNADO_DEGREE * sizeof(uint32_t));
	graph->check = malloc(packets * sizeof(graph->check[0]));
	graph->degree = malloc(packets * sizeof(uint32_t));
	if (graph->first != NULL && graph->packet != NULL && graph->check != NULL &&
		graph->degree != NULL)
		return 0;
	wh_tornado_graph_free(graph);
	return -ENOMEM;
}

void wh_tornado_graph_free(struct wh_tornado_graph *graph)
{
	free(graph->first);
	free(graph->packet);
	free(graph->check);
	free(graph->degree);
	memset(graph, 0, sizeof(*graph));
}

int wh_tornado_scratch_init(struct wh_tornado_scratch *scratch, uint32_t k_max, uint32_t r_max)
{
	size_t ends = (size_t)(k_max > r_max ? k_max : r_max) * WH_TORNADO_DEGREE;

	scratch->end = malloc(ends * sizeof(uint32_t));
	scratch->members = malloc((size_t)r_max * sizeof(uint32_t));
	scratch->member = malloc((ends + r_max) * sizeof(uint32_t));
	if (scratch->end != NULL && scratch->members != NULL && scratch->member != NULL)
		return 0;
	wh_tornado_scratch_free(scratch);
	return -ENOMEM;
}

void wh_tornado_scratch_free(struct wh_tornado_scratch *scratch)
{
	free(scratch->end);
	free(scratch->members);
	free(scratch->member);
	memset(scratch, 0, sizeof(*scratch));
}

uint64_t wh_tornado_graph_bytes(uint32_t k_max, uint32_t r_max)
{
	const struct wh_tornado_graph *graph = NULL;
	uint64_t packets = (uint64_t)k_max + r_max;

	return ((uint64_t)r_max + 1) * sizeof(graph->first[0]) +
	       packets * (WH_TORNADO_DEGREE * sizeof(graph->packet[0]) + sizeof(graph->check[0]) +
				 sizeof(graph->degree[0]));
}

uint64_t wh_tornado_scratch_bytes(uint32_t k_max, uint32_t r_max)
{
	uint64_t ends = (uint64_t)(k_max > r_max ? k_max : r_max) * WH_TORNADO_DEGREE;

	return (2 * ends + 2 * (uint64_t)r_max) * sizeof(uint32_t);
}
