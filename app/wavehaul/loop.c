/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop.h"

#include <rte_cycles.h>
#include <rte_pause.h>

#include "base/assert.h"

void wh_loop_add(struct wh_loop *loop, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state)
{
	WH_ASSERT(loop->processes < WH_LOOP_PROCESSES_MAX);
	loop->process[loop->processes++] = (struct wh_process){name, poll, state};
}

void wh_loop_print(const struct wh_loop *loop, const char *name, FILE *to)
{
	fprintf(to, "%s:", name);
	for (uint32_t i = 0; i < loop->processes; i++)
		fprintf(to, "%s %s", i == 0 ? "" : ",", loop->process[i].name);
	fprintf(to, "\n");
}

int wh_loop_run(void *argument)
{
	const struct wh_loop *loop = argument;

	while (!atomic_load_explicit(loop->stop, memory_order_acquire)) {
		uint64_t now_tsc = rte_rdtsc();
		int64_t work = 0;

		for (uint32_t i = 0; i < loop->processes; i++)
			work += loop->process[i].poll(loop->process[i].state, now_tsc);
		if (work == 0)
			rte_pause();
	}
	return 0;
}
