/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/pump.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"

int wh_pump_init(struct wh_pump *pump, struct wh_session *session, uint32_t chunk_bytes,
	uint32_t chunks, uint64_t first_chunk)
{
	WH_ASSERT(session != NULL && chunk_bytes > 0 && chunks > 0);
	*pump = (struct wh_pump){
		.session = session,
		.chunk_bytes = chunk_bytes,
		.next_chunk = first_chunk,
		.chunks = chunks,
		.spare = calloc(chunks, sizeof(pump->spare[0])),
	};
	return pump->spare != NULL ? 0 : -ENOMEM;
}

void wh_pump_free(struct wh_pump *pump)
{
	free(pump->spare);
	pump->spare = NULL;
}

static void send_end(struct wh_pump *pump)
{
	pump->end_marker = (struct wh_chunk){.number = pump->next_chunk, .end = true};

	bool pushed = wh_fifo_push(wh_session_ready_chunks(pump->session), &pump->end_marker);

	WH_ASSERT(pushed); /* there is a slot for each chunk and one more */
	pump->ended = true;
	wh_session_kick(pump->session);
}

/*
 * The peer releases chunks in order: one packet missing for a few round trips holds back all later
 * chunks, although they were acknowledged and our chunks are spare.
 */
static bool most_are_spare(const struct wh_pump *pump)
{
	struct wh_session_credit credit = wh_session_credit(pump->session);

	return pump->spares > pump->chunks / 2 && pump->next_chunk + credit.chunks / 2 < credit.end;
}

static uint32_t next_bytes(const struct wh_pump *pump, uint64_t now_tsc)
{
	uint64_t bytes = most_are_spare(pump) ? wh_min_u64(WH_PUMP_PIECE_BYTES, pump->chunk_bytes)
					      : pump->chunk_bytes;

	if (pump->wanted_bytes == 0)
		return now_tsc < pump->stop_tsc ? (uint32_t)bytes : 0;
	WH_ASSERT(pump->bytes <= pump->wanted_bytes);
	return (uint32_t)wh_min_u64(bytes, pump->wanted_bytes - pump->bytes);
}

int32_t wh_pump_send(struct wh_pump *pump, uint64_t now_tsc)
{
	struct wh_fifo *ready = wh_session_ready_chunks(pump->session);
	struct wh_chunk *chunk;
	int32_t sent = 0;

	if (pump->ended)
		return 0;
	while ((chunk = wh_fifo_pop(wh_session_free_chunks(pump->session))) != NULL) {
		WH_ASSERT(pump->spares < pump->chunks);
		pump->spare[pump->spares++] = chunk;
	}
	while (pump->spares > 0 && wh_fifo_count(ready) < WH_PUMP_AHEAD) {
		uint32_t bytes = next_bytes(pump, now_tsc);

		if (bytes == 0) {
			send_end(pump);
			return sent + 1;
		}
		chunk = pump->spare[--pump->spares];
		chunk->number = pump->next_chunk++;
		chunk->bytes = bytes;
		chunk->end = false;

		bool pushed = wh_fifo_push(ready, chunk);

		WH_ASSERT(pushed);
		pump->bytes += bytes;
		sent++;
	}
	if (sent > 0)
		wh_session_kick(pump->session);
	return sent;
}

int32_t wh_pump_take(struct wh_pump *pump)
{
	struct wh_chunk *chunk;
	int32_t taken = 0;

	while ((chunk = wh_fifo_pop(wh_session_deliver_chunks(pump->session))) != NULL) {
		taken++;
		if (chunk->end) {
			pump->ended = true;
			continue;
		}
		pump->bytes += chunk->bytes;
		pump->next_chunk++;

		bool pushed = wh_fifo_push(wh_session_recycled_chunks(pump->session), chunk);

		WH_ASSERT(pushed);
	}
	if (taken > 0)
		wh_session_kick(pump->session);
	return taken;
}
