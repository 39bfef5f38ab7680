/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/child/child.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "cli/plain_text.h"
#include "cli/whole_file.h"
#include "fleet/move.h"
#include "fleet/pieces.h"
#include "fleet/relay.h"
#include "fleet/shard_log.h"
#include "fleet/site.h"

#define PAUSE_S 2 /* behind the first failure; then twice as long */

/* Of send --json-stream: not parsed, as there are as many as files. */
#define FILE_EVENT "{\"event\":\"file\""

#define DIFFERING_MAX 10 /* are named */

/* Below the limits of a request, with room for options of get that are patterns. */
#define GET_NAMES 1000
#define GET_CHARS 12000

struct task {
	const struct wh_plan *plan;
	uint32_t shard;
	char own[PATH_MAX]; /* this program */
	struct wh_site site;
	uint16_t order[WH_SITE_RECEIVERS_MAX]; /* of its receivers in service */
	uint32_t count;
	const json_t
		*giver; /* the target that has the shard and passes it on; NULL: this node does */
	struct wh_site from;
	uint16_t from_order[WH_SITE_RECEIVERS_MAX];
	uint32_t from_count;
	bool gets;
	const char *address; /* of the receiver, or of the server that it gets from */
	json_t *end;         /* what send or get told at its end; NULL: it did not come that far */
	uint64_t before;     /* bytes of the pieces before the one that a get asks for now */
	json_t *differing;   /* of a check: names of files; NULL: it is none */
	uint64_t differed;
	const struct wh_file_range *range; /* is being sent; NULL: whole files */
	bool kept; /* it arrived, and the receiver has no name for its file yet */
};

/* For the status: what the transfer tells each second. A reader sees a whole object. */
static void keep_now(const struct task *task, json_t *interval)
{
	uint64_t bytes = task->before + wh_json_count(interval, "bytes");
	struct wh_whole_file whole;
	char path[PATH_MAX];

	json_object_set_new(interval, "bytes", json_integer((json_int_t)bytes));
	wh_plan_path(task->plan, task->shard, "state", ".now", path);
	if (wh_whole_file_open(&whole, path) != 0)
		return;
	(void)json_dumpf(interval, whole.file, JSON_COMPACT);
	(void)wh_whole_file_close(&whole, false);
}

/* What has the same bytes at both ends is skipped. */
static void take_file(struct task *task, const char *line)
{
	char path[WH_PATH_BYTES_MAX + 1], plain[4 * WH_PATH_BYTES_MAX + 1];
	json_t *event = json_loads(line, 0, NULL);
	const char *status = wh_json_text(event, "status");

	task->kept = strcmp(status, "kept") == 0;
	if (task->differing != NULL && event != NULL && strcmp(status, "skipped") != 0) {
		task->differed++;
		wh_path_from_json(event, "path", path);
		if (json_array_size(task->differing) < DIFFERING_MAX)
			json_array_append_new(task->differing,
				json_string(wh_plain_text(path, true, plain, sizeof(plain))));
	}
	json_decref(event);
}

static void take_line(struct task *task, const char *line)
{
	json_t *event;
	const char *what;

	if (strncmp(line, FILE_EVENT, strlen(FILE_EVENT)) == 0) {
		if (task->differing != NULL || task->range != NULL)
			take_file(task, line);
		return;
	}
	event = json_loads(line, 0, NULL);
	what = wh_json_text(event, "event");
	if (strcmp(what, "interval") == 0 && task->differing == NULL)
		keep_now(task, event);
	if (strcmp(what, "end") == 0 && task->end == NULL)
		task->end = json_incref(event);
	json_decref(event);
}

static void free_words(char **words)
{
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		free(words[i]);
	free(words);
}

/* The last range goes to the end of the file: that is as it was planned. */
static bool add_range(const struct task *task, char **words, size_t *count)
{
	const struct wh_file_range *range = task->range;

	return asprintf(&words[(*count)++], "--join=%s", wh_json_text(task->plan->json, "join")) >=
		       0 &&
	       asprintf(&words[(*count)++], "--offset=%" PRIu64, range->from) >= 0 &&
	       (range->k + 1 == range->ranges || asprintf(&words[(*count)++], "--length=%" PRIu64,
							 range->end - range->from) >= 0);
}

/* The words of send or get, without the names; the caller frees them. NULL: no memory. */
static char **command_of(const struct task *task, const char *list, const char *sums)
{
	const char *fixed[] = {
		task->own, task->gets ? "get" : "send", "--recursive", "--null", "--json-stream"};
	const json_t *options = wh_plan_options(task->plan);
	size_t given = json_array_size(options), count = 0;
	char **words = calloc(given + sizeof(fixed) / sizeof(fixed[0]) + 7, sizeof(words[0]));
	bool good = words != NULL;

	for (size_t i = 0; good && i < sizeof(fixed) / sizeof(fixed[0]); i++)
		good = (words[count++] = strdup(fixed[i])) != NULL;
	for (size_t i = 0; good && i < given; i++)
		good = (words[count++] = strdup(json_string_value(json_array_get(options, i)))) !=
		       NULL;
	good = good && (task->range == NULL || add_range(task, words, &count));
	if (good && asprintf(&words[count++], "--files-from=%s", list) >= 0 &&
		asprintf(&words[count++], "--manifest=%s", sums) >= 0 &&
		asprintf(&words[count++], "%s%s%s/", task->gets ? "" : task->address,
			task->gets ? "" : ":",
			wh_json_text(wh_plan_target(task->plan, task->shard), "path")) >= 0)
		return words;
	if (count > 0)
		words[count - 1] = NULL; /* asprintf(3) leaves it undefined */
	free_words(words);
	return NULL;
}

/* The exit status of send or get; -1 after a complaint: it cannot be run. */
static int run(struct task *task, const char *list, const char *sums)
{
	char **words = command_of(task, list, sums);
	struct wh_child child;
	char *line = NULL;
	size_t room = 0;
	FILE *from;
	int status = -1;
	int error = words == NULL ? ENOMEM : wh_child_start(&child, words, true);

	if (error != 0) {
		(void)wh_fail(-1, "cannot run `wavehaul %s`: %s", task->gets ? "get" : "send",
			strerror(error));
	} else {
		from = fdopen(child.from_fd, "r");
		while (from != NULL && getline(&line, &room, from) >= 0)
			take_line(task, line);
		if (from != NULL) {
			fclose(from);
			child.from_fd = -1;
		}
		status = wh_child_wait(&child);
	}
	free(line);
	free_words(words);
	return status;
}

/* One transfer of several for the shard. */
static int run_piece(void *context, const char *list, const char *sums)
{
	struct task *task = context;
	json_t *before = task->end;
	int status;

	task->before = wh_json_count(before, "bytes");
	task->end = NULL;
	status = run(task, list, sums);
	if (task->end == NULL)
		task->end = json_incref(before);
	else if (before != NULL)
		wh_end_add(task->end, before);
	json_decref(before);
	return status;
}

static void take_now(void *context, json_t *now)
{
	const struct task *task = context;

	if (task->differing == NULL)
		keep_now(task, now);
}

/* One of the ways on which a shard can go. */
struct hop {
	const struct wh_site_receiver *to;
	const struct wh_site_receiver *from; /* NULL: from this node */
};

static uint32_t count_hops(const struct task *task)
{
	return task->giver != NULL ? task->count * task->from_count : task->count;
}

/* The i-th: each has another giver and receiver, and a round of givers shifts the receivers. */
static struct hop hop_of(const struct task *task, uint32_t i)
{
	struct hop hop = {0};

	if (task->giver != NULL) {
		hop.from = &task->from.receiver[task->from_order[i % task->from_count]];
		i += i / task->from_count;
	}
	hop.to = &task->site.receiver[task->order[i % task->count]];
	return hop;
}

static int relay(struct task *task, const struct hop *hop)
{
	struct wh_relay relay = {.own = task->own,
		.plan = task->plan,
		.shard = task->shard,
		.from = hop->from->address,
		.from_path = wh_json_text(task->giver, "path"),
		.to = hop->to->address,
		.on_now = take_now,
		.context = task};
	int status;

	task->before = 0;
	status = wh_relay_run(&relay);
	task->end = relay.end;
	if (task->differing != NULL)
		task->differed = wh_json_count(relay.end, "files");
	return status;
}

static bool is_done(const struct wh_plan *plan, uint32_t shard)
{
	struct wh_shard_past past;

	wh_shard_past_read(&past, plan, shard);
	wh_shard_past_free(&past);
	return past.state == WH_SHARD_DONE;
}

/* False after a complaint: ranges of two versions of a file would not go together. */
static bool is_as_planned(const struct wh_file_range *range, const char *list)
{
	char name[PATH_MAX + WH_PATH_BYTES_MAX + 4] = "", plain[4 * sizeof(name)];
	struct wh_version version = {0};
	FILE *file = fopen(list, "re");

	if (file != NULL) {
		if (fread(name, 1, sizeof(name) - 1, file) == 0)
			name[0] = '\0';
		fclose(file);
	}
	if (wh_version_look(name, &version) == 0 &&
		memcmp(&version, &range->version, sizeof(version)) == 0)
		return true;
	return wh_fail(false,
		"%s is no more as it was when the plan was made, so its ranges do not go together; "
		"make a plan for it anew with `wavehaul fleet send`",
		wh_plain_text(name, true, plain, sizeof(plain)));
}

static int run_range(struct task *task, const struct wh_file_range *range)
{
	char list[PATH_MAX], sums[PATH_MAX];
	int status;

	wh_plan_range_path(task->plan, range, "shards", list);
	wh_plan_range_path(task->plan, range, "state", sums);
	if (!is_as_planned(range, list))
		return WH_EXIT_OTHER;
	task->range = range;
	task->kept = false;
	status = run_piece(task, list, sums);
	task->range = NULL;
	return status == WH_EXIT_OK && !is_as_planned(range, list) ? WH_EXIT_OTHER : status;
}

/* Whether all ranges have arrived, if the shards but this one are looked at. */
static bool is_complete(const struct task *task, uint32_t file)
{
	struct wh_file_range range;

	for (uint32_t k = 0; wh_plan_file_range(task->plan, file, k, &range); k++)
		if (range.shard != task->shard && !is_done(task->plan, range.shard))
			return false;
	return true;
}

/*
 * A receiver keeps a range until all have come: the last one that comes gives the file its name. If
 * two came at the same moment, the first of them was kept; then the file has its name now, or it
 * never will.
 */
static int confirm(struct task *task, const struct wh_file_range *range)
{
	int status = run_range(task, range);

	if (status != WH_EXIT_OK || !task->kept)
		return status;
	return wh_fail(WH_EXIT_OTHER,
		"all ranges of a file of shard %u have arrived, and it has no name: do all "
		"receivers write to one file system?",
		task->shard);
}

static int run_ranges(struct task *task)
{
	bool any_kept = false;
	struct wh_file_range range;
	int status = WH_EXIT_OK;

	for (uint32_t i = 0;
		status == WH_EXIT_OK && wh_plan_range(task->plan, task->shard, i, &range); i++) {
		status = run_range(task, &range);
		any_kept |= task->kept;
	}
	for (uint32_t i = 0; status == WH_EXIT_OK && any_kept &&
			     wh_plan_range(task->plan, task->shard, i, &range);
		i++)
		if (is_complete(task, range.file))
			status = confirm(task, &range);
	return status;
}

/* A second pass over divided files, each by the shard that has its first range. */
static int compare_divided(struct task *task)
{
	char list[PATH_MAX], sums[PATH_MAX];
	struct wh_file_range range;
	int status = WH_EXIT_OK;

	for (uint32_t i = 0;
		status == WH_EXIT_OK && wh_plan_range(task->plan, task->shard, i, &range); i++) {
		if (range.k > 0)
			continue;
		if (!is_complete(task, range.file))
			return wh_fail(WH_EXIT_PARTIAL,
				"a file of shard %u has ranges that have not arrived", task->shard);
		wh_plan_range_path(task->plan, &range, "shards", list);
		wh_plan_whole_path(task->plan, range.file, sums);
		status = run_piece(task, list, sums);
	}
	return status;
}

/* Files that are whole, then ranges of others. */
static int send_all(struct task *task)
{
	char list[PATH_MAX], sums[PATH_MAX];
	int status = WH_EXIT_OK;

	wh_plan_path(task->plan, task->shard, "shards", "", list);
	wh_plan_path(task->plan, task->shard, "state", ".sums", sums);
	if (wh_json_count(wh_plan_shard(task->plan, task->shard), "files") > 0)
		status = run_piece(task, list, sums);
	if (status == WH_EXIT_OK)
		status = task->differing != NULL ? compare_divided(task) : run_ranges(task);
	return status;
}

static int carry(struct task *task, const struct hop *hop)
{
	const struct wh_pieces_how how = {
		.host = hop->to->address, .names = GET_NAMES, .chars = GET_CHARS, .sums = true};

	json_decref(task->end);
	task->end = NULL;
	task->address = hop->to->address;
	if (hop->from != NULL)
		return relay(task, hop);
	if (task->gets)
		return wh_pieces_go(task->plan, task->shard, &how, run_piece, task);
	return send_all(task);
}

static json_t *node_json(void)
{
	const char *node = getenv("SLURMD_NODENAME");
	char host[256] = "";

	if (node == NULL && gethostname(host, sizeof(host) - 1) == 0)
		node = host;
	return wh_word_to_json(node);
}

/* Where there are several sites, with its site's: "stfc:dtn1". */
static json_t *name_of(
	const struct task *task, const json_t *target, const struct wh_site_receiver *receiver)
{
	if (wh_plan_sites(task->plan) == 1)
		return json_string(receiver->name);
	return json_sprintf("%s:%s", wh_json_text(target, "site"), receiver->name);
}

static void note_begin(const struct task *task, const struct hop *hop)
{
	const char *job = getenv("SLURM_ARRAY_JOB_ID");
	json_t *event = json_pack("{s:s, s:o, s:o, s:s}", "event", "begin", "node", node_json(),
		"receiver", name_of(task, wh_plan_target(task->plan, task->shard), hop->to), "job",
		job != NULL ? job : "");

	if (hop->from != NULL)
		json_object_set_new(event, "from", name_of(task, task->giver, hop->from));
	(void)wh_shard_note(task->plan, task->shard, event);
}

/* `passed`: another receiver takes its place. What send said of files and bytes is kept. */
static int note_end(const struct task *task, int status, bool passed)
{
	static const char *const kept[] = {"error", "files", "skipped", "failed", "bytes",
		"moved_bytes", "resumed_bytes", "seconds", "goodput_bps", "failures",
		"passed_over"};
	json_t *event = json_pack(
		"{s:s, s:i, s:b}", "event", "end", "exit_status", status, "passed", passed);

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (task->end != NULL && json_object_get(task->end, kept[i]) != NULL)
			json_object_set(event, kept[i], json_object_get(task->end, kept[i]));
	return wh_shard_note(task->plan, task->shard, event);
}

/* The receivers in service, as the file of the site is now. -1, or an exit status. */
static int read_site(const struct task *task, const json_t *target, struct wh_site *site,
	uint16_t order[WH_SITE_RECEIVERS_MAX], uint32_t *count)
{
	const char *name = wh_json_text(target, "site");
	int status = wh_site_read(site, wh_json_text(task->plan->json, "sites"), name);

	if (status != -1)
		return status;
	*count = wh_site_order(site, task->shard % wh_plan_site_shards(task->plan), order);
	if (*count > 0)
		return -1;
	return wh_fail(WH_EXIT_NETWORK,
		"all receivers of %s are under maintenance; `wavehaul fleet retry` begins what is "
		"left",
		name);
}

/* The site before this one passes a shard on, or the one before that, if that is where it got. */
static int find_giver(struct task *task)
{
	uint32_t shards = wh_plan_site_shards(task->plan);
	uint32_t at = task->shard;

	task->giver = NULL;
	if (at < shards)
		return -1;
	do
		at -= shards;
	while (at >= shards && !is_done(task->plan, at));
	if (!is_done(task->plan, at))
		return wh_fail(WH_EXIT_PARTIAL,
			"no site has shard %u yet; `wavehaul fleet retry` gives it to Slurm again",
			at);
	task->giver = wh_plan_target(task->plan, at);
	return read_site(task, task->giver, &task->from, task->from_order, &task->from_count);
}

static int find_receivers(struct task *task)
{
	int status = read_site(task, wh_plan_target(task->plan, task->shard), &task->site,
		task->order, &task->count);

	return status == -1 ? find_giver(task) : status;
}

/* One try. -1: the next; else an exit status. */
static int try_once(struct task *task, const struct wh_shard_past *past)
{
	int status = find_receivers(task);
	struct hop hop;
	bool passed;

	if (status != -1)
		return status;
	hop = hop_of(task, past->failures + past->passed);
	note_begin(task, &hop);
	status = carry(task, &hop);
	passed = wh_shard_is_unreached(status) && past->passed + 1 < count_hops(task);
	if (note_end(task, status, passed) != -1)
		return WH_EXIT_OTHER;
	if (status == WH_EXIT_OK)
		return WH_EXIT_OK;
	wh_say("shard %u: `%s` %s %s ended with exit status %d", task->shard,
		hop.from != NULL ? "copy"
		: task->gets     ? "get"
				 : "send",
		task->gets ? "from" : "to", hop.to->name, status);
	if (passed)
		return -1;
	if (past->failures + 1 < WH_SHARD_FAILURES_MAX) {
		if (wh_fleet_move(task->plan, task->shard, task->count))
			return WH_EXIT_PARTIAL;
		(void)sleep(PAUSE_S << past->failures);
	}
	return -1;
}

static struct task *new_task(const struct wh_plan *plan, uint32_t shard)
{
	struct task *task = calloc(1, sizeof(*task));

	if (task == NULL)
		return NULL;
	task->plan = plan;
	task->shard = shard;
	task->gets = wh_plan_gets(plan);
	if (readlink("/proc/self/exe", task->own, sizeof(task->own) - 1) > 0)
		return task;
	(void)wh_fail(-1, "/proc is not mounted");
	free(task);
	return NULL;
}

/*
 * Where another site waits for the shard, that gets it from a site before this one: Slurm begins it
 * only behind a task that ended well.
 */
static int give_up(const struct task *task)
{
	(void)wh_fail(WH_EXIT_PARTIAL,
		"shard %u has failed %d times and is given up; `wavehaul fleet status` says why",
		task->shard, WH_SHARD_FAILURES_MAX);
	return wh_plan_sites(task->plan) > 1 ? WH_EXIT_OK : WH_EXIT_PARTIAL;
}

/* A try after the other, as the log says: also that of a task before, on another node. */
int wh_fleet_task(const struct wh_plan *plan, uint32_t shard)
{
	struct task *task = new_task(plan, shard);
	int status = task == NULL ? WH_EXIT_OTHER : -1;

	while (status == -1) {
		struct wh_shard_past past;

		wh_shard_past_read(&past, plan, shard);
		if (past.state == WH_SHARD_DONE)
			status = WH_EXIT_OK;
		else if (past.state == WH_SHARD_GIVEN_UP)
			status = give_up(task);
		else
			status = try_once(task, &past);
		wh_shard_past_free(&past);
	}
	if (task != NULL)
		json_decref(task->end);
	free(task);
	return status;
}

/* By the first receiver that answers. */
static int check_once(struct task *task, const char **receiver)
{
	int status = find_receivers(task);

	if (status != -1)
		return status;
	for (uint32_t i = 0; i < count_hops(task) && (i == 0 || wh_shard_is_unreached(status));
		i++) {
		struct hop hop = hop_of(task, i);

		*receiver = hop.to->name;
		status = carry(task, &hop);
	}
	return status;
}

int wh_fleet_check(const struct wh_plan *plan, uint32_t shard)
{
	struct task *task;
	const char *receiver = "", *job = getenv("SLURM_ARRAY_JOB_ID");
	uint64_t began_ns = wh_steady_ns();
	int status;

	if (!is_done(plan, shard))
		return wh_fail(WH_EXIT_PARTIAL, "shard %u is not done", shard);
	task = new_task(plan, shard);
	if (task == NULL)
		return WH_EXIT_OTHER;
	task->differing = json_array();
	status = check_once(task, &receiver);
	if (status == WH_EXIT_OK && task->differed > 0)
		status = WH_EXIT_VERIFY;
	if (status != WH_EXIT_OK)
		wh_say("shard %u: %" PRIu64 " files differed; the check by %s ended with exit "
		       "status %d",
			shard, task->differed, receiver, status);
	if (wh_shard_note(plan, shard,
		    json_pack("{s:s, s:o, s:s, s:s, s:f, s:i, s:I, s:I, s:O}", "event", "check",
			    "node", node_json(), "receiver", receiver, "job",
			    job != NULL ? job : "", "seconds",
			    (double)(wh_steady_ns() - began_ns) / 1e9, "exit_status", status,
			    "same", (json_int_t)wh_json_count(task->end, "skipped"), "differed",
			    (json_int_t)task->differed, "differing", task->differing)) != -1)
		status = WH_EXIT_OTHER;
	json_decref(task->differing);
	json_decref(task->end);
	free(task);
	return status;
}
