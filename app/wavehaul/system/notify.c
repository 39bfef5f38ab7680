/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"

/* Checks per watchdog timeout: two late ones do not make the manager kill the process. */
#define LOOKS_IN_PATIENCE 4

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
	if (sd_watchdog_enabled(0, &patience_us) <= 0)
		return 0;
	notify->turns = calloc(runtime->cores.count, sizeof(*notify->turns));
	if (notify->turns == NULL)
		return -ENOMEM;
	notify->period_tsc = wh_ns_to_tsc(runtime->hz, patience_us * 1000 / LOOKS_IN_PATIENCE);
	return 0;
}

void wh_notify_free(struct wh_notify *notify)
{
	free(notify->turns);
	if (notify->fd >= 0)
		close(notify->fd);
	*notify = (struct wh_notify){.fd = -1};
}

void wh_notify_ready(
	const struct wh_notify *notify, const char *root, const char *port, uint32_t udp_port)
{
	say(notify, "READY=1\nSTATUS=serving %s on %s, UDP %u", root, port, udp_port);
}

void wh_notify_stopping(const struct wh_notify *notify, uint32_t jobs)
{
	say(notify,
		jobs == 1 ? "STOPPING=1\nSTATUS=stopping: %u job goes on to its end"
			  : "STOPPING=1\nSTATUS=stopping: %u jobs go on to their end",
		jobs);
}

/* Whether each core's loop has made a turn since the last call. */
static bool all_turn(struct wh_notify *notify)
{
	const struct wh_runtime *runtime = notify->runtime;
	bool all = true;

	for (uint32_t i = 0; i < runtime->cores.count; i++) {
		uint64_t turns = __atomic_load_n(&runtime->loop[i].turns, __ATOMIC_RELAXED);

		all = all && turns != notify->turns[i];
		notify->turns[i] = turns;
	}
	return all;
}

void wh_notify_poll(struct wh_notify *notify, uint64_t now_tsc)
{
	if (notify->period_tsc == 0 || now_tsc < notify->next_tsc)
		return;
	notify->next_tsc = now_tsc + notify->period_tsc;
	if (all_turn(notify))
		say(notify, "WATCHDOG=1");
}
