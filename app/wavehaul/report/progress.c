/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/progress.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/plain_text.h"

#define ERASE_TO_END  "\033[K"
#define USUAL_COLUMNS 80

static double rate_bps(uint64_t bytes, double span_s)
{
	return span_s > 0 ? (double)bytes * 8 / span_s : 0;
}

/* Parts of the line, from the widest to the narrowest form. */
static const struct {
	bool now;
	bool mean;
	bool eta;
	bool words;
} shapes[] = {
	{true, true, true, true},
	{true, false, true, true},
	{true, false, true, false},
	{true, false, false, false},
	{false, false, false, false},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct parts {
	char begin[WH_UNITS_MAX + 16];
	char now[WH_UNITS_MAX + 8];
	char mean[WH_UNITS_MAX + 8];
	char eta[32];
};

static void make_parts(struct parts *parts, const struct wh_progress_line *progress)
{
	double mean_bps = rate_bps(progress->bytes, progress->all_s);
	uint64_t there = wh_add_u64(progress->bytes, progress->passed_bytes);
	bool has_end = progress->all_bytes >= there && progress->all_bytes > 0;
	char text[WH_UNITS_MAX];
	char share[16] = "";

	if (has_end)
		snprintf(share, sizeof(share), " %5.1f %%",
			100.0 * (double)there / (double)progress->all_bytes);
	if (has_end && mean_bps > 0)
		snprintf(parts->eta, sizeof(parts->eta), "  ETA %.0f s",
			(double)(progress->all_bytes - there) * 8 / mean_bps);
	snprintf(parts->begin, sizeof(parts->begin), "%10s%s",
		wh_format_size(text, sizeof(text), progress->bytes), share);
	snprintf(parts->now, sizeof(parts->now), "  now %s",
		wh_format_rate(text, sizeof(text), rate_bps(progress->new_bytes, progress->new_s)));
	snprintf(parts->mean, sizeof(parts->mean), "  mean %s",
		wh_format_rate(text, sizeof(text), mean_bps));
}

const char *wh_progress_text(char text[WH_PROGRESS_TEXT_BYTES], uint32_t columns,
	const struct wh_progress_line *progress)
{
	struct parts parts = {0};
	size_t room = wh_min_u64(columns + UINT64_C(1), WH_PROGRESS_TEXT_BYTES);
	int bytes = INT_MAX;

	WH_ASSERT(progress->words != NULL);
	make_parts(&parts, progress);
	for (size_t i = 0; i < SHAPES && bytes >= (int)room; i++)
		bytes = snprintf(text, room, "%s%s%s%s%s%s", parts.begin,
			shapes[i].now ? parts.now : "", shapes[i].mean ? parts.mean : "",
			shapes[i].eta ? parts.eta : "",
			shapes[i].words && progress->words[0] != '\0' ? "  " : "",
			shapes[i].words ? progress->words : "");
	return text;
}

const char *wh_progress_left(
	char text[WH_PROGRESS_TEXT_BYTES], uint64_t files, const struct wh_left *left)
{
	char bytes[WH_UNITS_MAX];
	uint64_t all = wh_add_u64(files, left->files);

	snprintf(text, WH_PROGRESS_TEXT_BYTES, "%" PRIu64 " of %s%" PRIu64 " file%s, %s left",
		files, left->at_least ? "at least " : "", all, wh_plural(all),
		wh_format_size(bytes, sizeof(bytes), left->bytes));
	return text;
}

double wh_progress_eta_s(const struct wh_left *left, uint64_t bytes, double all_s)
{
	double mean_bps = rate_bps(bytes, all_s);

	return left->at_least || mean_bps <= 0 ? -1 : (double)left->bytes * 8 / mean_bps;
}

/* The last column stays free: some terminals wrap the line there. */
static uint32_t columns_of_terminal(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return USUAL_COLUMNS - 1;
	return size.ws_col - 1U;
}

double wh_progress_s(const struct wh_progress *progress, uint64_t from_tsc, uint64_t to_tsc)
{
	WH_ASSERT(progress->hz > 0);
	return from_tsc != 0 && to_tsc > from_tsc
		       ? (double)(to_tsc - from_tsc) / (double)progress->hz
		       : 0;
}

bool wh_progress_is_due(struct wh_progress *progress, uint64_t now_tsc, uint64_t every_ms)
{
	if (progress->began_tsc == 0)
		progress->began_tsc = progress->last_tsc = progress->next_tsc = now_tsc;
	if (now_tsc < progress->next_tsc)
		return false;
	progress->next_tsc = now_tsc + wh_ns_to_tsc(progress->hz, every_ms * UINT64_C(1000000));
	return true;
}

void wh_progress_show(struct wh_progress *progress, uint64_t now_tsc, uint64_t bytes,
	uint64_t passed_bytes, uint64_t all_bytes, const char *words)
{
	const struct wh_progress_line line = {
		.bytes = bytes,
		.passed_bytes = passed_bytes,
		.all_bytes = all_bytes,
		.all_s = wh_progress_s(progress, progress->began_tsc, now_tsc),
		.new_bytes = bytes - progress->last_bytes,
		.new_s = wh_progress_s(progress, progress->last_tsc, now_tsc),
		.words = words,
	};
	char text[WH_PROGRESS_TEXT_BYTES];

	fprintf(stderr, "\r%s" ERASE_TO_END, wh_progress_text(text, columns_of_terminal(), &line));
	wh_complain_over("\r" ERASE_TO_END);
	progress->line_open = true;
}

void wh_progress_clear(struct wh_progress *progress)
{
	if (progress->line_open)
		fprintf(stderr, "\r" ERASE_TO_END);
	wh_complain_over(NULL);
	progress->line_open = false;
}

void wh_progress_told(struct wh_progress *progress, uint64_t now_tsc, uint64_t bytes)
{
	progress->last_tsc = now_tsc;
	progress->last_bytes = bytes;
}

bool wh_progress_has_terminal(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDERR_FILENO) == 1 && kind != NULL && kind[0] != '\0' &&
	       strcmp(kind, "dumb") != 0;
}
