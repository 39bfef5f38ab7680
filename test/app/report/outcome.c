/* SPDX-License-Identifier: BSD-3-Clause */

/* What is said of several jobs, and with which exit status. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/fault_text.h"
#include "cli/signals.h"
#include "report/outcome.h"
#include "unit.h"
#include "wire/packet.h"

const char wh_suite_name[] = "app/outcome";

static const struct wh_host_settings settings = {.mtu_bytes = 1500};
static struct wh_host_ctx ctx = {.settings = &settings};
static struct wh_jobs jobs = {.ctx = &ctx};

#define LANES 3

static int conclude(struct wh_job *lanes)
{
	struct wh_job *job[LANES];

	for (uint32_t i = 0; i < LANES; i++) {
		lanes[i].jobs = &jobs;
		lanes[i].request.peer_timeout_ns = UINT64_C(7000000000);
		lanes[i].request.stall_timeout_ns = UINT64_C(9000000000);
		job[i] = &lanes[i];
	}
	return wh_jobs_conclude(job, LANES, "host");
}

/* A lane's failure ends the others as interrupted, wherever it stands. */
static void test_who_speaks(void)
{
	static const struct {
		enum wh_release_status failed[LANES];
		int status;
		const char *says;
	} cases[] = {
		{{0, 0, 0}, WH_EXIT_OK, NULL},
		{{WH_STATUS_MISMATCH, 0, 0}, WH_EXIT_VERIFY, "differs from the data sent"},
		{{WH_STATUS_INTERRUPTED, WH_STATUS_MISMATCH, WH_STATUS_INTERRUPTED}, WH_EXIT_VERIFY,
			"differs from the data sent"},
		{{WH_STATUS_INTERRUPTED, WH_STATUS_INTERRUPTED, WH_STATUS_NO_SPACE}, WH_EXIT_OTHER,
			"disk is full"},
		{{WH_STATUS_NO_SPACE, WH_STATUS_INTERRUPTED, WH_STATUS_MISMATCH}, WH_EXIT_OTHER,
			"disk is full"},
		{{WH_STATUS_INTERRUPTED, 0, 0}, WH_EXIT_NETWORK, "its server was stopped"},
		{{0, WH_STATUS_INTERRUPTED, 0}, WH_EXIT_NETWORK, "its server was stopped"},
		{{0, 0, WH_STATUS_BUSY}, WH_EXIT_NETWORK, "no room for another session"},
		{{WH_STATUS_UNHEARD, 0, 0}, WH_EXIT_NETWORK, "nothing from here arrived there"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_job lanes[LANES] = {0};

		for (uint32_t lane = 0; lane < LANES; lane++)
			lanes[lane].result.failed = cases[i].failed[lane];
		CU_ASSERT_EQUAL(conclude(lanes), cases[i].status);
		if (cases[i].says != NULL)
			CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), cases[i].says));
	}
}

/* Only the end that sends knows what held the flow up; before it flows, that it did not begin. */
static void test_stalled(void)
{
	static const struct {
		uint8_t verb;
		bool reverse;
		uint64_t began_tsc;
		const char *says;
	} cases[] = {
		{WH_JOB_SEND, false, 1, "no progress for 9 s: the disk that is read is too slow;"},
		{WH_JOB_SEND, false, 0,
			"no progress for 9 s: the transfer did not begin, although"},
		{WH_JOB_GET, false, 0, "no progress for 9 s: the transfer did not begin, although"},
		{WH_JOB_GET, false, 1, "no progress for 9 s; --stall-timeout"},
		{WH_JOB_BENCH, false, 1, "no progress for 9 s: the disk that is read is too slow;"},
		{WH_JOB_BENCH, true, 1, "no progress for 9 s; --stall-timeout"},
		{WH_JOB_IDLE, false, 1, "no progress for 9 s; --stall-timeout"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_job lanes[LANES] = {{
			.result.failed = WH_STATUS_STALLED,
			.request = {.verb = cases[i].verb, .reverse = cases[i].reverse},
			.ready.began_tsc = cases[i].began_tsc,
			.result.figures.limited_by = WH_LIMIT_DISK,
		}};

		CU_ASSERT_EQUAL(conclude(lanes), WH_EXIT_STALLED);
		CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), cases[i].says));
	}
}

/* A path that swallows what is sent is not the fault of a rate. */
static void test_why_stalled(void)
{
	static const struct {
		enum wh_limit limit;
		const char *says;
	} cases[] = {
		{WH_LIMIT_RATE, "none of their data is acknowledged"},
		{WH_LIMIT_CPU, "none of their data is acknowledged"},
		{WH_LIMIT_WINDOW, "none of their data is acknowledged"},
		{WH_LIMIT_MEMORY, "the receiver accepts no more data"},
		{WH_LIMIT_PEER, "the receiver accepts no more data"},
		{WH_LIMIT_DISK, "the disk that is read is too slow"},
		{WH_LIMIT_PEER_DISK, "the receiver's disk is too slow"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(wh_stall_text(cases[i].limit), cases[i].says));
}

/* The watch knows more than the session. */
static void test_who_waits(void)
{
	struct wh_job lanes[LANES] = {{
		.result.failed = WH_STATUS_STALLED,
		.result.stalled = true,
		.result.why = "the source waits for the disk; the sink says nothing",
		.ready.began_tsc = 1,
	}};

	CU_ASSERT_EQUAL(conclude(lanes), WH_EXIT_STALLED);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(),
		"no progress for 9 s: the source waits for the disk; the sink "
		"says nothing; --stall-timeout sets a longer wait"));
}

/* Told from a twentieth of the time on, whichever lanes it was. */
static void test_memory(void)
{
	static const struct {
		uint64_t memory_tsc;
		const char *says;
	} cases[] = {
		{0, NULL},
		{100, NULL},
		{101, "for 5 % of the time"},
		{1000, "for 50 % of the time"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_job lanes[LANES] = {0};
		struct wh_job *const job[] = {&lanes[0], &lanes[1]};
		char said[256] = "";
		FILE *file = tmpfile();
		int stderr_fd = dup(STDERR_FILENO);

		lanes[0].result.figures.stats.limit_tsc[WH_LIMIT_RATE] = 2000 - cases[i].memory_tsc;
		lanes[1].result.figures.stats.limit_tsc[WH_LIMIT_MEMORY] = cases[i].memory_tsc;
		fflush(stderr);
		dup2(fileno(file), STDERR_FILENO);
		wh_jobs_tell_memory(job, 2);
		dup2(stderr_fd, STDERR_FILENO);
		close(stderr_fd);
		rewind(file);

		size_t bytes = fread(said, 1, sizeof(said) - 1, file);

		fclose(file);
		if (cases[i].says == NULL)
			CU_ASSERT_EQUAL(bytes, 0)
		else
			CU_ASSERT_PTR_NOT_NULL(strstr(said, cases[i].says));
	}
}

static void test_refused(void)
{
	static const struct {
		int error;
		int status;
		const char *why;
		uint64_t began_tsc;
		const char *says;
	} cases[] = {
		{ENOENT, WH_EXIT_NO_FILE, "because", 0, "host refuses: because"},
		{EACCES, WH_EXIT_OTHER, "because", 0, "host refuses: because"},
		{EPROTONOSUPPORT, WH_EXIT_HARDWARE, "because", 0, "host refuses: because"},
		{0, WH_EXIT_NETWORK, "", 0, "host refuses the connection"},
		{0, WH_EXIT_NETWORK, "", 1, "byte quota there for today"},
		{0, WH_EXIT_NETWORK, "nobody knows you", 0, "with host: nobody knows you"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_job lanes[LANES] = {{
			.result.failed = WH_STATUS_REFUSED,
			.result.refused_error = cases[i].error,
			.ready.began_tsc = cases[i].began_tsc,
		}};

		strcpy(lanes[0].result.why, cases[i].why);
		CU_ASSERT_EQUAL(conclude(lanes), cases[i].status);
		CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), cases[i].says));
	}
}

/* Another version of packets at the other end: one sentence has both. */
static void test_versions(void)
{
	struct wh_job lanes[LANES] = {{
		.result.failed = WH_STATUS_REFUSED,
		.result.peer_least = WH_WIRE_VERSION + 1,
		.result.peer_most = WH_WIRE_VERSION + 1,
	}};
	char says[80];

	CU_ASSERT_EQUAL(conclude(lanes), WH_EXIT_HARDWARE);
	snprintf(says, sizeof(says), "host uses packet format %u, this end format %u: install",
		WH_WIRE_VERSION + 1, WH_WIRE_VERSION);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), says));
	lanes[0].result.peer_most++;
	CU_ASSERT_EQUAL(conclude(lanes), WH_EXIT_HARDWARE);
	snprintf(says, sizeof(says), "host uses packet formats %u to %u, this end",
		WH_WIRE_VERSION + 1, WH_WIRE_VERSION + 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), says));
}

/* What a server says is put on a terminal, and does nothing there. */
static void test_plain(void)
{
	struct wh_job lanes[LANES] = {{
		.result.failed = WH_STATUS_REFUSED,
		.result.refused_error = EACCES,
		.result.why = "a\x1b[2Jb\nc\rd\x7f \xc3\xa4",
	}};

	CU_ASSERT_EQUAL(conclude(lanes), WH_EXIT_OTHER);
	CU_ASSERT_STRING_EQUAL(
		wh_last_complaint(), "host refuses: a\\x1b[2Jb\\x0ac\\x0dd\\x7f \xc3\xa4");
}

/* Ctrl-C: what the next command continues with is what is kept. The last test: it stays caught. */
static void test_interrupted(void)
{
	static const struct {
		uint8_t verb;
		enum wh_resume resume;
		bool is_pipe, journal;
		const char *says;
	} cases[] = {
		{WH_JOB_SEND, WH_RESUME_SPARSE, false, false, "interrupted; the same command"},
		{WH_JOB_GET, WH_RESUME_SPARSE, false, true, "interrupted; the same command"},
		{WH_JOB_GET, WH_RESUME_SPARSE, false, false, "nothing of incomplete files"},
		{WH_JOB_SEND, WH_RESUME_OFF, false, true, "nothing of incomplete files"},
		{WH_JOB_SEND, WH_RESUME_SPARSE, true, true, "nothing of incomplete files"},
		{WH_JOB_BENCH, WH_RESUME_SPARSE, false, true, "interrupted"},
	};
	const struct wh_journal *journal = (const struct wh_journal *)&cases;

	wh_signals_catch();
	raise(SIGINT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_jobs ours = {.journal = cases[i].journal ? (void *)journal : NULL};
		struct wh_job job = {.jobs = &ours,
			.request = {.verb = cases[i].verb,
				.resume = cases[i].resume,
				.here.is_pipe = cases[i].is_pipe},
			.result.failed = WH_STATUS_INTERRUPTED};
		struct wh_job *const lanes[] = {&job};

		CU_ASSERT_EQUAL(wh_jobs_conclude(lanes, 1, "host"), WH_EXIT_INTERRUPTED);
		CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), cases[i].says));
	}
}

CU_TestInfo wh_tests[] = {
	{"who speaks", test_who_speaks},
	{"stalled", test_stalled},
	{"why stalled", test_why_stalled},
	{"who waits", test_who_waits},
	{"memory", test_memory},
	{"refused", test_refused},
	{"versions", test_versions},
	{"plain", test_plain},
	{"interrupted", test_interrupted},
	CU_TEST_INFO_NULL,
};
