/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The lists of [sweep], and the points of their product. */

#include "cli/ini.h"
#include "scenario/expr.h"

#define WH_SWEEP_POINTS_MAX 100000

/* One line: names that change together, with equally many values each. */
struct wh_sweep_list {
	const char *where;
	bool set; /* by --set: its values may be unknown to the file's questions */
	char **names;
	uint32_t n_names;
	char **items; /* [row * n_names + name] */
	uint32_t n_rows;
};

struct wh_sweep {
	struct wh_sweep_list *lists;
	uint32_t n_lists;
	uint32_t n_names;
	uint32_t n_points; /* 1 without a sweep */
};

/* -1, or the exit status after a complaint; free it in both cases. */
int wh_sweep_read(struct wh_sweep *sweep, struct wh_ini_section *section);
void wh_sweep_free(struct wh_sweep *sweep);

/* The values of the names at one point, in the order of the file. */
struct wh_sweep_values {
	struct wh_variable *variables;
	uint32_t n_variables;
	struct wh_value *values; /* of all rows: valid words in comparisons */
};
int wh_sweep_at(const struct wh_sweep *sweep, uint32_t point, struct wh_sweep_values *values);
void wh_sweep_values_free(struct wh_sweep_values *values);
