/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The memory that DPDK must provide: a sum over named users, computed before anything is allocated.
 */

#include <stdint.h>
#include <stdio.h>

#define WH_MEMORY_USERS_MAX 12

struct wh_memory_user {
	char name[32];
	uint64_t bytes;
	uint64_t small_pages_bytes; /* the same with pages of 4 KiB */
};

struct wh_memory_plan {
	uint32_t users;
	struct wh_memory_user user[WH_MEMORY_USERS_MAX];
	uint64_t bytes; /* of all users */
	uint64_t small_pages_bytes;
};

/* The user's name is `whose` followed by `what`: "sender's " and "buffers". */
void wh_memory_plan_add(
	struct wh_memory_plan *plan, const char *whose, const char *what, uint64_t bytes);

/* A pool of packets with this much room in each. */
void wh_memory_plan_add_mbufs(struct wh_memory_plan *plan, const char *whose, const char *what,
	uint32_t mbufs, uint16_t room_bytes);

/* A line for each user, and one for their sum. */
void wh_memory_plan_print(const struct wh_memory_plan *plan, FILE *to);
