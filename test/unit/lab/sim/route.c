/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "lab/sim/simulation.h"

const char wh_suite_name[] = "sim_route";

#define NODES_MAX 60
#define LINKS_MAX 12

static unsigned int received;

static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct wh_sim *sim = context;

	(void)now_ps;
	received++;
	wh_sim_packet_put(wh_sim_pool(sim), packet);
}

static uint32_t add_link(struct wh_sim *sim, uint32_t from, uint32_t to, uint64_t delay_ps)
{
	return wh_sim_add_link(sim, &(struct wh_sim_link_config){.from = from,
					    .to = to,
					    .rate_bps = UINT64_C(1000000000),
					    .delay_ps = delay_ps});
}

static struct wh_sim *create(unsigned int nodes)
{
	struct wh_sim *sim = wh_sim_create(1);

	for (unsigned int i = 0; i < nodes; i++)
		CU_ASSERT_EQUAL(wh_sim_add_node(sim), i);
	wh_sim_add_flow(sim);
	received = 0;
	return sim;
}

/* From a node to an agent that is made for it. */
static void send_to(struct wh_sim *sim, uint32_t from, uint32_t to)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(sim));

	packet->bytes = 100;
	packet->flow = 0;
	packet->to = wh_sim_add_agent(sim, to, receive, sim);
	wh_sim_send(sim, from, packet);
	wh_sim_run(sim, wh_sim_now_ps(sim) + WH_PS_PER_S);
}

struct hop {
	uint32_t from;
	uint32_t to;
	uint64_t delay_ps;
};

/* From node 0 to node 3; bit n of `way` is set when it leads by link n. */
static void takes_the_least_delay_then_the_fewest_links(void)
{
	static const struct {
		struct hop hops[LINKS_MAX];
		unsigned int n_hops;
		unsigned int way;
	} cases[] = {
		{{{0, 3, 10}}, 1, 1u},
		{{{0, 3, 10}, {0, 1, 3}, {1, 2, 3}, {2, 3, 3}}, 4, 2u | 4 | 8}, /* 9 below 10 */
		{{{0, 3, 9}, {0, 1, 3}, {1, 2, 3}, {2, 3, 3}}, 4, 1u},          /* fewest links */
		{{{0, 2, 5}, {2, 3, 5}, {0, 1, 5}, {1, 3, 5}}, 4, 4u | 8},      /* by node 1 */
		{{{0, 1, 5}, {1, 3, 5}, {0, 2, 5}, {2, 3, 4}}, 4, 4u | 8},
		{{{0, 3, 7}, {0, 3, 5}, {0, 3, 5}}, 3, 2u}, /* side by side: the lower number */
		{{{0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {2, 1, 0}, {2, 3, 0}, {3, 2, 0}}, 6,
			1u | 4 | 16},
		{{{0, 3, UINT64_C(1) << 62}, {3, 0, 0}}, 2, 1u},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim *sim = create(4);
		unsigned int way = 0;

		for (unsigned int n = 0; n < cases[i].n_hops; n++) {
			const struct hop *hop = &cases[i].hops[n];

			CU_ASSERT_EQUAL(add_link(sim, hop->from, hop->to, hop->delay_ps), n);
		}
		CU_ASSERT_NOT_EQUAL(WH_SIM_NO_LINK, wh_sim_next_link(sim, 0, 3));
		send_to(sim, 0, 3);
		for (unsigned int n = 0; n < cases[i].n_hops; n++)
			way |= (unsigned int)wh_sim_link_stats(sim, n)->entered_pkts << n;
		CU_ASSERT_EQUAL(way, cases[i].way);
		wh_sim_destroy(sim);
	}
}

static void says_when_there_is_no_way(void)
{
	struct wh_sim *sim = create(4);

	add_link(sim, 0, 1, 1);
	add_link(sim, 1, 2, 1);
	CU_ASSERT_NOT_EQUAL(WH_SIM_NO_LINK, wh_sim_next_link(sim, 0, 2));
	CU_ASSERT_NOT_EQUAL(WH_SIM_NO_LINK, wh_sim_next_link(sim, 1, 2));
	CU_ASSERT_EQUAL(WH_SIM_NO_LINK, wh_sim_next_link(sim, 2, 0)); /* links have one direction */
	CU_ASSERT_EQUAL(WH_SIM_NO_LINK, wh_sim_next_link(sim, 0, 3));
	CU_ASSERT_EQUAL(WH_SIM_NO_LINK, wh_sim_next_link(sim, 3, 0));
	CU_ASSERT_EQUAL(WH_SIM_NO_LINK, wh_sim_next_link(sim, 1, 1));
	wh_sim_destroy(sim);
}

/* A ring with one way round: from i to j there are (j - i) mod n links. */
static void leads_through_many_nodes(void)
{
	struct wh_sim *sim = create(NODES_MAX);
	uint64_t hops = 0;

	for (uint32_t i = 0; i < NODES_MAX; i++)
		add_link(sim, i, (i + 1) % NODES_MAX, 1000 + i);
	for (uint32_t i = 0; i < NODES_MAX; i += 7) {
		for (uint32_t j = 0; j < NODES_MAX; j++) {
			if (i == j)
				continue;
			send_to(sim, i, j);
			hops += (j + NODES_MAX - i) % NODES_MAX;
			CU_ASSERT_EQUAL(wh_sim_hops(sim), hops);
		}
	}
	CU_ASSERT_EQUAL(received, 9 * (NODES_MAX - 1));
	CU_ASSERT_EQUAL(wh_sim_pool(sim)->in_use_pkts, 0);
	wh_sim_destroy(sim);
}

CU_TestInfo wh_tests[] = {
	{"takes the least delay, then the fewest links",
		takes_the_least_delay_then_the_fewest_links},
	{"says when there is no way", says_when_there_is_no_way},
	{"leads through many nodes", leads_through_many_nodes},
	CU_TEST_INFO_NULL,
};
