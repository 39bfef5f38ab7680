/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Preloaded: the time of day jumps by hours and years, ten times a second; other clocks do not. If
 * STEP_CLOCK names a file, it is off by as many seconds as are in its first eight bytes, which may
 * change at any time.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

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

static const volatile int64_t *told_s;

/* Mapped early: a guarded process opens no such file. */
__attribute__((constructor)) static void open_told(void)
{
	const char *path = getenv("STEP_CLOCK");
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *mapped =
		fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*told_s), PROT_READ, MAP_SHARED, fd, 0);

	if (path != NULL && mapped == MAP_FAILED)
		abort();
	told_s = path != NULL ? mapped : NULL;
	if (fd >= 0)
		close(fd);
}

static int64_t step_s(void)
{
	static const int64_t steps[] = {
		0, HOUR_S, -HOUR_S, YEAR_S, 1, -YEAR_S, 2 * HOUR_S, -20 * YEAR_S, 60, 20 * YEAR_S};
	struct timespec now;

	if (told_s != NULL)
		return *told_s;
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
