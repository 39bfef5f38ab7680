/* SPDX-License-Identifier: BSD-3-Clause */

/* What a client may ask for: every number of it goes into the making of our stream. */

#include <CUnit/CUnit.h>

#include "unit.h"
#include "wavehaul/hello.h"

const char wh_suite_name[] = "app/hello";

static struct wh_hello usual(enum wh_job_verb verb)
{
	return (struct wh_hello){
		.version = WH_BUNDLE_VERSION,
		.verb = (uint8_t)verb,
		.profile = 1,
		.lanes = 1,
		.payload_bytes = 1408,
		.rate_bps = UINT64_MAX,
	};
}

static void test_usual(void)
{
	for (int verb = WH_JOB_SEND; verb <= WH_JOB_IDLE; verb++) {
		struct wh_hello hello = usual((enum wh_job_verb)verb);

		CU_ASSERT_TRUE(wh_hello_is_possible(&hello));
	}
}

/* Packets are divided into chunks by it, and OPEN carries no other. */
static void test_payload(void)
{
	static const struct {
		uint32_t bytes;
		bool possible;
	} cases[] = {
		{0, false},
		{1, false},
		{31, false},
		{32, true},
		{33, false},
		{1407, false},
		{1408, true},
		{9216, true},
		{9217, false},
		{9248, false},
		{UINT32_C(1) << 16 | 1408, false},
		{UINT32_MAX - 31, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int verb = WH_JOB_SEND; verb <= WH_JOB_BENCH; verb++) {
			struct wh_hello hello = usual((enum wh_job_verb)verb);

			hello.payload_bytes = cases[i].bytes;
			CU_ASSERT_EQUAL(wh_hello_is_possible(&hello), cases[i].possible);
		}
}

/* To a session 0 is no limit: who says so would be given more than the server's --rate. */
static void test_rate(void)
{
	struct wh_hello hello = usual(WH_JOB_GET);

	hello.rate_bps = 0;
	CU_ASSERT_FALSE(wh_hello_is_possible(&hello));
	hello.rate_bps = 1;
	CU_ASSERT_TRUE(wh_hello_is_possible(&hello));
}

/* A block holds 255 packets, no more of them repair than data. */
static void test_repair(void)
{
	static const struct {
		uint8_t code;
		uint8_t k;
		uint8_t r;
		bool possible;
	} cases[] = {
		{0, 0, 0, true},
		{0, 128, 4, false},
		{1, 0, 0, true},
		{1, 128, 4, true},
		{2, 128, 4, true},
		{2, 0, 0, true},
		{3, 0, 0, false},
		{255, 128, 4, false},
		{1, 0, 4, false},
		{1, 128, 0, false},
		{1, 1, 1, true},
		{1, 1, 2, false},
		{1, 127, 127, true},
		{1, 128, 127, true},
		{1, 128, 128, false},
		{1, 254, 1, true},
		{1, 254, 2, false},
		{1, 255, 1, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int verb = WH_JOB_SEND; verb <= WH_JOB_BENCH; verb++) {
			struct wh_hello hello = usual((enum wh_job_verb)verb);

			hello.fec_code = cases[i].code;
			hello.fec_k = cases[i].k;
			hello.fec_r = cases[i].r;
			CU_ASSERT_EQUAL(wh_hello_is_possible(&hello), cases[i].possible);
		}
}

/* fixed, udt and ttp are all that there are. */
static void test_profile(void)
{
	for (uint32_t number = 0; number <= UINT8_MAX; number++) {
		struct wh_hello hello = usual(WH_JOB_SEND);

		hello.profile = (uint8_t)number;
		CU_ASSERT_EQUAL(wh_hello_is_possible(&hello), number >= 1 && number <= 3);
	}
}

/* Nothing is sent to it, so that nothing of that matters. */
static void test_idle(void)
{
	struct wh_hello hello = {.verb = WH_JOB_IDLE, .lanes = 1};

	CU_ASSERT_TRUE(wh_hello_is_possible(&hello));
}

CU_TestInfo wh_tests[] = {
	{"what clients say", test_usual},
	{"payload", test_payload},
	{"rate", test_rate},
	{"repair", test_repair},
	{"profile", test_profile},
	{"idle", test_idle},
	CU_TEST_INFO_NULL,
};
