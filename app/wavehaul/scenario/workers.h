/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SIM_WORKERS_H
#define WH_APP_SIM_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs in processes of their own, so many at once. `work` makes a text in the run's process, to be
 * freed; NULL after a complaint. `take` gets the texts here, in the order of the runs, whatever
 * finishes first. An operator who interrupts it ends them all.
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

#endif
