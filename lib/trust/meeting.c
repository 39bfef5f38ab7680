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

/* Time for the delivery of the last bytes of a finished handshake. */
#define LAST_BYTES_MS 3000

/* Asks for the trust decision; NONE: pending. Without a believer our own key is trusted. */
static enum wh_reception believe(struct wh_handshakes *handshakes, struct wh_guest *guest)
{
	const struct wh_believer *believer = &handshakes->config.believer;
	const struct wh_handshake *handshake = &guest->handshake;
	const struct wh_stranger stranger = {
		.address = guest->peer,
		.id = handshake->peer_id,
		.certificate = wh_handshake_certificate(handshake),
		.chain = wh_handshake_chain(handshake),
		.we_asked = !guest->came,
	};

	memcpy(guest->granted.owner, stranger.id, WH_IDENTITY_BYTES);
	if (believer->believe == NULL)
		return memcmp(stranger.id, handshakes->config.identity->id, WH_IDENTITY_BYTES) == 0
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
static enum wh_reception judge(struct wh_handshakes *handshakes, struct wh_guest *guest)
{
	const struct wh_handshakes_config *config = &handshakes->config;
	const struct wh_card *theirs = &guest->handshake.theirs;
	bool wanted = theirs->verdict == WH_RECEPTION_WELCOME || !guest->came;
	enum wh_reception verdict;

	/* Somebody throws our packets back, and has no key at all. */
	if (memcmp(theirs->process, handshakes->process, sizeof(theirs->process)) == 0)
		return WH_RECEPTION_SELF;
	verdict = believe(handshakes, guest);
	if (verdict != WH_RECEPTION_WELCOME)
		return verdict;
	if (wanted && wh_handshake_cipher(&guest->handshake, config->ciphers) == 0)
		return WH_RECEPTION_CIPHER;
	/* For a peer's handshake the number was reserved at its beginning. */
	if (!guest->came && theirs->verdict == WH_RECEPTION_NONE)
		guest->bond_number = wh_guest_reserve(handshakes);
	return guest->bond_number != 0 ? WH_RECEPTION_WELCOME : WH_RECEPTION_BUSY;
}

static void tell(struct wh_handshakes *handshakes, const struct wh_guest *guest,
	struct wh_handshakes_news news)
{
	if (handshakes->config.tell == NULL)
		return;
	news.peer = guest->peer;
	news.came = guest->came;
	memcpy(news.id, guest->handshake.peer_id, sizeof(news.id));
	memcpy(news.version, guest->handshake.theirs.version, sizeof(news.version));
	handshakes->config.tell(handshakes->config.context, &news);
}

static void tell_verdict(struct wh_handshakes *handshakes, const struct wh_guest *guest,
	enum wh_reception verdict, bool by_peer)
{
	handshakes->stats.bonds += verdict == WH_RECEPTION_WELCOME;
	handshakes->stats.refused += verdict != WH_RECEPTION_WELCOME;
	tell(handshakes, guest,
		(struct wh_handshakes_news){.verdict = verdict, .by_peer = by_peer});
}

static struct wh_bond *make_bond(
	struct wh_handshakes *handshakes, struct wh_guest *guest, uint64_t now_tsc)
{
	const struct wh_handshake *handshake = &guest->handshake;
	struct wh_bond_config config = {
		.peer_number = handshake->theirs.number,
		.peer = guest->peer,
		.cipher = wh_handshake_cipher(handshake, handshakes->config.ciphers),
		.asked = !guest->came,
		.rights = guest->granted.rights,
	};
	struct wh_bond *bond = NULL;

	if (!guest->came)
		config.offer = (struct wh_bond_offer){
			.offered = handshake->theirs.offered,
			.peer = guest->peer,
			.queue = guest->queue,
			.rtt_us = guest->rtt_us,
			.came_us = wh_tsc_to_us(handshakes->config.hz, now_tsc),
		};
	memcpy(config.own_identity, handshakes->config.identity->id, sizeof(config.own_identity));
	memcpy(config.peer_identity, handshake->peer_id, sizeof(config.peer_identity));
	memcpy(config.peer_process, handshake->theirs.process, sizeof(config.peer_process));
	memcpy(config.owner, guest->granted.owner, sizeof(config.owner));
	if (wh_handshake_secret(handshake, config.secret)) {
		bond = wh_bonds_fill(handshakes->config.bonds, guest->bond_number, &config);
		guest->bond_number = 0;
	}
	wh_secret_wipe(&config, sizeof(config));
	return bond != NULL && wh_keep_bond(handshakes, bond, now_tsc) ? bond : NULL;
}

/* Passes the result to the peer's acquaintance, if we began the handshake. */
static void conclude(struct wh_handshakes *handshakes, struct wh_guest *guest, uint64_t now_tsc,
	struct wh_bond *bond, enum wh_reception verdict, bool by_peer)
{
	struct wh_meeting meeting = {
		.state = bond != NULL ? WH_MEETING_BONDED : WH_MEETING_REFUSED,
		.verdict = verdict,
		.by_peer = by_peer,
		.seen = true,
		.bond = bond,
	};

	memcpy(meeting.peer_id, guest->handshake.peer_id, sizeof(meeting.peer_id));
	if (guest->came)
		return;
	wh_acquaintance_settle(handshakes, guest, now_tsc, &meeting);
	/* A bond in doubt is kept until its sessions have let go of it. */
	if (meeting.bond != NULL)
		wh_keep_succeed(handshakes, meeting.bond);
}

/* A client that trusts the server uses the bond at once; the server's verdict may end it. */
static void settle_early(struct wh_handshakes *handshakes, struct wh_guest *guest, uint64_t now_tsc)
{
	guest->bond = make_bond(handshakes, guest, now_tsc);
	if (guest->bond == NULL)
		return;
	wh_bond_share(guest->bond);
	conclude(handshakes, guest, now_tsc, guest->bond, WH_RECEPTION_WELCOME, false);
}

/* Both verdicts are known: a bond, or a refusal by either end. */
static void settle(struct wh_handshakes *handshakes, struct wh_guest *guest, uint64_t now_tsc)
{
	const struct wh_handshake *handshake = &guest->handshake;
	enum wh_reception ours = (enum wh_reception)handshake->ours.verdict;
	bool welcome = ours == WH_RECEPTION_WELCOME && handshake->verdict == WH_RECEPTION_WELCOME;
	bool full = !guest->came && handshake->theirs.verdict == WH_RECEPTION_BUSY;
	bool by_peer = !welcome && (ours == WH_RECEPTION_WELCOME || full);

	if (welcome && guest->came) {
		guest->bond = make_bond(handshakes, guest, now_tsc);
		wh_shares_befriend(handshakes->shares, &guest->peer);
	}
	if (welcome && guest->bond == NULL) {
		welcome = false;
		ours = WH_RECEPTION_BUSY;
	}
	tell_verdict(handshakes, guest, by_peer ? handshake->verdict : ours, by_peer);
	/* Before the bond is revoked, so that its sessions can report the reason. */
	if (!welcome)
		conclude(handshakes, guest, now_tsc, NULL, by_peer ? handshake->verdict : ours,
			by_peer);
	if (!welcome && guest->bond != NULL)
		wh_keep_revoke(handshakes, guest->bond);
	/* For a peer's handshake the reference is held in `kept` only. */
	if (guest->came)
		guest->bond = NULL;
	guest->over = true;
	guest->stream->asks = false;
}

static void answer(struct wh_handshakes *handshakes, struct wh_guest *guest, uint64_t now_tsc)
{
	const struct wh_handshakes_config *config = &handshakes->config;
	enum wh_reception verdict;
	struct wh_card card;

	if (now_tsc < guest->ask_tsc)
		return;
	handshakes->stats.met += !guest->proved;
	guest->proved = true;
	guest->ask_tsc = now_tsc + wh_ns_to_tsc(config->hz, ASK_AGAIN_MS * UINT64_C(1000000));
	verdict = judge(handshakes, guest);
	if (verdict == WH_RECEPTION_NONE) {
		if (!guest->came)
			wh_acquaintance_judged(handshakes, guest);
		return;
	}
	wh_guest_card(handshakes, &card, verdict,
		verdict == WH_RECEPTION_WELCOME ? guest->bond_number : 0);
	wh_handshake_answer(&guest->handshake, &card);
	if (guest->handshake.state != WH_HANDSHAKE_WAITS)
		return;
	settle_early(handshakes, guest, now_tsc);
	wh_handshake_put(&guest->handshake, NULL, 0);
}

/* Without a verdict the peer may not have the bond. */
void wh_guest_give_up(struct wh_handshakes *handshakes, struct wh_guest *guest, const char *why)
{
	if (guest->bond != NULL)
		atomic_store(&guest->bond->hinted, true);
	tell(handshakes, guest, (struct wh_handshakes_news){.broken_by = why});
}

static void break_off(struct wh_handshakes *handshakes, struct wh_guest *guest)
{
	handshakes->stats.broken++;
	wh_guest_give_up(handshakes, guest,
		guest->handshake.broken_by != NULL ? guest->handshake.broken_by
						   : "it says more than there is room for");
	guest->over = true;
	guest->stream->asks = false;
}

void wh_guest_step(struct wh_handshakes *handshakes, struct wh_guest *guest, uint64_t now_tsc)
{
	uint8_t bytes[2048];
	uint32_t count;

	if (!guest->over && guest->handshake.state == WH_HANDSHAKE_MET)
		answer(handshakes, guest, now_tsc);
	/* Also writes TLS's alert, which tells the peer the reason. */
	while ((count = wh_handshake_take(&guest->handshake, bytes, sizeof(bytes))) > 0)
		if (!wh_stream_write(guest->stream, bytes, count))
			guest->handshake.state = WH_HANDSHAKE_BROKEN;
	if (guest->over)
		return;
	if (guest->handshake.state == WH_HANDSHAKE_DONE)
		settle(handshakes, guest, now_tsc);
	else if (guest->handshake.state == WH_HANDSHAKE_BROKEN)
		break_off(handshakes, guest);
	if (!guest->over)
		return;
	wh_handshake_end(&guest->handshake);
	guest->until_tsc =
		now_tsc + wh_ns_to_tsc(handshakes->config.hz, LAST_BYTES_MS * UINT64_C(1000000));
}
