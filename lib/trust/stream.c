/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/stream.h"

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

/* First timeout: several round trips, because the peer needs time for signatures, too. */
#define PATIENCE_RTTS     3
#define PATIENCE_FIRST_MS 250

static uint64_t ms_tsc(const struct wh_stream *stream, uint64_t ms)
{
	return wh_ns_to_tsc(stream->hz, ms * 1000000);
}

void wh_stream_init(struct wh_stream *stream, uint64_t hz, uint64_t rtt_tsc, bool asks)
{
	uint64_t patience_tsc;

	WH_ASSERT(hz > 0);
	memset(stream, 0, offsetof(struct wh_stream, out));
	memset(stream->came, 0, sizeof(stream->came));
	stream->hz = hz;
	stream->asks = asks;
	patience_tsc = rtt_tsc > 0 ? wh_min_u64(PATIENCE_RTTS * rtt_tsc,
					     ms_tsc(stream, WH_STREAM_PATIENCE_MAX_MS))
				   : ms_tsc(stream, PATIENCE_FIRST_MS);
	stream->patience_first_tsc =
		wh_max_u64(patience_tsc, ms_tsc(stream, WH_STREAM_PATIENCE_MIN_MS));
	stream->patience_tsc = stream->patience_first_tsc;
	stream->again_tsc = WH_TSC_NEVER;
}

bool wh_stream_write(struct wh_stream *stream, const uint8_t *bytes, uint32_t count)
{
	if (count > WH_CRYPTO_STREAM_MAX - stream->out_bytes)
		return false;
	memcpy(stream->out + stream->out_bytes, bytes, count);
	stream->out_bytes += count;
	return true;
}

static bool has_come(const struct wh_stream *stream, uint32_t at)
{
	return (stream->came[at / 64] >> at % 64 & 1) != 0;
}

static void keep(struct wh_stream *stream, uint32_t offset, const uint8_t *bytes, uint32_t count)
{
	WH_ASSERT(offset + count <= WH_CRYPTO_STREAM_MAX);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = offset + i;

		if (has_come(stream, at))
			continue;
		stream->in[at] = bytes[i];
		stream->came[at / 64] |= UINT64_C(1) << at % 64;
	}
	while (stream->in_whole < WH_CRYPTO_STREAM_MAX && has_come(stream, stream->in_whole))
		stream->in_whole++;
}

static void take_ack(struct wh_stream *stream, uint64_t now_tsc, uint32_t acked)
{
	if (acked <= stream->out_acked)
		return;
	stream->out_acked = acked;
	if (stream->out_sent < acked)
		stream->out_sent = acked;
	stream->patience_tsc = stream->patience_first_tsc;
	stream->again_tsc = now_tsc + stream->patience_tsc;
}

bool wh_stream_input(struct wh_stream *stream, uint64_t now_tsc, const struct wh_crypto *packet)
{
	uint32_t whole = stream->in_whole;

	if (packet->acked > stream->out_bytes)
		return false;
	take_ack(stream, now_tsc, packet->acked);
	keep(stream, packet->offset, packet->data, packet->bytes);
	/* A duplicate was sent because an acknowledgement was lost or late. */
	stream->ack_due |= packet->bytes > 0;
	if (stream->asks && stream->in_whole > whole) {
		stream->patience_tsc = stream->patience_first_tsc;
		stream->again_tsc = now_tsc + stream->patience_tsc;
	}
	return true;
}

uint32_t wh_stream_read(struct wh_stream *stream, const uint8_t **bytes)
{
	uint32_t count = stream->in_whole - stream->in_read;

	*bytes = stream->in + stream->in_read;
	stream->in_read = stream->in_whole;
	return count;
}

/* Retransmits everything that is not acknowledged. */
static void fall_back(struct wh_stream *stream, uint64_t now_tsc)
{
	stream->out_sent = stream->out_acked;
	stream->ack_due |= stream->asks;
	stream->patience_tsc =
		wh_min_u64(2 * stream->patience_tsc, ms_tsc(stream, WH_STREAM_PATIENCE_MAX_MS));
	stream->again_tsc = now_tsc + stream->patience_tsc;
}

bool wh_stream_output(
	struct wh_stream *stream, uint64_t now_tsc, uint32_t bytes_max, struct wh_crypto *packet)
{
	if (now_tsc >= stream->again_tsc && (stream->asks || !wh_stream_is_acked(stream)))
		fall_back(stream, now_tsc);

	uint32_t count = stream->out_bytes - stream->out_sent;

	count = count < bytes_max ? count : bytes_max;
	count = count < WH_CRYPTO_BYTES_MAX ? count : WH_CRYPTO_BYTES_MAX;
	if (count == 0 && !stream->ack_due)
		return false;
	packet->offset = stream->out_sent;
	packet->acked = stream->in_whole;
	packet->bytes = (uint16_t)count;
	memcpy(packet->data, stream->out + stream->out_sent, count);
	if (stream->out_sent == stream->out_acked && count > 0)
		stream->again_tsc = now_tsc + stream->patience_tsc;
	stream->out_sent += count;
	stream->ack_due = false;
	return true;
}
