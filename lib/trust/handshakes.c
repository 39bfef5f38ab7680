/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/handshakes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/rand.h>

#include "base/assert.h"
#include "base/clock.h"
#include "trust/pending.h"

static void take_defaults(struct wh_handshakes_config *config)
{
	if (config->n_pending == 0)
		config->n_pending = WH_HANDSHAKES_PENDING;
	if (config->pending_of_address == 0)
		config->pending_of_address = WH_HANDSHAKES_OF_ADDRESS;
	if (config->per_second == 0)
		config->per_second = WH_HANDSHAKES_PER_SECOND;
}

int wh_handshakes_init(struct wh_handshakes *handshakes, const struct wh_handshakes_config *config)
{
	WH_ASSERT(config->hz > 0 && config->sadb != NULL && config->ciphers != 0);
	*handshakes = (struct wh_handshakes){.config = *config};
	take_defaults(&handshakes->config);
	wh_spin_init(&handshakes->lock);

	int rc = RAND_bytes(handshakes->process, sizeof(handshakes->process)) == 1
			 ? wh_handshake_ends_init(&handshakes->ends, config->identity)
			 : -ENOMEM;

	if (rc != 0)
		return rc;
	handshakes->pending = calloc(handshakes->config.n_pending, sizeof(*handshakes->pending));
	handshakes->kept = calloc(config->sadb->places, sizeof(*handshakes->kept));
	handshakes->shares = calloc(1, sizeof(*handshakes->shares));
	if (handshakes->pending != NULL && handshakes->kept != NULL && handshakes->shares != NULL) {
		wh_shares_init(
			handshakes->shares, config->hz, handshakes->config.per_second, config->key);
		handshakes->shares->knows = config->authorizer.knows;
		handshakes->shares->context = config->authorizer.context;
		return 0;
	}
	wh_handshakes_free(handshakes);
	return -ENOMEM;
}

void wh_handshakes_free(struct wh_handshakes *handshakes)
{
	for (uint32_t i = 0; handshakes->pending != NULL && i < handshakes->config.n_pending; i++)
		if (handshakes->pending[i].used)
			wh_pending_end(handshakes, &handshakes->pending[i]);
	wh_keep_end(handshakes);
	wh_handshake_ends_free(&handshakes->ends);
	free(handshakes->pending);
	free(handshakes->kept);
	free(handshakes->shares);
	handshakes->pending = NULL;
	handshakes->kept = NULL;
	handshakes->shares = NULL;
}

/* Processes bytes from the peer, if there are any. */
static bool advance(struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc)
{
	const uint8_t *bytes;
	uint32_t count = wh_stream_read(pending->stream, &bytes);

	if (pending->over || count == 0)
		return false;
	wh_handshake_put(&pending->handshake, bytes, count);
	wh_pending_step(handshakes, pending, now_tsc);
	return true;
}

static void put_off(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_crypto *crypto)
{
	struct wh_put_off one = {
		.peer = datagram->peer,
		.queue = datagram->queue,
		.cookie.handshake = crypto->handshake,
	};

	memcpy(one.via, datagram->via, sizeof(one.via));
	memcpy(one.cookie.cookie, crypto->cookie, sizeof(one.cookie.cookie));
	wh_pending_put_off(handshakes, now_tsc, &one);
}

static bool take_crypto(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_packet *packet)
{
	const struct wh_crypto *crypto = &packet->crypto;
	bool came = packet->flags == 0;
	struct wh_pending *pending = wh_pending_find(handshakes, datagram, crypto, came);

	/* The first packet of a handshake. */
	if (pending == NULL && came && crypto->offset == 0 && crypto->bytes > 0) {
		pending = wh_pending_begin(handshakes, now_tsc, datagram, crypto, true);
		handshakes->stats.turned_away += pending == NULL;
	}
	if (pending == NULL && came)
		put_off(handshakes, now_tsc, datagram, crypto);
	if (pending == NULL || !wh_stream_input(pending->stream, now_tsc, crypto)) {
		handshakes->stats.bad_datagrams++;
		return false;
	}
	/* No question measured the round trip; the peer's signature counts as a part of it. */
	if (handshakes->told_used && pending->rtt_us == 0 && !pending->came)
		pending->rtt_us =
			(uint32_t)wh_tsc_to_us(handshakes->config.hz, now_tsc - pending->began_tsc);
	pending->in_bytes += datagram->bytes;
	pending->heard_tsc = now_tsc;
	return advance(handshakes, pending, now_tsc);
}

static void take_cookie(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_packet *packet)
{
	if (packet->flags == WH_FLAG_LATER)
		wh_cookies_put_off(handshakes, now_tsc, datagram, &packet->cookie);
	else
		wh_cookies_take(handshakes, now_tsc, datagram, &packet->cookie);
}

bool wh_handshakes_take(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram)
{
	struct wh_versions versions;
	struct wh_packet packet;
	bool stepped = false;

	handshakes->stats.in_bytes += datagram->bytes;
	if (wh_versions_read(datagram->packet, datagram->bytes, &versions))
		wh_known_peer_versions(handshakes, datagram, &versions);
	else if (wh_packet_decode(datagram->packet, datagram->bytes, &packet) != WH_WIRE_OK)
		handshakes->stats.bad_datagrams++;
	else if (packet.type == WH_PACKET_COOKIE)
		take_cookie(handshakes, now_tsc, datagram, &packet);
	else if (packet.type == WH_PACKET_CRYPTO)
		stepped = take_crypto(handshakes, now_tsc, datagram, &packet);
	else
		handshakes->stats.bad_datagrams++;
	return stepped;
}

/* The most that may be sent now, including heads, to a peer that has not proved its key. */
static uint32_t may_say_bytes(const struct wh_pending *pending)
{
	uint64_t head_bytes = WH_CONTROL_BYTES_MAX - WH_CRYPTO_BYTES_MAX;
	uint64_t allowed_bytes = WH_HANDSHAKE_GAIN * pending->in_bytes;
	uint64_t used_bytes = pending->out_bytes + head_bytes;

	if (!pending->came || pending->proved)
		return WH_CRYPTO_BYTES_MAX;
	return allowed_bytes > used_bytes
		       ? (uint32_t)wh_min_u64(allowed_bytes - used_bytes, WH_CRYPTO_BYTES_MAX)
		       : 0;
}

static bool speak(
	struct wh_pending *pending, uint64_t now_tsc, struct wh_handshake_datagram *datagram)
{
	struct wh_packet packet = {
		.type = WH_PACKET_CRYPTO,
		.flags = pending->came ? WH_FLAG_ANSWER : 0,
		.crypto = {.handshake = pending->number},
	};
	struct wh_crypto *crypto = &packet.crypto;

	uint32_t most_bytes = may_say_bytes(pending);

	if (most_bytes == 0 || !wh_stream_output(pending->stream, now_tsc, most_bytes, crypto))
		return false;
	memcpy(crypto->cookie, pending->cookie, sizeof(crypto->cookie));
	/* Padding raises the number of bytes that the server may send in answer. */
	if (!pending->came && !pending->over)
		crypto->padding_bytes = (uint16_t)(WH_CRYPTO_BYTES_MAX - crypto->bytes);
	*datagram = (struct wh_handshake_datagram){
		.peer = pending->peer,
		.queue = pending->queue,
		.is_answer = pending->came,
	};
	memcpy(datagram->via, pending->via, sizeof(datagram->via));
	wh_handshake_datagram_write(datagram, &packet);
	pending->out_bytes += datagram->bytes;
	return true;
}

/* A COOKIE is shorter than the packet that it answers: it amplifies nothing. */
static bool give_put_off(struct wh_handshakes *handshakes, struct wh_handshake_datagram *datagram)
{
	struct wh_packet packet = {.type = WH_PACKET_COOKIE, .flags = WH_FLAG_LATER};
	const struct wh_put_off *one;

	if (handshakes->put_offs == 0)
		return false;
	one = &handshakes->put_off[--handshakes->put_offs];
	packet.cookie = one->cookie;
	*datagram = (struct wh_handshake_datagram){
		.peer = one->peer, .queue = one->queue, .is_answer = true};
	memcpy(datagram->via, one->via, sizeof(datagram->via));
	wh_handshake_datagram_write(datagram, &packet);
	return true;
}

bool wh_handshakes_give(
	struct wh_handshakes *handshakes, uint64_t now_tsc, struct wh_handshake_datagram *datagram)
{
	uint32_t left = handshakes->n_pending;
	bool given;

	if (wh_known_peer_ask(handshakes, datagram))
		return true;
	given = give_put_off(handshakes, datagram);
	for (uint32_t i = 0; i < handshakes->config.n_pending && left > 0 && !given; i++) {
		struct wh_pending *pending = &handshakes->pending[(handshakes->next_turn + i) %
								  handshakes->config.n_pending];

		if (!pending->used)
			continue;
		left--;
		given = speak(pending, now_tsc, datagram);
		if (given)
			handshakes->next_turn += i;
	}
	if (given)
		handshakes->stats.out_bytes += datagram->bytes;
	return given;
}

/*
 * A server answers within this time. After it a client asks for another cookie as well: a restarted
 * server does not know the handshake, and waiting for it would take all of WH_HANDSHAKE_S.
 */
#define SILENT_MS 1000

static bool is_unheard(
	const struct wh_handshakes *handshakes, const struct wh_pending *pending, uint64_t now_tsc)
{
	return !pending->came && !pending->over && !pending->silent &&
	       pending->handshake.state != WH_HANDSHAKE_MET &&
	       now_tsc - pending->heard_tsc >
		       wh_ns_to_tsc(handshakes->config.hz, SILENT_MS * UINT64_C(1000000));
}

static void poll_pending(
	struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc)
{
	/*
	 * At a server a handshake ends once everything is acknowledged. At a client it stays, to
	 * repeat acknowledgements that were lost.
	 */
	bool done = pending->over && pending->came && wh_stream_is_acked(pending->stream) &&
		    !pending->stream->ack_due;

	if (!pending->over && pending->handshake.state == WH_HANDSHAKE_MET)
		wh_pending_step(handshakes, pending, now_tsc);
	if (is_unheard(handshakes, pending, now_tsc)) {
		pending->silent = true;
		wh_known_peer_lost(handshakes, &pending->peer, now_tsc);
	}
	if (!done && now_tsc < pending->until_tsc)
		return;
	if (!pending->over) {
		handshakes->stats.late++;
		wh_pending_give_up(handshakes, pending, "it took too long");
	}
	if (!pending->came)
		wh_known_peer_lost(handshakes, &pending->peer, now_tsc);
	wh_pending_end(handshakes, pending);
}

int32_t wh_handshakes_poll(struct wh_handshakes *handshakes, uint64_t now_tsc)
{
	bool told_used = handshakes->told_used;
	int32_t work = wh_known_peer_poll(handshakes, now_tsc);
	uint32_t left;

	if (handshakes->told_used && !told_used)
		wh_cookies_take_told(handshakes, now_tsc);
	left = handshakes->n_pending;
	for (uint32_t i = 0; i < handshakes->config.n_pending && left > 0; i++) {
		if (!handshakes->pending[i].used)
			continue;
		left--;
		poll_pending(handshakes, &handshakes->pending[i], now_tsc);
	}
	if (now_tsc >= handshakes->next_sweep_tsc) {
		wh_keep_sweep(handshakes, now_tsc);
		handshakes->next_sweep_tsc = now_tsc + handshakes->config.hz;
	}
	return work;
}
