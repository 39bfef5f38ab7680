/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The byte streams of a handshake in packets that may be lost, duplicated, delayed or reordered, as
 * QUIC's CRYPTO frames carry TLS (RFC 9000, 19.6). Each packet contains the offset of its bytes and
 * the offset up to which everything was received. Unacknowledged bytes are retransmitted after a
 * timeout, less and less often. Each direction is limited to WH_CRYPTO_STREAM_MAX bytes. If a byte
 * is received twice the first copy counts.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

/* Bounds of the retransmission timeout, which doubles each time. */
#define WH_STREAM_PATIENCE_MIN_MS 50
#define WH_STREAM_PATIENCE_MAX_MS 2000

struct wh_stream {
	uint64_t hz;
	bool asks; /* client: repeats packets while it waits, which allows the server to answer */

	uint32_t out_bytes; /* written so far */
	uint32_t out_sent;  /* sent, of these; set back to out_acked to retransmit */
	uint32_t out_acked;
	uint64_t patience_tsc;
	uint64_t patience_first_tsc;
	uint64_t again_tsc; /* when the retransmission timeout ends */

	uint32_t in_whole; /* everything before it was received */
	uint32_t in_read;  /* everything before it was read */
	bool ack_due;

	uint8_t out[WH_CRYPTO_STREAM_MAX];
	uint8_t in[WH_CRYPTO_STREAM_MAX];
	uint64_t came[WH_CRYPTO_STREAM_MAX / 64]; /* a bit for each byte received */
};

/* rtt_tsc: round trip of the path; 0: unknown. */
void wh_stream_init(struct wh_stream *stream, uint64_t hz, uint64_t rtt_tsc, bool asks);

/* Queues bytes for the peer; false: more than a stream may have. */
bool wh_stream_write(struct wh_stream *stream, const uint8_t *bytes, uint32_t count);

/* False: the packet acknowledges bytes that were not sent, and is ignored. */
bool wh_stream_input(struct wh_stream *stream, uint64_t now_tsc, const struct wh_crypto *packet);

/* Returns received bytes that were not returned before, in order. */
uint32_t wh_stream_read(struct wh_stream *stream, const uint8_t **bytes);

/*
 * Offset, acknowledgement and at most bytes_max bytes for the next packet; false: nothing to send.
 */
bool wh_stream_output(
	struct wh_stream *stream, uint64_t now_tsc, uint32_t bytes_max, struct wh_crypto *packet);

/* Whether everything written was acknowledged. */
static inline bool wh_stream_is_acked(const struct wh_stream *stream)
{
	return stream->out_acked == stream->out_bytes;
}
