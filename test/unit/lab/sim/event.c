/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "base/prng.h"
#include "lab/sim/event.h"

const char wh_suite_name[] = "sim_event";

#define LOG_ROOM 64

static char fired[LOG_ROOM + 1]; /* names in the order of their events */
static uint64_t fired_ps[LOG_ROOM];
static unsigned int n_fired;

struct named {
	struct wh_sim_event event;
	char name;
};

static void log_name(void *context, uint64_t now_ps)
{
	struct named *named = context;

	if (n_fired < LOG_ROOM) {
		fired_ps[n_fired] = now_ps;
		fired[n_fired++] = named->name;
		fired[n_fired] = '\0';
	}
}

static void forget(void)
{
	n_fired = 0;
	fired[0] = '\0';
}

/* Named a, b, c, ... */
static void set_up(struct wh_sim_events *events, struct named *named, unsigned int count)
{
	forget();
	wh_sim_events_init(events);
	for (unsigned int i = 0; i < count; i++) {
		named[i].name = (char)('a' + i);
		wh_sim_event_init(&named[i].event, log_name, &named[i]);
	}
}

static void fires_by_time_then_by_order_of_setting(void)
{
	static const struct {
		uint64_t due_ps[6];
		const char *order;
	} cases[] = {
		{{1, 2, 3, 4, 5, 6}, "abcdef"},
		{{6, 5, 4, 3, 2, 1}, "fedcba"},
		{{7, 7, 7, 7, 7, 7}, "abcdef"},
		{{0, 9, 0, 9, 0, 9}, "acebdf"},
		{{5, 5, 1, 1, 5, 1}, "cdfabe"},
		{{WH_SIM_NEVER_PS - 1, 0, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, 1, 2},
			"befdca"},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_events events;
		struct named named[6];

		set_up(&events, named, 6);
		for (unsigned int n = 0; n < 6; n++)
			wh_sim_event_at(&events, &named[n].event, cases[i].due_ps[n]);
		wh_sim_events_run(&events, WH_SIM_NEVER_PS - 1);
		CU_ASSERT_STRING_EQUAL(fired, cases[i].order);
		CU_ASSERT_EQUAL(events.fired, 6);
		CU_ASSERT_EQUAL(events.count, 0);
		wh_sim_events_free(&events);
	}
}

static void runs_up_to_a_moment_and_stays_there(void)
{
	struct wh_sim_events events;
	struct named named[3];

	set_up(&events, named, 3);
	wh_sim_event_at(&events, &named[0].event, 99);
	wh_sim_event_at(&events, &named[1].event, 100);
	wh_sim_event_at(&events, &named[2].event, 101);

	wh_sim_events_run(&events, 98);
	CU_ASSERT_STRING_EQUAL(fired, "");
	CU_ASSERT_EQUAL(events.now_ps, 98);

	wh_sim_events_run(&events, 100);
	CU_ASSERT_STRING_EQUAL(fired, "ab");
	CU_ASSERT_EQUAL(fired_ps[0], 99);
	CU_ASSERT_EQUAL(fired_ps[1], 100);
	CU_ASSERT_EQUAL(events.now_ps, 100);
	CU_ASSERT_FALSE(wh_sim_event_is_pending(&named[1].event));
	CU_ASSERT_TRUE(wh_sim_event_is_pending(&named[2].event));
	CU_ASSERT_EQUAL(wh_sim_event_due_ps(&events, &named[2].event), 101);

	wh_sim_events_run(&events, 1000);
	CU_ASSERT_STRING_EQUAL(fired, "abc");
	CU_ASSERT_EQUAL(fired_ps[2], 101);
	CU_ASSERT_EQUAL(events.now_ps, 1000);
	wh_sim_events_free(&events);
}

/* A moved event is one that was set later. */
static void moves_what_is_pending(void)
{
	static const struct {
		unsigned int which;
		uint64_t due_ps;
		const char *order;
	} cases[] = {
		{0, 5, "abcde"}, /* before all */
		{0, 10, "abcde"},
		{0, 20, "bacde"}, /* behind the one that it joins */
		{0, 55, "bcdea"},
		{2, 5, "cabde"},
		{2, 30, "abcde"},
		{2, 50, "abdec"},
		{4, 10, "aebcd"},
		{4, 9, "eabcd"},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_events events;
		struct named named[5];

		set_up(&events, named, 5);
		for (unsigned int n = 0; n < 5; n++)
			wh_sim_event_at(&events, &named[n].event, 10 * (n + 1));
		wh_sim_event_at(&events, &named[cases[i].which].event, cases[i].due_ps);
		CU_ASSERT_EQUAL(wh_sim_event_due_ps(&events, &named[cases[i].which].event),
			cases[i].due_ps);
		CU_ASSERT_EQUAL(events.count, 5);
		wh_sim_events_run(&events, 100);
		CU_ASSERT_STRING_EQUAL(fired, cases[i].order);
		wh_sim_events_free(&events);
	}
}

static void cancels_any(void)
{
	static const char *const left[] = {"bcdef", "acdef", "abdef", "abcef", "abcdf", "abcde"};

	for (unsigned int which = 0; which < 6; which++) {
		struct wh_sim_events events;
		struct named named[6];

		set_up(&events, named, 6);
		for (unsigned int n = 0; n < 6; n++)
			wh_sim_event_at(&events, &named[n].event, 10 * (n + 1));
		wh_sim_event_cancel(&events, &named[which].event);
		CU_ASSERT_FALSE(wh_sim_event_is_pending(&named[which].event));
		wh_sim_event_cancel(&events, &named[which].event);
		wh_sim_events_run(&events, 100);
		CU_ASSERT_STRING_EQUAL(fired, left[which]);
		wh_sim_events_free(&events);
	}
}

static struct wh_sim_events chain_events;
static struct named chain[3];

/* a: itself again 10 later, twice; b: c at the same moment; c cancels a. */
static void fire_chain(void *context, uint64_t now_ps)
{
	struct named *named = context;

	log_name(context, now_ps);
	if (named == &chain[0] && n_fired < 3)
		wh_sim_event_at(&chain_events, &named->event, now_ps + 10);
	if (named == &chain[1])
		wh_sim_event_at(&chain_events, &chain[2].event, now_ps);
	if (named == &chain[2])
		wh_sim_event_cancel(&chain_events, &chain[0].event);
}

static void events_may_set_and_cancel_events(void)
{
	set_up(&chain_events, chain, 3);
	for (unsigned int i = 0; i < 3; i++)
		wh_sim_event_init(&chain[i].event, fire_chain, &chain[i]);
	wh_sim_event_at(&chain_events, &chain[0].event, 10);
	wh_sim_event_at(&chain_events, &chain[1].event, 25);

	/* a at 10 and 20, which is to come again at 30; b at 25 sets c, which takes that away. */
	wh_sim_events_run(&chain_events, 25);
	CU_ASSERT_STRING_EQUAL(fired, "aabc");
	CU_ASSERT_EQUAL(fired_ps[3], 25);
	CU_ASSERT_EQUAL(chain_events.count, 0);
	wh_sim_events_free(&chain_events);
}

/* A plain table, looked through for the least; each event changes some at random. */
#define MANY           500
#define MANY_CHANGES   40000
#define CHANGES_A_TIME 4

static struct {
	struct wh_sim_event event;
	bool pending;
	uint64_t due_ps;
	uint64_t order;
} many[MANY];
static struct wh_sim_events many_events;
static struct wh_prng many_prng;
static uint64_t n_changes;

static unsigned int least_of_many(void)
{
	unsigned int least = MANY;

	for (unsigned int i = 0; i < MANY; i++) {
		if (!many[i].pending)
			continue;
		if (least == MANY || many[i].due_ps < many[least].due_ps ||
			(many[i].due_ps == many[least].due_ps && many[i].order < many[least].order))
			least = i;
	}
	return least;
}

static void change_one_of_many(void)
{
	unsigned int i = (unsigned int)wh_prng_below(&many_prng, MANY);

	n_changes++;
	many[i].pending = wh_prng_below(&many_prng, 4) != 0;
	if (!many[i].pending) {
		wh_sim_event_cancel(&many_events, &many[i].event);
		return;
	}
	many[i].due_ps = many_events.now_ps + wh_prng_below(&many_prng, 50);
	many[i].order = n_changes;
	wh_sim_event_at(&many_events, &many[i].event, many[i].due_ps);
}

static void fire_one_of_many(void *context, uint64_t now_ps)
{
	unsigned int i = (unsigned int)(uintptr_t)context;

	CU_ASSERT_EQUAL_FATAL(i, least_of_many());
	CU_ASSERT_EQUAL_FATAL(now_ps, many[i].due_ps);
	many[i].pending = false;
	for (unsigned int n = 0; n < CHANGES_A_TIME && n_changes < MANY_CHANGES; n++)
		change_one_of_many();
}

static void agrees_with_a_plain_table(void)
{
	wh_sim_events_init(&many_events);
	wh_prng_init(&many_prng, 21);
	for (unsigned int i = 0; i < MANY; i++)
		wh_sim_event_init(&many[i].event, fire_one_of_many, (void *)(uintptr_t)i);
	for (unsigned int n = 0; n < MANY; n++)
		change_one_of_many();
	CU_ASSERT_TRUE(many_events.room > 64);

	wh_sim_events_run(&many_events, 1000000000);
	CU_ASSERT_EQUAL(n_changes, MANY_CHANGES);
	CU_ASSERT_EQUAL(least_of_many(), MANY);
	CU_ASSERT_EQUAL(many_events.count, 0);
	CU_ASSERT_TRUE(many_events.fired >= (MANY_CHANGES - MANY) / CHANGES_A_TIME);
	wh_sim_events_free(&many_events);
}

CU_TestInfo wh_tests[] = {
	{"fires by time, then by order of setting", fires_by_time_then_by_order_of_setting},
	{"runs up to a moment and stays there", runs_up_to_a_moment_and_stays_there},
	{"moves what is pending", moves_what_is_pending},
	{"cancels any", cancels_any},
	{"events may set and cancel events", events_may_set_and_cancel_events},
	{"agrees with a plain table", agrees_with_a_plain_table},
	CU_TEST_INFO_NULL,
};
