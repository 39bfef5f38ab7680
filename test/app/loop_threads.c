/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/sockets/loop_threads.h"

#include <sched.h>
#include <stdlib.h>

#include "unit.h"

const char wh_suite_name[] = "loop_threads";

#define LOOPS 3

static struct wh_loop_threads threads;
static struct wh_loop loop[LOOPS];
static struct wh_cores cores;
static _Atomic bool stop;
static _Atomic uint32_t ran; /* bit i: loop i */
static int ran_on[LOOPS];

/* Once all have been here, which they are not while they wait for each other, they stop. */
static int32_t be_seen(void *state, uint64_t now_tsc)
{
	struct wh_loop *mine = state;

	(void)now_tsc;
	ran_on[mine - loop] = sched_getcpu();
	if ((atomic_fetch_or(&ran, 1U << (mine - loop)) | 1U << (mine - loop)) == (1U << LOOPS) - 1)
		atomic_store(&stop, true);
	sched_yield();
	return 1;
}

static void prepare(void)
{
	struct wh_cores_allowed allowed;

	wh_cores_allowed(NULL, &allowed);
	stop = false;
	ran = 0;
	cores = (struct wh_cores){.count = LOOPS};
	for (uint32_t i = 0; i < LOOPS; i++) {
		cores.core[i].cpu = allowed.cpus.cpu[i % allowed.cpus.count];
		loop[i] = (struct wh_loop){.stop = &stop};
		wh_loop_add(&loop[i], "be seen", be_seen, &loop[i]);
	}
	CU_ASSERT_EQUAL_FATAL(wh_loop_threads_start(&threads, loop, &cores), 0);
	CU_ASSERT_EQUAL(threads.count, LOOPS - 1);
}

static void all_loops_run_on_their_cpus(void)
{
	cpu_set_t before;

	sched_getaffinity(0, sizeof(before), &before);
	prepare();
	CU_ASSERT_EQUAL(atomic_load(&ran), 0);
	wh_loop_threads_run(&threads);
	sched_setaffinity(0, sizeof(before), &before);
	CU_ASSERT_EQUAL(threads.count, 0);
	for (uint32_t i = 0; i < LOOPS; i++)
		CU_ASSERT_EQUAL(ran_on[i], cores.core[i].cpu);
}

static void threads_that_did_not_run_end(void)
{
	prepare();
	wh_loop_threads_end(&threads);
	CU_ASSERT_EQUAL(threads.count, 0);
	CU_ASSERT_EQUAL(atomic_load(&ran), 0);
}

CU_TestInfo wh_tests[] = {
	{"all loops run, on their CPUs", all_loops_run_on_their_cpus},
	{"threads that did not run end", threads_that_did_not_run_end},
	CU_TEST_INFO_NULL,
};
