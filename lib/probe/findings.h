/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a probe has found out about a path. Rates, bursts and memory are in terms of bytes on the
 * wire, with preamble and gap. 0: unknown.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

/* Result for packets sent back to back at line rate. */
enum wh_burst_end {
	WH_BURST_UNKNOWN = 0,
	WH_BURST_OVERFLOW, /* a queue overflowed after burst_pkts */
	WH_BURST_LONGEST,  /* the longest train arrived whole, except for random losses */
};

struct wh_findings {
	/* echoes */
	uint32_t echoes_sent;
	uint32_t echoes_heard; /* received by the peer */
	uint32_t echoes_got;   /* answers received */
	uint64_t rtt_min_ns;
	uint64_t rtt_p50_ns;
	uint64_t rtt_p99_ns;
	uint32_t mtu_bytes; /* at the IP layer; packets up to this size are answered */

	/* capacity */
	uint32_t pairs;
	double pairs_bps;
	double trains_bps; /* from arrivals of the longest trains; the most reliable estimate */
	double line_bps;   /* at which those trains were actually sent; 0: all at once */

	/* bursts */
	enum wh_burst_end burst_end;
	uint32_t burst_pkts;        /* arrived without loss */
	uint32_t burst_spread_pkts; /* variation over repeated trains */
	bool burst_verified;        /* a train of that length arrived whole, too */
	uint32_t wire_bytes;        /* of each packet of a train */
	double lost_share;          /* after the overflow */
	double lost_share_expected; /* (f - s) / f: rates into and out of the queue */
	uint32_t lost_runs;
	uint32_t longest_run;

	/* by the formulas of lambda-tcp.txt 2 */
	double memory_bytes; /* (1) */
	bool forbidden;      /* (4) has two roots */
	double forbidden_low_bps;
	double forbidden_high_bps;
	double initial_bps;  /* (2): with no more than a safe burst under way */
	double wanted_bytes; /* (3): memory at which that would be the capacity */

	/* at half of the capacity */
	uint32_t steady_sent;
	uint32_t steady_lost;
	double steady_bps;

	/* all trains */
	uint32_t trains;
	uint64_t trains_arrived_pkts;
	uint64_t overtaken_pkts;
	uint32_t overtaken_by;
	uint64_t duplicate_pkts;

	/* of the probe itself */
	uint64_t sent_pkts;
	uint64_t sent_bytes;
	uint64_t elapsed_ns;
	enum wh_release_status refused;

	/* the train to plot: the longest that overflowed, or else the longest */
	uint32_t shown_count;
	uint32_t shown_arrivals;
	uint64_t *shown; /* as in wh_probe_answer; owned by the prober */
};
