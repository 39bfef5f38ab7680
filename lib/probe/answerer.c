/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/answerer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

/* Apart from whatever else is proved with the listener's secret: no other message begins so. */
#define PROOF_OF_PROBE UINT64_C(0x65626f7270206877)

/* An answer to who asks: made_us and the token. */
#define COOKIE_WORDS 2

uint64_t wh_answerer_bytes(uint32_t room_pkts)
{
	return (uint64_t)WH_ANSWERER_PLACES * room_pkts * sizeof(uint64_t);
}

int wh_answerer_init(struct wh_answerer *answerer, const struct wh_answerer_config *config)
{
	WH_ASSERT(config->hz > 0 && config->welcome != NULL);
	WH_ASSERT(config->room_pkts > 0 && config->room_pkts <= WH_PROBE_PKTS_MAX);
	*answerer = (struct wh_answerer){
		.config = *config,
		.arrivals = calloc(1, wh_answerer_bytes(config->room_pkts)),
	};
	if (answerer->arrivals == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++)
		answerer->place[i].arrival = answerer->arrivals + (size_t)i * config->room_pkts;
	return 0;
}

void wh_answerer_free(struct wh_answerer *answerer)
{
	free(answerer->arrivals);
	answerer->arrivals = NULL;
}

/* What the prober of that address is to prove that he knows; nobody else can tell it from noise. */
static uint64_t proof_for(
	const struct wh_answerer *answerer, uint64_t made_us, const struct wh_address *peer)
{
	struct {
		uint64_t what;
		uint64_t made_us;
		uint64_t family;
		uint64_t port;
		uint8_t ip[sizeof(peer->ip)];
	} message = {PROOF_OF_PROBE, made_us, peer->family, peer->port, {0}};

	memcpy(message.ip, peer->ip, sizeof(message.ip));
	return wh_siphash24(answerer->config.key, &message, sizeof(message));
}

static bool is_silent(
	const struct wh_answerer *answerer, const struct wh_answerer_place *place, uint64_t now_tsc)
{
	return now_tsc - place->heard_tsc > WH_ANSWERER_PATIENCE_S * answerer->config.hz;
}

static struct wh_answerer_place *place_of(
	struct wh_answerer *answerer, uint64_t made_us, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++)
		if (answerer->place[i].made_us == made_us &&
			wh_address_equal(&answerer->place[i].peer, peer))
			return &answerer->place[i];
	return NULL;
}

/* A host has one place, whatever ports it has. */
static bool is_host(const struct wh_address *a, const struct wh_address *b)
{
	return a->family == b->family && memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

/* His own of before, or one that nobody uses. */
static struct wh_answerer_place *place_for(
	struct wh_answerer *answerer, uint64_t now_tsc, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++)
		if (answerer->place[i].made_us != 0 && is_host(&answerer->place[i].peer, peer))
			return &answerer->place[i];
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++)
		if (answerer->place[i].made_us == 0 ||
			is_silent(answerer, &answerer->place[i], now_tsc))
			return &answerer->place[i];
	return NULL;
}

/* A moment of ours, and not too long ago. */
static bool is_current(const struct wh_answerer *answerer, uint64_t made_us, uint64_t now_tsc)
{
	uint64_t now_us = wh_tsc_to_us(answerer->config.hz, now_tsc) + 1;

	return made_us != 0 && made_us <= now_us &&
	       now_us - made_us <= WH_ANSWERER_LIFETIME_S * WH_US_PER_S;
}

static uint32_t write_answer(struct wh_answerer *answerer, const struct wh_seal *seal,
	const struct wh_packet *question, const struct wh_probe_answer *said, size_t question_bytes,
	uint8_t *bytes)
{
	struct wh_packet packet = {
		.type = WH_PACKET_PROBE_ANSWER,
		.flags = question->flags,
		.serial = answerer->serial++,
		.probe_answer = *said,
	};

	packet.probe_answer.stamp_ns = question->probe.stamp_ns;
	packet.probe_answer.index = question->probe.index;
	packet.probe_answer.train = question->probe.train;

	uint32_t length = wh_packet_encode(&packet, bytes, WH_CONTROL_BYTES_MAX);

	WH_ASSERT(length <= question_bytes);
	wh_seal_close_packet(seal, bytes, length);
	return length;
}

/* Words that an answer to a question of that length may have. */
static uint32_t words_for(size_t question_bytes)
{
	size_t words = (question_bytes - WH_HEAD_BYTES) / sizeof(uint64_t);

	return words < WH_PROBE_WORDS_MAX ? (uint32_t)words : WH_PROBE_WORDS_MAX;
}

static enum wh_release_status welcome(
	const struct wh_answerer *answerer, uint64_t now_tsc, const struct wh_address *from)
{
	enum wh_release_status status =
		answerer->config.welcome(answerer->config.context, now_tsc, from);

	WH_ASSERT(status != WH_STATUS_PEER_GONE);
	return status;
}

/* Nothing is kept of who asks. */
static enum wh_wire_reason take_ask(struct wh_answerer *answerer, uint64_t now_tsc, uint8_t *bytes,
	size_t length, const struct wh_address *from, struct wh_packet *packet, uint8_t *answer,
	uint32_t *answer_bytes)
{
	enum wh_wire_reason reason = wh_seal_open_packet(&wh_seal_to_listener, bytes, length);
	struct wh_probe_answer said = {.total = answerer->config.room_pkts};
	struct wh_seal seal;

	if (reason == WH_WIRE_OK)
		reason = wh_packet_read(bytes, length, packet);
	if (reason != WH_WIRE_OK)
		return reason;
	if (words_for(length) < COOKIE_WORDS)
		return WH_WIRE_SHORT;
	answerer->stats.asks++;
	said.status = (uint8_t)welcome(answerer, now_tsc, from);
	if (said.status == WH_STATUS_PENDING && place_for(answerer, now_tsc, from) == NULL)
		said.status = WH_STATUS_BUSY;
	if (said.status == WH_STATUS_PENDING) {
		said.n_words = COOKIE_WORDS;
		said.words[0] = wh_tsc_to_us(answerer->config.hz, now_tsc) + 1;
		said.words[1] = proof_for(answerer, said.words[0], from);
	} else {
		answerer->stats.refused_asks++;
	}
	wh_seal_begin_checksum(&seal, packet->probe.stamp_ns);
	*answer_bytes = write_answer(answerer, &seal, packet, &said, length, answer);
	return WH_WIRE_OK;
}

static void settle_in(struct wh_answerer *answerer, struct wh_answerer_place *place,
	const struct wh_address *from, uint64_t made_us, const struct wh_seal *seal)
{
	uint64_t *arrival = place->arrival;

	*place = (struct wh_answerer_place){
		.peer = *from, .made_us = made_us, .seal = *seal, .arrival = arrival};
	answerer->stats.probes++;
}

/*
 * Opens a packet of who has asked and reads it; *found is his place, NULL: he has none, as was
 * counted. A packet moves in that is proved, and no other.
 */
static enum wh_wire_reason open_proved(struct wh_answerer *answerer, uint64_t now_tsc,
	uint8_t *bytes, size_t length, const struct wh_address *from, struct wh_packet *packet,
	struct wh_answerer_place **found)
{
	/* Of a head that nobody believes yet: it says by which proof to open. */
	enum wh_wire_reason reason = wh_packet_read(bytes, length, packet);
	uint64_t made_us = packet->probe.made_us;

	*found = NULL;
	if (reason != WH_WIRE_OK)
		return reason;
	if (!is_current(answerer, made_us, now_tsc)) {
		answerer->stats.bad_cookie_pkts++;
		return WH_WIRE_OK;
	}

	struct wh_answerer_place *place = place_of(answerer, made_us, from);
	struct wh_seal seal;

	if (place == NULL)
		wh_seal_begin_checksum(&seal, proof_for(answerer, made_us, from));
	reason = wh_seal_open_packet(place != NULL ? &place->seal : &seal, bytes, length);
	if (reason != WH_WIRE_OK)
		return reason;
	if (place == NULL) {
		place = place_for(answerer, now_tsc, from);
		/* A later cookie of his is in use: what comes late does not undo it. */
		if (place == NULL || (is_host(&place->peer, from) && place->made_us > made_us)) {
			answerer->stats.no_place_pkts++;
			return WH_WIRE_OK;
		}
		settle_in(answerer, place, from, made_us, &seal);
	}
	place->heard_tsc = now_tsc;
	*found = place;
	return WH_WIRE_OK;
}

/* True: the packet is of the latest train, which it may begin. */
static bool follow_train(struct wh_answerer_place *place, const struct wh_probe *probe)
{
	if (place->has_train && probe->train == place->train)
		return probe->count == place->count;
	if (place->has_train && probe->train < place->train)
		return false;
	place->has_train = true;
	place->train = probe->train;
	place->count = probe->count;
	place->heard = place->noted = 0;
	return true;
}

static void note_arrival(struct wh_answerer *answerer, struct wh_answerer_place *place,
	uint64_t arrived_tsc, const struct wh_probe *probe)
{
	if (!follow_train(place, probe)) {
		answerer->stats.stale_pkts++;
		return;
	}
	answerer->stats.train_pkts++;
	if (place->heard == 0)
		place->first_tsc = arrived_tsc;
	if (place->heard < UINT32_MAX)
		place->heard++;
	if (place->noted == answerer->config.room_pkts)
		return;

	/* Stamps of a port need not ascend: what came before the first came with it. */
	uint64_t since_tsc = arrived_tsc > place->first_tsc ? arrived_tsc - place->first_tsc : 0;
	uint64_t since_ns = wh_min_u64(wh_tsc_to_ns(answerer->config.hz, since_tsc), UINT32_MAX);

	WH_ASSERT(probe->index < WH_PROBE_PKTS_MAX);
	place->arrival[place->noted++] = since_ns << 32 | probe->index;
}

static void tell_train(const struct wh_answerer_place *place, const struct wh_probe *probe,
	size_t question_bytes, struct wh_probe_answer *said)
{
	if (!place->has_train || place->train != probe->train || probe->index > place->noted)
		return;

	uint32_t left = place->noted - probe->index;
	uint32_t words = words_for(question_bytes);

	said->total = place->noted;
	said->heard = place->heard;
	said->n_words = (uint16_t)(left < words ? left : words);
	memcpy(said->words, &place->arrival[probe->index], said->n_words * sizeof(said->words[0]));
}

static enum wh_wire_reason take_proved(struct wh_answerer *answerer, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes)
{
	struct wh_answerer_place *place;
	enum wh_wire_reason reason =
		open_proved(answerer, now_tsc, bytes, length, from, packet, &place);
	struct wh_probe_answer said = {0};

	if (reason != WH_WIRE_OK || place == NULL)
		return reason;
	if (packet->flags == 0) {
		note_arrival(answerer, place, arrived_tsc, &packet->probe);
		return WH_WIRE_OK;
	}
	said.status = (uint8_t)welcome(answerer, now_tsc, from);
	if (packet->flags == WH_FLAG_ECHO)
		said.heard = ++place->echoes;
	else
		tell_train(place, &packet->probe, length, &said);
	answerer->stats.answers++;
	*answer_bytes = write_answer(answerer, &place->seal, packet, &said, length, answer);
	return WH_WIRE_OK;
}

enum wh_wire_reason wh_answerer_input(struct wh_answerer *answerer, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes)
{
	WH_ASSERT(packet->type == WH_PACKET_PROBE && packet->lci == 0);
	WH_ASSERT(answerer->arrivals != NULL);
	*answer_bytes = 0;
	if (packet->flags == WH_FLAG_ASK)
		return take_ask(
			answerer, now_tsc, bytes, length, from, packet, answer, answer_bytes);
	return take_proved(
		answerer, now_tsc, arrived_tsc, bytes, length, from, packet, answer, answer_bytes);
}
