/* SPDX-License-Identifier: BSD-3-Clause */

/* A transmitter whose peer is silent asks the listener, and what its answers prove. */

#include "../../rig/end.h"
#include "endpoint/lifecycle.h"
#include "endpoint/turn.h"
#include "unit.h"

const char wh_suite_name[] = "missing";

#define HZ          UINT64_C(1000000000)
#define MS          (HZ / 1000)
#define NOW         (10 * HZ)
#define SENDER      5
#define CID         0x41
#define CHUNKS      2
#define CHUNK_BYTES 4096

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

static struct rig {
	uint64_t now_tsc;
	uint8_t *memory;
	struct wh_session *s;
	uint64_t asked_tsc; /* of the latest question; 0: none */
} rig;

void wh_set_up(void)
{
	struct wh_session_config config;
	struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.cid = SENDER,
		.accept = {.acceptor_cid = CID, .stamp_us = NOW / 1000, .buffer_chunks = CHUNKS},
	};

	rig = (struct rig){
		.now_tsc = NOW, .memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * CHUNK_BYTES)};
	wh_rig_session_config(&config, HZ, CHUNK_BYTES, CHUNKS, 64);
	config.chunk_memory = rig.memory;
	rig.s = wh_session_open(&config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig.s);
	wh_connect_begin(rig.s, NOW, SENDER, 7);
	wh_session_input(rig.s, NOW, NOW, &accept);
	wh_session_poll(rig.s, NOW);
	CU_ASSERT_EQUAL_FATAL(rig.s->phase, WH_PHASE_RUNNING);
	/* As after its first state: the peer has the session. */
	rig.s->tx.report_seen = true;
	rig.s->tx.unanswered_tsc = 0;
}

void wh_take_down(void)
{
	wh_session_destroy(rig.s);
	free(rig.memory);
}

/* Lets time pass; how often the listener was asked meanwhile. */
static uint32_t pass(uint64_t span_tsc)
{
	uint64_t end_tsc = rig.now_tsc + span_tsc;
	uint32_t asked = 0;

	for (; rig.now_tsc < end_tsc; rig.now_tsc += MS) {
		while (wh_slot_fifo_peek(&rig.s->outbox) != NULL)
			wh_slot_fifo_release(&rig.s->outbox);
		if (wh_missing_poll(rig.s, rig.now_tsc) > 0) {
			rig.asked_tsc = rig.now_tsc;
			asked++;
		}
	}
	return asked;
}

/* The listener answers what was asked then. */
static void answer(uint64_t asked_tsc)
{
	const struct wh_accept accept = {
		.acceptor_cid = CID,
		.stamp_us = wh_session_now_us(rig.s, asked_tsc),
		.buffer_chunks = CHUNKS,
	};

	wh_connect_accepted(rig.s, rig.now_tsc, &accept);
}

static enum wh_release_status outcome(void)
{
	return wh_session_outcome(rig.s);
}

static void test_not_silent(void)
{
	CU_ASSERT_EQUAL(pass(20 * HZ), 0);
	CU_ASSERT_EQUAL(wh_missing_deadline(rig.s), WH_TSC_NEVER);
}

/* While the path is down nothing answers: four questions a second, and no end. */
static void test_asks(void)
{
	rig.s->tx.peer_silent = true;
	CU_ASSERT_EQUAL(pass(20 * HZ), 80);
	CU_ASSERT_EQUAL(wh_missing_deadline(rig.s), rig.asked_tsc + 250 * MS);
	CU_ASSERT_EQUAL(outcome(), WH_STATUS_PENDING);
	/* Heard again: no more. */
	rig.s->tx.peer_silent = false;
	CU_ASSERT_EQUAL(pass(20 * HZ), 0);
	CU_ASSERT_EQUAL(wh_missing_deadline(rig.s), WH_TSC_NEVER);
}

/* An idle one is silent when it does not answer a heartbeat for so long. */
static void test_idle(void)
{
	rig.s->tx.unanswered_tsc = NOW;
	CU_ASSERT_EQUAL(wh_missing_deadline(rig.s), NOW + wh_session_exp_tsc(rig.s) + 1);
	CU_ASSERT_EQUAL(pass(wh_session_exp_tsc(rig.s)), 0);
	CU_ASSERT_EQUAL(pass(250 * MS), 1);
}

/* Asks and is answered in every question's moment; how long until the session is over. */
static uint64_t end_tsc(bool in_time)
{
	uint64_t began_tsc = rig.now_tsc;

	while (rig.s->outcome == WH_STATUS_PENDING && rig.s->phase == WH_PHASE_RUNNING &&
		rig.now_tsc < began_tsc + 20 * HZ)
		if (pass(MS) > 0)
			answer(in_time ? rig.asked_tsc : began_tsc - MS);
	return rig.now_tsc - began_tsc;
}

/* One that answers for a second, and no state, has the session no more. */
static void test_replaced(void)
{
	uint64_t took_tsc;

	rig.s->tx.peer_silent = true;
	took_tsc = end_tsc(true);
	CU_ASSERT_EQUAL(outcome(), WH_STATUS_REPLACED);
	CU_ASSERT_TRUE(took_tsc >= HZ && took_tsc <= 2 * HZ);
}

/* Many answers at once, as of one who repeats them, prove nothing within that second. */
static void test_flood(void)
{
	rig.s->tx.peer_silent = true;
	CU_ASSERT_EQUAL(pass(MS), 1);
	for (uint32_t i = 0; i < 10000; i++)
		answer(rig.asked_tsc);
	CU_ASSERT_EQUAL(outcome(), WH_STATUS_PENDING);
	rig.now_tsc += 900 * MS;
	answer(rig.asked_tsc);
	CU_ASSERT_EQUAL(outcome(), WH_STATUS_PENDING);
	/* Then the peer is heard: all begins anew. */
	rig.s->tx.peer_silent = false;
	(void)pass(MS);
	rig.s->tx.peer_silent = true;
	(void)pass(MS);
	answer(rig.asked_tsc);
	CU_ASSERT_EQUAL(outcome(), WH_STATUS_PENDING);
}

/* Answers to an OPEN of before the silence are none. */
static void test_old_answers(void)
{
	(void)pass(HZ);
	answer(NOW); /* nothing was asked */
	rig.s->tx.peer_silent = true;
	(void)end_tsc(false);
	CU_ASSERT_EQUAL(outcome(), WH_STATUS_PENDING);
}

/* One that the peer never had opens again. */
static void test_never_there(void)
{
	rig.s->tx.report_seen = false;
	rig.s->tx.peer_silent = true;
	(void)end_tsc(true);
	CU_ASSERT_EQUAL(outcome(), WH_STATUS_PENDING);
	CU_ASSERT_TRUE(wh_session_begins_anew(rig.s));
}

CU_TestInfo wh_tests[] = {
	{"a peer that is heard", test_not_silent},
	{"a peer that is silent", test_asks},
	{"an idle peer", test_idle},
	{"a peer without the session", test_replaced},
	{"a flood of answers", test_flood},
	{"answers of before", test_old_answers},
	{"a peer that never had it", test_never_there},
	CU_TEST_INFO_NULL,
};
