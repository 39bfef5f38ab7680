/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What keeps a flow from going faster. Each span of a transmitter's time belongs to one cause: what
 * kept the next packet from being sent. The controller knows the cause of its own rate and window,
 * the session those of everything else.
 */

#include <stdint.h>

enum wh_limit {
	WH_LIMIT_START,  /* opening, and the round trips in which the controller finds its rate */
	WH_LIMIT_RATE,   /* the operator's */
	WH_LIMIT_LINE,   /* of our port, or the path's capacity as the controller has found it */
	WH_LIMIT_OTHERS, /* other flows on the path */
	WH_LIMIT_LOSS,   /* the controller reduced the rate because of losses or delay */
	WH_LIMIT_WINDOW, /* unacknowledged packets: the operator's window, or the table's size */
	WH_LIMIT_MEMORY, /* buffers, here or at the peer: packets in flight or missing fill all */
	WH_LIMIT_DISK,   /* no chunk from the reader */
	WH_LIMIT_PEER_DISK, /* the peer's writer is behind, or has not committed what it got */
	WH_LIMIT_PIPE,      /* the pipe that we read is empty */
	WH_LIMIT_PEER,      /* the peer is silent, or has not said what it wants */
	WH_LIMIT_CPU,       /* a core, of either end, is busy or was taken away */
	WH_LIMITS,
	WH_LIMIT_NONE = WH_LIMITS, /* nothing is to be sent: that time counts for no cause */
};

const char *wh_limit_name(enum wh_limit limit);

/*
 * The time of another cause was the line's. If our port is full, a core that cannot send is not
 * slow; if our NIC drops what we send beyond what it may or can, that loss is not the path's.
 */
void wh_limit_is_line(uint64_t limit_tsc[WH_LIMITS], enum wh_limit other);

/*
 * The one cause to name. A cause other than `rate` and `line` that took a tenth of the time or more
 * comes first: it keeps the flow from its rate, so the rate does not limit it. Else `rate` or
 * `line`. START if there was no time.
 */
enum wh_limit wh_limit_of(const uint64_t limit_tsc[WH_LIMITS]);
