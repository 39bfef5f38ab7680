/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The functions of [report] and [expect], evaluated for a run. */

#include "scenario/point.h"

/*
 * The `context` of a scope whose `ask` is wh_ask. Without a run everything is checked, the times in
 * questions become marks of the point, and every answer is 1.
 */
struct wh_asking {
	struct wh_point *point;
	const struct wh_scenario_run *run; /* NULL: none yet */
};

bool wh_ask(const struct wh_expr_scope *scope, const char *function, const char *const *args,
	uint32_t n_args, struct wh_value *value, char wrong[WH_EXPR_WRONG_BYTES]);

/* A flow's goodput plus its packets' headers. */
double wh_throughput_bps(
	const struct wh_scenario_group *group, uint64_t goodput_bytes, double span_s);
