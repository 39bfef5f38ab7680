/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Messages to a service manager (sd_notify(3)): ready, status, stopping, and the watchdog's. If no
 * manager asked for them, nothing is sent.
 *
 * The watchdog is fed only while every core's loop turns. A manager that gets no message for the
 * time it set (WatchdogSec=) kills the process and starts it again: the remedy for a core that
 * hangs, which no other core can stop.
 */

#include <stdint.h>

#include "host/runtime.h"

struct wh_notify {
	int fd; /* connected to the manager's socket before the guard; -1: no manager */
	const struct wh_runtime *runtime;
	uint64_t period_tsc; /* between two checks of the cores; 0: no watchdog */
	uint64_t next_tsc;
	uint64_t *turns; /* of each core's loop at the last check; NULL: not checked yet */
};

/* The runtime must have started. 0 or -ENOMEM. */
int wh_notify_init(struct wh_notify *notify, const struct wh_runtime *runtime);
void wh_notify_free(struct wh_notify *notify);

/* The server accepts peers from now on. What it serves is shown in the service's status. */
void wh_notify_ready(
	const struct wh_notify *notify, const char *root, const char *port, uint32_t udp_port);

/* The server accepts no more jobs; this many continue to their end. */
void wh_notify_stopping(const struct wh_notify *notify, uint32_t jobs);

/*
 * Call regularly: feeds the watchdog when it is due, if each core has turned since the last time.
 */
void wh_notify_poll(struct wh_notify *notify, uint64_t now_tsc);
