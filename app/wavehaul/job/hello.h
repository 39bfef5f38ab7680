/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_HELLO_H
#define WH_APP_HELLO_H

/*
 * What a client asks of this host in HELLO. Decoding has held each field to what the format allows;
 * here it is held to what this host can bear (host/bounds.h). Whatever passes opens, or finds no
 * memory.
 */

#include <stdbool.h>

#include "bundle/record.h"
#include "cli/repair.h"
#include "cli/settings.h"
#include "host/bounds.h"

/*
 * Whether a server can do what a client asks for in a stream of such chunks, with its planner's
 * constants.
 */
bool wh_hello_is_possible(const struct wh_hello *hello, uint32_t chunk_bytes,
	const struct wh_peer_bounds *bounds, const struct wh_repair_options *own);

/* Of the stream to a client, if that is possible: what it wishes, by our planner's constants. */
struct wh_repair_options wh_hello_repair(
	const struct wh_hello *hello, const struct wh_repair_options *own);

/* Whether the client's stream carries what the job is for, and not only what it has to say. */
static inline bool wh_hello_client_sends(const struct wh_hello *hello)
{
	return hello->verb == WH_JOB_SEND || (hello->verb == WH_JOB_BENCH && !hello->reverse);
}

/*
 * Profile, sizes of packets and chunks, and repair of the stream to such a client; `bundle`: the
 * stream is what the job is for, else it carries answers.
 */
void wh_hello_configure(const struct wh_hello *hello, bool bundle,
	const struct wh_peer_bounds *bounds, const struct wh_repair_options *own,
	struct wh_session_config *config);

/* Whether the server's first answer is one that a client can go by. */
bool wh_ready_is_possible(uint32_t queues);

/*
 * Whether a server that receives may report so, `elapsed_ns` after it was ready, of the
 * `sent_bytes` that it was sent, having reported `before`.
 */
bool wh_report_is_possible(const struct wh_bench_report *report,
	const struct wh_bench_report *before, uint64_t elapsed_ns, uint64_t sent_bytes);

#endif
