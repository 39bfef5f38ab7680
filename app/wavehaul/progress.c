/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/units.h"

#define ERASE_TO_END "\033[K"

static double rate_bps(uint64_t bytes, double span_s)
{
	return span_s > 0 ? (double)bytes * 8 / span_s : 0;
}

const char *wh_progress_text(char text[WH_PROGRESS_TEXT_BYTES], const struct wh_progress *progress)
{
	double mean_bps = rate_bps(progress->bytes, progress->all_s);
	char size[WH_UNITS_MAX];
	char now_text[WH_UNITS_MAX];
	char mean_text[WH_UNITS_MAX];
	char share[16] = "";
	char rest[32] = "";

	if (progress->all_bytes >= progress->bytes && progress->all_bytes > 0)
		snprintf(share, sizeof(share), " %5.1f %%",
			100.0 * (double)progress->bytes / (double)progress->all_bytes);
	if (share[0] != '\0' && mean_bps > 0)
		snprintf(rest, sizeof(rest), "  ETA %.0f s",
			(double)(progress->all_bytes - progress->bytes) * 8 / mean_bps);
	snprintf(text, WH_PROGRESS_TEXT_BYTES, "%10s%s  now %s  mean %s%s%s%s",
		wh_format_size(size, sizeof(size), progress->bytes), share,
		wh_format_rate(
			now_text, sizeof(now_text), rate_bps(progress->new_bytes, progress->new_s)),
		wh_format_rate(mean_text, sizeof(mean_text), mean_bps), rest,
		progress->words[0] != '\0' ? "  " : "", progress->words);
	return text;
}

void wh_progress_show(const struct wh_progress *progress)
{
	char text[WH_PROGRESS_TEXT_BYTES];

	fprintf(stderr, "\r%s" ERASE_TO_END, wh_progress_text(text, progress));
}

void wh_progress_clear(void)
{
	fprintf(stderr, "\r" ERASE_TO_END);
}

bool wh_progress_has_terminal(void)
{
	return isatty(STDERR_FILENO) == 1;
}
