/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/deadline.h"

#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/complain.h"
#include "cli/json.h"
#include "cli/moment/moment.h"

json_t *wh_deadline_look(int64_t by_s, int64_t now_s, uint64_t bytes_left, double has_bps)
{
	double bits = (double)bytes_left * 8;
	double span_s = (double)(by_s - now_s);
	double takes_s = has_bps > 0 ? bits / has_bps : 0;

	if (bytes_left == 0)
		return json_pack("{s:I, s:f, s:f, s:I, s:b}", "by_s", (json_int_t)by_s, "needs_bps",
			0.0, "has_bps", has_bps, "done_s", (json_int_t)now_s, "met", now_s <= by_s);
	return json_pack("{s:I, s:o, s:f, s:o, s:o}", "by_s", (json_int_t)by_s, "needs_bps",
		span_s > 0 ? json_real(bits / span_s) : json_null(), "has_bps", has_bps, "done_s",
		has_bps > 0 ? json_integer((json_int_t)(now_s + (int64_t)ceil(takes_s)))
			    : json_null(),
		"met",
		span_s <= 0   ? json_false()
		: has_bps > 0 ? json_boolean(takes_s <= span_s)
			      : json_null());
}

bool wh_deadline_text(const json_t *deadline, const char *has, char text[WH_DEADLINE_TEXT_BYTES])
{
	const json_t *met = json_object_get(deadline, "met");
	double needs_bps = json_number_value(json_object_get(deadline, "needs_bps"));
	double has_bps = json_number_value(json_object_get(deadline, "has_bps"));
	char by[WH_MOMENT_BYTES], done[WH_MOMENT_BYTES];
	char needs[WH_UNITS_MAX], rate[WH_UNITS_MAX];
	bool is_over = json_is_null(json_object_get(deadline, "needs_bps"));

	wh_moment_text((int64_t)wh_json_count(deadline, "by_s"), by);
	wh_moment_text((int64_t)wh_json_count(deadline, "done_s"), done);
	wh_format_rate(needs, sizeof(needs), needs_bps);
	wh_format_rate(rate, sizeof(rate), has_bps);
	text[0] = '\0';
	if (is_over)
		snprintf(text, WH_DEADLINE_TEXT_BYTES, "late: it was to be done by %s", by);
	else if (json_is_null(met))
		snprintf(text, WH_DEADLINE_TEXT_BYTES,
			"by %s it needs %s in the mean; no rate is known", by, needs);
	else if (json_is_false(met) || needs_bps > 0)
		snprintf(text, WH_DEADLINE_TEXT_BYTES,
			"%sby %s it needs %s in the mean, %s %s: done by %s",
			json_is_false(met) ? "late: " : "", by, needs, has, rate, done);
	return is_over || json_is_false(met);
}

void wh_deadline_print(const json_t *deadline, const char *has)
{
	char text[WH_DEADLINE_TEXT_BYTES];

	if (wh_deadline_text(deadline, has, text))
		wh_say("%s", text);
	else if (text[0] != '\0')
		printf("%s\n", text);
}
