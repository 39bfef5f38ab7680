/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A running order: its transfer, by lanes on the server's own host. The control's thread creates
 * it, looks at it and ends it; workers run its jobs.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "queue/delegated.h"
#include "queue/queue_place.h"
#include "queue/queue_store.h"
#include "queue/timetable.h"
#include "transfer/transfer.h"
#include "trust/peer_file.h"

/* A server's resources for its orders. */
struct wh_run_host_ctx {
	const struct wh_settings *settings; /* of the server */
	struct wh_jobs *jobs;
	const struct wh_host *host; /* described in an order's start event */
	int root_fd;                /* to which local paths are relative */
	uint64_t memory_bytes;
};

/* The most events that wait to be sent; further files are counted, and an event says so. */
#define WH_RUN_EVENTS_MAX 4096

/* Checksums of moved files. */
enum wh_run_sums {
	WH_RUN_UNSUMMED = 0,
	WH_RUN_SUMMING, /* in the background */
	WH_RUN_SUMMED,
};

/* What an attached order has from its client, beside its row. */
struct wh_run_client {
	int stream_fd; /* the bytes of its stream; -1: none */
	bool draws;    /* the client wants a picture */
};

struct wh_run {
	struct wh_order order;
	struct wh_run_client client;
	char *picture; /* of an ended run that draws; NULL: none */
	int root_fd;   /* borrowed */
	int folder_fd; /* for a peer's order: the folder that the peer may read; -1: none */
	struct wh_place place;
	uint32_t address; /* of the place's, the one that is tried */
	struct wh_transfer transfer;
	json_t *here;
	json_t *there;
	json_t *words;
	const char **paths; /* those of `here`, then those of `there` */
	_Atomic int sums;   /* enum wh_run_sums; the next two are the result */
	int sums_status;
	char sums_why[WH_ORDER_WHY_BYTES];
	struct wh_timetable table;
	enum wh_order_state wanted; /* requested final state; FAILED: decided by its result */
	uint64_t rate_bps;
	int64_t rate_s; /* time of the last look at the timetable */
	pthread_mutex_t lock;
	json_t *events; /* a list, under the lock */
	uint32_t untold;
	bool name_told;
	struct wh_delegated delegated; /* for an order that copies */
	/* For a peer's order: */
	uint8_t owner[WH_IDENTITY_BYTES];
	struct wh_rights rights;
	struct wh_peers *peers;
	struct wh_peer *orderer; /* the peer whose rate it shares; NULL: not claimed */
	int64_t rights_s;        /* time of the last check */
	uint64_t charged_bytes;
	char unwanted[WH_ORDER_WHY_BYTES]; /* why it was ended; "": it was not */
};

/* Whether this server accepts such an order: -1, or an exit status after a complaint. */
int wh_run_judge(const struct wh_run_host_ctx *ctx, const struct wh_order *order);

/*
 * Begins the order, and takes it over. The caller keeps what `client` has, until the run is freed.
 * NULL: not possible, see *result; the order stays the caller's.
 */
struct wh_run *wh_run_begin(const struct wh_run_host_ctx *ctx, struct wh_order *order,
	const struct wh_run_client *client, uint64_t now_tsc, int64_t now_s,
	struct wh_order_result *result);

/*
 * Applies the order's timetable, and returns whether the run is over. If `may_wait`, a host that
 * was not reached is looked for again, as long as the try has patience.
 */
bool wh_run_look(struct wh_run *run, const struct wh_run_host_ctx *ctx, uint64_t now_tsc,
	int64_t now_s, bool may_wait);

/* Whether its host has not answered for a while. Such a run takes no other run's place. */
bool wh_run_waits(const struct wh_run *run, uint64_t now_tsc);

/* Stops the run. Its order then gets the state `wanted`. */
void wh_run_stop(struct wh_run *run, enum wh_order_state wanted, uint64_t now_tsc);

/*
 * Whether the run has learned since the last call that its target is a file name. Later tries must
 * know that.
 */
bool wh_run_found_name(struct wh_run *run);

/* Applies another, valid timetable; false: another queue has yet to be told. */
bool wh_run_change(struct wh_run *run, const char *rate, int64_t now_s);

/*
 * Computes the result of a run that is over, or is given up. Events about its end are added to its
 * events.
 */
void wh_run_conclude(
	struct wh_run *run, const struct wh_run_host_ctx *ctx, struct wh_order_result *result);

/*
 * For a failed run: if it lacked nothing but room, it goes back to the queue, and the result says
 * so.
 */
static inline void wh_run_await_room(struct wh_run *run, struct wh_order_result *result)
{
	result->no_room = wh_lanes_lack_room(&run->transfer.running.lanes) && !result->final;
	if (result->no_room)
		run->wanted = WH_ORDER_READY;
}

/* Whether that event need not be sent: of files, which are counted, and of how far it has come. */
bool wh_run_leave_untold(struct wh_run *run, const json_t *event);

/* New events: a list, which the caller frees. */
json_t *wh_run_events(struct wh_run *run);

void wh_run_free(struct wh_run *run);
