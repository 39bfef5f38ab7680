/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A transfer of send, get or the queue.
 *
 *   operands, operand_list, wanted    what the operator wants, from the command line or an order
 *   own_port, sealed                  send and get by a port of this process: opens it, runs the
 *                                     lanes, tries again, concludes
 *   hand, order_words, handed         send and get by this host's server: turns what is wanted into
 *                                     an order, and follows that until its end
 *   asked                             the same of a remote operation (ls, rm)
 *   running                           the lanes, attempt after attempt; also for queue/run.c
 *   told                              lines, JSON and totals for the operator
 *   recollect                         unfinished files that this host remembers
 *
 * A client that waits for ever: own_port.c waits in await_route (no link, no route, no server),
 * else in a lane, which job/waits/watch.h ends; handed.c waits in `follow` for the server's events.
 */

#include "transfer/operands.h"
#include "transfer/running.h"
#include "transfer/told.h"

struct wh_transfer {
	struct wh_wanted wanted;
	struct wh_running running;
	struct wh_told told;
};
