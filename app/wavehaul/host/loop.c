/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/loop.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "base/assert.h"
#include "base/clock.h"

#define NICE_LEAST (-20)

void wh_loop_add(struct wh_loop *loop, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state)
{
	WH_ASSERT(loop->tasks < WH_LOOP_TASKS_MAX);
	WH_ASSERT(name != NULL && poll != NULL);
	loop->task[loop->tasks++] = (struct wh_task){name, poll, state};
}

void wh_loop_begin_quiet(
	struct wh_loop *loop, const _Atomic uint32_t *sessions, struct wh_loop_bell *bell)
{
	WH_ASSERT(loop->hz != 0 && loop->turns == 0);
	WH_ASSERT((sessions == NULL) == (bell == NULL));
	loop->sessions = sessions;
	loop->bell = bell;
	loop->quiet_s = WH_LOOP_QUIET_S;
}

void wh_loop_print(const struct wh_loop *loop, const char *name, FILE *to)
{
	fprintf(to, "%s:", name);
	for (uint32_t i = 0; i < loop->tasks; i++)
		fprintf(to, "%s %s", i == 0 ? "" : ",", loop->task[i].name);
	fprintf(to, "\n");
}

uint64_t wh_loop_read_tsc(void)
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

/*
 * Yields the CPU after a round of `work`, if it is time to. If the CPU comes back late, the loop
 * then keeps it for a time (loop.h).
 */
static void yield_cpu(struct wh_loop *loop, uint64_t now_tsc, int64_t work)
{
	if (now_tsc < loop->keep_tsc || (work > 0 && now_tsc < loop->yield_tsc))
		return;

	uint64_t from_tsc = rte_rdtsc();

	sched_yield();
	loop->yields++;

	uint64_t back_tsc = rte_rdtsc();

	loop->yield_tsc = back_tsc + loop->away_tsc / WH_LOOP_YIELDS;
	if (back_tsc - from_tsc <= loop->away_tsc) {
		loop->late = 0;
		return;
	}
	loop->keep_tsc =
		back_tsc + (++loop->late % WH_LOOP_LATE == 0 ? loop->away_tsc * WH_LOOP_KEEPS_LONG
							     : loop->away_tsc / WH_LOOP_KEEPS);
}

static bool has_sessions(const struct wh_loop *loop)
{
	return loop->sessions == NULL ||
	       atomic_load_explicit(loop->sessions, memory_order_relaxed) > 0;
}

static bool is_idle(const struct wh_loop *loop, uint64_t now_tsc)
{
	return !has_sessions(loop) &&
	       now_tsc - loop->worked_tsc > wh_us_to_tsc(loop->hz, WH_LOOP_IDLE_US);
}

/* A server whose last session is over need not wait for quiet seconds, until much happens again. */
static bool was_left(struct wh_loop *loop, uint64_t now_tsc)
{
	if (has_sessions(loop)) {
		loop->occupied = true;
		loop->left = false;
	} else if (loop->occupied && is_idle(loop, now_tsc)) {
		loop->occupied = false;
		loop->left = true;
	}
	return loop->left;
}

/* Until it rings, or the nap is over. When the loop last looked for work, it had rung so often. */
static void wait_for_bell(struct wh_loop_bell *bell, uint32_t rung)
{
	const struct timespec nap = {.tv_nsec = WH_LOOP_IDLE_NAP_US * 1000};

	atomic_fetch_add(&bell->asleep, 1);
	(void)syscall(SYS_futex, &bell->rung, FUTEX_WAIT_PRIVATE, rung, &nap, NULL, 0);
	atomic_fetch_sub(&bell->asleep, 1);
}

void wh_loop_ring(struct wh_loop *loop)
{
	struct wh_loop_bell *bell = loop->bell;

	if (bell == NULL)
		return;
	atomic_fetch_add(&bell->rung, 1);
	if (atomic_load(&bell->asleep) > 0)
		(void)syscall(SYS_futex, &bell->rung, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* True: it slept. */
static bool rest(struct wh_loop *loop, uint64_t now_tsc, int64_t work, uint32_t rung)
{
	const struct timespec nap = {.tv_nsec = (long)loop->nap_us * 1000};

	if (work >= WH_LOOP_WAKE) {
		loop->quiet_s = 0;
		loop->left = false;
	}
	if (work > 0) {
		loop->worked_tsc = now_tsc;
		return false;
	}
	if (loop->quiet_s < WH_LOOP_QUIET_S && !was_left(loop, now_tsc)) {
		rte_pause();
		return false;
	}
	loop->naps++;
	if (loop->quiet_s >= WH_LOOP_QUIET_S && is_idle(loop, now_tsc))
		wait_for_bell(loop->bell, rung);
	else
		nanosleep(&nap, NULL);
	return true;
}

int wh_loop_run(void *argument)
{
	struct wh_loop *loop = argument;
	uint64_t last_tsc = rte_rdtsc();
	uint32_t rung = 0;
	bool napped = false;

	WH_ASSERT(loop->stop != NULL);
	WH_ASSERT(loop->hz == 0 || (loop->nap_us > 0 && loop->nap_us < 1000000));
	(void)pthread_getcpuclockid(pthread_self(), &loop->cpu_clock);
	loop->meter.read = wh_loop_read_tsc;
	loop->second_tsc = last_tsc + loop->hz;
	if (loop->urgent)
		(void)setpriority(PRIO_PROCESS, 0, NICE_LEAST); /* of this thread alone */
	if (loop->hz != 0)
		prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	while (!atomic_load_explicit(loop->stop, memory_order_acquire)) {
		uint64_t now_tsc = rte_rdtsc();
		int64_t work = 0;

		if (unlikely(now_tsc - last_tsc > loop->away_tsc) && !napped)
			loop->shared_tsc = now_tsc + loop->away_tsc * WH_LOOP_SHARED;
		if (napped && loop->bell != NULL)
			rung = atomic_load(&loop->bell->rung);
		/* In one of WH_METER_EVERY rounds the cycles are measured per task. */
		if (loop->turns++ % WH_METER_EVERY == 0)
			wh_meter_begin(&loop->meter, now_tsc);
		for (uint32_t i = 0; i < loop->tasks; i++)
			work += loop->task[i].poll(loop->task[i].state, now_tsc);
		if (loop->meter.on)
			wh_meter_end(&loop->meter, work > 0);
		loop->total_tsc += now_tsc - last_tsc;
		if (work > 0)
			loop->busy_tsc += rte_rdtsc() - now_tsc;
		if (loop->hz != 0)
			count_seconds(loop, now_tsc, work);
		if (unlikely(now_tsc < loop->shared_tsc))
			yield_cpu(loop, now_tsc, work);
		last_tsc = now_tsc;
		if (napped && work > 0)
			wh_loop_ring(loop);
		napped = rest(loop, now_tsc, work, rung);
	}
	return 0;
}
