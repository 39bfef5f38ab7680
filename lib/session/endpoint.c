/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/endpoint.h"

#include <string.h>

#include "base/clock.h"

#define PLACE_MASK  (WH_ENDPOINT_SESSIONS - 1)
#define OFFER_SHIFT 6
#define OFFERS_MAX  (UINT32_MAX >> OFFER_SHIFT)

_Static_assert(WH_ENDPOINT_SESSIONS == 1 << OFFER_SHIFT, "an LCI holds place and offer");

/* A stateless answer and where it goes. */
struct reply {
	struct wh_address to;
	uint8_t packet[WH_CONTROL_BYTES_MAX];
};

static uint32_t place_of(uint32_t lci)
{
	return lci & PLACE_MASK;
}

int wh_endpoint_init(struct wh_endpoint *endpoint, const struct wh_endpoint_config *config)
{
	*endpoint = (struct wh_endpoint){
		.config = *config,
		.listener =
			{
				.hz = config->hz,
				.buffer_chunks = config->buffer_chunks,
			},
	};
	memcpy(endpoint->listener.key, config->key, sizeof(config->key));
	return wh_slot_fifo_init(&endpoint->replies, WH_ENDPOINT_REPLIES, sizeof(struct reply));
}

void wh_endpoint_free(struct wh_endpoint *endpoint)
{
	wh_slot_fifo_free(&endpoint->replies);
}

uint32_t wh_endpoint_offer_lci(struct wh_endpoint *endpoint)
{
	/* From 1 on, so that no LCI is 0; places in turn, so that offers at once rarely meet. */
	uint32_t offer = endpoint->offers % OFFERS_MAX + 1;

	for (uint32_t i = 0; i < WH_ENDPOINT_SESSIONS; i++) {
		uint32_t place = (offer + i) & PLACE_MASK;

		if (endpoint->session[place] != NULL)
			continue;
		endpoint->offers++;
		return offer << OFFER_SHIFT | place;
	}
	return 0;
}

void wh_endpoint_add(struct wh_endpoint *endpoint, uint32_t lci, struct wh_session *session)
{
	uint32_t place = place_of(lci);

	WH_ASSERT(endpoint->session[place] == NULL && wh_session_lci(session) == lci);
	endpoint->session[place] = session;
	endpoint->last_lci[place] = lci;
	if (place >= endpoint->used)
		endpoint->used = place + 1;
}

void wh_endpoint_remove(struct wh_endpoint *endpoint, struct wh_session *session)
{
	uint32_t place = place_of(wh_session_lci(session));

	WH_ASSERT(endpoint->session[place] == session);
	endpoint->session[place] = NULL;
}

static void reply(
	struct wh_endpoint *endpoint, const struct wh_packet *packet, const struct wh_address *to)
{
	struct wh_slot *slot = wh_slot_fifo_reserve(&endpoint->replies);

	if (slot == NULL) {
		endpoint->stats.replies_dropped_pkts++;
		return;
	}

	struct reply *out = (struct reply *)slot->data;

	out->to = *to;
	slot->bytes = wh_packet_encode(packet, out->packet, sizeof(out->packet));
	wh_slot_fifo_commit(&endpoint->replies);
}

static enum wh_release_status welcome(const struct wh_endpoint *endpoint,
	const struct wh_open_params *params, const struct wh_address *from, uint32_t lci)
{
	if (endpoint->config.welcome == NULL)
		return WH_STATUS_REFUSED;
	if (lci == 0)
		return WH_STATUS_BUSY;
	return endpoint->config.welcome(endpoint->config.context, params, from);
}

/* An offer of a place, or a refusal; it costs the listener nothing but the packet. */
static void answer(struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_open_params *params, uint32_t stamp_us, const struct wh_address *from,
	enum wh_release_status refused, uint32_t lci)
{
	struct wh_packet accept;

	if (refused != WH_STATUS_PENDING)
		endpoint->stats.refused_opens++;
	wh_listener_accept(
		&endpoint->listener, now_tsc, params, stamp_us, from, lci, refused, &accept);
	reply(endpoint, &accept, from);
}

static void take_open(struct wh_endpoint *endpoint, uint64_t now_tsc, const struct wh_open *open,
	const struct wh_address *from)
{
	uint32_t lci = wh_endpoint_offer_lci(endpoint);

	answer(endpoint, now_tsc, &open->params, open->stamp_us, from,
		welcome(endpoint, &open->params, from, lci), lci);
}

/*
 * Whether the place had a tenant of this offer, or of one made after it. A cookie outlives short
 * connections, and a CONFIRM that comes again then must not open a second one.
 */
static bool offer_is_spent(const struct wh_endpoint *endpoint, uint32_t lci)
{
	uint32_t last_lci = endpoint->last_lci[place_of(lci)];

	return last_lci != 0 && (int32_t)(lci - last_lci) <= 0;
}

static void take_confirm(struct wh_endpoint *endpoint, uint64_t now_tsc,
	const struct wh_confirm *confirm, const struct wh_address *from)
{
	struct wh_session *tenant = endpoint->session[place_of(confirm->acceptor_lci)];
	uint64_t rtt_tsc;

	if (endpoint->config.accept == NULL ||
		!wh_listener_confirmed(&endpoint->listener, now_tsc, confirm, from, &rtt_tsc)) {
		endpoint->stats.bad_cookie_pkts++;
		return;
	}
	if (tenant != NULL && wh_session_lci(tenant) == confirm->acceptor_lci)
		return; /* CONFIRM is repeated until our first state arrives */

	/* The place may have gone to another offer meanwhile: whoever confirms first has it. */
	struct wh_session *session = NULL;

	if (tenant == NULL && !offer_is_spent(endpoint, confirm->acceptor_lci))
		session = endpoint->config.accept(endpoint->config.context, now_tsc,
			confirm->acceptor_lci, from, &confirm->params, rtt_tsc);

	if (session != NULL)
		wh_endpoint_add(endpoint, confirm->acceptor_lci, session);
	else
		answer(endpoint, now_tsc, &confirm->params, 0, from, WH_STATUS_BUSY,
			confirm->acceptor_lci);
}

void wh_endpoint_input(struct wh_endpoint *endpoint, uint64_t now_tsc, uint64_t arrived_tsc,
	const uint8_t *bytes, size_t length, const struct wh_address *from)
{
	struct wh_packet packet;
	enum wh_wire_reason reason = wh_packet_decode(bytes, length, &packet);

	endpoint->stats.packets++;
	if (reason != WH_WIRE_OK) {
		endpoint->stats.bad[reason]++;
		return;
	}
	if (packet.type == WH_PACKET_OPEN) {
		take_open(endpoint, now_tsc, &packet.open, from);
		return;
	}
	if (packet.type == WH_PACKET_CONFIRM) {
		take_confirm(endpoint, now_tsc, &packet.confirm, from);
		return;
	}

	struct wh_session *session = endpoint->session[place_of(packet.lci)];

	if (session == NULL || wh_session_lci(session) != packet.lci) {
		endpoint->stats.no_session_pkts++;
		return;
	}
	if (!wh_address_equal(wh_session_peer(session), from)) {
		endpoint->stats.wrong_peer_pkts++;
		return;
	}
	wh_session_input(session, now_tsc, arrived_tsc, &packet);
}

int32_t wh_endpoint_poll(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	int32_t work = 0;

	for (uint32_t i = 0; i < endpoint->used; i++)
		if (endpoint->session[i] != NULL)
			work += wh_session_poll(endpoint->session[i], now_tsc);
	return work;
}

static uint32_t output_replies(struct wh_endpoint *endpoint, struct wh_out *out, uint32_t count)
{
	struct wh_slot *slot;

	/* One at a time: its address has one place to stay until it is sent. */
	if (count == 0 || (slot = wh_slot_fifo_peek(&endpoint->replies)) == NULL)
		return 0;

	const struct reply *next = (const struct reply *)slot->data;

	memcpy(out->head, next->packet, slot->bytes);
	out->head_bytes = slot->bytes;
	out->payload = NULL;
	out->payload_bytes = 0;
	endpoint->reply_to = next->to;
	out->to = &endpoint->reply_to;
	wh_slot_fifo_release(&endpoint->replies);
	return 1;
}

uint32_t wh_endpoint_output(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_out *out, uint32_t count)
{
	uint32_t sent = output_replies(endpoint, out, count);

	for (uint32_t i = 0; i < endpoint->used; i++) {
		uint32_t place = (endpoint->next_turn + i) % endpoint->used;

		if (endpoint->session[place] != NULL)
			sent += wh_session_output(
				endpoint->session[place], now_tsc, &out[sent], count - sent);
	}
	endpoint->next_turn++;
	return sent;
}

uint64_t wh_endpoint_deadline(const struct wh_endpoint *endpoint)
{
	uint64_t deadline_tsc = WH_TSC_NEVER;

	if (wh_slot_fifo_count(&endpoint->replies) > 0)
		return 0;
	for (uint32_t i = 0; i < endpoint->used; i++)
		if (endpoint->session[i] != NULL)
			deadline_tsc =
				wh_min_u64(deadline_tsc, wh_session_deadline(endpoint->session[i]));
	return deadline_tsc;
}

uint64_t wh_endpoint_bad_pkts(const struct wh_endpoint *endpoint)
{
	const struct wh_endpoint_stats *stats = &endpoint->stats;
	uint64_t bad_pkts =
		stats->no_session_pkts + stats->wrong_peer_pkts + stats->bad_cookie_pkts;

	for (uint32_t i = WH_WIRE_OK + 1; i < WH_WIRE_REASONS; i++)
		bad_pkts += stats->bad[i];
	return bad_pkts;
}
