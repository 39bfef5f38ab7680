/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/threads.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

#define THREADS_MAX 1024
#define WAIT_US     100
#define WAITS       20000

/* Signal handlers have no argument. */
static struct {
	int (*act)(const void *argument);
	const void *argument;
	_Atomic bool answered;
	_Atomic int error;
} order;

static void on_order(int number)
{
	int before = errno;
	int rc = order.act(order.argument);

	(void)number;
	if (rc < 0)
		atomic_store(&order.error, rc);
	atomic_store(&order.answered, true);
	errno = before;
}

/* 0, also for a thread that has ended. */
static int ask(pid_t thread)
{
	atomic_store(&order.answered, false);
	if (syscall(SYS_tgkill, getpid(), thread, SIGRTMAX) != 0)
		return errno == ESRCH ? 0 : -errno;
	for (int i = 0; i < WAITS; i++) {
		if (atomic_load(&order.answered))
			return atomic_load(&order.error);
		if (syscall(SYS_tgkill, getpid(), thread, 0) != 0)
			return 0;
		usleep(WAIT_US);
	}
	return -ETIME;
}

static bool is_among(const pid_t *threads, int count, pid_t thread)
{
	for (int i = 0; i < count; i++)
		if (threads[i] == thread)
			return true;
	return false;
}

/* The threads that are not in `asked` yet; returns their number, or a negative errno. */
static int ask_others(DIR *tasks, pid_t *asked, int *count)
{
	int found = 0;
	int rc = 0;

	rewinddir(tasks);
	for (const struct dirent *entry; rc == 0 && (entry = readdir(tasks)) != NULL;) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread <= 0 || is_among(asked, *count, thread))
			continue;
		if (*count == THREADS_MAX)
			return -E2BIG;
		asked[(*count)++] = thread;
		found++;
		rc = ask(thread);
	}
	return rc < 0 ? rc : found;
}

int wh_threads_all(int (*act)(const void *argument), const void *argument)
{
	struct sigaction obey = {.sa_handler = on_order, .sa_flags = SA_RESTART};
	struct sigaction before;
	static pid_t asked[THREADS_MAX];
	DIR *tasks = opendir("/proc/self/task");
	int count = 1;
	int found;

	WH_ASSERT(act != NULL);
	if (tasks == NULL)
		return -errno;
	order.act = act;
	order.argument = argument;
	atomic_store(&order.error, 0);
	sigfillset(&obey.sa_mask);
	sigaction(SIGRTMAX, &obey, &before);
	asked[0] = (pid_t)syscall(SYS_gettid);
	/* Repeat until there are no new threads, started by one that had not been asked. */
	do
		found = ask_others(tasks, asked, &count);
	while (found > 0);
	sigaction(SIGRTMAX, &before, NULL);
	closedir(tasks);
	return found < 0 ? found : act(argument);
}
