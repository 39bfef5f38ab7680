/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/slurm.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/child/child.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"

#define WORDS_MAX  24
#define LINE_CHARS 1024

struct words {
	char *word[WORDS_MAX]; /* then NULL */
	uint32_t count;
};

/* Runs a command and hands its lines over. Its exit status; -1 after a complaint. */
static int run(char *const *command, void (*on_line)(void *context, char *line), void *context)
{
	struct wh_child child;
	char line[LINE_CHARS];
	FILE *from;
	int error = wh_child_start(&child, command, true);

	if (error != 0)
		return wh_fail(
			-1, "cannot run %s, a command of Slurm: %s", command[0], strerror(error));
	from = fdopen(child.from_fd, "r");
	while (from != NULL && fgets(line, sizeof(line), from) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		on_line(context, line);
	}
	if (from != NULL) {
		fclose(from);
		child.from_fd = -1;
	}
	return wh_child_wait(&child);
}

static void drop_line(void *context, char *line)
{
	(void)context;
	(void)line;
}

static void keep_line(void *context, char *line)
{
	json_array_append_new(context, json_string(line));
}

/* "0-6,9": of sbatch --array. NULL: no memory. */
static char *ranges_of(const bool *is_wanted, uint32_t count)
{
	size_t room = 0;
	char *text = NULL;
	FILE *to = open_memstream(&text, &room);
	const char *between = "";

	for (uint32_t first = 0; to != NULL && first < count; first++) {
		uint32_t last = first;

		if (!is_wanted[first])
			continue;
		while (last + 1 < count && is_wanted[last + 1])
			last++;
		fprintf(to, "%s%u-%u", between, first, last);
		between = ",";
		first = last;
	}
	if (to == NULL || fclose(to) != 0)
		return NULL;
	return text;
}

static void put_quoted(FILE *to, const char *text)
{
	fputc('\'', to);
	for (; *text != '\0'; text++)
		if (*text == '\'')
			fputs("'\\''", to);
		else
			fputc(*text, to);
	fputc('\'', to);
}

/* What the shell of a task runs: this program. NULL: it cannot be found. */
static char *wrap_of(const struct wh_plan *plan, const struct wh_slurm_array *array)
{
	char own[PATH_MAX];
	ssize_t chars = readlink("/proc/self/exe", own, sizeof(own) - 1);
	size_t room = 0;
	char *text = NULL;
	FILE *to = open_memstream(&text, &room);

	if (to == NULL)
		return NULL;
	own[chars < 0 ? 0 : chars] = '\0';
	fputs("exec ", to);
	put_quoted(to, own);
	fprintf(to, " fleet %s $((SLURM_ARRAY_TASK_ID + %u)) --plan ",
		array->checks ? "check" : "task", array->first);
	put_quoted(to, plan->folder);
	if (fclose(to) != 0 || chars <= 0) {
		free(text);
		return NULL;
	}
	return text;
}

static void take_job(void *context, char *line)
{
	uint64_t *job = context;

	if (*job == 0)
		*job = strtoull(line, NULL, 10);
}

__attribute__((format(printf, 2, 3))) static void add_word(
	struct words *words, const char *format, ...)
{
	va_list args;

	WH_ASSERT(words->count + 1 < WORDS_MAX);
	va_start(args, format);
	if (vasprintf(&words->word[words->count], format, args) < 0)
		words->word[words->count] = NULL; /* the last word */
	else
		words->count++;
	va_end(args);
}

static void add_option(struct words *words, const char *flag, const char *value)
{
	if (value[0] != '\0')
		add_word(words, "--%s=%s", flag, value);
}

static int run_words(struct words *words, void (*on_line)(void *context, char *line), void *context)
{
	int status = run(words->word, on_line, context);

	for (uint32_t i = 0; i < words->count; i++)
		free(words->word[i]);
	return status;
}

/* "n1,n2". NULL: no memory. */
static char *list_of(const json_t *names)
{
	size_t room = 0;
	char *text = NULL;
	FILE *to = open_memstream(&text, &room);

	for (size_t i = 0; to != NULL && i < json_array_size(names); i++)
		fprintf(to, "%s%s", i > 0 ? "," : "", json_string_value(json_array_get(names, i)));
	if (to == NULL || fclose(to) != 0)
		return NULL;
	return text;
}

/* The nodes that Slurm writes as "n[1-2],x". */
static json_t *expand(const char *expression)
{
	json_t *nodes = json_array();
	struct words words = {0};

	if (expression[0] == '\0')
		return nodes;
	add_word(&words, "scontrol");
	add_word(&words, "show");
	add_word(&words, "hostnames");
	add_word(&words, "%s", expression);
	(void)run_words(&words, keep_line, nodes);
	return nodes;
}

/* What the operator excludes stays so for a shard that goes to another node. */
static int note_excluded(struct wh_plan *plan, const char *expression)
{
	json_t *nodes = expand(expression);

	json_object_set_new(plan->json, "exclude", nodes);
	if (expression[0] != '\0' && json_array_size(nodes) == 0)
		return wh_fail(WH_EXIT_USAGE,
			"--exclude-nodes: Slurm does not know '%s'; write for example n3 or n[1-4]",
			expression);
	return -1;
}

static const char *list_name(const struct wh_slurm_array *array)
{
	if (array->checks)
		return "checks";
	return array->first > 0 ? "passing" : "jobs";
}

static json_t *given_or_null(const char *value)
{
	return value[0] != '\0' ? wh_word_to_json(value) : json_null();
}

/* What the job was given, for the report: null is Slurm's default. */
static void note_charged(struct wh_plan *plan, const struct wh_settings *settings,
	const struct wh_slurm_array *array, const char *job)
{
	if (json_object_get(plan->json, "charged") == NULL)
		json_object_set_new(plan->json, "charged", json_object());
	json_object_set_new(json_object_get(plan->json, "charged"), job,
		json_pack("{s:o, s:o, s:o}", "account", given_or_null(settings->account),
			"partition", given_or_null(settings->partition), "licenses",
			given_or_null(array->first == 0 ? settings->licenses : "")));
}

static int note_job(struct wh_plan *plan, const struct wh_settings *settings,
	const struct wh_slurm_array *array, uint64_t job)
{
	const char *list = list_name(array);
	char name[24];

	snprintf(name, sizeof(name), "%" PRIu64, job);
	note_charged(plan, settings, array, name);
	if (json_object_get(plan->json, list) == NULL)
		json_object_set_new(plan->json, list, json_array());
	json_array_append_new(json_object_get(plan->json, list), json_integer((json_int_t)job));
	if (array->first > 0) {
		if (json_object_get(plan->json, "firsts") == NULL)
			json_object_set_new(plan->json, "firsts", json_object());
		json_object_set_new(
			json_object_get(plan->json, "firsts"), name, json_integer(array->first));
	}
	return wh_plan_write(plan);
}

static void add_words(struct words *words, const struct wh_plan *plan,
	const struct wh_settings *settings, const struct wh_slurm_array *array)
{
	add_word(words, "sbatch");
	add_word(words, "--parsable");
	add_word(words, "--requeue");
	add_word(words, "--open-mode=append");
	add_word(words, "--job-name=wavehaul-%s", wh_json_text(plan->json, "site"));
	add_word(words, "--output=%s/tasks/%%a%s", plan->folder, array->first > 0 ? ".%A" : "");
	add_option(words, "partition", settings->partition);
	add_option(words, "account", settings->account);
	/* What a site passes on does not use this site's. */
	if (array->first == 0)
		add_option(words, "licenses", settings->licenses);
	add_option(words, "exclude", settings->exclude_nodes);
	if (array->after > 0) {
		add_word(words, "--dependency=aftercorr:%" PRIu64, array->after);
		add_word(words, "--kill-on-invalid-dep=yes");
	}
}

int wh_slurm_submit(struct wh_plan *plan, const struct wh_settings *settings,
	const struct wh_slurm_array *array, uint64_t *job)
{
	char *ranges = ranges_of(array->is_wanted, wh_plan_site_shards(plan));
	char *wrap = wrap_of(plan, array);
	struct words words = {0};
	int status = note_excluded(plan, settings->exclude_nodes);

	*job = 0;
	if (status != -1)
		goto out;
	if (ranges != NULL && wrap != NULL) {
		add_words(&words, plan, settings, array);
		add_word(&words, "--array=%s", ranges);
		add_word(&words, "--wrap=%s", wrap);
		status = run_words(&words, take_job, job);
	}
	if (status != 0 || *job == 0)
		status = wh_fail(WH_EXIT_OTHER,
			"Slurm has not taken the array; what is planned in %s "
			"can be given to it again: `wavehaul fleet %s`",
			plan->folder, array->checks ? "verify" : "retry");
	else
		status = note_job(plan, settings, array, *job);
out:
	free(ranges);
	free(wrap);
	return status;
}

static bool has_job(const json_t *jobs, uint64_t job)
{
	for (size_t i = 0; i < json_array_size(jobs); i++)
		if ((uint64_t)json_integer_value(json_array_get(jobs, i)) == job)
			return true;
	return false;
}

struct looking {
	const struct wh_plan *plan;
	void (*on_task)(void *context, const struct wh_slurm_task *task);
	void *context;
};

/* The node is empty until there is one. */
static void take_task(void *context, char *line)
{
	const struct looking *looking = context;
	struct wh_slurm_task task = {0};
	const json_t *plan = looking->plan->json;
	char name[24];

	if (sscanf(line, "%" SCNu64 "|%" SCNu32 "|%15[^|]|%255[^|]|%255s", &task.job, &task.shard,
		    task.state, task.reason, task.node) < 4)
		return;
	task.checks = has_job(json_object_get(plan, "checks"), task.job);
	snprintf(name, sizeof(name), "%" PRIu64, task.job);
	task.shard += (uint32_t)wh_json_count(json_object_get(plan, "firsts"), name);
	if (task.checks || has_job(json_object_get(plan, "jobs"), task.job) ||
		has_job(json_object_get(plan, "passing"), task.job))
		looking->on_task(looking->context, &task);
}

bool wh_slurm_look(const struct wh_plan *plan,
	void (*on_task)(void *context, const struct wh_slurm_task *task), void *context)
{
	struct looking looking = {.plan = plan, .on_task = on_task, .context = context};
	struct words words = {0};

	if (json_array_size(json_object_get(plan->json, "jobs")) == 0 &&
		json_array_size(json_object_get(plan->json, "checks")) == 0)
		return true;
	/* Not by job: a job that is over is an error to squeue. */
	add_word(&words, "squeue");
	add_word(&words, "--noheader");
	add_word(&words, "--array");
	add_word(&words, "--name=wavehaul-%s", wh_json_text(plan->json, "site"));
	add_word(&words, "--format=%%F|%%K|%%T|%%r|%%N");
	if (run_words(&words, take_task, &looking) != 0)
		return wh_fail(false, "the queue of Slurm cannot be read; squeue must run here");
	return true;
}

/* Of the plan's jobs, those in the queue. */
static void see_job(void *context, const struct wh_slurm_task *task)
{
	char name[24];

	snprintf(name, sizeof(name), "%" PRIu64, task->job);
	json_object_set_new(context, name, json_true());
}

int wh_slurm_cancel(const struct wh_plan *plan)
{
	json_t *jobs = json_object();
	struct words words = {0};
	const char *name;
	json_t *value;
	int status = WH_EXIT_OTHER;

	if (!wh_slurm_look(plan, see_job, jobs))
		goto out;
	status = -1;
	json_object_foreach(jobs, name, value)
	{
		words.count = 0;
		add_word(&words, "scancel");
		add_word(&words, "%s", name);
		words.word[words.count] = NULL;
		if (run_words(&words, drop_line, NULL) != 0)
			status = wh_fail(WH_EXIT_OTHER, "Slurm has not cancelled job %s", name);
	}
out:
	json_decref(jobs);
	return status;
}

/* A line "n1 idle". With a '*' behind its state it does not respond. */
static void take_node(void *context, char *line)
{
	static const char *const good[] = {"idle", "mix", "alloc", "comp", "plnd"};
	char *state = strchr(line, ' ');

	if (state == NULL || strchr(state, '*') != NULL)
		return;
	*state++ = '\0';
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (strncmp(state, good[i], strlen(good[i])) == 0)
			json_array_append_new(context, json_string(line));
}

json_t *wh_slurm_nodes(void)
{
	const char *partition = getenv("SLURM_JOB_PARTITION");
	json_t *nodes = json_array();
	struct words words = {0};

	if (partition == NULL)
		return nodes;
	add_word(&words, "sinfo");
	add_word(&words, "--noheader");
	add_word(&words, "--Node");
	add_word(&words, "--partition=%s", partition);
	add_word(&words, "--format=%%N %%t");
	(void)run_words(&words, take_node, nodes);
	return nodes;
}

static int exclude(const char *job, const json_t *nodes)
{
	char *list = list_of(nodes);
	struct words words = {0};
	int status;

	add_word(&words, "scontrol");
	add_word(&words, "--quiet");
	add_word(&words, "update");
	add_word(&words, "JobId=%s", job);
	add_word(&words, "ExcNodeList=%s", list != NULL ? list : "");
	status = run_words(&words, drop_line, NULL);
	free(list);
	return status;
}

/*
 * Slurm takes a list of nodes only for what waits. It gives the task KillWait to end, and does not
 * begin it again before its credential has expired: the list comes in time.
 */
bool wh_slurm_requeue(const json_t *but_nodes)
{
	const char *job = getenv("SLURM_JOB_ID");
	struct words words = {0};

	if (job == NULL)
		return false;
	signal(SIGTERM, SIG_IGN);
	add_word(&words, "scontrol");
	add_word(&words, "requeue");
	add_word(&words, "%s", job);
	if (run_words(&words, drop_line, NULL) != 0) {
		signal(SIGTERM, SIG_DFL);
		return false;
	}
	(void)exclude(job, but_nodes);
	return true;
}

static bool has_name(const json_t *names, const char *name)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		if (strcmp(json_string_value(json_array_get(names, i)), name) == 0)
			return true;
	return false;
}

/* scontrol(1) fails if a task of the array runs, and has changed the others: squeue(1) tells. */
bool wh_slurm_keep_off(const json_t *nodes)
{
	const char *job = getenv("SLURM_ARRAY_JOB_ID");
	json_t *lines = json_array(), *kept;
	struct words words = {0};
	bool good = job != NULL && exclude(job, nodes) >= 0;

	if (good) {
		add_word(&words, "squeue");
		add_word(&words, "--noheader");
		add_word(&words, "--states=PENDING");
		add_word(&words, "--jobs=%s", job);
		add_word(&words, "--format=%%x");
		(void)run_words(&words, keep_line, lines);
	}
	kept = expand(
		json_array_size(lines) > 0 ? json_string_value(json_array_get(lines, 0)) : "");
	for (size_t i = 0; i < json_array_size(nodes); i++)
		good &= has_name(kept, json_string_value(json_array_get(nodes, i)));
	json_decref(kept);
	json_decref(lines);
	return good;
}
