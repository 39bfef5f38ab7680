/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs that wait for their SA: with a server that trusts them, or does not, or is not there. */

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "story.h"
#include "unit.h"

const char wh_suite_name[] = "jobs/sas";

static struct wh_identity alice;
static struct wh_identity bob;
static struct wh_handshake_settings alices;
static struct wh_handshake_settings bobs;
static bool trusts_all; /* whoever begins from now on */

static enum wh_authorization authorize_all(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	(void)context;
	(void)stranger;
	granted->rights = 1;
	return WH_AUTHORIZED;
}

static struct wh_handshake_settings settings_of(const struct wh_identity *identity)
{
	return (struct wh_handshake_settings){
		.identity = identity,
		.ciphers = 1 << WH_CIPHER_AES_128_GCM,
		.authorizer = {.authorize = trusts_all ? authorize_all : NULL},
	};
}

static void begin(const struct wh_handshake_settings *servers)
{
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&alice), 0);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&bob), 0);
	alices = settings_of(&alice);
	bobs = settings_of(&bob);
	story.handshake = servers;
	story_open(UINT64_C(100000000));
}

static void end(void)
{
	story_close();
	story.handshake = NULL;
	wh_identity_free(&alice);
	wh_identity_free(&bob);
}

/* Three lanes to the first server, until they are over; how long it took. */
static uint64_t visit_server(struct visit *visit, const struct wh_handshake_settings *clients)
{
	static struct tree tree;
	const struct visit_config plain = {
		.client = STORY_CLIENT,
		.verb = WH_JOB_SEND,
		.lanes = 3,
		.tree = &tree,
		.settings = story_settings(),
		.request = story_request(UINT64_C(40000000)),
	};
	struct visit_config config = plain;

	config.settings.handshake = clients;
	story_plant(&tree, 1);
	visit_prepare(&config, story.folder);
	visit_begin(visit, &story.house, &config, story.folder);
	while (!visit->over && story_can_wait(60 * WH_NS_PER_S))
		;
	CU_ASSERT(visit->over);
	return visit->ended_ns - visit->began_ns;
}

static const struct wh_handshakes_stats *servers_stats(void)
{
	return &story.house.process[0].host.handshake.handshakes.stats;
}

/* One handshake, whatever the number of lanes. */
static void test_own_key(void)
{
	struct visit visit;

	begin(&alices);
	CU_ASSERT(visit_server(&visit, &alices) < 2 * WH_NS_PER_S);
	story_check_whole(&visit, visit.result);
	CU_ASSERT_EQUAL(servers_stats()->began, 1);
	CU_ASSERT_EQUAL(servers_stats()->sas, 1);
	end();
}

/* Two keys, each trusted at the other end. */
static void test_trusted(void)
{
	struct visit visit;

	trusts_all = true;
	begin(&bobs);
	visit_server(&visit, &alices);
	story_check_whole(&visit, visit.result);
	CU_ASSERT_EQUAL(servers_stats()->sas, 1);
	trusts_all = false;
	end();
}

static void test_not_trusted_there(void)
{
	struct visit visit;

	begin(&bobs);
	alices.authorizer.authorize = authorize_all;
	CU_ASSERT(visit_server(&visit, &alices) < WH_NS_PER_S / 2);
	CU_ASSERT_EQUAL(visit.status, WH_STATUS_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(visit.why, "the server does not trust this end, "));
	CU_ASSERT_EQUAL(servers_stats()->refused, 1);
	end();
}

static void test_not_trusted_here(void)
{
	struct visit visit;

	begin(&bobs);
	CU_ASSERT(visit_server(&visit, &alices) < WH_NS_PER_S / 2);
	CU_ASSERT_EQUAL(visit.status, WH_STATUS_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(visit.why, "is not trusted here"));
	end();
}

static void test_no_cipher(void)
{
	struct visit visit;

	begin(&alices);
	bobs = alices;
	bobs.ciphers = 1 << WH_CIPHER_AES_256_GCM;
	CU_ASSERT(visit_server(&visit, &bobs) < WH_NS_PER_S / 2);
	CU_ASSERT_EQUAL(visit.status, WH_STATUS_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(visit.why, "no cipher in common"));
	end();
}

/* Who seals nothing says so to who asks. Anybody could: it takes a second to be believed. */
static void test_unsealed_server(void)
{
	struct visit visit;

	begin(NULL);

	uint64_t took_ns = visit_server(&visit, &alices);

	CU_ASSERT(took_ns > WH_NS_PER_S && took_ns < 3 * WH_NS_PER_S / 2);
	CU_ASSERT_EQUAL(visit.status, WH_STATUS_REFUSED);
	CU_ASSERT_PTR_NOT_NULL(strstr(visit.why, "--unsealed"));
	end();
}

/* Nobody is there: that is found out as it is of a server without handshakes. */
static void test_silent_server(void)
{
	struct visit visit;

	begin(&alices);
	house_end(&story.house, 0, HOUSE_KILLED);

	uint64_t took_ns = visit_server(&visit, &alices);

	CU_ASSERT(took_ns > 3 * WH_NS_PER_S && took_ns < 4 * WH_NS_PER_S);
	CU_ASSERT_EQUAL(visit.status, WH_STATUS_PEER_GONE);
	end();
}

CU_TestInfo wh_tests[] = {
	{"our own key", test_own_key},
	{"trusted", test_trusted},
	{"not trusted there", test_not_trusted_there},
	{"not trusted here", test_not_trusted_here},
	{"no cipher", test_no_cipher},
	{"an unsealed server", test_unsealed_server},
	{"a silent server", test_silent_server},
	CU_TEST_INFO_NULL,
};
