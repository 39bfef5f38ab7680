/* SPDX-License-Identifier: BSD-3-Clause */

/* Sums as a picture: a bar for the bytes of each. */

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "history/sums.h"
#include "plot/svg.h"

#define WIDTH     900
#define HEAD      70
#define ROW       22
#define LEFT      230
#define BAR_WIDTH 420

/* Bars that fit on a page: of days the last ones, of other sums the largest. */
#define ROWS_MAX 100

static void draw_row(struct wh_svg *svg, const struct wh_sum *sum, double y, uint64_t most)
{
	char size[WH_UNITS_MAX], rate[WH_UNITS_MAX];
	double width = most > 0 ? (double)sum->bytes * BAR_WIDTH / (double)most : 0;

	WH_ASSERT(width >= 0 && width <= BAR_WIDTH);
	wh_svg_text(svg, LEFT - 8, y + 13, WH_SVG_END, "", "%.34s", sum->name);
	fprintf(svg->file,
		"<rect class=\"bar\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
		"data-bytes=\"%llu\"/>\n",
		LEFT, y, width, ROW - 6, wh_svg_colour[sum->wrong > 0 ? 1 : 0],
		(unsigned long long)sum->bytes);
	wh_svg_text(svg, LEFT + width + 8, y + 13, WH_SVG_START, "", "%s, %s%s",
		wh_format_size(size, sizeof(size), sum->bytes),
		wh_format_rate(rate, sizeof(rate), wh_history_bps(sum->flowed_bytes, sum->seconds)),
		sum->wrong > 0 ? ", some failed" : "");
}

int wh_sums_draw(const struct wh_sums *sums, const char *span, const char *path)
{
	uint32_t rows = (uint32_t)wh_min_u64(sums->count, ROWS_MAX);
	uint32_t first = sums->by == WH_SUMS_BY_DAY ? sums->count - rows : 0;
	struct wh_svg svg;
	uint64_t most = 0;
	int rc = wh_svg_open(&svg, path, WIDTH, HEAD + ROW * (rows > 0 ? rows : 1) + 20);

	if (rc != 0)
		return rc;
	for (uint32_t i = first; i < first + rows; i++)
		most = wh_max_u64(most, sums->sum[i].bytes);
	wh_svg_text(&svg, 20, 28, WH_SVG_START, "font-size=\"17\" font-weight=\"bold\"",
		"Transferred by %s", wh_sums_word(sums->by));
	wh_svg_text(&svg, 20, 48, WH_SVG_START, "fill=\"" WH_SVG_FAINT "\"", "%s%s", span,
		rows < sums->count ? "; not all are shown" : "");
	for (uint32_t i = 0; i < rows; i++)
		draw_row(&svg, &sums->sum[first + i], HEAD + ROW * i, most);
	if (rows == 0)
		wh_svg_text(&svg, 20, HEAD + 13, WH_SVG_START, "", "nothing");
	return wh_svg_close(&svg);
}
