/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Messages to a service manager (sd_notify(3)): ready, status, stopping, and the watchdog's. If no
 * manager asked for them, nothing is sent.
 *
 * A manager that gets no message for the time it set (WatchdogSec=) kills the process and starts it
 * again: the remedy for a core that hangs, which no other core can stop. It is no remedy for a file
 * system that does not answer, as NFS and Lustre while a server fails over. So the watchdog is fed
 * while each core's loop turns or waits without using its CPU, and a wait is told. A thread of its
 * own looks, as any core may be the one that waits.
 */

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/runtime.h"

struct wh_notify_core {
	uint64_t turns;    /* of its loop at the last look */
	uint64_t cpu_ns;   /* of its thread, when that many were first seen */
	uint64_t since_ns; /* when that was */
	bool told;         /* that it waits */
};

struct wh_notify {
	int fd; /* connected to the manager's socket before the guard; -1: no manager */
	const struct wh_runtime *runtime;
	uint64_t period_ns; /* between two looks at the cores */
	bool watchdog;      /* the manager wants to hear of each */
	struct wh_notify_core *core;
	bool looks; /* the thread runs */
	pthread_t thread;
	sem_t over;
};

/* The runtime must have started. 0 or -ENOMEM. */
int wh_notify_init(struct wh_notify *notify, const struct wh_runtime *runtime);
void wh_notify_free(struct wh_notify *notify);

/*
 * The server accepts peers from now on, and its cores are looked at. What it serves is shown in the
 * service's status. 0, or a negative errno: no thread.
 */
int wh_notify_ready(
	struct wh_notify *notify, const char *root, const char *port, uint32_t udp_port);

/* The server accepts no more jobs; this many continue to their end. */
void wh_notify_stopping(const struct wh_notify *notify, uint32_t jobs);

/* One look, as the thread takes it each period: feeds the watchdog if all is well. */
void wh_notify_look(struct wh_notify *notify, uint64_t now_ns);
