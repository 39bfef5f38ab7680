/* SPDX-License-Identifier: BSD-3-Clause */

/* How often an outcome is told until the peer has it: by the round trip, not by periods. */

#include "../../rig/end.h"
#include "unit.h"

#include "base/clock.h"
#include "endpoint/lifecycle.h"
#include "session/session.h"
#include "wire/packet.h"

const char wh_suite_name[] = "release";

#define HZ  UINT64_C(1000000000)
#define US  (HZ / 1000000)
#define MS  (HZ / 1000)
#define NOW (10 * HZ)
#define CID 0x41

#define STEP_TSC      (50 * US)
#define REPLIES       13
#define QUICK         10 /* before the pauses grow */
#define PAUSE_MAX_TSC HZ
#define STAY_TSC      (2 * HZ) /* or 16 round trips */
#define MEMORY        (4 * 8192)

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

static struct wh_session *receiver(uint8_t *memory, uint64_t rtt_tsc)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, HZ, 8192, 4, 64);
	config.chunk_memory = memory;

	const struct wh_open_params params = wh_rig_open_params(&config, 1000);

	return wh_session_accept(&config, NOW, CID, &peer, &params, rtt_tsc);
}

/* Whether a RELEASE of that stage and status went out. */
static bool says(struct wh_session *session, uint64_t now_tsc, enum wh_release_stage stage,
	enum wh_release_status status)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};
	struct wh_packet packet;
	bool said = false;

	while (wh_session_output(session, now_tsc, &out, 1) > 0) {
		CU_ASSERT(wh_packet_decode(room, out.head_bytes, &packet) == WH_WIRE_OK);
		if (packet.type != WH_PACKET_RELEASE)
			continue;
		CU_ASSERT(packet.release.stage == stage && packet.release.status == status);
		said = true;
	}
	return said;
}

static void tell(struct wh_session *session, uint64_t now_tsc, enum wh_release_stage stage)
{
	const struct wh_packet packet = {
		.type = WH_PACKET_RELEASE,
		.cid = CID,
		.pn = 1,
		.release = {.stage = (uint8_t)stage, .status = WH_STATUS_VERIFIED},
	};

	wh_session_input(session, now_tsc, now_tsc, &packet);
	wh_session_poll(session, now_tsc);
}

/* When the first replies go, and that DONE ends them, which is answered once. */
static void expect_replies(uint64_t rtt_tsc, uint64_t pause_tsc)
{
	uint8_t *memory = aligned_alloc(WH_CHUNK_ALIGN, MEMORY);
	struct wh_session *session = receiver(memory, rtt_tsc);
	uint64_t at_tsc[REPLIES];
	uint64_t now_tsc = NOW;

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	wh_session_ask(session, WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
	for (uint32_t replies = 0; replies < REPLIES; now_tsc += STEP_TSC) {
		CU_ASSERT_FATAL(now_tsc < NOW + REPLIES * PAUSE_MAX_TSC);
		wh_session_poll(session, now_tsc);
		if (says(session, now_tsc, WH_RELEASE_REPLY, WH_STATUS_VERIFIED))
			at_tsc[replies++] = now_tsc;
	}
	CU_ASSERT_EQUAL(at_tsc[0], NOW);
	for (uint32_t i = 1; i < REPLIES; i++) {
		uint64_t pauses = i <= QUICK ? 1 : i - QUICK;

		CU_ASSERT_EQUAL(
			at_tsc[i] - at_tsc[i - 1], wh_min_u64(pauses * pause_tsc, PAUSE_MAX_TSC));
	}
	tell(session, now_tsc, WH_RELEASE_DONE);
	CU_ASSERT_TRUE(says(session, now_tsc, WH_RELEASE_DONE, WH_STATUS_VERIFIED));
	tell(session, now_tsc, WH_RELEASE_DONE);
	for (uint64_t i = 0; i < 100; i++) {
		now_tsc += pause_tsc;
		wh_session_poll(session, now_tsc);
		CU_ASSERT_FALSE(says(session, now_tsc, WH_RELEASE_REPLY, WH_STATUS_VERIFIED));
	}
	wh_session_destroy(session);
	free(memory);
}

static void test_replies(void)
{
	static const struct {
		uint64_t rtt_tsc;
		uint64_t pause_tsc;
	} cases[] = {
		{50 * US, MS},
		{MS, MS},
		{3 * MS, 3 * MS},
		{10 * MS, 10 * MS},
		{40 * MS, 40 * MS},
		{400 * MS, 400 * MS},
		{7 * HZ, HZ},
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_replies(cases[i].rtt_tsc, cases[i].pause_tsc);
}

/* A peer that is gone keeps nobody: the endpoint has the outcome for one that comes back. */
static void expect_leave(uint64_t rtt_tsc)
{
	uint8_t *memory = aligned_alloc(WH_CHUNK_ALIGN, MEMORY);
	struct wh_session *session = receiver(memory, rtt_tsc);
	uint64_t stay_tsc = 16 * rtt_tsc > STAY_TSC ? 16 * rtt_tsc : STAY_TSC;
	uint64_t now_tsc = NOW;

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	wh_session_ask(session, WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
	for (; now_tsc < NOW + 2 * stay_tsc; now_tsc += MS) {
		wh_session_poll(session, now_tsc);
		(void)says(session, now_tsc, WH_RELEASE_REPLY, WH_STATUS_VERIFIED);
		if (wh_session_news(session).phase == WH_PHASE_CLOSED)
			break;
	}
	WH_ASSERT_NEAR(now_tsc - NOW, stay_tsc, 0.001);
	wh_session_destroy(session);
	free(memory);
}

static void test_leave(void)
{
	expect_leave(MS);
	expect_leave(300 * MS);
}

CU_TestInfo wh_tests[] = {
	{"leaves a peer that is gone", test_leave},
	{"replies", test_replies},
	CU_TEST_INFO_NULL,
};
