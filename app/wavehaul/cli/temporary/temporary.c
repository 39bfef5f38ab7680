/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/temporary/temporary.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Left free on a file system in any case. */
#define SPARE_BYTES (UINT64_C(64) << 20)

static uint64_t free_bytes(const char *folder)
{
	struct statvfs fs;

	return statvfs(folder, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
}

const char *wh_temporary_place(uint64_t bytes)
{
	const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp", "/dev/shm"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i] != NULL && access(places[i], W_OK) == 0 &&
			free_bytes(places[i]) >= bytes + SPARE_BYTES)
			return places[i];
	return NULL;
}
