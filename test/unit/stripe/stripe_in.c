/* SPDX-License-Identifier: BSD-3-Clause */

/* What a receiver makes of chunks that come by several sessions, in whatever order. */

#include "unit.h"

#include "stripe/stripe.h"

const char wh_suite_name[] = "stripe in";

#define PATHS 2
#define SLOTS 8
#define FIRST 3 /* number of the first chunk, for the writer */

static struct rig {
	struct wh_stripe_in in;
	struct wh_fifo deliver[PATHS], recycled[PATHS];
	struct wh_chunk chunk[PATHS][SLOTS];
	uint32_t used[PATHS];
} rig;

static void open_rig(void)
{
	rig = (struct rig){0};
	CU_ASSERT_EQUAL_FATAL(wh_stripe_in_init(&rig.in, FIRST), 0);
	for (uint32_t i = 0; i < PATHS; i++) {
		CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&rig.deliver[i], SLOTS), 0);
		CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&rig.recycled[i], SLOTS), 0);
		wh_stripe_in_add(&rig.in, i, &rig.deliver[i], &rig.recycled[i]);
	}
}

static void close_rig(void)
{
	wh_stripe_in_free(&rig.in);
	for (uint32_t i = 0; i < PATHS; i++) {
		wh_fifo_free(&rig.deliver[i]);
		wh_fifo_free(&rig.recycled[i]);
	}
}

static struct wh_chunk *come(uint32_t path, uint16_t order)
{
	struct wh_chunk *chunk = &rig.chunk[path][rig.used[path]++];

	chunk->order = order;
	CU_ASSERT_TRUE_FATAL(wh_fifo_push(&rig.deliver[path], chunk));
	return chunk;
}

static void writer_gets(struct wh_chunk *chunk, uint64_t number)
{
	CU_ASSERT_PTR_EQUAL(wh_fifo_pop(&rig.in.deliver), chunk);
	CU_ASSERT_EQUAL(chunk->number, number);
}

static void in_order(void)
{
	open_rig();

	struct wh_chunk *third = come(0, 2);
	struct wh_chunk *second = come(1, 1);

	wh_stripe_in_poll(&rig.in);
	CU_ASSERT_PTR_NULL(wh_fifo_pop(&rig.in.deliver));

	struct wh_chunk *first = come(1, 0);

	wh_stripe_in_poll(&rig.in);
	writer_gets(first, FIRST);
	writer_gets(second, FIRST + 1);
	writer_gets(third, FIRST + 2);
	CU_ASSERT_FALSE(wh_stripe_in_drop(&rig.in, 0));
	CU_ASSERT_TRUE(wh_fifo_push(&rig.in.recycled, third));
	wh_stripe_in_poll(&rig.in);
	CU_ASSERT_EQUAL(rig.in.kicks, 1);
	CU_ASSERT_PTR_EQUAL(wh_fifo_pop(&rig.recycled[0]), third);
	CU_ASSERT_TRUE(wh_stripe_in_drop(&rig.in, 0));
	CU_ASSERT_FALSE(wh_stripe_in_drop(&rig.in, 1));
	close_rig();
}

/* By two paths, whether it waits or was delivered: the second goes back at once. */
static void twice(void)
{
	open_rig();
	come(0, 1);

	struct wh_chunk *again = come(1, 1);

	wh_stripe_in_poll(&rig.in);
	CU_ASSERT_PTR_EQUAL(wh_fifo_pop(&rig.recycled[1]), again);
	come(0, 0);
	wh_stripe_in_poll(&rig.in);
	CU_ASSERT_EQUAL(wh_fifo_count(&rig.in.deliver), 2);
	again = come(1, 0);
	wh_stripe_in_poll(&rig.in);
	CU_ASSERT_PTR_EQUAL(wh_fifo_pop(&rig.recycled[1]), again);
	CU_ASSERT_EQUAL(rig.in.twice, 2);
	CU_ASSERT_FALSE(rig.in.wrong);
	close_rig();
}

/* That of one path is that of all, behind the last chunk, and once. */
static void end(void)
{
	struct wh_chunk mark[PATHS] = {
		{.end = true, .number = 9, .digest = {{0x5a}}}, {.end = true, .number = 8}};

	open_rig();

	struct wh_chunk *only = come(1, 0);

	CU_ASSERT_TRUE(wh_fifo_push(&rig.deliver[0], &mark[0]));
	CU_ASSERT_TRUE(wh_fifo_push(&rig.deliver[1], &mark[1]));
	wh_stripe_in_poll(&rig.in);
	writer_gets(only, FIRST);

	const struct wh_chunk *last = wh_fifo_pop(&rig.in.deliver);

	CU_ASSERT_PTR_NOT_NULL_FATAL(last);
	CU_ASSERT_TRUE(last->end);
	CU_ASSERT_EQUAL(last->number, FIRST + 1);
	CU_ASSERT_EQUAL(last->digest.bytes[0], 0x5a);
	come(0, 0); /* it was sent again meanwhile */
	wh_stripe_in_poll(&rig.in);
	CU_ASSERT_PTR_NULL(wh_fifo_pop(&rig.in.deliver));
	CU_ASSERT_FALSE(rig.in.wrong);
	come(0, 1);
	wh_stripe_in_poll(&rig.in);
	CU_ASSERT_PTR_NULL(wh_fifo_pop(&rig.in.deliver));
	CU_ASSERT_TRUE(rig.in.wrong);
	close_rig();
}

/* Orders that no honest peer has end the stream; those from before are dropped. */
static void orders_of_a_liar(void)
{
	static const struct {
		uint16_t order;
		bool wrong;
	} cases[] = {{1, false}, {WH_STRIPE_SPAN - 1, false}, {WH_STRIPE_SPAN, true},
		{UINT16_MAX - WH_STRIPE_SPAN, true}, {UINT16_MAX - WH_STRIPE_SPAN + 1, false},
		{UINT16_MAX, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_rig();
		come(0, cases[i].order);
		wh_stripe_in_poll(&rig.in);
		CU_ASSERT_EQUAL(rig.in.wrong, cases[i].wrong);
		CU_ASSERT_EQUAL(wh_fifo_count(&rig.in.deliver), 0);
		close_rig();
	}
}

CU_TestInfo wh_tests[] = {
	{"in order", in_order},
	{"twice", twice},
	{"end", end},
	{"orders of a liar", orders_of_a_liar},
	CU_TEST_INFO_NULL,
};
