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

void wh_deadline_print(const json_t *deadline, const char *has)
{
	const json_t *met = json_object_get(deadline, "met");
	double needs_bps = json_number_value(json_object_get(deadline, "needs_bps"));
	double has_bps = json_number_value(json_object_get(deadline, "has_bps"));
	char by[WH_MOMENT_BYTES], done[WH_MOMENT_BYTES];
	char needs[WH_UNITS_MAX], rate[WH_UNITS_MAX];

	wh_moment_text((int64_t)wh_json_count(deadline, "by_s"), by);
	wh_moment_text((int64_t)wh_json_count(deadline, "done_s"), done);
	wh_format_rate(needs, sizeof(needs), needs_bps);
	wh_format_rate(rate, sizeof(rate), has_bps);
	if (json_is_null(json_object_get(deadline, "needs_bps")))
		wh_say("late: it was to be done by %s", by);
	else if (json_is_false(met))
		wh_say("late: by %s it needs %s in the mean, %s %s: done by %s", by, needs, has,
			rate, done);
	else if (json_is_null(met))
		printf("by %s it needs %s in the mean; no rate is known\n", by, needs);
	else if (needs_bps > 0)
		printf("by %s it needs %s in the mean, %s %s: done by %s\n", by, needs, has, rate,
			done);
}
