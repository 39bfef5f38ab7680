/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/listen.h"

#include <string.h>

#include "endpoint/strays.h"
#include "endpoint/turn.h"
#include "wire/versions.h"

/* The bookkeeping may run on another core. */
static uint64_t queued_pkts(const struct wh_endpoint *endpoint)
{
	const struct wh_half *books = endpoint->books;

	return endpoint->rx->queued_pkts +
	       (books != NULL ? __atomic_load_n(&books->queued_pkts, __ATOMIC_RELAXED) : 0);
}

/*
 * periodic-exchange.txt: the number of queued packets decides whether the receiver accepts another
 * connection. The new connection's options set the limit.
 */
static bool is_overloaded(const struct wh_endpoint *endpoint, const struct wh_open_params *params)
{
	const struct wh_profile *profile = wh_profile_by_number(params->profile);
	struct wh_profile_options options;
	uint32_t queued_pkts_max;

	if (profile == NULL || profile->feedback.resend != WH_RESEND_COUNTED ||
		!wh_profile_options_hear(&options, profile, params->options, params->n_options))
		return false;
	queued_pkts_max = wh_profile_feedback(profile, &options).queued_pkts_max;
	return queued_pkts_max > 0 && queued_pkts(endpoint) > queued_pkts_max;
}

static enum wh_release_status welcome(const struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *from, const struct wh_sa *sa,
	struct wh_offer *offer)
{
	if (endpoint->config.welcome == NULL)
		return WH_STATUS_REFUSED;
	if (endpoint->rx->tenants == endpoint->rx->places || is_overloaded(endpoint, params))
		return WH_STATUS_BUSY;
	return endpoint->config.welcome(
		endpoint->config.context, now_tsc, params, from, sa, &offer->buffer_chunks);
}

/*
 * Offers a place, or refuses; the listener keeps nothing. Under an SA the answer is bound to the
 * token of this OPEN, so that an earlier answer cannot be replayed.
 */
static void answer(struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_open_params *params, uint32_t stamp_us, const struct wh_address *from,
	const struct wh_offer *offer, struct wh_sa *sa)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	struct wh_packet accept;
	struct wh_seal seal;

	if (offer->refused != WH_STATUS_PENDING)
		endpoint->stats.refused_opens++;
	wh_listener_accept(&endpoint->listener, now_tsc, params, stamp_us, from, offer, &accept);
	if (sa != NULL)
		accept.pn = wh_sa_next_pn(sa);

	uint32_t length = wh_packet_encode(&accept, bytes, sizeof(bytes));

	if (sa == NULL) {
		wh_seal_begin_checksum(&seal, params->initiator_token);
		wh_seal_close_packet(&seal, bytes, length);
	} else if (!wh_sa_close(sa, wh_endpoint_about(params->initiator_token), bytes, length)) {
		return;
	}
	wh_strays_reply(endpoint, bytes, length, from);
}

static void take_open(struct wh_endpoint *endpoint, uint64_t now_tsc, const struct wh_open *open,
	const struct wh_address *from, struct wh_sa *sa)
{
	bool unsealed = sa == NULL && endpoint->config.sadb != NULL;
	struct wh_offer offer = {0};

	if (unsealed && !wh_endpoint_may_hint(endpoint, now_tsc, &endpoint->next_hint_tsc))
		return;
	if (unsealed)
		offer.refused = WH_STATUS_UNSEALED;
	else
		offer.refused = welcome(endpoint, now_tsc, &open->params, from, sa, &offer);
	if (offer.refused == WH_STATUS_PENDING)
		offer.cid = wh_endpoint_cid_at(endpoint, wh_half_offer(endpoint->rx),
			wh_endpoint_draw(endpoint, WH_DRAW_OFFER, &endpoint->rx_draws, from));
	answer(endpoint, now_tsc, &open->params, open->stamp_us, from, &offer, sa);
}

/* A new session gets its seals and its place; without memory for keys it ends at once. */
static void settle_in(struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_session *session,
	const struct wh_confirm *confirm, struct wh_sa *sa)
{
	if (sa == NULL)
		wh_session_begin_receive_seal(session, wh_cookie_token(confirm->cookie));
	else if (wh_sealing_alloc(session, sa) != 0 || !wh_sealing_begin(session, confirm->cookie))
		wh_session_settle(session, now_tsc, WH_STATUS_BUSY);
	/* Logged here, where there is one session; ACCEPTs may be repeated any number of times. */
	if (sa != NULL)
		wh_sa_log_key(sa, true, wh_endpoint_about(confirm->params.initiator_token),
			"accept", confirm->params.initiator_cid);
	session->local_token = wh_cookie_token(confirm->cookie);
	wh_endpoint_move_in(endpoint, endpoint->rx, session, endpoint->config.rx_meter);
}

/* A place was offered without asking who comes: admission is decided now. */
static enum wh_release_status judge_offered(const struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_confirm *confirm, const struct wh_address *from, const struct wh_sa *sa)
{
	struct wh_offer offer = {0};
	enum wh_release_status refused =
		welcome(endpoint, now_tsc, &confirm->params, from, sa, &offer);

	return refused == WH_STATUS_PENDING && offer.buffer_chunks < WH_OFFERED_CHUNKS
		       ? WH_STATUS_BUSY
		       : refused;
}

/*
 * The peer's address has changed since its OPEN, or the cookie is too old. Under an SA the peer is
 * told so, and opens again at once. ACCEPT is no longer than CONFIRM.
 */
static void refuse_cookie(struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_confirm *confirm, const struct wh_address *from, struct wh_sa *sa)
{
	const struct wh_offer no = {.cid = confirm->acceptor_cid, .refused = WH_STATUS_REPLACED};

	if (sa != NULL && endpoint->config.accept != NULL)
		answer(endpoint, now_tsc, &confirm->params, 0, from, &no, sa);
}

static void take_confirm(struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_confirm *confirm, bool offered, const struct wh_address *from,
	struct wh_sa *sa)
{
	uint32_t cid = confirm->acceptor_cid;
	uint32_t place = wh_place_of(endpoint, cid);
	struct wh_offer no = {.cid = cid, .refused = WH_STATUS_BUSY};
	struct wh_session *tenant = wh_session_at(endpoint, place);
	struct wh_session *session = NULL;
	uint64_t rtt_tsc;

	if (tenant != NULL && tenant->local_cid == cid &&
		tenant->local_token == wh_cookie_token(confirm->cookie))
		return; /* CONFIRM is repeated until our first report arrives */
	if (endpoint->config.accept == NULL || (offered && sa == NULL) ||
		!wh_listener_confirmed(
			&endpoint->listener, now_tsc, confirm, offered, from, &rtt_tsc)) {
		endpoint->stats.bad_cookie_pkts++;
		refuse_cookie(endpoint, now_tsc, confirm, from, sa);
		return;
	}

	uint64_t made_us = wh_cookie_made_us(confirm->cookie);

	/* The place may have been offered twice: the first CONFIRM takes it. */
	bool free = tenant == NULL && made_us >= endpoint->spent_us[place];

	if (free && offered)
		no.refused = judge_offered(endpoint, now_tsc, confirm, from, sa);
	if (free && (!offered || no.refused == WH_STATUS_PENDING))
		session = endpoint->config.accept(endpoint->config.context, now_tsc, cid, from, sa,
			&confirm->params, rtt_tsc);
	if (session == NULL) {
		if (no.refused == WH_STATUS_PENDING)
			no.refused = WH_STATUS_BUSY;
		answer(endpoint, now_tsc, &confirm->params, 0, from, &no, sa);
		return;
	}
	WH_ASSERT(session->role == WH_RECEIVER && session->local_cid == cid);
	endpoint->spent_us[place] = made_us + 1;
	settle_in(endpoint, now_tsc, session, confirm, sa);
}

static enum wh_wire_reason take(struct wh_endpoint *endpoint, uint64_t now_tsc, uint8_t *bytes,
	size_t length, const struct wh_address *from, struct wh_packet *packet, struct wh_sa *sa)
{
	enum wh_wire_reason reason = wh_packet_read(bytes, length, packet);

	if (reason != WH_WIRE_OK)
		return reason;
	if (packet->type == WH_PACKET_OPEN)
		take_open(endpoint, now_tsc, &packet->open, from, sa);
	else
		take_confirm(endpoint, now_tsc, &packet->confirm, packet->flags == WH_FLAG_OFFERED,
			from, sa);
	return WH_WIRE_OK;
}

/*
 * A restarted process has none of its peers' SAs. It reports this to the connection ID that the
 * OPEN names in clear text: a hint, not authenticated and no longer than the OPEN.
 */
static void hint(struct wh_endpoint *endpoint, uint64_t now_tsc, const uint8_t *bytes,
	const struct wh_address *from)
{
	uint8_t answer_bytes[WH_CONTROL_BYTES_MAX];
	struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT, .accept = {.refused = WH_STATUS_NO_SA}};
	const struct wh_open *open;

	static_assert(offsetof(struct wh_open, answer_cid) == sizeof(open->stamp_us), "in a row");
	if (!wh_endpoint_may_hint(endpoint, now_tsc, &endpoint->next_hint_tsc))
		return;
	memcpy(&accept.accept.stamp_us, bytes + WH_FIELDS_OFFSET, sizeof(open->stamp_us));
	memcpy(&accept.cid, bytes + WH_FIELDS_OFFSET + sizeof(open->stamp_us),
		sizeof(open->answer_cid));

	uint32_t length = wh_packet_encode(&accept, answer_bytes, sizeof(answer_bytes));

	wh_seal_close_packet(&wh_seal_to_listener, answer_bytes, length);
	wh_strays_reply(endpoint, answer_bytes, length, from);
}

/* A packet sealed by the SA that it names. */
static enum wh_wire_reason input_bound(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet)
{
	enum wh_wire_reason reason = WH_WIRE_TAG;

	if (endpoint->config.sadb == NULL)
		return WH_WIRE_KEY;

	if (unlikely(endpoint->early.senders > 0) && packet->type == WH_PACKET_CONFIRM &&
		wh_early_waits(endpoint, from))
		return WH_WIRE_OK;

	struct wh_sa *sa = wh_sadb_hold(endpoint->config.sadb, packet->cid);

	if (sa == NULL && packet->type == WH_PACKET_CONFIRM &&
		wh_sadb_is_reserved(endpoint->config.sadb, packet->cid) &&
		wh_early_confirm(endpoint, arrived_tsc, bytes, length, from, packet->cid))
		return WH_WIRE_OK;
	if (sa == NULL) {
		endpoint->stats.no_sa_pkts++;
		if (packet->type == WH_PACKET_OPEN && endpoint->config.welcome != NULL)
			hint(endpoint, now_tsc, bytes, from);
		return WH_WIRE_OK;
	}
	if (wh_sa_open(sa, 0, bytes, length))
		reason = take(endpoint, now_tsc, bytes, length, from, packet, sa);
	wh_sa_let_go(sa);
	return reason;
}

enum wh_wire_reason wh_listen_input(struct wh_endpoint *endpoint, uint64_t now_tsc,
	uint64_t arrived_tsc, uint8_t *bytes, size_t length, const struct wh_address *from,
	struct wh_packet *packet)
{
	if (bytes[WH_KEY_OFFSET] != 0)
		return input_bound(endpoint, now_tsc, arrived_tsc, bytes, length, from, packet);
	/* An unsealed OPEN has been refused, so that no unsealed CONFIRM can be valid. */
	if (endpoint->config.sadb != NULL && packet->type == WH_PACKET_CONFIRM)
		return WH_WIRE_KEY;

	enum wh_wire_reason reason = wh_seal_open_packet(&wh_seal_to_listener, bytes, length);

	return reason != WH_WIRE_OK ? reason
				    : take(endpoint, now_tsc, bytes, length, from, packet, NULL);
}

/*
 * A listener says that it speaks other versions than we do. While the connection opens, a real
 * ACCEPT takes precedence.
 */
static void hear_versions(struct wh_endpoint *endpoint, const struct wh_versions *versions,
	const struct wh_address *from)
{
	uint32_t place = wh_place_of(endpoint, versions->initiator_cid);
	struct wh_session *session = wh_session_at(endpoint, place);

	if (!wh_place_is_receivers(endpoint, place) && session != NULL &&
		session->local_cid == versions->initiator_cid &&
		wh_address_equal(wh_peer_address_now(&session->peer), from))
		wh_connect_hear_versions(session, versions);
}

void wh_listen_foreign(struct wh_endpoint *endpoint, const uint8_t *bytes, size_t length,
	const struct wh_address *from)
{
	uint8_t answer_bytes[WH_VERSIONS_BYTES];
	struct wh_versions versions;

	if (wh_versions_read(bytes, length, &versions) && versions.asked)
		wh_strays_versions(endpoint, bytes, length, versions.handshake, from);
	else if (wh_versions_read(bytes, length, &versions))
		hear_versions(endpoint, &versions, from);
	else if (endpoint->config.welcome != NULL &&
		 wh_versions_answer(bytes, length, answer_bytes))
		wh_strays_reply(endpoint, answer_bytes, sizeof(answer_bytes), from);
}
