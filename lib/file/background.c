/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/background.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

struct work {
	void (*run)(void *argument);
	void *argument;
};

static _Atomic uint32_t under_way;

/* On any CPU: the creating core's own CPU is busy with polling. */
static void spread(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}

static void *go(void *argument)
{
	struct work work = *(struct work *)argument;

	free(argument);
	spread();
	work.run(work.argument);

	uint32_t before = atomic_fetch_sub_explicit(&under_way, 1, memory_order_release);

	WH_ASSERT(before > 0);
	return NULL;
}

static int start(struct work *work)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int rc = pthread_attr_init(&attributes);

	if (rc != 0)
		return -rc;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attributes, go, work);
	pthread_attr_destroy(&attributes);
	return -rc;
}

int wh_background(void (*run)(void *argument), void *argument)
{
	WH_ASSERT(run != NULL);

	struct work *work = malloc(sizeof(*work));

	if (work == NULL)
		return -ENOMEM;
	*work = (struct work){.run = run, .argument = argument};
	atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed);

	int rc = start(work);

	if (rc == 0)
		return 0;
	atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
	free(work);
	return rc;
}

uint32_t wh_background_count(void)
{
	return atomic_load_explicit(&under_way, memory_order_acquire);
}
