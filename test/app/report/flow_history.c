/* SPDX-License-Identifier: BSD-3-Clause */

/* Rows of a flow: what each has had, and what is left of them after days. */

#include "report/flow_history.h"

#include <math.h>
#include <stdlib.h>

#include "unit.h"

const char wh_suite_name[] = "flow_history";

#define MS UINT64_C(1000000)

/* 1 MB/s and 3 losses a second; a round trip that grows, one lane, half of its time at the rate. */
static struct wh_flow_now at(uint64_t at_ms)
{
	return (struct wh_flow_now){
		.sends = true,
		.lanes = 1,
		.moved_bytes = at_ms * 1000,
		.wire_bytes = at_ms * 1100,
		.lost_pkts = at_ms * 3 / 1000,
		.retransmitted_pkts = at_ms * 2 / 1000,
		.rtt_ns = at_ms > 100 ? (50 + at_ms / 1000) * MS : 0,
		.rtt_min_ns = 60 * MS,
		.rate_bps = at_ms % 20 == 0 ? 8000000 : 0,
		.limit_ns = {[WH_LIMIT_RATE] = at_ms * MS / 2, [WH_LIMIT_DISK] = at_ms * MS / 4},
	};
}

static struct wh_flow_history *made(uint64_t until_ms)
{
	struct wh_flow_history *history = malloc(sizeof(*history));

	CU_ASSERT_PTR_NOT_NULL_FATAL(history);
	wh_flow_history_init(history);
	for (uint64_t ms = 10; ms <= until_ms; ms += 10) {
		const struct wh_flow_now now = at(ms);

		wh_flow_history_add(history, ms * MS, &now, ms == until_ms);
	}
	return history;
}

static void rows(void)
{
	struct wh_flow_history *history = made(1000);

	CU_ASSERT_EQUAL(history->count, 100);
	CU_ASSERT_EQUAL(history->row_ns, 10 * MS);
	for (uint32_t i = 0; i < history->count; i++) {
		const struct wh_flow_row *row = &history->row[i];

		CU_ASSERT_EQUAL(row->end_ns, (i + 1) * 10 * MS);
		CU_ASSERT_EQUAL(row->moved_bytes, (i + 1) * 10000);
		CU_ASSERT_EQUAL(row->limit_ns[WH_LIMIT_DISK], (i + 1) * 10 * MS / 4);
		/* Not known is not 0. */
		CU_ASSERT_EQUAL(isnan(wh_flow_mean(&row->rtt_ns)) != 0, i < 10);
		CU_ASSERT_EQUAL(isnan(wh_flow_mean(&row->rate_bps)) != 0, i % 2 == 0);
		CU_ASSERT_EQUAL(row->rtt_min_ns, (i < 10 ? 60 : 50) * MS);
	}
	CU_ASSERT_EQUAL(wh_flow_mean(&history->row[50].rtt_ns), 50e6);
	free(history);
}

/* Whatever it lasts: no more rows than there are, all of a length, and every byte in them. */
static void bounded(void)
{
	static const uint64_t lengths_ms[] = {10230, 10240, 10250, 20480, 50000, 86400000};

	for (size_t k = 0; k < sizeof(lengths_ms) / sizeof(lengths_ms[0]); k++) {
		struct wh_flow_history *history = made(lengths_ms[k]);
		const struct wh_flow_row *last = &history->row[history->count - 1];
		uint64_t before_ns = 0;
		double known_ns = 0;

		CU_ASSERT(history->count < WH_FLOW_ROWS && history->count >= WH_FLOW_ROWS / 2);
		CU_ASSERT_EQUAL(last->end_ns, lengths_ms[k] * MS);
		CU_ASSERT_EQUAL(last->moved_bytes, lengths_ms[k] * 1000);
		CU_ASSERT_EQUAL(last->lost_pkts, lengths_ms[k] * 3 / 1000);
		for (uint32_t i = 0; i < history->count; i++) {
			const struct wh_flow_row *row = &history->row[i];

			CU_ASSERT(i + 1 == history->count ||
				  row->end_ns - before_ns == history->row_ns);
			known_ns += row->rtt_ns.span_ns;
			before_ns = row->end_ns;
		}
		/* All of the time in which it was known, but for the first 100 ms. */
		CU_ASSERT_EQUAL(known_ns, (double)(lengths_ms[k] - 100) * 1e6);
		free(history);
	}
}

/* Two rows in one: means by time, the rest as it is at the end. */
static void merged(void)
{
	struct wh_flow_row later = {
		.end_ns = 40,
		.moved_bytes = 9,
		.rtt_ns = {.sum = 30 * 100, .span_ns = 30},
		.rate_bps = {0},
	};
	const struct wh_flow_row earlier = {
		.end_ns = 10,
		.moved_bytes = 5,
		.rtt_ns = {.sum = 10 * 20, .span_ns = 10},
		.rate_bps = {.sum = 70, .span_ns = 10},
	};

	wh_flow_row_merge(&later, &earlier);
	CU_ASSERT_EQUAL(wh_flow_mean(&later.rtt_ns), 80);
	CU_ASSERT_EQUAL(wh_flow_mean(&later.rate_bps), 7);
	CU_ASSERT_EQUAL(later.moved_bytes, 9);
	CU_ASSERT_EQUAL(later.end_ns, 40);
}

/* A look that is late makes a longer row; one that is early waits for the row's end. */
static void uneven(void)
{
	static const uint64_t looks_ms[] = {4, 9, 11, 50, 55, 60, 61};
	static const uint64_t ends_ms[] = {11, 50, 60, 61};
	struct wh_flow_history *history = malloc(sizeof(*history));

	CU_ASSERT_PTR_NOT_NULL_FATAL(history);
	wh_flow_history_init(history);
	for (size_t i = 0; i < 7; i++) {
		const struct wh_flow_now now = at(looks_ms[i]);

		wh_flow_history_add(history, looks_ms[i] * MS, &now, i == 6);
	}
	CU_ASSERT_EQUAL_FATAL(history->count, 4);
	for (size_t i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(history->row[i].end_ns, ends_ms[i] * MS);
	free(history);
}

/* What nobody looked at is no row like others, and counters begin again with other lanes. */
static void gaps(void)
{
	struct wh_flow_history *history = made(1000);
	struct wh_flow_now now = at(10);
	struct wh_flow_row two;

	wh_flow_history_renew(history);
	wh_flow_history_add(history, 6000 * MS, &now, false);
	now = at(20);
	wh_flow_history_add(history, 6010 * MS, &now, false);
	CU_ASSERT_EQUAL_FATAL(history->count, 102);

	const struct wh_flow_row *row = &history->row[100];

	CU_ASSERT(row[-1].gap_ns == 0 && row->gap_ns == 5000 * MS && row[1].gap_ns == 0);
	CU_ASSERT_EQUAL(row->moved_bytes, 1000000 + 10000);
	CU_ASSERT_EQUAL(row[1].moved_bytes, 1000000 + 20000);
	CU_ASSERT_EQUAL(row[1].wire_bytes, 1100000 + 22000);
	CU_ASSERT_EQUAL(row[1].limit_ns[WH_LIMIT_DISK], (1000 + 20) * MS / 4);
	two = row[1];
	wh_flow_row_merge(&two, row);
	CU_ASSERT_EQUAL(two.gap_ns, 5000 * MS);

	/* In the middle of a row, too. */
	wh_flow_history_init(history);
	history->row_ns = 40 * MS;
	now = at(10);
	wh_flow_history_add(history, 10 * MS, &now, false);
	wh_flow_history_renew(history);
	wh_flow_history_add(history, 1200 * MS, &now, true);
	CU_ASSERT_EQUAL_FATAL(history->count, 1);
	CU_ASSERT_EQUAL(history->row[0].moved_bytes, 20000);
	CU_ASSERT_EQUAL(history->row[0].gap_ns, 1190 * MS);
	free(history);
}

CU_TestInfo wh_tests[] = {
	{"gaps", gaps},
	{"rows", rows},
	{"bounded", bounded},
	{"merged", merged},
	{"uneven", uneven},
	CU_TEST_INFO_NULL,
};
