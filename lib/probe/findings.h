/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROBE_FINDINGS_H
#define WH_PROBE_FINDINGS_H

/*
 * What a probe found out about a way. Rates are of the wire, preamble and gap counted, and so are
 * bytes of bursts and of memory. 0 stands for what is not known.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

/* Of packets sent at the line's rate behind each other. */
enum wh_burst_end {
	WH_BURST_UNKNOWN = 0,
	WH_BURST_OVERFLOW, /* a queue ran over behind burst_pkts */
	WH_BURST_LONGEST,  /* the longest train came whole, but for losses by chance */
};

struct wh_findings {
	/* echoes */
	uint32_t echoes_sent;
	uint32_t echoes_heard; /* by the peer */
	uint32_t echoes_got;   /* answers */
	uint64_t rtt_min_ns;
	uint64_t rtt_p50_ns;
	uint64_t rtt_p99_ns;
	uint32_t mtu_bytes; /* of IP; packets up to this are answered */

	/* capacity */
	uint32_t pairs;
	double pairs_bps;
	double trains_bps; /* arrivals of the longest trains; the capacity that counts */
	double line_bps;   /* at which those trains were really sent; 0: all at once */

	/* bursts */
	enum wh_burst_end burst_end;
	uint32_t burst_pkts;        /* came whole */
	uint32_t burst_spread_pkts; /* of repeated trains */
	bool burst_verified;        /* a train of just that length came whole, too */
	uint32_t wire_bytes;        /* of each packet of a train */
	double lost_share;          /* behind the overflow */
	double lost_share_expected; /* (f - s) / f */
	uint32_t lost_runs;
	uint32_t longest_run;

	/* by the formulas of lambda-tcp.txt 2 */
	double memory_bytes; /* (1) */
	bool forbidden;      /* (4) has two roots */
	double forbidden_low_bps;
	double forbidden_high_bps;
	double initial_bps;  /* (2): with no more than a safe burst under way */
	double wanted_bytes; /* (3): memory with which that would be the capacity */

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

	/* a train to look at: the longest one that ran over, or the longest one */
	uint32_t shown_count;
	uint32_t shown_arrivals;
	uint64_t *shown; /* as in wh_probe_answer; the prober's */
};

#endif
