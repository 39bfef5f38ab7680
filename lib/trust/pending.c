/* SPDX-License-Identifier: BSD-3-Clause */

/* The places for handshakes, and which handshakes get one. */

#include <stdlib.h>
#include <string.h>

#include <openssl/rand.h>

#include "base/assert.h"
#include "base/clock.h"
#include "trust/pending.h"

#define GRACE_RTTS   4
#define GRACE_MIN_US 100000

/*
 * Time in which a handshake cannot lose its place: a peer that is alive continues within a few
 * round trips.
 */
static uint64_t grace(const struct wh_handshakes *handshakes, uint32_t rtt_us)
{
	uint64_t grace_us = wh_max_u64(GRACE_RTTS * (uint64_t)rtt_us, GRACE_MIN_US);

	return wh_us_to_tsc(handshakes->config.hz,
		wh_min_u64(grace_us, WH_HANDSHAKE_GRACE_MS * UINT64_C(1000)));
}

/* The places as a peer's new handshake finds them; handshakes of ours do not count. */
struct occupancy {
	uint32_t of_host;        /* of the peer's host */
	uint32_t of_subnet;      /* of the peer's subnet, without friends */
	uint32_t strangers;      /* all without friends */
	struct wh_pending *free; /* NULL: none */
	/* By rank of the host, the handshake that began first; NULL: none. */
	struct wh_pending *first[WH_HOST_RANKS];
	struct wh_pending *first_of_subnet[WH_HOST_RANKS];
};

static struct wh_pending *older(struct wh_pending *one, struct wh_pending *other)
{
	return one == NULL || other->began_tsc < one->began_tsc ? other : one;
}

static struct occupancy look(struct wh_handshakes *handshakes, const struct wh_address *peer)
{
	struct occupancy taken = {0};

	for (uint32_t i = 0; i < handshakes->config.n_pending; i++) {
		struct wh_pending *pending = &handshakes->pending[i];
		uint32_t rank = pending->rank;

		if (!pending->used)
			taken.free = pending;
		if (!pending->used || !pending->came)
			continue;
		taken.of_host += wh_shares_same_host(&pending->peer, peer);
		taken.strangers += rank != WH_HOST_FRIEND;
		taken.first[rank] = older(taken.first[rank], pending);
		if (rank == WH_HOST_FRIEND || !wh_shares_same_subnet(&pending->peer, peer))
			continue;
		taken.of_subnet++;
		taken.first_of_subnet[rank] = older(taken.first_of_subnet[rank], pending);
	}
	return taken;
}

static struct wh_pending *evict(
	struct wh_handshakes *handshakes, uint64_t now_tsc, struct wh_pending *pending)
{
	struct wh_put_off put_off = {
		.peer = pending->peer,
		.queue = pending->queue,
		.cookie.handshake = pending->number,
	};

	memcpy(put_off.via, pending->via, sizeof(put_off.via));
	memcpy(put_off.cookie.cookie, pending->cookie, sizeof(put_off.cookie.cookie));
	if (!pending->over) {
		handshakes->stats.crowded_out++;
		wh_pending_put_off(handshakes, now_tsc, &put_off);
	}
	wh_pending_end(handshakes, pending);
	return pending;
}

/*
 * Takes the place of one of the handshakes in `first` for a host of that rank; NULL: of none. A
 * handshake of a lower rank gives way at once, one of the same rank after its grace.
 */
static struct wh_pending *make_room(struct wh_handshakes *handshakes, uint64_t now_tsc,
	struct wh_pending *const first[WH_HOST_RANKS], enum wh_host_rank rank)
{
	for (uint32_t lower = 0; lower < rank; lower++)
		if (first[lower] != NULL)
			return evict(handshakes, now_tsc, first[lower]);

	struct wh_pending *equal = first[rank];

	if (equal == NULL || now_tsc - equal->began_tsc < equal->grace_tsc)
		return NULL;
	return evict(handshakes, now_tsc, equal);
}

/*
 * A place for a handshake; NULL: none. One of ours has the rank of a friend. A quarter of all
 * places is kept for friends; a subnet gets at most a third of the others.
 */
static struct wh_pending *find_place(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_address *peer, enum wh_host_rank rank, bool came)
{
	uint32_t share = (handshakes->config.n_pending + 3) / 4;
	struct occupancy taken = look(handshakes, peer);
	bool strange = rank != WH_HOST_FRIEND;

	if (came && taken.of_host >= handshakes->config.pending_of_address)
		return NULL;
	if (strange && taken.of_subnet >= share)
		return make_room(handshakes, now_tsc, taken.first_of_subnet, rank);
	if (taken.free != NULL &&
		(!strange || taken.strangers < handshakes->config.n_pending - share))
		return taken.free;
	return make_room(handshakes, now_tsc, taken.first, rank);
}

/*
 * Queues the answer that a peer's handshake is not here, unless the queue is full or the peer was
 * told so too often.
 */
void wh_pending_put_off(
	struct wh_handshakes *handshakes, uint64_t now_tsc, const struct wh_put_off *put_off)
{
	if (handshakes->put_offs == WH_HANDSHAKES_PUT_OFFS ||
		!wh_shares_may_tell(handshakes->shares, now_tsc, &put_off->peer))
		return;
	handshakes->put_off[handshakes->put_offs++] = *put_off;
	handshakes->stats.put_off++;
}

uint32_t wh_pending_reserve(struct wh_handshakes *handshakes)
{
	uint32_t random;

	return RAND_bytes((uint8_t *)&random, sizeof(random)) == 1
		       ? wh_sadb_reserve(handshakes->config.sadb, random)
		       : 0;
}

void wh_pending_auth(const struct wh_handshakes *handshakes, struct wh_auth *auth,
	enum wh_auth_verdict verdict, uint32_t number)
{
	const char *version = handshakes->config.version;

	*auth = (struct wh_auth){
		.verdict = (uint8_t)verdict,
		.ciphers = handshakes->config.ciphers,
		.number = number,
	};
	memcpy(auth->process, handshakes->process, sizeof(auth->process));
	memcpy(auth->version, version, strnlen(version, sizeof(auth->version) - 1));
}

/*
 * A server's first auth message goes out before the client has proved anything. It has an SA
 * number, which is of no use without that proof, and the offer of a first session.
 */
static int begin_handshake(struct wh_handshakes *handshakes, struct wh_pending *pending,
	const struct wh_handshake_datagram *datagram)
{
	struct wh_auth first;

	if (!pending->came)
		return wh_handshake_begin(&pending->handshake, &handshakes->ends, NULL);
	pending->sa_number = wh_pending_reserve(handshakes);
	wh_pending_auth(handshakes, &first, pending->sa_number != 0 ? WH_AUTH_NONE : WH_AUTH_BUSY,
		pending->sa_number);
	first.offered.cid = datagram->offered_cid;
	memcpy(first.offered.cookie, datagram->offered_cookie, sizeof(first.offered.cookie));
	return wh_handshake_begin(&pending->handshake, &handshakes->ends, &first);
}

struct wh_pending *wh_pending_begin(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_crypto *packet, bool came)
{
	const struct wh_handshakes_config *config = &handshakes->config;
	enum wh_host_rank rank = WH_HOST_FRIEND;
	struct wh_pending *pending = NULL;

	if (came)
		rank = wh_shares_rank(handshakes->shares, now_tsc, &datagram->peer);
	if (!came || wh_shares_may(handshakes->shares, now_tsc, &datagram->peer, rank))
		pending = find_place(handshakes, now_tsc, &datagram->peer, rank, came);
	if (pending == NULL)
		return NULL;
	*pending = (struct wh_pending){
		.came = came,
		.rank = rank,
		.peer = datagram->peer,
		.queue = datagram->queue,
		.number = packet->handshake,
		.rtt_us = datagram->rtt_us,
		.began_tsc = now_tsc,
		.heard_tsc = now_tsc,
		.grace_tsc = grace(handshakes, datagram->rtt_us),
		.until_tsc = now_tsc + WH_HANDSHAKE_S * config->hz,
		.stream = malloc(sizeof(*pending->stream)),
	};
	memcpy(pending->via, datagram->via, sizeof(pending->via));
	memcpy(pending->cookie, packet->cookie, sizeof(pending->cookie));
	if (pending->stream == NULL || begin_handshake(handshakes, pending, datagram) != 0) {
		if (pending->sa_number != 0)
			wh_sadb_cancel(config->sadb, pending->sa_number);
		free(pending->stream);
		return NULL;
	}
	wh_stream_init(
		pending->stream, config->hz, wh_us_to_tsc(config->hz, datagram->rtt_us), !came);
	pending->used = true;
	handshakes->n_pending++;
	handshakes->stats.began += came;
	if (came)
		wh_shares_use(handshakes->shares, now_tsc, &datagram->peer, rank);
	return pending;
}

struct wh_pending *wh_pending_find(struct wh_handshakes *handshakes,
	const struct wh_handshake_datagram *datagram, const struct wh_crypto *packet, bool came)
{
	for (uint32_t i = 0; i < handshakes->config.n_pending; i++) {
		struct wh_pending *pending = &handshakes->pending[i];

		if (pending->used && pending->came == came &&
			pending->number == packet->handshake &&
			memcmp(pending->cookie, packet->cookie, sizeof(pending->cookie)) == 0 &&
			wh_address_equal(&pending->peer, &datagram->peer))
			return pending;
	}
	return NULL;
}

void wh_pending_end(struct wh_handshakes *handshakes, struct wh_pending *pending)
{
	WH_ASSERT(pending->used && handshakes->n_pending > 0);
	if (pending->sa_number != 0)
		wh_sadb_cancel(handshakes->config.sadb, pending->sa_number);
	wh_sa_let_go(pending->sa);
	if (pending->handshake.ssl != NULL)
		wh_handshake_end(&pending->handshake);
	free(pending->stream);
	pending->used = false;
	handshakes->n_pending--;
}
