/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/route.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "lab/sim/sim_memory.h"

/* A link without delay still counts as a link, so that no path has a cycle. */
struct distance {
	uint64_t delay_ps; /* NEVER: no path known */
	uint32_t links;
};

static bool is_nearer(const struct distance *a, const struct distance *b)
{
	return a->delay_ps != b->delay_ps ? a->delay_ps < b->delay_ps : a->links < b->links;
}

/* The distance from the link's near end over this link. */
static struct distance by(const struct wh_sim_link *link, const struct distance *distances)
{
	const struct distance *rest = &distances[link->config.to];

	return (struct distance){
		wh_add_u64(link->config.delay_ps, rest->delay_ps), rest->links + 1};
}

/*
 * Bellman-Ford: relaxes all links until nothing changes. That takes as many rounds as the longest
 * path has links; large topologies have short paths.
 */
static void measure(struct distance *distances, struct wh_sim_link *const *links, uint32_t n_links)
{
	bool shorter;

	do {
		shorter = false;
		for (uint32_t i = 0; i < n_links; i++) {
			struct distance way = by(links[i], distances);

			if (is_nearer(&way, &distances[links[i]->config.from])) {
				distances[links[i]->config.from] = way;
				shorter = true;
			}
		}
	} while (shorter);
}

static bool is_shortest(const struct wh_sim_link *link, const struct distance *distances)
{
	const struct distance *best = &distances[link->config.from];
	struct distance way = by(link, distances);

	WH_ASSERT(!is_nearer(&way, best)); /* the distances are final */
	return way.delay_ps != WH_SIM_NEVER_PS && !is_nearer(best, &way);
}

uint32_t *wh_sim_route(
	struct wh_sim_link *const *links, uint32_t n_links, uint32_t n_nodes, uint32_t to)
{
	WH_ASSERT(to < n_nodes);

	struct distance *distances = wh_sim_allocate(n_nodes * sizeof(distances[0]));
	uint32_t *next = wh_sim_allocate(n_nodes * sizeof(next[0]));

	for (uint32_t node = 0; node < n_nodes; node++) {
		distances[node].delay_ps = node == to ? 0 : WH_SIM_NEVER_PS;
		next[node] = WH_SIM_NO_LINK;
	}
	measure(distances, links, n_links);
	for (uint32_t i = 0; i < n_links; i++) {
		uint32_t *best = &next[links[i]->config.from];

		if (is_shortest(links[i], distances) &&
			(*best == WH_SIM_NO_LINK || links[i]->config.to < links[*best]->config.to))
			*best = i;
	}
	free(distances);
	return next;
}
