/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/site.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/ini.h"

#define GOLDEN 0.6180339887498949 /* (sqrt(5) - 1) / 2 */

static const struct wh_ini_kind kinds[] = {{"receiver", "dtn1"}};

static const struct wh_ini_form form = {
	.what = "file of a site",
	.else_do = "write one: a section [receiver NAME] with address = HOST for each receiver",
	.kinds = kinds,
	.n_kinds = 1,
	.utf8 = true,
};

/* NULL, or what is wrong with the value, to follow it in a sentence. */
static const char *take_key(struct wh_site_receiver *receiver, const char *key, const char *value)
{
	if (strcmp(key, "address") == 0) {
		if (value[0] == '\0' || strlen(value) >= sizeof(receiver->address))
			return "is no host; write for example address = dtn1.example.org";
		strcpy(receiver->address, value);
		return NULL;
	}
	if (strcmp(key, "weight") == 0) {
		if (wh_parse_number(value, &receiver->weight) != 0 || !(receiver->weight > 0))
			return "is no number above 0; write for example weight = 2";
		return NULL;
	}
	if (strcmp(key, "rate") == 0) {
		uint64_t bps;

		if (wh_parse_rate(value, &bps) != 0 || bps == 0)
			return "is no rate; write for example rate = 10G";
		receiver->rate_bps = (double)bps;
		return NULL;
	}
	if (strcmp(key, "maintenance") != 0)
		return "is unknown; a receiver has address, weight, rate and maintenance";
	receiver->maintenance = strcmp(value, "yes") == 0;
	return receiver->maintenance || strcmp(value, "no") == 0
		       ? NULL
		       : "is neither yes nor no; write for example maintenance = yes";
}

static int take_section(struct wh_site *site, const struct wh_ini_section *section)
{
	struct wh_site_receiver *receiver = &site->receiver[site->receivers];

	if (site->receivers == WH_SITE_RECEIVERS_MAX ||
		strlen(section->name) >= sizeof(receiver->name))
		return wh_fail(WH_EXIT_USAGE,
			"%s: a site has at most %d receivers, with names of "
			"at most %d characters",
			section->where, WH_SITE_RECEIVERS_MAX, WH_SITE_TEXT_BYTES - 1);
	*receiver = (struct wh_site_receiver){.weight = 1};
	strcpy(receiver->name, section->name);
	for (uint32_t i = 0; i < section->n_entries; i++) {
		const struct wh_ini_entry *entry = &section->entries[i];
		const char *wrong = take_key(receiver, entry->key, entry->value);

		if (wrong != NULL)
			return wh_fail(WH_EXIT_USAGE, "%s: %s = '%s' %s", entry->where, entry->key,
				entry->value, wrong);
	}
	if (receiver->address[0] == '\0')
		return wh_fail(WH_EXIT_USAGE,
			"%s: [%s] has no address; write for example "
			"address = dtn1.example.org",
			section->where, section->head);
	site->receivers++;
	return -1;
}

int wh_site_read(struct wh_site *site, const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct wh_ini ini;
	int status;

	site->receivers = 0;
	if (strchr(name, '/') != NULL || name[0] == '.' ||
		snprintf(path, sizeof(path), "%s/%s.conf", folder, name) >= (int)sizeof(path))
		return wh_fail(WH_EXIT_USAGE, "'%s' is no name of a site", name);
	status = wh_ini_read(&ini, &form, path);
	for (uint32_t i = 0; status == -1 && i < ini.n_sections; i++)
		status = take_section(site, &ini.sections[i]);
	wh_ini_free(&ini);
	if (status == -1 && site->receivers == 0)
		return wh_fail(WH_EXIT_USAGE, "%s has no receiver; %s", path, form.else_do);
	return status;
}

double wh_site_bps(const struct wh_site *site)
{
	double bps = 0;

	for (uint32_t i = 0; i < site->receivers; i++) {
		if (site->receiver[i].maintenance)
			continue;
		if (!(site->receiver[i].rate_bps > 0))
			return 0;
		bps += site->receiver[i].rate_bps;
	}
	return bps;
}

/* By weight: exponentially distributed, the smallest wins. */
static double draw_of(const struct wh_site_receiver *receiver, uint32_t shard)
{
	uint64_t drawn = XXH3_64bits_withSeed(receiver->name, strlen(receiver->name), shard);

	return -log(((double)(drawn >> 11) + 0.5) / (double)(UINT64_C(1) << 53)) / receiver->weight;
}

/*
 * The receiver in service whose turn it is. Weights divide a line into parts, on which as many
 * shards as there are receivers have equal distances; each such round is shifted by the golden
 * ratio against the one before it, so that soon each part has had what its length says.
 */
static uint32_t find_turn(const struct wh_site *site, uint32_t shard)
{
	double weights = 0, at = 0;
	uint32_t count = 0, turn = 0;

	for (uint32_t i = 0; i < site->receivers; i++) {
		if (site->receiver[i].maintenance)
			continue;
		weights += site->receiver[i].weight;
		count++;
	}
	if (count > 0)
		at = (shard % count + fmod((shard / count + 0.5) * GOLDEN, 1)) / count * weights;
	for (uint32_t i = 0; i < site->receivers && at >= 0; i++) {
		if (site->receiver[i].maintenance)
			continue;
		at -= site->receiver[i].weight;
		turn = i;
	}
	return turn;
}

uint32_t wh_site_order(
	const struct wh_site *site, uint32_t shard, uint16_t order[WH_SITE_RECEIVERS_MAX])
{
	double draws[WH_SITE_RECEIVERS_MAX];
	uint32_t count = 0, turn = find_turn(site, shard);

	for (uint32_t i = 0; i < site->receivers; i++) {
		double drawn = i == turn ? 0 : draw_of(&site->receiver[i], shard);
		uint32_t at = count;

		if (site->receiver[i].maintenance)
			continue;
		for (; at > 0 && draws[at - 1] > drawn; at--) {
			draws[at] = draws[at - 1];
			order[at] = order[at - 1];
		}
		draws[at] = drawn;
		order[at] = (uint16_t)i;
		count++;
	}
	return count;
}
