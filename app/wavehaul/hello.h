/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_HELLO_H
#define WH_APP_HELLO_H

/*
 * What peers ask of this host: OPEN, a stream to us; HELLO, one from us. Decoding has held each
 * field to what the format allows; here it is held to what this host can bear: the memory, the
 * tables and the packets that it has. Whatever passes opens, or finds no memory.
 */

#include <stdbool.h>

#include "bundle/record.h"
#include "repair.h"
#include "settings.h"

/* Streams of answers: small chunks, few of them, in one unit of the arena. */
#define WH_ANSWER_CHUNK_BYTES (UINT32_C(16) << 10)

/*
 * Packets of a window that a host opens with and takes. The format allows more, which a stranger's
 * OPEN could make us pay for: a receiver's tables may come to some 34 bytes for each.
 */
#define WH_STREAM_WINDOW_PKTS_MAX (UINT32_C(1) << 20)

/* No end of a lambda has a smaller MTU: no honest peer has smaller full packets, of any family. */
#define WH_STREAM_PAYLOAD_BYTES_MIN                                                                \
	((WH_MTU_MIN - WH_IPV4_BYTES - WH_UDP_BYTES - WH_HEAD_BYTES) / WH_PAYLOAD_ALIGN *          \
		WH_PAYLOAD_ALIGN)

/* What this host can bear of a peer. */
struct wh_peer_bounds {
	uint32_t payload_bytes;   /* of a full packet of our own MTU, to a peer of that family */
	struct wh_fec_limits fec; /* that the tables of our cores are for; r 0: there are none */
};

/* Whether we can receive such a stream. */
bool wh_open_is_possible(const struct wh_open_params *params, const struct wh_peer_bounds *bounds);

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

/* The least window of a power of two that holds all the packets of config's chunks. */
uint32_t wh_stream_window(const struct wh_session_config *config);

/* Whether the server's first answer is one that a client can go by. */
bool wh_ready_is_possible(uint32_t queues);

/*
 * Whether a server that receives may report so, `elapsed_ns` after it was ready, of the
 * `sent_bytes` that it was sent, having reported `before`.
 */
bool wh_report_is_possible(const struct wh_bench_report *report,
	const struct wh_bench_report *before, uint64_t elapsed_ns, uint64_t sent_bytes);

#endif
