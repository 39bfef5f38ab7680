/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/tornado_graph.h"


#include "unit.h"

const char wh_suite_name[] = "tornado_graph";

/* Levels are k r / (k + r) and so on, rounded down; what is left closes the last. */
static void test_levels(void)
{
	static const struct {
		uint32_t k, r, levels, packets[4], closing;
	} cases[] = {
		{1, 1, 1, {1}, 1},
		{100, 20, 1, {100}, 20},
		{140, 20, 1, {140}, 20},
		{141, 20, 2, {141, 17}, 3},
		{700, 140, 2, {700, 116}, 24},
		{700, 35, 2, {700, 33}, 2},
		{700, 2, 2, {700, 1}, 1},
		{10000, 2000, 4, {10000, 1666, 277, 46}, 11},
	};
	struct wh_tornado_levels plan;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_TRUE_FATAL(wh_tornado_plan(cases[i].k, cases[i].r, &plan));
		CU_ASSERT_EQUAL(plan.levels, cases[i].levels);
		CU_ASSERT_EQUAL(plan.closing, cases[i].closing);
		for (uint32_t level = 0; level < cases[i].levels; level++)
			CU_ASSERT_EQUAL(plan.packets[level], cases[i].packets[level]);
	}
	/* Three times as many as data, as for half of all to be lost: levels shrink slowly. */
	CU_ASSERT_TRUE_FATAL(wh_tornado_plan(704, 2109, &plan));
	CU_ASSERT_EQUAL(plan.levels, 12);
	CU_ASSERT_EQUAL(plan.closing, 108);
	CU_ASSERT_FALSE(wh_tornado_plan(0, 1, &plan));
	CU_ASSERT_FALSE(wh_tornado_plan(1, 0, &plan));
	CU_ASSERT_FALSE(wh_tornado_plan(700, 1, &plan));
	CU_ASSERT_FALSE(wh_tornado_plan(UINT32_MAX, UINT32_MAX, &plan));
}

struct shared {
	uint32_t most;
	uint32_t pairs; /* of packets that share two checks or more */
};

static struct shared count_shared(const struct wh_tornado_graph *graph, uint32_t n)
{
	struct shared s = {0};

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint32_t shared = 0;

			for (uint32_t i = 0; i < graph->degree[a]; i++)
				for (uint32_t j = 0; j < graph->degree[b]; j++)
					shared += graph->check[a][i] == graph->check[b][j];
			s.pairs += shared > 1;
			if (shared > s.most)
				s.most = shared;
		}
	return s;
}

/* Degrees even, both directions of the edges the same, packets listed in order. */
static void check_graph(const struct wh_tornado_graph *graph, uint32_t k, uint32_t m)
{
	uint32_t edges = 0;

	for (uint32_t p = 0; p < k; p++) {
		CU_ASSERT_EQUAL(graph->degree[p], 3);
		for (uint32_t d = 0; d < graph->degree[p]; d++)
			CU_ASSERT_TRUE(graph->check[p][d] < m);
	}
	for (uint32_t c = 0; c < m; c++) {
		uint32_t members = graph->first[c + 1] - graph->first[c];

		CU_ASSERT_TRUE(members >= 3 * k / m && members <= 3 * k / m + 1);
		for (uint32_t i = graph->first[c]; i < graph->first[c + 1]; i++) {
			uint32_t p = graph->packet[i];

			CU_ASSERT_TRUE(i == graph->first[c] || graph->packet[i - 1] < p);
			CU_ASSERT_TRUE(graph->check[p][0] == c || graph->check[p][1] == c ||
				       graph->check[p][2] == c);
		}
		edges += members;
	}
	CU_ASSERT_EQUAL(edges, 3 * k);
}

static void test_graphs(void)
{
	struct wh_tornado_graph graph;
	struct wh_tornado_scratch scratch;

	CU_ASSERT_EQUAL_FATAL(wh_tornado_graph_init(&graph, 2000, 400), 0);
	CU_ASSERT_EQUAL_FATAL(wh_tornado_scratch_init(&scratch, 2000, 400), 0);

	wh_tornado_graph_make(&graph, &scratch, 700, 140);
	CU_ASSERT_EQUAL(graph.checks, 116);
	CU_ASSERT_EQUAL(graph.close_first, 700);
	CU_ASSERT_EQUAL(graph.close_k, 116);
	CU_ASSERT_EQUAL(graph.close_r, 24);
	check_graph(&graph, 700, 116);

	struct shared s = count_shared(&graph, 700);

	CU_ASSERT_TRUE(s.most <= 2);  /* no twins */
	CU_ASSERT_TRUE(s.pairs <= 5); /* of 244,650; a graph drawn at random has about 330 */

	wh_tornado_graph_make(&graph, &scratch, 2000, 400);
	CU_ASSERT_EQUAL(graph.checks, 388); /* 333 and 55 */
	CU_ASSERT_EQUAL(graph.close_first, 2333);
	check_graph(&graph, 2000, 333);
	s = count_shared(&graph, 2000);
	CU_ASSERT_EQUAL(s.most, 1);

	/* Fewer checks than a packet would take part in. */
	wh_tornado_graph_make(&graph, &scratch, 700, 3);
	CU_ASSERT_EQUAL(graph.checks, 2);
	CU_ASSERT_EQUAL(graph.degree[0], 2);
	CU_ASSERT_EQUAL(graph.first[2], 1400);
	wh_tornado_graph_free(&graph);
	wh_tornado_scratch_free(&scratch);
}

/* Both ends make the same: the edges of one packet, written down once. */
static void test_graph_is_the_same_everywhere(void)
{
	struct wh_tornado_graph a, b;
	struct wh_tornado_scratch scratch;

	CU_ASSERT_EQUAL_FATAL(wh_tornado_graph_init(&a, 700, 140), 0);
	CU_ASSERT_EQUAL_FATAL(wh_tornado_graph_init(&b, 5000, 1000), 0);
	CU_ASSERT_EQUAL_FATAL(wh_tornado_scratch_init(&scratch, 5000, 1000), 0);
	wh_tornado_graph_make(&b, &scratch, 5000, 1000); /* leaves its traces */
	wh_tornado_graph_make(&a, &scratch, 700, 140);
	wh_tornado_graph_make(&b, &scratch, 700, 140);
	for (uint32_t p = 0; p < 700; p++)
		for (uint32_t d = 0; d < 3; d++)
			CU_ASSERT_EQUAL(a.check[p][d], b.check[p][d]);
	CU_ASSERT_EQUAL(a.check[0][0], 5);
	CU_ASSERT_EQUAL(a.check[0][1], 16);
	CU_ASSERT_EQUAL(a.check[699][2], 108);
	wh_tornado_graph_free(&a);
	wh_tornado_graph_free(&b);
	wh_tornado_scratch_free(&scratch);
}

#define R_MAX 3000

/* Of each level every packet draws at most 16 times, and looks up three pairs or one set then. */
#define STEPS_PER_PKT 32

/* What a graph costs whoever makes it, whatever shape a peer asks for. */
static void test_steps(void)
{
	static const uint32_t data_pkts[] = {1, 2, 7, 64, 160, 161, 745, 880, 886, 1024, 11916};
	struct wh_tornado_graph graph;
	struct wh_tornado_scratch scratch;
	double worst = 0.0;
	uint32_t made = 0;

	CU_ASSERT_EQUAL_FATAL(wh_tornado_graph_init(&graph, 11916, R_MAX), 0);
	CU_ASSERT_EQUAL_FATAL(wh_tornado_scratch_init(&scratch, 11916, R_MAX), 0);
	for (uint32_t i = 0; i < sizeof(data_pkts) / sizeof(data_pkts[0]); i++) {
		uint32_t k = data_pkts[i];

		for (uint32_t r = 1; r <= R_MAX && r <= 4 * k; r += 1 + r / 16) {
			struct wh_tornado_levels plan;

			if (!wh_tornado_plan(k, r, &plan))
				continue;
			wh_tornado_graph_make(&graph, &scratch, k, r);
			made++;
			if ((double)scratch.steps / (k + r) > worst)
				worst = (double)scratch.steps / (k + r);
			CU_ASSERT_TRUE(scratch.steps <= (uint64_t)STEPS_PER_PKT * (k + r));
		}
	}
	printf("%u graphs, at worst %.1f steps a packet\n", made, worst);
	wh_tornado_graph_free(&graph);
	wh_tornado_scratch_free(&scratch);
}

CU_TestInfo wh_tests[] = {
	{"levels", test_levels},
	{"graphs", test_graphs},
	{"steps", test_steps},
	{"the graph is the same everywhere", test_graph_is_the_same_everywhere},
	CU_TEST_INFO_NULL,
};
