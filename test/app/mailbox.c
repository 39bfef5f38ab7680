/* SPDX-License-Identifier: BSD-3-Clause */

/* The mailbox at which peers' orders wait: whose turn each place is; nobody's text is lost. */

#include "job/mailbox/mailbox.h"

#include <string.h>

#include <CUnit/CUnit.h>

#include "unit.h"

const char wh_suite_name[] = "app/mailbox";

#define HZ 1000

static struct wh_mailbox mailbox;
static uint32_t wakes;

static void wake(void *context)
{
	(void)context;
	wakes++;
}

void wh_set_up(void)
{
	wakes = 0;
	wh_mailbox_init(&mailbox, wake, NULL);
	atomic_store(&mailbox.kept, true);
}

void wh_take_down(void)
{
	wh_mailbox_free(&mailbox);
}

static struct wh_mailbox_place *enter(void)
{
	static const char *const paths[] = {"a", "b/c"};
	static const uint8_t identity[WH_IDENTITY_BYTES] = {9};

	return wh_mailbox_enter(&mailbox, 5, identity, paths, 2);
}

static bool put(struct wh_mailbox_place *place, const char *host, uint64_t now_tsc)
{
	const struct wh_ordering order = {
		.token = {1},
		.host = host,
		.host_bytes = (uint16_t)strlen(host),
		.path = "xyz",
		.path_bytes = 1,
		.rate = "max",
		.rate_bytes = 3,
		.words = "",
	};

	return wh_mailbox_put(&mailbox, place, &order, now_tsc, HZ);
}

static void answer(struct wh_mailbox_place *place, enum wh_order_status_kind state, const char *why)
{
	const struct wh_order_status order_status = {
		.number = 3, .state = (uint8_t)state, .why = why};

	wh_mailbox_answer(&mailbox, place, &order_status);
}

static void test_asked(void)
{
	struct wh_mailbox_place *place, *other;
	struct wh_order_status order_status;
	char why[] = "it waits";

	place = enter();
	other = enter();
	CU_ASSERT_PTR_NOT_NULL_FATAL(place);
	CU_ASSERT_PTR_NULL(wh_mailbox_next(&mailbox));
	CU_ASSERT(put(place, "dtn3", 1000) && wakes == 1);
	CU_ASSERT(!wh_mailbox_take(&mailbox, place, &order_status));
	CU_ASSERT_PTR_EQUAL_FATAL(wh_mailbox_next(&mailbox), place);
	CU_ASSERT_PTR_NULL(wh_mailbox_next(&mailbox));
	CU_ASSERT_STRING_EQUAL(place->question.order.host, "dtn3");
	CU_ASSERT_STRING_EQUAL(place->question.order.path, "x");
	CU_ASSERT_STRING_EQUAL(place->question.order.words, "");
	CU_ASSERT(place->question.rights == 5 && place->question.identity[0] == 9);
	CU_ASSERT_EQUAL(place->question.paths, 2);
	CU_ASSERT_STRING_EQUAL(place->question.path[1], "b/c");
	answer(place, WH_ORDER_STATUS_WAITS, why);
	why[0] = 'X';
	CU_ASSERT(!wh_mailbox_take(&mailbox, other, &order_status));
	CU_ASSERT_FATAL(wh_mailbox_take(&mailbox, place, &order_status));
	CU_ASSERT(order_status.number == 3 && order_status.why_bytes == 8);
	CU_ASSERT_STRING_EQUAL(order_status.why, "it waits");
	CU_ASSERT(!wh_mailbox_take(&mailbox, place, &order_status));
	wh_mailbox_leave(&mailbox, place);
	wh_mailbox_leave(&mailbox, other);
}

/* Ten in a second, whoever asks as fast as it can. */
static void test_pace(void)
{
	struct wh_mailbox_place *place;
	struct wh_order_status order_status;
	uint32_t asked = 0;

	place = enter();
	CU_ASSERT_PTR_NOT_NULL_FATAL(place);
	for (uint64_t now_tsc = 1; now_tsc <= 5 * HZ; now_tsc++) {
		if (!put(place, "dtn3", now_tsc))
			continue;
		asked++;
		answer(wh_mailbox_next(&mailbox), WH_ORDER_STATUS_RUNS, "");
		CU_ASSERT(wh_mailbox_take(&mailbox, place, &order_status));
	}
	CU_ASSERT_EQUAL(asked, 50);
	wh_mailbox_leave(&mailbox, place);
}

/* Who was refused for good costs the keeper nothing more. */
static void test_refused(void)
{
	struct wh_mailbox_place *place;
	struct wh_order_status order_status;

	place = enter();
	CU_ASSERT_PTR_NOT_NULL_FATAL(place);
	CU_ASSERT(put(place, "dtn3", HZ));
	answer(wh_mailbox_next(&mailbox), WH_ORDER_STATUS_REFUSED, "no");
	CU_ASSERT(wh_mailbox_take(&mailbox, place, &order_status));
	CU_ASSERT(put(place, "dtn4", 2 * HZ));
	CU_ASSERT_PTR_NULL(wh_mailbox_next(&mailbox));
	CU_ASSERT_FATAL(wh_mailbox_take(&mailbox, place, &order_status));
	CU_ASSERT_EQUAL(order_status.state, WH_ORDER_STATUS_REFUSED);
	CU_ASSERT_STRING_EQUAL(order_status.why, "no");
	CU_ASSERT_EQUAL(wakes, 1);
	wh_mailbox_leave(&mailbox, place);
	/* Who comes to that place is another. */
	place = enter();
	CU_ASSERT(put(place, "dtn4", 3 * HZ));
	CU_ASSERT_PTR_EQUAL(wh_mailbox_next(&mailbox), place);
	answer(place, WH_ORDER_STATUS_DONE, "");
	wh_mailbox_leave(&mailbox, place);
}

/* The job is gone while the keeper is at its question: what it reads stays, and goes with it. */
static void test_left(void)
{
	struct wh_mailbox_place *place, *taken;

	place = enter();
	CU_ASSERT_PTR_NOT_NULL_FATAL(place);
	CU_ASSERT(put(place, "dtn3", HZ));
	wh_mailbox_leave(&mailbox, place);
	CU_ASSERT_PTR_NULL(wh_mailbox_next(&mailbox));
	place = enter();
	CU_ASSERT(put(place, "dtn3", HZ));
	taken = wh_mailbox_next(&mailbox);
	wh_mailbox_leave(&mailbox, place);
	CU_ASSERT_PTR_EQUAL_FATAL(taken, place);
	CU_ASSERT_STRING_EQUAL(taken->question.order.host, "dtn3");
	CU_ASSERT_EQUAL(taken->state, WH_MAILBOX_LEFT);
	answer(taken, WH_ORDER_STATUS_DONE, "");
	CU_ASSERT_EQUAL(taken->state, WH_MAILBOX_FREE);
}

static void test_full(void)
{
	struct wh_mailbox_place *place[WH_MAILBOX_PLACES];

	for (uint32_t i = 0; i < WH_MAILBOX_PLACES; i++) {
		place[i] = enter();
		CU_ASSERT_PTR_NOT_NULL(place[i]);
	}
	CU_ASSERT_PTR_NULL(enter());
	wh_mailbox_leave(&mailbox, place[7]);
	CU_ASSERT_PTR_EQUAL(enter(), place[7]);
	for (uint32_t i = 0; i < WH_MAILBOX_PLACES; i++)
		wh_mailbox_leave(&mailbox, place[i]);
	atomic_store(&mailbox.kept, false);
	CU_ASSERT_PTR_NULL(enter());
}

CU_TestInfo wh_tests[] = {
	{"asked and answered", test_asked},
	{"no faster than it may", test_pace},
	{"refused once", test_refused},
	{"left while it was asked", test_left},
	{"no more places", test_full},
	CU_TEST_INFO_NULL,
};
