/* SPDX-License-Identifier: BSD-3-Clause */
#include "system/notify.h"

#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

#include "base/assert.h"
#include "base/clock.h"

/* Of the manager's patience: two looks that come late do not cost the process its life. */
#define LOOKS_IN_PATIENCE 4

int wh_notify_init(struct wh_notify *notify, const struct wh_runtime *runtime)
{
	uint64_t patience_us = 0;

	WH_ASSERT(runtime->started && runtime->cores.count > 0);
	*notify = (struct wh_notify){.runtime = runtime};
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
	*notify = (struct wh_notify){0};
}

void wh_notify_ready(const char *root, const char *port, uint32_t udp_port)
{
	sd_notifyf(0, "READY=1\nSTATUS=serving %s on %s, UDP %u", root, port, udp_port);
}

void wh_notify_stopping(uint32_t jobs)
{
	sd_notifyf(0, "STOPPING=1\nSTATUS=stopping: %u jobs go on to their end", jobs);
}

/* Whether each core's loop has gone round since this was asked before. */
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
		sd_notify(0, "WATCHDOG=1");
}
