/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/tornado.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l.h>

#include "base/assert.h"
#include "fec/tornado_graph.h"

/* Graphs that are cached. */
#define GRAPHS 4

/* Data packets that justify a pass over all checks. */
#define PORTION 64

/* Sources of one call of xor_gen. */
#define SOURCES 64

static_assert(WH_TORNADO_CLOSE_PKTS <= WH_RS_PACKETS_MAX, "the last level is one block");

/* In step.by: recovered by the closing Reed-Solomon code. */
#define BY_CLOSING UINT32_MAX

/* A recovered packet, and the check that recovers it. */
struct step {
	uint32_t packet;
	uint32_t by;
};

struct wh_tornado {
	struct wh_rs *rs;
	struct wh_tornado_graph graph[GRAPHS];
	struct wh_tornado_scratch scratch;
	uint32_t used[GRAPHS]; /* call number of the latest use */
	uint32_t calls;

	/* State of one decoding. */
	uint32_t *unknowns; /* per check: unknown packets, itself included */
	uint32_t *ripe;     /* stack of checks that had one unknown when pushed */
	uint64_t *known;    /* bit per packet */
	uint64_t *wanted;   /* bit per packet: its bytes are needed */
	struct step *steps;
	uint32_t n_steps;
};

/* Where the packets are. */
struct place {
	const struct wh_tornado_graph *graph;
	uint8_t *data;
	uint8_t *last;
	uint8_t *repair;
	uint32_t bytes;
	bool last_is_short;
};

uint64_t wh_tornado_bytes(const struct wh_fec_limits *limits)
{
	uint64_t packets = (uint64_t)limits->k + limits->r;

	return sizeof(struct wh_tornado) + wh_tornado_scratch_bytes(limits->k, limits->r) +
	       GRAPHS * wh_tornado_graph_bytes(limits->k, limits->r) +
	       2 * limits->r * sizeof(uint32_t) + 2 * (packets / 64 + 1) * sizeof(uint64_t) +
	       packets * sizeof(struct step);
}

struct wh_tornado *wh_tornado_create(const struct wh_fec_limits *limits, struct wh_rs *rs)
{
	struct wh_tornado *t = calloc(1, sizeof(*t));
	size_t packets = (size_t)limits->k + limits->r;

	if (t == NULL)
		return NULL;
	t->rs = rs;
	bool all = wh_tornado_scratch_init(&t->scratch, limits->k, limits->r) == 0;

	for (uint32_t i = 0; i < GRAPHS; i++)
		all = wh_tornado_graph_init(&t->graph[i], limits->k, limits->r) == 0 && all;
	t->unknowns = calloc(limits->r, sizeof(uint32_t));
	t->ripe = calloc(limits->r, sizeof(uint32_t));
	t->known = calloc(packets / 64 + 1, sizeof(uint64_t));
	t->wanted = calloc(packets / 64 + 1, sizeof(uint64_t));
	t->steps = calloc(packets, sizeof(struct step));
	if (!all || t->unknowns == NULL || t->ripe == NULL || t->known == NULL ||
		t->wanted == NULL || t->steps == NULL) {
		wh_tornado_destroy(t);
		return NULL;
	}
	return t;
}

void wh_tornado_destroy(struct wh_tornado *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < GRAPHS; i++)
		wh_tornado_graph_free(&t->graph[i]);
	wh_tornado_scratch_free(&t->scratch);
	free(t->unknowns);
	free(t->ripe);
	free(t->known);
	free(t->wanted);
	free(t->steps);
	free(t);
}

bool wh_tornado_exists(uint32_t k, uint32_t r)
{
	struct wh_tornado_levels plan;

	return wh_tornado_plan(k, r, &plan);
}

/* Cached, or built now. */
static const struct wh_tornado_graph *graph_of(struct wh_tornado *t, uint32_t k, uint32_t r)
{
	uint32_t oldest = 0;

	t->calls++;
	for (uint32_t i = 0; i < GRAPHS; i++) {
		if (t->graph[i].k == k && t->graph[i].r == r) {
			t->used[i] = t->calls;
			return &t->graph[i];
		}
		if (t->used[i] < t->used[oldest])
			oldest = i;
	}
	wh_tornado_graph_make(&t->graph[oldest], &t->scratch, k, r);
	t->used[oldest] = t->calls;
	return &t->graph[oldest];
}

static uint8_t *bytes_of(const struct place *at, uint32_t packet)
{
	uint32_t k = at->graph->k;

	WH_DEBUG_ASSERT(packet < k + at->graph->r);
	if (packet >= k)
		return at->repair + (size_t)(packet - k) * at->bytes;
	if (packet + 1 == k && at->last_is_short)
		return at->last;
	return at->data + (size_t)packet * at->bytes;
}

/* The XOR of up to SOURCES packets into `to`, which may be one of them. */
static void xor_into(uint8_t *to, uint8_t **sources, uint32_t count, uint32_t bytes)
{
	WH_ASSERT(count <= SOURCES);
	if (count == 0) {
		memset(to, 0, bytes);
	} else if (count == 1) {
		if (sources[0] != to)
			memcpy(to, sources[0], bytes);
	} else {
		sources[count] = to;

		int rc = xor_gen((int)count + 1, (int)bytes, (void **)sources);

		WH_ASSERT(rc == 0);
	}
}

/* Adds the packets [from, end) of a check, except `but`, to `to`, which is empty if `anew`. */
static void add_packets(const struct place *at, uint32_t check, uint32_t from, uint32_t end,
	uint32_t but, bool anew, uint8_t *to)
{
	const struct wh_tornado_graph *graph = at->graph;
	uint8_t *sources[SOURCES + 1];
	uint32_t count = 0;

	if (!anew)
		sources[count++] = to;
	for (uint32_t i = graph->first[check]; i < graph->first[check + 1]; i++) {
		uint32_t packet = graph->packet[i];

		if (packet < from || packet >= end || packet == but)
			continue;
		if (count == SOURCES) {
			xor_into(to, sources, count, at->bytes);
			sources[0] = to;
			count = 1;
		}
		sources[count++] = bytes_of(at, packet);
	}
	xor_into(to, sources, count, at->bytes);
}

/*
 * Adds packets [from, end) to the first level's checks. When it is complete deeper levels follow.
 */
static void encode_checks(const struct place *at, uint32_t from, uint32_t end)
{
	const struct wh_tornado_graph *graph = at->graph;

	for (uint32_t c = 0; c < graph->checks; c++) {
		bool first_level = graph->packet[graph->first[c]] < graph->k;

		if (!first_level && end < graph->k)
			break;
		add_packets(at, c, first_level ? from : 0, first_level ? end : UINT32_MAX,
			UINT32_MAX, !first_level || from == 0, bytes_of(at, graph->k + c));
	}
}

static void closing_packets(const struct place *at, uint8_t **packets, uint8_t **repairs)
{
	const struct wh_tornado_graph *graph = at->graph;

	WH_ASSERT(graph->close_k + graph->close_r <= WH_TORNADO_CLOSE_PKTS);
	for (uint32_t i = 0; i < graph->close_k; i++)
		packets[i] = bytes_of(at, graph->close_first + i);
	for (uint32_t i = 0; i < graph->close_r; i++)
		repairs[i] = bytes_of(at, graph->close_first + graph->close_k + i);
}

uint32_t wh_tornado_encode(struct wh_tornado *t, const struct wh_fec_shape *shape,
	const uint8_t *data, const uint8_t *last, uint32_t from, uint32_t ready, uint8_t *repair)
{
	struct place at = {
		.graph = graph_of(t, shape->k, shape->r),
		.data = (uint8_t *)(uintptr_t)data,
		.last = (uint8_t *)(uintptr_t)last,
		.repair = repair,
		.bytes = shape->symbol_bytes,
		.last_is_short = shape->last_bytes < shape->symbol_bytes,
	};
	uint32_t end = ready == shape->k ? ready : from + (ready - from) / PORTION * PORTION;
	uint8_t *packets[WH_TORNADO_CLOSE_PKTS];
	uint8_t *repairs[WH_TORNADO_CLOSE_PKTS];

	WH_ASSERT(end >= from && end <= ready);
	if (end == from)
		return end;
	encode_checks(&at, from, end);
	if (end == shape->k) {
		closing_packets(&at, packets, repairs);
		wh_rs_encode(t->rs, at.graph->close_k, at.graph->close_r, at.bytes, 0,
			at.graph->close_k, packets, repairs);
	}
	return end;
}

static bool has(const uint64_t *bits, uint32_t packet)
{
	return bits[packet / 64] >> packet % 64 & 1;
}

static void set(uint64_t *bits, uint32_t packet)
{
	bits[packet / 64] |= UINT64_C(1) << packet % 64;
}

static void count_unknowns(struct wh_tornado *t, const struct wh_tornado_graph *graph)
{
	for (uint32_t c = 0; c < graph->checks; c++) {
		t->unknowns[c] = !has(t->known, graph->k + c);
		for (uint32_t i = graph->first[c]; i < graph->first[c + 1]; i++)
			t->unknowns[c] += !has(t->known, graph->packet[i]);
	}
}

/* Marks a packet as known; a check left with one unknown is pushed as ripe. */
static uint32_t learn(struct wh_tornado *t, const struct wh_tornado_graph *graph, uint32_t packet,
	uint32_t by, uint32_t ripe)
{
	WH_DEBUG_ASSERT(!has(t->known, packet) && t->n_steps < graph->k + graph->r);
	set(t->known, packet);
	t->steps[t->n_steps++] = (struct step){.packet = packet, .by = by};
	if (packet >= graph->k && packet - graph->k < graph->checks &&
		--t->unknowns[packet - graph->k] == 1)
		t->ripe[ripe++] = packet - graph->k;
	for (uint32_t d = 0; d < graph->degree[packet]; d++)
		if (--t->unknowns[graph->check[packet][d]] == 1)
			t->ripe[ripe++] = graph->check[packet][d];
	return ripe;
}

static uint32_t the_unknown(
	const struct wh_tornado *t, const struct wh_tornado_graph *graph, uint32_t check)
{
	for (uint32_t i = graph->first[check]; i < graph->first[check + 1]; i++)
		if (!has(t->known, graph->packet[i]))
			return graph->packet[i];
	WH_DEBUG_ASSERT(!has(t->known, graph->k + check));
	return graph->k + check;
}

/* Peeling decoder: a check with one unknown determines it, which may make other checks ripe. */
static void peel(struct wh_tornado *t, const struct wh_tornado_graph *graph, uint32_t ripe)
{
	while (ripe > 0) {
		uint32_t check = t->ripe[--ripe];

		if (t->unknowns[check] == 1)
			ripe = learn(t, graph, the_unknown(t, graph, check), check, ripe);
		WH_DEBUG_ASSERT(ripe <= graph->checks); /* each check ripens at most once */
	}
}

/* Recovers the whole last level when enough of it is known. Returns the number of ripe checks. */
static uint32_t close_level(
	struct wh_tornado *t, const struct wh_tornado_graph *graph, const uint64_t *have)
{
	uint32_t missing = 0;
	uint32_t helpers = 0;
	uint32_t ripe = 0;

	for (uint32_t i = 0; i < graph->close_k; i++)
		missing += !has(t->known, graph->close_first + i);
	for (uint32_t i = 0; i < graph->close_r; i++)
		helpers += has(have, graph->close_first + graph->close_k + i);
	if (missing == 0 || helpers < missing)
		return 0;
	for (uint32_t i = 0; i < graph->close_k; i++)
		if (!has(t->known, graph->close_first + i))
			ripe = learn(t, graph, graph->close_first + i, BY_CLOSING, ripe);
	return ripe;
}

/* Determines what can be recovered, and how, without touching data. */
static void find_steps(
	struct wh_tornado *t, const struct wh_tornado_graph *graph, const uint64_t *have)
{
	uint32_t words = (graph->k + graph->r + 63) / 64;
	uint32_t ripe = 0;

	memcpy(t->known, have, words * sizeof(uint64_t));
	t->n_steps = 0;
	count_unknowns(t, graph);
	for (uint32_t c = 0; c < graph->checks; c++)
		if (t->unknowns[c] == 1)
			t->ripe[ripe++] = c;
	do {
		peel(t, graph, ripe);
		ripe = close_level(t, graph, have);
	} while (ripe > 0);
}

/* Walks the steps backwards: data packets are wanted, and whatever wanted packets derive from. */
static void mark_wanted(struct wh_tornado *t, const struct wh_tornado_graph *graph)
{
	bool closing_wanted = false;

	memset(t->wanted, 0, (graph->k + graph->r + 63) / 64 * sizeof(uint64_t));
	for (uint32_t s = t->n_steps; s-- > 0;) {
		uint32_t packet = t->steps[s].packet;
		uint32_t by = t->steps[s].by;

		if (packet < graph->k)
			set(t->wanted, packet);
		if (!has(t->wanted, packet) && !(by == BY_CLOSING && closing_wanted))
			continue;
		set(t->wanted, packet);
		if (by != BY_CLOSING) {
			set(t->wanted, graph->k + by);
			for (uint32_t i = graph->first[by]; i < graph->first[by + 1]; i++)
				set(t->wanted, graph->packet[i]);
		} else if (!closing_wanted) {
			closing_wanted = true;
			for (uint32_t i = 0; i < graph->close_k; i++)
				set(t->wanted, graph->close_first + i);
		}
	}
}

static void make_closing(struct wh_tornado *t, const struct place *at, const uint64_t *have,
	const struct step *steps, uint32_t count)
{
	const struct wh_tornado_graph *graph = at->graph;
	uint8_t *packets[WH_TORNADO_CLOSE_PKTS];
	uint8_t *repairs[WH_TORNADO_CLOSE_PKTS];
	uint8_t *out[WH_TORNADO_CLOSE_PKTS];
	uint8_t missing[WH_TORNADO_CLOSE_PKTS];
	uint8_t with[WH_TORNADO_CLOSE_PKTS];
	uint32_t helpers = 0;

	closing_packets(at, packets, repairs);
	for (uint32_t i = 0; i < graph->close_r && helpers < count; i++)
		if (has(have, graph->close_first + graph->close_k + i))
			with[helpers++] = (uint8_t)i;
	WH_ASSERT(helpers == count && count <= graph->close_k);
	for (uint32_t i = 0; i < count; i++) {
		missing[i] = (uint8_t)(steps[i].packet - graph->close_first);
		out[i] = packets[missing[i]];
	}
	wh_rs_decode(t->rs, graph->close_k, at->bytes, missing, with, count, packets, repairs, out);
}

/* The packets recovered by one use of the closing code are consecutive steps. */
static uint32_t closing_run(const struct wh_tornado *t, uint32_t s)
{
	uint32_t end = s;

	while (end < t->n_steps && t->steps[end].by == BY_CLOSING)
		end++;
	return end - s;
}

static void take_steps(struct wh_tornado *t, const struct place *at, uint64_t *have)
{
	const struct wh_tornado_graph *graph = at->graph;

	for (uint32_t s = 0; s < t->n_steps;) {
		const struct step *step = &t->steps[s];
		uint32_t count = step->by == BY_CLOSING ? closing_run(t, s) : 1;

		if (!has(t->wanted, step->packet)) {
			s += count;
			continue;
		}
		if (step->by == BY_CLOSING) {
			if (at->bytes > 0)
				make_closing(t, at, have, step, count);
		} else if (at->bytes > 0) {
			uint8_t *to = bytes_of(at, step->packet);
			bool is_check = step->packet == graph->k + step->by;

			if (!is_check)
				memcpy(to, bytes_of(at, graph->k + step->by), at->bytes);
			add_packets(at, step->by, 0, UINT32_MAX, step->packet, is_check, to);
		}
		for (uint32_t i = 0; i < count; i++)
			set(have, t->steps[s + i].packet);
		s += count;
	}
}

uint32_t wh_tornado_decode(struct wh_tornado *t, const struct wh_fec_shape *shape, uint8_t *data,
	uint8_t *last, uint8_t *repair, uint64_t *have)
{
	struct place at = {
		.graph = graph_of(t, shape->k, shape->r),
		.data = data,
		.last = last,
		.repair = repair,
		.bytes = shape->symbol_bytes,
		.last_is_short = shape->last_bytes < shape->symbol_bytes,
	};
	uint32_t missing = 0;

	find_steps(t, at.graph, have);
	mark_wanted(t, at.graph);
	take_steps(t, &at, have);
	for (uint32_t p = 0; p < shape->k; p++)
		missing += !has(have, p);
	return missing;
}
