/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "base/units.h"

const char wh_suite_name[] = "units";

struct integer_case {
	const char *text;
	int rc;
	uint64_t result;
};

static void check_integers(
	int (*parse)(const char *, uint64_t *), const struct integer_case *cases, size_t n_cases)
{
	for (size_t i = 0; i < n_cases; i++) {
		uint64_t result = 4711; /* stays when refused */
		int rc = parse(cases[i].text, &result);
		bool right =
			rc == cases[i].rc && result == (cases[i].rc == 0 ? cases[i].result : 4711);

		if (!right)
			printf("\n'%s': %d, %llu", cases[i].text, rc, (unsigned long long)result);
		CU_ASSERT_TRUE(right);
	}
}

#define CHECK_INTEGERS(parse, cases) check_integers(parse, cases, sizeof(cases) / sizeof(cases[0]))

/* No quantity of any kind. */
static const char *const nonsense[] = {"", " ", "-1", "+1", "-0", "10X", "G", "ms", "%", "nan",
	"NAN", "inf", "infinity", "0x10", "0X1p3", "0x10ns", ".", ".5", "5.", "5.ns", "1.2.3",
	"1,5", "1e", "1e+", "1e-", "1e1e1", "10\n", "0 ", " 0", "\t0", "5%%"};

static int parse_share_as_integer(const char *text, uint64_t *result)
{
	double share = 0.0;
	int rc = wh_parse_share(text, &share);

	if (rc == 0)
		*result = (uint64_t)share;
	return rc;
}

static void check_refused(
	int (*parse)(const char *, uint64_t *), const char *const *texts, size_t n_texts)
{
	for (size_t i = 0; i < n_texts; i++) {
		const struct integer_case refused = {texts[i], -EINVAL, 0};

		check_integers(parse, &refused, 1);
	}
}

#define CHECK_REFUSED(parse, texts) check_refused(parse, texts, sizeof(texts) / sizeof(texts[0]))

static void nonsense_is_refused(void)
{
	double number = 0;

	CHECK_REFUSED(wh_parse_rate, nonsense);
	CHECK_REFUSED(wh_parse_size, nonsense);
	CHECK_REFUSED(wh_parse_time, nonsense);
	CHECK_REFUSED(wh_parse_count, nonsense);
	CHECK_REFUSED(parse_share_as_integer, nonsense);
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
		CU_ASSERT_EQUAL(wh_parse_number(nonsense[i], &number), -EINVAL);
}

static void rates(void)
{
	static const struct integer_case cases[] = {
		{"0", 0, 0},
		{"1", 0, 1},
		{"1500000", 0, 1500000},
		{"10G", 0, UINT64_C(10000000000)},
		{"10g", 0, UINT64_C(10000000000)},
		{"9.5Gbit", 0, UINT64_C(9500000000)},
		{"9.5GBIT", 0, UINT64_C(9500000000)},
		{"9.5Gbit/s", 0, UINT64_C(9500000000)},
		{"800Mbps", 0, 800000000},
		{"800mbPS", 0, 800000000},
		{"800Mb/s", 0, 800000000},
		{"800Mb", 0, 800000000},
		{"1.2GB/s", 0, UINT64_C(9600000000)},
		{"1.2GB", 0, UINT64_C(9600000000)},
		{"1.2GBps", 0, UINT64_C(9600000000)},
		{"1.2gBPS", 0, UINT64_C(9600000000)},
		{"64k", 0, 64000},
		{"1B", 0, 8},
		{"1b", 0, 1},
		{"8bit", 0, 8},
		{"1.6T", 0, UINT64_C(1600000000000)},
		{"1e9", 0, 1000000000},
		{"1E+3K", 0, 1000000},
		{"2.5e-1G", 0, 250000000},
		{"0.1b", -ERANGE, 0}, /* would be 0 */
		{"0.5b", 0, 1},
		{"0.0G", 0, 0},
		{"1.4", 0, 1},
		{"1.5", 0, 2},
		{"007", 0, 7},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"18446744073709551615.6", -ERANGE, 0},
		{"18446744073709551614", 0, UINT64_MAX - 1},
		{"9223372036854775807", 0, INT64_MAX},
		{"2305843009213693952B", -ERANGE, 0}, /* 8 * 2^61 */
		{"1e400", -ERANGE, 0},
		{"1e99999", -ERANGE, 0},
		{"1e-99999", -ERANGE, 0}, /* below the smallest long double */
		{"0e-99999", 0, 0},
	};
	static const char *const refused[] = {"1e400X", "10 G", "10G ", "10GG", "10Gi", "10GiB/s",
		"10ms", "10%", "10G/s", "10bpss"};

	CHECK_INTEGERS(wh_parse_rate, cases);
	CHECK_REFUSED(wh_parse_rate, refused);
}

static void sizes(void)
{
	static const struct integer_case cases[] = {
		{"0", 0, 0},
		{"4096", 0, 4096},
		{"4096B", 0, 4096},
		{"4096b", 0, 4096},
		{"64K", 0, 65536},
		{"64k", 0, 65536},
		{"1.5G", 0, 1610612736},
		{"1GiB", 0, 1073741824},
		{"1gib", 0, 1073741824},
		{"512MiB", 0, 536870912},
		{"0.5KiB", 0, 512},
		{"2T", 0, UINT64_C(2199023255552)},
		{"2TiB", 0, UINT64_C(2199023255552)},
		{"0.1K", 0, 102},        /* 102.4 */
		{"1.1G", 0, 1181116006}, /* .4 */
		{"0.0001K", -ERANGE, 0},
		{"16777215T", 0, UINT64_C(18446742974197923840)},
		{"16777216T", -ERANGE, 0},
		{"9007199254740993", 0, UINT64_C(9007199254740993)}, /* 2^53 + 1 */
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"1e400", -ERANGE, 0},
	};
	/* Without a unit, or with one of two meanings, it is none. */
	static const char *const refused[] = {"1GB", "1KB", "1 K", "1Ki", "1bit", "1GiB/s", "1s"};

	CHECK_INTEGERS(wh_parse_size, cases);
	CHECK_REFUSED(wh_parse_size, refused);
}

static void times(void)
{
	static const struct integer_case cases[] = {
		{"0", 0, 0},
		{"0.0", 0, 0},
		{"0s", 0, 0},
		{"100ms", 0, 100000000},
		{"100MS", 0, 100000000},
		{"1.5s", 0, 1500000000},
		{"20us", 0, 20000},
		{"15m", 0, UINT64_C(900000000000)},
		{"250ns", 0, 250},
		{"0.25us", 0, 250},
		{"1e3s", 0, UINT64_C(1000000000000)},
		{"1e-3s", 0, 1000000},
		{"0.5ns", 0, 1},
		{"0.4ns", -ERANGE, 0},
		{"18446744073709551615ns", 0, UINT64_MAX},
		{"18446744073s", 0, UINT64_C(18446744073000000000)},
		{"18446744074s", -ERANGE, 0},
		{"1e400s", -ERANGE, 0},
	};
	/* Without a unit, or with one of two meanings, it is none. */
	static const char *const refused[] = {"1", "100", "1e400", "1min", "1 s", "1ss", "1G"};

	CHECK_INTEGERS(wh_parse_time, cases);
	CHECK_REFUSED(wh_parse_time, refused);
}

static void shares(void)
{
	static const struct {
		const char *text;
		int rc;
		double result;
	} cases[] = {
		{"0", 0, 0.0},
		{"0%", 0, 0.0},
		{"1", 0, 1.0},
		{"100%", 0, 1.0},
		{"0.5", 0, 0.5},
		{"50%", 0, 0.5},
		{"0.01%", 0, 1e-4},
		{"1e-4", 0, 1e-4},
		{"1E-4", 0, 1e-4},
		{"1e-12", 0, 1e-12},
		{"33.3%", 0, 0.333},
		{"1e2%", 0, 1.0},
		{"1.0000001", -ERANGE, 0},
		{"100.1%", -ERANGE, 0},
		{"2", -ERANGE, 0},
		{"1e400", -ERANGE, 0},
		{"1e-400", -ERANGE, 0}, /* would be 0 */
		{"5 %", -EINVAL, 0},
		{"%5", -EINVAL, 0},
		{"-0.1", -EINVAL, 0},
		{"0.5K", -EINVAL, 0},
		{"0.5s", -EINVAL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double result = 4711.0;
		int rc = wh_parse_share(cases[i].text, &result);

		if (rc != cases[i].rc)
			printf("\n'%s': %d", cases[i].text, rc);
		CU_ASSERT_EQUAL(rc, cases[i].rc);
		WH_ASSERT_NEAR(result, rc == 0 ? cases[i].result : 4711.0, 1e-15);
	}
}

static void rates_are_written(void)
{
	static const struct {
		double rate_bps;
		const char *text;
	} cases[] = {
		{0.0, "0 b/s"},
		{0.4, "0 b/s"},
		{1.0, "1 b/s"},
		{999.0, "999 b/s"},
		{999.4, "999 b/s"},
		{999.6, "1.00 kb/s"},
		{1000.0, "1.00 kb/s"},
		{9.84e9, "9.84 Gb/s"},
		{9.994e9, "9.99 Gb/s"},
		{9.996e9, "10.0 Gb/s"},
		{98.42e9, "98.4 Gb/s"},
		{99.96e9, "100 Gb/s"},
		{984.2e6, "984 Mb/s"},
		{999.6e6, "1.00 Gb/s"},
		{1.6e12, "1.60 Tb/s"},
		{2e15, "2.00 Pb/s"},
		{999e18, "999 Eb/s"},
	};
	char text[WH_UNITS_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *result = wh_format_rate(text, sizeof(text), cases[i].rate_bps);

		CU_ASSERT_PTR_EQUAL(result, text);
		CU_ASSERT_STRING_EQUAL(text, cases[i].text);
	}
}

struct written {
	uint64_t value;
	const char *text;
};

static void check_written(const char *(*format)(char *, size_t, uint64_t),
	const struct written *cases, size_t n_cases)
{
	char text[WH_UNITS_MAX];

	for (size_t i = 0; i < n_cases; i++) {
		CU_ASSERT_PTR_EQUAL(format(text, sizeof(text), cases[i].value), text);
		CU_ASSERT_STRING_EQUAL(text, cases[i].text);
	}
}

static void sizes_are_written(void)
{
	static const struct written cases[] = {
		{0, "0 B"},
		{1, "1 B"},
		{1023, "1023 B"},
		{1024, "1.00 KiB"},
		{1536, "1.50 KiB"},
		{10240, "10.0 KiB"},
		{1023 * 1024, "1023 KiB"},
		{1024 * 1024 - 1, "1.00 MiB"},
		{1024 * 1024, "1.00 MiB"},
		{1073741824, "1.00 GiB"},
		{UINT64_C(5) << 40, "5.00 TiB"},
		{UINT64_C(5) << 50, "5.00 PiB"},
		{UINT64_MAX, "16.0 EiB"},
	};

	check_written(wh_format_size, cases, sizeof(cases) / sizeof(cases[0]));
}

static void times_are_written(void)
{
	static const struct written cases[] = {
		{0, "0 ns"},
		{250, "250 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{20000, "20.0 us"},
		{100000000, "100 ms"},
		{999600000, "1.00 s"},
		{1500000000, "1.50 s"},
		{UINT64_C(86400) * 1000000000, "86400 s"},
		{UINT64_MAX, "18446744074 s"},
	};

	check_written(wh_format_time, cases, sizeof(cases) / sizeof(cases[0]));
}

static void a_short_text_is_cut_off(void)
{
	char text[] = "xxxxxxxx";

	wh_format_time(text, 4, 100000000);
	CU_ASSERT_STRING_EQUAL(text, "100");
	CU_ASSERT_EQUAL(memcmp(text, "100\0xxxx", 9), 0);
}

static void test_counts(void)
{
	static const struct integer_case cases[] = {
		{"0", 0, 0},
		{"1", 0, 1},
		{"0032", 0, 32},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
	};
	static const char *const refused[] = {"1K", "1.0", "1e3", " 1"};

	CHECK_INTEGERS(wh_parse_count, cases);
	CHECK_REFUSED(wh_parse_count, refused);
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		int rc;
		double result;
	} cases[] = {
		{"0", 0, 0.0},
		{"1.5e-6", 0, 1.5e-6},
		{"0.1", 0, 0.1},
		{"1000", 0, 1000.0},
		{"1e308", 0, 1e308},
		{"1e309", -ERANGE, 0},
		{"1e-309", -ERANGE, 0},
		{"1e99999", -ERANGE, 0},
		{"1e-99999", -ERANGE, 0},
		{"1%", -EINVAL, 0},
		{"1G", -EINVAL, 0},
	};
	double result = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		result = 4711.0;
		CU_ASSERT_EQUAL(wh_parse_number(cases[i].text, &result), cases[i].rc);
		CU_ASSERT_EQUAL(result, cases[i].rc == 0 ? cases[i].result : 4711.0);
	}
}

static void test_scan(void)
{
	uint64_t value = 4711;
	double number = 0;

	CU_ASSERT_STRING_EQUAL(wh_scan_number("1.5e-3ms", &number), "ms");
	CU_ASSERT_EQUAL(number, 1.5e-3);
	CU_ASSERT_PTR_NULL(wh_scan_number("1e400s", &number));
	CU_ASSERT_PTR_NULL(wh_scan_number("2em", &number));
	CU_ASSERT_PTR_NULL(wh_scan_number(".5", &number));
	CU_ASSERT_EQUAL(number, 1.5e-3);
	CU_ASSERT_STRING_EQUAL(wh_scan_count("12,34", &value), ",34");
	CU_ASSERT_EQUAL(value, 12);
	CU_ASSERT_STRING_EQUAL(wh_scan_count("18446744073709551615", &value), "");
	CU_ASSERT_EQUAL(value, UINT64_MAX);
	CU_ASSERT_PTR_NULL(wh_scan_count("18446744073709551616", &value));
	CU_ASSERT_PTR_NULL(wh_scan_count("", &value));
	CU_ASSERT_PTR_NULL(wh_scan_count("-1", &value));
	CU_ASSERT_PTR_NULL(wh_scan_count(" 1", &value));
	CU_ASSERT_STRING_EQUAL(wh_scan_count("1f", &value), "f");
	CU_ASSERT_STRING_EQUAL(wh_scan_hex("1fG", &value), "G");
	CU_ASSERT_EQUAL(value, 31);
	CU_ASSERT_STRING_EQUAL(wh_scan_hex("FFFFffffFFFFffff.0", &value), ".0");
	CU_ASSERT_EQUAL(value, UINT64_MAX);
	CU_ASSERT_PTR_NULL(wh_scan_hex("10000000000000000", &value));
	CU_ASSERT_PTR_NULL(wh_scan_hex("x", &value));
}

CU_TestInfo wh_tests[] = {
	{"scan", test_scan},
	{"nonsense is refused", nonsense_is_refused},
	{"rates", rates},
	{"sizes", sizes},
	{"times", times},
	{"shares", shares},
	{"rates are written", rates_are_written},
	{"sizes are written", sizes_are_written},
	{"times are written", times_are_written},
	{"a short text is cut off", a_short_text_is_cut_off},
	{"counts", test_counts},
	{"numbers", test_numbers},
	CU_TEST_INFO_NULL,
};
