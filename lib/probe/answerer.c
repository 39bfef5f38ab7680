/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/answerer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

/* Domain separation from other uses of the listener's secret. */
#define PROOF_OF_PROBE UINT64_C(0x65626f7270206877)

/* Words of the answer to WH_FLAG_ASK: made_us and the token. */
#define COOKIE_WORDS 2

/* Memory of a place for both of its seals. */
#define KEYS_BYTES (2 * WH_SEAL_RAW_BYTES)

/* Most keys derived back to back, within the rate per second. */
#define KEYS_BURST 16

#define WINDOW_WORDS (WH_ANSWERER_WINDOW_PKTS / 64)

static bool alloc(struct wh_answerer *answerer)
{
	bool sealed = answerer->config.sadb != NULL;

	answerer->arrivals = calloc((size_t)WH_ANSWERER_PLACES * answerer->config.room_pkts,
		sizeof(*answerer->arrivals));
	if (sealed) {
		answerer->keys = wh_secret_alloc(WH_ANSWERER_PLACES * KEYS_BYTES);
		answerer->windows =
			calloc(WH_ANSWERER_PLACES * WINDOW_WORDS, sizeof(*answerer->windows));
	}
	return answerer->arrivals != NULL &&
	       (!sealed || (answerer->keys != NULL && answerer->windows != NULL));
}

int wh_answerer_init(struct wh_answerer *answerer, const struct wh_answerer_config *config)
{
	WH_ASSERT(config->hz > 0 && config->welcome != NULL);
	WH_ASSERT(config->room_pkts > 0 && config->room_pkts <= WH_PROBE_PKTS_MAX);
	*answerer = (struct wh_answerer){.config = *config};
	if (!alloc(answerer)) {
		wh_answerer_free(answerer);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++) {
		struct wh_answerer_place *place = &answerer->place[i];

		place->arrival = answerer->arrivals + (size_t)i * config->room_pkts;
		place->keys = answerer->keys != NULL ? answerer->keys + i * KEYS_BYTES : NULL;
	}
	return 0;
}

void wh_answerer_free(struct wh_answerer *answerer)
{
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++) {
		wh_seal_end(&answerer->place[i].seal);
		wh_seal_end(&answerer->place[i].answer_seal);
	}
	wh_secret_free(answerer->keys, WH_ANSWERER_PLACES * KEYS_BYTES);
	free(answerer->windows);
	free(answerer->arrivals);
	answerer->keys = NULL;
	answerer->windows = NULL;
	answerer->arrivals = NULL;
}

/* The token of a prober at that address, which nobody else can guess. */
static uint64_t proof_for(const struct wh_answerer *answerer, uint64_t made_us,
	const struct wh_address *peer, uint32_t sa)
{
	struct {
		uint64_t what;
		uint64_t made_us;
		uint32_t family;
		uint32_t sa;
		uint64_t port;
		uint8_t ip[sizeof(peer->ip)];
	} message = {PROOF_OF_PROBE, made_us, peer->family, sa, peer->port, {0}};

	memcpy(message.ip, peer->ip, sizeof(message.ip));
	return wh_siphash24(answerer->config.key, &message, sizeof(message));
}

static bool is_silent(
	const struct wh_answerer *answerer, const struct wh_answerer_place *place, uint64_t now_tsc)
{
	return now_tsc - place->heard_tsc > WH_ANSWERER_PATIENCE_S * answerer->config.hz;
}

static struct wh_answerer_place *place_of(
	struct wh_answerer *answerer, uint64_t made_us, const struct wh_address *peer, uint32_t sa)
{
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++)
		if (answerer->place[i].made_us == made_us && answerer->place[i].sa == sa &&
			wh_address_equal(&answerer->place[i].peer, peer))
			return &answerer->place[i];
	return NULL;
}

/* A host gets one place, whatever its ports: its present one, or an unused one. */
static struct wh_answerer_place *place_for(
	struct wh_answerer *answerer, uint64_t now_tsc, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++)
		if (answerer->place[i].made_us != 0 &&
			wh_address_same_ip(&answerer->place[i].peer, peer))
			return &answerer->place[i];
	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++)
		if (answerer->place[i].made_us == 0 ||
			is_silent(answerer, &answerer->place[i], now_tsc))
			return &answerer->place[i];
	return NULL;
}

/* Whether the time is in our past, within the lifetime of a cookie. */
static bool is_current(const struct wh_answerer *answerer, uint64_t made_us, uint64_t now_tsc)
{
	uint64_t now_us = wh_tsc_to_us(answerer->config.hz, now_tsc) + 1;

	return made_us != 0 && made_us <= now_us &&
	       now_us - made_us <= WH_ANSWERER_LIFETIME_S * WH_US_PER_S;
}

/* Encodes an answer; it is sealed later. */
static uint32_t write_answer(struct wh_answerer *answerer, struct wh_sa *sa,
	const struct wh_packet *question, const struct wh_probe_answer *said, size_t question_bytes,
	uint8_t *bytes)
{
	struct wh_packet packet = {
		.type = WH_PACKET_PROBE_ANSWER,
		.flags = question->flags,
		.pn = sa != NULL ? wh_sa_next_pn(sa) : answerer->pn++,
		.probe_answer = *said,
	};

	packet.probe_answer.stamp_ns = question->probe.stamp_ns;
	packet.probe_answer.index = question->probe.index;
	packet.probe_answer.train = question->probe.train;

	uint32_t length = wh_packet_encode(&packet, bytes, WH_CONTROL_BYTES_MAX);

	WH_ASSERT(length <= question_bytes);
	return length;
}

/* Words that fit into an answer no longer than the question. */
static uint32_t words_for(size_t question_bytes)
{
	size_t words = (question_bytes - WH_HEAD_BYTES) / sizeof(uint64_t);

	return words < WH_PROBE_WORDS_MAX ? (uint32_t)words : WH_PROBE_WORDS_MAX;
}

static enum wh_release_status welcome(const struct wh_answerer *answerer, uint64_t now_tsc,
	const struct wh_address *from, const struct wh_sa *sa)
{
	enum wh_release_status status =
		answerer->config.welcome(answerer->config.context, now_tsc, from, sa);

	WH_ASSERT(status != WH_STATUS_PEER_GONE);
	return status;
}

/* Seals by the SA, or without one by the token in the question. */
static bool close_cookie(struct wh_sa *sa, uint64_t token, uint8_t *bytes, uint32_t length)
{
	struct wh_seal seal;

	if (sa != NULL)
		return wh_sa_close(sa, token, bytes, length);
	wh_seal_begin_checksum(&seal, token);
	wh_seal_close_packet(&seal, bytes, length);
	return true;
}

/* Whether a question is no replay: under an SA each counts once. */
static bool is_later(struct wh_answerer *answerer, struct wh_sa *sa, uint64_t pn)
{
	if (sa != NULL && pn < sa->probed_end) {
		answerer->stats.replayed_pkts++;
		return false;
	}
	if (sa != NULL)
		sa->probed_end = pn + 1;
	return true;
}

/* The first question of a prober: answers with a cookie, and keeps nothing about the sender. */
static enum wh_wire_reason take_ask(struct wh_answerer *answerer, uint64_t now_tsc, uint8_t *bytes,
	size_t length, const struct wh_address *from, struct wh_sa *sa, struct wh_packet *packet,
	uint8_t *answer, uint32_t *answer_bytes)
{
	enum wh_wire_reason reason = WH_WIRE_TAG;
	struct wh_probe_answer said = {.total = answerer->config.room_pkts};

	if (sa == NULL)
		reason = wh_seal_open_packet(&wh_seal_to_listener, bytes, length);
	else if (wh_sa_open(sa, 0, bytes, length))
		reason = WH_WIRE_OK;
	if (reason != WH_WIRE_OK)
		return reason;
	if (words_for(length) < COOKIE_WORDS)
		return WH_WIRE_SHORT;
	if (!is_later(answerer, sa, packet->pn))
		return WH_WIRE_OK;
	answerer->stats.asks++;
	said.status = (uint8_t)welcome(answerer, now_tsc, from, sa);
	if (said.status == WH_STATUS_PENDING && place_for(answerer, now_tsc, from) == NULL)
		said.status = WH_STATUS_BUSY;
	if (said.status == WH_STATUS_PENDING) {
		said.n_words = COOKIE_WORDS;
		said.words[0] = wh_tsc_to_us(answerer->config.hz, now_tsc) + 1;
		said.words[1] =
			proof_for(answerer, said.words[0], from, sa != NULL ? wh_sa_number(sa) : 0);
	} else {
		answerer->stats.refused_asks++;
	}
	*answer_bytes = write_answer(answerer, sa, packet, &said, length, answer);
	if (!close_cookie(sa, packet->probe.stamp_ns, answer, *answer_bytes))
		*answer_bytes = 0;
	return WH_WIRE_OK;
}

static bool settle_in(struct wh_answerer *answerer, struct wh_answerer_place *place,
	const struct wh_address *from, uint64_t made_us, struct wh_sa *sa, uint64_t token)
{
	uint32_t number = (uint32_t)(place - answerer->place);

	wh_seal_end(&place->seal);
	wh_seal_end(&place->answer_seal);
	*place = (struct wh_answerer_place){.arrival = place->arrival, .keys = place->keys};
	if (!wh_sa_begin_seals(sa, token, &place->answer_seal, &place->seal, place->keys))
		return false;
	place->peer = *from;
	place->made_us = made_us;
	if (sa != NULL) {
		uint64_t *bits = answerer->windows + (size_t)number * WINDOW_WORDS;

		memset(bits, 0, WINDOW_WORDS * sizeof(*bits));
		wh_replay_init(&place->window, bits, WH_ANSWERER_WINDOW_PKTS);
		place->sa = wh_sa_number(sa);
		place->begun_end = sa->probed_end;
	}
	answerer->stats.probes++;
	return true;
}

/* Authenticates the first packet of a prober without a place; keeps nothing. */
static enum wh_wire_reason open_first(struct wh_answerer *answerer, uint64_t now_tsc,
	const struct wh_sa *sa, uint64_t token, uint8_t *bytes, size_t length)
{
	uint64_t each_tsc = answerer->config.hz / WH_ANSWERER_KEYS_PER_S;
	struct wh_seal seal;

	if (sa == NULL) {
		wh_seal_begin_checksum(&seal, token);
		return wh_seal_open_packet(&seal, bytes, length);
	}
	if (answerer->next_key_tsc > now_tsc + KEYS_BURST * each_tsc) {
		answerer->stats.hurried_pkts++;
		return WH_WIRE_KEY;
	}
	answerer->next_key_tsc = wh_max_u64(answerer->next_key_tsc, now_tsc) + each_tsc;
	return wh_sa_open(sa, token, bytes, length) ? WH_WIRE_OK : WH_WIRE_TAG;
}

/*
 * Gives a place to the sender of an authenticated packet; NULL: none free (counted), or no memory.
 */
static struct wh_answerer_place *move_in(struct wh_answerer *answerer, uint64_t now_tsc,
	const struct wh_address *from, const struct wh_packet *packet, struct wh_sa *sa,
	uint64_t token)
{
	struct wh_answerer_place *place = place_for(answerer, now_tsc, from);
	uint64_t made_us = packet->probe.made_us;

	/* A newer cookie of this host is in use: a late packet does not replace it. */
	if (place == NULL || (wh_address_same_ip(&place->peer, from) && place->made_us > made_us)) {
		answerer->stats.no_place_pkts++;
		return NULL;
	}
	if (sa != NULL && packet->pn < sa->probed_end) {
		answerer->stats.replayed_pkts++;
		return NULL;
	}
	return settle_in(answerer, place, from, made_us, sa, token) ? place : NULL;
}

/* Whether an authenticated packet is no replay. */
static bool is_first(struct wh_answerer *answerer, struct wh_answerer_place *place,
	struct wh_sa *sa, const struct wh_packet *packet)
{
	if (sa == NULL)
		return true;
	if (packet->pn >= place->begun_end && wh_replay_take(&place->window, packet->pn)) {
		if (packet->pn >= sa->probed_end)
			sa->probed_end = packet->pn + 1;
		return true;
	}
	answerer->stats.replayed_pkts++;
	/* A packet that the network has duplicated counts in `heard` only. */
	if (packet->flags == 0 && place->has_train && packet->probe.train == place->train &&
		place->heard < UINT32_MAX)
		place->heard++;
	return false;
}

/*
 * Opens and reads a packet of a prober that has a cookie; *found is its place, NULL: none, or a
 * replay, which is counted.
 */
static enum wh_wire_reason open_proved(struct wh_answerer *answerer, uint64_t now_tsc,
	uint8_t *bytes, size_t length, const struct wh_address *from, struct wh_sa *sa,
	struct wh_packet *packet, struct wh_answerer_place **found)
{
	/* Selects the key; not authenticated yet. */
	uint32_t number = sa != NULL ? wh_sa_number(sa) : 0;
	uint64_t made_us = packet->probe.made_us;
	enum wh_wire_reason reason;

	*found = NULL;
	if (!is_current(answerer, made_us, now_tsc)) {
		answerer->stats.bad_cookie_pkts++;
		return WH_WIRE_OK;
	}

	struct wh_answerer_place *place = place_of(answerer, made_us, from, number);
	uint64_t token = place == NULL ? proof_for(answerer, made_us, from, number) : 0;

	reason = place != NULL ? wh_seal_open_packet(&place->seal, bytes, length)
			       : open_first(answerer, now_tsc, sa, token, bytes, length);
	if (reason != WH_WIRE_OK)
		return reason;
	if (place == NULL)
		place = move_in(answerer, now_tsc, from, packet, sa, token);
	if (place == NULL || !is_first(answerer, place, sa, packet))
		return WH_WIRE_OK;
	place->heard_tsc = now_tsc;
	*found = place;
	return WH_WIRE_OK;
}

/* True: the packet belongs to the latest train, or begins one. */
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

	/* A port's timestamps need not ascend: an earlier one counts as the first. */
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
	struct wh_sa *sa, struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes)
{
	struct wh_answerer_place *place;
	enum wh_wire_reason reason =
		open_proved(answerer, now_tsc, bytes, length, from, sa, packet, &place);
	struct wh_probe_answer said = {0};

	if (reason != WH_WIRE_OK || place == NULL)
		return reason;
	if (packet->flags == 0) {
		note_arrival(answerer, place, arrived_tsc, &packet->probe);
		return WH_WIRE_OK;
	}
	said.status = (uint8_t)welcome(answerer, now_tsc, from, sa);
	if (packet->flags == WH_FLAG_ECHO)
		said.heard = ++place->echoes;
	else
		tell_train(place, &packet->probe, length, &said);
	answerer->stats.answers++;
	*answer_bytes = write_answer(answerer, sa, packet, &said, length, answer);
	wh_seal_close_packet(&place->answer_seal, answer, *answer_bytes);
	return WH_WIRE_OK;
}

/* The SA that a head names, with a hold; false: it names none but must (counted). */
static bool find_sa(struct wh_answerer *answerer, const uint8_t *bytes,
	const struct wh_packet *packet, struct wh_sa **sa)
{
	*sa = NULL;
	if (answerer->config.sadb == NULL)
		return true;
	if (bytes[WH_KEY_OFFSET] == 0) {
		answerer->stats.unsealed_pkts++;
		return false;
	}
	*sa = wh_sadb_hold(answerer->config.sadb, packet->probe.sa);
	answerer->stats.no_sa_pkts += *sa == NULL;
	return *sa != NULL;
}

enum wh_wire_reason wh_answerer_input(struct wh_answerer *answerer, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet, uint8_t *answer, uint32_t *answer_bytes)
{
	/* Not authenticated yet; opening does not change the head. */
	enum wh_wire_reason reason = wh_packet_read(bytes, length, packet);
	struct wh_sa *sa;

	WH_ASSERT(packet->type == WH_PACKET_PROBE && packet->cid == 0);
	WH_ASSERT(answerer->arrivals != NULL);
	*answer_bytes = 0;
	if (reason != WH_WIRE_OK || !find_sa(answerer, bytes, packet, &sa))
		return reason;
	if (packet->flags == WH_FLAG_ASK)
		reason = take_ask(
			answerer, now_tsc, bytes, length, from, sa, packet, answer, answer_bytes);
	else
		reason = take_proved(answerer, now_tsc, arrived_tsc, bytes, length, from, sa,
			packet, answer, answer_bytes);
	wh_sa_let_go(sa);
	return reason;
}
