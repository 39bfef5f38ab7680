/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A session under an SA has seals, whose keys both ends derive from the SA and from what they said
 * to open the session. It also has replay windows, which an authenticated packet passes only once.
 */

#include <string.h>

#include "session/session_internal.h"

/* The replay window of data, in packets. */
#define REPLAY_DATA (1u << 16)

/* What both ends have said while opening. They have the same keys only if they agree on it. */
struct transcript {
	uint32_t acceptor_cid;
	/* Contains 64 random bits of the acceptor. */
	uint8_t cookie[WH_COOKIE_BYTES];
	/* Contains random bits and the connection ID of the initiator. */
	uint8_t params[WH_CONTROL_BYTES_MAX];
} __attribute__((packed));

/*
 * Memory of both seals. Behind it lies, at a receiver, the replay window of data; at a transmitter,
 * the key of ACCEPT.
 */
static size_t seals_bytes(void)
{
	return wh_seal_gcm.memory_bytes[0] + wh_seal_gcm.memory_bytes[1];
}

uint64_t wh_session_sealing_bytes(enum wh_role role)
{
	return seals_bytes() + (role == WH_RECEIVER ? REPLAY_DATA / 8 : sizeof(struct wh_gcm_raw));
}

const struct wh_gcm_raw *wh_sealing_accept_key(const struct wh_session *s)
{
	WH_DEBUG_ASSERT(s->role == WH_TRANSMITTER);
	return (const struct wh_gcm_raw *)(s->keys + seals_bytes());
}

void wh_sealing_expect(struct wh_session *s, uint64_t about)
{
	WH_ASSERT(s->role == WH_TRANSMITTER && about != 0);
	wh_sa_key(s->sa, false, about, (struct wh_gcm_raw *)(s->keys + seals_bytes()));
	wh_sa_log_key(s->sa, false, about, "accept", s->local_cid);
}

static void open_windows(struct wh_session *s)
{
	for (uint32_t type = 0; type < WH_PACKET_TYPES; type++)
		wh_replay_init(&s->heard[type], &s->heard_bits[type], WH_REPLAY_SMALL);
}

int wh_sealing_alloc(struct wh_session *s, struct wh_sa *sa)
{
	WH_ASSERT(s->sa == NULL);
	s->keys = wh_secret_alloc(wh_session_sealing_bytes(s->role));
	if (s->keys == NULL)
		return -ENOMEM;
	wh_sa_share(sa);
	s->sa = sa;
	open_windows(s);
	if (s->role == WH_RECEIVER)
		wh_replay_init(&s->heard[WH_PACKET_DATA], (uint64_t *)(s->keys + seals_bytes()),
			REPLAY_DATA);
	return 0;
}

static bool begin(struct wh_session *s, struct wh_seal *seal, bool to_acceptor, uint32_t cid,
	const struct wh_seal_secret *secret)
{
	const struct wh_seal_direction direction = {.cid = cid, .to_acceptor = to_acceptor};
	uint8_t *memory = s->keys + (to_acceptor ? wh_seal_gcm.memory_bytes[0] : 0);

	return wh_seal_begin(seal, &wh_seal_gcm, &direction, secret, memory);
}

void wh_sealing_derive(const struct wh_sa *sa, uint32_t acceptor_cid,
	const uint8_t cookie[WH_COOKIE_BYTES], const struct wh_open_params *params,
	struct wh_seal_secret *secret)
{
	struct transcript said = {.acceptor_cid = acceptor_cid};
	size_t params_bytes = wh_params_encode(params, said.params);

	memcpy(said.cookie, cookie, WH_COOKIE_BYTES);
	secret->cipher = sa->config.cipher;
	wh_sa_derive(sa, "session", &said, offsetof(struct transcript, params) + params_bytes,
		secret->secret);
}

bool wh_sealing_begin(struct wh_session *s, const uint8_t cookie[WH_COOKIE_BYTES])
{
	bool initiates = s->role == WH_TRANSMITTER;
	struct wh_seal_secret secret;

	wh_sealing_derive(
		s->sa, initiates ? s->peer_cid : s->local_cid, cookie, &s->params, &secret);

	bool begun = begin(s, &s->send_seal, initiates, s->peer_cid, &secret) &&
		     begin(s, &s->receive_seal, !initiates, s->local_cid, &secret);

	wh_secret_wipe(&secret, sizeof(secret));
	atomic_store_explicit(&s->sealed, begun, memory_order_release);
	return begun;
}

void wh_sealing_end(struct wh_session *s)
{
	if (s->sa == NULL)
		return;
	wh_seal_end(&s->send_seal);
	wh_seal_end(&s->receive_seal);
	wh_secret_free(s->keys, wh_session_sealing_bytes(s->role));
	wh_sa_let_go(s->sa);
	s->sa = NULL;
}

void wh_sealing_renew(struct wh_session *s, struct wh_sadb *sadb)
{
	uint32_t number = wh_sa_successor(s->sa);
	struct wh_sa *next = number != 0 && sadb != NULL ? wh_sadb_hold(sadb, number) : NULL;

	WH_ASSERT(s->role == WH_TRANSMITTER);
	wh_seal_end(&s->send_seal);
	wh_seal_end(&s->receive_seal);
	wh_secret_wipe(s->keys, wh_session_sealing_bytes(s->role));
	atomic_store(&s->sealed, false);
	open_windows(s);
	if (next == NULL) {
		/* The successor has ended since: a new handshake finds another one. */
		wh_sa_give_up_successor(s->sa, number);
		return;
	}
	wh_sa_let_go(s->sa);
	s->sa = next;
}

/* Data and repair packets share one window. */
static struct wh_replay *window_of(struct wh_session *s, const struct wh_packet *packet)
{
	bool data = packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR;

	return &s->heard[data ? WH_PACKET_DATA : packet->type];
}

uint64_t wh_session_heard_end(struct wh_session *s, const struct wh_packet *packet)
{
	return window_of(s, packet)->end;
}

bool wh_session_is_first(struct wh_session *s, const struct wh_packet *packet)
{
	bool data = packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR;

	if (s->sa == NULL ||
		wh_replay_take(window_of(s, packet), data ? packet->data.transmission : packet->pn))
		return true;
	wh_session_count(&wh_session_rx_stats(s)->replayed_pkts);
	return false;
}

/* The packet number is the SA's, which all sessions under the SA share. */
void wh_sealing_address(struct wh_session *s, struct wh_packet *packet)
{
	packet->cid = s->sa->config.peer_number;
	packet->pn = wh_sa_next_pn(s->sa);
	if (packet->type == WH_PACKET_OPEN)
		packet->open.answer_cid = s->local_cid;
}

struct wh_sa *wh_session_sa(const struct wh_session *s)
{
	return s->sa;
}

void wh_session_begin_receive_seal(struct wh_session *s, uint64_t local_token)
{
	s->local_token = local_token;
	wh_seal_begin_checksum(&s->receive_seal, local_token);
}

void wh_session_begin_send_seal(struct wh_session *s, uint64_t peer_token)
{
	wh_seal_begin_checksum(&s->send_seal, peer_token);
}
