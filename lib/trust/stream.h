/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_STREAM_H
#define WH_TRUST_STREAM_H

/*
 * The bytes of a greeting in packets that may be lost, come twice, late or in any order. Each
 * packet says where its bytes belong and up to where all have come from the other end. What is not
 * acknowledged in time goes again, ever more rarely. Both ways are bounded (WH_CRYPTO_STREAM_MAX),
 * and of a byte that comes twice the first is kept.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

/* Repeats: after the first patience, then twice as long each time, up to this. */
#define WH_STREAM_PATIENCE_MIN_MS 50
#define WH_STREAM_PATIENCE_MAX_MS 2000

struct wh_stream {
	uint64_t hz;
	bool asks; /* it goes on asking while it waits, so that the other end may answer */

	uint32_t out_bytes; /* written so far */
	uint32_t out_sent;  /* sent, of these; falls back to out_acked when it has to go again */
	uint32_t out_acked;
	uint64_t patience_tsc;
	uint64_t patience_first_tsc;
	uint64_t again_tsc; /* when what is outstanding goes again */

	uint32_t in_whole; /* all before it has come */
	uint32_t in_read;  /* and was taken */
	bool ack_due;

	uint8_t out[WH_CRYPTO_STREAM_MAX];
	uint8_t in[WH_CRYPTO_STREAM_MAX];
	uint64_t came[WH_CRYPTO_STREAM_MAX / 64]; /* by byte */
};

/* rtt_tsc: of the way, as far as it is known; 0: it is not. */
void wh_stream_init(struct wh_stream *stream, uint64_t hz, uint64_t rtt_tsc, bool asks);

/* Bytes to the other end; false: more than a stream may have. */
bool wh_stream_write(struct wh_stream *stream, const uint8_t *bytes, uint32_t count);

/* False: the packet acknowledges what was never sent, and is of no use. */
bool wh_stream_input(struct wh_stream *stream, uint64_t now_tsc, const struct wh_crypto *packet);

/* What has come and was not taken yet, in order; it is taken by this. */
uint32_t wh_stream_read(struct wh_stream *stream, const uint8_t **bytes);

/*
 * The next packet's offset, acknowledgement and bytes, no more than so many; false: there is
 * nothing to say.
 */
bool wh_stream_output(
	struct wh_stream *stream, uint64_t now_tsc, uint32_t bytes_max, struct wh_crypto *packet);

/* Everything that was written has arrived. */
static inline bool wh_stream_is_acked(const struct wh_stream *stream)
{
	return stream->out_acked == stream->out_bytes;
}

#endif
