/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FEC_TORNADO_GRAPH_H
#define WH_FEC_TORNADO_GRAPH_H

/*
 * The graphs of one tornado code. Packets are numbered as everywhere, k data and then r repair;
 * the repair packets are the checks of the first level, of the second and so on, and at last those
 * that Reed-Solomon makes of the last level.
 *
 * Each level is the share r / (k + r) of the one before, so that each is as well protected. A
 * packet takes part in WH_TORNADO_DEGREE checks of the next level, which have as many packets each,
 * give or take one. Of the codes with one degree for all, degree 3 recovers most: all of a level's
 * losses as long as they are fewer than 0.818 of its checks (by density evolution as in Luby et
 * al., "Practical loss-resilient codes", 1997: 1 - exp(-3 x d^2) < d for all d in (0, 1], with x
 * losses per check). Their distributions of many degrees come closer to 1 for levels of tens of
 * thousands, and lose at hundreds, where two packets in the same two checks decide: here
 * no two packets share two checks while that can be avoided.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_TORNADO_DEGREE     3
#define WH_TORNADO_LEVELS_MAX 16

/* A level this small is closed by Reed-Solomon: its packets and their repair together. */
#define WH_TORNADO_CLOSE_PKTS 160

struct wh_tornado_levels {
	uint32_t levels;
	uint32_t packets[WH_TORNADO_LEVELS_MAX]; /* of each; [0] is k */
	uint32_t closing;                        /* repair packets of the last */
};

/* False: there is no such code. */
bool wh_tornado_plan(uint32_t k, uint32_t r, struct wh_tornado_levels *plan);

/* Memory for making a level, shared by the graphs of one core. */
struct wh_tornado_scratch {
	uint32_t *end;  /* of edges: numbers of checks */
	uint64_t *seen; /* pairs and sets of a level's checks that packets have: a hash table */
	uint32_t seen_mask;
	uint64_t steps; /* that the latest graph took: draws, and looks into the table */
};

struct wh_tornado_graph {
	uint32_t k; /* 0: not made yet */
	uint32_t r;
	uint32_t checks;      /* check i is packet k + i */
	uint32_t close_first; /* the last level: [close_first, close_first + close_k) ... */
	uint32_t close_k;
	uint32_t close_r; /* ... and its repair packets, the last of all */
	uint32_t *first;  /* by check, and one more: where its packets begin in ... */
	uint32_t *packet; /* ... here, ascending */
	uint32_t (*check)[WH_TORNADO_DEGREE]; /* by packet of all levels but the last */
	uint32_t *degree;                     /* how many those are; 0 in the last level */
};

/* Memory for codes of up to k_max and r_max packets. 0 or -ENOMEM. */
int wh_tornado_graph_init(struct wh_tornado_graph *graph, uint32_t k_max, uint32_t r_max);
void wh_tornado_graph_free(struct wh_tornado_graph *graph);
int wh_tornado_scratch_init(struct wh_tornado_scratch *scratch, uint32_t k_max, uint32_t r_max);
void wh_tornado_scratch_free(struct wh_tornado_scratch *scratch);

/* What the two of them take. */
uint64_t wh_tornado_graph_bytes(uint32_t k_max, uint32_t r_max);
uint64_t wh_tornado_scratch_bytes(uint32_t k_max, uint32_t r_max);

/*
 * Of a code that exists. A peer names it with each chunk: whatever it is, of a chunk of 1 MiB it
 * takes less than 0.5 ms (test/perf/fec.c), as long as some passes over the chunk's memory.
 */
void wh_tornado_graph_make(
	struct wh_tornado_graph *graph, struct wh_tornado_scratch *scratch, uint32_t k, uint32_t r);

#endif
