/* SPDX-License-Identifier: BSD-3-Clause */
#include "wan/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/ini.h"
#include "cli/settings_table.h"

/* Any clock; used to check that times and rates are in range. */
#define CLOCK_HZ UINT64_C(4000000000)

#define NAME_BYTES 64

/* Longer than any run. */
#define OUTAGE_MAX_NS WH_BENCH_NS_MAX

struct schedule_reading {
	struct wh_wan_schedule *schedule;
	const struct wh_link_model *start;
	struct wh_link_model now[WH_EMULATOR_ENDS];
	uint64_t time_ns;
	struct wh_settings scratch; /* receives an option's value */
};

/* An option of the path that applies to both directions. */
static const struct wh_setting *find_option(const char *key)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if ((setting->verbs & WH_VERB_WAN) != 0 && strcmp(setting->section, "link") == 0 &&
			strcmp(setting->flag, "seed") != 0 && strcmp(setting->flag, key) == 0)
			return setting;
	}
	return NULL;
}

static int refuse_key(const struct wh_ini_entry *entry)
{
	char known[WH_SETTINGS_TEXT_BYTES] = "outage";

	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const char *flag = wh_settings_table[i].flag;
		size_t used = strlen(known);

		if (find_option(flag) == &wh_settings_table[i])
			snprintf(known + used, sizeof(known) - used, ", %s", flag);
	}
	return wh_fail(WH_EXIT_USAGE, "%s: a path has no '%s' that could change; there are %s",
		entry->where, entry->key, known);
}

static int take_outage(const struct wh_ini_entry *entry, struct wh_link_model *netem)
{
	uint64_t length_ns;

	if (wh_parse_time(entry->value, &length_ns) != 0 || length_ns == 0 ||
		length_ns > OUTAGE_MAX_NS)
		return wh_fail(WH_EXIT_USAGE,
			"%s: outage = '%s' is no time; write for example outage = 200ms",
			entry->where, entry->value);
	netem->outage[0] = (struct wh_link_outage){.start_ns = 0, .length_ns = length_ns};
	netem->n_outages = 1;
	return -1;
}

static int take_entry(struct schedule_reading *reading, const struct wh_ini_entry *entry,
	struct wh_link_model *netem)
{
	const struct wh_setting *setting = find_option(entry->key);
	char advice[WH_SETTINGS_TEXT_BYTES];

	if (strcmp(entry->key, "outage") == 0)
		return take_outage(entry, netem);
	if (setting == NULL)
		return refuse_key(entry);
	reading->scratch.link = *netem;

	const char *wrong = wh_setting_take(setting, entry->value, &reading->scratch);

	if (wrong != NULL) {
		wh_setting_advise(setting, advice);
		return wh_fail(WH_EXIT_USAGE, "%s: %s = '%s' %s; write for example %s = %s",
			entry->where, entry->key, entry->value, wrong, entry->key, advice);
	}
	*netem = reading->scratch.link;
	if (strcmp(entry->key, "rtt") == 0)
		netem->delay_ns = reading->scratch.rtt_ns / 2;
	return -1;
}

/* Parses "10s", "10s there" or "10s back". False: neither. */
static bool read_name(const char *name, struct wh_wan_step *step)
{
	char text[NAME_BYTES];
	size_t time_chars = strcspn(name, " \t");
	const char *direction = name + time_chars + strspn(name + time_chars, " \t");

	if (time_chars >= sizeof(text))
		return false;
	memcpy(text, name, time_chars);
	text[time_chars] = '\0';
	step->changes[WH_EMULATOR_A] = strcmp(direction, "back") != 0;
	step->changes[WH_EMULATOR_B] = strcmp(direction, "there") != 0;
	return wh_parse_time(text, &step->at_ns) == 0 &&
	       (*direction == '\0' || strcmp(direction, "back") == 0 ||
		       strcmp(direction, "there") == 0);
}

static int check_time(const struct schedule_reading *reading, const struct wh_ini_section *section,
	const struct wh_wan_step *step)
{
	const struct wh_wan_schedule *schedule = reading->schedule;
	const char *wrong = NULL;

	if (schedule->count > 0 && step->at_ns < schedule->step[schedule->count - 1].at_ns)
		wrong = "comes before the section above it: put them in the order of their times";
	else if (reading->time_ns != 0 && step->at_ns >= reading->time_ns)
		wrong = "never comes: --time ends the run before";
	else if (section->n_entries == 0)
		wrong = "changes nothing: give it a key, for example rate = 2G";
	if (wrong == NULL)
		return -1;
	return wh_fail(WH_EXIT_USAGE, "%s: [%s] %s", section->where, section->head, wrong);
}

/* Checks the resulting path as a whole. */
static int check_path(
	const struct schedule_reading *reading, const struct wh_ini_section *section, uint32_t end)
{
	const struct wh_link_model *netem = &reading->now[end];
	const char *wrong = NULL;

	if (netem->loss > 0 && netem->loss_model == WH_LOSS_GILBERT_ELLIOTT)
		wrong = "has a loss beside the loss-model ge, which says it all: give it loss = 0, "
			"or loss-model = bernoulli";
	else if (netem->ingress_bps != 0 && reading->start[end].ingress_bps == 0)
		wrong = "has an ingress, and had none at the start: give it one from there on";
	else if (!wh_netem_is_sound(netem, CLOCK_HZ))
		wrong = "has packets overtaken by no time: give it a reorder-delay, or a delay";
	if (wrong == NULL)
		return -1;
	return wh_fail(
		WH_EXIT_USAGE, "%s: the path of [%s] %s", section->where, section->head, wrong);
}

static int take_section(struct schedule_reading *reading, const struct wh_ini_section *section)
{
	struct wh_wan_step *step = &reading->schedule->step[reading->schedule->count];

	if (!read_name(section->name, step))
		return wh_fail(WH_EXIT_USAGE,
			"%s: '%s' is no time of a change; write for example [at 5s], [at 5s there] "
			"or [at 5s back]",
			section->where, section->head);

	int status = check_time(reading, section, step);

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS && status == -1; end++) {
		struct wh_link_model *netem = &reading->now[end];

		netem->n_outages = 0;
		for (uint32_t i = 0; step->changes[end] && status == -1 && i < section->n_entries;
			i++)
			status = take_entry(reading, &section->entries[i], netem);
		if (status == -1)
			status = check_path(reading, section, end);
		step->netem[end] = *netem;
	}
	if (status != -1)
		return status;
	step->head = strdup(section->head);
	WH_ASSERT(step->head != NULL);
	reading->schedule->count++;
	return -1;
}

/* A key given twice in sections with the same head is refused as if in one section. */
static int take_sections(struct schedule_reading *reading, const struct wh_ini *ini)
{
	int status = -1;

	reading->schedule->step = calloc(ini->n_sections + 1, sizeof(struct wh_wan_step));
	if (reading->schedule->step == NULL)
		return wh_fail(WH_EXIT_OTHER, "no memory for a schedule");
	for (uint32_t i = 0; i < ini->n_sections && status == -1; i++)
		status = take_section(reading, &ini->sections[i]);
	if (status == -1 && ini->n_sections == 0)
		return wh_fail(WH_EXIT_USAGE, "%s: there is no [at TIME] in it", ini->path);
	return status;
}

int wh_wan_schedule_read(struct wh_wan_schedule *schedule, const char *path,
	const struct wh_link_model netem[WH_EMULATOR_ENDS], uint64_t time_ns)
{
	static const struct wh_ini_kind kinds[] = {{.word = "at", .name = "5s"}};
	static const struct wh_ini_form form = {
		.what = "schedule",
		.else_do = "--then names a file of [at TIME] sections",
		.kinds = kinds,
		.n_kinds = 1,
	};
	struct schedule_reading *reading = calloc(1, sizeof(*reading));
	struct wh_ini ini;

	*schedule = (struct wh_wan_schedule){0};
	if (reading == NULL)
		return wh_fail(WH_EXIT_OTHER, "no memory for a schedule");
	reading->schedule = schedule;
	reading->time_ns = time_ns;
	reading->start = netem;
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		reading->now[end] = netem[end];

	int status = wh_ini_read(&ini, &form, path);

	if (status == -1)
		status = take_sections(reading, &ini);
	wh_ini_free(&ini);
	free(reading);
	return status;
}

void wh_wan_schedule_free(struct wh_wan_schedule *schedule)
{
	for (uint32_t i = 0; i < schedule->count; i++)
		free(schedule->step[i].head);
	free(schedule->step);
	*schedule = (struct wh_wan_schedule){0};
}

static void widen(struct wh_link_model *widest, const struct wh_link_model *step)
{
	widest->rate_bps = wh_max_u64(widest->rate_bps, step->rate_bps);
	widest->delay_ns = wh_max_u64(widest->delay_ns, step->delay_ns);
	widest->jitter_ns = wh_max_u64(widest->jitter_ns, step->jitter_ns);
	widest->reorder_delay_ns = wh_max_u64(widest->reorder_delay_ns, step->reorder_delay_ns);
	if (step->reorder > widest->reorder)
		widest->reorder = step->reorder;
	if (step->duplicate > widest->duplicate)
		widest->duplicate = step->duplicate;
}

/* An upper bound: packets on the widest path, plus those in the largest queue. */
uint32_t wh_wan_schedule_items(const struct wh_wan_schedule *schedule,
	const struct wh_link_model *start, enum wh_emulator_end end, uint32_t wire_bytes)
{
	struct wh_link_model widest = *start;

	for (uint32_t i = 0; i < schedule->count; i++)
		widen(&widest, &schedule->step[i].netem[end]);

	uint32_t items = wh_netem_items_needed(&widest, wire_bytes);

	for (uint32_t i = 0; i < schedule->count; i++) {
		const struct wh_link_model *step = &schedule->step[i].netem[end];

		widest.queue_bytes = step->queue_bytes;
		widest.queue_pkts = step->queue_pkts;
		items = (uint32_t)wh_max_u64(items, wh_netem_items_needed(&widest, wire_bytes));
	}
	return items;
}

uint32_t wh_wan_schedule_queue_pkts(
	const struct wh_wan_schedule *schedule, enum wh_emulator_end end)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < schedule->count; i++)
		most = (uint32_t)wh_max_u64(most, schedule->step[i].netem[end].queue_pkts);
	return most;
}
