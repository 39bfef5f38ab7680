/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a source or sink was waiting for if its last poll did no work. A watch needs it, to name a
 * cause when nothing moves. Only the own task of a source or sink calls it; it costs some
 * comparisons.
 */

enum wh_waits {
	WH_WAITS_NOTHING = 0, /* it has ended, or has work */
	WH_WAITS_COMMIT,      /* source: the sink must commit entries before more are sent */
	WH_WAITS_ANSWER,      /* source: the sink must answer which files it wants */
	WH_WAITS_TOTALS,      /* source: everything is sent; waits for TOTALS */
	WH_WAITS_ENTRIES,     /* sink: waits for entries or data */
	WH_WAITS_SESSION,     /* the session must take a chunk or return an empty one */
	WH_WAITS_DISK,        /* reading, writing or syncing */
	WH_WAITS_LANES,       /* other lanes must come as far */
	WH_WAITS_SEGMENTS,    /* other lanes must send segments of files, or finish their walks */
	WH_WAITS_PIPE,        /* the other end of a pipe, for any time */
	WH_WAITS_COUNT,
};

/* To follow "waits for ": never NULL, "nothing" for NOTHING. */
const char *wh_waits_text(enum wh_waits waits);
