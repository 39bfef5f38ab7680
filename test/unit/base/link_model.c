/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/link_model.h"

#include "unit.h"

const char wh_suite_name[] = "link_model";

static void good_texts_are_parsed(void)
{
	static const struct {
		const char *text;
		enum wh_loss_kind loss_model;
		struct wh_gilbert_elliott ge;
		double bit_error;
	} cases[] = {
		{"bernoulli", WH_LOSS_BERNOULLI, {0.1, 0.2, 0.3, 0.4}, 0.5},
		{"ge:0.01,0.25", WH_LOSS_GILBERT_ELLIOTT, {0.01, 0.25, 0.0, 1.0}, 0.5},
		{"ge:1%,25%", WH_LOSS_GILBERT_ELLIOTT, {0.01, 0.25, 0.0, 1.0}, 0.5},
		{"ge:0.01,0.25,0.5", WH_LOSS_GILBERT_ELLIOTT, {0.01, 0.25, 0.0, 0.5}, 0.5},
		{"ge:1e-5,0,0.25,0.75", WH_LOSS_GILBERT_ELLIOTT, {1e-5, 0.0, 0.25, 0.75}, 0.5},
		{"ge:0,1,1,0", WH_LOSS_GILBERT_ELLIOTT, {0.0, 1.0, 1.0, 0.0}, 0.5},
		{"ber:1e-12", WH_LOSS_BERNOULLI, {0.1, 0.2, 0.3, 0.4}, 1e-12},
		{"ber:0", WH_LOSS_BERNOULLI, {0.1, 0.2, 0.3, 0.4}, 0.0},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_link_model config = {
			.gilbert_elliott = {0.1, 0.2, 0.3, 0.4},
			.bit_error = 0.5,
		};

		CU_ASSERT_EQUAL(wh_link_model_parse_loss(cases[i].text, &config), 0);
		CU_ASSERT_EQUAL(config.loss_model, cases[i].loss_model);
		CU_ASSERT_EQUAL(config.bit_error, cases[i].bit_error);
		CU_ASSERT_EQUAL(config.gilbert_elliott.good_to_bad, cases[i].ge.good_to_bad);
		CU_ASSERT_EQUAL(config.gilbert_elliott.bad_to_good, cases[i].ge.bad_to_good);
		CU_ASSERT_EQUAL(config.gilbert_elliott.loss_good, cases[i].ge.loss_good);
		CU_ASSERT_EQUAL(config.gilbert_elliott.loss_bad, cases[i].ge.loss_bad);
	}
}

static void bernoulli_takes_gilbert_elliott_back(void)
{
	struct wh_link_model config = {.loss_model = WH_LOSS_GILBERT_ELLIOTT};

	CU_ASSERT_EQUAL(wh_link_model_parse_loss("ber:1e-9", &config), 0);
	CU_ASSERT_EQUAL(config.loss_model, WH_LOSS_GILBERT_ELLIOTT);
	CU_ASSERT_EQUAL(wh_link_model_parse_loss("bernoulli", &config), 0);
	CU_ASSERT_EQUAL(config.loss_model, WH_LOSS_BERNOULLI);
}

static void bad_texts_change_nothing(void)
{
	/* The last is longer than four shares need be. */
	static const char *const texts[] = {"", " ", "gilbert", "Bernoulli", "bernoulli ",
		"bernoulli:0.1", "ge", "ge:", "ge:0.1", "ge:0.1,", "ge:,0.1", "ge:0.1,0.2,",
		"ge:0.1,,0.2", "ge:0.1,0.2,0.3,", "ge:0.1,0.2,0.3,0.4,0.5", "ge:0.1,0.2,0.3,0.4,",
		"ge:0.1, 0.2", "ge:1.1,0.2", "ge:0.1,-0.2", "ge:0.1;0.2", "ge:nan,0.2",
		"ge:0.1,0.2x", "GE:0.1,0.2", "ber", "ber:", "ber:2", "ber:-1", "ber:1e-9,", "ber:x",
		" ber:0",
		"ge:0.1,0."
		"00000000000000000000000000000000000000000000000000000000000000000000000"
		"00000000000000000000000000000000000000000000000000000000000000000000000000"
		"000001"};

	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct wh_link_model config;
		struct wh_link_model before;

		memset(&config, 0x5a, sizeof(config));
		memcpy(&before, &config, sizeof(config));
		CU_ASSERT_EQUAL(wh_link_model_parse_loss(texts[i], &config), -EINVAL);
		CU_ASSERT_EQUAL(memcmp(&before, &config, sizeof(config)), 0);
	}
}

CU_TestInfo wh_tests[] = {
	{"good texts are parsed", good_texts_are_parsed},
	{"Bernoulli takes Gilbert-Elliott back", bernoulli_takes_gilbert_elliott_back},
	{"bad texts change nothing", bad_texts_change_nothing},
	CU_TEST_INFO_NULL,
};
