/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/sim_ask.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "lab/sim/sim_memory.h"

#define VALUES_MAX 2

/* The window of holds() is moved in steps of this fraction of it. */
#define WINDOW_STEPS 8

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct sim_question;

struct ask_function {
	const char *name;
	double (*answer)(const struct sim_question *question);
	double (*statistic)(
		const double *values, uint32_t count); /* of single flows' throughputs */
	size_t count; /* offset of the counter in the monitor's or agent's struct */
	enum wh_value_kind kind;
	bool of_link;
	bool no_times;
	const char *agent; /* the only agent that has it; NULL: any */
	/* Values after the subject: t a time, n a number; those after a / are optional. */
	const char *values;
};

/* One call with its subject: flows (a flow named twice counts twice) or one link. */
struct sim_question {
	const struct wh_asking *asking;
	const struct ask_function *function;
	uint32_t *flows;
	uint32_t n_flows;
	uint32_t link;
	uint64_t from_ps;
	uint64_t to_ps;
	double values[VALUES_MAX];
	uint32_t n_values;
};

static struct wh_sim_flow_stats flow_span(const struct sim_question *q, uint32_t i)
{
	return wh_monitor_flow_span(
		wh_scenario_run_monitor(q->asking->run), q->flows[i], q->from_ps, q->to_ps);
}

static struct wh_sim_link_stats link_span(const struct sim_question *q)
{
	return wh_monitor_link_span(
		wh_scenario_run_monitor(q->asking->run), q->link, q->from_ps, q->to_ps);
}

static uint64_t count_of(const struct sim_question *q, const void *span)
{
	return *(const uint64_t *)((const char *)span + q->function->count);
}

double wh_throughput_bps(
	const struct wh_scenario_group *group, uint64_t goodput_bytes, double span_s)
{
	double packets = (double)goodput_bytes / group->payload_bytes;

	WH_ASSERT(group->payload_bytes > 0 && span_s > 0.0);
	return packets * 8.0 * group->packet_bytes / span_s;
}

static double flow_count(const struct sim_question *q)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < q->n_flows; i++) {
		const struct wh_sim_flow_stats span = flow_span(q, i);

		sum += count_of(q, &span);
	}
	return (double)sum;
}

static double flow_goodput(const struct sim_question *q)
{
	return 8.0 * flow_count(q) / wh_ps_to_seconds(q->to_ps - q->from_ps);
}

static double flow_throughput(const struct sim_question *q)
{
	double *values = wh_sim_allocate((q->n_flows + 1) * sizeof(*values));
	double result;

	for (uint32_t i = 0; i < q->n_flows; i++)
		values[i] = wh_throughput_bps(wh_point_group_of(q->asking->point, q->flows[i]),
			flow_span(q, i).goodput_bytes, wh_ps_to_seconds(q->to_ps - q->from_ps));
	result = q->function->statistic(values, q->n_flows);
	free(values);
	return result;
}

static double sum_of(const double *values, uint32_t count)
{
	double sum = 0.0;

	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

static double least_of(const double *values, uint32_t count)
{
	double least = count > 0 ? values[0] : 0.0;

	for (uint32_t i = 1; i < count; i++)
		least = fmin(least, values[i]);
	return least;
}

static double most_of(const double *values, uint32_t count)
{
	double most = count > 0 ? values[0] : 0.0;

	for (uint32_t i = 1; i < count; i++)
		most = fmax(most, values[i]);
	return most;
}

static double active_of(const double *values, uint32_t count)
{
	uint32_t active = 0;

	for (uint32_t i = 0; i < count; i++)
		active += values[i] > 0.0;
	return active;
}

/* When the last of the question's flows was accepted, or has ended. */
static double last_moment(const struct sim_question *q)
{
	uint64_t last_ps = 0;

	for (uint32_t i = 0; i < q->n_flows; i++)
		last_ps = wh_max_u64(
			last_ps, count_of(q, wh_scenario_run_stats(q->asking->run, q->flows[i])));
	return last_ps == WH_SIM_NEVER_PS ? INFINITY : wh_ps_to_seconds(last_ps);
}

/* Seconds from a flow's start to its end; infinite if it has not ended. */
static double time_taken(const struct sim_question *q, uint32_t flow)
{
	const struct wh_scenario_run *run = q->asking->run;
	uint64_t end_ps = wh_scenario_run_stats(run, flow)->finished_ps;

	return end_ps == WH_SIM_NEVER_PS
		       ? INFINITY
		       : wh_ps_to_seconds(end_ps - wh_scenario_run_start_ps(run, flow));
}

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

/* The mean, or a quantile, of the times taken by flows that have started. */
static double took(const struct sim_question *q)
{
	uint64_t duration_ps = q->asking->point->scenario.duration_ps;
	double *values = wh_sim_allocate((q->n_flows + 1) * sizeof(*values));
	uint32_t count = 0;
	double result;

	for (uint32_t i = 0; i < q->n_flows; i++)
		if (wh_scenario_run_start_ps(q->asking->run, q->flows[i]) <= duration_ps)
			values[count++] = time_taken(q, q->flows[i]);
	qsort(values, count, sizeof(*values), compare_numbers);
	if (count == 0)
		result = INFINITY;
	else if (q->n_values == 0)
		result = wh_mean(values, count);
	else
		result = values[(uint32_t)fmax(ceil(q->values[0] * count) - 1.0, 0.0)];
	free(values);
	return result;
}

static uint64_t window_ps(const struct sim_question *q)
{
	uint64_t span_ps = 0;

	wh_seconds_to_ps(q->values[1], &span_ps);
	return span_ps;
}

/* Whether the flows have the rate in the window that begins at this index of the series. */
static bool holds_from(const struct sim_question *q, uint32_t series, uint32_t moment)
{
	const struct wh_monitor *monitor = wh_scenario_run_monitor(q->asking->run);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < q->n_flows; i++)
		bytes += wh_monitor_series_bytes(
				 monitor, series, moment + WINDOW_STEPS, q->flows[i]) -
			 wh_monitor_series_bytes(monitor, series, moment, q->flows[i]);
	return 8.0 * (double)bytes >= q->values[0] * q->values[1];
}

/*
 * The time after `from` since which the flows have the rate in each window that ends by `to`. The
 * series was added when the question was checked.
 */
static double holds(const struct sim_question *q)
{
	uint64_t step_ps = window_ps(q) / WINDOW_STEPS;
	uint32_t series = wh_point_series(q->asking->point, step_ps);
	uint64_t first = (q->from_ps + step_ps - 1) / step_ps;
	uint64_t moment = q->to_ps / step_ps;

	WH_ASSERT(series != UINT32_MAX && step_ps > 0);
	if (moment < first + WINDOW_STEPS)
		return INFINITY;
	moment -= WINDOW_STEPS;
	if (!holds_from(q, series, (uint32_t)moment))
		return INFINITY;
	while (moment > first && holds_from(q, series, (uint32_t)moment - 1))
		moment--;
	return wh_ps_to_seconds(moment * step_ps - q->from_ps);
}

static double count_finished(const struct sim_question *q)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < q->n_flows; i++)
		count += wh_scenario_run_stats(q->asking->run, q->flows[i])->finished_ps !=
			 WH_SIM_NEVER_PS;
	return count;
}

/* The findings of the first flow, a probe. */
static const struct wh_findings *findings(const struct sim_question *q)
{
	return wh_scenario_run_findings(q->asking->run, q->flows[0]);
}

static double probe_capacity(const struct sim_question *q)
{
	return findings(q)->trains_bps;
}

static double probe_burst(const struct sim_question *q)
{
	return findings(q)->burst_pkts;
}

static double probe_memory(const struct sim_question *q)
{
	return findings(q)->memory_bytes;
}

static double probe_rtt(const struct sim_question *q)
{
	return (double)findings(q)->rtt_min_ns / 1e9;
}

static double probe_loss(const struct sim_question *q)
{
	const struct wh_findings *found = findings(q);

	return found->steady_sent > 0 ? (double)found->steady_lost / found->steady_sent : 0.0;
}

/* An observation of the first flow, an STTP agent. */
static double sttp_seen(const struct sim_question *q)
{
	const struct wh_sim_sttp_seen *seen = wh_scenario_run_sttp(q->asking->run, q->flows[0]);

	WH_ASSERT(seen != NULL);
	return *(const double *)((const char *)seen + q->function->count);
}

static double link_count(const struct sim_question *q)
{
	const struct wh_sim_link_stats span = link_span(q);

	return (double)count_of(q, &span);
}

static double link_utilisation(const struct sim_question *q)
{
	return (double)link_span(q).busy_ps / (double)(q->to_ps - q->from_ps);
}

static double link_drops(const struct sim_question *q)
{
	const struct wh_sim_link_stats span = link_span(q);

	return (double)(span.policed_pkts + span.overflow_pkts + span.early_pkts);
}

static double link_queue_mean(const struct sim_question *q)
{
	return (double)link_span(q).queue_pkt_ps / (double)(q->to_ps - q->from_ps);
}

static double link_queue_delay(const struct sim_question *q)
{
	return wh_ps_to_seconds(wh_monitor_delay_ps(wh_scenario_run_monitor(q->asking->run),
		q->link, q->from_ps, q->to_ps, q->values[0]));
}

static double link_queue_max(const struct sim_question *q)
{
	return (double)wh_sim_link_stats(wh_scenario_run_sim(q->asking->run), q->link)
		->queue_max_pkts;
}

#define FLOW(field) .count = offsetof(struct wh_sim_flow_stats, field)
#define STTP(field)                                                                                \
	.no_times = true, .agent = "sttp_agent", .count = offsetof(struct wh_sim_sttp_seen, field)
#define LINK(field) .of_link = true, .count = offsetof(struct wh_sim_link_stats, field)

static const struct ask_function functions[] = {
	{"goodput", flow_goodput, FLOW(goodput_bytes)},
	{"throughput", flow_throughput, .statistic = sum_of},
	{"mean", flow_throughput, .statistic = wh_mean},
	{"stddev", flow_throughput, .statistic = wh_stddev},
	{"least", flow_throughput, .statistic = least_of},
	{"most", flow_throughput, .statistic = most_of},
	{"jain", flow_throughput, .statistic = wh_jain},
	{"active", flow_throughput, .statistic = active_of},
	{"sent", flow_count, FLOW(sent_pkts)},
	{"retransmitted", flow_count, FLOW(retransmitted_pkts)},
	{"repair", flow_count, FLOW(repair_pkts)},
	{"dropped", flow_count, FLOW(dropped_pkts)},
	{"needless", flow_count, FLOW(needless_pkts)},
	{"holds", holds, .kind = WH_VALUE_TIME, .values = "nt"},
	{"took", took, .kind = WH_VALUE_TIME, .values = "/n", .no_times = true},
	{"opened", last_moment, .kind = WH_VALUE_TIME, .no_times = true, FLOW(opened_ps)},
	{"dropped_bytes", flow_count, FLOW(dropped_bytes)},
	{"finish", last_moment, .kind = WH_VALUE_TIME, .no_times = true, FLOW(finished_ps)},
	{"finished", count_finished, .no_times = true},
	{"probe_capacity", probe_capacity, .no_times = true, .agent = "probe"},
	{"probe_burst", probe_burst, .no_times = true, .agent = "probe"},
	{"probe_memory", probe_memory, .no_times = true, .agent = "probe"},
	{"probe_rtt", probe_rtt, .kind = WH_VALUE_TIME, .no_times = true, .agent = "probe"},
	{"probe_loss", probe_loss, .no_times = true, .agent = "probe"},
	{"sttp_first_back", sttp_seen, .kind = WH_VALUE_TIME, STTP(first_back_s)},
	{"sttp_back", sttp_seen, .kind = WH_VALUE_TIME, STTP(back_s)},
	{"sttp_capacity", sttp_seen, STTP(capacity_bps)},
	{"sttp_first_sigma", sttp_seen, STTP(first_sigma)},
	{"sttp_rtt", sttp_seen, .kind = WH_VALUE_TIME, STTP(rtt_s)},
	{"sttp_sigma", sttp_seen, STTP(sigma)},
	{"sttp_fell_at", sttp_seen, .kind = WH_VALUE_TIME, STTP(fell_at_s)},
	{"sttp_fell_from", sttp_seen, .kind = WH_VALUE_TIME, STTP(fell_from_s)},
	{"sttp_fell_to", sttp_seen, .kind = WH_VALUE_TIME, STTP(fell_to_s)},
	{"utilisation", link_utilisation, .of_link = true},
	{"entered", link_count, LINK(entered_pkts)},
	{"drops", link_drops, .of_link = true},
	{"policed", link_count, LINK(policed_pkts)},
	{"lost", link_count, LINK(lost_pkts)},
	{"queue_mean", link_queue_mean, .of_link = true},
	{"queue_delay", link_queue_delay, .of_link = true, .kind = WH_VALUE_TIME, .values = "n"},
	{"queue_max", link_queue_max, .of_link = true, .no_times = true},
};

static const struct ask_function *find_function(const char *name, char wrong[WH_EXPR_WRONG_BYTES])
{
	size_t used;

	for (size_t i = 0; i < LENGTH(functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	used = (size_t)snprintf(
		wrong, WH_EXPR_WRONG_BYTES, "has '%s', which is no function; functions are", name);
	for (size_t i = 0; i < LENGTH(functions) && used < WH_EXPR_WRONG_BYTES; i++)
		used += (size_t)snprintf(
			wrong + used, WH_EXPR_WRONG_BYTES - used, " %s", functions[i].name);
	return NULL;
}

/* "NAME", "NAME.2" or "*"; false: neither. */
static bool add_flows(struct sim_question *q, const char *text)
{
	const struct wh_scenario *scenario = &q->asking->point->scenario;
	const char *dot = strchr(text, '.');
	size_t chars = dot == NULL ? strlen(text) : (size_t)(dot - text);
	uint32_t flow = 0;
	bool found = false;

	for (uint32_t i = 0; i < scenario->n_groups; flow += scenario->groups[i++].count) {
		const struct wh_scenario_group *group = &scenario->groups[i];
		uint32_t first = 0;
		uint32_t end = group->count;

		if (text[0] != '*' &&
			(strlen(group->name) != chars || memcmp(group->name, text, chars) != 0))
			continue;
		if (dot != NULL) {
			uint64_t number;

			if (wh_parse_count(dot + 1, &number) != 0 || number < 1 ||
				number > group->count)
				return false;
			first = (uint32_t)number - 1;
			end = (uint32_t)number;
		}
		found = true;
		q->flows = wh_sim_resize(
			q->flows, (q->n_flows + group->count + 1) * sizeof(*q->flows));
		WH_ASSERT(first <= end && end <= group->count);
		while (first < end)
			q->flows[q->n_flows++] = flow + first++;
	}
	return found;
}

static bool set_link(struct sim_question *q, const char *text)
{
	const struct wh_point *point = q->asking->point;
	size_t chars = strcspn(text, "-");

	if (text[chars] == '\0')
		return false;

	uint32_t from = wh_point_find_node(point, text, chars);
	uint32_t to = wh_point_find_node(point, text + chars + 1, strlen(text + chars + 1));

	for (uint32_t i = 0; from != UINT32_MAX && i < point->scenario.n_links; i++) {
		if (point->links[i].from != from || point->links[i].to != to)
			continue;
		q->link = i;
		return true;
	}
	return false;
}

/* Parses a moment and adds it to the point's marks. */
static bool take_moment(struct sim_question *q, const struct wh_expr_scope *scope, const char *text,
	uint64_t *at_ps, char wrong[WH_EXPR_WRONG_BYTES])
{
	struct wh_expr_scope plain = *scope;
	struct wh_value value;

	plain.ask = NULL;
	if (!wh_expr_quantity(&plain, text, &value, wrong))
		return false;
	if ((value.kind != WH_VALUE_TIME && value.x != 0.0) || !wh_seconds_to_ps(value.x, at_ps) ||
		*at_ps > q->asking->point->scenario.duration_ps) {
		snprintf(wrong, WH_EXPR_WRONG_BYTES,
			"asks about '%s', which is no time within the duration", text);
		return false;
	}
	if (q->asking->run == NULL && !wh_point_add_mark(q->asking->point, *at_ps)) {
		snprintf(wrong, WH_EXPR_WRONG_BYTES, "asks about more than %d times in all",
			WH_POINT_MARKS_MAX);
		return false;
	}
	return true;
}

/* Adds to the point what the question needs during the run. False: its values are invalid. */
static bool prepare(struct sim_question *q, char wrong[WH_EXPR_WRONG_BYTES])
{
	struct wh_point *point = q->asking->point;
	const char *why = NULL;

	if (q->function->answer == holds) {
		uint64_t step_ps = window_ps(q) / WINDOW_STEPS;

		if (step_ps == 0 || wh_point_series(point, step_ps) == UINT32_MAX)
			why = "has a window that is too short for this duration, or one more than "
			      "16 different ones";
	} else if (q->n_values > 0 && !(q->values[0] >= 0.0 && q->values[0] <= 1.0)) {
		why = "asks for a share that is not from 0 to 1";
	}
	if (why != NULL)
		snprintf(wrong, WH_EXPR_WRONG_BYTES, "%s", why);
	if (why == NULL && q->function->answer == link_queue_delay)
		point->links[q->link].counts_delays = true;
	return why == NULL;
}

/* The number of the texts that are values; UINT32_MAX: one is wrong or missing. */
static uint32_t take_values(struct sim_question *q, const struct wh_expr_scope *scope,
	const char *const *args, uint32_t n_args, char wrong[WH_EXPR_WRONG_BYTES])
{
	struct wh_expr_scope plain = *scope;
	const char *kinds = q->function->values != NULL ? q->function->values : "";
	bool optional = kinds[0] == '/';

	plain.ask = NULL;
	for (kinds += optional; *kinds != '\0'; kinds++) {
		enum wh_value_kind kind = *kinds == 't' ? WH_VALUE_TIME : WH_VALUE_NUMBER;
		struct wh_value value;

		if (q->n_values == n_args && optional)
			break;
		if (q->n_values == n_args) {
			snprintf(wrong, WH_EXPR_WRONG_BYTES, "has a %s( ) that lacks a %s",
				q->function->name, *kinds == 't' ? "time" : "number");
			return UINT32_MAX;
		}
		if (!wh_expr_quantity(&plain, args[q->n_values], &value, wrong))
			return UINT32_MAX;
		if (value.kind != kind) {
			snprintf(wrong, WH_EXPR_WRONG_BYTES, "has '%s' where a %s is wanted",
				args[q->n_values], *kinds == 't' ? "time" : "number");
			return UINT32_MAX;
		}
		q->values[q->n_values++] = value.x;
	}
	WH_ASSERT(q->n_values <= VALUES_MAX);
	return prepare(q, wrong) ? q->n_values : UINT32_MAX;
}

/* Parses no time, or two times, after the subject. */
static bool take_times(struct sim_question *q, const struct wh_expr_scope *scope,
	const char *const *times, uint32_t n_times, char wrong[WH_EXPR_WRONG_BYTES])
{
	const struct ask_function *function = q->function;
	const struct wh_point *point = q->asking->point;

	q->from_ps = point->warmup_ps;
	q->to_ps = point->scenario.duration_ps;
	if (n_times == 0)
		return true;
	if (n_times != 2 || function->no_times) {
		snprintf(wrong, WH_EXPR_WRONG_BYTES, "has '%s', which is no %s of this scenario%s",
			times[0], function->of_link ? "link, as A-B" : "flow",
			function->no_times ? ", and takes no times" : "");
		return false;
	}
	if (!take_moment(q, scope, times[0], &q->from_ps, wrong) ||
		!take_moment(q, scope, times[1], &q->to_ps, wrong))
		return false;
	if (q->from_ps < q->to_ps)
		return true;
	snprintf(wrong, WH_EXPR_WRONG_BYTES, "asks from %s to %s, which is no span", times[0],
		times[1]);
	return false;
}

/* The number of the texts that form the subject. */
static uint32_t take_subject(struct sim_question *q, const char *const *args, uint32_t n_args)
{
	uint32_t taken = 0;

	if (q->function->of_link)
		return set_link(q, args[0]) ? 1 : 0;
	while (taken < n_args && add_flows(q, args[taken]))
		taken++;
	return taken;
}

/* A function may apply to one agent's flows only. */
static bool are_of_agent(const struct sim_question *q)
{
	const char *agent = q->function->agent;

	for (uint32_t i = 0; agent != NULL && i < q->n_flows; i++)
		if (strcmp(wh_point_agent_of(q->asking->point, q->flows[i]), agent) != 0)
			return false;
	return agent == NULL || q->n_flows > 0;
}

bool wh_ask(const struct wh_expr_scope *scope, const char *name, const char *const *args,
	uint32_t n_args, struct wh_value *value, char wrong[WH_EXPR_WRONG_BYTES])
{
	const struct ask_function *function = find_function(name, wrong);
	struct sim_question q = {.asking = scope->context, .function = function};
	uint32_t taken;
	bool fine;

	WH_ASSERT(n_args > 0);
	if (function == NULL)
		return false;
	taken = take_subject(&q, args, n_args);
	if (taken == 0)
		snprintf(wrong, WH_EXPR_WRONG_BYTES,
			"has %s('%s'), which is no %s of this scenario", name, args[0],
			function->of_link ? "link, as A-B," : "flow");
	WH_ASSERT(taken <= n_args);
	if (taken > 0 && !are_of_agent(&q)) {
		snprintf(wrong, WH_EXPR_WRONG_BYTES, "has %s('%s'), which is no flow with agent %s",
			name, args[0], function->agent);
		taken = 0;
	}
	if (taken > 0) {
		uint32_t values = take_values(&q, scope, args + taken, n_args - taken, wrong);

		taken = values == UINT32_MAX ? 0 : taken + values;
	}
	fine = taken > 0 && take_times(&q, scope, args + taken, n_args - taken, wrong);
	WH_ASSERT(!fine || (q.from_ps < q.to_ps && q.link < q.asking->point->scenario.n_links));
	if (fine)
		*value = (struct wh_value){.kind = function->kind,
			.x = q.asking->run == NULL ? 1.0 : function->answer(&q)};
	free(q.flows);
	return fine;
}
