/* SPDX-License-Identifier: BSD-3-Clause */

/* What a service manager hears, on a socket of the test's own, of cores that turn by hand. */

#include "system/notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit.h"

const char wh_suite_name[] = "notify";

#define HZ         1000000000
#define PERIOD_TSC (UINT64_C(100000) * 1000) /* a quarter of that */
#define CORES      3

/* A manager's socket, and a runtime of loops that nobody runs. */
struct rig {
	int fd;
	struct wh_runtime runtime;
	struct wh_loop loop[CORES];
	struct wh_notify notify;
};

static void listen_as_manager(struct rig *rig)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t bytes = sizeof(sa_family_t);
	char name[64];

	/* A name that the kernel chooses, beside all files: '@' and what it is. */
	rig->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CU_ASSERT_FATAL(rig->fd >= 0);
	CU_ASSERT_EQUAL_FATAL(bind(rig->fd, (struct sockaddr *)&address, bytes), 0);
	bytes = sizeof(address);
	CU_ASSERT_EQUAL_FATAL(getsockname(rig->fd, (struct sockaddr *)&address, &bytes), 0);
	snprintf(name, sizeof(name), "@%.*s", (int)(bytes - sizeof(sa_family_t) - 1),
		address.sun_path + 1);
	setenv("NOTIFY_SOCKET", name, 1);
}

static void begin(struct rig *rig, const char *patience)
{
	*rig = (struct rig){
		.runtime = {.started = true, .hz = HZ, .cores = {.count = CORES}},
	};
	rig->runtime.loop = rig->loop;
	listen_as_manager(rig);
	if (patience != NULL)
		setenv("WATCHDOG_USEC", patience, 1);
	CU_ASSERT_EQUAL_FATAL(wh_notify_init(&rig->notify, &rig->runtime), 0);
}

static void end(struct rig *rig)
{
	wh_notify_free(&rig->notify);
	unsetenv("WATCHDOG_USEC");
	unsetenv("NOTIFY_SOCKET");
	close(rig->fd);
}

/* What the manager was told next; empty: nothing. */
static const char *heard(struct rig *rig)
{
	static char text[256];
	ssize_t bytes = recv(rig->fd, text, sizeof(text) - 1, 0);

	text[bytes > 0 ? bytes : 0] = '\0';
	return text;
}

static void turn(struct rig *rig, uint32_t cores)
{
	for (uint32_t i = 0; i < cores; i++)
		rig->loop[i].turns++;
}

static void test_ready_and_stopping(void)
{
	struct rig rig;

	begin(&rig, NULL);
	wh_notify_ready(&rig.notify, "/srv", "0000:3b:00.0", 5760);
	CU_ASSERT_STRING_EQUAL(
		heard(&rig), "READY=1\nSTATUS=serving /srv on 0000:3b:00.0, UDP 5760");
	wh_notify_stopping(&rig.notify, 2);
	CU_ASSERT_STRING_EQUAL(
		heard(&rig), "STOPPING=1\nSTATUS=stopping: 2 jobs go on to their end");
	end(&rig);
}

/* A manager that did not ask for the watchdog is not bothered. */
static void test_no_watchdog(void)
{
	struct rig rig;

	begin(&rig, NULL);
	turn(&rig, CORES);
	wh_notify_poll(&rig.notify, PERIOD_TSC);
	CU_ASSERT_STRING_EQUAL(heard(&rig), "");
	end(&rig);
}

static void test_fed_while_all_turn(void)
{
	struct rig rig;
	uint32_t fed = 0;

	begin(&rig, "400000");
	for (uint64_t look = 1; look <= 40; look++) {
		turn(&rig, CORES);
		wh_notify_poll(&rig.notify, look * PERIOD_TSC / 4);
		fed += strcmp(heard(&rig), "WATCHDOG=1") == 0;
	}
	CU_ASSERT_EQUAL(fed, 10); /* four times in the patience, over ten quarters of it */
	end(&rig);
}

/* One core of three stands still: no more food, until it turns again. */
static void test_hungry_when_one_stands(void)
{
	struct rig rig;

	begin(&rig, "400000");
	turn(&rig, CORES);
	wh_notify_poll(&rig.notify, PERIOD_TSC);
	CU_ASSERT_STRING_EQUAL(heard(&rig), "WATCHDOG=1");
	for (uint64_t look = 2; look < 6; look++) {
		turn(&rig, CORES - 1);
		wh_notify_poll(&rig.notify, look * PERIOD_TSC);
		CU_ASSERT_STRING_EQUAL(heard(&rig), "");
	}
	turn(&rig, CORES);
	wh_notify_poll(&rig.notify, 6 * PERIOD_TSC);
	CU_ASSERT_STRING_EQUAL(heard(&rig), "WATCHDOG=1");
	end(&rig);
}

CU_TestInfo wh_tests[] = {
	{"ready and stopping", test_ready_and_stopping},
	{"nobody asked for a watchdog", test_no_watchdog},
	{"fed while all cores turn", test_fed_while_all_turn},
	{"hungry when one stands still", test_hungry_when_one_stands},
	CU_TEST_INFO_NULL,
};
