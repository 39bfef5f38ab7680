/* SPDX-License-Identifier: BSD-3-Clause */

/* What sits behind a port: who gets which packet, and how connections find their place. */

#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "endpoint_rig.h"

static void test_open_keeps_no_state(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	for (uint32_t i = 0; i < 1000; i++) {
		give_open(&house, 5, &alice);

		struct wh_packet accept = take(&house, &to);

		CU_ASSERT_EQUAL(accept.type, WH_PACKET_ACCEPT);
		CU_ASSERT_EQUAL(accept.cid, 5);
		CU_ASSERT_EQUAL(accept.accept.buffer_chunks, CHUNKS);
		CU_ASSERT_TRUE(accept.accept.acceptor_cid % PLACES < HALF);
		CU_ASSERT_TRUE(wh_address_equal(&to, &alice));
	}
	CU_ASSERT_EQUAL(house.accepted, 0);
	CU_ASSERT_EQUAL(house.endpoint.rx->tenants, 0);
	house_close(&house);
}

/* Two that open at the same time, even from one address, are two connections. */
static void test_two_at_once(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	give_open(&house, 5, &alice);
	give_open(&house, 6, &alice);

	struct wh_packet first = take(&house, &to);
	struct wh_packet second = take(&house, &to);

	CU_ASSERT_NOT_EQUAL(first.accept.acceptor_cid, second.accept.acceptor_cid);
	give_confirm(&house, &second, 6, &alice);
	give_confirm(&house, &first, 5, &alice);
	CU_ASSERT_EQUAL_FATAL(house.accepted, 2);
	CU_ASSERT_EQUAL(wh_session_params(house.session[0])->initiator_cid, 6);
	CU_ASSERT_EQUAL(wh_session_params(house.session[1])->initiator_cid, 5);

	/* Repeated, since nothing was heard yet: still two. */
	give_confirm(&house, &first, 5, &alice);
	CU_ASSERT_EQUAL(house.accepted, 2);

	/* An abort of one is none of the other. */
	struct wh_packet abort = {
		.type = WH_PACKET_RELEASE,
		.cid = second.accept.acceptor_cid,
		.release = {.stage = WH_RELEASE_ABORT, .status = WH_STATUS_INTERRUPTED},
	};

	give(&house, &abort, &alice);
	turn(&house, NOW);
	CU_ASSERT_EQUAL(wh_session_outcome(house.session[0]), WH_STATUS_INTERRUPTED);
	CU_ASSERT_EQUAL(wh_session_outcome(house.session[1]), WH_STATUS_PENDING);
	house_close(&house);
}

/* An offer whose place went to somebody else is refused, and so is one without memory. */
static void test_too_late(void)
{
	struct house house;
	struct wh_address to;
	struct wh_packet offer[HALF + 1];

	house_open(&house);
	for (uint32_t i = 0; i <= HALF; i++) {
		give_open(&house, 100 + i, &alice);
		offer[i] = take(&house, &to);
	}
	/* The first and the last offer are the same place. */
	CU_ASSERT_EQUAL(
		offer[0].accept.acceptor_cid % PLACES, offer[HALF].accept.acceptor_cid % PLACES);
	give_confirm(&house, &offer[HALF], 100 + HALF, &alice);
	CU_ASSERT_EQUAL(house.accepted, 1);
	give_confirm(&house, &offer[0], 100, &alice);
	CU_ASSERT_EQUAL(house.accepted, 1);

	struct wh_packet refusal = take(&house, &to);

	CU_ASSERT_EQUAL(refusal.type, WH_PACKET_ACCEPT);
	CU_ASSERT_EQUAL(refusal.cid, 100);
	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(refusal.accept.acceptor_cid, offer[0].accept.acceptor_cid);

	house.no_memory = true;
	give_confirm(&house, &offer[1], 101, &alice);
	refusal = take(&house, &to);
	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(house.accepted, 1);
	house_close(&house);
}

/* A cookie is good for longer than a short connection takes, and opens one only. */
static void test_confirmed_once(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	give_open(&house, 5, &alice);

	struct wh_packet accept = take(&house, &to);

	give_confirm(&house, &accept, 5, &alice);
	CU_ASSERT_EQUAL_FATAL(house.accepted, 1);
	close_out(&house, house.session[0]);
	give_confirm(&house, &accept, 5, &alice);
	CU_ASSERT_EQUAL(house.accepted, 1);

	struct wh_packet refusal = take(&house, &to);

	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_BUSY);

	/* Its place is free all the same, for the next offer of it. */
	for (uint32_t i = 0; i < HALF; i++) {
		give_open(&house, 6, &alice);
		accept = take(&house, &to);
	}
	give_confirm(&house, &accept, 6, &alice);
	CU_ASSERT_EQUAL(house.accepted, 2);
	house_close(&house);
}

static void test_unwelcome(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	house.welcome = WH_STATUS_REFUSED;
	give_open(&house, 5, &bob);

	struct wh_packet refusal = take(&house, &to);

	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_REFUSED);
	CU_ASSERT_TRUE(wh_address_equal(&to, &bob));
	CU_ASSERT_EQUAL(house.endpoint.stats.refused_opens, 1);

	/* A refusal tells no identifier, and cannot be confirmed. */
	CU_ASSERT_EQUAL(refusal.accept.acceptor_cid, 0);
	refusal.accept.acceptor_cid = 64;
	give_confirm(&house, &refusal, 5, &bob);
	CU_ASSERT_EQUAL(house.accepted, 0);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad_cookie_pkts, 1);

	/* A cookie that was made for somebody else opens nothing. */
	house.welcome = WH_STATUS_PENDING;
	give_open(&house, 5, &alice);

	struct wh_packet accept = take(&house, &to);

	give_confirm(&house, &accept, 5, &bob);
	CU_ASSERT_EQUAL(house.accepted, 0);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad_cookie_pkts, 2);
	house_close(&house);
}

/* Packets for nobody, for a place's earlier tenant, and from the wrong peer. */
static void test_strangers(void)
{
	struct house house;
	struct wh_address to;
	struct wh_packet state = {
		.type = WH_PACKET_TRANS_REPORT,
		.cid = 0x77,
		.trans_report = {.lower = 1000, .upper = 1000},
	};

	house_open(&house);
	give(&house, &state, &alice);
	CU_ASSERT_EQUAL(house.endpoint.stats.no_session_pkts, 1);

	give_open(&house, 5, &alice);

	struct wh_packet accept = take(&house, &to);

	give_confirm(&house, &accept, 5, &alice);
	CU_ASSERT_EQUAL_FATAL(house.accepted, 1);
	state.cid = accept.accept.acceptor_cid;
	give(&house, &state, &bob);
	CU_ASSERT_EQUAL(house.endpoint.stats.wrong_peer_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_stats(house.session[0]).control_received_pkts, 0);
	give(&house, &state, &alice);
	CU_ASSERT_EQUAL(wh_session_stats(house.session[0]).control_received_pkts, 1);

	close_out(&house, house.session[0]);
	state.cid += PLACES; /* of the same place, and not offered yet */
	give(&house, &state, &alice);
	CU_ASSERT_EQUAL(house.endpoint.stats.no_session_pkts, 2);
	wh_endpoint_input(&house.endpoint, NOW, NOW, (uint8_t *)"?", 1, &alice);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad[WH_WIRE_SHORT], 1);
	CU_ASSERT_EQUAL(wh_endpoint_bad_pkts(&house.endpoint), 4);
	house_close(&house);
}

static void test_all_places_taken(void)
{
	struct house house;
	struct wh_address to;
	uint64_t seen = 0;

	house_open(&house);
	for (uint32_t i = 0; i < HALF; i++)
		seen |= UINT64_C(1) << wh_session_cid(open_to(&house, 100 + i)) % PLACES;
	CU_ASSERT_EQUAL(seen, UINT32_MAX); /* each place of the lower half once */
	give_open(&house, 5, &alice);

	struct wh_packet refusal = take(&house, &to);

	CU_ASSERT_EQUAL(refusal.type, WH_PACKET_ACCEPT);
	CU_ASSERT_EQUAL(refusal.accept.refused, WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(refusal.accept.acceptor_cid, 0);

	/* One that leaves makes room, and its connection ID is not used again. */
	uint32_t old_cid = wh_session_cid(house.session[7]);

	close_out(&house, house.session[7]);
	give_open(&house, 5, &alice);

	struct wh_packet accept = take(&house, &to);

	CU_ASSERT_EQUAL(accept.accept.refused, WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(accept.accept.acceptor_cid % PLACES, old_cid % PLACES);
	CU_ASSERT_NOT_EQUAL(accept.accept.acceptor_cid, old_cid);
	house_close(&house);
}

static struct wh_session *make_transmitter(const struct house *house)
{
	struct wh_session_config config = session_config(house);
	struct wh_session *session = wh_session_open(&config, &bob, "out", WH_OBJECT_BYTES_UNKNOWN);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	return session;
}

/* A connection ID of the upper half goes out with the OPEN of the turn that takes it. */
static void test_opened_by_us(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);

	struct wh_session *session = make_transmitter(&house);

	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&house.endpoint), WH_TSC_NEVER);
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_open(&house.endpoint, session), 0);
	CU_ASSERT_EQUAL(wh_session_cid(session), 0);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&house.endpoint), 0);
	turn(&house, NOW);

	struct wh_packet open = take(&house, &to);

	CU_ASSERT_EQUAL(open.type, WH_PACKET_OPEN);
	CU_ASSERT_EQUAL(open.open.params.initiator_cid, wh_session_cid(session));
	CU_ASSERT_EQUAL(open.open.params.object_bytes, UINT64_MAX);
	CU_ASSERT_EQUAL(open.open.stamp_us, (uint32_t)(NOW / 1000));
	CU_ASSERT_TRUE(wh_session_cid(session) % PLACES >= HALF);
	CU_ASSERT_TRUE(wh_address_equal(&to, &bob));
	/* Repeated 50 ms after the turn, whatever the clock was where it was made. */
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&house.endpoint), NOW + HZ / 20);
	close_out(&house, session);
	wh_session_destroy(session);
	house_close(&house);
}

/* Without a place it ends at once, and is closed like any other. */
static void test_no_place_for_ours(void)
{
	struct house house;
	struct wh_session *session[HALF + 2];
	struct wh_address to;

	house_open(&house);
	for (uint32_t i = 0; i < HALF + 2; i++)
		session[i] = make_transmitter(&house);
	for (uint32_t i = 0; i < HALF; i++)
		CU_ASSERT_EQUAL(wh_endpoint_open(&house.endpoint, session[i]), 0);
	CU_ASSERT_EQUAL(wh_endpoint_open(&house.endpoint, session[HALF]), -ENOBUFS);
	turn(&house, NOW);
	CU_ASSERT_EQUAL(wh_endpoint_open(&house.endpoint, session[HALF]), 0);
	CU_ASSERT_EQUAL(wh_endpoint_open(&house.endpoint, session[HALF + 1]), 0);
	/* One of them is closed before the turn that would take it, the other after. */
	wh_session_ask(session[HALF + 1], WH_WISH_CLOSE, WH_STATUS_PENDING);
	turn(&house, NOW);
	for (uint32_t i = 0; i < HALF; i++) {
		CU_ASSERT_EQUAL(take(&house, &to).type, WH_PACKET_OPEN);
		CU_ASSERT_EQUAL(wh_session_news(session[i]).outcome, WH_STATUS_PENDING);
	}
	CU_ASSERT_EQUAL(wh_session_news(session[HALF]).phase, WH_PHASE_CLOSED);
	CU_ASSERT_EQUAL(wh_session_news(session[HALF]).outcome, WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(wh_session_cid(session[HALF]), 0);
	for (uint32_t i = 0; i < 4; i++)
		turn(&house, NOW);
	CU_ASSERT_EQUAL(house.gone, 1);
	CU_ASSERT_PTR_EQUAL(house.last_gone, session[HALF + 1]);
	close_out(&house, session[HALF]);

	/* A place that comes free is the next one's. */
	close_out(&house, session[3]);
	wh_session_destroy(session[HALF]);
	session[HALF] = make_transmitter(&house);
	CU_ASSERT_EQUAL(wh_endpoint_open(&house.endpoint, session[HALF]), 0);
	turn(&house, NOW);
	CU_ASSERT_EQUAL(wh_session_news(session[HALF]).outcome, WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(
		wh_session_cid(session[HALF]) % PLACES, wh_session_cid(session[3]) % PLACES);
	for (uint32_t i = 0; i < HALF + 2; i++)
		wh_session_destroy(session[i]);
	house_close(&house);
}

/* A receiver that has something to say before it leaves. */
static struct wh_session *open_and_abort(struct house *house)
{
	struct wh_address to;

	house_open(house);

	struct wh_session *receiver = open_to(house, 5);

	turn(house, NOW);
	while (take(house, &to).type != 0)
		;
	wh_session_ask(receiver, WH_WISH_ABORT, WH_STATUS_IO_ERROR);
	wh_session_ask(receiver, WH_WISH_CLOSE, WH_STATUS_PENDING);
	return receiver;
}

/* Neither core lets a session go before the other has had two turns since. */
static void test_grace(void)
{
	struct house house;
	struct wh_endpoint *endpoint = &house.endpoint;
	struct wh_address to;

	open_and_abort(&house);
	/* ABORT is said three times, a period apart, and then once more it is looked at. */
	for (uint32_t i = 0; i < 4; i++) {
		turn(&house, NOW + (i + 1) * HZ / 100);

		struct wh_packet packet = take(&house, &to);

		CU_ASSERT_EQUAL(packet.type, i < 3 ? WH_PACKET_RELEASE : 0);
		if (i < 3)
			CU_ASSERT_EQUAL(packet.release.status, WH_STATUS_IO_ERROR);
	}
	/* Left in the last turn, whose sending half came after. */
	CU_ASSERT_EQUAL(house.endpoint.rx->tenants, 0);
	CU_ASSERT_EQUAL(house.gone, 0);
	for (uint32_t i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(wh_endpoint_receive_poll(endpoint, NOW + HZ), 1);
	CU_ASSERT_EQUAL(house.gone, 0);
	CU_ASSERT_EQUAL(wh_endpoint_receive_deadline(endpoint), 0);
	wh_endpoint_send_poll(endpoint, NOW + HZ);
	wh_endpoint_receive_poll(endpoint, NOW + HZ);
	CU_ASSERT_EQUAL(house.gone, 1);
	CU_ASSERT_EQUAL(wh_endpoint_receive_poll(endpoint, NOW + HZ), 0);
	CU_ASSERT_EQUAL(wh_endpoint_receive_deadline(endpoint), WH_TSC_NEVER);

	/* A transmitter that has not been answered has nobody to say anything to. */
	struct wh_session *transmitter = make_transmitter(&house);

	CU_ASSERT_EQUAL(wh_endpoint_open(endpoint, transmitter), 0);
	turn(&house, NOW + HZ);
	while (take(&house, &to).type != 0)
		;
	wh_session_ask(transmitter, WH_WISH_CLOSE, WH_STATUS_PENDING);
	for (uint32_t i = 0; i < 10; i++)
		wh_endpoint_send_poll(endpoint, NOW + HZ);
	CU_ASSERT_EQUAL(wh_session_outcome(transmitter), WH_STATUS_INTERRUPTED);
	CU_ASSERT_EQUAL(endpoint->tx->tenants, 0);
	CU_ASSERT_EQUAL(house.gone, 1);
	wh_endpoint_receive_poll(endpoint, NOW + HZ);
	wh_endpoint_send_poll(endpoint, NOW + HZ);
	CU_ASSERT_EQUAL(house.gone, 1);
	wh_endpoint_receive_poll(endpoint, NOW + HZ);
	wh_endpoint_send_poll(endpoint, NOW + HZ);
	CU_ASSERT_EQUAL(house.gone, 2);
	wh_session_destroy(transmitter);
	house_close(&house);
}

/* A receiver does not leave before its last words do, however late the other core takes them. */
static void test_last_words(void)
{
	struct house house;
	struct wh_address to;
	struct wh_session *receiver = open_and_abort(&house);
	struct wh_endpoint *endpoint = &house.endpoint;

	for (uint32_t i = 0; i < 4; i++)
		wh_endpoint_receive_poll(endpoint, NOW + (i + 1) * HZ / 100);
	CU_ASSERT_EQUAL(wh_session_news(receiver).phase, WH_PHASE_CLOSED);
	for (uint32_t i = 0; i < 100; i++)
		wh_endpoint_receive_poll(endpoint, NOW + HZ);
	CU_ASSERT_EQUAL(endpoint->rx->tenants, 1);
	CU_ASSERT_EQUAL(wh_endpoint_receive_deadline(endpoint), 0);
	wh_endpoint_send_poll(endpoint, NOW + HZ);
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(take(&house, &to).type, WH_PACKET_RELEASE);
	CU_ASSERT_EQUAL(take(&house, &to).type, 0);
	for (uint32_t i = 0; i < 4; i++)
		turn(&house, NOW + HZ);
	CU_ASSERT_EQUAL(endpoint->rx->tenants, 0);
	CU_ASSERT_EQUAL(house.gone, 1);
	house_close(&house);
}

/* What `from` sends arrives at `to` at once, or nowhere. */
static void carry(struct house *from, struct house *to, const struct wh_address *sender,
	uint64_t now_tsc, bool outage)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	while (wh_endpoint_output(&from->endpoint, now_tsc, &out, 1) > 0)
		if (!outage)
			wh_endpoint_input(
				&to->endpoint, now_tsc, now_tsc, room, out.head_bytes, sender);
}

/*
 * Every DONE is lost until the sender has long left. Then it is the first reply again that ends
 * the receiver: after 10 replies they are 1, 2, 3, ... ms apart, the 55th comes at 1045 ms.
 */
static void test_done_after_outage(void)
{
	struct house ours;
	struct house theirs;
	struct wh_session *sender;
	uint64_t sender_gone_ms = 0;
	uint64_t ms;

	house_open(&ours);
	house_open(&theirs);
	sender = make_transmitter(&ours);
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_open(&ours.endpoint, sender), 0);
	for (ms = 0; ms < 3000 && theirs.gone == 0; ms++) {
		uint64_t now_tsc = NOW + ms * HZ / 1000;

		turn(&ours, now_tsc);
		carry(&ours, &theirs, &alice, now_tsc, ms > 100 && ms < 1110);
		turn(&theirs, now_tsc);
		carry(&theirs, &ours, &bob, now_tsc, false);
		if (ms == 100) {
			CU_ASSERT_EQUAL_FATAL(theirs.accepted, 1);
			wh_session_ask(theirs.session[0], WH_WISH_SINK_DONE, WH_STATUS_NO_SPACE);
			wh_session_ask(theirs.session[0], WH_WISH_CLOSE, WH_STATUS_PENDING);
			wh_session_ask(sender, WH_WISH_CLOSE, WH_STATUS_PENDING);
		}
		if (sender_gone_ms == 0 && ours.gone > 0)
			sender_gone_ms = ms;
	}
	CU_ASSERT_EQUAL(theirs.gone, 1);
	CU_ASSERT_EQUAL(wh_endpoint_bad_pkts(&ours.endpoint), 0);
	CU_ASSERT_TRUE(sender_gone_ms > 100 && sender_gone_ms < 300);
	CU_ASSERT_TRUE(ms > 1110 && ms <= 101 + 1091);
	wh_session_destroy(sender);
	house_close(&ours);
	house_close(&theirs);
}

static struct wh_packet release(uint32_t cid, enum wh_release_stage stage)
{
	return (struct wh_packet){
		.type = WH_PACKET_RELEASE,
		.cid = cid,
		.release = {.stage = (uint8_t)stage, .status = WH_STATUS_NO_SPACE},
	};
}

static void expect_closing_packet(struct house *house, const struct wh_packet *packet,
	const struct wh_address *from, uint32_t cid, enum wh_release_stage stage,
	enum wh_release_status status)
{
	struct wh_address to;
	uint64_t before = house->endpoint.stats.repeated_closings;

	give(house, packet, from);

	struct wh_packet again = take(house, &to);

	CU_ASSERT_EQUAL_FATAL(again.type, WH_PACKET_RELEASE);
	CU_ASSERT_EQUAL(again.cid, cid);
	CU_ASSERT_EQUAL(again.release.stage, stage);
	CU_ASSERT_EQUAL(again.release.status, status);
	CU_ASSERT_EQUAL(house->endpoint.stats.repeated_closings, before + 1);
	CU_ASSERT_TRUE(wh_address_equal(&to, from));
	CU_ASSERT_EQUAL(take(house, &to).type, 0);
}

static void expect_silence(
	struct house *house, const struct wh_packet *packet, const struct wh_address *from)
{
	struct wh_address to;
	uint64_t before = house->endpoint.stats.no_session_pkts;

	give(house, packet, from);
	CU_ASSERT_EQUAL(take(house, &to).type, 0);
	CU_ASSERT_EQUAL(house->endpoint.stats.no_session_pkts, before + 1);
}

/* One that was broken off here: ABORT for whom it was with, whatever that goes on to say. */
static void test_closing_of_receiver(void)
{
	struct house house;

	house_open(&house);

	struct wh_session *receiver = open_to(&house, 5);
	uint32_t cid = wh_session_cid(receiver);
	struct wh_packet request = release(cid, WH_RELEASE_REQUEST);
	struct wh_packet state = {
		.type = WH_PACKET_TRANS_REPORT,
		.cid = cid,
		.trans_report = {.lower = 1000, .upper = 1000},
	};

	close_out(&house, receiver);
	for (uint32_t i = 0; i < 3; i++)
		expect_closing_packet(
			&house, &request, &alice, 5, WH_RELEASE_ABORT, WH_STATUS_INTERRUPTED);
	expect_closing_packet(&house, &state, &alice, 5, WH_RELEASE_ABORT, WH_STATUS_INTERRUPTED);

	/* Nobody else learns of it, and two ends that have left do not answer each other. */
	expect_silence(&house, &request, &bob);
	request.cid += PLACES;
	expect_silence(&house, &request, &alice);

	const struct wh_packet done = release(cid, WH_RELEASE_DONE);
	const struct wh_packet abort = release(cid, WH_RELEASE_ABORT);

	expect_silence(&house, &done, &alice);
	expect_silence(&house, &abort, &alice);

	/* Nor does the place's next tenant change anything, while it is there. */
	for (uint32_t i = 0; i < HALF - 1; i++)
		open_to(&house, 100 + i);
	receiver = open_to(&house, 6);
	CU_ASSERT_EQUAL(wh_session_cid(receiver) % PLACES, cid % PLACES);
	expect_closing_packet(&house, &state, &alice, 5, WH_RELEASE_ABORT, WH_STATUS_INTERRUPTED);
	CU_ASSERT_EQUAL(wh_session_stats(receiver).control_received_pkts, 0);
	close_out(&house, receiver);
	expect_silence(&house, &state, &alice);
	house_close(&house);
}

/* Until the peer has said DONE, too; or for 50 ms, for a core that sleeps. */
static void expect_stay(struct house *house, struct wh_session *transmitter, bool peer_says_done)
{
	const struct wh_packet done = release(wh_session_cid(transmitter), WH_RELEASE_DONE);

	turn(house, NOW + 49 * HZ / 1000);
	CU_ASSERT_EQUAL(wh_session_news(transmitter).phase, WH_PHASE_RELEASING);
	if (peer_says_done)
		give(house, &done, &bob);
	turn(house, NOW + (peer_says_done ? 49 : 51) * HZ / 1000);
	CU_ASSERT_EQUAL(wh_session_news(transmitter).phase, WH_PHASE_CLOSED);
	CU_ASSERT_EQUAL(wh_session_outcome(transmitter), WH_STATUS_NO_SPACE);
}

/* One that said DONE: only to a reply; states that were under way then need no answer. */
static void expect_closing_of_transmitter(bool peer_says_done)
{
	struct house house;
	struct wh_address to;
	struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.accept = {.acceptor_cid = 0x99, .buffer_chunks = CHUNKS, .stamp_us = NOW / 1000},
	};
	struct wh_packet state = {.type = WH_PACKET_RCV_REPORT};

	house_open(&house);

	struct wh_session *transmitter = make_transmitter(&house);

	CU_ASSERT_EQUAL(wh_endpoint_open(&house.endpoint, transmitter), 0);
	turn(&house, NOW);
	CU_ASSERT_EQUAL(take(&house, &to).type, WH_PACKET_OPEN);
	accept.cid = wh_session_cid(transmitter);
	state.cid = accept.cid;
	give(&house, &accept, &bob);
	turn(&house, NOW);

	const struct wh_packet reply = release(accept.cid, WH_RELEASE_REPLY);

	give(&house, &reply, &bob);
	turn(&house, NOW);
	CU_ASSERT_EQUAL(wh_session_outcome(transmitter), WH_STATUS_NO_SPACE);
	while (take(&house, &to).type != 0)
		;
	CU_ASSERT_EQUAL(house.endpoint.closing_packet[accept.cid % PLACES].cid, 0);
	expect_stay(&house, transmitter, peer_says_done);
	close_out(&house, transmitter);
	expect_closing_packet(&house, &reply, &bob, 0x99, WH_RELEASE_DONE, WH_STATUS_NO_SPACE);
	expect_silence(&house, &reply, &alice);
	expect_silence(&house, &state, &bob);

	/* One that nobody had accepted said nothing, and has nothing to repeat. */
	wh_session_destroy(transmitter);
	transmitter = make_transmitter(&house);
	CU_ASSERT_EQUAL(wh_endpoint_open(&house.endpoint, transmitter), 0);
	turn(&house, NOW);

	const struct wh_packet unasked = release(wh_session_cid(transmitter), WH_RELEASE_REPLY);

	close_out(&house, transmitter);
	expect_silence(&house, &unasked, &bob);
	wh_session_destroy(transmitter);
	house_close(&house);
}

static void test_closing_of_transmitter(void)
{
	expect_closing_of_transmitter(false);
	expect_closing_of_transmitter(true);
}

/* What is between the halves: a receiver's packets leave by the other, which is told of them. */
static void test_between_the_halves(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);

	struct wh_session *receiver = open_to(&house, 5);
	struct wh_endpoint *endpoint = &house.endpoint;

	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(endpoint), WH_TSC_NEVER);
	wh_endpoint_receive_poll(endpoint, NOW);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(endpoint), 0);
	CU_ASSERT_EQUAL(take(&house, &to).type, 0); /* not before the turn that hears of it */
	wh_endpoint_send_poll(endpoint, NOW);
	CU_ASSERT_EQUAL(take(&house, &to).type, WH_PACKET_RCV_REPORT);
	CU_ASSERT_EQUAL(wh_session_stats(receiver).control_sent_pkts, 1);
	CU_ASSERT_EQUAL(endpoint->tx->polls, 0);
	wh_endpoint_send_poll(endpoint, NOW);
	CU_ASSERT_EQUAL(endpoint->tx->actives, 0);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(endpoint), WH_TSC_NEVER);

	/* And a transmitter's come in by the other: a refusal waits in its inbox. */
	struct wh_session *transmitter = make_transmitter(&house);

	CU_ASSERT_EQUAL(wh_endpoint_open(endpoint, transmitter), 0);
	wh_endpoint_send_poll(endpoint, NOW);
	CU_ASSERT_EQUAL(take(&house, &to).type, WH_PACKET_OPEN);

	struct wh_packet refusal = {
		.type = WH_PACKET_ACCEPT,
		.cid = wh_session_cid(transmitter),
		.accept = {.refused = WH_STATUS_REFUSED},
	};

	wh_endpoint_send_poll(endpoint, NOW);
	give(&house, &refusal, &bob);
	CU_ASSERT_EQUAL(wh_session_stats(transmitter).control_received_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_outcome(transmitter), WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(endpoint), 0);
	wh_endpoint_send_poll(endpoint, NOW);
	CU_ASSERT_EQUAL(wh_session_news(transmitter).outcome, WH_STATUS_REFUSED);
	CU_ASSERT_EQUAL(wh_session_news(transmitter).phase, WH_PHASE_CLOSED);
	wh_session_destroy(transmitter);
	house_close(&house);
}

/* Sessions that have nothing to do are not looked at; who is kicked is, and nobody else. */
static void test_looks_where_there_is_work(void)
{
	struct house house;
	struct wh_address to;

	house_open(&house);
	for (uint32_t i = 0; i < HALF; i++)
		open_to(&house, 100 + i);
	turn(&house, NOW);
	while (take(&house, &to).type != 0)
		;

	uint64_t polls = house.endpoint.rx->polls;

	/* The first state is out, the next one is due after a period of 10 ms. */
	for (uint32_t us = 1; us < 9000; us++)
		turn(&house, NOW + us * HZ / 1000000);
	CU_ASSERT_EQUAL(house.endpoint.rx->polls, polls + HALF); /* those that had just worked */
	CU_ASSERT_EQUAL(wh_endpoint_receive_deadline(&house.endpoint), NOW + HZ / 100);
	wh_session_kick(house.session[9]);
	CU_ASSERT_EQUAL(wh_endpoint_receive_deadline(&house.endpoint), 0);
	turn(&house, NOW + 9 * HZ / 1000);
	turn(&house, NOW + 9 * HZ / 1000);
	CU_ASSERT_EQUAL(house.endpoint.rx->polls, polls + HALF + 1);

	/* Due, all are looked at, and not late by more than the turn. */
	turn(&house, NOW + HZ / 100 - 1);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&house.endpoint), WH_TSC_NEVER);
	turn(&house, NOW + HZ / 100);

	uint32_t states = 0;

	for (struct wh_packet packet; (packet = take(&house, &to)).type != 0;)
		states += packet.type == WH_PACKET_RCV_REPORT;
	CU_ASSERT_EQUAL(states, HALF);
	house_close(&house);
}

/* One whose payload is virtual is our own mistake here: nothing that arrives could be meant. */
static void test_no_virtual_payload(void)
{
	struct house house;
	int status = 0;

	house_open(&house);

	struct wh_session_config config = session_config(&house);

	config.chunk_memory = NULL;
	config.payload_virtual = true;

	struct wh_session *session = wh_session_open(&config, &bob, "out", WH_OBJECT_BYTES_UNKNOWN);
	pid_t child = fork();

	CU_ASSERT_TRUE_FATAL(child >= 0);
	if (child == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(EXIT_FAILURE);
		wh_endpoint_open(&house.endpoint, session);
		turn(&house, NOW);
		_exit(EXIT_SUCCESS);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	wh_session_destroy(session);
	house_close(&house);
}

const char wh_suite_name[] = "endpoint";

CU_TestInfo wh_tests[] = {
	{"OPEN keeps no state", test_open_keeps_no_state},
	{"two at once", test_two_at_once},
	{"too late", test_too_late},
	{"confirmed once", test_confirmed_once},
	{"unwelcome", test_unwelcome},
	{"strangers", test_strangers},
	{"all places taken", test_all_places_taken},
	{"opened by us", test_opened_by_us},
	{"no place for ours", test_no_place_for_ours},
	{"grace", test_grace},
	{"last words", test_last_words},
	{"DONE after an outage", test_done_after_outage},
	{"closing packet of a receiver", test_closing_of_receiver},
	{"closing packet of a transmitter", test_closing_of_transmitter},
	{"between the halves", test_between_the_halves},
	{"looks where there is work", test_looks_where_there_is_work},
	{"no virtual payload", test_no_virtual_payload},
	CU_TEST_INFO_NULL,
};
