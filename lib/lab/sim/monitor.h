/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Measurements of a run. At moments chosen beforehand (marks) all counters of flows and links are
 * saved, and the delays of queues that count them, so that any span between two marks can be
 * queried afterwards. Samples, one per interval, add momentary values: windows, rates, packet
 * numbers, queues. A series is the goodput of all flows in each of its periods, from 0 on. All
 * memory is allocated on creation.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/sim/simulation.h"

/* A flow's momentary values. */
struct wh_monitor_look {
	double window_pkts;
	double rate_bps;        /* of a pacer; 0: none */
	uint64_t sequence_pkts; /* packet number of the next new packet */
	const char *mode;       /* the part of a controller that decided; NULL: none says it */
};

/* Queueing delays of the packets that left a queue in an interval. */
struct wh_monitor_delays {
	uint64_t p50_ps;
	uint64_t p99_ps;
	uint64_t longest_ps;
};

struct wh_monitor_config {
	const uint64_t *marks_ps; /* ascending */
	uint32_t n_marks;
	uint64_t interval_ps;      /* of samples; 0: none */
	uint64_t until_ps;         /* end of the samples; no mark is later */
	const uint64_t *series_ps; /* the period of each series */
	uint32_t n_series;
	uint32_t n_flows;
	void (*look)(void *context, uint32_t flow, struct wh_monitor_look *look);
	void *context;
};

struct wh_monitor;

/* To be called when all links exist, before the run. */
struct wh_monitor *wh_monitor_create(struct wh_sim *sim, const struct wh_monitor_config *config);
void wh_monitor_destroy(struct wh_monitor *monitor);

/* Counts of a flow or link between two marks; what is no count is as at the later one. */
struct wh_sim_flow_stats wh_monitor_flow_span(
	const struct wh_monitor *monitor, uint32_t flow, uint64_t from_ps, uint64_t to_ps);
struct wh_sim_link_stats wh_monitor_link_span(
	const struct wh_monitor *monitor, uint32_t link, uint64_t from_ps, uint64_t to_ps);

/* Sample i has the counts of interval i, which ends at (i + 1) intervals, and the values then. */
uint32_t wh_monitor_samples(const struct wh_monitor *monitor);
struct wh_sim_flow_stats wh_monitor_flow_sample(
	const struct wh_monitor *monitor, uint32_t flow, uint32_t i);
const struct wh_monitor_look *wh_monitor_look_sample(
	const struct wh_monitor *monitor, uint32_t flow, uint32_t i);
struct wh_sim_link_stats wh_monitor_link_sample(
	const struct wh_monitor *monitor, uint32_t link, uint32_t i);

/*
 * The quantile at `share` of the queueing delays of packets that left the queue between two marks,
 * rounded up by at most 1/64. The second: the delays of a sample. Only for links that count delays.
 */
uint64_t wh_monitor_delay_ps(const struct wh_monitor *monitor, uint32_t link, uint64_t from_ps,
	uint64_t to_ps, double share);
const struct wh_monitor_delays *wh_monitor_delays_sample(
	const struct wh_monitor *monitor, uint32_t link, uint32_t i);

/* A flow's goodput at the i-th moment of a series, i periods after the beginning. */
uint64_t wh_monitor_series_bytes(
	const struct wh_monitor *monitor, uint32_t series, uint32_t i, uint32_t flow);

/* Jain's index, (sum x)^2 / (n sum x^2); 1 when all are 0 or there are none. */
double wh_jain(const double *values, uint32_t count);

/* Of the values themselves, not of a population they were drawn from; 0 without any. */
double wh_mean(const double *values, uint32_t count);
double wh_stddev(const double *values, uint32_t count);
