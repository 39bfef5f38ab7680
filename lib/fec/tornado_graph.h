/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The graphs of one tornado code. Packets are numbered as everywhere: k data, then r repair. The
 * repair packets are the checks of the first level, of the second and so on, and finally the
 * Reed-Solomon packets of the last level.
 *
 * Each level has r / (k + r) times the packets of the previous one, so that all are equally well
 * protected. A packet takes part in WH_TORNADO_DEGREE checks of the next level; checks have the
 * same number of packets, give or take one.
 *
 * Of the codes with a single degree, degree 3 recovers most: all losses of a level as long as they
 * are fewer than 0.818 of its checks. That is density evolution, as in Luby et al., "Practical
 * loss-resilient codes", 1997: 1 - exp(-3 x d^2) < d for all d in (0, 1], with x losses per check.
 * Luby's distributions of many degrees come closer to 1 for levels of tens of thousands of packets,
 * but are worse for hundreds. There most failures are two packets with the same two checks, so here
 * no two packets share two checks while that can be avoided.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_TORNADO_DEGREE     3
#define WH_TORNADO_LEVELS_MAX 16

/*
 * A level whose packets and repair packets together are at most this many ends the cascade and is
 * protected by Reed-Solomon.
 */
#define WH_TORNADO_CLOSE_PKTS 160

struct wh_tornado_levels {
	uint32_t levels;
	uint32_t packets[WH_TORNADO_LEVELS_MAX]; /* per level; [0] is k */
	uint32_t closing;                        /* Reed-Solomon packets of the last level */
};

/* False: the code does not exist. */
bool wh_tornado_plan(uint32_t k, uint32_t r, struct wh_tornado_levels *plan);

/* Memory for building a level, shared by the graphs of one core. */
struct wh_tornado_scratch {
	uint32_t *end;  /* check number per edge */
	uint64_t *seen; /* hash table: pairs and sets of checks in use by packets of the level */
	uint32_t seen_mask;
	uint64_t steps; /* of the latest graph: draws and table lookups */
};

struct wh_tornado_graph {
	uint32_t k; /* 0: not built */
	uint32_t r;
	uint32_t checks;      /* check i is packet k + i */
	uint32_t close_first; /* the last level: [close_first, close_first + close_k) */
	uint32_t close_k;
	uint32_t close_r; /* and its Reed-Solomon packets, the last of all */
	uint32_t *first;  /* per check, plus one: start of its packets in `packet` */
	uint32_t *packet; /* packets of all checks, ascending per check */
	uint32_t (*check)[WH_TORNADO_DEGREE]; /* per packet of all levels but the last */
	uint32_t *degree;                     /* number of checks per packet; 0 in the last level */
};

/* Memory for codes of up to k_max and r_max packets. 0 or -ENOMEM. */
int wh_tornado_graph_init(struct wh_tornado_graph *graph, uint32_t k_max, uint32_t r_max);
void wh_tornado_graph_free(struct wh_tornado_graph *graph);
int wh_tornado_scratch_init(struct wh_tornado_scratch *scratch, uint32_t k_max, uint32_t r_max);
void wh_tornado_scratch_free(struct wh_tornado_scratch *scratch);

/* Bytes that each allocates. */
uint64_t wh_tornado_graph_bytes(uint32_t k_max, uint32_t r_max);
uint64_t wh_tornado_scratch_bytes(uint32_t k_max, uint32_t r_max);

/*
 * Builds the graph of a code that exists. A peer chooses k and r with each chunk. Whatever they
 * are, for a chunk of 1 MiB this takes less than 0.5 ms (test/perf/fec.c), a few passes over its
 * memory.
 */
void wh_tornado_graph_make(
	struct wh_tornado_graph *graph, struct wh_tornado_scratch *scratch, uint32_t k, uint32_t r);
