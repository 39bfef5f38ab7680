/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One transfer: what, for whom, how fast, and with what result. A server makes a record for each
 * job that it did for a peer (one lane of a transfer), and for each order of its queue; send and
 * get make one for themselves.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/record.h"
#include "job/lanes.h"
#include "trust/fingerprint.h"

#define WH_HISTORY_NAME_BYTES   256
#define WH_HISTORY_WORD_BYTES   48
#define WH_HISTORY_WHY_BYTES    400
#define WH_HISTORY_DIGEST_BYTES (2 * WH_DIGEST_BYTES + 1)
#define WH_HISTORY_PEER_BYTES   64

/* The role of this process in the transfer. */
enum wh_history_side {
	WH_HISTORY_SERVED = 0, /* a peer asked for it */
	WH_HISTORY_ORDER,      /* an order of the queue */
	WH_HISTORY_CLIENT,     /* send or get themselves */
};

#define WH_HISTORY_SIDES 3

const char *wh_history_side_name(enum wh_history_side side);

struct wh_history_record {
	int64_t id; /* in the history; 0: not there */
	enum wh_history_side side;
	uint64_t number; /* common to all lanes of a transfer */
	uint32_t lane;   /* SERVED: number of this lane */
	uint32_t lanes;  /* SERVED: how many lanes the transfer has */
	uint64_t order;  /* 0: none */
	int64_t uid;     /* user whose process asked for it; -1: a peer did */

	char verb[WH_HISTORY_WORD_BYTES];
	bool sends;                       /* the data was sent from here */
	char peer[WH_HISTORY_PEER_BYTES]; /* its address */
	char name[WH_HISTORY_NAME_BYTES]; /* the name known here; "" */
	char identity[WH_ID_TEXT_BYTES];  /* its proven identity; "" */
	char path[WH_PATH_BYTES_MAX + 1]; /* the first one; any bytes */
	uint32_t paths;
	char file[WH_PATH_BYTES_MAX + 1]; /* the first one that came into `path`; "": not known */

	int64_t began_us; /* microseconds since 1970 */
	int64_t ended_us; /* or of a peer's job that failed: its last progress */
	uint64_t files;
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes; /* of files that arrived */
	uint64_t resumed_bytes;
	uint64_t moved_bytes; /* payload */
	uint64_t pkts;        /* sent; or, on receiving, received and missing */
	uint64_t lost_pkts;
	uint64_t retransmitted_pkts;
	uint64_t repair_pkts;
	uint64_t rtt_ns;
	uint64_t rate_bps;                 /* requested; 0: none */
	char limit[WH_HISTORY_WORD_BYTES]; /* what limited the speed; "": unknown here */
	char profile[WH_HISTORY_WORD_BYTES];
	char digest[WH_HISTORY_DIGEST_BYTES]; /* of a single large file; "" */

	int status;                          /* exit status; 0: success */
	char outcome[WH_HISTORY_WORD_BYTES]; /* "ok", or the kind of failure */
	bool quiet;                          /* its peer has used up its lines of the log */
	char why[WH_HISTORY_WHY_BYTES];      /* a sentence, possibly with text from the peer; "" */
};

/* Fills in a record from an ended job, on its worker. */
void wh_history_of_job(struct wh_history_record *record, const struct wh_job *job);

/* Fills in what it can from an ended transfer, all lanes together; the caller fills in the rest. */
void wh_history_of_lanes(
	struct wh_history_record *record, const struct wh_lanes *lanes, const char *server);

double wh_history_seconds(const struct wh_history_record *record);

/* Bits a second; limited, since a damaged row may contain any numbers. */
double wh_history_bps(uint64_t bytes, double seconds);

/*
 * The bytes that its rate counts: those of its files, without what an earlier run had moved. If it
 * failed, or has no files: all bytes that moved.
 */
uint64_t wh_history_flowed_bytes(const struct wh_history_record *record);
double wh_history_record_bps(const struct wh_history_record *record);

/* The packet loss rate; 0: no loss, or unknown here. */
double wh_history_loss(const struct wh_history_record *record);

/* Fingerprint of the peer's key; "": the peer proved none. */
const char *wh_history_fingerprint(
	const struct wh_history_record *record, char print[WH_FINGERPRINT_BYTES]);

/* The peer as one word: its name, its key's short fingerprint, or its address. */
const char *wh_history_who(
	const struct wh_history_record *record, char print[WH_FINGERPRINT_BYTES]);
