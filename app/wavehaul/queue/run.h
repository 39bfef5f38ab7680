/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_RUN_H
#define WH_QUEUE_RUN_H

/*
 * One order that runs: the transfer that it is, by lanes on the server's own host. The control's
 * thread makes it, looks at it and ends it; crews run its jobs.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "queue/far.h"
#include "queue/store.h"
#include "queue/timetable.h"
#include "report/transfer.h"
#include "trust/peer_file.h"

/* What a server has for its orders. */
struct wh_run_ground {
	const struct wh_settings *settings; /* of the server */
	struct wh_jobs *jobs;
	const struct wh_host *host; /* of which the start of an order tells */
	int root_fd; /* local paths are below */
	uint64_t memory_bytes;
	/* A request of an order's settings, all but its paths; and what it chooses of them. */
	struct wh_request (*request_of)(const struct wh_settings *settings, enum wh_job_verb verb);
	bool (*choice_of)(const struct wh_settings *settings, struct wh_terms *terms,
		struct wh_choice *choice);
};

/* Lines that wait to be told, at most: what is more is counted. */
#define WH_RUN_EVENTS_MAX 4096

/* Checksums of what has moved. */
enum wh_run_sums {
	WH_RUN_UNSUMMED = 0,
	WH_RUN_SUMMING, /* aside */
	WH_RUN_SUMMED,
};

struct wh_run {
	struct wh_order order;
	int root_fd;   /* borrowed */
	int folder_fd; /* of a peer's order, the one that he may read; -1 */
	struct wh_transfer transfer;
	json_t *here;
	json_t *there;
	json_t *words;
	const char **paths; /* those of here, then those of there */
	_Atomic int sums;   /* enum wh_run_sums; what comes of them: */
	int sums_status;
	char sums_why[WH_ORDER_WHY_BYTES];
	struct wh_timetable table;
	enum wh_order_state wanted; /* FAILED: its own end decides */
	uint64_t began_tsc;
	uint64_t rate_bps;
	int64_t rate_s; /* when the timetable was looked at */
	pthread_mutex_t lock;
	json_t *events; /* a list, under the lock */
	uint32_t untold;
	bool name_told;
	struct wh_far far; /* of one that copies */
	/* Of a peer's order: */
	uint8_t owner[WH_IDENTITY_BYTES];
	struct wh_rights rights;
	int64_t rights_s; /* when they were looked at */
	uint64_t charged_bytes;
	char unwanted[WH_ORDER_WHY_BYTES]; /* why it was ended; "": it was not */
};

/* Whether this server takes such an order: -1, or an exit status after a complaint. */
int wh_run_judge(const struct wh_run_ground *ground, const struct wh_order *order);

/*
 * Begins it; the order is the run's from here on. NULL: it cannot be, *result says why, and the
 * order is still the caller's.
 */
struct wh_run *wh_run_begin(const struct wh_run_ground *ground, struct wh_order *order,
	uint64_t now_tsc, int64_t now_s, struct wh_order_result *result);

/* Whether it is over. Follows its timetable. */
bool wh_run_look(struct wh_run *run, const struct wh_run_ground *ground, uint64_t now_tsc,
	int64_t now_s);

/* It is to end, and be that then. */
void wh_run_stop(struct wh_run *run, enum wh_order_state wanted, uint64_t now_tsc);

/* Whether it is known since the last call that its target is a name, for later tries, too. */
bool wh_run_found_name(struct wh_run *run);

/* By another timetable, which is one, from here on; false: another queue is yet to hear of it. */
bool wh_run_change(struct wh_run *run, const char *rate, int64_t now_s);

/* Of one that is over, or never will be; what is told of its end is among its events. */
void wh_run_conclude(struct wh_run *run, const struct wh_run_ground *ground,
	struct wh_order_result *result);

/* What was told since: a list, the caller's to free. */
json_t *wh_run_events(struct wh_run *run);

void wh_run_free(struct wh_run *run);

#endif
