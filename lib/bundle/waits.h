/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_WAITS_H
#define WH_BUNDLE_WAITS_H

/*
 * Whom a source or a sink waits for that had nothing to do when it was polled last: for a watch
 * that has to name one when nothing moves. Both are told by their process only; they cost some
 * comparisons.
 */

enum wh_waits {
	WH_WAITS_NOTHING = 0, /* it has ended, or has something to do */
	WH_WAITS_COMMIT,      /* source: the sink to commit entries: no more may be out */
	WH_WAITS_ANSWER,      /* source: the sink to say which files it wants */
	WH_WAITS_TOTALS,      /* source: all is sent; the sink to tell the end */
	WH_WAITS_ENTRIES,     /* sink: the source to send entries or bytes of files */
	WH_WAITS_SESSION,     /* the session to take what is ready or bring an empty chunk */
	WH_WAITS_DISK,        /* to read, write or sync */
	WH_WAITS_LANES,       /* the other lanes to come as far */
	WH_WAITS_PARTS,       /* other lanes to bring their parts of files, or to find files */
	WH_WAITS_PIPE,        /* a pipe's other end, for as long as that takes */
	WH_WAITS_COUNT,
};

/* To follow "waits for ": never NULL, "nothing" for NOTHING. */
const char *wh_waits_text(enum wh_waits waits);

#endif
