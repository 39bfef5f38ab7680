/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/apart/landing.h"

#include <stdlib.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include "session/session_internal.h"
#include "track/alloc.h"

static uint32_t notes_count(const struct wh_session_config *config)
{
	return (uint32_t)wh_min_u64(config->window_pkts - 1, WH_NOTES_MAX);
}

uint64_t wh_landing_bytes(const struct wh_session_config *config)
{
	return wh_track_bytes(1, sizeof(struct wh_landing)) +
	       config->chunks * sizeof(struct wh_landed) + wh_fifo_bytes(config->chunks) +
	       wh_slot_fifo_bytes(notes_count(config), sizeof(struct wh_landing_note));
}

struct wh_landing *wh_landing_create(const struct wh_session_config *config, uint64_t first_pn)
{
	struct wh_landing *landing = wh_track_alloc(1, sizeof(*landing));

	if (landing == NULL)
		return NULL;
	landing->landed = calloc(config->chunks, sizeof(*landing->landed));
	if (landing->landed == NULL || wh_fifo_init(&landing->spare, config->chunks) != 0 ||
		wh_slot_fifo_init(&landing->notes, notes_count(config),
			sizeof(struct wh_landing_note)) != 0) {
		wh_landing_destroy(landing);
		return NULL;
	}
	atomic_init(&landing->pn_end, first_pn);
	return landing;
}

void wh_landing_destroy(struct wh_landing *landing)
{
	if (landing == NULL)
		return;
	free(landing->landed);
	wh_fifo_free(&landing->spare);
	wh_slot_fifo_free(&landing->notes);
	wh_track_free(landing);
}

static struct wh_landed *landed_of(const struct wh_session *s, uint64_t number)
{
	return &s->landing->landed[number % s->config.chunks];
}

static uint64_t *word_of(struct wh_session *s, const struct wh_data_fields *data)
{
	size_t slot = data->chunk % s->config.chunks;

	return &s->rx.have_bits[slot * s->rx.have_words + data->index / 64];
}

static uint64_t bit_of(const struct wh_data_fields *data)
{
	return UINT64_C(1) << data->index % 64;
}

/* The last packet of any chunk may be short. */
static bool has_form(const struct wh_session *s, uint64_t pn, const struct wh_data_fields *data)
{
	return data->k <= s->chunk_packets && data->index < data->k && data->r == 0 &&
	       pn >= s->params.first_pn + data->index &&
	       (data->index + 1 == data->k || data->payload_bytes == s->config.payload_bytes) &&
	       data->index * s->config.payload_bytes + data->payload_bytes <= s->config.chunk_bytes;
}

/* Of a chunk that was begun: packets have arrived if its bits say so. */
static enum wh_rx_slot_kind judge_known(struct wh_session *s, const struct wh_landed *landed,
	uint64_t pn, const struct wh_data_fields *data)
{
	if (landed->k != data->k || landed->first_pn != pn - data->index)
		return WH_RX_SLOT_CONTRADICTS;
	return *word_of(s, data) & bit_of(data) ? WH_RX_SLOT_DUPLICATE : WH_RX_SLOT_FITS;
}

static enum wh_rx_slot_kind judge(struct wh_session *s, const struct wh_packet *packet)
{
	struct wh_landing *landing = s->landing;
	const struct wh_data_fields *data = &packet->data;
	const struct wh_landed *landed = landed_of(s, data->chunk);
	uint64_t end = (uint64_t)data->chunk + 1;

	if (wh_session_news(s).phase != WH_PHASE_RUNNING || landed->number_end > end)
		return WH_RX_SLOT_DUPLICATE; /* a later chunk has its buffer: it was delivered */
	if (data->chunk >= atomic_load_explicit(&landing->chunk_end, memory_order_acquire) ||
		packet->pn >= atomic_load_explicit(&landing->pn_end, memory_order_relaxed))
		return WH_RX_SLOT_BEYOND;
	if (!has_form(s, packet->pn, data))
		return WH_RX_SLOT_CONTRADICTS;
	return landed->number_end == end ? judge_known(s, landed, packet->pn, data)
					 : WH_RX_SLOT_FITS;
}

/* There are as many buffers as chunks are offered, and chunk_end was raised after them. */
static struct wh_chunk *next_buffer(struct wh_landing *landing)
{
	if (landing->next == NULL)
		landing->next = wh_fifo_pop(&landing->spare);
	WH_ASSERT(landing->next != NULL);
	return landing->next;
}

void wh_landing_place(
	struct wh_session *s, const struct wh_packet *packet, struct wh_rx_slot *rx_slot)
{
	const struct wh_data_fields *data = &packet->data;
	const struct wh_landed *landed = landed_of(s, data->chunk);
	const struct wh_chunk *buffer;

	rx_slot->step = s->landing->step;
	rx_slot->kind = judge(s, packet);
	if (rx_slot->kind != WH_RX_SLOT_FITS || s->config.payload_virtual)
		return;
	buffer = landed->number_end == (uint64_t)data->chunk + 1 ? landed->buffer
								 : next_buffer(s->landing);
	rx_slot->to = buffer->data + data->index * s->config.payload_bytes;
}

static void begin_chunk(struct wh_session *s, const struct wh_packet *packet)
{
	const struct wh_data_fields *data = &packet->data;
	struct wh_landed *landed = landed_of(s, data->chunk);

	*landed = (struct wh_landed){
		.number_end = (uint64_t)data->chunk + 1,
		.first_pn = packet->pn - data->index,
		.buffer = next_buffer(s->landing),
		.k = data->k,
	};
	landed->buffer->number = data->chunk;
	s->landing->next = NULL;
	memset(&s->rx.have_bits[data->chunk % s->config.chunks * (size_t)s->rx.have_words], 0,
		s->rx.have_words * sizeof(uint64_t));
}

void wh_landing_take(const struct wh_rx_slot *rx_slot, uint64_t arrived_tsc)
{
	struct wh_session *s = rx_slot->session;
	const struct wh_packet *packet = rx_slot->packet;
	struct wh_slot *slot = wh_slot_fifo_reserve(&s->landing->notes);

	WH_ASSERT(rx_slot->step == s->landing->step);
	s->landing->step++;
	if (unlikely(slot == NULL)) {
		wh_session_count(&s->away.notes_full_pkts);
		return;
	}
	if (rx_slot->kind == WH_RX_SLOT_FITS) {
		if (landed_of(s, packet->data.chunk)->number_end !=
			(uint64_t)packet->data.chunk + 1)
			begin_chunk(s, packet);
		*word_of(s, &packet->data) |= bit_of(&packet->data);
	}
	*(struct wh_landing_note *)slot->data = (struct wh_landing_note){
		.data = packet->data,
		.pn = packet->pn,
		.looked_tsc = s->landing->looked_tsc,
		.type = (uint8_t)packet->type,
		.flags = packet->flags,
		.kind = (uint8_t)rx_slot->kind,
	};
	slot->bytes = sizeof(struct wh_landing_note);
	slot->when_tsc = arrived_tsc;
	wh_slot_fifo_commit(&s->landing->notes);
}

struct wh_chunk *wh_landing_buffer(const struct wh_session *s, uint64_t number)
{
	return landed_of(s, number)->buffer;
}

void wh_landing_open(struct wh_session *s)
{
	struct wh_landing *landing = s->landing;
	uint64_t pn_end = wh_min_u64(s->ration.granted_end, wh_recv_table_upper(&s->rx.table));

	atomic_store_explicit(&landing->pn_end, pn_end, memory_order_relaxed);
	atomic_store_explicit(
		&landing->chunk_end, s->rx.recycled_count + s->config.chunks, memory_order_release);
}
