/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Peers that we look for: ASK is repeated until a cookie arrives, or one was told before. Then a
 * handshake begins.
 */

#include <string.h>

#include "base/clock.h"
#include "trust/pending.h"

#define ASK_PATIENCE_MS     100
#define ASK_PATIENCE_MAX_MS 1000

/* So often a pause doubles: its upper bound is a quarter, a half and all of WH_PUT_OFF_MS. */
#define PUT_OFF_DOUBLINGS 2

/* A peer that refused us is asked again after this, since it may trust us by now. */
#define REFUSED_MS 1000

static uint64_t ms_tsc(const struct wh_handshakes *handshakes, uint64_t ms)
{
	return wh_ns_to_tsc(handshakes->config.hz, ms * 1000000);
}

/* Places are taken in order and never given back: behind the first free one are no peers. */
static bool is_taken(const struct wh_handshakes *handshakes, uint32_t i)
{
	return i < WH_HANDSHAKES_KNOWN_PEERS && handshakes->known_peer[i].peer.family != 0;
}

static struct wh_known_peer *find(struct wh_handshakes *handshakes, const struct wh_address *peer)
{
	for (uint32_t i = 0; is_taken(handshakes, i); i++)
		if (wh_address_equal(&handshakes->known_peer[i].peer, peer))
			return &handshakes->known_peer[i];
	return NULL;
}

static void begin(struct wh_handshakes *handshakes, struct wh_known_peer *one, uint64_t now_tsc)
{
	one->attempt.state = WH_ATTEMPT_ASKS;
	one->next_ask_tsc = now_tsc;
	one->patience_tsc = ms_tsc(handshakes, ASK_PATIENCE_MS);
}

/* A place that is free, or whose peer is not wanted any more. */
static struct wh_known_peer *make(
	struct wh_handshakes *handshakes, uint64_t now_tsc, const struct wh_address *peer)
{
	uint64_t wanted_tsc = WH_ATTEMPT_WANTED_S * handshakes->config.hz;

	for (uint32_t i = 0; i < WH_HANDSHAKES_KNOWN_PEERS; i++) {
		struct wh_known_peer *one = &handshakes->known_peer[i];

		if (one->peer.family != 0 && now_tsc - one->wanted_tsc <= wanted_tsc)
			continue;
		*one = (struct wh_known_peer){
			.peer = *peer,
			.number = wh_handshake_number(handshakes->config.key, peer),
		};
		begin(handshakes, one, now_tsc);
		return one;
	}
	return NULL;
}

void wh_handshakes_attempt(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_address *peer, struct wh_attempt *attempt)
{
	*attempt = (struct wh_attempt){.state = WH_ATTEMPT_FULL};
	WH_HOLD(&handshakes->lock);

	struct wh_known_peer *one = find(handshakes, peer);

	if (one == NULL)
		one = make(handshakes, now_tsc, peer);
	if (one != NULL) {
		one->wanted_tsc = now_tsc;
		*attempt = one->attempt;
		if (attempt->sa != NULL)
			wh_sa_share(attempt->sa);
	}
}

static bool is_none(const uint8_t cookie[WH_COOKIE_BYTES])
{
	static const uint8_t none[WH_COOKIE_BYTES];

	return memcmp(cookie, none, sizeof(none)) == 0;
}

/* The pause doubles, so that many peers ask less often, and is random, so that they spread. */
static uint64_t put_off_tsc(
	const struct wh_handshakes *handshakes, uint64_t now_tsc, uint32_t put_offs)
{
	uint32_t doublings = put_offs < PUT_OFF_DOUBLINGS ? put_offs : PUT_OFF_DOUBLINGS;
	uint64_t most_tsc = ms_tsc(handshakes, (WH_PUT_OFF_MS >> PUT_OFF_DOUBLINGS) << doublings);
	uint64_t random = wh_siphash24(handshakes->process, &now_tsc, sizeof(now_tsc));

	return most_tsc / 2 + random % (most_tsc / 2);
}

bool wh_known_peer_takes(struct wh_handshakes *handshakes, const struct wh_address *peer,
	const struct wh_cookie *packet, uint64_t *asked_tsc)
{
	bool begins = false;

	WH_HOLD(&handshakes->lock);

	struct wh_known_peer *one = find(handshakes, peer);

	if (one != NULL && is_none(packet->cookie)) {
		one->attempt.unsealed = true;
	} else if (one != NULL && one->number == packet->handshake && one->asks) {
		one->asks = false;
		one->with_handshake = true;
		if (one->attempt.state == WH_ATTEMPT_ASKS)
			one->attempt.state = WH_ATTEMPT_RUNS;
		begins = true;
		*asked_tsc = one->asked_tsc;
	}
	return begins;
}

void wh_known_peer_wait(
	struct wh_handshakes *handshakes, const struct wh_address *peer, uint64_t now_tsc)
{
	WH_HOLD(&handshakes->lock);

	struct wh_known_peer *one = find(handshakes, peer);

	if (one != NULL) {
		one->attempt.put_off = true;
		one->next_ask_tsc = now_tsc + put_off_tsc(handshakes, now_tsc, one->put_offs++);
	}
}

void wh_known_peer_versions(struct wh_handshakes *handshakes,
	const struct wh_handshake_datagram *datagram, const struct wh_versions *versions)
{
	WH_HOLD(&handshakes->lock);

	struct wh_known_peer *one = find(handshakes, &datagram->peer);

	if (one != NULL && one->number == versions->handshake && one->asks) {
		one->attempt.least = versions->least;
		one->attempt.most = versions->most;
	}
}

/* The trust decision is pending. */
void wh_known_peer_judged(struct wh_handshakes *handshakes, const struct wh_pending *pending)
{
	WH_HOLD(&handshakes->lock);

	struct wh_known_peer *one = find(handshakes, &pending->peer);

	if (one != NULL && one->attempt.state == WH_ATTEMPT_RUNS) {
		one->attempt.state = WH_ATTEMPT_JUDGED;
		one->attempt.seen = true;
		memcpy(one->attempt.peer_id, pending->handshake.peer_id,
			sizeof(one->attempt.peer_id));
	}
}

/* The handshake failed: it is begun again after a while. */
void wh_known_peer_lost(
	struct wh_handshakes *handshakes, const struct wh_address *peer, uint64_t now_tsc)
{
	WH_HOLD(&handshakes->lock);

	struct wh_known_peer *one = find(handshakes, peer);

	if (one != NULL && one->with_handshake) {
		one->with_handshake = false;
		if (one->attempt.state == WH_ATTEMPT_RUNS ||
			one->attempt.state == WH_ATTEMPT_JUDGED)
			one->attempt.state = WH_ATTEMPT_ASKS;
		one->next_ask_tsc = now_tsc + one->patience_tsc;
	}
}

void wh_known_peer_settle(struct wh_handshakes *handshakes, const struct wh_pending *pending,
	uint64_t now_tsc, const struct wh_attempt *attempt)
{
	WH_HOLD(&handshakes->lock);

	struct wh_known_peer *one = find(handshakes, &pending->peer);

	if (one != NULL) {
		one->with_handshake = false;
		one->asks = false;
		one->put_offs = 0;
		if (attempt->sa != NULL || one->attempt.sa == pending->sa)
			one->attempt = *attempt;
		one->next_ask_tsc = now_tsc + ms_tsc(handshakes, REFUSED_MS);
	}
}

/* Sessions need a successor of the SA that their peer has lost; no user may be asking for one. */
void wh_known_peer_seek(struct wh_handshakes *handshakes, uint64_t now_tsc, struct wh_sa *lost)
{
	const struct wh_sa *found = NULL;

	wh_spin_lock(&handshakes->lock);

	struct wh_known_peer *one = find(handshakes, &lost->config.peer);

	if (one == NULL)
		one = make(handshakes, now_tsc, &lost->config.peer);
	if (one != NULL) {
		one->wanted_tsc = now_tsc;
		found = one->attempt.sa;
	}
	wh_spin_unlock(&handshakes->lock);
	/* Safe without the lock: the reference to it is let go on this core only. */
	if (found == NULL || atomic_load(&found->hinted) || !wh_keep_is_of_same_peer(lost, found))
		return;
	wh_sa_succeed(lost, wh_sa_number(found));
	wh_sadb_tell(handshakes->config.sadb);
}

void wh_known_peer_forget(struct wh_handshakes *handshakes, const struct wh_sa *sa)
{
	WH_HOLD(&handshakes->lock);
	for (uint32_t i = 0; is_taken(handshakes, i); i++) {
		struct wh_known_peer *one = &handshakes->known_peer[i];

		if (one->attempt.sa != sa)
			continue;
		one->attempt = (struct wh_attempt){.state = WH_ATTEMPT_ASKS};
		one->next_ask_tsc = 0;
	}
}

/* Whether the handshake begins with a cookie that needs no ASK, once. */
static bool takes_told(struct wh_handshakes *handshakes, const struct wh_known_peer *one)
{
	if (handshakes->told_used || !wh_address_equal(&handshakes->config.told.peer, &one->peer))
		return false;
	handshakes->told_used = true;
	return true;
}

/* Whether an ASK to the peer is due. */
static bool poll_one(struct wh_handshakes *handshakes, struct wh_known_peer *one, uint64_t now_tsc)
{
	struct wh_sa *sa = one->attempt.sa;
	bool doubted = sa != NULL && atomic_load(&sa->hinted);
	/*
	 * Sessions under an SA that the peer has lost wait for the next one. One reference is the
	 * handshake server's own.
	 */
	bool wanted = now_tsc - one->wanted_tsc <= WH_ATTEMPT_WANTED_S * handshakes->config.hz ||
		      (doubted && wh_sa_holders(sa) > 1);
	bool needed = one->attempt.state != WH_ATTEMPT_HAS_SA || doubted;

	if (one->with_handshake || !wanted || !needed || now_tsc < one->next_ask_tsc)
		return false;
	if (!one->asks)
		one->patience_tsc = ms_tsc(handshakes, ASK_PATIENCE_MS);
	if (one->attempt.state == WH_ATTEMPT_REFUSED)
		one->attempt = (struct wh_attempt){.state = WH_ATTEMPT_ASKS};
	one->asks = true;
	one->ask_due = !takes_told(handshakes, one);
	one->asked_tsc = now_tsc;
	one->next_ask_tsc = now_tsc + one->patience_tsc;
	one->patience_tsc =
		wh_min_u64(2 * one->patience_tsc, ms_tsc(handshakes, ASK_PATIENCE_MAX_MS));
	return true;
}

int32_t wh_known_peer_poll(struct wh_handshakes *handshakes, uint64_t now_tsc)
{
	int32_t work = 0;

	WH_HOLD(&handshakes->lock);
	for (uint32_t i = 0; is_taken(handshakes, i); i++)
		work += poll_one(handshakes, &handshakes->known_peer[i], now_tsc);
	return work;
}

bool wh_known_peer_ask(struct wh_handshakes *handshakes, struct wh_handshake_datagram *datagram)
{
	struct wh_packet packet = {.type = WH_PACKET_ASK};
	bool due = false;

	wh_spin_lock(&handshakes->lock);
	for (uint32_t i = 0; is_taken(handshakes, i) && !due; i++) {
		struct wh_known_peer *one = &handshakes->known_peer[i];

		due = one->ask_due;
		if (!due)
			continue;
		one->ask_due = false;
		packet.ask.handshake = one->number;
		*datagram = (struct wh_handshake_datagram){.peer = one->peer};
	}
	wh_spin_unlock(&handshakes->lock);
	if (due)
		wh_handshake_datagram_write(datagram, &packet);
	return due;
}
