/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "base/prng.h"
#include "session/internal.h"

const char *wh_limit_name(enum wh_limit limit)
{
	static const char *const names[WH_LIMITS] = {
		[WH_LIMIT_RATE] = "rate",
		[WH_LIMIT_WINDOW] = "window",
		[WH_LIMIT_DISK] = "disk",
		[WH_LIMIT_PEER] = "peer",
		[WH_LIMIT_CPU] = "cpu",
	};

	WH_ASSERT(limit < WH_LIMITS);
	return names[limit];
}

void wh_session_config_init(struct wh_session_config *config)
{
	struct wh_control_config control;

	wh_control_config_init(&control);
	*config = (struct wh_session_config){
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.burst_pkts = 1,
		.udt = control.udt,
		.initial_rtt_ns = 100 * UINT64_C(1000000),
		.peer_timeout_ns = 30 * WH_NS_PER_S,
		.stall_timeout_ns = 30 * WH_NS_PER_S,
	};
}

uint64_t wh_session_ms_tsc(const struct wh_session *s, uint64_t span_ms)
{
	return wh_ns_to_tsc(s->config.hz, span_ms * 1000000);
}

void wh_session_bad(struct wh_session *s, uint64_t *reason)
{
	s->stats.bad_pkts++;
	(*reason)++;
}

void wh_session_settle(struct wh_session *s, uint64_t now_tsc, enum wh_release_status outcome)
{
	if (s->outcome == WH_STATUS_PENDING) {
		WH_ASSERT(outcome != WH_STATUS_PENDING);
		s->outcome = outcome;
		s->stats.outcome_tsc = now_tsc;
	}
	s->phase = WH_PHASE_CLOSED;
}

void wh_session_push_control(
	struct wh_session *s, uint64_t now_tsc, enum wh_packet_type type, struct wh_packet *packet)
{
	bool to_listener = type == WH_PACKET_OPEN || type == WH_PACKET_CONFIRM;

	packet->type = type;
	packet->flags = 0;
	packet->key = 0;
	packet->lci = to_listener ? 0 : s->peer_lci;
	packet->serial = s->control_serial[type]++;
	packet->payload = NULL;

	struct wh_slot *slot = wh_slot_fifo_reserve(&s->outbox);

	if (slot == NULL) {
		s->stats.control_full_pkts++;
		return;
	}
	slot->bytes = wh_packet_encode(packet, slot->data, WH_CONTROL_BYTES_MAX);
	slot->when_tsc = now_tsc;
	wh_slot_fifo_commit(&s->outbox);
}

static int create_transmitter(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_transmitter *tx = &s->tx;
	const struct wh_session_config *config = &s->config;
	uint32_t chunk_slots = rte_align32pow2(config->chunks + 1); /* and an end marker */
	struct wh_control_config control = {
		.hz = config->hz,
		.syn_tsc = s->period_tsc,
		.packet_bytes = config->packet_bytes,
		.wire_bytes = config->wire_bytes,
		.rate_bps = config->rate_bps,
		.window_pkts_max = config->window_pkts,
		.udt = config->udt,
	};

	tx->tx_chunk = calloc(config->chunks, sizeof(*tx->tx_chunk));
	if (tx->tx_chunk == NULL || wh_fifo_init(&tx->free, chunk_slots) != 0 ||
		wh_fifo_init(&tx->ready, chunk_slots) != 0 ||
		wh_fifo_init(&tx->fresh, WH_FRESH_PKTS) != 0 ||
		wh_fifo_init(&tx->again, config->window_pkts) != 0 ||
		wh_sent_table_init(&tx->table, config->window_pkts, s->params.first_serial) != 0)
		return -ENOMEM;

	for (uint32_t i = 0; i < config->chunks; i++)
		wh_fifo_push(&tx->free, &s->chunk[i]);
	wh_pacer_init(&tx->pacer, now_tsc, config->wire_bytes, config->burst_pkts);
	wh_control_init(&tx->control, config->profile->control, &control);
	tx->decision = tx->control.ops->decide(&tx->control);
	wh_pacer_set_interval(&tx->pacer, tx->decision.interval_fp);
	tx->sent_end = s->params.first_serial;
	tx->told_upper = tx->sent_end;
	tx->limit_since_tsc = now_tsc;
	return 0;
}

static int create_receiver(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_session_config *config = &s->config;
	uint32_t chunk_slots = rte_align32pow2(config->chunks + 1);

	rx->have_words = (s->chunk_packets + 63) / 64;
	rx->rx_chunk = calloc(config->chunks, sizeof(*rx->rx_chunk));
	rx->have_bits = calloc((size_t)config->chunks * rx->have_words, sizeof(uint64_t));
	rx->spare = calloc(config->chunks, sizeof(struct wh_chunk *));
	if (rx->rx_chunk == NULL || rx->have_bits == NULL || rx->spare == NULL ||
		wh_fifo_init(&rx->arrived, chunk_slots) != 0 ||
		wh_fifo_init(&rx->deliver, chunk_slots) != 0 ||
		wh_fifo_init(&rx->recycled, chunk_slots) != 0 ||
		wh_loss_list_init(&rx->losses, config->window_pkts) != 0 ||
		wh_recv_table_init(&rx->table, config->window_pkts, s->params.first_serial) != 0)
		return -ENOMEM;

	for (uint32_t i = 0; i < config->chunks; i++)
		rx->spare[rx->spares++] = &s->chunk[config->chunks - 1 - i];
	wh_arrival_init(&rx->arrival, config->hz);
	wh_pair_init(&rx->pair, config->hz);
	wh_trend_init(&rx->trend);
	rx->next_state_tsc = now_tsc;
	rx->next_nak_tsc = now_tsc;
	rx->last_state_tsc = now_tsc;
	rx->cover_cursor = s->params.first_serial;
	rx->pair_first_serial = WH_SERIAL_MAX; /* no packet follows that one */
	rx->previous_trans_upper = s->params.first_serial;
	rx->told_recycled = UINT64_MAX; /* nothing told yet: the first state is news */
	return 0;
}

static struct wh_session *create(const struct wh_session_config *config, enum wh_role role,
	uint64_t now_tsc, uint32_t local_lci, const struct wh_address *peer,
	const struct wh_open_params *params)
{
	WH_ASSERT(local_lci != 0 && config->profile != NULL && config->chunks > 0);
	WH_ASSERT(config->chunks <= UINT16_MAX); /* slots in the sender's table */
	WH_ASSERT(config->payload_bytes == params->payload_bytes);
	WH_ASSERT(config->chunk_bytes == params->chunk_bytes);
	WH_ASSERT(config->window_pkts == params->window_pkts);

	struct wh_session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->config = *config;
	s->role = role;
	s->local_lci = local_lci;
	s->peer = *peer;
	s->params = *params;
	s->chunk_packets =
		(config->chunk_bytes + config->payload_bytes - 1) / config->payload_bytes;
	s->period_tsc = wh_us_to_tsc(config->hz, params->period_us);
	s->last_heard_tsc = now_tsc;
	s->opened_tsc = now_tsc;
	s->next_open_tsc = now_tsc;
	s->next_release_tsc = now_tsc;
	s->open_repeat_tsc = wh_session_ms_tsc(s, WH_OPEN_REPEAT_MS);

	s->chunk = calloc(config->chunks, sizeof(*s->chunk));
	if (s->chunk == NULL ||
		wh_slot_fifo_init(&s->inbox, WH_INBOX_SLOTS, sizeof(struct wh_packet)) != 0 ||
		wh_slot_fifo_init(&s->outbox, WH_OUTBOX_SLOTS, WH_CONTROL_BYTES_MAX) != 0)
		goto no_memory;
	for (uint32_t i = 0; i < config->chunks; i++) {
		s->chunk[i].data = config->chunk_memory + (size_t)i * config->chunk_bytes;
		s->chunk[i].slot = i;
	}
	if ((role == WH_TRANSMITTER ? create_transmitter(s, now_tsc)
				    : create_receiver(s, now_tsc)) != 0)
		goto no_memory;
	return s;

no_memory:
	wh_session_destroy(s);
	return NULL;
}

struct wh_session *wh_session_open(const struct wh_session_config *config, uint64_t now_tsc,
	uint32_t local_lci, const struct wh_address *peer, const char *name, uint64_t object_bytes)
{
	struct wh_prng prng;
	struct wh_open_params params = {
		.initiator_lci = local_lci,
		.profile = config->profile->number,
		.payload_bytes = (uint16_t)config->payload_bytes,
		.chunk_bytes = config->chunk_bytes,
		.window_pkts = config->window_pkts,
		.period_us = config->profile->period_us,
		.object_bytes = object_bytes,
		.name_bytes = (uint16_t)strlen(name),
	};

	WH_ASSERT(strlen(name) <= WH_NAME_BYTES_MAX);
	WH_ASSERT(object_bytes / config->chunk_bytes <= WH_CHUNK_NUMBER_MAX);
	memcpy(params.name, name, params.name_bytes);
	/* Anywhere that is allowed: no code may rely on a start at 0. */
	wh_prng_init(&prng, config->seed);
	params.first_serial = wh_prng_below(&prng, WH_FIRST_SERIAL_MAX);

	struct wh_session *s = create(config, WH_TRANSMITTER, now_tsc, local_lci, peer, &params);

	if (s != NULL)
		wh_rtt_init(&s->rtt, wh_ns_to_tsc(config->hz, config->initial_rtt_ns));
	return s;
}

struct wh_session *wh_session_accept(const struct wh_session_config *config, uint64_t now_tsc,
	uint32_t local_lci, const struct wh_address *peer, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct wh_session *s = create(config, WH_RECEIVER, now_tsc, local_lci, peer, params);

	if (s == NULL)
		return NULL;
	/* A cookie's age may round to nothing; with no RTT a loss would be due again at once. */
	wh_rtt_init(&s->rtt, wh_max_u64(rtt_tsc, 1));
	s->peer_lci = params->initiator_lci;
	s->phase = WH_PHASE_RUNNING;
	return s;
}

void wh_session_destroy(struct wh_session *s)
{
	if (s == NULL)
		return;
	wh_fifo_free(&s->tx.free);
	wh_fifo_free(&s->tx.ready);
	wh_fifo_free(&s->tx.fresh);
	wh_fifo_free(&s->tx.again);
	wh_sent_table_free(&s->tx.table);
	free(s->tx.tx_chunk);
	wh_fifo_free(&s->rx.arrived);
	wh_fifo_free(&s->rx.deliver);
	wh_fifo_free(&s->rx.recycled);
	wh_loss_list_free(&s->rx.losses);
	wh_recv_table_free(&s->rx.table);
	free(s->rx.rx_chunk);
	free(s->rx.have_bits);
	free(s->rx.spare);
	wh_slot_fifo_free(&s->inbox);
	wh_slot_fifo_free(&s->outbox);
	free(s->chunk);
	free(s);
}

void wh_session_input(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	WH_DEBUG_ASSERT(packet->lci == s->local_lci && arrived_tsc <= now_tsc);
	s->last_heard_tsc = now_tsc;
	if (packet->type == WH_PACKET_DATA && s->role == WH_RECEIVER) {
		if (s->phase == WH_PHASE_RUNNING)
			wh_rcv(s, now_tsc, arrived_tsc, packet);
		else
			s->stats.duplicate_pkts++;
		return;
	}
	if (packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR) {
		wh_session_bad(s, &s->stats.bad_unexpected_pkts);
		return;
	}

	struct wh_slot *slot = wh_slot_fifo_reserve(&s->inbox);

	if (slot == NULL) {
		s->stats.control_full_pkts++;
		return;
	}
	memcpy(slot->data, packet, sizeof(*packet));
	slot->bytes = sizeof(*packet);
	slot->when_tsc = arrived_tsc;
	wh_slot_fifo_commit(&s->inbox);
	s->stats.control_received_pkts++;
}

static int32_t poll_transmitter(struct wh_session *s, uint64_t now_tsc)
{
	int32_t work = wh_get_rcv_stat(s, now_tsc);

	work += wh_handshake_poll(s, now_tsc);
	if (s->phase == WH_PHASE_RUNNING) {
		work += wh_host_trans(s, now_tsc);
		work += wh_send_trans_stat(s, now_tsc);
	}
	return work + wh_release_poll(s, now_tsc);
}

static int32_t poll_receiver(struct wh_session *s, uint64_t now_tsc)
{
	int32_t work = wh_get_trans_stat(s, now_tsc);

	if (s->phase == WH_PHASE_RUNNING) {
		work += wh_host_rcv(s, now_tsc);
		work += wh_send_rcv_stat(s, now_tsc);
	}
	return work + wh_release_poll(s, now_tsc);
}

int32_t wh_session_poll(struct wh_session *s, uint64_t now_tsc)
{
	if (s->phase == WH_PHASE_CLOSED)
		return 0;
	return s->role == WH_TRANSMITTER ? poll_transmitter(s, now_tsc) : poll_receiver(s, now_tsc);
}

uint32_t wh_session_output(
	struct wh_session *s, uint64_t now_tsc, struct wh_out *out, uint32_t count)
{
	return wh_trans(s, now_tsc, out, count);
}

static uint64_t transmitter_deadline(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;
	uint64_t deadline_tsc = wh_min_u64(tx->next_tick_tsc, tx->next_trans_state_tsc);
	bool data_waits = wh_fifo_count(&tx->fresh) > 0 || wh_fifo_count(&tx->again) > 0;

	if (s->phase == WH_PHASE_OPENING)
		return s->next_open_tsc;
	if (!tx->state_seen)
		deadline_tsc = wh_min_u64(deadline_tsc, s->next_open_tsc);
	if (tx->end_seen && tx->sent_end == tx->table.admitted_end && !tx->peer_silent)
		deadline_tsc = wh_min_u64(deadline_tsc, s->next_release_tsc);
	if (data_waits && !tx->peer_silent)
		deadline_tsc = wh_min_u64(deadline_tsc, tx->pacer.due_tsc);
	return deadline_tsc;
}

static uint64_t receiver_deadline(const struct wh_session *s)
{
	const struct wh_receiver *rx = &s->rx;
	uint64_t nak_tsc = wh_loss_list_due_tsc(&rx->losses, wh_rtt_get(&s->rtt));

	return wh_min_u64(rx->next_state_tsc, wh_max_u64(nak_tsc, rx->next_nak_tsc));
}

uint64_t wh_session_deadline(const struct wh_session *s)
{
	if (wh_slot_fifo_count(&s->outbox) > 0)
		return 0;
	if (s->phase == WH_PHASE_CLOSED)
		return WH_TSC_NEVER;
	if (s->phase == WH_PHASE_RELEASING)
		return s->next_release_tsc;
	return s->role == WH_TRANSMITTER ? transmitter_deadline(s) : receiver_deadline(s);
}

/* An exact-size ring has twice the slots of its elements. */
static uint64_t fifo_bytes(uint32_t count, uint64_t element_bytes)
{
	return 2 * count * element_bytes;
}

uint64_t wh_session_table_bytes(enum wh_role role, uint32_t window_pkts, uint32_t chunks)
{
	uint32_t chunk_slots = rte_align32pow2(chunks + 1);
	uint64_t bytes = sizeof(struct wh_session) + chunks * sizeof(struct wh_chunk) +
			 fifo_bytes(WH_INBOX_SLOTS, sizeof(struct wh_packet)) +
			 fifo_bytes(WH_OUTBOX_SLOTS, WH_CONTROL_BYTES_MAX) +
			 3 * fifo_bytes(chunk_slots, sizeof(uint64_t)) + window_pkts / 8;

	if (role == WH_TRANSMITTER)
		return bytes + window_pkts * sizeof(struct wh_sent_record) + window_pkts / 8 +
		       fifo_bytes(window_pkts, sizeof(uint64_t)) +
		       chunks * sizeof(struct wh_tx_chunk);
	return bytes + wh_loss_list_bytes(window_pkts) + chunks * sizeof(struct wh_rx_chunk);
}
