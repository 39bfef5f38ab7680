/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/sent.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "sim_tcp_sent";

static struct wh_sim_sent sent;

static void send_first(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		wh_sim_sent_note(&sent, 1000 + sent.end, sent.end);
}

static void counts_what_is_under_way(void)
{
	wh_sim_sent_init(&sent);
	send_first(10);
	CU_ASSERT_EQUAL(wh_sim_sent_in_flight(&sent), 10);
	wh_sim_sent_sack(&sent, 5);
	wh_sim_sent_lose(&sent, 0);
	wh_sim_sent_lose(&sent, 3);
	CU_ASSERT_EQUAL(wh_sim_sent_in_flight(&sent), 7);
	CU_ASSERT_EQUAL(wh_sim_sent_lowest_lost(&sent), 0);
	CU_ASSERT_TRUE(wh_sim_sent_note(&sent, 2000, 0)->twice);
	CU_ASSERT_EQUAL(wh_sim_sent_in_flight(&sent), 8);
	CU_ASSERT_EQUAL(wh_sim_sent_lowest_lost(&sent), 3);
	/* What went instead is lost, too. */
	wh_sim_sent_lose(&sent, 0);
	CU_ASSERT_EQUAL(wh_sim_sent_in_flight(&sent), 7);
	CU_ASSERT_EQUAL(wh_sim_sent_lowest_lost(&sent), 0);
	CU_ASSERT_EQUAL(sent.lost_ever_pkts, 3);
	/* And arrives after all: nobody asks for it again. */
	wh_sim_sent_pass(&sent);
	wh_sim_sent_sack(&sent, 3);
	CU_ASSERT_EQUAL(wh_sim_sent_lowest_lost(&sent), WH_SIM_NO_PN);
	CU_ASSERT_EQUAL(wh_sim_sent_in_flight(&sent), 7);
	wh_sim_sent_free(&sent);
}

static void lists_by_the_time_they_went(void)
{
	static const uint64_t order[] = {0, 3, 4, 1};
	uint64_t pn;

	wh_sim_sent_init(&sent);
	send_first(5);
	wh_sim_sent_lose(&sent, 1);
	wh_sim_sent_note(&sent, 2000, 1);
	wh_sim_sent_sack(&sent, 2);
	pn = sent.oldest;
	for (int i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL_FATAL(pn, order[i]);
		pn = wh_sim_sent_slot(&sent, pn)->later;
	}
	CU_ASSERT_EQUAL(pn, WH_SIM_NO_PN);
	CU_ASSERT_EQUAL(sent.newest, 1);
	wh_sim_sent_free(&sent);
}

static void skips_what_has_arrived(void)
{
	wh_sim_sent_init(&sent);
	send_first(10);
	for (uint64_t s = 3; s < 6; s++)
		wh_sim_sent_sack(&sent, s);
	wh_sim_ranges_add(&sent.sacked, 3, 6);
	CU_ASSERT_EQUAL(wh_sim_sent_unsacked(&sent, 2, 9), 2);
	CU_ASSERT_EQUAL(wh_sim_sent_unsacked(&sent, 3, 9), 6);
	CU_ASSERT_EQUAL(wh_sim_sent_unsacked(&sent, 3, 5), 5);
	wh_sim_sent_free(&sent);
}

static void forgives_all_losses(void)
{
	wh_sim_sent_init(&sent);
	send_first(4);
	wh_sim_sent_lose(&sent, 0);
	wh_sim_sent_lose(&sent, 1);
	wh_sim_sent_note(&sent, 2000, 0);
	wh_sim_sent_sack(&sent, 3);
	wh_sim_sent_lose_none(&sent);
	CU_ASSERT_EQUAL(wh_sim_sent_in_flight(&sent), 3);
	CU_ASSERT_EQUAL(wh_sim_sent_lowest_lost(&sent), WH_SIM_NO_PN);
	CU_ASSERT_TRUE(wh_sim_sent_slot(&sent, 1)->listed);
	CU_ASSERT_FALSE(wh_sim_sent_slot(&sent, 3)->listed);
	wh_sim_sent_free(&sent);
}

/* Any order of events, against a plain count; the window wraps round the slots many times. */
static void keeps_its_counts_whatever_happens(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 3);
	wh_sim_sent_init(&sent);
	for (int i = 0; i < 40000; i++) {
		uint64_t span = sent.end - sent.una;
		uint64_t pn = span == 0 ? sent.end : sent.una + wh_prng_below(&prng, span);
		uint64_t sacked = 0, lost = 0, again = 0;
		struct wh_sim_sent_slot *slot;

		if (span < 300 && wh_prng_below(&prng, 2) == 0)
			wh_sim_sent_note(&sent, (uint64_t)i + 1, sent.end);
		if (span == 0)
			continue;
		slot = wh_sim_sent_slot(&sent, pn);
		switch (wh_prng_below(&prng, 4)) {
		case 0:
			wh_sim_sent_pass(&sent);
			break;
		case 1:
			if (pn > sent.una && !slot->sacked)
				wh_sim_sent_sack(&sent, pn);
			break;
		case 2:
			if (!slot->sacked && (!slot->lost || slot->again))
				wh_sim_sent_lose(&sent, pn);
			break;
		case 3:
			pn = wh_sim_sent_lowest_lost(&sent);
			if (pn != WH_SIM_NO_PN)
				wh_sim_sent_note(&sent, (uint64_t)i + 1, pn);
			break;
		}
		for (uint64_t s = sent.una; s < sent.end; s++) {
			slot = wh_sim_sent_slot(&sent, s);
			sacked += slot->sacked;
			lost += slot->lost;
			again += slot->again;
			CU_ASSERT_EQUAL_FATAL(
				slot->listed, !slot->sacked && (!slot->lost || slot->again));
		}
		CU_ASSERT_EQUAL_FATAL(sent.sacked_pkts, sacked);
		CU_ASSERT_EQUAL_FATAL(sent.lost_pkts, lost);
		CU_ASSERT_EQUAL_FATAL(sent.retransmitted_pkts, again);
	}
	wh_sim_sent_free(&sent);
}

CU_TestInfo wh_tests[] = {
	{"counts what is under way", counts_what_is_under_way},
	{"lists by the time they went", lists_by_the_time_they_went},
	{"skips what has arrived", skips_what_has_arrived},
	{"forgives all losses", forgives_all_losses},
	{"keeps its counts whatever happens", keeps_its_counts_whatever_happens},
	CU_TEST_INFO_NULL,
};
