/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_ENTRY_H
#define WH_BOOK_ENTRY_H

/*
 * What was transferred, for whom, how fast, and what became of it: an entry for each transfer. A
 * server makes one of each job that it did for a peer, which is one lane of it, and of each order
 * of its queue; send and get make one of themselves.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/record.h"
#include "job/job.h"
#include "report/transfer.h"
#include "trust/fingerprint.h"

#define WH_ENTRY_NAME_BYTES   256
#define WH_ENTRY_WORD_BYTES   48
#define WH_ENTRY_WHY_BYTES    400
#define WH_ENTRY_DIGEST_BYTES (2 * WH_DIGEST_BYTES + 1)
#define WH_ENTRY_PEER_BYTES   64

/* What of its transfers a process is. */
enum wh_entry_side {
	WH_ENTRY_SERVED = 0, /* a peer asked for it */
	WH_ENTRY_ORDER,      /* of the queue */
	WH_ENTRY_CLIENT,     /* send or get themselves */
};

#define WH_ENTRY_SIDES 3

const char *wh_entry_side_name(enum wh_entry_side side);

struct wh_book_entry {
	int64_t id; /* in the book; 0: not there */
	enum wh_entry_side side;
	uint64_t number; /* the same of all lanes of a transfer */
	uint32_t lane;   /* SERVED: which this was ... */
	uint32_t lanes;  /* ... of so many */
	uint64_t order;  /* 0: none */
	int64_t uid;     /* whose process asked for it; -1: a peer did */

	char verb[WH_ENTRY_WORD_BYTES];
	bool sends;                       /* the data went out from here */
	char peer[WH_ENTRY_PEER_BYTES];   /* its address */
	char name[WH_ENTRY_NAME_BYTES];   /* by which it is known here; "" */
	char identity[WH_ID_TEXT_BYTES];  /* that it has proved; "" */
	char path[WH_PATH_BYTES_MAX + 1]; /* the first one; any bytes */
	uint32_t paths;

	int64_t began_us; /* since 1970 */
	int64_t ended_us;
	uint64_t files;
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes; /* of files that came */
	uint64_t resumed_bytes;
	uint64_t moved_bytes; /* payload */
	uint64_t pkts;        /* sent; or received, and missing */
	uint64_t lost_pkts;
	uint64_t again_pkts;
	uint64_t repair_pkts;
	uint64_t rtt_ns;
	uint64_t rate_bps;               /* wished for; 0: none */
	char limit[WH_ENTRY_WORD_BYTES]; /* what kept it from being faster; "": not known here */
	char profile[WH_ENTRY_WORD_BYTES];
	char digest[WH_ENTRY_DIGEST_BYTES]; /* of its one large file; "" */

	int status;                        /* exit status; 0: all is well */
	char outcome[WH_ENTRY_WORD_BYTES]; /* "ok", or what went wrong */
	bool quiet;                        /* its peer has had his lines of the log */
	char why[WH_ENTRY_WHY_BYTES];      /* a sentence, a peer's words in it perhaps; "" */
};

/* Of a job that is over: on its crew. */
void wh_entry_of_job(struct wh_book_entry *entry, const struct wh_job *job);

/* Of a transfer that is over, all lanes together; the rest is known to who ran it. */
void wh_entry_of_transfer(struct wh_book_entry *entry, const struct wh_transfer *transfer);

double wh_entry_seconds(const struct wh_book_entry *entry);

/* Bits a second; of a damaged row they are those of a very fast line at most. */
double wh_book_bps(uint64_t bytes, double seconds);

/* Of what has come. */
double wh_entry_bps(const struct wh_book_entry *entry);

/* The share of its packets that did not come; 0: none, or not known here. */
double wh_entry_loss(const struct wh_book_entry *entry);

/* Who it was with, in a word: by name, key, or address. */
const char *wh_entry_who(const struct wh_book_entry *entry);

#endif
