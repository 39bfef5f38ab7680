/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_HELLO_H
#define WH_APP_HELLO_H

#include <stdbool.h>

#include "bundle/record.h"
#include "repair.h"

/*
 * Whether a server can do what was asked for. Decoding has held the verb, its paths and the lane
 * to their limits; what our stream to the client is made of is for this to judge.
 */
bool wh_hello_is_possible(const struct wh_hello *hello);

/* Of the stream to a client, if that is possible: what it wishes, by our planner's constants. */
struct wh_repair_options wh_hello_repair(
	const struct wh_hello *hello, const struct wh_repair_options *own);

#endif
