/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/monitor.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"

/* The counts at the beginning of the two. */
#define FLOW_COUNTS (offsetof(struct wh_sim_flow_stats, opened_ps) / sizeof(uint64_t))
#define LINK_COUNTS (offsetof(struct wh_sim_link_stats, queue_max_pkts) / sizeof(uint64_t))

/* Values of all flows and all links, one row per moment. */
struct rows {
	struct wh_sim_flow_stats *flows;
	struct wh_sim_link_stats *links;
	uint32_t count;
	uint32_t room;
};

/* Delays of one link's queue; all NULL when the link does not count them. */
struct delays {
	uint64_t *marks;  /* all buckets, one set per mark */
	uint64_t *before; /* buckets at the latest sample */
	struct wh_monitor_delays *samples;
};

struct series {
	struct wh_monitor *monitor;
	struct wh_sim_event event;
	uint64_t period_ps;
	uint64_t *bytes; /* of all flows, one row per moment */
	uint32_t moments;
};

struct wh_monitor {
	struct wh_sim *sim;
	struct wh_monitor_config config; /* marks_ps is a copy */
	uint64_t *marks_ps;
	uint32_t n_links;
	struct rows marks;
	struct rows samples;           /* the first is at time 0 */
	struct wh_monitor_look *looks; /* of the samples */
	struct delays *delays;         /* per link */
	struct series *series;
	struct wh_sim_event mark;
	struct wh_sim_event sample;
};

static void init_rows(struct rows *rows, const struct wh_monitor *monitor, uint64_t room)
{
	WH_ASSERT(room < UINT32_MAX);
	rows->room = (uint32_t)room;
	rows->flows = wh_sim_allocate((room * monitor->config.n_flows + 1) * sizeof(*rows->flows));
	rows->links = wh_sim_allocate((room * monitor->n_links + 1) * sizeof(*rows->links));
}

static void free_rows(struct rows *rows)
{
	free(rows->flows);
	free(rows->links);
}

static void add_row(struct wh_monitor *monitor, struct rows *rows)
{
	uint32_t n_flows = monitor->config.n_flows;
	struct wh_sim_flow_stats *flows = rows->flows + (size_t)rows->count * n_flows;
	struct wh_sim_link_stats *links = rows->links + (size_t)rows->count * monitor->n_links;

	WH_ASSERT(rows->count < rows->room);
	rows->count++;
	for (uint32_t i = 0; i < n_flows; i++)
		flows[i] = *wh_sim_flow_stats(monitor->sim, i);
	for (uint32_t i = 0; i < monitor->n_links; i++)
		links[i] = *wh_sim_link_stats(monitor->sim, i);
}

/* Writes the counts added between `then` and `now` to `since`, which may be either. */
static void subtract(const uint64_t *now, const uint64_t *then, uint64_t *since, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		WH_DEBUG_ASSERT(now[i] >= then[i]);
		since[i] = now[i] - then[i];
	}
}

static uint64_t quantile_ps(const uint64_t *count, double share)
{
	return wh_buckets_quantile(count, WH_SIM_DELAY_BITS, share) * WH_PS_PER_NS;
}

static void mark_delays(struct wh_monitor *monitor, uint32_t mark)
{
	for (uint32_t i = 0; i < monitor->n_links; i++) {
		const uint64_t *count = wh_sim_link_delays(monitor->sim, i);

		if (count != NULL)
			memcpy(monitor->delays[i].marks + (size_t)mark * WH_SIM_DELAY_BUCKETS,
				count, WH_SIM_DELAY_BUCKETS * sizeof(*count));
	}
}

static void sample_delays(struct wh_monitor *monitor, uint32_t sample)
{
	for (uint32_t i = 0; i < monitor->n_links; i++) {
		const uint64_t *count = wh_sim_link_delays(monitor->sim, i);
		struct delays *delays = &monitor->delays[i];
		uint64_t since[WH_SIM_DELAY_BUCKETS];

		if (count == NULL)
			continue;
		subtract(count, delays->before, since, WH_SIM_DELAY_BUCKETS);
		memcpy(delays->before, count, sizeof(since));
		delays->samples[sample] = (struct wh_monitor_delays){
			.p50_ps = quantile_ps(since, 0.5),
			.p99_ps = quantile_ps(since, 0.99),
			.longest_ps = quantile_ps(since, 1.0),
		};
	}
}

static void take_mark(void *context, uint64_t now_ps)
{
	struct wh_monitor *monitor = context;

	WH_ASSERT(monitor->marks_ps[monitor->marks.count] == now_ps);
	mark_delays(monitor, monitor->marks.count);
	add_row(monitor, &monitor->marks);
	if (monitor->marks.count < monitor->config.n_marks)
		wh_sim_event_at(wh_sim_events(monitor->sim), &monitor->mark,
			monitor->marks_ps[monitor->marks.count]);
}

static void take_sample(void *context, uint64_t now_ps)
{
	struct wh_monitor *monitor = context;
	const struct wh_monitor_config *config = &monitor->config;
	size_t row = (size_t)monitor->samples.count * config->n_flows;

	sample_delays(monitor, monitor->samples.count);
	add_row(monitor, &monitor->samples);
	for (uint32_t i = 0; i < config->n_flows; i++)
		config->look(config->context, i, &monitor->looks[row + i]);
	if (config->interval_ps <= config->until_ps - now_ps)
		wh_sim_event_at(wh_sim_events(monitor->sim), &monitor->sample,
			now_ps + config->interval_ps);
}

static void take_moment(void *context, uint64_t now_ps)
{
	struct series *series = context;
	struct wh_monitor *monitor = series->monitor;
	const struct wh_monitor_config *config = &monitor->config;
	uint64_t *bytes = series->bytes + (size_t)series->moments++ * config->n_flows;

	for (uint32_t i = 0; i < config->n_flows; i++)
		bytes[i] = wh_sim_flow_stats(monitor->sim, i)->goodput_bytes;
	if (series->period_ps <= config->until_ps - now_ps)
		wh_sim_event_at(
			wh_sim_events(monitor->sim), &series->event, now_ps + series->period_ps);
}

static void init_series(struct wh_monitor *monitor)
{
	const struct wh_monitor_config *config = &monitor->config;

	monitor->series = wh_sim_allocate((config->n_series + 1) * sizeof(*monitor->series));
	for (uint32_t i = 0; i < config->n_series; i++) {
		struct series *series = &monitor->series[i];
		uint64_t period_ps = config->series_ps[i];

		WH_ASSERT(period_ps > 0 && config->until_ps / period_ps < UINT32_MAX);
		series->monitor = monitor;
		series->period_ps = period_ps;
		series->bytes = wh_sim_allocate((config->until_ps / period_ps + 1) *
						config->n_flows * sizeof(*series->bytes));
		wh_sim_event_init(&series->event, take_moment, series);
		wh_sim_event_at(wh_sim_events(monitor->sim), &series->event, 0);
	}
}

static void init_delays(struct wh_monitor *monitor)
{
	const struct wh_monitor_config *config = &monitor->config;
	const size_t bytes = WH_SIM_DELAY_BUCKETS * sizeof(uint64_t);

	monitor->delays = wh_sim_allocate((monitor->n_links + 1) * sizeof(*monitor->delays));
	for (uint32_t i = 0; i < monitor->n_links; i++) {
		struct delays *delays = &monitor->delays[i];

		if (wh_sim_link_delays(monitor->sim, i) == NULL)
			continue;
		delays->marks = wh_sim_allocate(config->n_marks * bytes);
		delays->before = wh_sim_allocate(bytes);
		if (config->interval_ps > 0)
			delays->samples =
				wh_sim_allocate((config->until_ps / config->interval_ps + 1) *
						sizeof(*delays->samples));
	}
}

struct wh_monitor *wh_monitor_create(struct wh_sim *sim, const struct wh_monitor_config *config)
{
	struct wh_monitor *monitor = wh_sim_allocate(sizeof(*monitor));

	WH_ASSERT(config->n_marks > 0 && config->marks_ps[config->n_marks - 1] <= config->until_ps);
	monitor->sim = sim;
	monitor->config = *config;
	monitor->n_links = wh_sim_links(sim);
	monitor->marks_ps = wh_sim_allocate(config->n_marks * sizeof(*monitor->marks_ps));
	for (uint32_t i = 0; i < config->n_marks; i++) {
		WH_ASSERT(i == 0 || config->marks_ps[i] > config->marks_ps[i - 1]);
		monitor->marks_ps[i] = config->marks_ps[i];
	}
	init_rows(&monitor->marks, monitor, config->n_marks);
	init_delays(monitor);
	init_series(monitor);
	wh_sim_event_init(&monitor->mark, take_mark, monitor);
	wh_sim_event_at(wh_sim_events(sim), &monitor->mark, monitor->marks_ps[0]);
	if (config->interval_ps > 0) {
		init_rows(&monitor->samples, monitor, config->until_ps / config->interval_ps + 1);
		monitor->looks =
			wh_sim_allocate(((size_t)monitor->samples.room * config->n_flows + 1) *
					sizeof(*monitor->looks));
		wh_sim_event_init(&monitor->sample, take_sample, monitor);
		wh_sim_event_at(wh_sim_events(sim), &monitor->sample, 0);
	}
	return monitor;
}

void wh_monitor_destroy(struct wh_monitor *monitor)
{
	if (monitor == NULL)
		return;
	wh_sim_event_cancel(wh_sim_events(monitor->sim), &monitor->mark);
	if (monitor->config.interval_ps > 0)
		wh_sim_event_cancel(wh_sim_events(monitor->sim), &monitor->sample);
	for (uint32_t i = 0; i < monitor->config.n_series; i++) {
		wh_sim_event_cancel(wh_sim_events(monitor->sim), &monitor->series[i].event);
		free(monitor->series[i].bytes);
	}
	for (uint32_t i = 0; i < monitor->n_links; i++) {
		free(monitor->delays[i].marks);
		free(monitor->delays[i].before);
		free(monitor->delays[i].samples);
	}
	free(monitor->series);
	free(monitor->delays);
	free_rows(&monitor->marks);
	free_rows(&monitor->samples);
	free(monitor->looks);
	free(monitor->marks_ps);
	free(monitor);
}

static int compare_moments(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t find_mark(const struct wh_monitor *monitor, uint64_t at_ps)
{
	const uint64_t *mark_ps = bsearch(
		&at_ps, monitor->marks_ps, monitor->marks.count, sizeof(at_ps), compare_moments);

	WH_ASSERT(mark_ps != NULL);
	return (size_t)(mark_ps - monitor->marks_ps);
}

static struct wh_sim_flow_stats flow_between(const struct wh_monitor *monitor,
	const struct rows *rows, uint32_t flow, size_t from, size_t to)
{
	const struct wh_sim_flow_stats *flows = rows->flows + flow;
	size_t n = monitor->config.n_flows;
	struct wh_sim_flow_stats since = flows[n * to];

	WH_ASSERT(flow < n);
	subtract(&since.sent_pkts, &flows[n * from].sent_pkts, &since.sent_pkts, FLOW_COUNTS);
	return since;
}

static struct wh_sim_link_stats link_between(const struct wh_monitor *monitor,
	const struct rows *rows, uint32_t link, size_t from, size_t to)
{
	const struct wh_sim_link_stats *links = rows->links + link;
	size_t n = monitor->n_links;
	struct wh_sim_link_stats since = links[n * to];

	WH_ASSERT(link < n);
	subtract(&since.entered_pkts, &links[n * from].entered_pkts, &since.entered_pkts,
		LINK_COUNTS);
	since.queue_pkt_ps -= links[n * from].queue_pkt_ps;
	return since;
}

struct wh_sim_flow_stats wh_monitor_flow_span(
	const struct wh_monitor *monitor, uint32_t flow, uint64_t from_ps, uint64_t to_ps)
{
	return flow_between(monitor, &monitor->marks, flow, find_mark(monitor, from_ps),
		find_mark(monitor, to_ps));
}

struct wh_sim_link_stats wh_monitor_link_span(
	const struct wh_monitor *monitor, uint32_t link, uint64_t from_ps, uint64_t to_ps)
{
	return link_between(monitor, &monitor->marks, link, find_mark(monitor, from_ps),
		find_mark(monitor, to_ps));
}

uint32_t wh_monitor_samples(const struct wh_monitor *monitor)
{
	return monitor->samples.count > 0 ? monitor->samples.count - 1 : 0;
}

struct wh_sim_flow_stats wh_monitor_flow_sample(
	const struct wh_monitor *monitor, uint32_t flow, uint32_t i)
{
	WH_ASSERT(i < wh_monitor_samples(monitor));
	return flow_between(monitor, &monitor->samples, flow, i, i + 1);
}

const struct wh_monitor_look *wh_monitor_look_sample(
	const struct wh_monitor *monitor, uint32_t flow, uint32_t i)
{
	WH_ASSERT(flow < monitor->config.n_flows && i < wh_monitor_samples(monitor));
	return &monitor->looks[(i + 1) * (size_t)monitor->config.n_flows + flow];
}

struct wh_sim_link_stats wh_monitor_link_sample(
	const struct wh_monitor *monitor, uint32_t link, uint32_t i)
{
	WH_ASSERT(i < wh_monitor_samples(monitor));
	return link_between(monitor, &monitor->samples, link, i, i + 1);
}

uint64_t wh_monitor_delay_ps(const struct wh_monitor *monitor, uint32_t link, uint64_t from_ps,
	uint64_t to_ps, double share)
{
	WH_ASSERT(link < monitor->n_links && monitor->delays[link].marks != NULL);

	const uint64_t *marks = monitor->delays[link].marks;
	uint64_t since[WH_SIM_DELAY_BUCKETS];

	subtract(marks + (size_t)find_mark(monitor, to_ps) * WH_SIM_DELAY_BUCKETS,
		marks + (size_t)find_mark(monitor, from_ps) * WH_SIM_DELAY_BUCKETS, since,
		WH_SIM_DELAY_BUCKETS);
	return quantile_ps(since, share);
}

const struct wh_monitor_delays *wh_monitor_delays_sample(
	const struct wh_monitor *monitor, uint32_t link, uint32_t i)
{
	WH_ASSERT(link < monitor->n_links && i < wh_monitor_samples(monitor));
	WH_ASSERT(monitor->delays[link].samples != NULL);
	return &monitor->delays[link].samples[i + 1];
}

uint64_t wh_monitor_series_bytes(
	const struct wh_monitor *monitor, uint32_t series, uint32_t i, uint32_t flow)
{
	WH_ASSERT(series < monitor->config.n_series && i < monitor->series[series].moments);
	WH_ASSERT(flow < monitor->config.n_flows);
	return monitor->series[series].bytes[(size_t)i * monitor->config.n_flows + flow];
}

double wh_jain(const double *values, uint32_t count)
{
	double sum = 0.0;
	double squares = 0.0;

	for (uint32_t i = 0; i < count; i++) {
		sum += values[i];
		squares += values[i] * values[i];
	}
	return squares > 0.0 ? sum * sum / (count * squares) : 1.0;
}

double wh_mean(const double *values, uint32_t count)
{
	double sum = 0.0;

	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	return count > 0 ? sum / count : 0.0;
}

double wh_stddev(const double *values, uint32_t count)
{
	double mean = wh_mean(values, count);
	double squares = 0.0;

	for (uint32_t i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return count > 0 ? sqrt(squares / count) : 0.0;
}
