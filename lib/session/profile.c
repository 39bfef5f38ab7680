/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/profile.h"

#include <stddef.h>
#include <string.h>

#include "measure/constants.h"

static const struct wh_profile profiles[] = {
	{
		.number = 1,
		.name = "fixed",
		.summary =
			"the operator names the rate; complete state and NAK (dedicated lambdas)",
		.control = &wh_control_fixed,
		.period_us = WH_UDT_SYN_US,
		.state_bytes = UINT32_C(512) << 10, /* half a second-level cache of today's cores */
		.control_is_paced = true,
		/*
		 * Many more than UDT's one: on a lossy path at line rate a round trip's worth of
		 * lost retransmissions must fit into a round trip's worth of reports.
		 */
		.nak_packets_max = 16,
		.code = WH_FEC_RS,
	},
	{
		.number = 2,
		.name = "udt",
		.summary = "UDT: AIMD by measured capacity, ACK/ACK2/NAK, delay warnings",
		.control = &wh_control_udt,
		.period_us = WH_UDT_SYN_US,
		.pair_period_pkts = WH_PAIR_PERIOD_PKTS,
		.state_on_news_only = true,
		.delay_warnings = true,
		.nak_packets_max = 1, /* III E: only those that fit into one NAK packet */
		.code = WH_FEC_RS,
	},
	{
		.number = 3,
		.name = "ttp",
		.summary = "TTP: erasure code, bitmaps, rate halved on congestion",
		.control = &wh_control_ttp,
		/*
		 * The paper's receiver sends bitmaps alone. Ours must also give chunks back: the
		 * states of `fixed`, which the rate does not depend on. It is one of data: at the
		 * least of rates the answers to these states would leave nothing of it.
		 */
		.period_us = WH_UDT_SYN_US,
		.state_bytes = UINT32_C(512) << 10,
		.bitmaps = true,
		.nak_packets_max = 16,
		.recovery = WH_RECOVERY_HYBRID,
		.code = WH_FEC_TORNADO,
		/* III A's 50 % of loss takes 1.7 repair packets per data packet, and some more. */
		.repair_ceiling = 0.75,
	},
};

#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

const struct wh_profile *wh_profile_find(const char *name)
{
	for (size_t i = 0; i < PROFILES; i++)
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	return NULL;
}

const struct wh_profile *wh_profile_by_number(uint8_t number)
{
	for (size_t i = 0; i < PROFILES; i++)
		if (profiles[i].number == number)
			return &profiles[i];
	return NULL;
}

const struct wh_profile *wh_profile_at(uint32_t i)
{
	return i < PROFILES ? &profiles[i] : NULL;
}
