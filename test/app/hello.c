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

/* The client's wish, and of the planner's constants what our operator told, or its profile says. */
static void test_repair_of_client(void)
{
	static const struct {
		uint8_t profile;
		uint8_t code;
		uint8_t k;
		uint8_t r;
		double own_ceiling;
		bool on;
		double ceiling;
	} cases[] = {
		{1, WH_FEC_NONE, 0, 0, 0, false, 0.25},
		{1, WH_FEC_RS, 0, 0, 0, true, 0.25},
		{1, WH_FEC_TORNADO, 128, 4, 0.1, true, 0.1},
		{2, WH_FEC_RS, 0, 0, 0, true, 0.25},
		{3, WH_FEC_TORNADO, 0, 0, 0, true, 0.5},
		{3, WH_FEC_RS, 0, 0, 0.25, true, 0.25},
		{3, WH_FEC_NONE, 0, 0, 0, false, 0.5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_hello hello = usual(WH_JOB_GET);
		struct wh_repair_options own;

		hello.profile = cases[i].profile;
		hello.fec_code = cases[i].code;
		hello.fec_k = cases[i].k;
		hello.fec_r = cases[i].r;
		wh_repair_options_init(&own);
		own.ceiling = cases[i].own_ceiling;
		own.target = 1e-3;

		struct wh_repair_options options = wh_hello_repair(&hello, &own);

		CU_ASSERT_EQUAL(options.on, cases[i].on);
		CU_ASSERT_EQUAL(options.k, cases[i].k);
		CU_ASSERT_EQUAL(options.r, cases[i].r);
		CU_ASSERT_FALSE(options.strict);
		WH_ASSERT_NEAR(options.target, 1e-3, 1e-15);
		WH_ASSERT_NEAR(options.ceiling, cases[i].ceiling, 1e-12);
		if (options.on)
			CU_ASSERT_EQUAL(options.code, cases[i].code);
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
	{"repair of a client", test_repair_of_client},
	{"profile", test_profile},
	{"idle", test_idle},
	CU_TEST_INFO_NULL,
};
