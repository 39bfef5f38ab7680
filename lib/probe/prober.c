/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/prober.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe_internal.h"

/* Answers between the two cores, 2^n - 1. */
#define INBOX_PKTS 255

/* Pause before the first question is repeated. */
#define ASK_AGAIN_NS UINT64_C(100000000)

/* Room in the question for the two words of a cookie in the answer. */
#define ASK_PADDING_BYTES 16

#define BITS_PER_BYTE 8

/* Memory for the seals of both directions. */
#define KEYS_BYTES (2 * WH_SEAL_RAW_BYTES)

const char *wh_prober_stage_name(enum wh_prober_stage stage)
{
	static const char *const names[WH_PROBER_STAGES] = {
		[WH_PROBER_ASK] = "ask",
		[WH_PROBER_ECHO] = "echo",
		[WH_PROBER_SIZE] = "size",
		[WH_PROBER_PAIRS_STAGE] = "pairs",
		[WH_PROBER_GROW] = "grow",
		[WH_PROBER_REPEAT] = "repeat",
		[WH_PROBER_WHOLE] = "whole",
		[WH_PROBER_STEADY] = "steady",
		[WH_PROBER_OVER] = "over",
	};

	WH_ASSERT(stage < WH_PROBER_STAGES);
	return names[stage];
}

const char *wh_prober_end_name(enum wh_prober_end end)
{
	static const char *const names[WH_PROBER_ENDS] = {
		[WH_PROBER_RUNNING] = "running",
		[WH_PROBER_DONE] = "done",
		[WH_PROBER_NO_ANSWER] = "no-answer",
		[WH_PROBER_REFUSED] = "refused",
		[WH_PROBER_SILENT] = "silent",
		[WH_PROBER_CONTRADICTS] = "contradicts",
		[WH_PROBER_BOUND] = "bound",
		[WH_PROBER_STOPPED] = "stopped",
	};

	WH_ASSERT(end < WH_PROBER_ENDS);
	return names[end];
}

int wh_prober_init(struct wh_prober *prober, const struct wh_prober_config *config)
{
	WH_ASSERT(config->hz > 0 && config->duration_ns > 0 && config->patience_ns > 0);
	WH_ASSERT(config->packet_bytes >= WH_PROBER_PACKET_MIN &&
		  config->packet_bytes <= WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX);
	WH_ASSERT(config->train_pkts >= WH_PROBER_TRAIN_MIN &&
		  config->train_pkts <= WH_PROBER_TRAIN_MAX);
	*prober = (struct wh_prober){
		.config = *config,
		.arrival = calloc(WH_PROBE_PKTS_MAX, sizeof(prober->arrival[0])),
		.findings = {.shown = calloc(WH_PROBE_PKTS_MAX, sizeof(prober->arrival[0]))},
		.ask_due = true,
		.full_bytes = config->packet_bytes,
	};
	wh_replay_init(&prober->window, prober->window_bits, WH_PROBER_WINDOW_PKTS);
	if (config->sa != NULL)
		prober->keys = wh_secret_alloc(KEYS_BYTES);
	if (prober->arrival != NULL && prober->findings.shown != NULL &&
		(config->sa == NULL || prober->keys != NULL) &&
		wh_slot_fifo_init(&prober->inbox, INBOX_PKTS, WH_CONTROL_BYTES_MAX) == 0)
		return 0;
	wh_prober_free(prober);
	return -ENOMEM;
}

void wh_prober_free(struct wh_prober *prober)
{
	wh_seal_end(&prober->seal);
	wh_seal_end(&prober->answer_seal);
	wh_secret_free(prober->keys, KEYS_BYTES);
	prober->keys = NULL;
	wh_slot_fifo_free(&prober->inbox);
	free(prober->arrival);
	free(prober->findings.shown);
	prober->arrival = prober->findings.shown = NULL;
}

/* Every stage at its longest, and each question asked twice. */
void wh_prober_bounds(const struct wh_prober_config *config, struct wh_prober_bounds *bounds)
{
	uint64_t train_pkts = config->train_pkts;
	/*
	 * Growing takes less than twice the longest train; then two repeats, and one verification.
	 */
	uint64_t of_trains = 5 * train_pkts + 2 * WH_PROBER_PAIRS + WH_PROBER_STEADY_PKTS;
	uint64_t sizes = 3 * 16;
	uint64_t questions = 2 * (of_trains / WH_PROBE_WORDS_MAX + 32);
	uint64_t full_bytes = config->packet_bytes + config->ip_udp_bytes + config->link_bytes;

	*bounds = (struct wh_prober_bounds){
		.pkts = of_trains + sizes + questions + WH_PROBER_ECHOES + 32,
		.train_pkts = config->train_pkts,
		.duration_ns = config->duration_ns,
	};
	bounds->bytes = bounds->pkts * full_bytes;
}

void wh_prober_input(struct wh_prober *prober, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from)
{
	struct wh_slot *slot;

	if (length > WH_CONTROL_BYTES_MAX || !wh_address_equal(from, &prober->config.peer))
		return;
	slot = wh_slot_fifo_reserve(&prober->inbox);
	if (slot == NULL)
		return; /* lost, as it might be on the path */
	slot->when_tsc = arrived_tsc;
	slot->bytes = (uint32_t)length;
	memcpy(slot->data, bytes, length);
	wh_slot_fifo_commit(&prober->inbox);
}

/* The peer allows the probe: takes the cookie and the token. */
static void take_welcome(
	struct wh_prober *prober, uint64_t now_tsc, const struct wh_probe_answer *answer)
{
	const struct wh_sa *sa = prober->config.sa;

	if (answer->status != WH_STATUS_PENDING) {
		prober->findings.refused = (enum wh_release_status)answer->status;
		wh_prober_finish(prober, now_tsc, WH_PROBER_REFUSED);
		return;
	}
	if (answer->n_words != 2 || answer->words[0] == 0 || answer->total < WH_PROBER_TRAIN_MIN) {
		wh_prober_finish(prober, now_tsc, WH_PROBER_CONTRADICTS);
		return;
	}
	prober->made_us = answer->words[0];
	prober->room_pkts = answer->total;
	prober->rtt_tsc = now_tsc - prober->asked_tsc;
	if (sa != NULL)
		wh_sa_log_key(sa, false, prober->config.token, "probe", 0);
	if (!wh_sa_begin_seals(
		    sa, answer->words[1], &prober->seal, &prober->answer_seal, prober->keys)) {
		wh_prober_finish(prober, now_tsc, WH_PROBER_SILENT);
		return;
	}
	wh_prober_begin_stage(prober, now_tsc, WH_PROBER_ECHO);
}

/* The answer to the first question is sealed about our token. */
static bool open_answer(const struct wh_prober *prober, bool asked, struct wh_slot *slot)
{
	struct wh_seal seal;

	if (!asked)
		return wh_seal_open_packet(&prober->answer_seal, slot->data, slot->bytes) ==
		       WH_WIRE_OK;
	if (prober->config.sa != NULL)
		return wh_sa_open(prober->config.sa, prober->config.token, slot->data, slot->bytes);
	wh_seal_begin_checksum(&seal, prober->config.token);
	return wh_seal_open_packet(&seal, slot->data, slot->bytes) == WH_WIRE_OK;
}

static void take_answer(struct wh_prober *prober, uint64_t now_tsc, struct wh_slot *slot)
{
	struct wh_packet packet;

	if (wh_packet_peek(slot->data, slot->bytes, &packet) != WH_WIRE_OK ||
		packet.type != WH_PACKET_PROBE_ANSWER ||
		(packet.flags == WH_FLAG_ASK) != (prober->stage == WH_PROBER_ASK))
		return;
	if (!open_answer(prober, packet.flags == WH_FLAG_ASK, slot) ||
		wh_packet_read(slot->data, slot->bytes, &packet) != WH_WIRE_OK ||
		(prober->config.sa != NULL && !wh_replay_take(&prober->window, packet.pn)))
		return;

	const struct wh_probe_answer *answer = &packet.probe_answer;

	prober->heard_tsc = now_tsc;
	if (packet.flags == WH_FLAG_ASK) {
		take_welcome(prober, now_tsc, answer);
	} else if (answer->status != WH_STATUS_PENDING) {
		prober->findings.refused = (enum wh_release_status)answer->status;
		wh_prober_finish(prober, now_tsc, WH_PROBER_REFUSED);
	} else if (packet.flags == WH_FLAG_ECHO) {
		wh_prober_echo_answer(prober, now_tsc, slot->when_tsc, answer);
	} else if (wh_prober_fetch_answer(prober, now_tsc, answer)) {
		wh_prober_conclude_train(prober, now_tsc);
	}
}

static int32_t take_answers(struct wh_prober *prober, uint64_t now_tsc)
{
	int32_t taken = 0;
	struct wh_slot *slot;

	while ((slot = wh_slot_fifo_peek(&prober->inbox)) != NULL) {
		if (prober->stage != WH_PROBER_OVER)
			take_answer(prober, now_tsc, slot);
		wh_slot_fifo_release(&prober->inbox);
		taken++;
	}
	return taken;
}

static bool is_beyond_bounds(const struct wh_prober *prober, uint64_t now_tsc)
{
	struct wh_prober_bounds bounds;

	wh_prober_bounds(&prober->config, &bounds);
	return prober->findings.sent_pkts >= bounds.pkts ||
	       now_tsc - prober->begun_tsc > wh_ns_to_tsc(prober->config.hz, bounds.duration_ns);
}

static void watch(struct wh_prober *prober, uint64_t now_tsc)
{
	uint64_t patience_tsc = wh_ns_to_tsc(prober->config.hz, prober->config.patience_ns);

	if (atomic_load(&prober->wish_to_stop) != 0)
		wh_prober_finish(prober, now_tsc, WH_PROBER_STOPPED);
	else if (now_tsc - prober->heard_tsc > patience_tsc &&
		 prober->run.sent == prober->run.count)
		wh_prober_finish(prober, now_tsc,
			prober->stage == WH_PROBER_ASK ? WH_PROBER_NO_ANSWER : WH_PROBER_SILENT);
	else if (is_beyond_bounds(prober, now_tsc))
		wh_prober_finish(prober, now_tsc, WH_PROBER_BOUND);
}

int32_t wh_prober_poll(struct wh_prober *prober, uint64_t now_tsc)
{
	if (prober->begun_tsc == 0)
		prober->begun_tsc = prober->heard_tsc = now_tsc;

	int32_t work = take_answers(prober, now_tsc);

	if (prober->stage == WH_PROBER_OVER)
		return work;
	watch(prober, now_tsc);
	if (prober->stage == WH_PROBER_ASK && now_tsc >= prober->again_tsc)
		prober->ask_due = true;
	else if (prober->fetch.active)
		wh_prober_fetch_poll(prober, now_tsc);
	else if (prober->stage != WH_PROBER_ASK && prober->stage != WH_PROBER_OVER)
		wh_prober_stage_poll(prober, now_tsc);
	return work;
}

/* When the next packet of the run is due, exact to a fraction of a cycle. */
static uint64_t run_due_tsc(const struct wh_prober *prober)
{
	const struct wh_prober_run *run = &prober->run;
	uint64_t due_tsc = run->begun_tsc + run->sent / run->group * run->gap_tsc;
	uint64_t bits = (uint64_t)(run->sent % run->group) * BITS_PER_BYTE *
			wh_prober_wire_bytes(prober, run->packet_bytes);

	if (prober->config.line_bps > 0)
		due_tsc += wh_muldiv_u64(bits, prober->config.hz, prober->config.line_bps);
	return due_tsc;
}

static bool next_of_run(struct wh_prober *prober, uint64_t now_tsc, struct wh_packet *packet)
{
	struct wh_prober_run *run = &prober->run;

	if (run->sent == run->count || now_tsc < run_due_tsc(prober))
		return false;
	packet->flags = run->flags;
	packet->probe = (struct wh_probe){
		.index = run->sent,
		.count = run->count,
		.padding_bytes = (uint16_t)(run->packet_bytes - WH_HEAD_BYTES),
		.train = run->number,
	};
	if (run->sent == 0)
		run->first_sent_tsc = now_tsc;
	run->last_sent_tsc = now_tsc;
	if (run->flags == WH_FLAG_ECHO)
		prober->echo_sent_tsc[run->sent] = now_tsc;
	run->sent++;
	return true;
}

static bool next_question(struct wh_prober *prober, uint64_t now_tsc, struct wh_packet *packet)
{
	packet->flags = WH_FLAG_FETCH;
	packet->probe = (struct wh_probe){
		.padding_bytes = (uint16_t)(prober->fetch.words * sizeof(uint64_t)),
		.train = prober->run.number,
		.count = WH_PROBE_PKTS_MAX,
	};
	return wh_prober_fetch_question(prober, now_tsc, &packet->probe);
}

static bool next_ask(struct wh_prober *prober, uint64_t now_tsc, struct wh_packet *packet)
{
	if (!prober->ask_due || prober->stage != WH_PROBER_ASK)
		return false;
	prober->ask_due = false;
	prober->asked_tsc = now_tsc;
	prober->again_tsc = now_tsc + wh_ns_to_tsc(prober->config.hz, ASK_AGAIN_NS);
	packet->flags = WH_FLAG_ASK;
	packet->probe = (struct wh_probe){.count = 1, .padding_bytes = ASK_PADDING_BYTES};
	return true;
}

uint32_t wh_prober_output(struct wh_prober *prober, uint64_t now_tsc, uint8_t *bytes)
{
	struct wh_packet packet = {.type = WH_PACKET_PROBE};
	struct wh_sa *sa = prober->config.sa;
	bool asks = next_ask(prober, now_tsc, &packet);

	if (!asks && !next_question(prober, now_tsc, &packet) &&
		!next_of_run(prober, now_tsc, &packet))
		return 0;
	packet.pn = sa != NULL ? wh_sa_next_pn(sa) : prober->pn++;
	packet.probe.stamp_ns =
		asks ? prober->config.token : wh_tsc_to_ns(prober->config.hz, now_tsc);
	packet.probe.made_us = prober->made_us;
	packet.probe.sa = sa != NULL ? sa->config.peer_number : 0;

	uint32_t length = wh_packet_encode(&packet, bytes, prober->config.packet_bytes);

	if (!asks || sa == NULL)
		wh_seal_close_packet(asks ? &wh_seal_to_listener : &prober->seal, bytes, length);
	else if (!wh_sa_close(sa, 0, bytes, length))
		return 0;
	prober->findings.sent_pkts++;
	prober->findings.sent_bytes += wh_prober_wire_bytes(prober, length);
	return length;
}

uint64_t wh_prober_deadline(const struct wh_prober *prober)
{
	uint64_t patience_tsc = wh_ns_to_tsc(prober->config.hz, prober->config.patience_ns);
	uint64_t deadline_tsc = prober->heard_tsc + patience_tsc + 1;

	if (prober->stage == WH_PROBER_OVER)
		return WH_TSC_NEVER;
	if (prober->begun_tsc == 0 || wh_slot_fifo_count(&prober->inbox) > 0 ||
		(prober->stage == WH_PROBER_ASK && prober->ask_due))
		return 0;
	if (prober->stage == WH_PROBER_ASK)
		return wh_min_u64(deadline_tsc, prober->again_tsc);
	if (prober->fetch.active)
		return wh_min_u64(deadline_tsc, wh_prober_fetch_deadline(prober));
	if (prober->run.sent < prober->run.count)
		return run_due_tsc(prober);
	/* Everything is sent; the next poll ends the stage. */
	if (prober->run.flags == 0 || prober->wait_tsc == WH_TSC_NEVER)
		return 0;
	return wh_min_u64(deadline_tsc, prober->wait_tsc);
}
