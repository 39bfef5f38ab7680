/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/options.h"

#include <ctype.h>
#include <math.h>

#include "profile/profile.h"
#include "unit.h"

const char wh_suite_name[] = "options";

static const struct wh_option table[] = {
	{"wait", WH_OPTION_TIME, 1e3, 1e9, 2e6, true, NULL, "a time", false},
	{"most", WH_OPTION_RATE, 1, 1e12, 0, false, "II B", "a rate; auto: none", false},
	{"share", WH_OPTION_SHARE, 0, 0.5, 0.1, false, NULL, "a share", false},
	{"gain", WH_OPTION_REAL, 1e-12, 4, 1.5e-6, false, NULL, "a number", false},
	{"count", WH_OPTION_COUNT, 1, 64, 8, true, NULL, "a count", false},
	{"fast", WH_OPTION_SWITCH, 0, 1, 1, false, NULL, "a switch", false},
	{"sharing", WH_OPTION_SHARING, 0, 2, 1, true, NULL, "a word", false},
};

static const struct wh_profile profile = {
	.name = "own",
	.options = table,
	.n_options = sizeof(table) / sizeof(table[0]),
};

static void test_set(void)
{
	static const struct {
		const char *name;
		const char *text;
		int rc;
		double value;
	} cases[] = {
		{"wait", "5ms", 0, 5e6},
		{"wait", "1us", 0, 1e3},
		{"wait", "999ns", -ERANGE, 0},
		{"wait", "2s", -ERANGE, 0},
		{"wait", "5", -EINVAL, 0},
		{"wait", "auto", -EINVAL, 0},
		{"most", "2.5G", 0, 2.5e9},
		{"most", "auto", 0, 0},
		{"most", "0", 0, 0},
		{"most", "2T", -ERANGE, 0},
		{"share", "5%", 0, 0.05},
		{"share", "51%", -ERANGE, 0},
		{"gain", "1e-6", 0, 1e-6},
		{"gain", "0", -ERANGE, 0},
		{"gain", "1%", -EINVAL, 0},
		{"count", "64", 0, 64},
		{"count", "65", -ERANGE, 0},
		{"count", "1.0", -EINVAL, 0},
		{"fast", "off", 0, 0},
		{"fast", "on", 0, 1},
		{"fast", "1", -EINVAL, 0},
		{"sharing", "dedicated", 0, WH_SHARING_DEDICATED},
		{"sharing", "fair", 0, WH_SHARING_FAIR},
		{"sharing", "scavenger", 0, WH_SHARING_SCAVENGER},
		{"sharing", "fairly", -EINVAL, 0},
		{"sharing", "1", -EINVAL, 0},
		{"sharing", "auto", -EINVAL, 0},
		{"slow", "on", -ENOENT, 0},
		{"", "on", -ENOENT, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_profile_options options;
		struct wh_profile_options before;

		wh_profile_options_init(&options, &profile);
		before = options;
		CU_ASSERT_EQUAL(
			wh_profile_options_set(&options, &profile, cases[i].name, cases[i].text),
			cases[i].rc);
		if (cases[i].rc != 0) {
			CU_ASSERT_EQUAL(memcmp(&options, &before, sizeof(options)), 0);
			continue;
		}
		CU_ASSERT_EQUAL(
			wh_profile_options_get(&options, &profile, cases[i].name), cases[i].value);
		CU_ASSERT_TRUE(wh_profile_options_valid(&options, &profile));
	}
}

static void test_presets(void)
{
	struct wh_profile_options options;

	memset(&options, 0xff, sizeof(options));
	CU_ASSERT_FALSE(wh_profile_options_valid(&options, &profile));
	wh_profile_options_init(&options, &profile);
	CU_ASSERT_TRUE(wh_profile_options_valid(&options, &profile));
	CU_ASSERT_EQUAL(wh_profile_options_get(&options, &profile, "wait"), 2e6);
	CU_ASSERT_EQUAL(wh_profile_options_get(&options, &profile, "most"), 0.0);
	CU_ASSERT_EQUAL(wh_profile_options_get(&options, &profile, "gain"), 1.5e-6);
	CU_ASSERT_EQUAL(options.value[profile.n_options], 0.0);
	options.value[profile.n_options] = 1.0;
	CU_ASSERT_FALSE(wh_profile_options_valid(&options, &profile));
}

static void test_put(void)
{
	static const double bad[] = {-1, 0, 0.5, 8.5, 65, 1e300, -INFINITY, INFINITY, NAN};
	struct wh_profile_options options;

	wh_profile_options_init(&options, &profile);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(
			wh_profile_options_put(&options, &profile, "count", bad[i]), -ERANGE);
	CU_ASSERT_EQUAL(wh_profile_options_put(&options, &profile, "fast", 0.5), -ERANGE);
	CU_ASSERT_EQUAL(wh_profile_options_put(&options, &profile, "share", 0.5), 0);
	CU_ASSERT_EQUAL(wh_profile_options_put(&options, &profile, "other", 1), -ENOENT);
	CU_ASSERT_EQUAL(options.value[4], 8.0);
}

static void test_print(void)
{
	static const struct {
		uint32_t option;
		double value;
		const char *text;
	} cases[] = {
		{0, 2e6, "2ms"},
		{0, 1e9, "1s"},
		{0, 1500, "1500ns"},
		{0, 15000, "15us"},
		{1, 0, "auto"},
		{1, 2.5e9, "2500M"},
		{1, 1e12, "1000G"},
		{1, 1, "1"},
		{2, 0, "0"},
		{2, 0.1, "0.1"},
		{3, 1.5e-6, "1.5e-06"},
		{3, 1.0 / 3.0, "0.3333333333333333"},
		{4, 8, "8"},
		{5, 0, "off"},
		{5, 1, "on"},
		{6, 0, "dedicated"},
		{6, 2, "scavenger"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wh_option *option = &table[cases[i].option];
		char text[WH_OPTION_TEXT_MAX];
		struct wh_profile_options options;

		CU_ASSERT_STRING_EQUAL(
			wh_option_print(option, cases[i].value, text, sizeof(text)), cases[i].text);
		wh_profile_options_init(&options, &profile);
		CU_ASSERT_EQUAL(wh_profile_options_set(&options, &profile, option->name, text), 0);
		CU_ASSERT_EQUAL(options.value[cases[i].option], cases[i].value);
	}
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Those that the receiver must know and that are not as preset: numbers 0 and 4 of the table. */
static void test_tell(void)
{
	struct wh_open_option told[WH_OPEN_OPTIONS_MAX];
	struct wh_profile_options options;
	struct wh_profile_options heard;

	wh_profile_options_init(&options, &profile);
	CU_ASSERT_EQUAL(wh_profile_options_tell(&options, &profile, told), 0);
	CU_ASSERT_EQUAL(wh_profile_options_put(&options, &profile, "gain", 1.0), 0);
	CU_ASSERT_EQUAL(wh_profile_options_put(&options, &profile, "count", 9), 0);
	CU_ASSERT_EQUAL(wh_profile_options_tell(&options, &profile, told), 1);
	CU_ASSERT_EQUAL(told[0].number, 4);
	CU_ASSERT_EQUAL(told[0].bits, bits_of(9.0));
	CU_ASSERT_EQUAL(wh_profile_options_put(&options, &profile, "wait", 1e4), 0);
	CU_ASSERT_EQUAL(wh_profile_options_tell(&options, &profile, told), 2);
	CU_ASSERT_EQUAL(told[0].number, 0);
	CU_ASSERT_EQUAL(told[1].number, 4);
	memset(&heard, 0xff, sizeof(heard));
	CU_ASSERT_TRUE(wh_profile_options_hear(&heard, &profile, told, 2));
	CU_ASSERT_EQUAL(heard.value[0], 1e4);
	CU_ASSERT_EQUAL(heard.value[4], 9.0);
	CU_ASSERT_EQUAL(heard.value[3], 1.5e-6);
}

/* A peer may say what it likes. */
static void test_hear_wrong(void)
{
	const struct wh_open_option lies[] = {
		{.number = 4, .bits = bits_of(0.0)},
		{.number = 4, .bits = bits_of(65.0)},
		{.number = 4, .bits = bits_of(8.5)},
		{.number = 4, .bits = bits_of(NAN)},
		{.number = 4, .bits = bits_of(-INFINITY)},
		{.number = 4, .bits = UINT64_MAX},
		{.number = 4, .bits = 1},
		{.number = 0, .bits = bits_of(1e300)},
		{.number = 3, .bits = bits_of(1.0)}, /* not for a receiver */
		{.number = 6, .bits = bits_of(3.0)}, /* no word */
		{.number = 7, .bits = bits_of(0.0)}, /* beyond the table */
		{.number = UINT8_MAX, .bits = bits_of(0.0)},
	};
	struct wh_profile_options options;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		CU_ASSERT_FALSE(wh_profile_options_hear(&options, &profile, &lies[i], 1));
}

/* What every table promises to those who make flags, keys, pages and OPEN of it. */
static void check_table(const struct wh_profile *p)
{
	struct wh_profile_options options;

	CU_ASSERT_FATAL(p->n_options <= WH_OPTIONS_MAX);
	wh_profile_options_init(&options, p);
	CU_ASSERT_TRUE(wh_profile_options_valid(&options, p));
	for (uint32_t i = 0; i < p->n_options; i++) {
		const struct wh_option *option = &p->options[i];

		CU_ASSERT_PTR_EQUAL(wh_profile_option(p, option->name), option);
		for (const char *c = option->name; *c != '\0'; c++)
			CU_ASSERT(islower((unsigned char)*c) || isdigit((unsigned char)*c) ||
				  *c == '_');
		CU_ASSERT(option->least < option->most);
		CU_ASSERT(strlen(option->help) > 0 && strlen(option->help) < 80);
		CU_ASSERT(strlen(wh_option_type_name(option->type)) > 0);
		CU_ASSERT_EQUAL(wh_profile_options_put(&options, p, option->name, option->most), 0);
		CU_ASSERT_EQUAL(
			wh_profile_options_put(&options, p, option->name, option->least), 0);
		CU_ASSERT_EQUAL(wh_profile_options_put(&options, p, option->name, 2 * option->most),
			-ERANGE);
	}
}

static void test_tables(void)
{
	check_table(&profile);
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		check_table(wh_profile_at(i));
}

static void test_profiles(void)
{
	uint32_t count = 0;

	for (; wh_profile_at(count) != NULL; count++) {
		const struct wh_profile *p = wh_profile_at(count);

		CU_ASSERT_PTR_EQUAL(wh_profile_find(p->name), p);
		CU_ASSERT_PTR_EQUAL(wh_profile_by_number(p->number), p);
		CU_ASSERT(strlen(p->summary) > 0);
	}
	CU_ASSERT(count >= 4);
	CU_ASSERT_PTR_NULL(wh_profile_at(UINT32_MAX));
	CU_ASSERT_PTR_NULL(wh_profile_find("fix"));
	CU_ASSERT_PTR_NULL(wh_profile_find(""));
	CU_ASSERT_PTR_NULL(wh_profile_by_number(0));
}

static const struct wh_option *contradict(const struct wh_profile_options *set, const char **why)
{
	if (set->value[1] != 3)
		return NULL;
	*why = "is odd";
	return &table[1];
}

/* Of a session that runs: what is live, and nothing else; what is refused changes nothing. */
static void test_change(void)
{
	static const struct wh_option live[] = {
		{"fixed", WH_OPTION_COUNT, 1, 64, 8, false, NULL, "a count", false},
		{"live", WH_OPTION_COUNT, 1, 64, 8, false, NULL, "a count", true},
	};
	const struct wh_profile own = {
		.name = "own", .options = live, .n_options = 2, .contradiction = contradict};
	struct wh_profile_options options;
	const char *why = "";

	wh_profile_options_init(&options, &own);
	CU_ASSERT_EQUAL(wh_profile_options_change(&options, &own, "live", "9", &why), 0);
	CU_ASSERT_EQUAL(options.value[1], 9);
	CU_ASSERT_EQUAL(wh_profile_options_change(&options, &own, "fixed", "9", &why), -EPERM);
	CU_ASSERT_EQUAL(wh_profile_options_change(&options, &own, "none", "9", &why), -ENOENT);
	CU_ASSERT_EQUAL(wh_profile_options_change(&options, &own, "live", "65", &why), -ERANGE);
	CU_ASSERT_EQUAL(wh_profile_options_change(&options, &own, "live", "x", &why), -EINVAL);
	CU_ASSERT_STRING_EQUAL(why, "");
	CU_ASSERT_EQUAL(wh_profile_options_change(&options, &own, "live", "3", &why), -EDOM);
	CU_ASSERT_STRING_EQUAL(why, "is odd");
	CU_ASSERT_EQUAL(options.value[0], 8);
	CU_ASSERT_EQUAL(options.value[1], 9);
}

/* The receiver was told of it, or tables were made of it, at the beginning. */
static void test_told_is_not_live(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		for (uint32_t j = 0; j < wh_profile_at(i)->n_options; j++) {
			const struct wh_option *option = &wh_profile_at(i)->options[j];

			CU_ASSERT_FALSE(option->live && option->told);
			count += option->live;
		}
	CU_ASSERT_EQUAL(count, 17);
}

CU_TestInfo wh_tests[] = {
	{"what is understood", test_set},
	{"presets", test_presets},
	{"values beyond their limits", test_put},
	{"as people write them", test_print},
	{"what OPEN tells", test_tell},
	{"what OPEN may not tell", test_hear_wrong},
	{"what may change while a session runs", test_change},
	{"what the receiver was told stays", test_told_is_not_live},
	{"tables", test_tables},
	{"profiles", test_profiles},
	CU_TEST_INFO_NULL,
};
