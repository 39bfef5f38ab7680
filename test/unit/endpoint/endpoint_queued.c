/* SPDX-License-Identifier: BSD-3-Clause */

/* What is queued for a listener decides whether it accepts a connection that asks for that. */

#include "../endpoint_rig.h"
#include "session/session_internal.h"

const char wh_suite_name[] = "endpoint_queued";

static enum wh_release_status ask(struct house *house, double queued_pkts_max)
{
	const struct wh_profile *pxp = wh_profile_find("pxp");
	struct wh_packet open = {.type = WH_PACKET_OPEN, .open = {.params = params_of(9)}};
	struct wh_profile_options options;
	struct wh_address to;

	wh_profile_options_init(&options, pxp);
	wh_profile_options_put(&options, pxp, "queued", queued_pkts_max);
	open.open.params.profile = pxp->number;
	open.open.params.period_us = 5000;
	open.open.params.n_options =
		(uint8_t)wh_profile_options_tell(&options, pxp, open.open.params.options);
	give(house, &open, &bob);
	return (enum wh_release_status)take(house, &to).accept.refused;
}

static void tell_queued(struct house *house, struct wh_session *session, uint32_t pkts)
{
	struct wh_packet packet = {
		.type = WH_PACKET_TRANS_REPORT,
		.cid = wh_session_cid(session),
		.pn = house->later_tsc++,
		.trans_report = {.lower = 1000, .upper = 1000, .queued_pkts = pkts},
	};
	struct wh_address to;

	give(house, &packet, &alice);
	turn(house, NOW + house->later_tsc);
	while (take(house, &to).type != 0)
		;
}

/* 30 and 20 packets: 50 are not more than 50, and 49 fewer. A lie counts as a window of 64. */
static void test_many(void)
{
	struct house house;
	struct wh_session *first;
	struct wh_session *second;

	house_open(&house);
	first = open_to(&house, 5);
	second = open_to(&house, 6);
	CU_ASSERT_EQUAL(ask(&house, 1), WH_STATUS_PENDING);
	tell_queued(&house, first, 30);
	tell_queued(&house, second, 20);
	CU_ASSERT_EQUAL(house.endpoint.rx->queued_pkts, 50);
	CU_ASSERT_EQUAL(ask(&house, 50), WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(ask(&house, 49), WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(ask(&house, 0), WH_STATUS_PENDING);
	tell_queued(&house, second, UINT32_MAX);
	CU_ASSERT_EQUAL(house.endpoint.rx->queued_pkts, 30 + 64);
	tell_queued(&house, second, 3);
	CU_ASSERT_EQUAL(house.endpoint.rx->queued_pkts, 33);
	close_out(&house, first);
	CU_ASSERT_EQUAL(house.endpoint.rx->queued_pkts, 3);
	close_out(&house, second);
	CU_ASSERT_EQUAL(house.endpoint.rx->queued_pkts, 0);
	house_close(&house);
}

CU_TestInfo wh_tests[] = {
	{"queued", test_many},
	CU_TEST_INFO_NULL,
};
