/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The present state of a flow: its controller's values, round trip, loss, and what limits it. Rate,
 * window and limit are known only at the sending end.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "job/jobs.h"

struct wh_flow_now {
	bool sends;
	uint64_t rate_bps;    /* of all lanes; 0: one is not paced */
	uint64_t window_pkts; /* of all lanes */
	uint64_t rtt_ns;      /* of the slowest lane; 0: not measured yet */
	uint64_t rtt_min_ns;  /* minimum of all lanes; 0: not measured yet */
	uint64_t pkts;        /* so far: sent, or received and missed */
	uint64_t lost_pkts;   /* of these */
	uint64_t retransmitted_pkts;
	uint64_t repair_pkts;
	uint64_t moved_bytes; /* payload that has arrived */
	uint64_t wire_bytes;  /* sent, each packet counted as a full one */
	enum wh_limit limit;  /* of the first lane, at this moment */
	uint32_t lanes;
	struct wh_host_ctx_counts host; /* with wh_flow_now_count_host */
	/* Time during which each limit applied, summed over all lanes. */
	uint64_t limit_ns[WH_LIMITS];
};

/* The smaller of two values, of which 0 means unknown. */
uint64_t wh_least_known(uint64_t a, uint64_t b);

/* `count` is at least 1. */
void wh_flow_now_look(struct wh_flow_now *flow, struct wh_job *const *lanes, uint32_t count);
/* Asks the NIC, too: not for each of many looks. */
void wh_flow_now_count_host(struct wh_flow_now *flow, const struct wh_job *lane);

/*
 * "rate_bps", "window_packets", "rtt_ms", "loss" and "limited_by" since `before`; null: unknown at
 * this end, or not paced.
 */
void wh_flow_now_to_json(
	json_t *object, const struct wh_flow_now *before, const struct wh_flow_now *now);

/* The same in columns, each preceded by a blank, without a line end. */
void wh_flow_now_print_head(const struct wh_flow_now *flow, FILE *to);
void wh_flow_now_print(const struct wh_flow_now *before, const struct wh_flow_now *now, FILE *to);

/* What limited the flow between two looks (wh_limit_of), of which the second knows the host. */
enum wh_limit wh_flow_now_limit(const struct wh_flow_now *before, const struct wh_flow_now *now);

/* "NAME": share of the time, for each limit that there was. */
json_t *wh_limits_json(const uint64_t limit_tsc[WH_LIMITS]);
