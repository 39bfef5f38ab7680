/* SPDX-License-Identifier: BSD-3-Clause */

/* Which stream is taken for which job: by its name, its peer's key and address, once. */

#include "job/paths/awaited.h"

#include <stdlib.h>
#include <string.h>

#include <CUnit/CUnit.h>

#include "base/chunk.h"
#include "seal/sa.h"
#include "unit.h"

const char wh_suite_name[] = "app/awaited";

#define REPLY UINT64_C(0x0123456789abcdef)

static const struct wh_address here = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 5760};
static const struct wh_address second = {.family = WH_IPV4, .ip = {198, 51, 100, 1}, .port = 5760};
static const struct wh_address else_where = {.family = WH_IPV4, .ip = {203, 0, 113, 9}};

static struct wh_jobs *jobs;
static struct wh_job *job;
static struct wh_service service;
static struct wh_sa *own, *other;

static struct wh_sa *sa_of(uint8_t key)
{
	struct wh_sa *sa = calloc(1, sizeof(*sa));

	CU_ASSERT_PTR_NOT_NULL_FATAL(sa);
	memset(sa->config.peer_identity, key, sizeof(sa->config.peer_identity));
	return sa;
}

/* A job of a client with two ports, to a server that has named its second address. */
void wh_set_up(void)
{
	jobs = calloc(1, sizeof(*jobs));
	job = calloc(1, sizeof(*job));
	CU_ASSERT_FATAL(jobs != NULL && job != NULL);
	TAILQ_INIT(&jobs->awaiting);
	service =
		(struct wh_service){.allow = {{.address = second, .prefix_bits = 24}}, .allows = 1};
	jobs->service = &service;
	own = sa_of(1);
	other = sa_of(2);

	job->jobs = jobs;
	job->role = WH_AT_CLIENT;
	job->request.verb = WH_JOB_SEND;
	job->request.ports = 2;
	job->place.reply = REPLY;
	job->place.peer = job->streams.path[0].peer = here;
	job->streams.path[1].peer = second;
	job->sealed.cipher = WH_CIPHER_AES_128_GCM;
	memcpy(job->sealed.peer_id, own->config.peer_identity, sizeof(job->sealed.peer_id));
	wh_job_await(job);
}

void wh_take_down(void)
{
	wh_job_await_no_more(job);
	CU_ASSERT_TRUE(TAILQ_EMPTY(&jobs->awaiting));
	free(own);
	free(other);
	free(job);
	free(jobs);
}

static bool is_awaited(
	const char *name, const struct wh_address *peer, const struct wh_sa *sa, uint32_t bytes)
{
	uint32_t chunk_bytes = wh_awaited_chunk_bytes(jobs, name, peer, sa);

	CU_ASSERT(chunk_bytes == 0 || chunk_bytes == bytes);
	return chunk_bytes != 0;
}

static bool is_known(const char *name, const struct wh_address *peer, const struct wh_sa *sa)
{
	return is_awaited(name, peer, sa, WH_ANSWER_CHUNK_BYTES);
}

static void names(void)
{
	static const char *const wrong[] = {"", "reply", "reply 0123456789abcdee",
		"reply 0123456789abcdef0", "reply 0123456789abcdef ", "path 1 of 0123456789abcdee",
		"path 4 of 0123456789abcdef", "path -1 of 0123456789abcdef",
		"path 11 of 0123456789abcdef", "path 1 of 0123456789abcdef0", "path 1 of ",
		"path 1", "job"};

	CU_ASSERT_TRUE(is_known("reply 0123456789abcdef", &here, own));
	CU_ASSERT_TRUE(is_known("path 1 of 0123456789abcdef", &second, own));
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_FALSE(is_known(wrong[i], &here, own));
		CU_ASSERT_FALSE(is_known(wrong[i], &second, own));
	}
}

static void strangers(void)
{
	const char *path = "path 1 of 0123456789abcdef";

	CU_ASSERT_FALSE(is_known(path, &second, other));
	CU_ASSERT_FALSE(is_known(path, &second, NULL));
	CU_ASSERT_FALSE(is_known(path, &here, own));
	CU_ASSERT_FALSE(is_known(path, &else_where, own));
	CU_ASSERT_FALSE(is_known("reply 0123456789abcdef", &second, own));
	job->sealed.cipher = 0;
	CU_ASSERT_FALSE(is_known(path, &second, own));
	CU_ASSERT_TRUE(is_known(path, &second, NULL));
	job->request.ports = 1; /* it wants no further path */
	CU_ASSERT_FALSE(is_known(path, &second, NULL));
}

/* At a server a path comes from wherever its client may be, and a reply never does. */
static void at_a_server(void)
{
	job->role = WH_AT_SERVER;
	CU_ASSERT_TRUE(
		is_awaited("path 2 of 0123456789abcdef", &second, own, WH_CHUNK_BYTES_DEFAULT));
	CU_ASSERT_FALSE(is_known("path 2 of 0123456789abcdef", &else_where, own));
	CU_ASSERT_FALSE(is_known("path 2 of 0123456789abcdef", &second, other));
	CU_ASSERT_FALSE(is_known("reply 0123456789abcdef", &here, own));
}

static void a_seat_is_taken_once(void)
{
	uint32_t index;

	CU_ASSERT_PTR_EQUAL(
		wh_awaited_take(jobs, "path 1 of 0123456789abcdef", &second, own, &index), job);
	CU_ASSERT_EQUAL(index, 1);
	CU_ASSERT_PTR_NULL(
		wh_awaited_take(jobs, "path 1 of 0123456789abcdef", &second, own, &index));
	CU_ASSERT_PTR_EQUAL(
		wh_awaited_take(jobs, "reply 0123456789abcdef", &here, own, &index), job);
	CU_ASSERT_EQUAL(index, 0);
	wh_job_await_no_more(job);
	CU_ASSERT_FALSE(is_known("reply 0123456789abcdef", &here, own));
}

CU_TestInfo wh_tests[] = {
	{"names", names},
	{"strangers", strangers},
	{"at a server", at_a_server},
	{"a seat is taken once", a_seat_is_taken_once},
	CU_TEST_INFO_NULL,
};
