/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/sockets/loop_threads.h"

#include <errno.h>
#include <sched.h>

#include "base/assert.h"

/* A CPU that has gone meanwhile leaves the thread where it is. */
static void move_to(uint16_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static void *wait_and_run(void *argument)
{
	struct wh_loop_thread *thread = argument;
	struct wh_loop_threads *all = thread->all;

	while (sem_wait(&all->run) != 0)
		WH_ASSERT(errno == EINTR);
	if (all->abandoned)
		return NULL;
	move_to(all->cores->core[thread->loop - all->loop].cpu);
	wh_loop_run(thread->loop);
	return NULL;
}

int wh_loop_threads_start(
	struct wh_loop_threads *threads, struct wh_loop *loop, const struct wh_cores *cores)
{
	int rc = sem_init(&threads->run, 0, 0);

	WH_ASSERT(rc == 0 && cores->count <= WH_SETTINGS_CPUS_MAX);
	threads->cores = cores;
	threads->loop = loop;
	for (threads->count = 0; rc == 0 && threads->count + 1 < cores->count;) {
		struct wh_loop_thread *thread = &threads->thread[threads->count];

		*thread =
			(struct wh_loop_thread){.all = threads, .loop = &loop[threads->count + 1]};
		rc = -pthread_create(&thread->thread, NULL, wait_and_run, thread);
		threads->count += rc == 0;
	}
	if (rc != 0)
		wh_loop_threads_end(threads);
	return rc;
}

static void let_go(struct wh_loop_threads *threads)
{
	for (uint32_t i = 0; i < threads->count; i++)
		sem_post(&threads->run);
}

static void join(struct wh_loop_threads *threads)
{
	for (; threads->count > 0; threads->count--)
		pthread_join(threads->thread[threads->count - 1].thread, NULL);
}

void wh_loop_threads_run(struct wh_loop_threads *threads)
{
	let_go(threads);
	move_to(threads->cores->core[0].cpu);
	wh_loop_run(&threads->loop[0]);
	join(threads);
}

void wh_loop_threads_end(struct wh_loop_threads *threads)
{
	threads->abandoned = true;
	let_go(threads);
	join(threads);
}
