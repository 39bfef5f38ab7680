/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/answer.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <jansson.h>
#include <rte_telemetry.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/json.h"

/* DPDK's callbacks have no argument; they access this while they hold the lock. */
static struct {
	pthread_mutex_t lock;
	struct wh_host *host; /* NULL: nothing runs */
	struct wh_jobs *jobs;
} watched = {.lock = PTHREAD_MUTEX_INITIALIZER};

void wh_tel_watch(struct wh_host *host, struct wh_jobs *jobs)
{
	WH_ASSERT((host == NULL) == (jobs == NULL));
	pthread_mutex_lock(&watched.lock);
	watched.host = host;
	watched.jobs = jobs;
	pthread_mutex_unlock(&watched.lock);
}

const struct wh_host *wh_tel_enter(void)
{
	pthread_mutex_lock(&watched.lock);

	const struct wh_host *host = watched.host;

	WH_ASSERT((host == NULL) == (watched.jobs == NULL));
	if (host == NULL)
		pthread_mutex_unlock(&watched.lock);
	return host;
}

void wh_tel_leave(void)
{
	pthread_mutex_unlock(&watched.lock);
}

const struct wh_host *wh_tel_enter_sessions(void)
{
	const struct wh_host *host = wh_tel_enter();

	/* Cores that free sessions only try this lock: no core waits for an answer. */
	if (host != NULL)
		rte_spinlock_lock(&watched.jobs->burial);
	return host;
}

const struct wh_past *wh_tel_past(void)
{
	return &watched.jobs->past;
}

void wh_tel_leave_sessions(void)
{
	rte_spinlock_unlock(&watched.jobs->burial);
	wh_tel_leave();
}

void wh_tel_wait(void)
{
	const struct timespec span = {.tv_nsec = WH_TELEMETRY_SPAN_MS * 1000000};

	static_assert(WH_TELEMETRY_SPAN_MS < 1000, "less than a second");
	nanosleep(&span, NULL);
}

bool wh_tel_number(const char *params, uint64_t *number)
{
	return params != NULL && wh_parse_count(params, number) == 0;
}

void wh_tel_put(json_t *data, const char *name, uint64_t value)
{
	json_object_set_new(data, name, json_integer((json_int_t)wh_min_u64(value, INT64_MAX)));
}

void wh_tel_put_text(json_t *data, const char *name, const char *text)
{
	json_object_set_new(data, name, wh_word_to_json(text));
}

void wh_tel_put_about(
	json_t *data, const char *prefix, const char *what, const char *suffix, uint64_t value)
{
	char name[RTE_TEL_MAX_STRING_LEN];

	int length = snprintf(name, sizeof(name), "%s%s%s", prefix, what, suffix);

	WH_ASSERT(length < (int)sizeof(name)); /* two truncated names could become equal */
	for (char *c = name; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	wh_tel_put(data, name, value);
}
