/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The receiver's loss list: udt.txt appendix B, "all operations of insert, delete, and update
 * take similar small time".
 *
 * It holds disjoint ranges of packet numbers in a window of `size` packet numbers above the lowest
 * one held. A range lives in the array entry of its first packet number (modulo size). A bitset of
 * those entries finds the range around a packet number.
 *
 * Each range remembers when it was last reported, and is due again k round trips after that. k
 * starts at 2 and grows by 1 with each report (III E). Ranges of the same k form a list in order of
 * their report, so the range that is due next is at the head of one of the lists.
 */

#include <stdbool.h>
#include <stdint.h>

#include "track/bitset.h"

/* k starts at 2 (udt.txt III E), and stops growing where reports are rare enough. */
#define WH_LOSS_FIRST_K 2
#define WH_LOSS_K_MAX   63

#define WH_LOSS_SIZE_MAX (UINT32_C(1) << 24)

/* Prefetch distance in a due list; chosen by test/perf/loss_list.c. */
#define WH_LOSS_AHEAD 32

struct wh_loss_range {
	uint64_t first;
	uint64_t end; /* one past the last */
};

struct wh_loss_node; /* loss_list.c */

struct wh_loss_list {
	uint32_t size; /* packet numbers held at once span at most this; a power of two */
	uint32_t mask;
	uint64_t lost_pkts;
	uint32_t ranges;
	struct wh_bitset starts;
	struct wh_loss_node *node;        /* by first packet number & mask */
	uint32_t head[WH_LOSS_K_MAX + 1]; /* by k: least recently reported range */
	uint32_t tail[WH_LOSS_K_MAX + 1];
	uint64_t waiting;                                  /* bit k: list k is not empty */
	uint32_t recent[WH_LOSS_K_MAX + 1][WH_LOSS_AHEAD]; /* by k: ring of ranges appended last */
	uint32_t appended[WH_LOSS_K_MAX + 1];
};

/* 0 or -ENOMEM; size from 64 to WH_LOSS_SIZE_MAX. */
int wh_loss_list_init(struct wh_loss_list *list, uint32_t size);
void wh_loss_list_free(struct wh_loss_list *list); /* harmless after a failed init */

/* Memory that init allocates. */
uint64_t wh_loss_list_bytes(uint32_t size);

/*
 * [first, end) is lost and was reported at now_tsc (its first, immediate report). Packet numbers
 * that are in the list already keep their state. Packet numbers held, old and new, must span at
 * most size.
 */
void wh_loss_list_insert(struct wh_loss_list *list, uint64_t first, uint64_t end, uint64_t now_tsc);

/* True: the packet number was in the list. */
bool wh_loss_list_remove(struct wh_loss_list *list, uint64_t pn);

bool wh_loss_list_contains(const struct wh_loss_list *list, uint64_t pn);

/*
 * The first range that ends after `pn`, to walk the list in order; all ranges are in
 * [from, from + size). False: none. For tests.
 */
bool wh_loss_list_next(
	const struct wh_loss_list *list, uint64_t from, uint64_t pn, struct wh_loss_range *range);

/*
 * Of the ranges whose last report is at least k round trips old at now_tsc, returns the one that
 * has been due longest, so that none starves when a NAK cannot take all. It counts as reported now,
 * and k grows. False if none is due. now_tsc never decreases, here and in insert.
 */
bool wh_loss_list_next_due(
	struct wh_loss_list *list, uint64_t now_tsc, uint64_t rtt_tsc, struct wh_loss_range *range);

/* When next_due will return a range; WH_TSC_NEVER if the list is empty. */
uint64_t wh_loss_list_due_tsc(const struct wh_loss_list *list, uint64_t rtt_tsc);

/* Asserts all invariants; for tests and simulation. */
void wh_loss_list_check(const struct wh_loss_list *list);
