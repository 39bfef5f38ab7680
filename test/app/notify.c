/* SPDX-License-Identifier: BSD-3-Clause */

/* What a service manager hears, on a socket of the test's own, of cores that turn by hand. */

#include "system/notify.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

const char wh_suite_name[] = "notify";

#define S     UINT64_C(1000000000)
#define CORES 3

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
		.runtime = {.started = true, .cores = {.count = CORES}},
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
	wh_notify_look(&rig.notify, S);
	CU_ASSERT_STRING_EQUAL(heard(&rig), "");
	end(&rig);
}

static void test_fed_while_all_turn(void)
{
	struct rig rig;

	begin(&rig, "400000");
	CU_ASSERT_EQUAL(rig.notify.period_ns, S / 10); /* four looks in that time */
	for (uint64_t look = 1; look <= 10; look++) {
		turn(&rig, CORES);
		wh_notify_look(&rig.notify, look * S);
		CU_ASSERT_STRING_EQUAL(heard(&rig), "WATCHDOG=1");
	}
	end(&rig);
}

/* The CPU's time of a thread that waits, as for a disk: until the pipe is closed. */
static void *wait_for(void *fd)
{
	char byte;

	CU_ASSERT_EQUAL(read(*(int *)fd, &byte, 1), 0);
	return NULL;
}

/* A core of three waits. That is no reason for a new start, if it does not last ten minutes. */
static void test_fed_while_one_waits(void)
{
	struct rig rig;
	pthread_t thread;
	int fd[2];

	begin(&rig, "400000");
	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, wait_for, &fd[0]), 0);
	pthread_getcpuclockid(thread, &rig.loop[CORES - 1].cpu_clock);
	turn(&rig, CORES);
	for (uint64_t s = 1; s <= 700; s += 5) {
		turn(&rig, CORES - 1);
		wh_notify_look(&rig.notify, s * S);
		CU_ASSERT_STRING_EQUAL(heard(&rig), s <= 600 ? "WATCHDOG=1" : "");
		CU_ASSERT_EQUAL(rig.notify.core[CORES - 1].told, s > 10);
	}
	turn(&rig, CORES);
	wh_notify_look(&rig.notify, 701 * S);
	CU_ASSERT_STRING_EQUAL(heard(&rig), "WATCHDOG=1");
	CU_ASSERT_FALSE(rig.notify.core[CORES - 1].told);
	close(fd[1]);
	pthread_join(thread, NULL);
	close(fd[0]);
	end(&rig);
}

/* One core of three uses its CPU for a single turn: no more food, until it turns again. */
static void test_hungry_when_one_hangs(void)
{
	struct rig rig;

	begin(&rig, "400000");
	rig.loop[1].cpu_clock = CLOCK_THREAD_CPUTIME_ID;
	turn(&rig, CORES);
	wh_notify_look(&rig.notify, S);
	CU_ASSERT_STRING_EQUAL(heard(&rig), "WATCHDOG=1");

	struct timespec cpu;
	int64_t until_ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	until_ns = cpu.tv_sec * (int64_t)S + cpu.tv_nsec + (int64_t)S / 8;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	while (cpu.tv_sec * (int64_t)S + cpu.tv_nsec < until_ns);
	rig.loop[0].turns++;
	rig.loop[2].turns++;
	wh_notify_look(&rig.notify, 2 * S);
	CU_ASSERT_STRING_EQUAL(heard(&rig), "");
	turn(&rig, CORES);
	wh_notify_look(&rig.notify, 3 * S);
	CU_ASSERT_STRING_EQUAL(heard(&rig), "WATCHDOG=1");
	end(&rig);
}

/* The thread that looks is fed by itself, and ends with the rest. */
static void test_thread_looks(void)
{
	struct rig rig;

	begin(&rig, "40000");
	turn(&rig, CORES);
	CU_ASSERT_EQUAL(wh_notify_ready(&rig.notify, "/srv", "lo", 5760), 0);
	while (strcmp(heard(&rig), "WATCHDOG=1") != 0)
		usleep(1000);
	end(&rig);
}

CU_TestInfo wh_tests[] = {
	{"ready and stopping", test_ready_and_stopping},
	{"nobody asked for a watchdog", test_no_watchdog},
	{"fed while all cores turn", test_fed_while_all_turn},
	{"fed while one waits, for ten minutes", test_fed_while_one_waits},
	{"hungry when one hangs", test_hungry_when_one_hangs},
	{"a thread looks", test_thread_looks},
	CU_TEST_INFO_NULL,
};
