/* SPDX-License-Identifier: BSD-3-Clause */

/* Who may probe the way to a server, and when. */

#include "job/jobs.h"
#include "unit.h"

const char wh_suite_name[] = "app/job_probe";

static const struct wh_address near = {.family = WH_IPV4, .ip = {192, 0, 2, 9}, .port = 5760};
static const struct wh_address far = {.family = WH_IPV4, .ip = {192, 0, 3, 9}, .port = 5760};

static struct wh_service service = {
	.allow = {{.address = {.family = WH_IPV4, .ip = {192, 0, 2, 1}}, .prefix_bits = 24}},
	.allows = 1,
};

static void who(void)
{
	static struct wh_jobs jobs;

	/* A client serves nobody. */
	CU_ASSERT_EQUAL(wh_jobs_may_probe(&jobs, 1, &near, NULL), WH_STATUS_REFUSED);
	jobs.service = &service;
	CU_ASSERT_EQUAL(wh_jobs_may_probe(&jobs, 1, &near, NULL), WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(wh_jobs_may_probe(&jobs, 1, &far, NULL), WH_STATUS_REFUSED);
}

/* Trains would cost a job's packets, and a server that is stopping does not begin anything. */
static void when(void)
{
	static struct wh_jobs jobs = {.service = &service};

	atomic_store(&jobs.live, 1);
	CU_ASSERT_EQUAL(wh_jobs_may_probe(&jobs, 1, &near, NULL), WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(wh_jobs_may_probe(&jobs, 1, &far, NULL), WH_STATUS_REFUSED);
	atomic_store(&jobs.live, 0);
	CU_ASSERT_EQUAL(wh_jobs_may_probe(&jobs, 1, &near, NULL), WH_STATUS_PENDING);
	atomic_store(&jobs.draining, true);
	CU_ASSERT_EQUAL(wh_jobs_may_probe(&jobs, 1, &near, NULL), WH_STATUS_BUSY);
}

CU_TestInfo wh_tests[] = {
	{"who", who},
	{"when", when},
	CU_TEST_INFO_NULL,
};
