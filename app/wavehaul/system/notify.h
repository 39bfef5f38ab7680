/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_NOTIFY_H
#define WH_APP_NOTIFY_H

/*
 * What a service manager hears of a server (sd_notify(3)): that it is ready, what it does, that it
 * stops, and that it lives. Without a manager that asked to hear it, nothing is said.
 *
 * The watchdog is fed only while every core turns. A manager that hears nothing for the time it
 * set (WatchdogSec=) ends the process and starts it again: the way out of a core that hangs, which
 * no other core can end.
 */

#include <stdbool.h>
#include <stdint.h>

#include "host/runtime.h"

struct wh_notify {
	int fd; /* connected to the manager's socket before the guard; -1: nobody wants to hear */
	const struct wh_runtime *runtime;
	uint64_t period_tsc; /* between two looks at the cores; 0: nobody wants the watchdog fed */
	uint64_t next_tsc;
	uint64_t *turns; /* of each core's loop at the last look; NULL: not looked at yet */
};

/* Of a runtime that has started. 0 or -ENOMEM. */
int wh_notify_init(struct wh_notify *notify, const struct wh_runtime *runtime);
void wh_notify_free(struct wh_notify *notify);

/* Peers may come from now on. What is served is for who asks for the service's status. */
void wh_notify_ready(
	const struct wh_notify *notify, const char *root, const char *port, uint32_t udp_port);

/* None are taken any more, so many jobs go on to their end. */
void wh_notify_stopping(const struct wh_notify *notify, uint32_t jobs);

/* From time to time: feeds the watchdog when it is time and each core has turned since. */
void wh_notify_poll(struct wh_notify *notify, uint64_t now_tsc);

#endif
