/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul fleet`: trees sent or fetched by many nodes, as tasks of Slurm. */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "bundle/choice.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "cli/nearest/nearest.h"
#include "cli/settings_table.h"
#include "fleet/deadline.h"
#include "fleet/fleet_tell.h"
#include "fleet/forecast/forecast.h"
#include "fleet/scan/scan.h"
#include "fleet/shard_log.h"
#include "fleet/shards.h"
#include "fleet/site.h"
#include "fleet/slurm.h"
#include "fleet/task.h"
#include "queue/when.h"
#include "verbs.h"

#define PAGE_EVERY_S 5
#define TASK_START_S 1 /* from the end of the one before: docs/fleet.md, "Measured" */

struct fleet {
	struct wh_settings settings;
	struct wh_plan plan;
	char **words; /* operands after the command */
	uint32_t n_words;
	bool gets;
	char **options; /* of send or get, behind -- */
	int n_options;
	/* Those that another verb has, too: `ls` for a get, `job` for several sites. */
	char *other[WH_FAR_WORDS_MAX];
	uint32_t n_other;
	uint32_t n_trees;
	json_t *targets; /* of a send: "site", "path" and "rate_bps" of each, as they are a chain */
	int64_t by_s;    /* 0: no deadline */
	double has_bps;  /* of the receivers in service; 0: not known */
	char digest[8];  /* of the checksums (file/file_checksum.h) */
	bool looks;      /* at what is there: no file is divided, as ranges cannot */
};

/* Prints the object as the verb's, and frees it. */
static void print_json(json_t *more, int status)
{
	json_t *object = wh_head_json("fleet", status);

	wh_json_add(object, more);
	wh_json_print(object, JSON_INDENT(2));
}

static bool is_of(const char *flag, enum wh_verb verb)
{
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if ((wh_settings_table[i].verbs & verb) != 0 &&
			strcmp(wh_settings_table[i].flag, flag) == 0)
			return verb != WH_VERB_JOB || !wh_settings_table[i].stays;
	return false;
}

/* How a get reaches the far site is also how that is listed. False: no memory. */
static bool take_other(struct fleet *fleet, const struct wh_settings *settings, enum wh_verb verb)
{
	char value[WH_SETTINGS_TEXT_BYTES];
	bool good = true;

	for (uint32_t i = 0; good && i < wh_settings_count && fleet->n_other < WH_FAR_WORDS_MAX;
		i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if (!settings->given[i] || !is_of(setting->flag, verb))
			continue;
		wh_setting_format(setting, settings, value);
		good = asprintf(&fleet->other[fleet->n_other++], "--%s%s%s", setting->flag,
			       setting->type == WH_SETTING_SWITCH ? "" : "=",
			       setting->type == WH_SETTING_SWITCH ? "" : value) >= 0;
	}
	return good;
}

/* What each task gives send or get itself, and what would concern more than its shard. */
static int check_options_behind(struct fleet *fleet)
{
	static const char *const own[] = {"delete", "dry-run", "expect", "files-from", "json",
		"json-stream", "manifest", "move", "null", "relative", "length", "offset", "join"};
	size_t n_own = sizeof(own) / sizeof(own[0]) - (fleet->gets ? 1 : 0); /* only send joins */
	enum wh_verb verb = fleet->gets ? WH_VERB_GET : WH_VERB_SEND;
	struct wh_settings *settings;
	int status;

	strcpy(fleet->digest, "xxh3");
	if (fleet->n_options == 0)
		return -1;
	for (int i = 0; i < fleet->n_options; i++)
		if (!wh_is_json_text(fleet->options[i]))
			return wh_fail(
				WH_EXIT_USAGE, "the option '%s' is not UTF-8", fleet->options[i]);
	settings = calloc(1, sizeof(*settings));
	if (settings == NULL)
		return WH_EXIT_OTHER;
	/* "--" stands where the verb's name does. */
	status = wh_settings_read(settings, verb, fleet->n_options + 1, fleet->options - 1);
	if (status == -1 && settings->operand_count > 0)
		status = wh_fail(WH_EXIT_USAGE, "'%s' is no option of %s; only options follow --",
			settings->operands[0], wh_verb_name(verb));
	for (size_t i = 0; status == -1 && i < n_own; i++)
		if (wh_settings_given(settings, verb, own[i]))
			status = wh_fail(WH_EXIT_USAGE,
				"--%s cannot be an option of %s in a fleet's tasks", own[i],
				wh_verb_name(verb));
	if (status == -1) {
		snprintf(fleet->digest, sizeof(fleet->digest), "%.7s", settings->digest);
		fleet->looks = settings->update || settings->ignore_existing ||
			       settings->quick_check || settings->blocks;
	}
	if (status == -1 && (fleet->gets || json_array_size(fleet->targets) > 1) &&
		!take_other(fleet, settings, fleet->gets ? WH_VERB_LS : WH_VERB_JOB))
		status = WH_EXIT_OTHER;
	free(settings);
	return status == WH_EXIT_OK ? WH_EXIT_USAGE : status;
}

static json_t *options_json(const struct fleet *fleet)
{
	json_t *list = json_array();

	for (int i = 0; i < fleet->n_options; i++)
		json_array_append_new(list, json_string(fleet->options[i]));
	return list;
}

static json_t *other_json(const struct fleet *fleet)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < fleet->n_other; i++)
		json_array_append_new(list, json_string(fleet->other[i]));
	return list;
}

static void tell_plan(const struct fleet *fleet, const struct wh_shards *shards,
	const struct wh_scan_totals *totals, double seconds)
{
	double names = (double)(totals->files + totals->links + totals->folders);
	const json_t *deadline = json_object_get(fleet->plan.json, "deadline");
	char size[WH_UNITS_MAX];

	if (fleet->settings.json)
		return;
	printf("%" PRIu64 " files of %s, %" PRIu64 " links, %" PRIu64
	       " empty folders in %u shards; "
	       "largest to mean: %.3f by bytes, %.3f by names\n",
		totals->files, wh_format_size(size, sizeof(size), totals->bytes), totals->links,
		totals->folders, shards->count, wh_shards_balance(shards, true),
		wh_shards_balance(shards, false));
	if (shards->larges > 0)
		printf("%u files are divided, each larger than a shard in the mean\n",
			shards->larges);
	printf("scanned in %.1f s, %.0f names a second; the plan is in %s\n", seconds,
		seconds > 0 ? names / seconds : 0, fleet->plan.folder);
	if (fleet->by_s == 0)
		return;
	wh_deadline_print(deadline, "the receivers in service take at most");
	if (wh_json_count(deadline, "nodes") > 0)
		printf("%" PRIu64 " nodes are enough if each carries as much as a receiver\n",
			wh_json_count(deadline, "nodes"));
}

/* The fewest by which the deadline is met; 0: no number of nodes meets it, or no rate is known. */
static uint32_t count_nodes(
	const struct fleet *fleet, const struct wh_site *site, const struct wh_shards *shards)
{
	const struct wh_forecast_config config = {
		.shard = shards->shard,
		.shards = shards->count,
		.site = site,
		.node_bps = fleet->has_bps / site->receivers,
		.disk_bps = INFINITY,
		.lambda_bps = INFINITY,
		.start_s = TASK_START_S,
		.slowness = 1,
		.kill_s = INFINITY,
		.away_s = INFINITY,
	};

	return fleet->has_bps > 0 ? wh_forecast_nodes(&config, (double)(fleet->by_s - time(NULL)),
					    site->receivers)
				  : 0;
}

static bool add_name(void *context, const char *name, uint64_t bytes)
{
	return wh_shards_add(context, name, bytes);
}

/* Lists the site by the first of its servers that answers. */
static int scan_site(struct fleet *fleet, const struct wh_site *site, struct wh_shards *shards,
	struct wh_scan_totals *totals)
{
	struct wh_far_scan far = {.words = fleet->other, .n_words = fleet->n_other};
	char own[PATH_MAX] = "";
	uint16_t order[WH_SITE_RECEIVERS_MAX];
	uint32_t count = wh_site_order(site, 0, order);
	int status = WH_EXIT_NETWORK;

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) <= 0)
		return wh_fail(WH_EXIT_OTHER, "/proc is not mounted");
	far.own = own;
	if (count == 0)
		(void)wh_fail(-1, "all receivers of the site are under maintenance");
	for (uint32_t i = 0;
		i < count && (status == WH_EXIT_NETWORK || status == WH_EXIT_STALLED) &&
		shards->sum.files + shards->in_run.files == 0;
		i++) {
		far.host = site->receiver[order[i]].address;
		status = wh_fleet_scan_far(
			&far, fleet->words, fleet->n_trees, add_name, shards, totals);
	}
	return status;
}

/* By which ranges of a file belong together: nobody else can bring one. */
static void draw_word(char word[WH_JOIN_BYTES_MAX + 1])
{
	uint64_t drawn[2];

	arc4random_buf(drawn, sizeof(drawn));
	snprintf(word, WH_JOIN_BYTES_MAX + 1, "%016" PRIx64 "%016" PRIx64, drawn[0], drawn[1]);
}

static json_t *plan_json(const struct fleet *fleet, const char *site, const char *path,
	const struct wh_shards *shards, const struct wh_scan_totals *totals)
{
	uint32_t sites = fleet->gets ? 1 : (uint32_t)json_array_size(fleet->targets);
	char join[WH_JOIN_BYTES_MAX + 1];

	draw_word(join);

	json_t *json = json_pack(
		"{s:s, s:s, s:s, s:o, s:I, s:I, s:I, s:f, s:f, s:s, s:s, s:o, s:o, s:[]}", "site",
		site, "path", path, "sites", fleet->settings.sites, fleet->gets ? "get" : "send",
		options_json(fleet), "names", (json_int_t)(sites * shards->sum.files), "bytes",
		(json_int_t)(sites * shards->sum.bytes), "left_out", (json_int_t)totals->left_out,
		"balance_bytes", wh_shards_balance(shards, true), "balance_names",
		wh_shards_balance(shards, false), "digest", fleet->digest, "join", join, "divided",
		wh_plan_divided_json(shards), "shards", wh_plan_shards_json(shards, sites), "jobs");

	if (json != NULL && sites > 1) {
		json_object_set(json, "targets", fleet->targets);
		json_object_set_new(json, "order", other_json(fleet));
	}
	if (json != NULL && fleet->by_s > 0)
		json_object_set_new(json, "deadline",
			wh_deadline_look(
				fleet->by_s, time(NULL), shards->sum.bytes, fleet->has_bps));
	return json;
}

/* Fills the new folder of the plan; plan.json is the last, so that without it there is none. */
static int write_plan(
	struct fleet *fleet, const struct wh_site *from, const char *site, const char *path)
{
	const struct wh_settings *settings = &fleet->settings;
	char folder[PATH_MAX + 16];
	struct wh_shards shards = {
		.folder = folder,
		.max = settings->shards,
		.divides = !fleet->gets && !fleet->looks && json_array_size(fleet->targets) == 1,
		.grain_bytes = settings->shard_bytes,
		.grain_files = settings->shard_files,
	};
	uint64_t began_ns = wh_steady_ns();
	struct wh_scan_totals totals = {0};
	int status;

	snprintf(folder, sizeof(folder), "%s/shards", fleet->plan.folder);
	status = wh_shards_open(&shards);
	if (status == -1)
		status = fleet->gets ? scan_site(fleet, from, &shards, &totals)
				     : wh_fleet_scan(fleet->words, fleet->n_trees, add_name,
					       &shards, &totals);
	if (status == -1 && !wh_shards_finish(&shards))
		status = WH_EXIT_OTHER;
	if (status == -1 && shards.count == 0)
		status = wh_fail(
			WH_EXIT_NO_FILE, "there is nothing to %s", fleet->gets ? "get" : "send");
	if (status == -1) {
		fleet->plan.json = plan_json(fleet, site, path, &shards, &totals);
		if (fleet->by_s > 0 && json_array_size(fleet->targets) <= 1)
			json_object_set_new(json_object_get(fleet->plan.json, "deadline"), "nodes",
				json_integer(count_nodes(fleet, from, &shards)));
		status = fleet->plan.json != NULL
				 ? wh_plan_write(&fleet->plan)
				 : wh_fail(WH_EXIT_USAGE,
					   "a path of the target, or --sites, is not UTF-8");
	}
	if (status == -1)
		tell_plan(fleet, &shards, &totals, (double)(wh_steady_ns() - began_ns) / 1e9);
	wh_shards_free(&shards);
	return status;
}

static int take_deadline(struct fleet *fleet)
{
	const char *text = fleet->settings.deadline;

	if (text[0] == '\0' ||
		(wh_when_parse(text, time(NULL), &fleet->by_s) && fleet->by_s > time(NULL)))
		return -1;
	return wh_fail(WH_EXIT_USAGE,
		"--by '%s' is no time to come; write 'Thu 08:00', 22:00, '2026-11-30 22:00' or 90m",
		text);
}

/* Where a get writes: the nodes see it under the same name. */
static int take_target(const char *folder, char path[PATH_MAX])
{
	if (realpath(folder, path) == NULL)
		return wh_fail(
			WH_EXIT_NO_FILE, "cannot write into %s: %s", folder, strerror(errno));
	return -1;
}

/* "stfc:in", as in HOST:PATH. */
static bool is_far(const char *word)
{
	return word[strcspn(word, ":/")] == ':';
}

/* SITE:PATH... FOLDER: words become paths at the site. */
static int take_get(struct fleet *fleet, char name[WH_HOST_BYTES], char path[PATH_MAX])
{
	if (fleet->n_words < 2)
		return wh_fail(WH_EXIT_USAGE, "`wavehaul fleet get` needs SITE:PATH... FOLDER");
	fleet->n_trees = fleet->n_words - 1;
	for (uint32_t i = 0; i < fleet->n_trees; i++) {
		const char *there = wh_remote_path(fleet->words[i], name);

		if (there == NULL)
			return WH_EXIT_USAGE;
		fleet->words[i] = (char *)there;
	}
	return take_target(fleet->words[fleet->n_trees], path);
}

/* In front of those that are slower: what a site passes on it must have got. */
static int add_target(struct fleet *fleet, struct wh_site *site, const char *word)
{
	char name[WH_HOST_BYTES] = "";
	const char *path = wh_remote_path(word, name);
	int status = path != NULL ? wh_site_read(site, fleet->settings.sites, name) : WH_EXIT_USAGE;
	double bps = status == -1 ? wh_site_bps(site) : 0;
	size_t at = json_array_size(fleet->targets);
	json_t *target;

	if (status != -1)
		return status;
	for (size_t i = 0; i < json_array_size(fleet->targets); i++)
		if (strcmp(wh_json_text(json_array_get(fleet->targets, i), "site"), name) == 0)
			return wh_fail(WH_EXIT_USAGE, "site %s is there twice", name);
	while (at > 0 && json_number_value(json_object_get(
				 json_array_get(fleet->targets, at - 1), "rate_bps")) < bps)
		at--;
	target = json_pack("{s:s, s:s, s:f}", "site", name, "path", path, "rate_bps", bps);
	if (target == NULL)
		return wh_fail(WH_EXIT_USAGE, "the path of the target is not UTF-8");
	json_array_insert_new(fleet->targets, at, target);
	return -1;
}

/* TREE... SITE:PATH...; the slowest site says what the chain takes. */
static int take_send(struct fleet *fleet, struct wh_site *site)
{
	int status = -1;

	fleet->n_trees = fleet->n_words;
	while (fleet->n_trees > 0 && is_far(fleet->words[fleet->n_trees - 1]))
		fleet->n_trees--;
	if (fleet->n_trees == 0 || fleet->n_trees == fleet->n_words)
		return wh_fail(WH_EXIT_USAGE,
			"a fleet needs trees and where they go: TREE... SITE:PATH...");
	fleet->targets = json_array();
	for (uint32_t i = fleet->n_trees; i < fleet->n_words && status == -1; i++)
		status = add_target(fleet, site, fleet->words[i]);
	if (status == -1)
		fleet->has_bps = json_number_value(json_object_get(
			json_array_get(fleet->targets, json_array_size(fleet->targets) - 1),
			"rate_bps"));
	return status;
}

static int take_words(
	struct fleet *fleet, struct wh_site *site, char name[WH_HOST_BYTES], char path[PATH_MAX])
{
	int status = fleet->gets ? take_get(fleet, name, path) : take_send(fleet, site);
	const json_t *first = json_array_get(fleet->targets, 0);

	if (status != -1)
		return status;
	if (fleet->gets) {
		status = wh_site_read(site, fleet->settings.sites, name);
		fleet->has_bps = status == -1 ? wh_site_bps(site) : 0;
		return status;
	}
	strcpy(name, wh_json_text(first, "site"));
	strcpy(path, wh_json_text(first, "path"));
	return -1;
}

static int plan_only(struct fleet *fleet)
{
	struct wh_site *site = malloc(sizeof(*site));
	char name[WH_HOST_BYTES] = "", path[PATH_MAX];
	int status = site != NULL ? take_words(fleet, site, name, path) : WH_EXIT_OTHER;

	if (status == -1)
		status = take_deadline(fleet);
	if (status == -1)
		status = check_options_behind(fleet);
	if (status == -1)
		status = wh_plan_make(&fleet->plan, fleet->settings.plan);
	if (status == -1)
		status = write_plan(fleet, site, name, path);
	free(site);
	return status;
}

/*
 * Tells Slurm of those shards, and people of its jobs. Those of a later site are given with the job
 * of the site before, behind which they begin; what that has already begins at once.
 */
static int submit(struct fleet *fleet, bool checks, bool *is_wanted)
{
	uint32_t count = wh_plan_site_shards(&fleet->plan), all = wh_plan_shards(&fleet->plan);
	uint64_t *job = calloc(all, sizeof(*job)); /* of each shard that was given to Slurm now */
	bool *now = calloc(count, sizeof(*now));
	int status = job != NULL && now != NULL ? -1 : WH_EXIT_OTHER;

	for (uint32_t i = 0; i < all && status == -1; i++) {
		struct wh_slurm_array array = {.checks = checks,
			.is_wanted = now,
			.first = i - i % count,
			.after = i < count || checks ? 0 : job[i - count]};
		uint64_t given;

		if (!is_wanted[i])
			continue;
		for (uint32_t k = 0; k < count; k++) {
			uint32_t at = array.first + k;
			uint64_t after = at < count || checks ? 0 : job[at - count];

			now[k] = is_wanted[at] && after == array.after;
		}
		status = wh_slurm_submit(&fleet->plan, &fleet->settings, &array, &given);
		for (uint32_t k = 0; k < count; k++)
			if (now[k]) {
				job[array.first + k] = given;
				is_wanted[array.first + k] = false;
			}
		if (status == -1 && !fleet->settings.json)
			printf("Slurm has it as job %" PRIu64
			       "; `wavehaul fleet status --plan %s` shows it\n",
				given, fleet->plan.folder);
	}
	free(job);
	free(now);
	return status;
}

static int tell_json(const struct fleet *fleet, int status)
{
	if (status != -1)
		return status;
	if (fleet->settings.json)
		print_json(json_incref(fleet->plan.json), WH_EXIT_OK);
	return WH_EXIT_OK;
}

static int do_scan(struct fleet *fleet)
{
	fleet->gets = fleet->n_words > 0 && !is_far(fleet->words[fleet->n_words - 1]);
	return tell_json(fleet, plan_only(fleet));
}

/* What waits in the queue for a site is not given to Slurm for the next: nobody can pass it on. */
static uint32_t drop_early(const struct fleet *fleet, bool *is_wanted)
{
	uint32_t count = wh_plan_site_shards(&fleet->plan), dropped = 0;

	for (uint32_t i = count; i < wh_plan_shards(&fleet->plan); i++) {
		struct wh_shard_past past;

		if (!is_wanted[i] || is_wanted[i - count])
			continue;
		wh_shard_past_read(&past, &fleet->plan, i - count);
		if (past.state != WH_SHARD_DONE) {
			is_wanted[i] = false;
			dropped++;
		}
		wh_shard_past_free(&past);
	}
	return dropped;
}

/* What is planned and neither done nor in the queue. */
static int do_retry(struct fleet *fleet)
{
	uint32_t shards = wh_plan_shards(&fleet->plan);
	bool *is_wanted = calloc(shards, sizeof(*is_wanted));
	int64_t count = is_wanted != NULL ? wh_fleet_wanted(&fleet->plan, false, is_wanted) : -1;
	int status = count < 0 ? WH_EXIT_OTHER : -1;

	if (count > 0)
		count -= drop_early(fleet, is_wanted);
	if (count > 0)
		status = submit(fleet, false, is_wanted);
	else if (count == 0 && !fleet->settings.json)
		printf("all %u shards are done, or in the queue of Slurm\n", shards);
	free(is_wanted);
	return tell_json(fleet, status);
}

/* The options of send or get must let it compare bytes. */
static int check_compares(const struct fleet *fleet)
{
	static const char *const blind[] = {"quick-check", "update", "ignore-existing"};
	const json_t *options = wh_plan_options(&fleet->plan);

	for (size_t i = 0; i < json_array_size(options); i++) {
		const char *option = json_string_value(json_array_get(options, i));

		for (size_t k = 0; k < sizeof(blind) / sizeof(blind[0]); k++)
			if (option != NULL && strncmp(option, "--", 2) == 0 &&
				strcmp(option + 2, blind[k]) == 0)
				return wh_fail(WH_EXIT_USAGE,
					"with %s no second pass would compare all bytes", option);
	}
	return -1;
}

static int do_verify(struct fleet *fleet)
{
	bool *is_wanted = calloc(wh_plan_shards(&fleet->plan), sizeof(*is_wanted));
	int status = check_compares(fleet);
	int64_t count = 0;

	if (status == -1 && is_wanted != NULL)
		count = wh_fleet_wanted(&fleet->plan, true, is_wanted);
	if (count < 0 || is_wanted == NULL)
		status = WH_EXIT_OTHER;
	else if (count > 0)
		status = submit(fleet, true, is_wanted);
	else if (status == -1)
		status = wh_fail(WH_EXIT_PARTIAL,
			"no shard is done and not being verified; `wavehaul fleet status` tells");
	free(is_wanted);
	return tell_json(fleet, status);
}

static int do_send(struct fleet *fleet)
{
	int status = plan_only(fleet);

	return status == -1 ? do_retry(fleet) : status;
}

static int do_get(struct fleet *fleet)
{
	fleet->gets = true;
	return do_send(fleet);
}

static int on_shard(struct fleet *fleet, int (*work)(const struct wh_plan *plan, uint32_t shard))
{
	uint64_t shard;

	if (fleet->n_words != 1 || wh_parse_count(fleet->words[0], &shard) != 0 ||
		shard >= wh_plan_shards(&fleet->plan))
		return wh_fail(WH_EXIT_USAGE,
			"`wavehaul fleet task` and `check` need the number of a shard");
	return work(&fleet->plan, (uint32_t)shard);
}

static int do_task(struct fleet *fleet)
{
	return on_shard(fleet, wh_fleet_task);
}

static int do_check(struct fleet *fleet)
{
	return on_shard(fleet, wh_fleet_check);
}

/* -1, or an exit status after a complaint. */
static int tell_status(const struct fleet *fleet, json_t *now)
{
	const struct wh_settings *settings = &fleet->settings;
	uint64_t every_s = settings->every_ns / WH_NS_PER_S;
	int status = -1;

	if (settings->page[0] != '\0')
		status = wh_fleet_page(
			now, settings->page, every_s > 0 ? (uint32_t)every_s : PAGE_EVERY_S);
	if (status != -1)
		return status;
	if (settings->json) {
		print_json(json_incref(now), WH_EXIT_OK);
	} else {
		if (every_s > 0 && isatty(STDOUT_FILENO))
			fputs("\033[H\033[2J", stdout);
		wh_fleet_now_print(now);
	}
	fflush(stdout);
	return -1;
}

static int do_status(struct fleet *fleet)
{
	bool goes_on = true;
	int status = -1;

	while (status == -1 && goes_on) {
		json_t *now = wh_fleet_now(&fleet->plan);
		const json_t *shards = json_object_get(now, "shards");

		if (now == NULL)
			return WH_EXIT_OTHER;
		goes_on = fleet->settings.every_ns > 0 &&
			  wh_json_count(shards, "running") + wh_json_count(shards, "waiting") > 0;
		status = tell_status(fleet, now);
		json_decref(now);
		if (status == -1 && goes_on)
			(void)sleep((unsigned int)(fleet->settings.every_ns / WH_NS_PER_S));
	}
	return status == -1 ? WH_EXIT_OK : status;
}

static int do_cancel(struct fleet *fleet)
{
	int status = wh_slurm_cancel(&fleet->plan);

	return tell_json(fleet, status);
}

static int do_report(struct fleet *fleet)
{
	bool all_done;

	if (!fleet->settings.json)
		return wh_fleet_report_print(&fleet->plan);
	json_t *report = wh_fleet_report(&fleet->plan, &all_done);
	int status = all_done ? WH_EXIT_OK : WH_EXIT_PARTIAL;

	print_json(report, status);
	return status;
}

static const struct command {
	const char *word;
	int (*run)(struct fleet *fleet);
	bool makes;   /* the plan; others read it */
	bool submits; /* an array to Slurm */
} commands[] = {
	{"scan", do_scan, true, false},
	{"send", do_send, true, true},
	{"get", do_get, true, true},
	{"status", do_status, false, false},
	{"cancel", do_cancel, false, false},
	{"retry", do_retry, false, true},
	{"report", do_report, false, false},
	{"verify", do_verify, false, true},
	{"task", do_task, false, false},
	{"check", do_check, false, false},
};

/* Options that the command would ignore. -1: none. */
static int check_options(const struct fleet *fleet, const struct command *command)
{
	static const char *const making[] = {"sites", "shards", "shard-size", "shard-files", "by"};
	static const char *const submitting[] = {
		"partition", "account", "licenses", "exclude-nodes"};
	static const char *const telling[] = {"every", "page"};
	const char *idle = !command->makes && fleet->n_options > 0 ? "" : NULL;

	for (size_t i = 0; i < sizeof(making) / sizeof(making[0]); i++)
		if (!command->makes &&
			wh_settings_given(&fleet->settings, WH_VERB_FLEET, making[i]))
			idle = making[i];
	for (size_t i = 0; i < sizeof(submitting) / sizeof(submitting[0]); i++)
		if (!command->submits &&
			wh_settings_given(&fleet->settings, WH_VERB_FLEET, submitting[i]))
			idle = submitting[i];
	for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++)
		if (command->run != do_status &&
			wh_settings_given(&fleet->settings, WH_VERB_FLEET, telling[i]))
			idle = telling[i];
	return idle == NULL ? -1
			    : wh_fail(WH_EXIT_USAGE, "--%s is no option of `wavehaul fleet %s`",
				      idle, command->word);
}

static int run(struct fleet *fleet)
{
	const struct wh_settings *settings = &fleet->settings;
	const char *word = settings->operand_count > 0 ? settings->operands[0] : "";
	struct wh_nearest nearest = {.typed = word};
	char text[WH_NEAREST_TEXT_BYTES];

	fleet->words = settings->operands + 1;
	fleet->n_words = (uint32_t)settings->operand_count - 1;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		int status;

		wh_nearest_try(&nearest, commands[i].word);
		if (strcmp(commands[i].word, word) != 0)
			continue;
		status = check_options(fleet, &commands[i]);
		if (status == -1 && !commands[i].makes)
			status = wh_plan_read(&fleet->plan, settings->plan);
		return status == -1 ? commands[i].run(fleet) : status;
	}
	return wh_fail(WH_EXIT_USAGE,
		"`wavehaul fleet` needs scan, send, get, status, cancel, retry, verify or report; "
		"%s",
		wh_nearest_text(&nearest, "", "`wavehaul fleet --help` explains", text));
}

/* What is behind -- are options of send or get. */
static int cut_options(struct fleet *fleet, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		fleet->options = argv + i + 1;
		fleet->n_options = argc - i - 1;
		return i;
	}
	return argc;
}

int wh_verb_fleet(int argc, char **argv)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));
	int status;

	if (fleet == NULL)
		return WH_EXIT_OTHER;
	status = wh_settings_read(
		&fleet->settings, WH_VERB_FLEET, cut_options(fleet, argc, argv), argv);
	if (status == -1) {
		status = run(fleet);
		if (status > WH_EXIT_OK && fleet->settings.json && wh_last_complaint()[0] != '\0')
			print_json(json_object(), status);
	}
	wh_plan_free(&fleet->plan);
	json_decref(fleet->targets);
	for (uint32_t i = 0; i < fleet->n_other; i++)
		free(fleet->other[i]);
	free(fleet);
	return status;
}
