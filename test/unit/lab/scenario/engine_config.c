/* SPDX-License-Identifier: BSD-3-Clause */

/* What a flow's session is like: packets, chunks and what may be ready of them. */

#include "lab/scenario/engine_config.h"

#include "unit.h"

const char wh_suite_name[] = "sim_engine_config";

static void test_payload_of_an_mtu(void)
{
	/* Head, UDP and IPv4 take 92 bytes; the rest in whole 32s. */
	CU_ASSERT_EQUAL(wh_sim_engine_payload_bytes(1500), 1408);
	CU_ASSERT_EQUAL(wh_sim_engine_payload_bytes(9000), 8896);
	CU_ASSERT_EQUAL(wh_sim_engine_payload_bytes(123), 0);
	CU_ASSERT_EQUAL(wh_sim_engine_payload_bytes(124), 32);
}

/* 1408 bytes are 44 times 32, so that chunks may be of any number of packets. */
static void test_chunks_of_a_window(void)
{
	struct wh_sim_engine_config config;

	wh_sim_engine_config_init(&config, wh_profile_find("udt"));
	CU_ASSERT_EQUAL(config.mtu_bytes, 1500);
	for (uint32_t window = 1; window <= 1 << 20; window *= 4) {
		config.window_pkts = window;

		uint32_t pkts = wh_sim_engine_chunk_pkts(&config);
		struct wh_session_config session = wh_sim_engine_session_config(&config, 7);

		CU_ASSERT_EQUAL(session.packet_bytes, 1500);
		CU_ASSERT_EQUAL(session.chunk_bytes, pkts * 1408);
		CU_ASSERT_EQUAL(session.chunks, window / pkts + 1 + WH_SIM_READY_CHUNKS);
		CU_ASSERT_EQUAL(session.seed, 7);
	}
	config.window_pkts = 100;
	config.tasks.arrival_ps = 1;
	CU_ASSERT_EQUAL(wh_sim_engine_session_config(&config, 7).chunks, 101 + WH_SIM_READY_CHUNKS);
}

CU_TestInfo wh_tests[] = {
	{"payload of an MTU", test_payload_of_an_mtu},
	{"chunks of a window", test_chunks_of_a_window},
	CU_TEST_INFO_NULL,
};
