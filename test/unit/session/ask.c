/* SPDX-License-Identifier: BSD-3-Clause */

/* What users on other cores ask of a session, and the news that they hear of it. */

#include "../../rig/end.h"
#include "unit.h"

#include "endpoint/endpoint.h"
#include "endpoint/lifecycle.h"

const char wh_suite_name[] = "ask";

#define HZ     UINT64_C(1000000000)
#define NOW    (10 * HZ)
#define CHUNKS 2

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

/* A receiver that nobody polls but the test: its wishes wait for that. */
struct rig {
	uint8_t *memory;
	struct wh_session *session;
};

static struct wh_session_config config_with(uint8_t *memory)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, HZ, 4096, CHUNKS, 64);
	config.chunk_memory = memory;
	return config;
}

static void rig_open(struct rig *rig)
{
	rig->memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * 4096);

	struct wh_session_config config = config_with(rig->memory);
	const struct wh_open_params params = wh_rig_open_params(&config, 0);

	rig->session = wh_session_accept(&config, NOW, 0x41, &peer, &params, HZ / 1000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->session);
}

static void rig_close(struct rig *rig)
{
	wh_session_destroy(rig->session);
	free(rig->memory);
}

static void assert_news(
	const struct wh_session *session, enum wh_phase phase, enum wh_release_status outcome)
{
	struct wh_session_news news = wh_session_news(session);

	CU_ASSERT_EQUAL(news.phase, phase);
	CU_ASSERT_EQUAL(news.outcome, outcome);
}

static void test_granted_on_owner_core(void)
{
	struct rig rig;

	rig_open(&rig);
	assert_news(rig.session, WH_PHASE_RUNNING, WH_STATUS_PENDING);
	wh_session_ask(rig.session, WH_WISH_ABORT, WH_STATUS_IO_ERROR);
	assert_news(rig.session, WH_PHASE_RUNNING, WH_STATUS_PENDING);
	CU_ASSERT_TRUE(wh_session_poll(rig.session, NOW) > 0);
	assert_news(rig.session, WH_PHASE_RELEASING, WH_STATUS_IO_ERROR);
	CU_ASSERT_EQUAL(wh_session_outcome(rig.session), WH_STATUS_IO_ERROR);
	rig_close(&rig);
}

/* A status is the one that came first, never two of them in one. */
static void test_first_of_a_kind_counts(void)
{
	struct rig rig;

	rig_open(&rig);
	wh_session_ask(rig.session, WH_WISH_ABORT, WH_STATUS_MISMATCH);
	wh_session_ask(rig.session, WH_WISH_ABORT, WH_STATUS_REFUSED);
	wh_session_poll(rig.session, NOW);
	assert_news(rig.session, WH_PHASE_RELEASING, WH_STATUS_MISMATCH);
	/* Nor does one that comes later, of whatever kind. */
	wh_session_ask(rig.session, WH_WISH_ABORT, WH_STATUS_STALLED);
	wh_session_ask(rig.session, WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
	wh_session_poll(rig.session, NOW);
	CU_ASSERT_EQUAL(wh_session_outcome(rig.session), WH_STATUS_MISMATCH);
	rig_close(&rig);
}

static void test_sink_done(void)
{
	static const enum wh_release_status statuses[] = {
		WH_STATUS_VERIFIED, WH_STATUS_MISMATCH, WH_STATUS_NO_SPACE, WH_STATUS_IO_ERROR};

	for (uint32_t i = 0; i < 4; i++) {
		struct rig rig;

		rig_open(&rig);
		wh_session_ask(rig.session, WH_WISH_SINK_DONE, statuses[i]);
		wh_session_poll(rig.session, NOW);
		assert_news(rig.session, WH_PHASE_RELEASING, statuses[i]);
		rig_close(&rig);
	}
}

/* A file that has its name is there, whatever is asked for in the same moment. */
static void test_all_at_once(void)
{
	struct rig rig;

	rig_open(&rig);
	wh_session_ask(rig.session, WH_WISH_ABORT, WH_STATUS_INTERRUPTED);
	wh_session_ask(rig.session, WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
	wh_session_poll(rig.session, NOW);
	assert_news(rig.session, WH_PHASE_RELEASING, WH_STATUS_VERIFIED);
	rig_close(&rig);
}

static void test_owner_core_is_heard_at_once(void)
{
	struct rig rig;

	rig_open(&rig);
	wh_session_sink_done(rig.session, NOW, WH_STATUS_NO_SPACE);
	assert_news(rig.session, WH_PHASE_RELEASING, WH_STATUS_NO_SPACE);
	rig_close(&rig);

	rig_open(&rig);
	wh_session_abort(rig.session, NOW, WH_STATUS_STALLED);
	assert_news(rig.session, WH_PHASE_RELEASING, WH_STATUS_STALLED);
	rig_close(&rig);
}

struct owner {
	uint32_t gone;
};

static void session_gone(void *context, struct wh_session *session)
{
	struct owner *owner = context;

	(void)session;
	owner->gone++;
}

/* Asked before, while and after the session gets its place: a wish is never lost. */
static void test_asked_while_it_opens(void)
{
	static const enum wh_release_status outcomes[] = {
		WH_STATUS_INTERRUPTED, WH_STATUS_INTERRUPTED, WH_STATUS_IO_ERROR};

	for (uint32_t i = 0; i < 3; i++) {
		struct owner owner = {0};
		struct wh_endpoint endpoint;
		struct wh_endpoint_config endpoint_config = {
			.hz = HZ, .places = 64, .gone = session_gone, .context = &owner};
		uint8_t *memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * 4096);
		struct wh_session_config config = config_with(memory);
		struct wh_session *session = wh_session_open(&config, &peer, "", 1);

		CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(&endpoint, &endpoint_config), 0);
		CU_ASSERT_EQUAL_FATAL(wh_endpoint_open(&endpoint, session), 0);
		wh_session_set_context(session, &owner);
		CU_ASSERT_PTR_EQUAL(wh_session_context(session), &owner);
		if (i == 1)
			wh_endpoint_send_poll(&endpoint, NOW);
		if (i == 2)
			wh_session_ask(session, WH_WISH_ABORT, WH_STATUS_IO_ERROR);
		wh_session_ask(session, WH_WISH_CLOSE, WH_STATUS_PENDING);
		CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&endpoint), 0);
		for (uint32_t turns = 0; turns < 4; turns++) {
			struct wh_out out = {.head = (uint8_t[WH_CONTROL_BYTES_MAX]){0}};

			wh_endpoint_receive_poll(&endpoint, NOW + 1);
			wh_endpoint_send_poll(&endpoint, NOW + 1);
			wh_endpoint_output(&endpoint, NOW + 1, &out, 1);
		}
		CU_ASSERT_EQUAL(owner.gone, 1);
		assert_news(session, WH_PHASE_CLOSED, outcomes[i]);
		wh_session_destroy(session);
		wh_endpoint_free(&endpoint);
		free(memory);
	}
}

CU_TestInfo wh_tests[] = {
	{"granted on the owner core", test_granted_on_owner_core},
	{"the first of a kind counts", test_first_of_a_kind_counts},
	{"sink done", test_sink_done},
	{"all at once", test_all_at_once},
	{"the owner core is heard at once", test_owner_core_is_heard_at_once},
	{"asked while it opens", test_asked_while_it_opens},
	CU_TEST_INFO_NULL,
};
