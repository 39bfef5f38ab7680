/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_HELLO_H
#define WH_APP_HELLO_H

/*
 * A request on its way: what HELLO says of a client's, and what a server makes of it. Decoding has
 * held each field to what the format allows; here it is held to what this host can bear
 * (host/bounds.h). Whatever passes opens, or finds no memory.
 */

#include <stdbool.h>

#include "bundle/record.h"
#include "host/bounds.h"
#include "job/request.h"

/*
 * What HELLO says of a client's request: all but lane and numbers. Streams to us may have packets
 * of that payload.
 */
struct wh_hello wh_hello_of_request(const struct wh_request *request, uint32_t payload_bytes);

/* Whether the paths of a client's request fit the chunk that HELLO goes in. */
bool wh_hello_fits(const struct wh_request *request);

/*
 * Whether a server can do what a client asks for in a stream of such chunks. `own`: what its
 * operator has said; see wh_hello_request.
 */
bool wh_hello_is_possible(const struct wh_hello *hello, uint32_t chunk_bytes,
	const struct wh_peer_bounds *bounds, const struct wh_request *own);

/*
 * A server's part of what a client asks for, if that is possible: the stream to the client is as
 * the client wishes, by our planner's constants and no faster than `own` says; patience is ours.
 * Paths and what is chosen of them are left out: the caller keeps their texts.
 */
struct wh_request wh_hello_request(const struct wh_hello *hello, const struct wh_request *own);

/* Whether the server's first answer is one that a client can go by. */
bool wh_ready_is_possible(uint32_t queues);

/*
 * Whether a server that receives may report so, `elapsed_ns` after it was ready, of the
 * `sent_bytes` that it was sent, having reported `before`.
 */
bool wh_report_is_possible(const struct wh_bench_report *report,
	const struct wh_bench_report *before, uint64_t elapsed_ns, uint64_t sent_bytes);

#endif
