/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Reads the configuration of a running server again: settings that can change while it serves are
 * applied, the others reported. Runs on the control's thread, which owns the queue, or without a
 * control socket on the main thread.
 */

#include "cli/settings.h"
#include "guard/guard.h"
#include "job/service.h"
#include "queue/runner.h"

struct wh_reread {
	int argc;
	char **argv; /* of the start: its flags again override the file */
	struct wh_settings *settings;
	struct wh_service *service;
	struct wh_runner *runner;
	_Atomic bool due;
};

/* The file may have been replaced, so its folder must be readable. */
void wh_reread_guard(const struct wh_reread *reread, struct wh_guard *guard);

void wh_reread_now(struct wh_reread *reread);

/* Called in the control's turn: `context` is a struct wh_reread. */
uint32_t wh_reread_turn(void *context);
