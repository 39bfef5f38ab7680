/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "cli/moment/system_clock.h"

/* Looks per watchdog timeout: two late ones do not make the manager kill the process. */
#define LOOKS_IN_PATIENCE 4
#define LOOK_S            5 /* without a watchdog */

/* A turn that has used as much of its CPU hangs: turns take microseconds. */
#define TURN_CPU_MS 100

/*
 * A wait that is told, and one that counts as a deadlock of our own threads. Servers of NFS and
 * Lustre fail over within minutes.
 */
#define WAIT_TOLD_S 10
#define WAIT_MAX_S  600

/* Connects once: a guarded process cannot connect, as sd_notify would for each message. */
static int connect_to_manager(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t bytes = path == NULL ? 0 : strlen(path);

	if (bytes == 0 || bytes >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, bytes);
	if (path[0] == '@') /* abstract: unix(7) */
		address.sun_path[0] = '\0';

	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, length) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void say(const struct wh_notify *notify, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct wh_notify *notify, const char *format, ...)
{
	va_list args;

	if (notify->fd < 0)
		return;
	va_start(args, format);
	(void)vdprintf(notify->fd, format, args);
	va_end(args);
}

int wh_notify_init(struct wh_notify *notify, const struct wh_runtime *runtime)
{
	uint64_t patience_us = 0;

	WH_ASSERT(runtime->started && runtime->cores.count > 0);
	*notify = (struct wh_notify){.fd = connect_to_manager(), .runtime = runtime};
	notify->watchdog = sd_watchdog_enabled(0, &patience_us) > 0;
	notify->period_ns =
		notify->watchdog ? patience_us * 1000 / LOOKS_IN_PATIENCE : LOOK_S * WH_NS_PER_S;
	sem_init(&notify->over, 0, 0);
	notify->core = calloc(runtime->cores.count, sizeof(*notify->core));
	return notify->core == NULL ? -ENOMEM : 0;
}

void wh_notify_free(struct wh_notify *notify)
{
	if (notify->looks) {
		sem_post(&notify->over);
		pthread_join(notify->thread, NULL);
	}
	sem_destroy(&notify->over);
	free(notify->core);
	if (notify->fd >= 0)
		close(notify->fd);
	*notify = (struct wh_notify){.fd = -1};
}

static void *look_until_over(void *argument)
{
	struct wh_notify *notify = argument;
	int rc;

	do {
		uint64_t next_ns = wh_steady_ns() + notify->period_ns;
		struct timespec next = {.tv_sec = (time_t)(next_ns / WH_NS_PER_S),
			.tv_nsec = (long)(next_ns % WH_NS_PER_S)};

		do
			rc = sem_clockwait(&notify->over, CLOCK_MONOTONIC, &next);
		while (rc != 0 && errno == EINTR);
		if (rc != 0)
			wh_notify_look(notify, wh_steady_ns());
	} while (rc != 0);
	return NULL;
}

int wh_notify_ready(struct wh_notify *notify, const char *root, const char *port, uint32_t udp_port)
{
	int rc = -pthread_create(&notify->thread, NULL, look_until_over, notify);

	notify->looks = rc == 0;
	say(notify, "READY=1\nSTATUS=serving %s on %s, UDP %u", root, port, udp_port);
	return rc;
}

void wh_notify_stopping(const struct wh_notify *notify, uint32_t jobs)
{
	say(notify,
		jobs == 1 ? "STOPPING=1\nSTATUS=stopping: %u job goes on to its end"
			  : "STOPPING=1\nSTATUS=stopping: %u jobs go on to their end",
		jobs);
}

static void tell_wait(struct wh_notify_core *core, uint16_t cpu, uint64_t waited_ns)
{
	if (core->told || waited_ns < WAIT_TOLD_S * WH_NS_PER_S)
		return;
	core->told = true;
	wh_say("CPU %u has waited %" PRIu64 " s, for a file system or for other processes there; "
	       "its transfers go on after that",
		cpu, waited_ns / WH_NS_PER_S);
}

/* False: the core hangs. */
static bool goes_on(struct wh_notify *notify, uint32_t number, uint64_t at_ns)
{
	const struct wh_loop *loop = &notify->runtime->loop[number];
	uint16_t cpu = notify->runtime->cores.core[number].cpu;
	struct wh_notify_core *core = &notify->core[number];
	uint64_t turns = __atomic_load_n(&loop->turns, __ATOMIC_ACQUIRE);
	uint64_t cpu_ns = turns == 0 ? 0 : wh_clock_ns(loop->cpu_clock);

	if (turns != core->turns || core->since_ns == 0) {
		if (core->told)
			wh_say("CPU %u goes on, after %" PRIu64 " s", cpu,
				(at_ns - core->since_ns) / WH_NS_PER_S);
		*core = (struct wh_notify_core){
			.turns = turns, .cpu_ns = cpu_ns, .since_ns = at_ns};
		return true;
	}

	uint64_t waited_ns = at_ns - core->since_ns;

	if (cpu_ns - core->cpu_ns >= TURN_CPU_MS * UINT64_C(1000000))
		return false;
	tell_wait(core, cpu, waited_ns);
	return waited_ns < WAIT_MAX_S * WH_NS_PER_S;
}

void wh_notify_look(struct wh_notify *notify, uint64_t at_ns)
{
	bool all = true;

	for (uint32_t i = 0; i < notify->runtime->cores.count; i++)
		all = goes_on(notify, i, at_ns) && all;
	if (all && notify->watchdog)
		say(notify, "WATCHDOG=1");
}
