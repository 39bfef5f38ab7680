/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "host/tsc.h"

/* Sources and sinks keep hundreds of files open each; the usual soft limit is 1024. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int start_dpdk(struct wh_runtime *runtime, struct wh_eal_config *eal)
{
	eal->cpus.count = 0;
	for (uint32_t i = 0; i < runtime->cores.count; i++)
		eal->cpus.cpu[eal->cpus.count++] = runtime->cores.core[i].cpu;

	int rc = wh_eal_start(eal, &runtime->eal);

	runtime->dpdk = true;
	runtime->hz = runtime->eal.hz;
	return rc;
}

static int start_threads(struct wh_runtime *runtime)
{
	struct wh_tsc_stamp began = wh_tsc_began();
	int rc = wh_loop_threads_start(&runtime->threads, runtime->loop, &runtime->cores);

	if (rc != 0)
		wh_complain("the system gives no thread for each of %u CPUs (%s): raise its limit "
			    "(ulimit -u), or name fewer with --rx-cpus, --tx-cpus, "
			    "--worker-cpus and --books-cpus",
			runtime->cores.count, strerror(-rc));
	else
		runtime->hz = wh_tsc_measure_hz(&began);
	return rc;
}

int wh_runtime_start(struct wh_runtime *runtime, const struct wh_cores *cores, bool verbose,
	struct wh_eal_config *eal)
{
	WH_ASSERT(cores->count > 0 && cores->core[0].works);
	*runtime = (struct wh_runtime){.cores = *cores, .verbose = verbose};
	raise_file_limit();
	runtime->loop = calloc(cores->count, sizeof(*runtime->loop));
	if (runtime->loop == NULL)
		return wh_fail(-ENOMEM, "out of memory for the loops");

	int rc = eal != NULL ? start_dpdk(runtime, eal) : start_threads(runtime);

	if (rc != 0) {
		free(runtime->loop);
		return rc;
	}
	runtime->started = true;
	for (uint32_t i = 0; i < cores->count; i++) {
		runtime->loop[i].stop = &runtime->stop;
		runtime->loop[i].hz = runtime->hz;
		runtime->loop[i].nap_us = WH_LOOP_WORK_NAP_US;
		runtime->loop[i].away_tsc = wh_us_to_tsc(runtime->hz, WH_LOOP_AWAY_US);
	}
	return 0;
}

struct wh_loop *wh_runtime_books_of(struct wh_runtime *runtime, uint32_t queue)
{
	for (uint32_t i = 0; i < runtime->cores.count; i++)
		if (runtime->cores.core[i].books & 1U << queue)
			return &runtime->loop[i];
	return NULL;
}

struct wh_loop *wh_runtime_loop_of(struct wh_runtime *runtime, uint32_t queue, bool sends)
{
	for (uint32_t i = 0; i < runtime->cores.count; i++) {
		const struct wh_core *core = &runtime->cores.core[i];

		if ((sends ? core->sends : core->receives) & 1U << queue)
			return &runtime->loop[i];
	}
	WH_ASSERT(!"every queue has its cores");
	return NULL;
}

static uint32_t workers_of(const struct wh_runtime *runtime)
{
	uint32_t workers = 0;

	for (uint32_t i = 0; i < runtime->cores.count; i++)
		workers += runtime->cores.core[i].works;
	return workers;
}

uint32_t wh_runtime_add(struct wh_runtime *runtime, uint32_t worker, const char *name,
	int32_t (*poll)(void *state, uint64_t now_tsc), void *state)
{
	uint32_t seen = worker % workers_of(runtime);

	WH_ASSERT(runtime->started);
	for (uint32_t i = 0; i < runtime->cores.count; i++) {
		if (!runtime->cores.core[i].works || seen-- > 0)
			continue;
		wh_loop_add(&runtime->loop[i], name, poll, state);
		return i;
	}
	WH_ASSERT(!"a worker is found above");
	return 0;
}

void wh_runtime_begin_quiet(struct wh_runtime *runtime, const _Atomic uint32_t *sessions)
{
	for (uint32_t i = 0; i < runtime->cores.count; i++)
		wh_loop_begin_quiet(
			&runtime->loop[i], sessions, sessions == NULL ? NULL : &runtime->bell);
}

void wh_runtime_run(struct wh_runtime *runtime)
{
	WH_ASSERT(runtime->started);
	for (uint32_t i = 0; runtime->verbose && i < runtime->cores.count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "CPU %u", runtime->cores.core[i].cpu);
		wh_loop_print(&runtime->loop[i], name, stderr);
	}
	if (!runtime->dpdk) {
		wh_loop_threads_run(&runtime->threads);
		return;
	}
	for (uint32_t i = 1; i < runtime->cores.count; i++) {
		int rc = rte_eal_remote_launch(wh_loop_run, &runtime->loop[i], i);

		WH_ASSERT(rc == 0); /* the lcore has been waiting since EAL started */
	}
	wh_loop_run(&runtime->loop[0]);
	for (uint32_t i = 1; i < runtime->cores.count; i++)
		rte_eal_wait_lcore(i);
}

void wh_runtime_close(struct wh_runtime *runtime)
{
	if (!runtime->started)
		return;
	wh_loop_threads_end(&runtime->threads);
	free(runtime->loop);
	if (runtime->dpdk)
		wh_eal_stop();
	runtime->started = false;
}

void wh_runtime_cycles(const struct wh_runtime *runtime, uint64_t cycles[WH_METER_TASKS])
{
	for (uint32_t p = 0; p < WH_METER_TASKS; p++) {
		cycles[p] = 0;
		for (uint32_t i = 0; i < runtime->cores.count; i++)
			cycles[p] += runtime->loop[i].meter.cycles[p] * WH_METER_EVERY;
	}
}
