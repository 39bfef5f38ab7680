/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs in separate processes, up to at_once at a time. `work` returns a text in the run's process,
 * from malloc; NULL after a complaint. `take` gets the texts in this process, in the order of the
 * runs, whichever finishes first. An interrupt by the operator ends them all.
 */
struct wh_workers {
	uint32_t runs;
	uint32_t at_once;
	bool progress; /* on stderr */
	char *(*work)(void *context, uint32_t run);
	bool (*take)(void *context, uint32_t run, const char *text);
	void *context;
};

/* WH_EXIT_OK, or the exit status after a complaint. */
int wh_workers_run(const struct wh_workers *workers);
