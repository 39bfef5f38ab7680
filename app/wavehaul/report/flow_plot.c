/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/flow_plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "plot/chart.h"
#include "plot/svg.h"

#define WORDS_BYTES 512

#define POINTS_MAX 200
#define POINTS_MIN 30
#define BEATS_ROWS 3

/* Values for each point of the picture. */
enum column {
	END_S,
	ARRIVED_BPS,
	SENT_BPS,
	ALLOWED_BPS,
	RTT_S,
	RTT_MIN_S,
	LOST_PKTS,
	RETRANSMITTED_PKTS,
	REPAIR_PKTS,
	LIMIT_SHARE, /* and the following: one for each limit */
	COLUMNS = LIMIT_SHARE + WH_LIMITS,
};

struct columns {
	uint32_t count;
	uint64_t point_ns;
	double value[COLUMNS][WH_FLOW_ROWS];
};

void wh_flow_plot_begin(struct wh_flow_plot *plot, bool on)
{
	plot->on = on;
	plot->path = NULL;
	plot->began_tsc = plot->next_tsc = 0;
	wh_flow_history_init(&plot->history);
}

bool wh_flow_plot_init(struct wh_flow_plot *plot, const char *path)
{
	wh_flow_plot_begin(plot, path[0] != '\0');
	plot->path = path;
	return !plot->on || wh_svg_may_write(path);
}

static void add(struct wh_flow_plot *plot, const struct wh_lanes *lanes, uint64_t at_ns, bool last)
{
	struct wh_flow_now now;

	wh_flow_now_look(&now, lanes->job, lanes->started);
	plot->sends = now.sends;
	wh_flow_history_add(&plot->history, at_ns, &now, last);
}

void wh_flow_plot_look(struct wh_flow_plot *plot, const struct wh_lanes *lanes, uint64_t now_tsc)
{
	if (!plot->on || now_tsc < plot->next_tsc || lanes->started == 0)
		return;

	const struct wh_job *job = lanes->job[0];
	uint64_t hz = lanes->jobs->ctx->hz;

	plot->next_tsc = now_tsc + wh_ns_to_tsc(hz, WH_FLOW_LOOK_NS);
	if (plot->began_tsc == 0) {
		if (atomic_load(&job->view.state) >= WH_JOB_RUNNING)
			plot->began_tsc = job->ready.began_tsc;
		return;
	}
	/* The closing exchange is not part of the picture. */
	if (wh_lanes_ended(lanes, 0) || now_tsc <= plot->began_tsc)
		return;

	uint64_t at_ns = wh_tsc_to_ns(hz, now_tsc - plot->began_tsc);

	if (at_ns > plot->history.open.end_ns)
		add(plot, lanes, at_ns, false);
}

void wh_flow_plot_renew(struct wh_flow_plot *plot)
{
	if (plot->on)
		wh_flow_history_renew(&plot->history);
}

/* A short transfer may be over before the first look. */
static void look_at_end(struct wh_flow_plot *plot, const struct wh_lanes *lanes)
{
	uint64_t began_tsc = lanes->started > 0 ? lanes->job[0]->ready.began_tsc : 0;
	uint64_t ended_tsc = 0;

	if (began_tsc == 0)
		return;
	for (uint32_t i = 0; i < lanes->started; i++)
		ended_tsc = wh_max_u64(ended_tsc, lanes->job[i]->result.ended_tsc);

	uint64_t at_ns = wh_tsc_to_ns(
		lanes->jobs->ctx->hz, ended_tsc > began_tsc ? ended_tsc - began_tsc : 0);

	add(plot, lanes, wh_max_u64(at_ns, plot->history.open.end_ns + 1), true);
}

/*
 * Shares of the limits. In the remaining time nothing was to be sent, or the closing exchange was
 * awaited.
 */
static void fill_limits(struct columns *to, uint32_t i, const struct wh_flow_row *row,
	const struct wh_flow_row *before)
{
	double all_ns = (double)(row->end_ns - before->end_ns) * row->lanes;
	double known_ns = 0;

	for (uint32_t k = 0; k < WH_LIMITS; k++)
		known_ns += (double)(row->limit_ns[k] - before->limit_ns[k]);
	/* Counters may be read a little before or after the time to which they belong. */
	all_ns = fmax(all_ns, known_ns);
	for (uint32_t k = 0; k < WH_LIMITS; k++)
		to->value[LIMIT_SHARE + k][i] =
			all_ns > 0 ? (double)(row->limit_ns[k] - before->limit_ns[k]) / all_ns : 0;
}

static void fill_row(struct columns *to, const struct wh_flow_row *row,
	const struct wh_flow_row *before, bool sends)
{
	double span_s = (double)(row->end_ns - before->end_ns) / 1e9;
	uint32_t i = to->count++;

	/* Most of this time was not looked at, as between two tries: nothing is known of it. */
	if (2 * row->gap_ns > row->end_ns - before->end_ns) {
		for (uint32_t column = 0; column < COLUMNS; column++)
			to->value[column][i] = NAN;
		to->value[END_S][i] = (double)row->end_ns / 1e9;
		return;
	}
	to->value[END_S][i] = (double)row->end_ns / 1e9;
	to->value[ARRIVED_BPS][i] = (double)(row->moved_bytes - before->moved_bytes) * 8 / span_s;
	to->value[SENT_BPS][i] =
		sends ? (double)(row->wire_bytes - before->wire_bytes) * 8 / span_s : NAN;
	to->value[ALLOWED_BPS][i] = wh_flow_mean(&row->rate_bps);
	to->value[RTT_S][i] = wh_flow_mean(&row->rtt_ns) / 1e9;
	to->value[RTT_MIN_S][i] = row->rtt_min_ns > 0 ? (double)row->rtt_min_ns / 1e9 : NAN;
	/* A packet counted as lost may arrive later, which is subtracted. */
	to->value[LOST_PKTS][i] = fmax(0, (double)row->lost_pkts - (double)before->lost_pkts);
	to->value[RETRANSMITTED_PKTS][i] =
		(double)(row->retransmitted_pkts - before->retransmitted_pkts);
	to->value[REPAIR_PKTS][i] = (double)(row->repair_pkts - before->repair_pkts);
	fill_limits(to, i, row, before);
}

/*
 * More points could not be told apart. With fewer rows in a point, the beat between the periods of
 * reports and of looks would appear as changes of the rate.
 */
static uint32_t rows_in_a_point(uint32_t count)
{
	uint32_t rows = (count + POINTS_MAX - 1) / POINTS_MAX;

	return count > BEATS_ROWS * POINTS_MIN && rows < BEATS_ROWS ? BEATS_ROWS : rows;
}

static void fill(struct columns *to, const struct wh_flow_history *history, bool sends)
{
	uint32_t rows = rows_in_a_point(history->count);
	struct wh_flow_row before = {0};

	to->count = 0;
	for (uint32_t first = 0; first < history->count; first += rows) {
		uint32_t end = (uint32_t)wh_min_u64(first + rows, history->count);
		struct wh_flow_row row = history->row[end - 1];

		for (uint32_t i = first; i + 1 < end; i++)
			wh_flow_row_merge(&row, &history->row[i]);
		fill_row(to, &row, &before, sends);
		before = row;
	}
	to->point_ns = rows * history->row_ns;
}

#define SERIES(in, column, named, with)                                                            \
	{                                                                                          \
		.name = (named), .value = (in)->value[column], .colour = (with)                    \
	}

/* Only limits that occurred: most transfers have two or three. */
static uint32_t limits_of(const struct columns *columns, struct wh_chart_series series[WH_LIMITS])
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < WH_LIMITS; k++) {
		const double *share = columns->value[LIMIT_SHARE + k];
		bool any = false;

		for (uint32_t i = 0; i < columns->count; i++)
			any |= share[i] > 0;
		if (any)
			series[count++] = (struct wh_chart_series){
				.name = wh_limit_name((enum wh_limit)k),
				.value = share,
				.colour = k % WH_SVG_COLOURS,
			};
	}
	return count;
}

static void say_how_it_went(const struct wh_flow_history *history, const struct wh_profile *profile,
	char words[WORDS_BYTES])
{
	char size[WH_UNITS_MAX], rate[WH_UNITS_MAX], when[32];
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", &tm);
	if (history->count == 0) {
		snprintf(words, WORDS_BYTES, "nothing was sent; %s; wavehaul %s", when, WH_VERSION);
		return;
	}

	const struct wh_flow_row *last = &history->row[history->count - 1];

	snprintf(words, WORDS_BYTES, "%s in %.2f s: %s of payload; profile %s; %s; wavehaul %s",
		wh_format_size(size, sizeof(size), last->moved_bytes), (double)last->end_ns / 1e9,
		wh_format_rate(
			rate, sizeof(rate), (double)last->moved_bytes * 8e9 / (double)last->end_ns),
		profile->name, when, WH_VERSION);
}

/* Writes it; or *text, if there is no path. */
static int draw(const struct wh_flow_plot *plot, const struct columns *columns,
	const struct wh_chart *words, char **text)
{
	struct wh_chart_series limits[WH_LIMITS];
	const struct wh_chart_series rates[] =
		{
			SERIES(columns, ALLOWED_BPS, "allowed on the wire", 5),
			SERIES(columns, SENT_BPS, "sent on the wire", 0),
			SERIES(columns, ARRIVED_BPS, "payload arrived", 1),
		},
				     rtts[] = {SERIES(columns, RTT_S, "smoothed", 0),
					     SERIES(columns, RTT_MIN_S, "least", 1)},
				     losses[] = {SERIES(columns, LOST_PKTS, "lost", 2),
					     SERIES(columns, RETRANSMITTED_PKTS, "retransmitted",
						     0),
					     SERIES(columns, REPAIR_PKTS, "repair", 6)};
	char row[WH_UNITS_MAX];
	char losses_title[80];

	snprintf(losses_title, sizeof(losses_title), "Packets in %s",
		wh_format_time(row, sizeof(row), columns->point_ns));

	const struct wh_chart_panel panels[] = {
		{"rate", "Rate", WH_CHART_LINES, WH_CHART_BPS, rates, 3, "nothing was sent"},
		{"rtt", "Round trip", WH_CHART_LINES, WH_CHART_SECONDS, rtts, 2,
			"none was measured"},
		{"loss", losses_title, WH_CHART_STEPS, WH_CHART_COUNT, losses, 3,
			"nothing was sent"},
		{"limit", "What limits", WH_CHART_LANES, WH_CHART_SHARE, limits,
			plot->sends ? limits_of(columns, limits) : 0,
			plot->history.count == 0 ? "nothing was sent"
						 : "known to the end that sends"},
	};
	struct wh_chart chart = *words;

	chart.time = "the server was ready";
	chart.end_s = columns->value[END_S];
	chart.count = columns->count;
	chart.panels = panels;
	chart.n_panels = sizeof(panels) / sizeof(panels[0]);
	if (plot->path != NULL)
		return wh_chart_write(&chart, plot->path);
	*text = wh_chart_text(&chart);
	return *text != NULL ? 0 : -ENOMEM;
}

static int finish(struct wh_flow_plot *plot, const struct wh_lanes *lanes,
	const struct wh_profile *profile, const char *what, const char *peer, const char *failure,
	char **text)
{
	char title[WORDS_BYTES];
	char words[WORDS_BYTES];
	const struct wh_chart texts = {.title = title, .subtitle = words, .failure = failure};
	struct columns *columns;
	int rc = -ENOMEM;

	look_at_end(plot, lanes);
	snprintf(title, sizeof(title), "wavehaul %s %s", what, peer);
	say_how_it_went(&plot->history, profile, words);
	columns = malloc(sizeof(*columns));
	if (columns != NULL) {
		fill(columns, &plot->history, plot->sends);
		rc = draw(plot, columns, &texts, text);
	}
	free(columns);
	if (rc == 0)
		plot->on = false;
	return rc;
}

int wh_flow_plot_write(struct wh_flow_plot *plot, const struct wh_lanes *lanes,
	const struct wh_profile *profile, const char *what, const char *peer, int status)
{
	const char *failure = status == WH_EXIT_OK ? "" : wh_last_complaint();
	int rc;

	if (!plot->on)
		return status;
	rc = finish(plot, lanes, profile, what, peer, failure, NULL);
	if (rc != 0 && status == WH_EXIT_OK)
		wh_complain("cannot write the picture %s: %s", plot->path, strerror(-rc));
	return rc != 0 && status == WH_EXIT_OK ? WH_EXIT_OTHER : status;
}

char *wh_flow_plot_text(struct wh_flow_plot *plot, const struct wh_lanes *lanes,
	const struct wh_profile *profile, const char *what, const char *peer, const char *failure)
{
	char *text = NULL;

	if (plot->on)
		(void)finish(plot, lanes, profile, what, peer, failure, &text);
	return text;
}
