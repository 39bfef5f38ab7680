/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_MONITOR_H
#define WH_SIM_MONITOR_H

/*
 * What a run tells. At moments that are named beforehand (marks) all counters of flows and links
 * are kept, so that any span between two of them can be asked for afterwards, and the delays of
 * queues that count them; at every interval also what is of that moment alone: windows, rates,
 * serials, queues. A series is the goodput of all flows in each of its periods, from 0 on. All
 * memory is taken when it is created.
 */

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

/* What a flow does at the moment. */
struct wh_monitor_look {
	double window_pkts;
	double rate_bps;        /* of a pacer; 0: there is none */
	uint64_t sequence_pkts; /* the next new one */
};

struct wh_monitor_flow {
	uint64_t sent_pkts;
	uint64_t retransmitted_pkts;
	uint64_t repair_pkts;
	uint64_t goodput_bytes;
	uint64_t dropped_pkts;
	uint64_t needless_pkts;
	uint64_t sent_bytes;
	uint64_t data_bytes;
	uint64_t dropped_bytes;
	struct wh_monitor_look look; /* of samples; of marks, zeros */
};

struct wh_monitor_link {
	uint64_t entered_pkts;
	uint64_t policed_pkts;
	uint64_t overflow_pkts;
	uint64_t early_pkts;
	uint64_t lost_pkts;
	uint64_t busy_ps;
	unsigned __int128 queue_pkt_ps;
	uint32_t queue_pkts; /* at the moment */
};

/* Of the packets that left a queue in an interval. */
struct wh_monitor_delays {
	uint64_t p50_ps;
	uint64_t p99_ps;
	uint64_t longest_ps;
};

struct wh_monitor_config {
	const uint64_t *marks_ps; /* ascending */
	uint32_t n_marks;
	uint64_t interval_ps;      /* of samples; 0: none */
	uint64_t until_ps;         /* of samples; no mark is later */
	const uint64_t *series_ps; /* periods, each of a series */
	uint32_t n_series;
	uint32_t n_flows;
	void (*look)(void *context, uint32_t flow, struct wh_monitor_look *look);
	void *context;
};

struct wh_monitor;

/* Once all links are there, and before the run begins. */
struct wh_monitor *wh_monitor_create(struct wh_sim *sim, const struct wh_monitor_config *config);
void wh_monitor_destroy(struct wh_monitor *monitor);

/* What a flow or link did between two marks. */
struct wh_monitor_flow wh_monitor_flow_span(
	const struct wh_monitor *monitor, uint32_t flow, uint64_t from_ps, uint64_t to_ps);
struct wh_monitor_link wh_monitor_link_span(
	const struct wh_monitor *monitor, uint32_t link, uint64_t from_ps, uint64_t to_ps);

/* The i-th sample ends at (i + 1) intervals: what its interval brought, and its last moment. */
uint32_t wh_monitor_samples(const struct wh_monitor *monitor);
struct wh_monitor_flow wh_monitor_flow_sample(
	const struct wh_monitor *monitor, uint32_t flow, uint32_t i);
struct wh_monitor_link wh_monitor_link_sample(
	const struct wh_monitor *monitor, uint32_t link, uint32_t i);

/*
 * How long at most a share of the packets waited that left the queue between two marks, to a
 * sixty-fourth and never too short; and the same of a sample. Of links that count delays.
 */
uint64_t wh_monitor_delay_ps(const struct wh_monitor *monitor, uint32_t link, uint64_t from_ps,
	uint64_t to_ps, double share);
const struct wh_monitor_delays *wh_monitor_delays_sample(
	const struct wh_monitor *monitor, uint32_t link, uint32_t i);

/* What a flow's goodput was at the i-th moment of a series, i periods after the beginning. */
uint32_t wh_monitor_series_moments(const struct wh_monitor *monitor, uint32_t series);
uint64_t wh_monitor_series_bytes(
	const struct wh_monitor *monitor, uint32_t series, uint32_t i, uint32_t flow);

/* (sum x)^2 / (n sum x^2); 1 when all are 0 or there are none: nobody has less than another. */
double wh_jain(const double *values, uint32_t count);

/* Of the values themselves, not of a population they were drawn from; 0 of none. */
double wh_mean(const double *values, uint32_t count);
double wh_stddev(const double *values, uint32_t count);

#endif
