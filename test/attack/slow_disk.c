/* SPDX-License-Identifier: BSD-3-Clause */

/* Loaded before libc: syncfs takes a while wherever a file named by SLOW_DISK is there. */

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define SLOW_S 4

int syncfs(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "syncfs");
	const char *name = getenv("SLOW_DISK");

	if (name != NULL && access(name, F_OK) == 0)
		sleep(SLOW_S);
	return real(fd);
}
