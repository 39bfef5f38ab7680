/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "lab/sim/sim_memory.h"
#include "scenario/lex.h"

static uint32_t count_items(const char *list, char sign)
{
	char item[WH_ITEM_BYTES];
	uint32_t count = 0;

	while (wh_lex_item(&list, sign, item))
		count++;
	return count;
}

static bool is_taken(const struct wh_sweep *sweep, const char *name)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sweep->n_lists; i++)
		for (uint32_t k = 0; k < sweep->lists[i].n_names; k++)
			count += strcmp(sweep->lists[i].names[k], name) == 0;
	return count > 1;
}

static bool read_names(
	const struct wh_sweep *sweep, struct wh_sweep_list *list, const struct wh_ini_entry *entry)
{
	const char *rest = entry->key;
	char name[WH_ITEM_BYTES];

	list->names = wh_sim_allocate(count_items(rest, ':') * sizeof(*list->names));
	while (wh_lex_item(&rest, ':', name)) {
		list->names[list->n_names++] = wh_sim_insist(strdup(name), strlen(name));
		if (!wh_is_name(name))
			return wh_fail(false,
				"%s: '%s' is no name; names are letters, digits and _",
				entry->where, name);
		if (wh_expr_is_reserved(name) || is_taken(sweep, name))
			return wh_fail(false, "%s: '%s' means something already; take another name",
				entry->where, name);
	}
	return true;
}

static bool read_row(struct wh_sweep_list *list, const char *all, const struct wh_ini_entry *entry)
{
	bool fits = count_items(all, ':') == list->n_names;
	char **items = list->items + (size_t)list->n_rows * list->n_names;
	const char *rest = all;
	char item[WH_ITEM_BYTES];

	for (uint32_t i = 0; fits && i < list->n_names; i++) {
		wh_lex_item(&rest, ':', item);
		items[i] = wh_sim_insist(strdup(item), strlen(item));
		fits = item[0] != '\0';
	}
	list->n_rows++;
	if (!fits)
		wh_complain("%s: '%s' is not %s", entry->where, all,
			list->n_names == 1 ? "one value; values stand between commas"
					   : "one value for each name, with : between");
	return fits;
}

static bool read_rows(struct wh_sweep_list *list, const struct wh_ini_entry *entry)
{
	size_t n_items = (size_t)count_items(entry->value, ',') * list->n_names;
	const char *rest = entry->value;
	char row[WH_ITEM_BYTES];

	list->items = wh_sim_allocate(n_items * sizeof(*list->items));
	while (wh_lex_item(&rest, ',', row))
		if (!read_row(list, row, entry))
			return false;
	return true;
}

int wh_sweep_read(struct wh_sweep *sweep, struct wh_ini_section *section)
{
	*sweep = (struct wh_sweep){.n_points = 1};
	sweep->lists = wh_sim_allocate((section->n_entries + 1) * sizeof(*sweep->lists));
	for (uint32_t i = 0; i < section->n_entries; i++) {
		struct wh_ini_entry *entry = &section->entries[i];
		struct wh_sweep_list *list = &sweep->lists[sweep->n_lists++];

		entry->used = true;
		list->where = entry->where;
		list->set = entry->set;
		if (!read_names(sweep, list, entry) || !read_rows(list, entry))
			return WH_EXIT_USAGE;
		sweep->n_names += list->n_names;
		if ((uint64_t)sweep->n_points * list->n_rows > WH_SWEEP_POINTS_MAX)
			return wh_fail(WH_EXIT_USAGE, "%s: that makes more than %d points",
				entry->where, WH_SWEEP_POINTS_MAX);
		sweep->n_points *= list->n_rows;
		WH_ASSERT(sweep->n_points > 0);
	}
	return -1;
}

static void free_list(struct wh_sweep_list *list)
{
	for (uint32_t i = 0; i < list->n_names; i++)
		free(list->names[i]);
	for (uint32_t i = 0; i < list->n_rows * list->n_names; i++)
		free(list->items[i]);
	free(list->names);
	free(list->items);
}

void wh_sweep_free(struct wh_sweep *sweep)
{
	for (uint32_t i = 0; i < sweep->n_lists; i++)
		free_list(&sweep->lists[i]);
	free(sweep->lists);
	*sweep = (struct wh_sweep){0};
}

/* Evaluates the column of one name, and selects its value at this point. */
static bool evaluate_column(const struct wh_sweep_list *list, uint32_t name, uint32_t row,
	struct wh_sweep_values *values, struct wh_value *column)
{
	struct wh_expr_scope scope = {
		.variables = values->variables, .n_variables = values->n_variables};
	char wrong[WH_EXPR_WRONG_BYTES];

	WH_ASSERT(name < list->n_names && row < list->n_rows);
	for (uint32_t i = 0; i < list->n_rows; i++) {
		const char *item = list->items[i * list->n_names + name];

		if (!wh_expr_value(&scope, item, &column[i], wrong))
			return wh_fail(false, "%s: %s = '%s' %s", list->where, list->names[name],
				item, wrong);
		column[i].of = NULL;
	}
	values->variables[values->n_variables++] = (struct wh_variable){
		.name = list->names[name],
		.value = column[row],
		.values = list->set ? NULL : column,
		.n_values = list->n_rows,
	};
	return true;
}

int wh_sweep_at(const struct wh_sweep *sweep, uint32_t point, struct wh_sweep_values *values)
{
	uint32_t n_values = 0;
	uint32_t period = sweep->n_points;
	struct wh_value *column;

	WH_ASSERT(point < sweep->n_points);
	for (uint32_t i = 0; i < sweep->n_lists; i++)
		n_values += sweep->lists[i].n_rows * sweep->lists[i].n_names;
	*values = (struct wh_sweep_values){
		.variables = wh_sim_allocate((sweep->n_names + 1) * sizeof(*values->variables)),
		.values = wh_sim_allocate((n_values + 1) * sizeof(*values->values)),
	};
	column = values->values;
	for (uint32_t i = 0; i < sweep->n_lists; i++) {
		const struct wh_sweep_list *list = &sweep->lists[i];

		period /= list->n_rows;
		for (uint32_t k = 0; k < list->n_names; k++) {
			if (!evaluate_column(
				    list, k, point / period % list->n_rows, values, column))
				return WH_EXIT_USAGE;
			column += list->n_rows;
		}
	}
	/* Each point of the product has one row of each list. */
	WH_ASSERT(period == 1 && column == values->values + n_values);
	WH_ASSERT(values->n_variables == sweep->n_names);
	return -1;
}

void wh_sweep_values_free(struct wh_sweep_values *values)
{
	free(values->variables);
	free(values->values);
	*values = (struct wh_sweep_values){0};
}
