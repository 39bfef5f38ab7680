/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/tornado_graph.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"

/* Bits of a check's number in a key; numbers are below 2^16. */
#define KEY_BITS 21
static_assert(WH_TORNADO_DEGREE * KEY_BITS <= 64, "a packet's checks fit into one");

/*
 * Draws of a packet's checks. In the first half of the draws a packet must not share two checks
 * with another one; in the second half it must only differ from every other. The number is bounded,
 * since a peer chooses k and r.
 */
#define DRAWS 16

/* Slots for a level's pairs and sets of checks, in a table that is at most half full. */
static uint64_t seen_slots(uint32_t packets)
{
	uint64_t slots = 64;

	while (slots < 2 * (3 + 1) * (uint64_t)packets)
		slots *= 2;
	return slots;
}

bool wh_tornado_plan(uint32_t k, uint32_t r, struct wh_tornado_levels *plan)
{
	uint32_t rest = r;
	uint32_t n = k;

	if (k == 0 || r == 0)
		return false;
	for (plan->levels = 0; plan->levels < WH_TORNADO_LEVELS_MAX;) {
		WH_ASSERT(n > 0 && rest > 0);
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
	uint32_t pairs_left; /* pairs of checks that no packet uses yet */
	uint64_t sets_left;  /* the same for sets of WH_TORNADO_DEGREE checks */
	struct wh_tornado_scratch *scratch;
};

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t other = *a;

	*a = *b;
	*b = other;
}

/* The slot of the key, or the free one for it. */
static uint64_t *seen_at(struct wh_tornado_scratch *scratch, uint64_t key)
{
	uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (;; i++) {
		uint64_t *seen = &scratch->seen[i & scratch->seen_mask];

		scratch->steps++;
		if (*seen == 0 || *seen == key)
			return seen;
	}
}

/* Sorted checks as one number: not 0, and unique. */
static uint64_t key_of(const uint32_t *check, uint32_t count)
{
	uint64_t key = 0;

	for (uint32_t i = 0; i < count; i++) {
		WH_DEBUG_ASSERT(check[i] + 1 < UINT32_C(1) << KEY_BITS);
		key = key << KEY_BITS | (check[i] + 1);
	}
	return key;
}

static void sort_checks(uint32_t *check, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t j = i; j > 0 && check[j - 1] > check[j]; j--)
			swap(&check[j - 1], &check[j]);
}

/* Pair i of a packet's sorted checks. */
static uint64_t pair_key(const uint32_t *check, uint32_t i)
{
	const uint32_t pair[2] = {check[i == 2 ? 1 : 0], check[i == 0 ? 1 : 2]};

	return key_of(pair, 2);
}

static uint32_t pairs_of(uint32_t degree)
{
	return degree * (degree - 1) / 2;
}

static bool shares_a_pair(struct level *level, const uint32_t *check)
{
	for (uint32_t i = 0; i < pairs_of(level->degree); i++)
		if (*seen_at(level->scratch, pair_key(check, i)) != 0)
			return true;
	return false;
}

static bool is_twin(struct level *level, const uint32_t *check)
{
	return *seen_at(level->scratch, key_of(check, level->degree)) != 0;
}

static bool note(struct level *level, uint64_t key)
{
	uint64_t *seen = seen_at(level->scratch, key);
	bool is_new = *seen == 0;

	*seen = key;
	return is_new;
}

static void note_checks(struct level *level, const uint32_t *check)
{
	for (uint32_t i = 0; i < pairs_of(level->degree); i++)
		level->pairs_left -= note(level, pair_key(check, i));
	if (level->degree != 2)
		level->sets_left -= note(level, key_of(check, level->degree));
}

static bool repeats_a_check(const struct level *level, const uint32_t *check)
{
	for (uint32_t i = 1; i < level->degree; i++)
		for (uint32_t j = 0; j < i; j++)
			if (check[i] == check[j])
				return true;
	return false;
}

/* Whether the sorted checks are acceptable at this number of draws. */
static bool is_good(struct level *level, const uint32_t *check, uint32_t draw)
{
	if (draw < DRAWS / 2 && level->pairs_left >= pairs_of(level->degree))
		return !shares_a_pair(level, check);
	return level->degree < WH_TORNADO_DEGREE || level->sets_left == 0 || !is_twin(level, check);
}

/* Draws a packet's checks from the remaining edges; in the worst case it gets fewer checks. */
static void join_packet(
	struct wh_tornado_graph *graph, struct level *level, uint32_t i, struct wh_prng *prng)
{
	uint32_t *mine = graph->check[level->from + i];
	uint32_t *ends = &level->scratch->end[i * level->degree];
	uint32_t left = (level->n - i) * level->degree;
	uint32_t degree = 0;
	bool whole = false;

	for (uint32_t draw = 0; draw < DRAWS; draw++) {
		level->scratch->steps++;
		for (uint32_t d = 0; d < level->degree; d++)
			swap(&ends[d], &ends[d + wh_prng_below(prng, left - d)]);
		whole = !repeats_a_check(level, ends);
		if (!whole)
			continue;
		memcpy(mine, ends, level->degree * sizeof(*ends));
		sort_checks(mine, level->degree);
		if (is_good(level, mine, draw))
			break;
	}
	if (whole) {
		note_checks(level, mine);
		graph->degree[level->from + i] = level->degree;
		return;
	}
	for (uint32_t d = 0; d < level->degree; d++) {
		bool again = false;

		for (uint32_t j = 0; j < degree; j++)
			again = again || mine[j] == ends[d];
		if (!again)
			mine[degree++] = ends[d];
	}
	WH_ASSERT(degree >= 1 && degree <= level->degree);
	graph->degree[level->from + i] = degree;
}

static void make_level(struct wh_tornado_graph *graph, struct level *level, struct wh_prng *prng)
{
	struct wh_tornado_scratch *scratch = level->scratch;
	uint64_t m = level->m;

	WH_ASSERT(level->n >= 1 && m >= 1);
	level->degree = level->m < WH_TORNADO_DEGREE ? level->m : WH_TORNADO_DEGREE;
	level->pairs_left = (uint32_t)(m * (m - 1) / 2);
	level->sets_left = m * (m - 1) * (m - 2) / 6;

	uint32_t ends = level->n * level->degree;

	scratch->seen_mask = (uint32_t)seen_slots(level->n) - 1;
	memset(scratch->seen, 0, (scratch->seen_mask + UINT64_C(1)) * sizeof(scratch->seen[0]));
	for (uint32_t i = 0; i < ends; i++)
		scratch->end[i] = level->checks_from + i % level->m;
	for (uint32_t i = 0; i < level->n; i++)
		join_packet(graph, level, i, prng);
}

/* Lists the same edges per check. */
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
	/*
	 * Filling advances first[c] to the start of check c + 1; the second loop shifts all back.
	 */
	for (uint32_t p = 0; p < graph->close_first; p++)
		for (uint32_t d = 0; d < graph->degree[p]; d++)
			graph->packet[graph->first[graph->check[p][d]]++] = p;
	for (uint32_t c = graph->checks; c > 0; c--)
		graph->first[c] = graph->first[c - 1];
	graph->first[0] = 0;
	WH_ASSERT(graph->first[graph->checks] == at);
}

void wh_tornado_graph_make(
	struct wh_tornado_graph *graph, struct wh_tornado_scratch *scratch, uint32_t k, uint32_t r)
{
	struct wh_tornado_levels plan;
	struct wh_prng prng;
	struct level level = {.scratch = scratch};
	bool exists = wh_tornado_plan(k, r, &plan);

	WH_ASSERT(exists);
	scratch->steps = 0;
	graph->k = k;
	graph->r = r;
	graph->checks = r - plan.closing;
	graph->close_k = plan.packets[plan.levels - 1];
	graph->close_r = plan.closing;
	graph->close_first = k + graph->checks - graph->close_k;
	WH_ASSERT(graph->close_first + graph->close_k + graph->close_r == k + r);
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
	WH_ASSERT(level.from == graph->close_first && level.checks_from == graph->checks);
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

static uint32_t level_packets_max(uint32_t k_max, uint32_t r_max)
{
	return k_max > r_max ? k_max : r_max;
}

int wh_tornado_scratch_init(struct wh_tornado_scratch *scratch, uint32_t k_max, uint32_t r_max)
{
	uint32_t packets = level_packets_max(k_max, r_max);

	memset(scratch, 0, sizeof(*scratch));
	scratch->end = malloc((size_t)packets * WH_TORNADO_DEGREE * sizeof(uint32_t));
	scratch->seen = malloc(seen_slots(packets) * sizeof(uint64_t));
	if (scratch->end != NULL && scratch->seen != NULL)
		return 0;
	wh_tornado_scratch_free(scratch);
	return -ENOMEM;
}

void wh_tornado_scratch_free(struct wh_tornado_scratch *scratch)
{
	free(scratch->end);
	free(scratch->seen);
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
	uint32_t packets = level_packets_max(k_max, r_max);

	return (uint64_t)packets * WH_TORNADO_DEGREE * sizeof(uint32_t) +
	       seen_slots(packets) * sizeof(uint64_t);
}
