/* SPDX-License-Identifier: BSD-3-Clause */

/* What a peer makes a session send, against what it sent itself. */

#include "unit.h"

#include "../../rig/end.h"
#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"

const char wh_suite_name[] = "session_said";

#define HZ  UINT64_C(1000000000)
#define MS  (HZ / 1000)
#define NOW (10 * HZ)
#define CID 0x41

/* The least that a packet costs who sends it. */
#define PAYLOAD   WH_PAYLOAD_BYTES_MIN
#define MTU_BYTES (PAYLOAD + WH_HEAD_BYTES + WH_IPV4_BYTES + WH_UDP_BYTES)

/* 100, 200, ... ms apart and then 2 s, for 30 s of patience. */
#define HEARTBEATS_MAX 20

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

static struct wh_session_config config_of(const char *profile, enum wh_recovery recovery)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, HZ, 4096, 64, 4096);
	wh_session_config_profile(&config, wh_profile_find(profile));
	wh_rig_session_mtu(&config, WH_IPV4, MTU_BYTES);
	config.rate_bps = 1000000000;
	config.payload_virtual = true;
	wh_repair_config_init(&config.repair, config.profile);
	config.repair.recovery = recovery;
	config.repair.repair_pkts = recovery == WH_RECOVERY_NAK ? 0 : 16;
	return config;
}

static struct wh_session *accept_with(const struct wh_session_config *config, uint32_t period_us)
{
	struct wh_open_params params = wh_rig_open_params(config, 0);

	params.period_us = period_us;

	struct wh_session *session = wh_session_accept(config, NOW, CID, &peer, &params, MS / 10);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	return session;
}

static uint64_t taken_bytes(struct wh_session *session, uint64_t now_tsc)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};
	uint64_t bytes = 0;

	while (wh_session_output(session, now_tsc, &out, 1) > 0)
		bytes += out.head_bytes + out.payload_bytes;
	return bytes;
}

/* Every second packet of a window: as many holes as can be. */
static uint64_t give_holes(struct wh_session *session, uint32_t packets)
{
	for (uint32_t i = 0; i < packets; i++) {
		const struct wh_packet packet = {
			.type = WH_PACKET_DATA,
			.cid = CID,
			.pn = 2 * i,
			.data = {.chunk = 2 * i / 128,
				.index = 2 * i % 128,
				.k = 128,
				.payload_bytes = PAYLOAD,
				.transmission = i},
		};

		wh_session_input(session, NOW, NOW, &packet);
	}
	return (uint64_t)packets * (WH_HEAD_BYTES + PAYLOAD);
}

/* Polled at every moment that it asks for, and every 100 us, until it gives the peer up. */
static uint64_t said_to_silence(struct wh_session *session)
{
	uint64_t bytes = 0;

	for (uint64_t now_tsc = NOW; now_tsc < NOW + 40 * HZ; now_tsc += MS / 10) {
		wh_session_poll(session, now_tsc);
		bytes += taken_bytes(session, now_tsc);
		if (now_tsc > NOW + HZ)
			now_tsc += MS;
	}
	CU_ASSERT_EQUAL(wh_session_outcome(session), WH_STATUS_PEER_GONE);
	return bytes;
}

/* A receiver of any profile: 8 bytes for each that it heard, and heartbeats. */
static void test_receiver(void)
{
	static const uint32_t periods_us[] = {1, 999, 1000, 1001, 10000, WH_PERIOD_US_MAX};
	static const uint32_t holes[] = {0, 1, 127, 2000};

	for (uint32_t p = 0; wh_profile_at(p) != NULL; p++)
		for (uint32_t i = 0; i < 2 * 6 * 4; i++) {
			const char *profile = wh_profile_at(p)->name;
			enum wh_recovery recovery = i % 2 ? WH_RECOVERY_HYBRID : WH_RECOVERY_NAK;
			const struct wh_session_config config = config_of(profile, recovery);
			struct wh_session *session = accept_with(&config, periods_us[i / 2 % 6]);
			uint64_t heard = 2 * WH_HEAD_BYTES + give_holes(session, holes[i / 12]);
			uint64_t said = said_to_silence(session);

			if (said > 8 * heard + HEARTBEATS_MAX * WH_CONTROL_BYTES_MAX)
				printf("%s %u us %u holes: %lu for %lu\n", profile,
					periods_us[i / 2 % 6], holes[i / 12], said, heard);
			CU_ASSERT_TRUE(said > 0);
			CU_ASSERT_TRUE(said <= 8 * heard + HEARTBEATS_MAX * WH_CONTROL_BYTES_MAX);
			wh_session_destroy(session);
		}
}

/* What was saved up in a long life is not spent on a silence. */
static void test_savings(void)
{
	const struct wh_session_config config = config_of("fixed", WH_RECOVERY_NAK);
	struct wh_session *session = accept_with(&config, 1);

	give_holes(session, 2000);
	wh_session_heard(session, UINT32_MAX);
	CU_ASSERT_TRUE(said_to_silence(session) <=
		       WH_SAY_BYTES_SAVED + (HEARTBEATS_MAX + 1) * WH_CONTROL_BYTES_MAX);
	wh_session_destroy(session);
}

/* Packets of a second of that silence. */
static uint32_t said_in_second(struct wh_session *session, uint64_t from_tsc)
{
	uint32_t packets = 0;

	for (uint64_t now_tsc = from_tsc; now_tsc < from_tsc + HZ; now_tsc += MS / 10) {
		uint8_t room[WH_CONTROL_BYTES_MAX];
		struct wh_out out = {.head = room};

		wh_session_poll(session, now_tsc);
		while (wh_session_output(session, now_tsc, &out, 1) > 0)
			packets++;
	}
	return packets;
}

/* A receiver with holes whose peer is gone: soon only heartbeats, even if it has much to spend. */
static void test_silence(void)
{
	for (uint32_t p = 0; wh_profile_at(p) != NULL; p++) {
		const char *profile = wh_profile_at(p)->name;
		const struct wh_session_config config = config_of(profile, WH_RECOVERY_NAK);
		struct wh_session *session = accept_with(&config, 10000);
		uint32_t said[4];

		give_holes(session, 127);
		wh_session_heard(session, UINT32_MAX);
		for (uint32_t second = 0; second < 4; second++)
			said[second] = said_in_second(session, NOW + second * HZ);
		if (said[3] > 22)
			printf("%s: %u %u %u %u\n", profile, said[0], said[1], said[2], said[3]);
		CU_ASSERT_TRUE(said[3] >= 1);
		CU_ASSERT_TRUE(said[3] <= 22);
		wh_session_destroy(session);
	}
}

/* One that is heard from is told as ever: the period does not wait for more than it brings. */
static void test_as_ever(void)
{
	const struct wh_session_config config = config_of("fixed", WH_RECOVERY_NAK);
	struct wh_session *session = accept_with(&config, 10000);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t now_tsc = NOW + i * 10 * MS;
		const struct wh_packet state = {
			.type = WH_PACKET_TRANS_REPORT,
			.cid = CID,
			.pn = i,
			.trans_report = {.queued_pkts = 1},
		};

		wh_session_input(session, now_tsc, now_tsc, &state);
		wh_session_poll(session, now_tsc);
		bytes += taken_bytes(session, now_tsc);
	}
	CU_ASSERT_EQUAL(bytes, 1000 * 128);
	wh_session_destroy(session);
}

/* A transmitter that was welcomed, and is told no more. */
static void test_transmitter(void)
{
	for (uint32_t p = 0; wh_profile_at(p) != NULL; p++) {
		const struct wh_session_config config =
			config_of(wh_profile_at(p)->name, WH_RECOVERY_NAK);
		struct wh_session *session =
			wh_session_open(&config, &peer, "name", WH_OBJECT_BYTES_UNKNOWN);
		const struct wh_packet accept = {
			.type = WH_PACKET_ACCEPT,
			.cid = CID,
			.accept = {.acceptor_cid = 9, .stamp_us = NOW / 1000, .buffer_chunks = 4},
		};

		CU_ASSERT_PTR_NOT_NULL_FATAL(session);
		wh_connect_begin(session, NOW, CID, 7);
		wh_session_input(session, NOW, NOW, &accept);
		/*
		 * Ten times a second a state for 30 s, and ever more rarely CONFIRM and the probe,
		 * at last every 4 s.
		 */
		uint64_t probes_bytes =
			wh_profile_feedback(config.profile, &config.options).probe.pkts * 14 *
			(uint64_t)WH_CONTROL_BYTES_MAX;

		CU_ASSERT_TRUE(said_to_silence(session) < 310 * 64 + 20 * 120 + probes_bytes);
		wh_session_destroy(session);
	}
}

CU_TestInfo wh_tests[] = {
	{"a receiver", test_receiver},
	{"savings", test_savings},
	{"silence", test_silence},
	{"as ever", test_as_ever},
	{"a transmitter", test_transmitter},
	CU_TEST_INFO_NULL,
};
