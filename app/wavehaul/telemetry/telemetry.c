/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/telemetry.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/units.h"
#include "cli/complain.h"
#include "telemetry/answer.h"

static const struct {
	const char *name;
	telemetry_cb answer;
	const char *help;
} commands[] = {
	{"/wavehaul/sessions", wh_tel_sessions,
		"Numbers of sessions, ascending, 512 at most. Parameter: the first, if not 0"},
	{"/wavehaul/session", wh_tel_session,
		"A session's peer, rates, counters and limit. Parameter: its number"},
	{"/wavehaul/ports", wh_tel_ports,
		"Packets, bytes and drops by reason. Parameter: a queue, if not all"},
	{"/wavehaul/cores", wh_tel_cores,
		"Work and busy share of each core. Parameter: a CPU, for its cycles by process"},
};

/* Callbacks have no argument of their own: what they look at, while they hold the lock. */
static struct {
	pthread_mutex_t lock;
	struct wh_host *host; /* NULL: nothing runs */
	struct wh_jobs *jobs;
} watched = {.lock = PTHREAD_MUTEX_INITIALIZER};

void wh_telemetry_start(struct wh_host *host, struct wh_jobs *jobs)
{
	static bool registered;

	WH_ASSERT(!registered && host != NULL && jobs != NULL);
	registered = true;
	pthread_mutex_lock(&watched.lock);
	watched.host = host;
	watched.jobs = jobs;
	pthread_mutex_unlock(&watched.lock);
	for (size_t i = 0; i < RTE_DIM(commands); i++) {
		int rc = rte_telemetry_register_cmd(
			commands[i].name, commands[i].answer, commands[i].help);

		if (rc != 0)
			wh_say("DPDK's telemetry does not take %s: %s", commands[i].name,
				strerror(-rc));
	}
}

void wh_telemetry_stop(void)
{
	pthread_mutex_lock(&watched.lock);
	watched.host = NULL;
	watched.jobs = NULL;
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

	/* Those who free sessions only try it: no core ever waits for an answer. */
	if (host != NULL)
		rte_spinlock_lock(&watched.jobs->burial);
	return host;
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

void wh_tel_put(struct rte_tel_data *data, const char *name, uint64_t value)
{
	int rc = rte_tel_data_add_dict_u64(data, name, value);

	WH_ASSERT(rc == 0); /* names are ours, and fewer than DPDK takes */
}

void wh_tel_put_text(struct rte_tel_data *data, const char *name, const char *text)
{
	int rc = rte_tel_data_add_dict_string(data, name, text);

	WH_ASSERT(rc == 0 || rc == E2BIG); /* cut off */
}

void wh_tel_put_about(struct rte_tel_data *data, const char *prefix, const char *what,
	const char *suffix, uint64_t value)
{
	char name[RTE_TEL_MAX_STRING_LEN];

	int length = snprintf(name, sizeof(name), "%s%s%s", prefix, what, suffix);

	WH_ASSERT(length < (int)sizeof(name)); /* two names cut off might become one */
	for (char *c = name; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	wh_tel_put(data, name, value);
}
