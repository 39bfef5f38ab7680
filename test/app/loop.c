/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The loop in real time, its second a millisecond long: `hz` is told to be a thousandth of what
 * the counter does. Bounds are such that a busy machine may be late, never early.
 */

#include "host/loop.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/assert.h"
#include "base/clock.h"
#include "unit.h"

const char wh_suite_name[] = "loop";

#define NS_PER_S    1000000000
#define SECONDS_MAX 2000 /* of the loop's: then a test that hangs has failed */

/* A loop, and the process in it that the test is about. */
struct rig {
	struct wh_loop loop;
	_Atomic bool stop;
	uint64_t hz; /* the loop's second, whether it naps or not */
	uint64_t began_tsc;
	uint64_t polls;
	bool late;

	uint64_t phase; /* the tests' own */
	uint64_t mark_tsc;
	uint64_t mark_ns;
	uint64_t mark;
	uint64_t spent_working_tsc;
	uint64_t spent_idle_tsc;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Of the counter, to a per cent or so. */
static uint64_t tsc_hz(void)
{
	static uint64_t hz;

	if (hz != 0)
		return hz;

	uint64_t from_ns = now_ns();
	uint64_t from_tsc = rte_rdtsc();
	uint64_t span_ns;

	do
		span_ns = now_ns() - from_ns;
	while (span_ns < NS_PER_S / 50);
	hz = (rte_rdtsc() - from_tsc) * NS_PER_S / span_ns;
	return hz;
}

static void spin(uint64_t cycles)
{
	uint64_t from_tsc = rte_rdtsc();

	while (rte_rdtsc() - from_tsc < cycles)
		continue;
}

static void stop(struct rig *rig)
{
	atomic_store(&rig->stop, true);
}

/* Ends what would go on for ever; the first process of every loop. */
static int32_t watch(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	rig->polls++;
	if (now_tsc - rig->began_tsc > SECONDS_MAX * rig->hz) {
		rig->late = true;
		stop(rig);
	}
	return 0;
}

static struct rig *begin(void)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	WH_ASSERT(rig != NULL);
	rig->hz = tsc_hz() / 1000;
	rig->loop.stop = &rig->stop;
	rig->loop.hz = rig->hz;
	rig->loop.nap_us = WH_LOOP_PACKET_NAP_US;
	wh_loop_add(&rig->loop, "watch", watch, rig);
	return rig;
}

static void run(struct rig *rig)
{
	rig->began_tsc = rte_rdtsc();
	CU_ASSERT_EQUAL(wh_loop_run(&rig->loop), 0);
	CU_ASSERT_FALSE(rig->late);
}

#define TURNS 1000

struct witness {
	struct rig *rig;
	uint64_t order; /* in the loop */
	uint64_t last_tsc;
	uint64_t mistakes;
};

/* All are told the same time, one after the other, and it does not go back. */
static int32_t look_on(void *state, uint64_t now_tsc)
{
	struct witness *witness = state;
	struct rig *rig = witness->rig;

	if (rig->phase % 3 != witness->order || now_tsc < witness->last_tsc ||
		now_tsc < rig->began_tsc || (witness->order > 0 && now_tsc != rig->mark_tsc))
		witness->mistakes++;
	rig->phase++;
	rig->mark_tsc = now_tsc;
	witness->last_tsc = now_tsc;
	if (rig->phase == 3 * TURNS)
		stop(rig);
	return 0;
}

static void test_order_and_time(void)
{
	struct rig *rig = begin();
	struct witness witness[3];

	for (uint64_t i = 0; i < 3; i++) {
		witness[i] = (struct witness){.rig = rig, .order = i};
		wh_loop_add(&rig->loop, "witness", look_on, &witness[i]);
	}
	run(rig);
	CU_ASSERT_EQUAL(rig->loop.turns, TURNS);
	CU_ASSERT_EQUAL(rig->polls, TURNS);
	CU_ASSERT_EQUAL(rig->phase, 3 * TURNS);
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(witness[i].mistakes, 0);
	free(rig);
}

static void test_stopped_before(void)
{
	struct rig *rig = begin();

	stop(rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->loop.turns, 0);
	CU_ASSERT_EQUAL(rig->polls, 0);
	CU_ASSERT_EQUAL(rig->loop.total_tsc, 0);
	free(rig);
}

/* Notes when the first nap was over, then lets it nap on for 20 seconds. */
static int32_t await_naps(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	if (rig->mark_tsc == 0 && rig->loop.naps > 0) {
		rig->mark_tsc = now_tsc;
		rig->mark_ns = now_ns();
		rig->mark = rig->polls;
		CU_ASSERT_EQUAL(rig->loop.quiet_s, WH_LOOP_QUIET_S);
	}
	if (rig->mark_tsc != 0 && now_tsc - rig->mark_tsc > 20 * rig->hz)
		stop(rig);
	return 0;
}

static void test_naps_when_quiet(void)
{
	struct rig *rig = begin();

	wh_loop_add(&rig->loop, "await naps", await_naps, rig);
	run(rig);

	uint64_t quiet_tsc = rig->mark_tsc - rig->began_tsc;

	CU_ASSERT_TRUE(quiet_tsc >= WH_LOOP_QUIET_S * rig->hz);
	/* Every turn is a nap now, and none is shorter than asked for. */
	uint64_t naps_max = (now_ns() - rig->mark_ns) / (WH_LOOP_PACKET_NAP_US * 1000);

	CU_ASSERT_EQUAL(rig->loop.naps, rig->polls - rig->mark + 2);
	CU_ASSERT_TRUE(rig->loop.naps <= naps_max + 2);
	CU_ASSERT_TRUE(rig->loop.naps >= 2);
	CU_ASSERT_EQUAL(rig->loop.busy_tsc, 0);
	free(rig);
}

/* Of ten turns, the third has enough work to wake it. */
static int32_t wake_in_third(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	(void)now_tsc;
	rig->phase++;
	if (rig->phase == 3)
		rig->mark = rig->loop.naps;
	if (rig->phase == 10)
		stop(rig);
	return rig->phase == 3 ? WH_LOOP_WAKE : 0;
}

static void test_begins_quiet(void)
{
	struct rig *rig = begin();

	/* So late as this second ends, none does before the loop stops. */
	rig->loop.hz = rig->hz * SECONDS_MAX;
	wh_loop_begin_quiet(&rig->loop, NULL, NULL);
	wh_loop_add(&rig->loop, "wake in third", wake_in_third, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->mark, 2);
	CU_ASSERT_EQUAL(rig->loop.turns, 10);
	CU_ASSERT_EQUAL(rig->loop.naps, 2);
	free(rig);
}

static uint32_t long_naps,
	wakes; /* as those of an idle server; of others by a loop that has work */

/* In place of libc's, to see what the loop asks for; a library asks for more, before the tests. */
long syscall(long number, ...)
{
	long (*libc_syscall)(long number, ...);
	struct wh_loop_bell *bell;
	const struct timespec *nap;
	uint32_t rung;
	long argument[4];
	int operation;
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 4; i++)
		argument[i] = va_arg(args, long);
	va_end(args);
	if (CU_get_current_test() == NULL) {
		*(void **)&libc_syscall = dlsym(RTLD_NEXT, "syscall");
		return libc_syscall(number, argument[0], argument[1], argument[2], argument[3]);
	}
	bell = (struct wh_loop_bell *)argument[0];
	operation = (int)argument[1];
	rung = (uint32_t)argument[2];
	nap = (const struct timespec *)argument[3];
	CU_ASSERT_EQUAL(number, SYS_futex);
	if (operation == FUTEX_WAKE_PRIVATE) {
		wakes++;
		return 0;
	}
	CU_ASSERT_EQUAL(operation, FUTEX_WAIT_PRIVATE);
	CU_ASSERT_EQUAL(nap->tv_nsec, WH_LOOP_IDLE_NAP_US * 1000);
	CU_ASSERT_TRUE(atomic_load(&bell->asleep) > 0);
	long_naps += rung == atomic_load(&bell->rung);
	return 0;
}

/* Of ten turns, the third has work. */
static int32_t work_in_third(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	(void)now_tsc;
	rig->phase++;
	if (rig->phase == 3)
		rig->mark = long_naps;
	if (rig->phase == 10)
		stop(rig);
	return rig->phase == 3;
}

/* Before it has worked, a server without sessions naps long; soon after that it does not. */
static void idle(uint32_t sessions, uint32_t others, uint32_t expected)
{
	struct rig *rig = begin();
	struct wh_loop_bell bell = {.asleep = others};
	_Atomic uint32_t count = sessions;

	rig->loop.hz = rig->hz * SECONDS_MAX; /* soon is long, as seconds are */
	wh_loop_begin_quiet(&rig->loop, &count, &bell);
	wh_loop_add(&rig->loop, "work in third", work_in_third, rig);
	long_naps = wakes = 0;
	run(rig);
	CU_ASSERT_EQUAL(rig->loop.naps, 9);
	CU_ASSERT_EQUAL(rig->mark, expected);
	CU_ASSERT_EQUAL(long_naps, expected);
	CU_ASSERT_EQUAL(bell.rung, 1); /* by its work, and who sleeps is woken */
	CU_ASSERT_EQUAL(wakes, others > 0);
	CU_ASSERT_EQUAL(bell.asleep, others);
	free(rig);
}

static void test_idle(void)
{
	idle(0, 0, 2);
	idle(0, 3, 2);
	idle(1, 0, 0);
}

static _Atomic uint32_t guests;

/* Two rounds of much work in a session, which then may be over; ends with a nap, or late. */
static int32_t leave(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	if (++rig->phase <= 2) {
		rig->mark_tsc = now_tsc;
		return WH_LOOP_WAKE;
	}
	if (rig->phase == 4)
		atomic_store(&guests, (uint32_t)rig->mark);
	if (rig->loop.naps > 0 ||
		now_tsc - rig->mark_tsc > 2 * wh_us_to_tsc(rig->loop.hz, WH_LOOP_IDLE_US))
		stop(rig);
	rig->spent_idle_tsc = now_tsc - rig->mark_tsc;
	return 0;
}

/* It naps briefly soon after its last session, and stays awake as long as there is one. */
static void test_naps_when_left(void)
{
	long_naps = 0;
	for (uint32_t left = 0; left < 2; left++) {
		struct rig *rig = begin();
		struct wh_loop_bell bell = {.rung = 0};

		rig->loop.hz = rig->hz * SECONDS_MAX; /* no second ends meanwhile */
		rig->mark = left;
		atomic_store(&guests, 1);
		wh_loop_begin_quiet(&rig->loop, &guests, &bell);
		wh_loop_add(&rig->loop, "leave", leave, rig);
		run(rig);
		CU_ASSERT_EQUAL(rig->loop.naps > 0, left == 0);
		CU_ASSERT_TRUE(rig->spent_idle_tsc > wh_us_to_tsc(rig->loop.hz, WH_LOOP_IDLE_US));
		CU_ASSERT_EQUAL(long_naps, 0);
		free(rig);
	}
}

static int32_t stop_after_20(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	if (now_tsc - rig->began_tsc > 20 * rig->hz && rig->polls > 100)
		stop(rig);
	return 0;
}

/* Rung while it looked for work: the bell has rung when the loop would wait, so it looks again. */
static int32_t ring_in_second(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	(void)now_tsc;
	if (++rig->phase == 2)
		wh_loop_ring(&rig->loop);
	if (rig->phase == 4)
		stop(rig);
	return 0;
}

static void test_rung_meanwhile(void)
{
	struct rig *rig = begin();
	struct wh_loop_bell bell = {.rung = 0};
	_Atomic uint32_t none = 0;

	wh_loop_begin_quiet(&rig->loop, &none, &bell);
	wh_loop_add(&rig->loop, "ring in second", ring_in_second, rig);
	long_naps = 0;
	run(rig);
	CU_ASSERT_EQUAL(rig->loop.naps, 4);
	CU_ASSERT_EQUAL(long_naps, 3);
	free(rig);
}

static void test_never_naps_without_hz(void)
{
	struct rig *rig = begin();

	rig->loop.hz = 0;
	wh_loop_add(&rig->loop, "stop", stop_after_20, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->loop.naps, 0);
	free(rig);
}

/* So many units of work in each second, one at a time. */
static int32_t work_steadily(struct rig *rig, uint64_t now_tsc, uint64_t per_second)
{
	uint64_t due = (now_tsc - rig->began_tsc) * per_second / rig->hz;

	if (rig->phase >= due)
		return 0;
	rig->phase++;
	return 1;
}

static int32_t trickle(void *state, uint64_t now_tsc)
{
	const struct rig *rig = state;

	if (rig->loop.naps > 0)
		stop(state);
	return work_steadily(state, now_tsc, WH_LOOP_TRICKLE / 10);
}

static int32_t stream(void *state, uint64_t now_tsc)
{
	stop_after_20(state, now_tsc);
	return work_steadily(state, now_tsc, 2 * WH_LOOP_TRICKLE);
}

static void test_a_trickle_is_quiet(void)
{
	struct rig *rig = begin();

	wh_loop_add(&rig->loop, "trickle", trickle, rig);
	run(rig);
	CU_ASSERT_TRUE(rig->loop.naps > 0);
	CU_ASSERT_TRUE(rig->phase > 0);
	free(rig);

	rig = begin();
	wh_loop_add(&rig->loop, "stream", stream, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->loop.naps, 0);
	free(rig);
}

/* Almost enough quiet seconds, then work until they are forgotten; and again. */
static int32_t work_now_and_then(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	(void)now_tsc;
	if (rig->loop.quiet_s >= WH_LOOP_QUIET_S - 1) {
		rig->mark = 1;
		return 1;
	}
	if (rig->loop.quiet_s == 0 && rig->mark == 1) {
		rig->mark = 0;
		if (++rig->phase == 4)
			stop(rig);
	}
	return 0;
}

static void test_quiet_seconds_in_a_row(void)
{
	struct rig *rig = begin();

	wh_loop_add(&rig->loop, "work", work_now_and_then, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->phase, 4);
	CU_ASSERT_EQUAL(rig->loop.naps, 0);
	free(rig);
}

/* Three naps, then so much work in one turn; what came of it when it may nap again. */
static int32_t work_once(struct rig *rig, uint64_t now_tsc, int32_t work)
{
	if (rig->mark_tsc != 0) {
		if (now_tsc - rig->mark_tsc > (WH_LOOP_QUIET_S - 1) * rig->hz) {
			rig->phase = rig->loop.naps;
			stop(rig);
		}
		return 0;
	}
	if (rig->loop.naps < 3)
		return 0;
	rig->mark_tsc = now_tsc;
	rig->mark = rig->loop.naps;
	return work;
}

static int32_t wake(void *state, uint64_t now_tsc)
{
	return work_once(state, now_tsc, WH_LOOP_WAKE);
}

static int32_t stir(void *state, uint64_t now_tsc)
{
	return work_once(state, now_tsc, WH_LOOP_WAKE - 1);
}

static void test_wakes_at_once(void)
{
	struct rig *rig = begin();

	wh_loop_add(&rig->loop, "wake", wake, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->mark, 3);
	/*
	 * Seconds end at most once in a turn and not closer together than they are, so
	 * WH_LOOP_QUIET_S have not ended before the turn that stopped it, however late that came.
	 * After it they may have: what naps there are then says nothing.
	 */
	CU_ASSERT_EQUAL(rig->phase, 3);
	free(rig);

	rig = begin();
	wh_loop_add(&rig->loop, "stir", stir, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->mark, 3);
	CU_ASSERT_TRUE(rig->loop.naps > 3);
	free(rig);
}

/* Works in every turn. In the tenth the CPU seems to be away, for more than a millisecond. */
static int32_t be_away(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;

	if (++rig->phase == 10) {
		rig->mark = rig->loop.yields;
		rig->mark_tsc = now_tsc;
		spin(rig->hz * 3 / 2);
	}
	/* Who gets it may keep it for longer than all of this. */
	if (rig->mark_tsc != 0 && now_tsc - rig->mark_tsc > 20 * rig->hz &&
		(rig->loop.yields >= 2 || rig->loop.away_tsc == 0))
		stop(rig);
	return rig->phase % 1000 != 0;
}

/* A CPU that was another's is handed on: after rounds without work, and now and then in between. */
static void test_hands_on(void)
{
	struct rig *rig = begin();

	rig->loop.away_tsc = rig->hz;
	wh_loop_add(&rig->loop, "away", be_away, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->mark, 0);
	CU_ASSERT_TRUE(rig->loop.yields >= 2);
	CU_ASSERT_TRUE(rig->loop.yields <= rig->phase);
	free(rig);

	rig = begin();
	wh_loop_add(&rig->loop, "away", be_away, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->loop.yields, 0);
	free(rig);
}

/* Works in every second turn; both kinds last alike. */
static int32_t work_by_turns(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;
	uint64_t from_tsc = rte_rdtsc();
	bool works = rig->phase++ % 2 == 0;

	(void)now_tsc;
	if (rig->phase > 200) { /* what the last turn takes is in no total */
		stop(rig);
		return 0;
	}
	spin(rig->hz / 20);
	if (works)
		rig->spent_working_tsc += rte_rdtsc() - from_tsc;
	else
		rig->spent_idle_tsc += rte_rdtsc() - from_tsc;
	return works;
}

static void test_busy_share(void)
{
	struct rig *rig = begin();

	wh_loop_add(&rig->loop, "work", work_by_turns, rig);
	run(rig);

	uint64_t span_tsc = rte_rdtsc() - rig->began_tsc;

	CU_ASSERT_TRUE(rig->loop.busy_tsc >= rig->spent_working_tsc);
	CU_ASSERT_TRUE(rig->loop.busy_tsc <= rig->loop.total_tsc - rig->spent_idle_tsc);
	CU_ASSERT_TRUE(rig->loop.total_tsc <= span_tsc);
	free(rig);
}

#define METERED_TURNS (3 * WH_METER_EVERY + 2) /* of these are measured 0, 61, 122, 183 */

/* As rcv in a worked turn, as decode in one without work. */
static int32_t be_metered(void *state, uint64_t now_tsc)
{
	struct rig *rig = state;
	struct wh_meter *meter = &rig->loop.meter;
	uint64_t turn = rig->phase++;
	bool works = turn / WH_METER_EVERY % 2 == 0;
	enum wh_meter_task task = works ? WH_METER_RCV : WH_METER_DECODE;

	(void)now_tsc;
	CU_ASSERT_EQUAL(meter->on, turn % WH_METER_EVERY == 0);

	uint8_t before = wh_meter_enter(meter, task);
	uint64_t from_tsc = rte_rdtsc();

	spin(2000);
	if (meter->on && works)
		rig->spent_working_tsc += rte_rdtsc() - from_tsc;
	wh_meter_leave(meter, before);
	if (rig->phase == METERED_TURNS)
		stop(rig);
	return works;
}

static void test_meter(void)
{
	struct rig *rig = begin();
	const struct wh_meter *meter = &rig->loop.meter;

	wh_loop_add(&rig->loop, "metered", be_metered, rig);
	run(rig);
	CU_ASSERT_EQUAL(rig->loop.turns, METERED_TURNS);
	CU_ASSERT_EQUAL(meter->turns, 4);
	CU_ASSERT_FALSE(meter->on);
	CU_ASSERT_TRUE(meter->cycles[WH_METER_RCV] >= rig->spent_working_tsc);
	CU_ASSERT_TRUE(meter->cycles[WH_METER_RCV] <= rig->loop.busy_tsc);
	CU_ASSERT_EQUAL(meter->cycles[WH_METER_DECODE], 0);
	CU_ASSERT_TRUE(meter->cycles[WH_METER_LOOP] >= 2 * 2000);
	free(rig);
}

static void test_print(void)
{
	struct rig *rig = begin();
	char text[128];
	FILE *to = fmemopen(text, sizeof(text), "w");

	WH_ASSERT(to != NULL);
	wh_loop_add(&rig->loop, "receive", stir, rig);
	wh_loop_add(&rig->loop, "jobs", stir, rig);
	wh_loop_print(&rig->loop, "CPU 3", to);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(text, "CPU 3: watch, receive, jobs\n");
	free(rig);
}

CU_TestInfo wh_tests[] = {
	{"order and time", test_order_and_time},
	{"stopped before", test_stopped_before},
	{"naps when quiet", test_naps_when_quiet},
	{"begins quiet", test_begins_quiet},
	{"idle", test_idle},
	{"naps when its last session is over", test_naps_when_left},
	{"rung while it looks for work", test_rung_meanwhile},
	{"never naps without hz", test_never_naps_without_hz},
	{"a trickle is quiet", test_a_trickle_is_quiet},
	{"quiet seconds in a row", test_quiet_seconds_in_a_row},
	{"wakes at once", test_wakes_at_once},
	{"busy share", test_busy_share},
	{"hands a shared CPU on", test_hands_on},
	{"meter", test_meter},
	{"print", test_print},
	CU_TEST_INFO_NULL,
};
