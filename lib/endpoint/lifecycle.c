/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/lifecycle.h"

#include <stdlib.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "base/prng.h"
#include "endpoint/turn.h"
#include "session/apart/acks.h"
#include "track/alloc.h"

/* Shortest period accepted from the peer, which chooses it. */
#define PERIOD_US_LEAST 1000

/*
 * Reports whose ACK2 may still arrive. The maximum covers one report per 10 ms period over a round
 * trip of 2 s and more; the smallest windows keep fewer.
 */
#define ACK_HISTORY_MIN 64
#define ACK_HISTORY_MAX 512

/* As rings are sized: 2^n - 1 elements. */
static uint32_t fresh_count(uint32_t window_pkts)
{
	uint64_t slots = wh_max_u64(window_pkts, WH_CONTROL_MIN);

	return (uint32_t)wh_min_u64(slots, WH_FRESH_MAX) - 1;
}

static uint32_t ack_history(uint32_t window_pkts)
{
	return (uint32_t)wh_min_u64(wh_max_u64(window_pkts, ACK_HISTORY_MIN), ACK_HISTORY_MAX);
}

static uint32_t chunk_packets(const struct wh_session_config *config)
{
	return (config->chunk_bytes + config->payload_bytes - 1) / config->payload_bytes;
}

static uint32_t have_words(const struct wh_session_config *config)
{
	return (chunk_packets(config) + config->repair.repair_pkts + 63) / 64;
}

/* Chunks of this end and an end marker. */
static uint32_t chunk_slots(const struct wh_session_config *config)
{
	return config->chunks + 1;
}

/* Most chunks that are not settled; a chunk may be delivered before it is. */
static uint32_t spans(const struct wh_session_config *config)
{
	return 2 * config->chunks;
}

static void create_encoder(struct wh_encoder *encoder, const struct wh_session *s)
{
	const struct wh_session_config *config = &s->config;
	struct wh_fec_planner_config planner = config->repair.planner;

	if (config->repair.recovery == WH_RECOVERY_NAK || config->repair.fixed_r > 0)
		return;
	/* ttp.txt III A: the initial link loss rate, for which the first chunk is encoded. */
	if (s->feedback.bitmaps.n_pkts > 0)
		planner.initial_loss = s->feedback.bitmaps.initial_loss;
	wh_fec_planner_init(&encoder->planner, &planner);
}

static int create_transmitter(struct wh_session *s)
{
	struct wh_transmitter *tx = &s->tx;
	const struct wh_session_config *config = &s->config;
	struct wh_control_config control = {
		.hz = config->hz,
		.syn_tsc = s->period_tsc,
		.packet_bytes = config->packet_bytes,
		.wire_bytes = config->wire_bytes,
		.rate_bps = config->rate_bps,
		.line_bps = config->line_bps,
		.window_pkts_max = config->window_pkts,
		.options = config->options,
		.known = config->known,
	};

	tx->tx_chunk = calloc(config->chunks, sizeof(*tx->tx_chunk));
	if (tx->tx_chunk == NULL || wh_fifo_init(&tx->free, chunk_slots(config)) != 0 ||
		wh_fifo_init(&tx->ready, chunk_slots(config)) != 0 ||
		(wh_session_repairs(s) && wh_fifo_init(&tx->filled, chunk_slots(config)) != 0) ||
		wh_fifo_init(&tx->fresh, fresh_count(config->window_pkts)) != 0 ||
		wh_fifo_init(&tx->retransmits, config->window_pkts) != 0 ||
		wh_sent_table_init(&tx->table, config->window_pkts, s->params.first_pn) != 0)
		return -ENOMEM;
	if (s->feedback.round_trips) {
		tx->sent_tsc = wh_track_alloc(config->window_pkts, sizeof(*tx->sent_tsc));
		if (tx->sent_tsc == NULL)
			return -ENOMEM;
	}
	if (s->feedback.delivery && wh_delivery_init(s) != 0)
		return -ENOMEM;
	if (s->feedback.resend != WH_RESEND_ASKED && wh_sent_table_add_due(&tx->table) != 0)
		return -ENOMEM;
	if (wh_acks_may_be_apart(config)) {
		s->acks = wh_acks_create(config, s->params.first_pn);
		if (s->acks == NULL)
			return -ENOMEM;
	}

	for (uint32_t i = 0; i < config->chunks; i++)
		wh_fifo_push(&tx->free, &s->chunk[i]);
	create_encoder(&tx->encoder, s);
	if (s->feedback.bitmaps.n_pkts > 0)
		wh_bitmap_loss_init(&tx->bitmap_loss, s->params.first_pn,
			s->feedback.bitmaps.q_pkts, s->feedback.bitmaps.initial_loss);
	wh_pacer_init(&tx->pacer, 0, config->wire_bytes, config->burst_pkts);
	wh_control_init(&tx->control, config->profile, &control);
	atomic_init(&s->wanted_bps, config->rate_bps);
	atomic_init(&s->rate_bps, config->rate_bps);
	atomic_init(&s->reader_limit, WH_LIMIT_DISK);
	for (uint32_t i = 0; i < WH_OPTIONS_MAX; i++)
		atomic_init(&s->option[i], config->options.value[i]);
	wh_session_decide(s);
	tx->sent_end = s->params.first_pn;
	tx->told_upper = tx->sent_end;
	return 0;
}

static int create_mending(struct wh_receiver *rx, const struct wh_session_config *config)
{
	rx->spans = spans(config);
	rx->span = calloc(rx->spans, sizeof(*rx->span));
	if (rx->span == NULL || wh_fifo_init(&rx->decode, config->chunks) != 0 ||
		wh_fifo_init(&rx->decoded, config->chunks) != 0)
		return -ENOMEM;
	return 0;
}

static void create_bitmaps(
	struct wh_receiver *rx, const struct wh_bitmap_rules *rules, uint64_t first_pn)
{
	wh_arrived_bitmap_init(
		&rx->arrived_bitmap, first_pn, rules->n_pkts, rules->stretch, rules->stretch_max);
	wh_bitmap_loss_init(&rx->bitmap_loss, first_pn, rules->q_pkts, rules->initial_loss);
}

static int create_skew(struct wh_receiver *rx, uint64_t hz)
{
	rx->skew = calloc(1, sizeof(*rx->skew));
	if (rx->skew == NULL)
		return -ENOMEM;
	wh_skew_init(rx->skew, hz, hz / WH_US_PER_S);
	return 0;
}

static int create_receiver(struct wh_session *s, uint64_t now_tsc)
{
	struct wh_receiver *rx = &s->rx;
	const struct wh_session_config *config = &s->config;

	rx->have_words = have_words(config);
	rx->ack_history = ack_history(config->window_pkts);
	rx->rx_chunk = calloc(config->chunks, sizeof(*rx->rx_chunk));
	rx->have_bits = calloc((size_t)config->chunks * rx->have_words, sizeof(uint64_t));
	rx->spare = calloc(config->chunks, sizeof(struct wh_chunk *));
	rx->ack_sample = calloc(rx->ack_history, sizeof(*rx->ack_sample));
	if (rx->rx_chunk == NULL || rx->have_bits == NULL || rx->spare == NULL ||
		rx->ack_sample == NULL || wh_fifo_init(&rx->arrived, config->chunks) != 0 ||
		wh_fifo_init(&rx->deliver, chunk_slots(config)) != 0 ||
		wh_fifo_init(&rx->recycled, config->chunks) != 0 ||
		wh_loss_list_init(&rx->losses, config->window_pkts) != 0 ||
		wh_recv_table_init(&rx->table, config->window_pkts, s->params.first_pn) != 0)
		return -ENOMEM;

	if (wh_session_repairs(s) && create_mending(rx, config) != 0)
		return -ENOMEM;
	rx->settle_pn = s->params.first_pn;
	if (config->books_apart && !wh_session_repairs(s)) {
		s->landing = wh_landing_create(config, s->params.first_pn);
		if (s->landing == NULL)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < config->chunks; i++)
		wh_host_rcv_give_back(s, &s->chunk[config->chunks - 1 - i]);
	wh_arrival_init(&rx->arrival, config->hz);
	wh_pair_init(&rx->pair, config->hz);
	wh_trend_init(&rx->trend);
	if (s->feedback.trend_one_way && create_skew(rx, config->hz) != 0)
		return -ENOMEM;
	if (s->feedback.bitmaps.n_pkts > 0)
		create_bitmaps(rx, &s->feedback.bitmaps, s->params.first_pn);
	rx->next_report_tsc = now_tsc;
	rx->next_nak_tsc = now_tsc;
	rx->last_report_tsc = now_tsc;
	rx->period_began_tsc = now_tsc;
	rx->progress_tsc = now_tsc;
	rx->cover_cursor = s->params.first_pn;
	rx->pair_first_pn = WH_PN_MAX; /* no packet follows that one */
	rx->previous_trans_upper = s->params.first_pn;
	rx->told_recycled = UINT64_MAX; /* nothing sent yet: the first report is news */
	return 0;
}

static void check_config(
	const struct wh_session_config *config, const struct wh_open_params *params)
{
	WH_ASSERT(config->profile != NULL && config->chunks > 0);
	WH_ASSERT(config->chunks <= UINT16_MAX); /* slots in the sender's table */
	WH_ASSERT(config->chunk_bytes % WH_CHUNK_ALIGN == 0);
	WH_ASSERT(config->window_pkts >= WH_WINDOW_PACKETS_MIN);
	WH_ASSERT(config->payload_bytes == params->payload_bytes);
	WH_ASSERT(config->chunk_bytes == params->chunk_bytes);
	WH_ASSERT(config->window_pkts == params->window_pkts);
	WH_ASSERT(!config->payload_virtual ||
		  (config->chunk_memory == NULL && config->attach_bytes == 0));
	WH_ASSERT(config->repair.recovery == params->recovery);
	WH_ASSERT(config->repair.repair_pkts == params->repair_pkts);
}

static struct wh_session *create(const struct wh_session_config *config, enum wh_role role,
	uint64_t now_tsc, const struct wh_address *peer, const struct wh_open_params *params)
{
	struct wh_session *s = wh_track_alloc(1, sizeof(*s));

	check_config(config, params);
	if (s == NULL)
		return NULL;
	s->config = *config;
	s->feedback = wh_profile_feedback(config->profile, &config->options);
	s->role = role;
	s->peer.at[0] = *peer;
	s->params = *params;
	s->chunk_packets = chunk_packets(config);
	s->period_tsc = wh_us_to_tsc(config->hz, wh_max_u64(params->period_us, PERIOD_US_LEAST));
	s->peer_timeout_tsc = wh_ns_to_tsc(config->hz, config->peer_timeout_ns);
	__atomic_store_n(&s->last_heard_tsc, now_tsc, __ATOMIC_RELAXED);
	s->next_release_tsc = now_tsc;
	s->open_repeat_tsc = wh_session_ms_tsc(s, WH_OPEN_REPEAT_MS);
	wh_ration_init(s);

	s->chunk = calloc(config->chunks, sizeof(*s->chunk));
	if (s->chunk == NULL || wh_boxes_init(s) != 0)
		goto no_memory;
	for (uint32_t i = 0; i < config->chunks; i++) {
		if (!config->payload_virtual)
			s->chunk[i].data =
				config->chunk_memory + i * wh_session_chunk_stride(config);
		s->chunk[i].slot = i;
	}
	if ((role == WH_TRANSMITTER ? create_transmitter(s) : create_receiver(s, now_tsc)) != 0)
		goto no_memory;
	return s;

no_memory:
	wh_session_destroy(s);
	return NULL;
}

struct wh_session *wh_session_open(const struct wh_session_config *config,
	const struct wh_address *peer, const char *name, uint64_t object_bytes)
{
	struct wh_prng prng;
	struct wh_open_params params = {
		.profile = config->profile->number,
		.payload_bytes = (uint16_t)config->payload_bytes,
		.chunk_bytes = config->chunk_bytes,
		.window_pkts = config->window_pkts,
		.period_us = wh_profile_feedback(config->profile, &config->options).period_us,
		.object_bytes = object_bytes,
		.recovery = (uint8_t)config->repair.recovery,
		.repair_pkts = (uint16_t)config->repair.repair_pkts,
		.name_bytes = (uint8_t)strlen(name),
	};

	WH_ASSERT(strlen(name) <= WH_NAME_BYTES_MAX);
	WH_ASSERT(object_bytes == WH_OBJECT_BYTES_UNKNOWN ||
		  object_bytes / config->chunk_bytes <= WH_CHUNK_NUMBER_MAX);
	memcpy(params.name, name, params.name_bytes);
	params.n_options =
		(uint8_t)wh_profile_options_tell(&config->options, config->profile, params.options);
	/* Any allowed value: no code may rely on a start at 0. */
	wh_prng_init(&prng, config->seed);
	params.first_pn = wh_prng_below(&prng, WH_FIRST_PN_MAX);

	struct wh_session *s = create(config, WH_TRANSMITTER, 0, peer, &params);

	if (s == NULL)
		return NULL;
	wh_rtt_init(&s->rtt, wh_ns_to_tsc(config->hz, config->initial_rtt_ns));
	wh_retransmit_begin(s);
	if (config->sa == NULL || wh_sealing_alloc(s, config->sa) == 0)
		return s;
	wh_session_destroy(s);
	return NULL;
}

struct wh_session *wh_session_accept(const struct wh_session_config *config, uint64_t now_tsc,
	uint32_t local_cid, const struct wh_address *peer, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct wh_session_config told = *config;

	WH_ASSERT(local_cid != 0);
	if (!wh_profile_options_hear(
		    &told.options, config->profile, params->options, params->n_options))
		return NULL;

	struct wh_session *s = create(&told, WH_RECEIVER, now_tsc, peer, params);

	if (s == NULL)
		return NULL;
	/* A cookie's age may round to 0; with an RTT of 0 a loss would be due again at once. */
	wh_rtt_init(&s->rtt, wh_max_u64(rtt_tsc, 1));
	if (s->feedback.delivery)
		wh_delivery_begin(s);
	s->opened_tsc = now_tsc;
	s->local_cid = local_cid;
	s->peer_cid = params->initiator_cid;
	wh_session_begin_send_seal(s, params->initiator_token);
	wh_session_heard(s, 2 * WH_HEAD_BYTES); /* OPEN and CONFIRM */
	s->phase = WH_PHASE_RUNNING;
	if (s->landing != NULL)
		wh_landing_open(s);
	wh_session_publish(s);
	return s;
}

void wh_session_reply_to(struct wh_session *reply, const struct wh_session *to)
{
	WH_ASSERT(
		reply->role == WH_TRANSMITTER && reply->local_cid == 0 && to->role == WH_RECEIVER);
	reply->offer = (struct wh_sa_offer){
		.offered.cid = to->params.reply_cid,
		.rtt_us = (uint32_t)wh_tsc_to_us(to->config.hz, wh_session_rtt_tsc(to)),
		.came_us = wh_tsc_to_us(to->config.hz, to->opened_tsc),
	};
	memcpy(reply->offer.offered.cookie, to->params.reply_cookie, WH_COOKIE_BYTES);
}

static void destroy_transmitter(struct wh_transmitter *tx)
{
	wh_fifo_free(&tx->free);
	wh_fifo_free(&tx->ready);
	wh_fifo_free(&tx->filled);
	wh_fifo_free(&tx->fresh);
	wh_fifo_free(&tx->retransmits);
	wh_sent_table_free(&tx->table);
	wh_track_free(tx->sent_tsc);
	free(tx->delivery);
	free(tx->tx_chunk);
}

static void destroy_receiver(struct wh_receiver *rx)
{
	wh_fifo_free(&rx->arrived);
	wh_fifo_free(&rx->deliver);
	wh_fifo_free(&rx->recycled);
	wh_fifo_free(&rx->decode);
	wh_fifo_free(&rx->decoded);
	free(rx->span);
	wh_loss_list_free(&rx->losses);
	wh_recv_table_free(&rx->table);
	free(rx->rx_chunk);
	free(rx->have_bits);
	free(rx->spare);
	free(rx->ack_sample);
	free(rx->skew);
}

void wh_session_destroy(struct wh_session *s)
{
	if (s == NULL)
		return;
	wh_sealing_end(s);
	wh_landing_destroy(s->landing);
	wh_acks_destroy(s->acks);
	if (s->role == WH_TRANSMITTER)
		destroy_transmitter(&s->tx);
	else
		destroy_receiver(&s->rx);
	wh_slot_fifo_free(&s->inbox);
	wh_slot_fifo_free(&s->outbox);
	free(s->chunk);
	wh_track_free(s);
}

static void input_data(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	struct wh_rx_slot rx_slot;

	wh_session_place(s, packet, &rx_slot);
	if (rx_slot.to != NULL)
		memcpy(rx_slot.to, packet->payload, packet->data.payload_bytes);
	wh_session_take(&rx_slot, now_tsc, arrived_tsc);
}

void wh_session_input(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet)
{
	WH_DEBUG_ASSERT(packet->cid == s->local_cid && arrived_tsc <= now_tsc);
	if (packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR) {
		input_data(s, now_tsc, arrived_tsc, packet);
		return;
	}
	if (s->role == WH_RECEIVER && s->landing == NULL)
		wh_dispatch_heard(s, now_tsc, packet);
	wh_boxes_put(s, wh_session_rx_stats(s), arrived_tsc, packet);
}

/* Nothing outstanding, nothing to send, and the stream has not ended: only heartbeats are sent. */
static bool is_idle(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;

	return s->phase == WH_PHASE_RUNNING && tx->report_seen && !tx->end_seen &&
	       tx->open_chunk == NULL && wh_sent_table_unacked(&tx->table) == 0 &&
	       !wh_session_data_waits(tx) && wh_fifo_count(&tx->ready) == 0;
}

static int32_t poll_transmitter(struct wh_session *s, uint64_t now_tsc)
{
	uint8_t before = wh_meter_enter(s->meter, WH_METER_GET_RCV_STAT);

	if (s->tx.idle)
		s->tx.busy_since_tsc = now_tsc;
	/* For some turns no data could be sent: the pacer must not catch up. */
	if (s->tx.paused)
		wh_pacer_idle(&s->tx.pacer, now_tsc);

	int32_t work = wh_dispatch(s, now_tsc);

	if (s->acks != NULL)
		work += wh_acks_free_chunks(s);
	work += wh_get_rcv_stat(s, now_tsc);

	wh_meter_enter(s->meter, WH_METER_OPENING);
	work += wh_connect_poll(s, now_tsc);
	if (s->phase == WH_PHASE_RUNNING) {
		wh_meter_enter(s->meter, WH_METER_HOST_TRANS);
		work += wh_host_trans(s, now_tsc);
		work += wh_prelude_poll(s, now_tsc);
		wh_meter_enter(s->meter, WH_METER_SEND_TRANS_STAT);
		work += wh_missing_poll(s, now_tsc);
		work += wh_send_trans_stat(s, now_tsc, wh_session_is_doubted(s));
	}
	wh_meter_enter(s->meter, WH_METER_OPENING);
	work += wh_release_poll(s, now_tsc);
	s->tx.idle = is_idle(s);
	wh_meter_leave(s->meter, before);
	return work;
}

static int32_t poll_receiver(struct wh_session *s, uint64_t now_tsc)
{
	uint8_t before = wh_meter_enter(s->meter, WH_METER_GET_TRANS_STAT);

	s->rx.step++;

	int32_t work = s->landing != NULL ? wh_rcv_book(s, now_tsc) : 0;

	work += wh_dispatch(s, now_tsc);
	wh_get_trans_stat(s, now_tsc);

	if (s->phase == WH_PHASE_RUNNING) {
		wh_meter_enter(s->meter, WH_METER_HOST_RCV);
		work += wh_host_rcv(s, now_tsc);
		wh_ration_grant(s, now_tsc);
		if (s->landing != NULL)
			wh_landing_open(s);
		wh_meter_enter(s->meter, WH_METER_SEND_RCV_STAT);
		work += wh_send_rcv_stat(s, now_tsc);
	}
	wh_meter_enter(s->meter, WH_METER_OPENING);
	work += wh_release_poll(s, now_tsc);
	wh_meter_leave(s->meter, before);
	return work;
}

int32_t wh_session_poll(struct wh_session *s, uint64_t now_tsc)
{
	int32_t work = wh_session_grant(s, now_tsc);

	if (unlikely(s->sa != NULL && wh_sa_is_revoked(s->sa)))
		wh_session_abort(s, now_tsc, WH_STATUS_REVOKED);
	if (s->phase != WH_PHASE_CLOSED)
		work += s->role == WH_TRANSMITTER ? poll_transmitter(s, now_tsc)
						  : poll_receiver(s, now_tsc);
	if (unlikely(wh_session_is_doubted(s)))
		wh_doubt_poll(s, now_tsc);
	wh_session_publish(s);
	return work;
}

uint32_t wh_session_output(
	struct wh_session *s, uint64_t now_tsc, struct wh_out *out, uint32_t count)
{
	return wh_trans(s, now_tsc, out, count);
}

/* When the peer timeout has just passed. */
static uint64_t patience_ends_tsc(const struct wh_session *s)
{
	return wh_add_u64(wh_add_u64(s->last_heard_tsc, s->peer_timeout_tsc), 1);
}

static uint64_t transmitter_deadline(const struct wh_session *s)
{
	const struct wh_transmitter *tx = &s->tx;
	uint64_t deadline_tsc = wh_min_u64(tx->next_trans_report_tsc, patience_ends_tsc(s));

	if (s->phase == WH_PHASE_OPENING)
		return s->next_open_tsc;
	if (!tx->idle)
		deadline_tsc = wh_min_u64(deadline_tsc, tx->next_tick_tsc);
	if (!tx->report_seen)
		deadline_tsc = wh_min_u64(deadline_tsc, s->next_open_tsc);
	if (tx->end_seen && tx->sent_end == tx->table.admitted_end && !tx->peer_silent)
		deadline_tsc = wh_min_u64(deadline_tsc, s->next_release_tsc);
	deadline_tsc = wh_min_u64(deadline_tsc, wh_retransmit_deadline(s));
	deadline_tsc = wh_min_u64(deadline_tsc, wh_missing_deadline(s));
	if (wh_session_data_waits(tx) && !tx->peer_silent) {
		uint64_t paced_tsc = tx->late.probe_waits ? 0 : wh_pacer_next_tsc(&tx->pacer);

		deadline_tsc =
			wh_min_u64(deadline_tsc, wh_max_u64(paced_tsc, wh_ration_next_tsc(s)));
	}
	return wh_min_u64(deadline_tsc, wh_prelude_deadline(s));
}

static uint64_t receiver_deadline(const struct wh_session *s)
{
	const struct wh_receiver *rx = &s->rx;
	uint64_t nak_tsc = wh_loss_list_due_tsc(&rx->losses, wh_rtt_get(&s->rtt));
	uint64_t say_tsc = rx->next_report_tsc;

	if (s->feedback.resend == WH_RESEND_ASKED)
		say_tsc = wh_min_u64(say_tsc, wh_max_u64(nak_tsc, rx->next_nak_tsc));

	if (wh_session_repairs(s))
		say_tsc = wh_min_u64(say_tsc, wh_settle_deadline(s));
	say_tsc = wh_min_u64(say_tsc, wh_ration_deadline(s));
	return wh_min_u64(say_tsc, patience_ends_tsc(s));
}

uint64_t wh_session_deadline(const struct wh_session *s)
{
	/* A receiver's packets are sent by another core, which is kicked for them. */
	if (s->role == WH_TRANSMITTER && wh_slot_fifo_count(&s->outbox) > 0)
		return 0;
	/* A closing session leaves as soon as the TX core has sent its last packets. */
	if (s->phase == WH_PHASE_CLOSED)
		return s->closing ? 0 : WH_TSC_NEVER;
	if (s->phase == WH_PHASE_RELEASING)
		return wh_min_u64(wh_doubt_deadline(s), s->next_release_tsc);
	return wh_min_u64(wh_doubt_deadline(s),
		s->role == WH_TRANSMITTER ? transmitter_deadline(s) : receiver_deadline(s));
}

static uint64_t transmitter_bytes(const struct wh_session_config *config)
{
	uint32_t chunk_fifos = config->repair.recovery == WH_RECOVERY_NAK ? 2 : 3;
	struct wh_feedback feedback = wh_profile_feedback(config->profile, &config->options);
	uint64_t times_bytes =
		feedback.round_trips ? wh_track_bytes(config->window_pkts, sizeof(uint64_t)) : 0;
	uint64_t delivery_bytes = feedback.delivery ? sizeof(struct wh_delivery) : 0;
	uint64_t acks_bytes = wh_acks_may_be_apart(config) ? wh_acks_bytes(config) : 0;

	return times_bytes + delivery_bytes + acks_bytes +
	       config->chunks * sizeof(struct wh_tx_chunk) +
	       chunk_fifos * wh_fifo_bytes(chunk_slots(config)) +
	       wh_fifo_bytes(fresh_count(config->window_pkts)) +
	       wh_fifo_bytes(config->window_pkts) + wh_sent_table_bytes(config->window_pkts) +
	       (feedback.resend != WH_RESEND_ASKED ? wh_sent_table_due_bytes(config->window_pkts)
						   : 0);
}

static uint64_t receiver_bytes(const struct wh_session_config *config)
{
	uint64_t per_chunk = sizeof(struct wh_rx_chunk) + have_words(config) * sizeof(uint64_t) +
			     sizeof(struct wh_chunk *);

	uint64_t mending = config->repair.recovery == WH_RECOVERY_NAK
				   ? 0
				   : spans(config) * sizeof(struct wh_span) +
					     2 * wh_fifo_bytes(config->chunks);

	uint64_t skew = wh_profile_feedback(config->profile, &config->options).trend_one_way
				? sizeof(struct wh_skew)
				: 0;

	uint64_t landing = config->books_apart && config->repair.recovery == WH_RECOVERY_NAK
				   ? wh_landing_bytes(config)
				   : 0;

	return config->chunks * per_chunk + mending + skew + landing +
	       ack_history(config->window_pkts) * sizeof(struct wh_ack_sample) +
	       2 * wh_fifo_bytes(config->chunks) + wh_fifo_bytes(chunk_slots(config)) +
	       wh_loss_list_bytes(config->window_pkts) + wh_recv_table_bytes(config->window_pkts);
}

uint64_t wh_session_table_bytes(enum wh_role role, const struct wh_session_config *config)
{
	uint64_t both = wh_track_bytes(1, sizeof(struct wh_session)) +
			config->chunks * sizeof(struct wh_chunk) +
			wh_boxes_bytes(config->window_pkts);

	return both + (role == WH_TRANSMITTER ? transmitter_bytes(config) : receiver_bytes(config));
}
