/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Three-way release: the transmitter sends REQUEST with the stream's size and digest as soon as
 * everything has been sent once; the receiver answers with REPLY, which contains the outcome once
 * the writer knows it; the transmitter ends with DONE, and the receiver says DONE, too, so that the
 * transmitter need not wait for a reply that is repeated. ABORT ends a connection from either side
 * at any time.
 *
 * The end that sent the last packet leaves soon; its endpoint repeats that packet to a peer that
 * has not received it.
 */

#include <string.h>

#include "endpoint/turn.h"

/* ABORT is not acknowledged: it is sent this many times, a period apart. */
#define ABORT_REPEATS 3

/* REPLY is repeated once per round trip this many times, then less and less often, until DONE. */
#define REPLY_QUICK_REPEATS 10

/*
 * The outcome is repeated once per round trip until the peer has it. Not faster than the minimum,
 * since on a short path a user waits for nothing else; not slower than the maximum, since the
 * measured round trips may be those of a full queue that is empty now.
 */
#define REPLY_REPEAT_MIN_MS 1
#define REPLY_REPEAT_MAX_MS 1000

/*
 * After DONE the transmitter stays until the peer has said DONE, or for at least this long: the
 * peer's core may be without its CPU. Once this process has ended nothing repeats DONE, and unread
 * packets in a shared-memory port are lost. The peer would then wait for its whole peer timeout.
 */
#define LAST_WORD_STAY_MS 50

/*
 * A receiver repeats the outcome for this long, or this many round trips. Then it leaves, so that
 * its user need not wait for a peer that is gone. To a peer that is not gone the endpoint repeats
 * the outcome.
 */
#define REPLY_STAY_MS   2000
#define REPLY_STAY_RTTS 16

static uint64_t request_repeat_tsc(const struct wh_session *s)
{
	return wh_max_u64(wh_rtt_get(&s->rtt), s->period_tsc);
}

static uint64_t reply_repeat_tsc(const struct wh_session *s)
{
	return wh_min_u64(
		wh_max_u64(wh_rtt_get(&s->rtt), wh_session_ms_tsc(s, REPLY_REPEAT_MIN_MS)),
		wh_session_ms_tsc(s, REPLY_REPEAT_MAX_MS));
}

/* Until then an end that knows the outcome answers its peer: for the peer timeout at most. */
static uint64_t give_up_tsc(const struct wh_session *s)
{
	uint64_t stay_tsc = s->peer_timeout_tsc;

	if (s->role == WH_RECEIVER)
		stay_tsc = wh_min_u64(stay_tsc, wh_max_u64(wh_session_ms_tsc(s, REPLY_STAY_MS),
							REPLY_STAY_RTTS * wh_rtt_get(&s->rtt)));
	return wh_add_u64(s->stats.outcome_tsc, stay_tsc);
}

/* A peer that is heard again is not told that it is gone, but that it was not heard. */
static uint8_t told_status(const struct wh_session *s)
{
	return (uint8_t)(s->outcome == WH_STATUS_PEER_GONE ? WH_STATUS_UNHEARD : s->outcome);
}

void wh_release_fill(const struct wh_session *s, uint8_t stage, struct wh_release *release)
{
	bool sending = s->role == WH_TRANSMITTER;

	*release = (struct wh_release){
		.stage = stage,
		.status = told_status(s),
		.chunks = sending ? s->tx.chunks : s->rx.chunks,
		.total_bytes = sending ? s->tx.total_bytes : s->rx.total_bytes,
		.pn_end = sending ? s->tx.table.admitted_end : s->rx.table.highest_end,
		.digest = sending ? s->tx.digest : s->rx.digest,
	};
}

static void push_release(struct wh_session *s, uint64_t now_tsc, enum wh_release_stage stage)
{
	struct wh_packet packet = {0};

	wh_release_fill(s, (uint8_t)stage, &packet.release);
	wh_session_push_control(s, now_tsc, WH_PACKET_RELEASE, &packet);
	if (s->outcome != WH_STATUS_PENDING)
		s->last_word = (uint8_t)stage;
	s->next_release_tsc = now_tsc + (s->outcome == WH_STATUS_PENDING ? request_repeat_tsc(s)
									 : reply_repeat_tsc(s));
	s->release_repeats++;
}

/* Whether everything has been sent at least once. */
static bool all_sent(const struct wh_session *s)
{
	return s->tx.end_seen && s->tx.sent_end == s->tx.table.admitted_end;
}

static int32_t poll_transmitter(struct wh_session *s, uint64_t now_tsc)
{
	if (s->phase == WH_PHASE_RUNNING) {
		if (!all_sent(s) || s->tx.peer_silent)
			return 0;
		push_release(s, now_tsc, WH_RELEASE_REQUEST);
		return 1;
	}
	/*
	 * DONE was sent and no more replies arrived: the receiver has it, or will ask the endpoint.
	 */
	s->phase = WH_PHASE_CLOSED;
	return 1;
}

static int32_t poll_receiver(struct wh_session *s, uint64_t now_tsc)
{
	if (s->phase == WH_PHASE_RUNNING)
		return 0;
	if (now_tsc >= give_up_tsc(s)) {
		s->phase = WH_PHASE_CLOSED;
		return 1;
	}
	push_release(s, now_tsc, WH_RELEASE_REPLY);
	/* Frequent for one or two lost packets, then less and less often for an outage. */
	if (s->release_repeats > REPLY_QUICK_REPEATS)
		s->next_release_tsc =
			now_tsc +
			wh_min_u64(reply_repeat_tsc(s) * (s->release_repeats - REPLY_QUICK_REPEATS),
				wh_session_ms_tsc(s, REPLY_REPEAT_MAX_MS));
	s->next_release_tsc = wh_min_u64(s->next_release_tsc, give_up_tsc(s));
	return 1;
}

int32_t wh_release_poll(struct wh_session *s, uint64_t now_tsc)
{
	if (s->phase == WH_PHASE_OPENING || s->phase == WH_PHASE_CLOSED ||
		now_tsc < s->next_release_tsc)
		return 0;
	if (s->abort_pending) {
		if (s->release_repeats >= ABORT_REPEATS) {
			s->phase = WH_PHASE_CLOSED;
			return 1;
		}
		push_release(s, now_tsc, WH_RELEASE_ABORT);
		s->next_release_tsc =
			now_tsc + wh_min_u64(s->period_tsc, wh_session_ms_tsc(s, WH_HEARTBEAT_MS));
		return 1;
	}
	return s->role == WH_TRANSMITTER ? poll_transmitter(s, now_tsc) : poll_receiver(s, now_tsc);
}

/* The transmitter learns the outcome of its stream. */
static void take_reply(struct wh_session *s, uint64_t now_tsc, const struct wh_release *release)
{
	struct wh_transmitter *tx = &s->tx;

	if (release->status == WH_STATUS_PENDING) {
		/*
		 * All data have arrived and the writer is busy: that counts as progress. A sync may
		 * take long, but not for ever.
		 */
		if (wh_sent_table_unacked(&tx->table) > 0)
			return;
		if (tx->all_acked_tsc == 0)
			tx->all_acked_tsc = now_tsc;
		if (now_tsc - tx->all_acked_tsc <
			WH_DISK_PATIENCE * wh_ns_to_tsc(s->config.hz, s->config.stall_timeout_ns))
			tx->progress_tsc = now_tsc;
		return;
	}
	if (release->status == WH_STATUS_VERIFIED &&
		(!all_sent(s) || release->total_bytes != tx->total_bytes ||
			memcmp(&release->digest, &tx->digest, sizeof(tx->digest)) != 0)) {
		wh_session_bad(s, &s->stats.bad_place_pkts);
		return;
	}
	if (s->abort_pending)
		return;
	if (s->outcome == WH_STATUS_PENDING)
		wh_session_settle(s, now_tsc, (enum wh_release_status)release->status);
	s->phase = WH_PHASE_RELEASING;
	push_release(s, now_tsc, WH_RELEASE_DONE);
	/* If DONE is lost, or the peer's, the reply is repeated within this time. */
	s->next_release_tsc = wh_min_u64(
		give_up_tsc(s), now_tsc + wh_max_u64(4 * reply_repeat_tsc(s),
						  wh_session_ms_tsc(s, LAST_WORD_STAY_MS)));
}

void wh_release_input(struct wh_session *s, uint64_t now_tsc, const struct wh_release *release)
{
	bool sending = s->role == WH_TRANSMITTER;

	if (release->stage == WH_RELEASE_ABORT && release->status >= WH_STATUS_MISMATCH) {
		wh_session_settle(s, now_tsc, (enum wh_release_status)release->status);
		s->phase = WH_PHASE_CLOSED;
	} else if (release->stage == WH_RELEASE_REPLY && sending && s->peer_cid != 0) {
		take_reply(s, now_tsc, release);
	} else if (release->stage == WH_RELEASE_REQUEST && !sending) {
		if (s->phase == WH_PHASE_RUNNING)
			push_release(s, now_tsc, WH_RELEASE_REPLY);
	} else if (release->stage == WH_RELEASE_DONE && s->phase == WH_PHASE_RELEASING) {
		if (!sending)
			push_release(s, now_tsc, WH_RELEASE_DONE);
		s->phase = WH_PHASE_CLOSED;
	} else if (release->stage != WH_RELEASE_DONE) {
		wh_session_bad(s, &s->stats.bad_unexpected_pkts);
	}
}
