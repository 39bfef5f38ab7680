/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The receiver's table (periodic-exchange.txt, "At Receiver"): which packet numbers of a circular
 * window have arrived. lower is the first missing one; highest_end is one past the highest seen.
 */

#include <stdbool.h>
#include <stdint.h>

#include "track/loss_list.h"

struct wh_recv_table {
	uint32_t size; /* packets; a power of two, 64 to 2^24 */
	uint32_t mask;
	uint64_t lower;
	uint64_t highest_end;
	uint64_t *arrived; /* bit per packet number of [lower, lower + size), by number & mask */
};

/* Memory that init allocates. */
uint64_t wh_recv_table_bytes(uint32_t size);

/* 0 or -ENOMEM. */
int wh_recv_table_init(struct wh_recv_table *table, uint32_t size, uint64_t first_pn);
void wh_recv_table_free(struct wh_recv_table *table); /* harmless after a failed init */

enum wh_recv_verdict {
	WH_RECV_NEW,
	WH_RECV_DUPLICATE, /* arrived before */
	WH_RECV_BEYOND,    /* at or above upper: an honest sender sends no such packet */
};

enum wh_recv_verdict wh_recv_table_classify(const struct wh_recv_table *table, uint64_t pn);

/* Enters a packet number that classify called new; advances lower and highest_end. */
void wh_recv_table_enter(struct wh_recv_table *table, uint64_t pn);

/* Raises highest_end to `end`: all packet numbers below have been sent, even if not received. */
void wh_recv_table_extend(struct wh_recv_table *table, uint64_t end);

static inline uint64_t wh_recv_table_upper(const struct wh_recv_table *table)
{
	return table->lower + table->size;
}

/* The first run of missing packet numbers in [from, highest_end), from >= lower; false: none. */
bool wh_recv_table_next_hole(
	const struct wh_recv_table *table, uint64_t from, struct wh_loss_range *hole);

/* Asserts bounds and bits. */
void wh_recv_table_check(const struct wh_recv_table *table);
