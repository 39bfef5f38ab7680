/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/books.h"

#include "base/clock.h"
#include "endpoint/lifecycle.h"
#include "endpoint/listen.h"
#include "endpoint/turn.h"
#include "session/apart/acks.h"

/* The session of a place whose bookkeeping is done here; NULL: none, or none any more. */
static struct wh_session *booked_at(const struct wh_endpoint *endpoint, uint32_t place)
{
	struct wh_session *session = wh_session_at(endpoint, place);

	if (session == NULL || session->landing == NULL ||
		atomic_load_explicit(&session->landing->left, memory_order_relaxed))
		return NULL;
	return session;
}

static void leave(struct wh_endpoint *endpoint, struct wh_session *session, uint32_t place)
{
	wh_session_add(&endpoint->books->queued_pkts, 0 - (uint64_t)session->rx.peer_queued_pkts);
	atomic_store_explicit(&session->landing->left, true, memory_order_release);
	wh_half_kick(endpoint->rx, place);
}

/* What has arrived for a transmitter. */
static int32_t enter_acks(struct wh_endpoint *endpoint, struct wh_session *session, uint32_t place)
{
	struct wh_meter *meter = endpoint->config.books_meter;
	uint8_t before = wh_meter_enter(meter, WH_METER_GET_RCV_STAT);
	int32_t taken = wh_acks_book(session);

	if (taken > 0)
		wh_half_kick(endpoint->tx, place);
	wh_meter_leave(meter, before);
	return taken;
}

/* Polls the i-th active place; true: it stays active. */
static bool look_at(struct wh_endpoint *endpoint, uint32_t i, uint64_t now_tsc, int32_t *work)
{
	struct wh_half *half = endpoint->books;
	uint32_t place = half->active[i];
	struct wh_session *session = wh_session_at(endpoint, place);

	if (session != NULL && session->acks != NULL) {
		*work += enter_acks(endpoint, session, place);
		return wh_half_stays(half, i, now_tsc, WH_TSC_NEVER);
	}
	session = booked_at(endpoint, place);
	if (session == NULL)
		return wh_half_stays(half, i, now_tsc, WH_TSC_NEVER);

	int32_t done = wh_session_poll(session, now_tsc);

	half->polls++;
	*work += done;
	if (session->outbox_news)
		wh_half_kick(endpoint->tx, place);
	session->outbox_news = false;
	if (wh_endpoint_may_leave(session)) {
		leave(endpoint, session, place);
		(*work)++;
		return wh_half_stays(half, i, now_tsc, WH_TSC_NEVER);
	}
	return wh_half_stays(half, i, now_tsc, done > 0 ? now_tsc : wh_session_deadline(session));
}

/* The port has dropped packets: the RX core saw it, whose turn may have begun after this one. */
static void see_overflow(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	uint64_t at_tsc = atomic_load_explicit(&endpoint->overflowed_tsc, memory_order_relaxed);

	if (at_tsc == endpoint->overflow_seen_tsc)
		return;
	endpoint->overflow_seen_tsc = at_tsc;
	wh_intake_overflowed(
		&endpoint->books->intake, endpoint->config.hz, wh_min_u64(at_tsc, now_tsc));
}

int32_t wh_endpoint_books_poll(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_half *half = endpoint->books;
	int32_t work = 0;

	wh_half_begin_turn(half, now_tsc);
	wh_endpoint_see_sas(endpoint, half, &endpoint->books_news);
	see_overflow(endpoint, now_tsc);
	for (uint32_t i = 0; i < half->actives;)
		i += look_at(endpoint, i, now_tsc, &work);
	return work;
}

uint64_t wh_endpoint_books_deadline(const struct wh_endpoint *endpoint)
{
	const struct wh_half *half = endpoint->books;
	uint64_t deadline_tsc = wh_half_deadline(half);

	if (wh_endpoint_has_news_of_sas(endpoint, endpoint->books_news))
		return 0;
	for (uint32_t i = 0; i < half->actives; i++) {
		const struct wh_session *session = booked_at(endpoint, half->active[i]);

		if (session != NULL)
			deadline_tsc = wh_min_u64(deadline_tsc, wh_session_deadline(session));
	}
	return deadline_tsc;
}
