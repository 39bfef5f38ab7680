/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/loop.h"

#include <sys/prctl.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "base/assert.h"

void wh_loop_add(struct wh_loop *loop, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state)
{
	WH_ASSERT(loop->processes < WH_LOOP_PROCESSES_MAX);
	WH_ASSERT(name != NULL && poll != NULL);
	loop->process[loop->processes++] = (struct wh_process){name, poll, state};
}

void wh_loop_print(const struct wh_loop *loop, const char *name, FILE *to)
{
	fprintf(to, "%s:", name);
	for (uint32_t i = 0; i < loop->processes; i++)
		fprintf(to, "%s %s", i == 0 ? "" : ",", loop->process[i].name);
	fprintf(to, "\n");
}

static uint64_t read_tsc(void)
{
	return rte_rdtsc();
}

static void count_seconds(struct wh_loop *loop, uint64_t now_tsc, int64_t work)
{
	loop->second_work += (uint64_t)work;
	if (now_tsc < loop->second_tsc)
		return;
	loop->quiet_s = loop->second_work < WH_LOOP_TRICKLE ? loop->quiet_s + 1 : 0;
	loop->second_work = 0;
	loop->second_tsc = now_tsc + loop->hz;
}

static void rest(struct wh_loop *loop, int64_t work)
{
	const struct timespec nap = {.tv_nsec = (long)loop->nap_us * 1000};

	if (work >= WH_LOOP_WAKE)
		loop->quiet_s = 0;
	if (work > 0)
		return;
	if (loop->quiet_s < WH_LOOP_QUIET_S) {
		rte_pause();
		return;
	}
	loop->naps++;
	nanosleep(&nap, NULL);
}

int wh_loop_run(void *argument)
{
	struct wh_loop *loop = argument;
	uint64_t last_tsc = rte_rdtsc();

	WH_ASSERT(loop->stop != NULL);
	WH_ASSERT(loop->hz == 0 || (loop->nap_us > 0 && loop->nap_us < 1000000));
	loop->meter.read = read_tsc;
	loop->second_tsc = last_tsc + loop->hz;
	if (loop->hz != 0)
		prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	while (!atomic_load_explicit(loop->stop, memory_order_acquire)) {
		uint64_t now_tsc = rte_rdtsc();
		int64_t work = 0;

		/* One round in so many has its cycles told apart by process. */
		if (loop->turns++ % WH_METER_EVERY == 0)
			wh_meter_begin(&loop->meter, now_tsc);
		for (uint32_t i = 0; i < loop->processes; i++)
			work += loop->process[i].poll(loop->process[i].state, now_tsc);
		if (loop->meter.on)
			wh_meter_end(&loop->meter, work > 0);
		loop->total_tsc += now_tsc - last_tsc;
		if (work > 0)
			loop->busy_tsc += rte_rdtsc() - now_tsc;
		last_tsc = now_tsc;
		if (loop->hz != 0)
			count_seconds(loop, now_tsc, work);
		rest(loop, work);
	}
	return 0;
}
