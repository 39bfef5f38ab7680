/* SPDX-License-Identifier: BSD-3-Clause */

/* What operators say of repair packets, as sessions get it; and what peers may ask for. */

#include <stdio.h>

#include "cli/cli_repair.h"
#include "fec/fec.h"
#include "unit.h"

#define MIB UINT32_C(1048576)

const char wh_suite_name[] = "app/repair";

static struct wh_session_config config_of(uint32_t payload_bytes)
{
	struct wh_session_config config;

	wh_session_config_init(&config);
	config.chunk_bytes = MIB;
	config.payload_bytes = payload_bytes;
	return config;
}

static struct wh_repair_options options_of(const char *text)
{
	struct wh_repair_options options;

	wh_repair_options_init(&options);
	CU_ASSERT_TRUE_FATAL(wh_repair_parse(text, &options));
	wh_repair_settle(&options, wh_profile_find("fixed"));
	return options;
}

/* "" and 0: not told. What is told stays, the rest is as the profile says. */
static void test_settle(void)
{
	static const struct {
		const char *profile;
		const char *told_fec;
		const char *told_code;
		double told_ceiling;
		const char *fec;
		enum wh_fec_code code;
		double ceiling;
	} cases[] = {
		{"fixed", "", "", 0, "off", WH_FEC_RS, 0.25},
		{"udt", "", "", 0, "off", WH_FEC_RS, 0.25},
		{"ttp", "", "", 0, "auto", WH_FEC_TORNADO, 0.5},
		{"ttp", "off", "", 0, "off", WH_FEC_TORNADO, 0.5},
		{"ttp", "", "rs", 0, "auto", WH_FEC_RS, 0.5},
		{"ttp", "", "", 0.3, "auto", WH_FEC_TORNADO, 0.3},
		{"ttp", "9,1", "", 0, "9,1", WH_FEC_TORNADO, 0.5},
		{"ttp", "auto", "rs", 0.01, "auto", WH_FEC_RS, 0.01},
		{"fixed", "auto", "", 0, "auto", WH_FEC_RS, 0.25},
		{"fixed", "", "tornado", 0.5, "off", WH_FEC_TORNADO, 0.5},
		{"udt", "128,4", "tornado", 0, "128,4", WH_FEC_TORNADO, 0.25},
	};
	char text[WH_REPAIR_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_repair_options options;

		wh_repair_options_init(&options);
		if (cases[i].told_fec[0] != '\0')
			CU_ASSERT_TRUE_FATAL(wh_repair_parse(cases[i].told_fec, &options));
		options.code = wh_repair_code(cases[i].told_code);
		options.ceiling = cases[i].told_ceiling;
		wh_repair_settle(&options, wh_profile_find(cases[i].profile));
		CU_ASSERT_STRING_EQUAL(wh_repair_text(&options, text), cases[i].fec);
		CU_ASSERT_EQUAL(options.code, cases[i].code);
		WH_ASSERT_NEAR(options.ceiling, cases[i].ceiling, 1e-12);
		WH_ASSERT_NEAR(options.target, 1e-4, 1e-16);
	}
}

/* Without repair packets there is nothing that it could be strict about. */
static void test_strict(void)
{
	static const struct {
		const char *text;
		bool strict;
		bool wrong;
	} cases[] = {
		{"off", false, false},
		{"off", true, true},
		{"auto", true, false},
		{"8,1", true, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_repair_options options = options_of(cases[i].text);
		struct wh_session_config config = config_of(1408);

		options.strict = cases[i].strict;
		CU_ASSERT_EQUAL(wh_repair_wrong(&options) != NULL, cases[i].wrong);
		wh_repair_configure(&options, &config);
		CU_ASSERT_EQUAL(config.repair.recovery,
			options.on && options.strict ? WH_RECOVERY_FEC : WH_RECOVERY_NAK);
	}
}

static void test_off(void)
{
	struct wh_repair_options options = options_of("off");
	struct wh_session_config config = config_of(1408);
	char text[WH_REPAIR_TEXT_BYTES];

	wh_repair_configure(&options, &config);
	CU_ASSERT_EQUAL(config.repair.recovery, WH_RECOVERY_NAK);
	CU_ASSERT_EQUAL(config.repair.repair_pkts, 0);
	CU_ASSERT_EQUAL(wh_session_chunk_stride(&config), MIB);
	CU_ASSERT_STRING_EQUAL(wh_repair_text(&options, text), "off");
}

/* Room for as many repair packets as the ceiling allows: a share of all packets. */
static void test_auto(void)
{
	static const struct {
		uint32_t payload_bytes;
		double ceiling;
		uint32_t repair_pkts;
	} cases[] = {
		{1408, 0.25, 249},                 /* 745 of data, a third of it is 248.3 */
		{8896, 0.25, 40},                  /* 118; 39.3 */
		{1408, 0.5, 745}, {1408, 0.01, 8}, /* 745 / 99 = 7.5 */
	};
	struct wh_repair_options options = options_of("auto");
	char text[WH_REPAIR_TEXT_BYTES];

	CU_ASSERT_STRING_EQUAL(wh_repair_text(&options, text), "auto");
	options.target = 1e-6;
	options.code = WH_FEC_TORNADO;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_session_config config = config_of(cases[i].payload_bytes);

		options.ceiling = cases[i].ceiling;
		wh_repair_configure(&options, &config);
		CU_ASSERT_EQUAL(config.repair.recovery, WH_RECOVERY_HYBRID);
		CU_ASSERT_EQUAL(config.repair.repair_pkts, cases[i].repair_pkts);
		CU_ASSERT_EQUAL(config.repair.code, WH_FEC_TORNADO);
		CU_ASSERT_EQUAL(config.repair.fixed_k + config.repair.fixed_r, 0);
		CU_ASSERT_EQUAL(config.repair.planner.code, WH_FEC_TORNADO);
		CU_ASSERT_EQUAL(config.repair.planner.r_max, cases[i].repair_pkts);
		WH_ASSERT_NEAR(config.repair.planner.target, 1e-6, 1e-18);
		WH_ASSERT_NEAR(config.repair.planner.ceiling, cases[i].ceiling, 1e-12);
		CU_ASSERT_TRUE(config.repair.planner.clean_pkts > 0);
	}
}

/* So many for each block, the last and shorter one too. */
static void test_fixed(void)
{
	static const struct {
		const char *text;
		uint32_t repair_pkts;
	} cases[] = {
		{"128,4", 24},    /* 745 are 6 blocks */
		{"8,1", 94},      /* 94 */
		{"1,1", 745},     /* 745 */
		{"127,127", 762}, /* 6 */
		{"254,1", 3},
		{"149,10", 50}, /* 5, exactly */
		{"148,10", 60},
	};
	char text[WH_REPAIR_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_repair_options options = options_of(cases[i].text);
		struct wh_session_config config = config_of(1408);

		wh_repair_configure(&options, &config);
		CU_ASSERT_EQUAL(config.repair.recovery, WH_RECOVERY_HYBRID);
		CU_ASSERT_EQUAL(config.repair.repair_pkts, cases[i].repair_pkts);
		CU_ASSERT_EQUAL(config.repair.code, WH_FEC_RS);
		CU_ASSERT_EQUAL(config.repair.fixed_k, options.k);
		CU_ASSERT_EQUAL(config.repair.fixed_r, options.r);
		CU_ASSERT_STRING_EQUAL(wh_repair_text(&options, text), cases[i].text);
	}
}

/* A refused text leaves what was there. */
static void test_refused(void)
{
	static const char *const texts[] = {"", "on", "AUTO", "4", "4,", ",1", "4,1,", "4,1x",
		"+4,1", " 4,1", "4, 1", "0,0", "4,0", "4,5", "255,1", "256,1", "4294967297,1",
		"99999999999999999999,1", "4;1"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct wh_repair_options options = options_of("128,4");

		CU_ASSERT_FALSE(wh_repair_parse(texts[i], &options));
		CU_ASSERT_TRUE(options.on && options.k == 128 && options.r == 4);
	}
}

static void test_codes(void)
{
	CU_ASSERT_EQUAL(wh_repair_code("rs"), WH_FEC_RS);
	CU_ASSERT_EQUAL(wh_repair_code("tornado"), WH_FEC_TORNADO);
	CU_ASSERT_EQUAL(wh_repair_code("none"), WH_FEC_NONE);
	CU_ASSERT_EQUAL(wh_repair_code(""), WH_FEC_NONE);
}

/* Whatever its options, no transmitter with allowed packets comes above the limits. */
static void test_limits_suffice(void)
{
	const struct wh_fec_limits limits = wh_repair_limits(MIB, 1120, 8896);
	char text[16];

	CU_ASSERT_EQUAL(limits.k, 937);
	CU_ASSERT_EQUAL(limits.r, 937 + 127);
	CU_ASSERT_EQUAL(limits.symbol_bytes, 8896);
	for (uint32_t k = 1; k < 255; k++)
		for (uint32_t r = 1; r <= k && k + r <= 255; r++) {
			snprintf(text, sizeof(text), "%u,%u", k, r);

			struct wh_repair_options options = options_of(text);
			struct wh_session_config config = config_of(1120);

			wh_repair_configure(&options, &config);
			if (config.repair.repair_pkts > limits.r)
				CU_FAIL("more repair packets than there are tables for");
		}
}

static void test_fits(void)
{
	const struct wh_fec_limits limits = wh_repair_limits(MIB, 1120, 1408);
	static const struct {
		uint32_t chunk_bytes;
		uint16_t payload_bytes;
		uint16_t repair_pkts;
		bool fits;
	} cases[] = {
		{MIB, 1408, 24, true},
		{MIB, 1120, 1064, true},
		{MIB, 1120, 1065, false},
		{MIB, 1088, 24, false}, /* 964 packets */
		{MIB, 1440, 24, false},
		{16384, 32, 24, true},
		{16384, 1408, 1065, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wh_open_params params = {
			.chunk_bytes = cases[i].chunk_bytes,
			.payload_bytes = cases[i].payload_bytes,
			.recovery = WH_RECOVERY_HYBRID,
			.repair_pkts = cases[i].repair_pkts,
		};

		CU_ASSERT_EQUAL(wh_repair_fits(&params, &limits), cases[i].fits);
	}
}

static void test_follow(void)
{
	struct wh_session_config config = config_of(1408);
	struct wh_open_params params = {.recovery = WH_RECOVERY_FEC, .repair_pkts = 24};

	wh_repair_follow(&params, &config);
	CU_ASSERT_EQUAL(config.repair.recovery, WH_RECOVERY_FEC);
	CU_ASSERT_EQUAL(config.repair.repair_pkts, 24);
	/* 1048576 + 24 * 1408 = 1082368, up to whole pages */
	CU_ASSERT_EQUAL(wh_session_chunk_stride(&config), 1085440);
}

static void test_overhead(void)
{
	struct wh_session_stats sent = {.sent_pkts = 1040, .repair_pkts = 40, .repaired_pkts = 3};
	struct wh_session_stats came = {.received_pkts = 500, .repair_pkts = 5};
	struct wh_session_stats sum = {0};

	WH_ASSERT_NEAR(wh_repair_overhead(&sum), 0, 0);
	WH_ASSERT_NEAR(wh_repair_overhead(&sent), 0.04, 1e-12);
	WH_ASSERT_NEAR(wh_repair_overhead(&came), 0.01, 1e-12);
	wh_session_stats_add(&sum, &sent);
	wh_session_stats_add(&sum, &sent);
	WH_ASSERT_NEAR(wh_repair_overhead(&sum), 0.04, 1e-12);
}

CU_TestInfo wh_tests[] = {
	{"settle", test_settle},
	{"strict", test_strict},
	{"off", test_off},
	{"auto", test_auto},
	{"fixed", test_fixed},
	{"refused", test_refused},
	{"codes", test_codes},
	{"limits suffice", test_limits_suffice},
	{"fits", test_fits},
	{"follow", test_follow},
	{"overhead", test_overhead},
	CU_TEST_INFO_NULL,
};
