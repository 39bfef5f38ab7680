/* SPDX-License-Identifier: BSD-3-Clause */

/* What EAL's interrupt thread does while it waits for turns, and when it has one. */

#include "port/calm.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "eal.h"
#include "port/interrupts.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/calm";

#define EVENTS 2000

static _Atomic uint64_t handled;
static int event_fd;
static bool up;

static void handle(void *unused)
{
	eventfd_t events = 0;

	(void)unused;
	eventfd_read(event_fd, &events);
	atomic_fetch_add(&handled, events);
}

static bool link_is_up(const struct wh_port *port)
{
	(void)port;
	return up;
}

/* A peer that goes is known within two turns, always; and never between turns. */
static void within_two_turns(void)
{
	CU_ASSERT_EQUAL_FATAL(wh_calm_join(), 0);
	event_fd = wh_interrupts_add(handle);
	CU_ASSERT_FATAL(event_fd >= 0);
	up = true;
	CU_ASSERT_TRUE(wh_calm_turn(link_is_up, NULL));
	for (uint64_t event = 0; event < EVENTS; event++) {
		eventfd_write(event_fd, 1);
		if (event % 100 == 0)
			usleep(1000);
		CU_ASSERT_EQUAL(atomic_load(&handled), event);
		CU_ASSERT_TRUE(wh_calm_turn(link_is_up, NULL));
		CU_ASSERT_TRUE(wh_calm_turn(link_is_up, NULL));
		CU_ASSERT_EQUAL(atomic_load(&handled), event + 1);
	}
	up = false;
	CU_ASSERT_FALSE(wh_calm_turn(link_is_up, NULL));
	wh_calm_leave();
}

/* Without a port that needs turns the thread has its events at once; and a port may come again. */
static void free_again(void)
{
	atomic_store(&handled, 0);
	for (uint64_t round = 1; round <= 3; round++) {
		eventfd_write(event_fd, 1);
		for (int ms = 0; ms < 5000 && atomic_load(&handled) < round; ms++)
			usleep(1000);
		CU_ASSERT_EQUAL(atomic_load(&handled), round);
		CU_ASSERT_EQUAL(wh_calm_join(), 0);
		up = true;
		CU_ASSERT_TRUE(wh_calm_turn(link_is_up, NULL));
		wh_calm_leave();
	}
}

CU_TestInfo wh_tests[] = {
	{"start of the EAL", wh_test_eal_start},
	{"within two turns", within_two_turns},
	{"free again", free_again},
	{"end of the EAL", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
