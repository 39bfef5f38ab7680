/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/memory_plan.h"

#include <rte_mbuf.h>

#include "base/assert.h"
#include "base/units.h"

#define SMALL_PAGE_BYTES UINT64_C(4096)

static void add(struct wh_memory_plan *plan, const char *whose, const char *what, uint64_t bytes,
	uint64_t small_pages_bytes)
{
	struct wh_memory_user *user = &plan->user[plan->users];

	WH_ASSERT(plan->users < WH_MEMORY_USERS_MAX);
	plan->users++;

	int length = snprintf(user->name, sizeof(user->name), "%s%s", whose, what);

	WH_ASSERT(length < (int)sizeof(user->name));
	user->bytes = bytes;
	user->small_pages_bytes = small_pages_bytes;
	plan->bytes += bytes;
	plan->small_pages_bytes += small_pages_bytes;
	WH_ASSERT(plan->small_pages_bytes >= plan->bytes);
}

void wh_memory_plan_add(
	struct wh_memory_plan *plan, const char *whose, const char *what, uint64_t bytes)
{
	add(plan, whose, what, bytes, bytes);
}

/*
 * The mempool puts a header before each object and aligns it to cache lines. Without hugepages no
 * object straddles pages of 4 KiB: small ones leave the rest of their page unused, large ones start
 * on a new page.
 */
void wh_memory_plan_add_mbufs(struct wh_memory_plan *plan, const char *whose, const char *what,
	uint32_t mbufs, uint16_t room_bytes)
{
	uint64_t bytes = RTE_ALIGN_CEIL(sizeof(struct rte_mbuf) + room_bytes + 64, 64) + 64;
	uint64_t small_pages_bytes = bytes > SMALL_PAGE_BYTES
					     ? RTE_ALIGN_CEIL(bytes, SMALL_PAGE_BYTES)
					     : SMALL_PAGE_BYTES / (SMALL_PAGE_BYTES / bytes);

	WH_ASSERT(small_pages_bytes >= bytes);
	add(plan, whose, what, mbufs * bytes, mbufs * small_pages_bytes);
}

void wh_memory_plan_print(const struct wh_memory_plan *plan, FILE *to)
{
	char text[WH_UNITS_MAX];

	for (uint32_t i = 0; i < plan->users; i++)
		fprintf(to, "memory: %-24s %s\n", plan->user[i].name,
			wh_format_size(text, sizeof(text), plan->user[i].bytes));
	fprintf(to, "memory: %-24s %s\n", "all together",
		wh_format_size(text, sizeof(text), plan->bytes));
}
