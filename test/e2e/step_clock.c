/* SPDX-License-Identifier: BSD-3-Clause */

/* Preloaded: the time of day jumps by hours and years, ten times a second; other clocks do not. */

#include <dlfcn.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define HOUR_S 3600
#define YEAR_S (365 * 24 * HOUR_S)
#define NS     INT64_C(1000000000)

typedef int (*clock_fn)(clockid_t clock, struct timespec *now);

static int ask(clockid_t clock, struct timespec *now)
{
	static clock_fn next;

	if (next == NULL)
		next = (clock_fn)dlsym(RTLD_NEXT, "clock_gettime");
	return next(clock, now);
}

static int64_t step_s(void)
{
	static const int64_t steps[] = {
		0, HOUR_S, -HOUR_S, YEAR_S, 1, -YEAR_S, 2 * HOUR_S, -20 * YEAR_S, 60, 20 * YEAR_S};
	struct timespec now;

	ask(CLOCK_MONOTONIC, &now);
	return steps[(now.tv_sec * NS + now.tv_nsec) / (NS / 10) %
		     (int64_t)(sizeof(steps) / sizeof(steps[0]))];
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = ask(clock, now);

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		now->tv_sec += step_s();
	return rc;
}

time_t time(time_t *to)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (to != NULL)
		*to = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*to = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
	return 0;
}
