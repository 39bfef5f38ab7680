/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer_seal.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "seal/sa.h"
#include "session/session_internal.h"

#define OURS   0
#define THEIRS 1

#define TYPE_AT 1
#define CID_AT  4

static const uint8_t no_cookie[WH_COOKIE_BYTES];

static uint32_t cid_of(const uint8_t *bytes)
{
	uint32_t cid;

	memcpy(&cid, bytes + CID_AT, sizeof(cid));
	return cid;
}

void wh_peer_address(struct wh_peer *peer, struct wh_packet *packet)
{
	struct wh_sa *sa = peer->attacker->sa;
	bool begins = packet->type == WH_PACKET_OPEN || packet->type == WH_PACKET_CONFIRM;

	if (sa == NULL || (!begins && packet->type != WH_PACKET_ACCEPT))
		return;
	packet->pn = wh_sa_next_pn(sa);
	if (begins)
		packet->cid = sa->config.peer_number;
	if (packet->type == WH_PACKET_OPEN)
		packet->open.answer_cid = peer->params.initiator_cid;
}

/* What an ACCEPT is about: the token of its OPEN. */
static uint64_t about(uint64_t token)
{
	return token != 0 ? token : 1;
}

/* Of the connection that a packet is for: ours, the server's to us, or none yet. */
static void close_by_token(const struct wh_peer *peer, uint8_t *bytes, uint32_t count)
{
	uint64_t token = cid_of(bytes) == peer->acceptor_cid ? peer->acceptor_token
							     : peer->theirs.initiator_token;
	struct wh_seal seal;

	if (bytes[TYPE_AT] == WH_PACKET_OPEN || bytes[TYPE_AT] == WH_PACKET_CONFIRM)
		token = 0;
	wh_seal_begin_checksum(&seal, token);
	wh_seal_close_packet(&seal, bytes, count);
}

bool wh_peer_close(struct wh_peer *peer, uint8_t *bytes, uint32_t count)
{
	const struct wh_sa *sa = peer->attacker->sa;
	uint8_t type = bytes[TYPE_AT];
	uint32_t whose =
		peer->in_open && cid_of(bytes) == peer->theirs.initiator_cid ? THEIRS : OURS;

	if (sa == NULL) {
		close_by_token(peer, bytes, count);
		return true;
	}
	if (type == WH_PACKET_OPEN || type == WH_PACKET_CONFIRM)
		return wh_sa_close(sa, 0, bytes, count);
	if (type == WH_PACKET_ACCEPT)
		return wh_sa_close(sa, about(peer->theirs.initiator_token), bytes, count);
	if (peer->to[whose].ops == NULL)
		return false;
	wh_seal_close_packet(&peer->to[whose], bytes, count);
	return true;
}

bool wh_peer_open_packet(struct wh_peer *peer, uint8_t *bytes, size_t count)
{
	const struct wh_sa *sa = peer->attacker->sa;
	uint32_t whose = cid_of(bytes) == peer->params.initiator_cid ? OURS : THEIRS;

	if (sa == NULL || count < WH_HEAD_BYTES)
		return sa == NULL;
	if (bytes[TYPE_AT] == WH_PACKET_OPEN)
		return wh_sa_open(sa, 0, bytes, count);
	if (bytes[TYPE_AT] == WH_PACKET_ACCEPT)
		return wh_sa_open(sa, about(peer->params.initiator_token), bytes, count);
	return peer->from[whose].ops != NULL &&
	       wh_seal_open_packet(&peer->from[whose], bytes, count) == WH_WIRE_OK;
}

static void begin(struct wh_peer *peer, uint32_t whose, uint32_t acceptor_cid,
	const uint8_t cookie[WH_COOKIE_BYTES], const struct wh_open_params *params)
{
	const size_t *bytes = wh_seal_gcm.memory_bytes;
	const struct wh_seal_direction ways[2] = {
		{.cid = params->initiator_cid}, {.cid = acceptor_cid, .to_acceptor = true}};
	struct wh_seal *seals[2] = {&peer->to[whose], &peer->from[whose]};
	struct wh_seal_secret secret;
	uint8_t *memory;

	if (peer->keys == NULL)
		peer->keys = aligned_alloc(64, 2 * (bytes[0] + bytes[1]));
	WH_ASSERT(peer->keys != NULL);
	memory = peer->keys + whose * (bytes[0] + bytes[1]);
	memset(memory, 0, bytes[0] + bytes[1]);
	wh_sealing_derive(peer->attacker->sa, acceptor_cid, cookie, params, &secret);
	for (uint32_t to_acceptor = 0; to_acceptor < 2; to_acceptor++) {
		/* Of our stream the server is the acceptor. */
		struct wh_seal *seal = seals[to_acceptor == (whose == THEIRS)];

		bool begun = wh_seal_begin(seal, &wh_seal_gcm, &ways[to_acceptor], &secret,
			memory + to_acceptor * bytes[0]);

		WH_ASSERT(begun);
	}
}

void wh_peer_seal_ours(struct wh_peer *peer)
{
	if (peer->attacker->sa != NULL)
		begin(peer, OURS, peer->acceptor_cid, peer->cookie, &peer->params);
}

/* Our ACCEPT has a cookie of zeros: there is nothing to prove to us. */
void wh_peer_seal_theirs(struct wh_peer *peer)
{
	if (peer->attacker->sa != NULL)
		begin(peer, THEIRS, peer->in_cid, no_cookie, &peer->theirs);
}

void wh_peer_seal_free(struct wh_peer *peer)
{
	for (uint32_t whose = 0; whose < 2; whose++) {
		wh_seal_end(&peer->to[whose]);
		wh_seal_end(&peer->from[whose]);
	}
	free(peer->keys);
	peer->keys = NULL;
}
