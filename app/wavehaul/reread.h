/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_REREAD_H
#define WH_APP_REREAD_H

/*
 * The configuration of a server that runs, read again: what can change while it serves does, and
 * what cannot is said. On the thread of the control, which alone has the queue; on the main one
 * where there is no control.
 */

#include "cli/settings.h"
#include "guard/guard.h"
#include "job/service.h"
#include "queue/runner.h"

struct wh_reread {
	int argc;
	char **argv; /* of the start: flags come after the file, as ever */
	struct wh_settings *settings;
	struct wh_service *service;
	struct wh_runner *runner;
	_Atomic bool due;
};

/* The file may be another one by then: its folder is to be read. */
void wh_reread_guard(const struct wh_reread *reread, struct wh_guard *guard);

void wh_reread_now(struct wh_reread *reread);

/* A turn of the control's: `context` is a struct wh_reread. */
uint32_t wh_reread_turn(void *context);

#endif
