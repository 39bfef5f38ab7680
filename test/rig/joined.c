/* SPDX-License-Identifier: BSD-3-Clause */
#include "joined.h"

#include "base/assert.h"
#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"
#include "fec/fec.h"

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

static void create_fec(struct wh_rig_joined *joined)
{
	const struct wh_fec_limits limits = wh_session_fec_limits(&joined->config);

	joined->fec = wh_fec_create(&limits);
	WH_ASSERT(joined->fec != NULL);
}

void wh_rig_joined_open(
	struct wh_rig_joined *joined, uint64_t now_tsc, uint64_t accepted_tsc, uint64_t rtt_tsc)
{
	joined->config.payload_virtual = true;
	if (joined->config.repair.recovery != WH_RECOVERY_NAK)
		create_fec(joined);
	joined->sender = wh_session_open(&joined->config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN);
	WH_ASSERT(joined->sender != NULL);
	wh_connect_begin(joined->sender, now_tsc, WH_RIG_SENDER_CID, 7);

	struct wh_open_params params = *wh_session_params(joined->sender);
	const struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.cid = WH_RIG_SENDER_CID,
		.accept = {.acceptor_cid = WH_RIG_RECEIVER_CID,
			.stamp_us = now_tsc * 1000000 / joined->config.hz,
			.buffer_chunks = joined->config.chunks},
	};

	params.initiator_cid = WH_RIG_SENDER_CID;
	joined->first_pn = params.first_pn;
	joined->receiver = wh_session_accept(
		&joined->config, now_tsc, WH_RIG_RECEIVER_CID, &peer, &params, rtt_tsc);
	WH_ASSERT(joined->receiver != NULL);
	wh_session_input(joined->sender, accepted_tsc, accepted_tsc, &accept);
}

void wh_rig_joined_close(struct wh_rig_joined *joined)
{
	wh_session_check(joined->sender, true);
	wh_session_check(joined->receiver, true);
	WH_ASSERT(wh_session_stats(joined->receiver).bad_pkts == 0);
	wh_session_destroy(joined->sender);
	wh_session_destroy(joined->receiver);
	wh_fec_destroy(joined->fec);
}

static void fill(struct wh_rig_joined *joined, uint64_t chunks)
{
	struct wh_chunk *chunk;

	while (joined->filled < chunks &&
		(chunk = wh_fifo_pop(wh_session_free_chunks(joined->sender))) != NULL) {
		chunk->number = joined->filled++;
		chunk->bytes = joined->config.chunk_bytes;
		chunk->end = false;
		wh_fifo_push(wh_session_ready_chunks(joined->sender), chunk);
	}
	if (joined->filled == chunks && joined->closes && !joined->ended) {
		joined->end = (struct wh_chunk){.number = chunks, .end = true};
		joined->ended = wh_fifo_push(wh_session_ready_chunks(joined->sender), &joined->end);
	}
}

void wh_rig_joined_serve(struct wh_rig_joined *joined, uint64_t chunks)
{
	struct wh_chunk *chunk;

	fill(joined, chunks);
	while (joined->fec != NULL && wh_session_encode(joined->sender, joined->fec) > 0)
		;
	while (joined->fec != NULL && wh_session_decode(joined->receiver, joined->fec) > 0)
		;
	while ((chunk = wh_fifo_pop(wh_session_deliver_chunks(joined->receiver))) != NULL) {
		if (chunk->end)
			continue;
		WH_ASSERT(chunk->number == joined->delivered);
		joined->delivered++;
		wh_fifo_push(wh_session_recycled_chunks(joined->receiver), chunk);
	}
}

struct wh_packet wh_rig_packet_read(const struct wh_out *out)
{
	struct wh_packet packet;
	enum wh_wire_reason reason =
		out->payload_bytes > 0
			? wh_packet_decode_virtual(out->head, out->payload_bytes, &packet)
			: wh_packet_decode(out->head, out->head_bytes, &packet);

	WH_ASSERT(reason == WH_WIRE_OK);
	return packet;
}
