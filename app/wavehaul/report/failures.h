/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_FAILURES_H
#define WH_APP_FAILURES_H

/*
 * The files of a transfer that failed or were passed over, for its last report. The other end can
 * name any number of them, so only the first ones are kept by name, and the others are counted.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>

#include <jansson.h>

/*
 * Limit for those that failed, and again for those passed over, as JSON: the last event of an order
 * has both, and must fit into what waits for a client (WH_CONTROL_WAITING_BYTES).
 */
#define WH_FAILURES_BYTES (UINT32_C(256) << 10)

struct wh_failure {
	STAILQ_ENTRY(wh_failure) next;
	char *path;
	char *text;       /* what failed, and where */
	bool passed_over; /* not a failure, but not sent */
};

struct wh_failures {
	STAILQ_HEAD(, wh_failure) named;
	/* [false]: failed, [true]: passed over. */
	uint32_t bytes[2];
	uint64_t unnamed[2];
};

void wh_failures_init(struct wh_failures *failures);
void wh_failures_add(
	struct wh_failures *failures, const char *path, const char *text, bool passed_over);
void wh_failures_forget(struct wh_failures *failures);

/* The first one that was not just passed over, or NULL. */
const struct wh_failure *wh_failures_first(const struct wh_failures *failures);

/* Adds "failures", "passed_over", and how many of each are in neither list. */
void wh_failures_to_json(const struct wh_failures *failures, json_t *object);

/* A line for each, and one for those that are not named. */
void wh_failures_print(const struct wh_failures *failures);
void wh_failures_print_one(const char *path, const char *text);
void wh_failures_print_unnamed(uint64_t failed, uint64_t passed_over);

#endif
