/* SPDX-License-Identifier: BSD-3-Clause */
#include "pcap/frames.h"

#include <string.h>

#include "base/assert.h"

/* Precedes a frame's bytes in a slot. */
struct note {
	uint32_t frame_bytes;
	uint32_t leaves;
};

static uint32_t slot_bytes(uint32_t snap_bytes)
{
	return snap_bytes + (uint32_t)sizeof(struct note);
}

uint64_t wh_frames_bytes(uint32_t count, uint32_t snap_bytes)
{
	return wh_slot_fifo_bytes(count, slot_bytes(snap_bytes));
}

int wh_frames_init(struct wh_frames *frames, uint32_t count, uint32_t snap_bytes)
{
	WH_ASSERT(snap_bytes >= WH_FRAMES_SNAP_MIN);
	*frames = (struct wh_frames){.snap_bytes = snap_bytes};
	return wh_slot_fifo_init(&frames->fifo, count, slot_bytes(snap_bytes));
}

void wh_frames_free(struct wh_frames *frames)
{
	wh_slot_fifo_free(&frames->fifo);
}

static void count(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

void wh_frames_put(
	struct wh_frames *frames, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves)
{
	struct wh_slot *slot = wh_slot_fifo_reserve(&frames->fifo);
	const struct note note = {pkt->pkt_len, leaves};

	count(&frames->seen_pkts);
	if (slot == NULL) {
		count(&frames->missed_pkts);
		return;
	}

	uint32_t bytes = RTE_MIN(pkt->pkt_len, frames->snap_bytes);
	uint8_t *to = slot->data + sizeof(note);
	const uint8_t *from = rte_pktmbuf_read(pkt, 0, bytes, to);

	if (from != to)
		memcpy(to, from, bytes);
	memcpy(slot->data, &note, sizeof(note));
	slot->when_tsc = now_tsc;
	slot->bytes = bytes;
	wh_slot_fifo_commit(&frames->fifo);
}

bool wh_frames_peek(struct wh_frames *frames, struct wh_frame *frame)
{
	const struct wh_slot *slot = wh_slot_fifo_peek(&frames->fifo);
	struct note note;

	if (slot == NULL)
		return false;
	memcpy(&note, slot->data, sizeof(note));
	*frame = (struct wh_frame){
		.when_tsc = slot->when_tsc,
		.frame_bytes = note.frame_bytes,
		.bytes = slot->bytes,
		.leaves = note.leaves != 0,
		.data = slot->data + sizeof(note),
	};
	return true;
}

void wh_frames_drop(struct wh_frames *frames)
{
	wh_slot_fifo_release(&frames->fifo);
}

struct wh_frames *wh_frames_oldest(struct wh_frames *frames, uint32_t count, struct wh_frame *frame)
{
	struct wh_frames *found = NULL;
	struct wh_frame one;

	for (uint32_t i = 0; i < count; i++) {
		if (!wh_frames_peek(&frames[i], &one) ||
			(found != NULL && one.when_tsc >= frame->when_tsc))
			continue;
		*frame = one;
		found = &frames[i];
	}
	return found;
}
