/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The files of a transfer that failed, were passed over or were removed by --delete, for its last
 * report. The other end can name any number of them, so only the first ones of each kind are kept
 * by name, and the others are counted.
 */

#include <stdint.h>
#include <sys/queue.h>

#include <jansson.h>

enum wh_failure_kind {
	WH_FAILURE_FAILED,
	WH_FAILURE_PASSED_OVER, /* not a failure, but not sent */
	WH_FAILURE_REMOVED,     /* no failure either; in a dry run, what would be removed */
	WH_FAILURE_KINDS,
};

/*
 * Limit for each kind, as JSON: the last event of an order has all, and must fit into what waits
 * for a client (WH_CONTROL_WAITING_BYTES).
 */
#define WH_FAILURES_BYTES (UINT32_C(256) << 10)

struct wh_failure {
	STAILQ_ENTRY(wh_failure) next;
	char *path;
	char *text; /* what failed, and where */
	enum wh_failure_kind kind;
};

struct wh_failures {
	STAILQ_HEAD(, wh_failure) named;
	uint32_t bytes[WH_FAILURE_KINDS];
	uint64_t unnamed[WH_FAILURE_KINDS];
};

void wh_failures_init(struct wh_failures *failures);
void wh_failures_add(struct wh_failures *failures, const char *path, const char *text,
	enum wh_failure_kind kind);
void wh_failures_forget(struct wh_failures *failures);

/* The first one that failed, or NULL. */
const struct wh_failure *wh_failures_first(const struct wh_failures *failures);

/* Adds "failures", "passed_over", "removed_names", and how many of each are in no list. */
void wh_failures_to_json(const struct wh_failures *failures, json_t *object);
