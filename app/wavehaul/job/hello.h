/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Converts a client's request to HELLO, and HELLO to a server's request. Decoding has checked each
 * field against the format; here it is checked against the limits of this host (host/bounds.h). An
 * accepted request can be opened, unless memory runs out.
 */

#include <stdbool.h>

#include "bundle/record.h"
#include "host/bounds.h"
#include "host/host_ctx.h"
#include "job/request.h"

/*
 * A client's request as HELLO, without lane and numbers. payload_bytes: the largest payload of a
 * packet to us.
 */
struct wh_hello wh_hello_of_request(const struct wh_request *request, uint32_t payload_bytes);

/* Whether the paths of a client's request fit the chunk of HELLO. */
bool wh_hello_fits(const struct wh_request *request);

/*
 * Whether a server can fulfil a client's request in a stream with such chunks. `own`: its
 * operator's settings; see wh_hello_request.
 */
bool wh_hello_is_possible(const struct wh_hello *hello, uint32_t chunk_bytes,
	const struct wh_peer_bounds *bounds, const struct wh_request *own);

/*
 * A server's part of a possible request: the stream to the client is as the client requests, but
 * with our planner's constants, not faster than `own`, and with our patience. Paths and choice are
 * omitted: the caller keeps their texts.
 */
struct wh_request wh_hello_request(const struct wh_hello *hello, const struct wh_request *own);

/*
 * The addresses of our ports that a peer of that family reaches, for READY: first that of `shard`.
 * Returns their number.
 */
uint8_t wh_ready_addresses(const struct wh_host_ctx *ctx, uint32_t shard, uint8_t family,
	uint8_t addresses[WH_READY_PORTS_MAX * WH_READY_ADDRESS_BYTES]);

/* Whether the values of the server's READY are valid for a client of that family. */
bool wh_ready_is_possible(const struct wh_record *record, uint8_t family);

/*
 * The addresses in such a READY, without UDP ports. Further ones that no host can have (groups,
 * loopback, reserved ones) are left out.
 */
uint32_t wh_ready_peers(
	const struct wh_record *record, struct wh_address peers[WH_READY_PORTS_MAX]);

/*
 * Whether a receiving server's report is plausible, `elapsed_ns` after READY, with `sent_bytes`
 * sent to it, and after the report `before`.
 */
bool wh_report_is_possible(const struct wh_bench_report *report,
	const struct wh_bench_report *before, uint64_t elapsed_ns, uint64_t sent_bytes);
