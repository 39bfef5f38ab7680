/* SPDX-License-Identifier: BSD-3-Clause */

/* Expressions of scenarios: what they are worth, and what is said of those that are nothing. */

#include "scenario/expr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

const char wh_suite_name[] = "sim_expr";

static const struct wh_value agents[] = {
	{.kind = WH_VALUE_WORD, .word = "udt"},
	{.kind = WH_VALUE_WORD, .word = "sack"},
};

/* Answers with the number of texts it got; its last one must be "ok". */
static bool ask(const struct wh_expr_scope *scope, const char *function, const char *const *args,
	uint32_t n_args, struct wh_value *value, char wrong[WH_EXPR_WRONG_BYTES])
{
	(void)scope;
	if (strcmp(args[n_args - 1], "ok") != 0) {
		snprintf(wrong, WH_EXPR_WRONG_BYTES, "asks %s('%s')", function, args[n_args - 1]);
		return false;
	}
	*value = (struct wh_value){.kind = WH_VALUE_NUMBER, .x = n_args};
	return true;
}

static const struct wh_variable variables[] = {
	{.name = "rate", .value = {.kind = WH_VALUE_NUMBER, .x = 100e6}},
	{.name = "rtt", .value = {.kind = WH_VALUE_TIME, .x = 0.01}},
	{.name = "agent",
		.value = {.kind = WH_VALUE_WORD, .word = "udt"},
		.values = agents,
		.n_values = 2},
};

static const struct wh_expr_scope scope = {
	.variables = variables,
	.n_variables = LENGTH(variables),
	.ask = ask,
};

static void test_quantities(void)
{
	static const struct {
		const char *text;
		double x;
		enum wh_value_kind kind;
	} cases[] = {
		{"0", 0.0, WH_VALUE_NUMBER},
		{"1.5e-6", 1.5e-6, WH_VALUE_NUMBER},
		{"2e3", 2000.0, WH_VALUE_NUMBER},
		{" 10M ", 10e6, WH_VALUE_NUMBER},
		{"1.5K", 1500.0, WH_VALUE_NUMBER},
		{"2G", 2e9, WH_VALUE_NUMBER},
		{"1T", 1e12, WH_VALUE_NUMBER},
		{"3KiB", 3072.0, WH_VALUE_NUMBER},
		{"1MiB", 1048576.0, WH_VALUE_NUMBER},
		{"1%", 0.01, WH_VALUE_NUMBER},
		{"100ms", 0.1, WH_VALUE_TIME},
		{"1us", 1e-6, WH_VALUE_TIME},
		{"7ns", 7e-9, WH_VALUE_TIME},
		{"2s", 2.0, WH_VALUE_TIME},
		{"1 + 2 * 3", 7.0, WH_VALUE_NUMBER},
		{"(1 + 2) * 3", 9.0, WH_VALUE_NUMBER},
		{"10 - 4 - 3", 3.0, WH_VALUE_NUMBER},
		{"8 / 4 / 2", 1.0, WH_VALUE_NUMBER},
		{"-3 + 5", 2.0, WH_VALUE_NUMBER},
		{"2 * -(3 - 4)", 2.0, WH_VALUE_NUMBER},
		{"--3", 3.0, WH_VALUE_NUMBER},
		{"rtt / 2", 0.005, WH_VALUE_TIME},
		{"2 * rtt", 0.02, WH_VALUE_TIME},
		{"rtt + 5ms", 0.015, WH_VALUE_TIME},
		{"rtt / 1ms", 10.0, WH_VALUE_NUMBER},
		{"rate * (rtt / 1s) / 8", 125000.0, WH_VALUE_NUMBER},
		{"0 + rtt", 0.01, WH_VALUE_TIME},
		{"bdp(rate, rtt)", 250.0 / 3.0, WH_VALUE_NUMBER},
		{"bdp(rate, rtt, 1000)", 125.0, WH_VALUE_NUMBER},
		{"bdp(rate, 0)", 0.0, WH_VALUE_NUMBER},
		{"max(bdp(rate, rtt), 100)", 100.0, WH_VALUE_NUMBER},
		{"min(3, 1, 2)", 1.0, WH_VALUE_NUMBER},
		{"max(1ms, 0, rtt)", 0.01, WH_VALUE_TIME},
		{"max(4)", 4.0, WH_VALUE_NUMBER},
		{"round(2.5)", 3.0, WH_VALUE_NUMBER},
		{"floor(2.9)", 2.0, WH_VALUE_NUMBER},
		{"sqrt(16)", 4.0, WH_VALUE_NUMBER},
		{"pow(2, 10)", 1024.0, WH_VALUE_NUMBER},
		{"f(ok)", 1.0, WH_VALUE_NUMBER},
		{"f( A-B , max(1, 2), ok )", 3.0, WH_VALUE_NUMBER},
		{"2 * f(a, ok) + 1", 5.0, WH_VALUE_NUMBER},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char wrong[WH_EXPR_WRONG_BYTES];
		struct wh_value value = {0};
		bool fine = wh_expr_quantity(&scope, cases[i].text, &value, wrong);

		CU_ASSERT(fine);
		CU_ASSERT_EQUAL(value.kind, cases[i].kind);
		CU_ASSERT(fabs(value.x - cases[i].x) <= 1e-15 * fabs(cases[i].x));
		if (!fine || value.kind != cases[i].kind)
			printf("\n'%s': %g, '%s'", cases[i].text, value.x, wrong);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *text;
		const char *wrong;
	} cases[] = {
		{"", "ends where a quantity is wanted"},
		{"1 +", "ends where a quantity is wanted"},
		{"* 2", "has a '*' where a quantity is wanted"},
		{"1 2", "is complete before '2'"},
		{"(1", "lacks a )"},
		{"max(1, 2", "lacks a )"},
		{"f(1", "lacks a )"},
		{"1)", "is complete before ')'"},
		{"10x", "has '10x', and 'x' is no unit; units are ns us ms s, K M G T, "},
		{"10 ms", "is complete before 'ms'"},
		{"1MB", "has '1MB', and 'MB' is no unit; "},
		{"0x10", "has '0x10', and 'x10' is no unit; "},
		{"1.", "has '1.', which is no number within bounds"},
		{"2em", "has '2em', which is no number within bounds"},
		{"1e400", "has '1e400', which is no number within bounds"},
		{"rte", "has 'rte', which is no name here; names are rate, rtt, agent"},
		{"agent", "counts with 'agent', whose value is the word udt"},
		{"2 * agent", "counts with 'agent', whose value is the word udt"},
		{"rtt + 1", "holds a time against a number; "},
		{"max(rtt, 1)", "holds a time against a number; "},
		{"rtt * rtt", "multiplies times; divide one by 1s first"},
		{"1 / rtt", "divides a number by a time; "},
		{"bdp(rate)", "must be written bdp(RATE, TIME) or "},
		{"bdp(rate, 10)", "must be written bdp(RATE, TIME) or "},
		{"bdp(rtt, rtt)", "must be written bdp(RATE, TIME) or "},
		{"round(1, 2)", "must be written round(NUMBER)"},
		{"1 < 2", "is complete before '< 2'"},
		{"1 & 2", "has a '&' that means nothing here"},
		{"f(1, no)", "asks f('no')"},
		{"((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))",
			"is too deep"},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char wrong[WH_EXPR_WRONG_BYTES] = "";
		struct wh_value value;

		CU_ASSERT_FALSE(wh_expr_quantity(&scope, cases[i].text, &value, wrong));
		CU_ASSERT_NSTRING_EQUAL(wrong, cases[i].wrong, strlen(cases[i].wrong));
		if (strncmp(wrong, cases[i].wrong, strlen(cases[i].wrong)) != 0)
			printf("\n'%s': '%s'", cases[i].text, wrong);
	}
}

/* Holds: 1; does not: 0; does not apply: -1. */
static int judge(const char *text, char wrong[WH_EXPR_WRONG_BYTES])
{
	struct wh_expectation expectation;

	if (!wh_expr_expectation(&scope, text, &expectation, wrong))
		return -2;
	if (!expectation.applies)
		return -1;
	for (uint32_t i = 0; i < expectation.n_compared; i++)
		if (!wh_sign_holds(expectation.compared[i].sign, expectation.compared[i].left,
			    expectation.compared[i].right))
			return 0;
	return 1;
}

static void test_expectations(void)
{
	static const struct {
		const char *text;
		int judged;
	} cases[] = {
		{"1 < 2", 1},
		{"2 < 2", 0},
		{"2 <= 2", 1},
		{"3 <= 2", 0},
		{"2 > 2", 0},
		{"3 > 2", 1},
		{"2 >= 2", 1},
		{"1 >= 2", 0},
		{"2 == 2", 1},
		{"2 == 3", 0},
		{"2 != 2", 0},
		{"2 != 3", 1},
		{"1 < 2 < 3", 1},
		{"1 < 2 < 2", 0},
		{"3 < 2 < 4", 0},
		{"1 < 2 and 2 < 3", 1},
		{"1 < 2 and 3 < 3", 0},
		{"rtt <= 10ms", 1},
		{"f(ok) + 1 == 2", 1},
		{"1 > 2 when rtt > 10ms", -1},
		{"1 > 2 when rtt >= 10ms", 0},
		{"1 < 2 when agent == udt", 1},
		{"1 < 2 when agent != udt", -1},
		{"1 < 2 when sack == agent", -1},
		{"1 < 2 when agent == udt and rate < 1M", -1},
		{"1 < 2 when 0 < rtt < 1s", 1},
		{"0 / 0 >= 0", 0},
		{"0 / 0 != 0", 1},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char wrong[WH_EXPR_WRONG_BYTES] = "";
		int judged = judge(cases[i].text, wrong);

		CU_ASSERT_EQUAL(judged, cases[i].judged);
		if (judged != cases[i].judged)
			printf("\n'%s': %d, '%s'", cases[i].text, judged, wrong);
	}
}

static void test_refused_expectations(void)
{
	static const struct {
		const char *text;
		const char *wrong;
	} cases[] = {
		{"1", "is no comparison: it lacks one of < <= > >= == !="},
		{"1 = 2", "has a '=' that means nothing here"},
		{"1 < 2 when", "ends where a quantity is wanted"},
		{"1 < 2 when 3", "is no comparison: "},
		{"1 < 2 or 3 < 4", "is complete before 'or 3 < 4'"},
		{"rtt < 10", "holds a time against a number; "},
		{"1 < 2 when agent == reno", "compares agent to 'reno', which it never is"},
		{"1 < 2 when agent < udt", "compares words by <; == and != are for words"},
		{"1 < 2 when agent == 3", "holds the word udt against a quantity"},
		{"1 < 2 when agnt == udt", "has 'agnt', which is no name here; names are "},
		{"1 < < 2", "has a comparison where a quantity is wanted"},
		{"1<2 and 1<2 and 1<2 and 1<2 and 1<2 and 1<2 and 1<2 and 1<2 and 1<2",
			"has more than 8 comparisons"},
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char wrong[WH_EXPR_WRONG_BYTES] = "";

		CU_ASSERT_EQUAL(judge(cases[i].text, wrong), -2);
		CU_ASSERT_NSTRING_EQUAL(wrong, cases[i].wrong, strlen(cases[i].wrong));
		if (strncmp(wrong, cases[i].wrong, strlen(cases[i].wrong)) != 0)
			printf("\n'%s': '%s'", cases[i].text, wrong);
	}
}

static void test_names(void)
{
	static const char *const reserved[] = {
		"when", "and", "at", "duration", "warmup", "max", "bdp", "ms", "G", "KiB"};

	for (size_t i = 0; i < LENGTH(reserved); i++)
		CU_ASSERT_TRUE(wh_expr_is_reserved(reserved[i]));
	CU_ASSERT_FALSE(wh_expr_is_reserved("rate"));
	CU_ASSERT_TRUE(wh_is_name("a_1"));
	CU_ASSERT_FALSE(wh_is_name("1a"));
	CU_ASSERT_FALSE(wh_is_name(""));
	CU_ASSERT_FALSE(wh_is_name("a-b"));
	CU_ASSERT_TRUE(
		wh_is_name("a23456789012345678901234567890123456789012345678901234567890123"));
	CU_ASSERT_FALSE(
		wh_is_name("a234567890123456789012345678901234567890123456789012345678901234"));
}

CU_TestInfo wh_tests[] = {
	{"quantities", test_quantities},
	{"what is no quantity", test_refused},
	{"expectations", test_expectations},
	{"what is no expectation", test_refused_expectations},
	{"names", test_names},
	CU_TEST_INFO_NULL,
};
