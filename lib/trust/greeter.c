/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/greeter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/rand.h>

#include "base/assert.h"
#include "base/clock.h"
#include "seal/seal.h"
#include "trust/guest.h"

static void take_defaults(struct wh_greeter_config *config)
{
	if (config->guests == 0)
		config->guests = WH_GREETER_GUESTS;
	if (config->guests_of_address == 0)
		config->guests_of_address = WH_GREETER_OF_ADDRESS;
	if (config->per_second == 0)
		config->per_second = WH_GREETER_PER_SECOND;
}

int wh_greeter_init(struct wh_greeter *greeter, const struct wh_greeter_config *config)
{
	WH_ASSERT(config->hz > 0 && config->bonds != NULL && config->ciphers != 0);
	*greeter = (struct wh_greeter){.config = *config};
	take_defaults(&greeter->config);
	wh_spin_init(&greeter->lock);

	int rc = RAND_bytes(greeter->process, sizeof(greeter->process)) == 1
			 ? wh_greeting_ends_init(&greeter->ends, config->identity)
			 : -ENOMEM;

	if (rc != 0)
		return rc;
	greeter->guest = calloc(greeter->config.guests, sizeof(*greeter->guest));
	greeter->kept = calloc(config->bonds->places, sizeof(*greeter->kept));
	greeter->shares = calloc(1, sizeof(*greeter->shares));
	if (greeter->guest != NULL && greeter->kept != NULL && greeter->shares != NULL) {
		wh_shares_init(
			greeter->shares, config->hz, greeter->config.per_second, config->key);
		greeter->shares->knows = config->believer.knows;
		greeter->shares->context = config->believer.context;
		return 0;
	}
	wh_greeter_free(greeter);
	return -ENOMEM;
}

void wh_greeter_free(struct wh_greeter *greeter)
{
	for (uint32_t i = 0; greeter->guest != NULL && i < greeter->config.guests; i++)
		if (greeter->guest[i].used)
			wh_guest_end(greeter, &greeter->guest[i]);
	wh_keep_end(greeter);
	wh_greeting_ends_free(&greeter->ends);
	free(greeter->guest);
	free(greeter->kept);
	free(greeter->shares);
	greeter->guest = NULL;
	greeter->kept = NULL;
	greeter->shares = NULL;
}

/* Processes bytes from the peer, if there are any. */
static bool advance(struct wh_greeter *greeter, struct wh_guest *guest, uint64_t now_tsc)
{
	const uint8_t *bytes;
	uint32_t count = wh_stream_read(guest->stream, &bytes);

	if (guest->over || count == 0)
		return false;
	wh_greeting_put(&guest->greeting, bytes, count);
	wh_guest_step(greeter, guest, now_tsc);
	return true;
}

static void put_off(struct wh_greeter *greeter, uint64_t now_tsc, const struct wh_letter *letter,
	const struct wh_crypto *crypto)
{
	struct wh_put_off one = {
		.peer = letter->peer,
		.queue = letter->queue,
		.cookie.greeting = crypto->greeting,
	};

	memcpy(one.via, letter->via, sizeof(one.via));
	memcpy(one.cookie.cookie, crypto->cookie, sizeof(one.cookie.cookie));
	wh_guest_put_off(greeter, now_tsc, &one);
}

static bool take_crypto(struct wh_greeter *greeter, uint64_t now_tsc,
	const struct wh_letter *letter, const struct wh_packet *packet)
{
	const struct wh_crypto *crypto = &packet->crypto;
	bool came = packet->flags == 0;
	struct wh_guest *guest = wh_guest_find(greeter, letter, crypto, came);

	/* The first packet of a greeting. */
	if (guest == NULL && came && crypto->offset == 0 && crypto->bytes > 0) {
		guest = wh_guest_begin(greeter, now_tsc, letter, crypto, true);
		greeter->stats.turned_away += guest == NULL;
	}
	if (guest == NULL && came)
		put_off(greeter, now_tsc, letter, crypto);
	if (guest == NULL || !wh_stream_input(guest->stream, now_tsc, crypto)) {
		greeter->stats.bad_letters++;
		return false;
	}
	guest->in_bytes += letter->bytes;
	guest->heard_tsc = now_tsc;
	return advance(greeter, guest, now_tsc);
}

static void take_cookie(struct wh_greeter *greeter, uint64_t now_tsc,
	const struct wh_letter *letter, const struct wh_packet *packet)
{
	if (packet->flags == WH_FLAG_LATER)
		wh_cookies_put_off(greeter, now_tsc, letter, &packet->cookie);
	else
		wh_cookies_take(greeter, now_tsc, letter, &packet->cookie);
}

bool wh_greeter_take(struct wh_greeter *greeter, uint64_t now_tsc, const struct wh_letter *letter)
{
	struct wh_versions versions;
	struct wh_packet packet;
	bool stepped = false;

	greeter->stats.in_bytes += letter->bytes;
	if (wh_versions_read(letter->packet, letter->bytes, &versions))
		wh_acquaintance_versions(greeter, letter, &versions);
	else if (wh_packet_decode(letter->packet, letter->bytes, &packet) != WH_WIRE_OK)
		greeter->stats.bad_letters++;
	else if (packet.type == WH_PACKET_COOKIE)
		take_cookie(greeter, now_tsc, letter, &packet);
	else if (packet.type == WH_PACKET_CRYPTO)
		stepped = take_crypto(greeter, now_tsc, letter, &packet);
	else
		greeter->stats.bad_letters++;
	return stepped;
}

/* The most that may be sent now, including heads, to a peer that has not proved its key. */
static uint32_t may_say_bytes(const struct wh_guest *guest)
{
	uint64_t head_bytes = WH_CONTROL_BYTES_MAX - WH_CRYPTO_BYTES_MAX;
	uint64_t allowed_bytes = WH_GREETING_GAIN * guest->in_bytes;
	uint64_t used_bytes = guest->out_bytes + head_bytes;

	if (!guest->came || guest->proved)
		return WH_CRYPTO_BYTES_MAX;
	return allowed_bytes > used_bytes
		       ? (uint32_t)wh_min_u64(allowed_bytes - used_bytes, WH_CRYPTO_BYTES_MAX)
		       : 0;
}

static bool speak(struct wh_guest *guest, uint64_t now_tsc, struct wh_letter *letter)
{
	struct wh_packet packet = {
		.type = WH_PACKET_CRYPTO,
		.flags = guest->came ? WH_FLAG_ANSWER : 0,
		.crypto = {.greeting = guest->number},
	};
	struct wh_crypto *crypto = &packet.crypto;

	uint32_t most_bytes = may_say_bytes(guest);

	if (most_bytes == 0 || !wh_stream_output(guest->stream, now_tsc, most_bytes, crypto))
		return false;
	memcpy(crypto->cookie, guest->cookie, sizeof(crypto->cookie));
	/* Padding raises the number of bytes that the server may send in answer. */
	if (!guest->came && !guest->over)
		crypto->padding_bytes = (uint16_t)(WH_CRYPTO_BYTES_MAX - crypto->bytes);
	*letter = (struct wh_letter){
		.peer = guest->peer,
		.queue = guest->queue,
		.is_answer = guest->came,
	};
	memcpy(letter->via, guest->via, sizeof(letter->via));
	wh_letter_write(letter, &packet);
	guest->out_bytes += letter->bytes;
	return true;
}

/* Shorter than what it answers. */
static bool give_put_off(struct wh_greeter *greeter, struct wh_letter *letter)
{
	struct wh_packet packet = {.type = WH_PACKET_COOKIE, .flags = WH_FLAG_LATER};
	const struct wh_put_off *one;

	if (greeter->put_offs == 0)
		return false;
	one = &greeter->put_off[--greeter->put_offs];
	packet.cookie = one->cookie;
	*letter = (struct wh_letter){.peer = one->peer, .queue = one->queue, .is_answer = true};
	memcpy(letter->via, one->via, sizeof(letter->via));
	wh_letter_write(letter, &packet);
	return true;
}

bool wh_greeter_give(struct wh_greeter *greeter, uint64_t now_tsc, struct wh_letter *letter)
{
	bool given;

	if (wh_acquaintance_ask(greeter, letter))
		return true;
	given = give_put_off(greeter, letter);
	for (uint32_t i = 0; i < greeter->config.guests && greeter->guests > 0 && !given; i++) {
		struct wh_guest *guest =
			&greeter->guest[(greeter->next_turn + i) % greeter->config.guests];

		given = guest->used && speak(guest, now_tsc, letter);
		if (given)
			greeter->next_turn += i;
	}
	if (given)
		greeter->stats.out_bytes += letter->bytes;
	return given;
}

/*
 * Within this time a server that is there answers. One that was restarted does not know the
 * greeting, and would let it pass its whole time.
 */
#define SILENT_MS 1000

static bool is_unheard(
	const struct wh_greeter *greeter, const struct wh_guest *guest, uint64_t now_tsc)
{
	return !guest->came && !guest->over && !guest->silent &&
	       guest->greeting.state != WH_GREETING_MET &&
	       now_tsc - guest->heard_tsc >
		       wh_ns_to_tsc(greeter->config.hz, SILENT_MS * UINT64_C(1000000));
}

static void poll_guest(struct wh_greeter *greeter, struct wh_guest *guest, uint64_t now_tsc)
{
	/*
	 * A server's greeting ends once all is acknowledged. A client stays, to repeat
	 * acknowledgements that were lost.
	 */
	bool done = guest->over && guest->came && wh_stream_is_acked(guest->stream) &&
		    !guest->stream->ack_due;

	if (!guest->over && guest->greeting.state == WH_GREETING_MET)
		wh_guest_step(greeter, guest, now_tsc);
	if (is_unheard(greeter, guest, now_tsc)) {
		guest->silent = true;
		wh_acquaintance_lost(greeter, &guest->peer, now_tsc);
	}
	if (!done && now_tsc < guest->until_tsc)
		return;
	if (!guest->over) {
		greeter->stats.late++;
		wh_guest_give_up(greeter, guest, "it took too long");
	}
	if (!guest->came)
		wh_acquaintance_lost(greeter, &guest->peer, now_tsc);
	wh_guest_end(greeter, guest);
}

int32_t wh_greeter_poll(struct wh_greeter *greeter, uint64_t now_tsc)
{
	int32_t work = wh_acquaintance_poll(greeter, now_tsc);

	for (uint32_t i = 0; i < greeter->config.guests && greeter->guests > 0; i++)
		if (greeter->guest[i].used)
			poll_guest(greeter, &greeter->guest[i], now_tsc);
	if (now_tsc >= greeter->next_sweep_tsc) {
		wh_keep_sweep(greeter, now_tsc);
		greeter->next_sweep_tsc = now_tsc + greeter->config.hz;
	}
	return work;
}
