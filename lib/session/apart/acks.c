/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/apart/acks.h"

#include <string.h>

#include "session/session_internal.h"
#include "track/alloc.h"

/* A note for each packet that the inbox holds. */
static uint32_t notes_count(const struct wh_session_config *config)
{
	return wh_boxes_inbox_count(config->window_pkts);
}

uint64_t wh_acks_bytes(const struct wh_session_config *config)
{
	return wh_track_bytes(1, sizeof(struct wh_acks)) + wh_fifo_bytes(config->chunks) +
	       wh_slot_fifo_bytes(notes_count(config), sizeof(struct wh_acks_note));
}

struct wh_acks *wh_acks_create(const struct wh_session_config *config, uint64_t first_pn)
{
	struct wh_acks *acks = wh_track_alloc(1, sizeof(*acks));

	if (acks == NULL)
		return NULL;
	if (wh_fifo_init(&acks->done, config->chunks) != 0 ||
		wh_slot_fifo_init(&acks->notes, notes_count(config), sizeof(struct wh_acks_note)) !=
			0) {
		wh_acks_destroy(acks);
		return NULL;
	}
	atomic_init(&acks->sent_end, first_pn);
	return acks;
}

void wh_acks_destroy(struct wh_acks *acks)
{
	if (acks == NULL)
		return;
	wh_fifo_free(&acks->done);
	wh_slot_fifo_free(&acks->notes);
	wh_track_free(acks);
}

bool wh_acks_may_be_apart(const struct wh_session_config *config)
{
	return config->books_apart && config->profile->on_ack == NULL &&
	       !wh_profile_feedback(config->profile, &config->options).ack_each;
}

struct entering {
	struct wh_session *session;
	uint64_t end;
};

static void chunk_done(struct wh_session *s, struct wh_chunk *chunk)
{
	bool pushed;

	if (s->acks != NULL) {
		pushed = wh_fifo_push(&s->acks->done, chunk);
	} else {
		s->tx.chunks_out--;
		pushed = wh_fifo_push(&s->tx.free, chunk);
	}
	WH_ASSERT(pushed);
}

/* Of one chunk; with the last of them the chunk is done. */
static void packets_acked(
	void *context, uint64_t pn, const struct wh_sent_record *record, uint32_t count)
{
	struct entering *entering = context;
	struct wh_session *s = entering->session;
	struct wh_tx_chunk *sending = &s->tx.tx_chunk[record->chunk_slot];
	struct wh_chunk *chunk = &s->chunk[record->chunk_slot];
	uint64_t offset = (uint64_t)record->index * s->config.payload_bytes;

	WH_DEBUG_ASSERT(sending->unacked_pkts >= count);
	if (offset < chunk->bytes) /* repair packets contain no bytes of the stream */
		wh_session_add(
			&s->stats.acked_bytes, wh_min_u64(count * (uint64_t)s->config.payload_bytes,
						       chunk->bytes - offset));
	entering->end = wh_max_u64(entering->end, pn + count);
	if (s->acks == NULL) {
		const struct wh_ack_event event = {
			.now_tsc = s->tx.report_tsc,
			.first_pn = pn,
			.pkts = count,
		};

		WH_CONTROL_TELL(&s->tx.control, on_ack, &event);
	}
	sending->unacked_pkts -= count;
	if (sending->unacked_pkts == 0)
		chunk_done(s, chunk);
}

/* Everything in [cover_first, cover_end) but the holes has arrived. */
struct wh_acked wh_acks_enter(struct wh_session *s, const struct wh_rcv_report *report)
{
	struct wh_sent_table *table = &s->tx.table;
	struct entering entering = {.session = s};
	uint64_t from = report->cover_first;
	uint64_t pkts = 0;

	/* With an acknowledgement per packet, a report acknowledges only what it covers. */
	if (!s->feedback.ack_each || s->feedback.ack_in_order)
		pkts = wh_sent_table_ack(
			table, table->lower, report->lower, packets_acked, &entering);

	for (uint32_t i = 0; i < report->n_holes; i++) {
		uint64_t hole = report->cover_first + report->holes[i].offset;

		pkts += wh_sent_table_ack(table, from, hole, packets_acked, &entering);
		from = hole + report->holes[i].count;
	}
	pkts += wh_sent_table_ack(table, from, report->cover_end, packets_acked, &entering);
	return (struct wh_acked){.pkts = pkts, .end = entering.end};
}

/* The TX core refuses such a report, and counts it. */
static bool is_possible(const struct wh_session *s, const struct wh_rcv_report *report)
{
	return report->highest_end <=
		       atomic_load_explicit(&s->acks->sent_end, memory_order_acquire) &&
	       report->highest_end >= s->params.first_pn;
}

int32_t wh_acks_book(struct wh_session *s)
{
	struct wh_slot_fifo *notes = &s->acks->notes;
	struct wh_slot *from;
	struct wh_slot *to;
	int32_t taken = 0;

	for (; (from = wh_slot_fifo_peek(&s->inbox)) != NULL &&
		(to = wh_slot_fifo_reserve(notes)) != NULL;
		taken++) {
		const struct wh_packet *packet = (const struct wh_packet *)from->data;
		struct wh_acks_note *note = (struct wh_acks_note *)to->data;

		memcpy(&note->packet, packet, sizeof(*packet));
		note->acked = (struct wh_acked){0};
		if (packet->type == WH_PACKET_RCV_REPORT && is_possible(s, &packet->rcv_report))
			note->acked = wh_acks_enter(s, &packet->rcv_report);
		to->when_tsc = from->when_tsc;
		to->bytes = sizeof(*note);
		wh_slot_fifo_commit(notes);
		wh_slot_fifo_release(&s->inbox);
	}
	return taken;
}

const struct wh_packet *wh_acks_take(struct wh_session *s, const struct wh_slot *slot)
{
	const struct wh_acks_note *note = (const struct wh_acks_note *)slot->data;
	struct wh_acked *acked = &s->acks->acked;

	acked->pkts += note->acked.pkts;
	acked->end = wh_max_u64(acked->end, note->acked.end);
	return &note->packet;
}

int32_t wh_acks_free_chunks(struct wh_session *s)
{
	struct wh_chunk *chunk;
	int32_t freed = 0;

	for (; (chunk = wh_fifo_pop(&s->acks->done)) != NULL; freed++) {
		bool pushed = wh_fifo_push(&s->tx.free, chunk);

		WH_ASSERT(pushed && s->tx.chunks_out > 0);
		s->tx.chunks_out--;
	}
	return freed;
}

void wh_acks_tell_sent(struct wh_session *s)
{
	atomic_store_explicit(&s->acks->sent_end, s->tx.sent_end, memory_order_release);
}
