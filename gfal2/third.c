/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies between two other hosts: the queue of this host's server has the first one send to the
 * second, as `wavehaul job add copy` does, and is asked until that is over.
 */

#include <errno.h>
#include <string.h>

#include "copy.h"
#include "names.h"
#include "verbs.h"

#define ASK_US (G_USEC_PER_SEC / 2)
#define END_US (30 * G_USEC_PER_SEC)

#define EXIT_CANCELLED 20 /* of wavehaul(1) */

/* A verb of the queue about one job; its report, or NULL. */
static json_t *ask_job(const struct plugin *plugin, const char *verb, json_int_t job, GError **err)
{
	char *number = g_strdup_printf("%lld", (long long)job);
	json_t *report = verb_ask(plugin,
		verb_words(plugin, NULL, "job", verb, number, "--json", NULL), 0, NULL, err);

	g_free(number);
	return report;
}

/* Its number, or -1. */
static json_int_t add_job(
	const struct copy *copy, const struct place *from, const struct place *to, GError **err)
{
	char *source = place_literal(from), *target = place_word(to);
	json_t *report = verb_ask(copy->plugin,
		verb_words(copy->plugin, NULL, "job", "add", "copy", source, target, "--json",
			copy->replaces ? NULL : "--ignore-existing", NULL),
		0, NULL, err);
	json_int_t job = report != NULL ? json_integer_value(json_object_get(report, "job")) : -1;

	json_decref(report);
	g_free(source);
	g_free(target);
	return job;
}

static bool is_over(const json_t *row)
{
	const char *state = json_string_value(json_object_get(row, "state"));

	return g_strcmp0(state, "done") == 0 || g_strcmp0(state, "failed") == 0 ||
	       g_strcmp0(state, "cancelled") == 0;
}

/* How far it is, for who follows the copy. False: the queue says nothing of it. */
static bool follow(struct copy *copy, const json_t *row)
{
	json_int_t bytes = json_integer_value(json_object_get(row, "moved_bytes"));

	copy->bytes = bytes > 0 ? (size_t)bytes : 0;
	copy_tell(copy);
	return is_over(row);
}

static void cancel_job(const struct plugin *plugin, json_int_t job)
{
	/* What has cancelled us would end these, too. */
	struct plugin deaf = {.context = plugin->context, .is_deaf = true};
	gint64 until = g_get_monotonic_time() + END_US;
	bool is_gone = false;

	json_decref(ask_job(&deaf, "cancel", job, NULL));
	while (!is_gone && g_get_monotonic_time() < until) {
		json_t *row = ask_job(&deaf, "show", job, NULL);

		is_gone = row == NULL || is_over(row);
		json_decref(row);
		if (!is_gone)
			g_usleep(ASK_US);
	}
}

static bool is_wanted(const struct copy *copy, GError **err)
{
	gint64 took_us = g_get_monotonic_time() - copy->began_us;

	if (gfal2_is_canceled(copy->plugin->context))
		return copy_fail(err, ECANCELED, GFALT_ERROR_TRANSFER, NULL, "cancelled");
	if (copy->timeout_s > 0 && took_us > (gint64)copy->timeout_s * G_USEC_PER_SEC)
		return copy_fail(err, ETIMEDOUT, GFALT_ERROR_TRANSFER, NULL,
			"not over within the time that was given for it");
	return true;
}

/* The row of the job once it is over; NULL: it was cancelled, or nobody knows. */
static json_t *await_job(struct copy *copy, json_int_t job, GError **err)
{
	json_t *row = NULL;

	while (is_wanted(copy, err)) {
		row = ask_job(copy->plugin, "show", job, err);
		if (row == NULL || follow(copy, row))
			break;
		json_decref(row);
		row = NULL;
		g_usleep(ASK_US);
	}
	if (row == NULL)
		cancel_job(copy->plugin, job);
	return row;
}

static bool judge_row(const struct copy *copy, const json_t *row, GError **err)
{
	const char *said = json_string_value(json_object_get(row, "error"));
	int status = (int)json_integer_value(json_object_get(row, "exit_status"));

	if (g_strcmp0(json_string_value(json_object_get(row, "state")), "done") != 0) {
		said = said != NULL ? said : "the job was cancelled";
		return copy_fail(err, verb_errno(status != 0 ? status : EXIT_CANCELLED, said),
			GFALT_ERROR_TRANSFER, NULL, said);
	}
	if (!copy->replaces && json_integer_value(json_object_get(row, "skipped")) > 0)
		return copy_fail(err, EEXIST, GFALT_ERROR_DESTINATION, GFALT_ERROR_EXISTS,
			"the target exists, and is not to be replaced");
	return true;
}

static bool run_job(
	struct copy *copy, const struct place *from, const struct place *to, GError **err)
{
	json_int_t job = add_job(copy, from, to, err);
	json_t *row = job > 0 ? await_job(copy, job, err) : NULL;
	bool is_there = row != NULL && judge_row(copy, row, err);

	json_decref(row);
	return is_there;
}

/* A target that is a folder would have the file in it, by its own name. */
static bool may_be_target(const struct copy *copy, const struct place *to, GError **err)
{
	struct stat stat;
	GError *why = NULL;

	if (names_stat_place(copy->plugin, to, &stat, &why)) {
		if (S_ISDIR(stat.st_mode))
			return copy_fail(err, EISDIR, GFALT_ERROR_DESTINATION, NULL,
				"the target is a folder");
		return copy->replaces ||
		       copy_fail(err, EEXIST, GFALT_ERROR_DESTINATION, GFALT_ERROR_EXISTS,
			       "the target exists, and is not to be replaced");
	}
	if (why->code == ENOENT) {
		g_error_free(why);
		return copy_make_parent(copy, to, err);
	}
	g_propagate_error(err, why);
	return false;
}

/* The target is read again, and what is wrong does not stay. `sum` is the source's, or NULL. */
static bool judge_target(
	const struct copy *copy, const struct place *to, const char *sum, GError **err)
{
	char *found = copy_sum(copy, to, err);
	bool is_right = found != NULL && copy_judge(copy, found, GFALT_ERROR_DESTINATION, err);

	if (is_right && sum != NULL && !sum_is(found, sum))
		is_right = copy_fail(err, EIO, GFALT_ERROR_TRANSFER, GFALT_ERROR_CHECKSUM_MISMATCH,
			"the checksums of source and target differ");
	if (found != NULL && !is_right)
		names_unlink((plugin_handle)copy->plugin, copy->to, NULL);
	g_free(found);
	return is_right;
}

bool copy_third(struct copy *copy, const struct place *from, const struct place *to, GError **err)
{
	char *sum = NULL;
	bool is_right;

	if (from->port != 0 || to->port != 0)
		return copy_fail(err, EINVAL, GFALT_ERROR_TRANSFER, NULL,
			"between two hosts both are named without a port; the trusted peer has it");
	is_right = may_be_target(copy, to, err);
	if (is_right && (copy->mode & GFALT_CHECKSUM_SOURCE) != 0) {
		sum = copy_sum(copy, from, err);
		is_right = sum != NULL && copy_judge(copy, sum, GFALT_ERROR_SOURCE, err);
	}
	is_right = is_right && run_job(copy, from, to, err);
	if (is_right && (copy->mode & GFALT_CHECKSUM_TARGET) != 0)
		is_right = judge_target(copy, to, sum, err);
	g_free(sum);
	return is_right;
}
