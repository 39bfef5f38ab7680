/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal/eal_init.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_build_config.h>
#include <rte_eal.h>
#include <rte_version.h>

#include "base/assert.h"

/* Of DPDK's shared objects: each year's last release begins the next year's. */
#define ABI_VERSION (RTE_VER_YEAR + 1)

#define EAL_NAME "librte_eal.so"

/*
 * lib/eal/linux/eal_timer.c, get_tsc_freq(). It rounds the rate to 10 MHz, for which a tenth of the
 * time is enough. The program measures the rate by itself.
 */
#define EAL_SLEEP_NS   100000000L
#define SHORT_SLEEP_NS 10000000L

/* Of the thread that is in wh_eal_init. */
static _Thread_local struct {
	bool inside;
	bool drivers_named;
} eal_init;

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	struct timespec time = *wanted;

	if (eal_init.inside && time.tv_sec == 0 && time.tv_nsec == EAL_SLEEP_NS)
		time.tv_nsec = SHORT_SLEEP_NS;

	int error = clock_nanosleep(CLOCK_REALTIME, 0, &time, left);

	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

void *dlopen(const char *file, int mode)
{
	void *(*library_dlopen)(const char *, int);

	/* lib/eal/common/eal_common_options.c, is_shared_build(). */
	if (eal_init.drivers_named && (mode & RTLD_NOLOAD) != 0 && file != NULL &&
		strncmp(file, EAL_NAME, strlen(EAL_NAME)) == 0)
		return NULL;
	*(void **)&library_dlopen = dlsym(RTLD_NEXT, "dlopen");
	WH_ASSERT(library_dlopen != NULL);
	return library_dlopen(file, mode);
}

bool wh_eal_driver_path(const char *driver, char *path, size_t path_bytes)
{
	int bytes = snprintf(
		path, path_bytes, "%s/librte_%s.so.%d", RTE_EAL_PMD_PATH, driver, ABI_VERSION);

	return bytes > 0 && (size_t)bytes < path_bytes && access(path, R_OK) == 0;
}

int wh_eal_init(int count, char **arguments, bool drivers_named)
{
	eal_init.inside = true;
	eal_init.drivers_named = drivers_named;

	int rc = rte_eal_init(count, arguments);

	eal_init.inside = false;
	eal_init.drivers_named = false;
	return rc;
}
