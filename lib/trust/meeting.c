/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When TLS has proved the peer's key: the trust decision, the exchange of verdicts, and the bond.
 */

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "trust/guest.h"

/* Pause before the trust decision is asked for again. */
#define ASK_AGAIN_MS 20

/* Time for the delivery of the last bytes of a finished greeting. */
#define LAST_BYTES_MS 3000

/* Asks for the trust decision; NONE: pending. Without a believer our own key is trusted. */
static enum wh_reception believe(struct wh_greeter *greeter, struct wh_guest *guest)
{
	const struct wh_believer *believer = &greeter->config.believer;
	const struct wh_greeting *greeting = &guest->greeting;
	const struct wh_stranger stranger = {
		.address = guest->peer,
		.id = greeting->peer_id,
		.certificate = wh_greeting_certificate(greeting),
		.chain = wh_greeting_chain(greeting),
		.we_asked = !guest->came,
	};

	memcpy(guest->granted.owner, stranger.id, WH_IDENTITY_BYTES);
	if (believer->believe == NULL)
		return memcmp(stranger.id, greeter->config.identity->id, WH_IDENTITY_BYTES) == 0
			       ? WH_RECEPTION_WELCOME
			       : WH_RECEPTION_UNKNOWN;
	switch (believer->believe(believer->context, &stranger, &guest->granted)) {
	case WH_BELIEVED:
		return WH_RECEPTION_WELCOME;
	case WH_DISBELIEVED:
		return WH_RECEPTION_UNKNOWN;
	default:
		return WH_RECEPTION_NONE;
	}
}

/* Our verdict, including cipher and bond number. */
static enum wh_reception judge(struct wh_greeter *greeter, struct wh_guest *guest)
{
	const struct wh_greeter_config *config = &greeter->config;
	const struct wh_card *theirs = &guest->greeting.theirs;
	bool wanted = theirs->verdict == WH_RECEPTION_WELCOME || !guest->came;
	enum wh_reception verdict;

	/* Somebody throws our packets back, and has no key at all. */
	if (memcmp(theirs->process, greeter->process, sizeof(theirs->process)) == 0)
		return WH_RECEPTION_SELF;
	verdict = believe(greeter, guest);
	if (verdict != WH_RECEPTION_WELCOME)
		return verdict;
	if (wanted && wh_greeting_cipher(&guest->greeting, config->ciphers) == 0)
		return WH_RECEPTION_CIPHER;
	/* For a peer's greeting the number was reserved at its beginning. */
	if (!guest->came && theirs->verdict == WH_RECEPTION_NONE)
		guest->bond_number = wh_guest_reserve(greeter);
	return guest->bond_number != 0 ? WH_RECEPTION_WELCOME : WH_RECEPTION_BUSY;
}

static void tell(
	struct wh_greeter *greeter, const struct wh_guest *guest, struct wh_greeter_news news)
{
	if (greeter->config.tell == NULL)
		return;
	news.peer = guest->peer;
	news.came = guest->came;
	memcpy(news.id, guest->greeting.peer_id, sizeof(news.id));
	memcpy(news.version, guest->greeting.theirs.version, sizeof(news.version));
	greeter->config.tell(greeter->config.context, &news);
}

static void tell_verdict(struct wh_greeter *greeter, const struct wh_guest *guest,
	enum wh_reception verdict, bool by_peer)
{
	greeter->stats.bonds += verdict == WH_RECEPTION_WELCOME;
	greeter->stats.refused += verdict != WH_RECEPTION_WELCOME;
	tell(greeter, guest, (struct wh_greeter_news){.verdict = verdict, .by_peer = by_peer});
}

static struct wh_bond *make_bond(
	struct wh_greeter *greeter, struct wh_guest *guest, uint64_t now_tsc)
{
	const struct wh_greeting *greeting = &guest->greeting;
	struct wh_bond_config config = {
		.peer_number = greeting->theirs.number,
		.peer = guest->peer,
		.cipher = wh_greeting_cipher(greeting, greeter->config.ciphers),
		.asked = !guest->came,
		.rights = guest->granted.rights,
	};
	struct wh_bond *bond = NULL;

	if (!guest->came)
		config.offer = (struct wh_bond_offer){
			.offered = greeting->theirs.offered,
			.peer = guest->peer,
			.queue = guest->queue,
			.rtt_us = guest->rtt_us,
			.came_us = wh_tsc_to_us(greeter->config.hz, now_tsc),
		};
	memcpy(config.own_identity, greeter->config.identity->id, sizeof(config.own_identity));
	memcpy(config.peer_identity, greeting->peer_id, sizeof(config.peer_identity));
	memcpy(config.peer_process, greeting->theirs.process, sizeof(config.peer_process));
	memcpy(config.owner, guest->granted.owner, sizeof(config.owner));
	if (wh_greeting_secret(greeting, config.secret)) {
		bond = wh_bonds_fill(greeter->config.bonds, guest->bond_number, &config);
		guest->bond_number = 0;
	}
	wh_secret_wipe(&config, sizeof(config));
	return bond != NULL && wh_keep_bond(greeter, bond, now_tsc) ? bond : NULL;
}

/* Passes the result to the peer's acquaintance, if we began the greeting. */
static void conclude(struct wh_greeter *greeter, struct wh_guest *guest, uint64_t now_tsc,
	struct wh_bond *bond, enum wh_reception verdict, bool by_peer)
{
	struct wh_meeting meeting = {
		.state = bond != NULL ? WH_MEETING_BONDED : WH_MEETING_REFUSED,
		.verdict = verdict,
		.by_peer = by_peer,
		.seen = true,
		.bond = bond,
	};

	memcpy(meeting.peer_id, guest->greeting.peer_id, sizeof(meeting.peer_id));
	if (guest->came)
		return;
	wh_acquaintance_settle(greeter, guest, now_tsc, &meeting);
	/* A bond in doubt is kept until its sessions have let go of it. */
	if (meeting.bond != NULL)
		wh_keep_succeed(greeter, meeting.bond);
}

/* A client that trusts the server uses the bond at once; the server's verdict may end it. */
static void settle_early(struct wh_greeter *greeter, struct wh_guest *guest, uint64_t now_tsc)
{
	guest->bond = make_bond(greeter, guest, now_tsc);
	if (guest->bond == NULL)
		return;
	wh_bond_share(guest->bond);
	conclude(greeter, guest, now_tsc, guest->bond, WH_RECEPTION_WELCOME, false);
}

/* Both verdicts are known: a bond, or a refusal by either end. */
static void settle(struct wh_greeter *greeter, struct wh_guest *guest, uint64_t now_tsc)
{
	const struct wh_greeting *greeting = &guest->greeting;
	enum wh_reception ours = (enum wh_reception)greeting->ours.verdict;
	bool welcome = ours == WH_RECEPTION_WELCOME && greeting->verdict == WH_RECEPTION_WELCOME;
	bool full = !guest->came && greeting->theirs.verdict == WH_RECEPTION_BUSY;
	bool by_peer = !welcome && (ours == WH_RECEPTION_WELCOME || full);

	if (welcome && guest->came) {
		guest->bond = make_bond(greeter, guest, now_tsc);
		wh_shares_befriend(greeter->shares, &guest->peer);
	}
	if (welcome && guest->bond == NULL) {
		welcome = false;
		ours = WH_RECEPTION_BUSY;
	}
	tell_verdict(greeter, guest, by_peer ? greeting->verdict : ours, by_peer);
	/* Before the bond is revoked, so that its sessions can report the reason. */
	if (!welcome)
		conclude(
			greeter, guest, now_tsc, NULL, by_peer ? greeting->verdict : ours, by_peer);
	if (!welcome && guest->bond != NULL)
		wh_keep_revoke(greeter, guest->bond);
	/* For a peer's greeting the reference is held in `kept` only. */
	if (guest->came)
		guest->bond = NULL;
	guest->over = true;
	guest->stream->asks = false;
}

static void answer(struct wh_greeter *greeter, struct wh_guest *guest, uint64_t now_tsc)
{
	const struct wh_greeter_config *config = &greeter->config;
	enum wh_reception verdict;
	struct wh_card card;

	if (now_tsc < guest->ask_tsc)
		return;
	greeter->stats.met += !guest->proved;
	guest->proved = true;
	guest->ask_tsc = now_tsc + wh_ns_to_tsc(config->hz, ASK_AGAIN_MS * UINT64_C(1000000));
	verdict = judge(greeter, guest);
	if (verdict == WH_RECEPTION_NONE) {
		if (!guest->came)
			wh_acquaintance_judged(greeter, guest);
		return;
	}
	wh_guest_card(
		greeter, &card, verdict, verdict == WH_RECEPTION_WELCOME ? guest->bond_number : 0);
	wh_greeting_answer(&guest->greeting, &card);
	if (guest->greeting.state != WH_GREETING_WAITS)
		return;
	settle_early(greeter, guest, now_tsc);
	wh_greeting_put(&guest->greeting, NULL, 0);
}

/* Without a verdict the peer may not have the bond. */
void wh_guest_give_up(struct wh_greeter *greeter, struct wh_guest *guest, const char *why)
{
	if (guest->bond != NULL)
		atomic_store(&guest->bond->hinted, true);
	tell(greeter, guest, (struct wh_greeter_news){.broken_by = why});
}

static void break_off(struct wh_greeter *greeter, struct wh_guest *guest)
{
	greeter->stats.broken++;
	wh_guest_give_up(greeter, guest,
		guest->greeting.broken_by != NULL ? guest->greeting.broken_by
						  : "it says more than there is room for");
	guest->over = true;
	guest->stream->asks = false;
}

void wh_guest_step(struct wh_greeter *greeter, struct wh_guest *guest, uint64_t now_tsc)
{
	uint8_t bytes[2048];
	uint32_t count;

	if (!guest->over && guest->greeting.state == WH_GREETING_MET)
		answer(greeter, guest, now_tsc);
	/* Also writes TLS's alert, which tells the peer the reason. */
	while ((count = wh_greeting_take(&guest->greeting, bytes, sizeof(bytes))) > 0)
		if (!wh_stream_write(guest->stream, bytes, count))
			guest->greeting.state = WH_GREETING_BROKEN;
	if (guest->over)
		return;
	if (guest->greeting.state == WH_GREETING_DONE)
		settle(greeter, guest, now_tsc);
	else if (guest->greeting.state == WH_GREETING_BROKEN)
		break_off(greeter, guest);
	if (!guest->over)
		return;
	wh_greeting_end(&guest->greeting);
	guest->until_tsc =
		now_tsc + wh_ns_to_tsc(greeter->config.hz, LAST_BYTES_MS * UINT64_C(1000000));
}
