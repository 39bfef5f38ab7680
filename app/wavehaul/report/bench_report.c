/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/bench_report.h"

#include <inttypes.h>
#include <stdio.h>

#include <rte_version.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/cli_repair.h"
#include "cli/json.h"
#include "report/cost.h"
#include "report/flow_now.h"
#include "report/seal_told.h"

/* If the time after the warm-up is shorter than this, figures for it are meaningless. */
#define STEADY_MIN_NS UINT64_C(900000000)

static void add_receiver(struct wh_bench_report *sum, const struct wh_bench_report *lane)
{
	sum->elapsed_ns = wh_max_u64(sum->elapsed_ns, lane->elapsed_ns);
	sum->bytes += lane->bytes;
	sum->pkts += lane->pkts;
	sum->duplicate_pkts += lane->duplicate_pkts;
	sum->lost_pkts += lane->lost_pkts;
	/*
	 * Lanes share the counters of port, shard and core: a sum would count them several times.
	 */
	sum->bad_pkts = wh_max_u64(sum->bad_pkts, lane->bad_pkts);
	sum->dropped_pkts = wh_max_u64(sum->dropped_pkts, lane->dropped_pkts);
	sum->cycles = wh_max_u64(sum->cycles, lane->cycles);
	sum->worker_cycles = wh_max_u64(sum->worker_cycles, lane->worker_cycles);
}

static void add_sender(struct wh_bench_sum *sum, const struct wh_job *job)
{
	sum->sent_pkts += atomic_load_explicit(&job->view.sent_pkts, memory_order_relaxed);
	sum->retransmitted_pkts +=
		atomic_load_explicit(&job->view.retransmitted_pkts, memory_order_relaxed);
}

uint32_t wh_bench_lane_reports(struct wh_bench_lane *lane)
{
	rte_spinlock_lock(&lane->lock);

	uint32_t reports = lane->reports;

	rte_spinlock_unlock(&lane->lock);
	return reports;
}

void wh_bench_add_up(struct wh_bench_rows *rows, struct wh_bench_sum *sum)
{
	struct wh_job *const *jobs = rows->lanes->job;
	uint32_t count = rows->lanes->started;

	WH_ASSERT(count <= WH_LANES_MAX);
	*sum = (struct wh_bench_sum){0};
	for (uint32_t i = 0; i < count; i++) {
		rte_spinlock_lock(&rows->lane[i].lock);
		if (rows->lane[i].reports > 0)
			add_receiver(&sum->receiver, &rows->lane[i].report);
		rte_spinlock_unlock(&rows->lane[i].lock);
		if (!jobs[i]->request.reverse)
			add_sender(sum, jobs[i]);
		sum->repair_pkts +=
			atomic_load_explicit(&jobs[i]->view.repair_pkts, memory_order_relaxed);
	}
	if (sum->receiver.elapsed_ns > 0) {
		double seconds = (double)sum->receiver.elapsed_ns / 1e9;

		sum->bps = (double)sum->receiver.bytes * 8 / seconds;
		sum->pps = (double)sum->receiver.pkts / seconds;
	}
	if (count > 0) {
		wh_flow_now_look(&sum->flow, jobs, count);
		wh_flow_now_count_host(&sum->flow, jobs[0]);
		memcpy(sum->cycles, sum->flow.host.cycles, sizeof(sum->cycles));
	}
}

static double per_pkt(uint64_t cycles, uint64_t pkts)
{
	return pkts > 0 ? (double)cycles / (double)pkts : 0;
}

/* Loops go on counting meanwhile: the values read here may be a round apart. */
static void remember_warm(struct wh_bench_rows *rows, const struct wh_bench_sum *sum)
{
	rows->warm = *sum;
	for (uint32_t i = 0; i < rows->host->runtime->cores.count; i++) {
		rows->warm_busy_tsc[i] = rows->host->runtime->loop[i].busy_tsc;
		rows->warm_total_tsc[i] = rows->host->runtime->loop[i].total_tsc;
	}
}

/* The part after the warm-up; all of it if that part is too short for figures. */
static struct wh_bench_sum steady_part(
	const struct wh_bench_rows *rows, const struct wh_bench_sum *total, double *from_s)
{
	struct wh_bench_sum part = *total;
	const struct wh_bench_report *warm = &rows->warm.receiver;

	*from_s = 0;
	if (warm->elapsed_ns == 0 || total->receiver.elapsed_ns < warm->elapsed_ns + STEADY_MIN_NS)
		return part;
	*from_s = (double)warm->elapsed_ns / 1e9;
	part.receiver.elapsed_ns -= warm->elapsed_ns;
	part.receiver.bytes -= warm->bytes;
	part.receiver.pkts -= warm->pkts;
	part.receiver.cycles -= warm->cycles;
	part.receiver.worker_cycles -= warm->worker_cycles;
	for (uint32_t i = 0; i < WH_METER_TASKS; i++)
		part.cycles[i] -= rows->warm.cycles[i];
	part.bps = (double)part.receiver.bytes * 8e9 / (double)part.receiver.elapsed_ns;
	part.pps = (double)part.receiver.pkts * 1e9 / (double)part.receiver.elapsed_ns;
	return part;
}

/* One second, at both ends. */
struct second {
	double at_s;
	double span_s;
	double bps;
	double pps;
	double here; /* cycles per packet */
	double there;
};

static struct second second_between(
	const struct wh_bench_sum *before, const struct wh_bench_sum *now)
{
	const struct wh_bench_report *r = &now->receiver;
	const struct wh_bench_report *rb = &before->receiver;
	double span_s = (double)(r->elapsed_ns - rb->elapsed_ns) / 1e9;
	uint64_t pkts = r->pkts - rb->pkts;

	WH_ASSERT(r->elapsed_ns > rb->elapsed_ns); /* bench reports no empty interval */
	return (struct second){
		.at_s = (double)r->elapsed_ns / 1e9,
		.span_s = span_s,
		.bps = (double)(r->bytes - rb->bytes) * 8 / span_s,
		.pps = (double)pkts / span_s,
		.here = per_pkt(wh_meter_sum(now->cycles) - wh_meter_sum(before->cycles), pkts),
		.there = per_pkt(r->cycles - rb->cycles, pkts),
	};
}

static json_t *interval_json(const struct wh_bench_sum *before, const struct wh_bench_sum *now,
	const struct second *second)
{
	const struct wh_bench_report *r = &now->receiver;
	const struct wh_bench_report *rb = &before->receiver;
	json_t *interval = json_pack("{s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:f}",
		"seconds", second->at_s, "span", second->span_s, "bps", second->bps, "pps",
		second->pps, "retransmitted",
		(json_int_t)(now->retransmitted_pkts - before->retransmitted_pkts), "repair",
		(json_int_t)(now->repair_pkts - before->repair_pkts), "bad",
		(json_int_t)(r->bad_pkts - rb->bad_pkts), "lost",
		(json_int_t)(r->lost_pkts - rb->lost_pkts), "dropped",
		(json_int_t)(r->dropped_pkts - rb->dropped_pkts), "cycles_per_packet_here",
		second->here, "cycles_per_packet_receiver", second->there);

	wh_flow_now_to_json(interval, &before->flow, &now->flow);
	return interval;
}

/* Prints a row for a rate set by the operator: how well the machines keep it. */
static void print_told(const struct wh_bench_sum *before, const struct wh_bench_sum *now,
	const struct second *second, bool head)
{
	const struct wh_bench_report *r = &now->receiver;
	const struct wh_bench_report *rb = &before->receiver;

	if (head)
		printf("%8s %10s %8s %9s %9s %9s %7s %9s %11s\n", "s", "Gb/s", "Mpps", "retr",
			"repair", "lost", "bad", "dropped", "cycles/pkt");
	printf("%8.2f %10.3f %8.3f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %7" PRIu64 " %9" PRIu64
	       " %5.0f+%-5.0f\n",
		second->at_s, second->bps / 1e9, second->pps / 1e6,
		now->retransmitted_pkts - before->retransmitted_pkts,
		now->repair_pkts - before->repair_pkts, r->lost_pkts - rb->lost_pkts,
		r->bad_pkts - rb->bad_pkts, r->dropped_pkts - rb->dropped_pkts, second->here,
		second->there);
}

/* Prints a row for a rate found by the profile: what it found. */
static void print_found(const struct wh_bench_sum *before, const struct wh_bench_sum *now,
	const struct second *second, bool head)
{
	if (head) {
		printf("%8s %10s %9s %9s", "s", "Gb/s", "retr", "repair");
		wh_flow_now_print_head(&now->flow, stdout);
		printf("\n");
	}
	printf("%8.2f %10.3f %9" PRIu64 " %9" PRIu64, second->at_s, second->bps / 1e9,
		now->retransmitted_pkts - before->retransmitted_pkts,
		now->repair_pkts - before->repair_pkts);
	wh_flow_now_print(&before->flow, &now->flow, stdout);
	printf("\n");
}

void wh_bench_row(struct wh_bench_rows *rows, const struct wh_bench_sum *before,
	const struct wh_bench_sum *now)
{
	const struct second second = second_between(before, now);

	if (rows->intervals == NULL)
		rows->intervals = json_array();
	json_array_append_new(rows->intervals, interval_json(before, now, &second));
	if (json_array_size(rows->intervals) == 1)
		remember_warm(rows, now);
	if (rows->settings->json)
		return;

	bool head = rows->printed++ % 20 == 0;

	if (rows->settings->profile->rate_is_told)
		print_told(before, now, &second, head);
	else
		print_found(before, now, &second, head);
	fflush(stdout);
}

static struct wh_cost cost_here(const struct wh_bench_sum *sum)
{
	return wh_cost_of(wh_meter_sum(sum->cycles), wh_meter_workers(sum->cycles));
}

static struct wh_cost cost_there(const struct wh_bench_report *report)
{
	return wh_cost_of(report->cycles, report->worker_cycles);
}

static void print_costs(const struct wh_bench_rows *rows, const struct wh_bench_sum *steady)
{
	const struct wh_cost here = cost_here(steady);
	const struct wh_cost there = cost_there(&steady->receiver);
	uint64_t hz = rows->host->ctx.hz;

	wh_cost_print(stdout, "here", &here, steady->receiver.bytes, hz);
	if (!rows->settings->reverse)
		wh_cost_print(stdout, "of the receiver", &there, steady->receiver.bytes, hz);
}

/* When we receive both are ours. */
static json_t *costs_json(const struct wh_bench_rows *rows, const struct wh_bench_sum *steady)
{
	const struct wh_cost here = cost_here(steady);
	const struct wh_cost there = cost_there(&steady->receiver);
	uint64_t bytes = steady->receiver.bytes;
	uint64_t hz = rows->host->ctx.hz;

	return json_pack("{s:o, s:o}", "here", wh_cost_json(&here, bytes, hz), "receiver",
		wh_cost_json(&there, bytes, hz));
}

/* Cycles of an end by task, per arrived packet; tasks without any are omitted. */
static json_t *cycles_json(const uint64_t *cycles, uint64_t pkts)
{
	json_t *object = json_object();

	for (uint32_t i = WH_METER_LOOP + 1; i < WH_METER_TASKS; i++)
		if (cycles[i] > 0 && pkts > 0)
			json_object_set_new(object, wh_meter_task_name((enum wh_meter_task)i),
				json_real((double)cycles[i] / (double)pkts));
	return object;
}

static void print_cycles(const struct wh_bench_sum *total, bool reverse)
{
	uint64_t pkts = total->receiver.pkts;

	printf("cycles per packet here, %s\n", reverse ? "who receives" : "who sends");
	/* Rounds without work are counted for the loop, not for packets. */
	for (uint32_t i = WH_METER_LOOP + 1; i < WH_METER_TASKS; i++) {
		double here = per_pkt(total->cycles[i], pkts);

		if (here >= 0.05)
			printf("  %-15s%12.1f\n", wh_meter_task_name((enum wh_meter_task)i), here);
	}
	if (!reverse)
		printf("cycles per packet of the receiver, all together: %.1f\n",
			per_pkt(total->receiver.cycles, pkts));
}

/* Packets refused by this end, a line or a member for each reason that occurred. */
static void list_reasons(const struct wh_host *host, json_t *object)
{
	struct wh_reason reasons[WH_HOST_REASONS_MAX];
	uint32_t count = wh_host_reasons(host, reasons);

	for (uint32_t i = 0; i < count; i++) {
		if (object != NULL)
			json_object_set_new(
				object, reasons[i].name, json_integer((json_int_t)reasons[i].pkts));
		else
			printf("  %-40s %" PRIu64 "\n", reasons[i].name, reasons[i].pkts);
	}
}

static const char *pacing_name(const struct wh_settings *settings)
{
	return settings->rate_bps == WH_RATE_MAX ? "the port (no rate)" : "TSC";
}

/* Repair counters of the sessions that carried the data, at this end. */
static struct wh_session_stats repair_stats(const struct wh_lanes *lanes)
{
	struct wh_session_stats sum = {0};

	for (uint32_t i = 0; i < lanes->started; i++)
		wh_session_stats_add(&sum, &lanes->job[i]->result.figures.stats);
	return sum;
}

static void print_rate(const struct wh_bench_rows *rows, const struct wh_bench_sum *total)
{
	const struct wh_bench_report *r = &total->receiver;
	double from_s;
	const struct wh_bench_sum steady = steady_part(rows, total, &from_s);
	char rate[WH_UNITS_MAX];
	char size[WH_UNITS_MAX];
	char with[WH_UNITS_MAX];

	printf("%s at the receiver, %.3f Mpps, %s in %.2f s; %" PRIu64 " retransmitted, %" PRIu64
	       " duplicates\n",
		wh_format_rate(rate, sizeof(rate), steady.bps), steady.pps / 1e6,
		wh_format_size(size, sizeof(size), r->bytes), (double)r->elapsed_ns / 1e9,
		total->retransmitted_pkts, r->duplicate_pkts);
	if (from_s > 0)
		printf("rate and cycles exclude the first %.2f s of warm-up; including it, %s\n",
			from_s, wh_format_rate(with, sizeof(with), total->bps));
	wh_seal_tell(&rows->lanes->job[0]->sealed);
}

static void print_text(const struct wh_bench_rows *rows, const struct wh_bench_sum *total)
{
	const struct wh_settings *settings = rows->settings;
	const struct wh_job_figures *figures = &rows->lanes->job[0]->result.figures;
	const struct wh_session_stats repair = repair_stats(rows->lanes);
	double from_s;
	const struct wh_bench_sum steady = steady_part(rows, total, &from_s);

	WH_ASSERT(steady.receiver.elapsed_ns > 0);
	print_rate(rows, total);
	if (!settings->reverse)
		printf("pacing by %s: p50 %" PRIu64 " ns late, p99 %" PRIu64 " ns, p99.9 %" PRIu64
		       " ns; limited by %s\n",
			pacing_name(settings), figures->lateness_ns[0], figures->lateness_ns[1],
			figures->lateness_ns[2], wh_limit_name(figures->limited_by));
	if (settings->repair.on)
		wh_repair_print(&repair);
	wh_learnt_path_print(rows->learnt);
	print_cycles(&steady, settings->reverse);
	print_costs(rows, &steady);
	list_reasons(rows->host, NULL);
}

/* The request and its result. */
static json_t *outcome_json(const struct wh_bench_rows *rows, int status)
{
	const struct wh_settings *settings = rows->settings;
	json_t *all = wh_head_json("bench", status);

	/* clang-format off */
	wh_json_add(all, json_pack("{s:o, s:s, s:s, s:i, s:b, s:s, s:s, s:o}",
		"host", wh_word_to_json(rows->server),
		"version", WH_VERSION,
		"dpdk", rte_version(),
		"mtu", (int)settings->mtu_bytes,
		"reverse", settings->reverse,
		"profile", settings->profile->name,
		"pacing", pacing_name(settings),
		"rate_bps", settings->rate_bps == WH_RATE_MAX
			? json_null() : json_integer((json_int_t)settings->rate_bps)));
	/* clang-format on */
	json_object_set_new(all, "sealed",
		wh_seal_json(rows->lanes->job[0] != NULL ? &rows->lanes->job[0]->sealed : NULL));
	json_object_set_new(all, "guarded", json_boolean(!settings->no_guard));
	return all;
}

/* Busy share of each core of this end, after the warm-up. */
static json_t *cores_json(const struct wh_bench_rows *rows)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < rows->host->runtime->cores.count; i++) {
		uint64_t busy_tsc = rows->host->runtime->loop[i].busy_tsc - rows->warm_busy_tsc[i];
		uint64_t all_tsc = rows->host->runtime->loop[i].total_tsc - rows->warm_total_tsc[i];

		json_array_append_new(list,
			json_pack("{s:i, s:f}", "cpu", (int)rows->host->runtime->cores.core[i].cpu,
				"busy",
				all_tsc > 0
					? (double)wh_min_u64(busy_tsc, all_tsc) / (double)all_tsc
					: 0.0));
	}
	return list;
}

/* Properties of the path, known to the sender; null at the receiver. */
static void add_path(json_t *all, const struct wh_bench_rows *rows)
{
	const struct wh_job_figures *figures = &rows->lanes->job[0]->result.figures;
	bool lane = rows->lanes->started > 0;
	bool sends = !rows->settings->reverse && lane;

	/* clang-format off */
	wh_json_add(all, json_pack("{s:o, s:o, s:o}",
		"limited_by", sends ? json_string(wh_limit_name(figures->limited_by)) : json_null(),
		"waits", sends ? wh_limits_json(figures->stats.limit_tsc) : json_null(),
		"rtt_ms", lane && figures->rtt_min_ns > 0
			? json_pack("{s:f, s:f}", "min", (double)figures->rtt_min_ns / 1e6,
				"mean", (double)figures->rtt_ns / 1e6)
			: json_null()));
	wh_json_add(all, json_pack("{s:o}", "learnt",
		sends ? wh_learnt_path_json(rows->learnt) : json_null()));
	if (sends)
		wh_json_add(all, json_pack("{s:{s:I, s:I, s:I}}", "lateness_ns",
			"p50", (json_int_t)figures->lateness_ns[0],
			"p99", (json_int_t)figures->lateness_ns[1],
			"p99_9", (json_int_t)figures->lateness_ns[2]));
	/* clang-format on */
}

static void add_counts(
	json_t *all, const struct wh_bench_rows *rows, const struct wh_bench_sum *total)
{
	const struct wh_bench_report *r = &total->receiver;
	const struct wh_session_stats repair = repair_stats(rows->lanes);
	uint64_t came_or_lost = r->pkts + r->lost_pkts;
	json_t *reasons = json_object();

	list_reasons(rows->host, reasons);
	/* clang-format off */
	wh_json_add(all, json_pack("{s:{s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I}, "
		"s:{s:I, s:I, s:I}, s:o, s:f, s:o}",
		"receiver",
			"seconds", (double)r->elapsed_ns / 1e9,
			"bps", total->bps,
			"pps", total->pps,
			"bytes", (json_int_t)r->bytes,
			"packets", (json_int_t)r->pkts,
			"duplicate", (json_int_t)r->duplicate_pkts,
			"lost", (json_int_t)r->lost_pkts,
			"bad", (json_int_t)r->bad_pkts,
			"dropped", (json_int_t)r->dropped_pkts,
		"sender",
			"packets", (json_int_t)total->sent_pkts,
			"retransmitted", (json_int_t)total->retransmitted_pkts,
			"repair", (json_int_t)total->repair_pkts,
		"repair", wh_repair_json(&repair),
		"loss", came_or_lost > 0 ? (double)r->lost_pkts / (double)came_or_lost : 0.0,
		"refused_packets", reasons));
	/* clang-format on */
}

static void print_json(
	const struct wh_bench_rows *rows, const struct wh_bench_sum *total, int status)
{
	json_t *all = outcome_json(rows, status);
	double from_s;

	if (rows->host != NULL) {
		const struct wh_bench_sum steady = steady_part(rows, total, &from_s);
		const struct wh_bench_report *r = &steady.receiver;

		add_counts(all, rows, total);
		add_path(all, rows);
		/* clang-format off */
		wh_json_add(all, json_pack(
			"{s:i, s:{s:o, s:f}, s:o, s:{s:f, s:f, s:f}, s:o, s:o}",
			"parallel", (int)rows->lanes->started,
			"cycles_per_packet",
				"here", cycles_json(steady.cycles, r->pkts),
				"receiver", per_pkt(r->cycles, r->pkts),
			"cost", costs_json(rows, &steady),
			"steady",
				"from_seconds", from_s,
				"bps", steady.bps,
				"pps", steady.pps,
			"cores", cores_json(rows),
			"intervals", rows->intervals != NULL ? json_incref(rows->intervals)
							     : json_array()));
		/* clang-format on */
	}
	wh_json_print(all, JSON_INDENT(2));
}

void wh_bench_end(struct wh_bench_rows *rows, const struct wh_bench_sum *total, int status)
{
	if (rows->settings->json)
		print_json(rows, total, status);
	else if (rows->host != NULL && rows->lanes->started > 0 && total->receiver.pkts > 0)
		print_text(rows, total);
	json_decref(rows->intervals);
}
