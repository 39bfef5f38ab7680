/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/calendar.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "cli/moment/system_clock.h"
#include "cli/plain_text.h"
#include "history/history_tell.h"
#include "journal/database.h"

#define RESTING_MS 500

/* A transaction waits for the disk: many short jobs share one. */
#define WRITE_EVERY_US INT64_C(100000)
#define CROWDED        (WH_HISTORY_WRITER_WAITING_MAX / 2)

/* After this time a failed write, or a failed opening of the database, is repeated. */
#define FAILED_EVERY_US INT64_C(1000000)
#define OPEN_EVERY_US   INT64_C(3000000)

#define FORGET_EVERY_US  INT64_C(3600000000)
#define REFUSED_EVERY_US INT64_C(1000000)

int wh_history_writer_init(struct wh_history_writer *writer, struct wh_jobs *jobs)
{
	writer->jobs = jobs;
	wh_spin_init(&writer->lock);
	writer->waiting = calloc(WH_HISTORY_WRITER_WAITING_MAX, sizeof(*writer->waiting));
	writer->taken = calloc(WH_HISTORY_WRITER_WAITING_MAX, sizeof(*writer->taken));
	return writer->waiting != NULL && writer->taken != NULL ? 0 : -ENOMEM;
}

static void append(struct wh_history_writer *writer, const struct wh_history_record *record)
{
	bool room;

	wh_spin_lock(&writer->lock);
	room = writer->count < WH_HISTORY_WRITER_WAITING_MAX;
	if (room)
		writer->waiting[writer->count++] = *record;
	wh_spin_unlock(&writer->lock);
	if (!room)
		atomic_fetch_add(&writer->lost, 1);
}

/*
 * Runs on a worker's core: decides now, while the peer is known, whether it may have a line of the
 * log.
 */
void wh_history_writer_job(void *context, const struct wh_job *job)
{
	static __thread struct wh_history_record record;
	struct wh_history_writer *writer = context;
	struct wh_jobs *jobs = job->jobs;

	wh_history_of_job(&record, job);
	record.quiet = !wh_peers_may_log(
		&jobs->peers, job->place.peer_entry, wh_tsc_to_ns(jobs->ctx->hz, rte_rdtsc()));
	append(writer, &record);
	if (writer->control != NULL)
		wh_control_wake(writer->control);
}

void wh_history_writer_removed(void *context, const struct wh_job *job, const char *file)
{
	struct wh_history_writer *writer = context;
	uint32_t waiting;

	if (writer->audit.fd < 0)
		return;
	waiting = wh_removals_add(&writer->removals, wh_wall_us(), job, file);
	if (writer->control != NULL && (waiting == 1 || waiting == WH_REMOVALS_MAX / 2))
		wh_control_wake(writer->control);
}

bool wh_history_writer_may_remove(void *context)
{
	struct wh_history_writer *writer = context;

	if (writer->audit.fd < 0 || wh_removals_have_room(&writer->removals))
		return true;
	if (writer->control != NULL)
		wh_control_wake(writer->control);
	return false;
}

static const char *const verbs[WH_HISTORY_WRITER_VERBS] = {"send", "get", "bench", "idle", "other"};

static void count_ended(struct wh_history_writer *writer, const struct wh_history_record *record)
{
	uint32_t i = 0;

	while (i < WH_HISTORY_WRITER_VERBS - 1 && strcmp(verbs[i], record->verb) != 0)
		i++;
	if (record->status == 0)
		writer->ended[i].ok++;
	else
		writer->ended[i].failed++;
	writer->ended[i].bytes += record->bytes;
}

static void say_trouble(struct wh_history_writer *writer, int rc)
{
	if (rc < 0 && !writer->failing)
		wh_say("transfers are not recorded: %s; they continue", wh_database_why(rc));
	if (rc == 0 && writer->failing)
		wh_say("transfers are recorded again");
	writer->failing = rc < 0;
}

static void forget_old(struct wh_history_writer *writer, int64_t now)
{
	if (!wh_calendar_is_settled(&writer->calendar, now / 1000000, wh_steady_s()) ||
		writer->history == NULL || now < writer->next_forget_us)
		return;
	writer->next_forget_us = now + FORGET_EVERY_US;
	say_trouble(writer,
		wh_history_forget(writer->history, now - writer->keep_us, WH_HISTORY_ROWS_MAX));
}

static void tell_hook(struct wh_history_writer *writer, const struct wh_history_record *record)
{
	static struct wh_hook_event event; /* of the one thread that writes */

	if (writer->hook != NULL && wh_ends_take(&writer->ends, record, &event))
		wh_hook_tell(writer->hook, &event);
}

static void tell(struct wh_history_writer *writer, const struct wh_history_record *record)
{
	char sentence[WH_TELL_BYTES];

	count_ended(writer, record);
	wh_history_tell(record, sentence);
	if (!record->quiet)
		wh_say("%s", sentence);
	tell_hook(writer, record);
	if (record->side == WH_HISTORY_SERVED)
		wh_audit_record(&writer->audit, record, sentence);
}

/* Writes the taken records to the history, in one transaction. False: they wait. */
static bool note_taken(struct wh_history_writer *writer)
{
	if (writer->kept > 0 && writer->history != NULL) {
		int rc = wh_history_add(writer->history, writer->taken, writer->kept);

		say_trouble(writer, rc);
		if (rc < 0)
			return false;
	}
	if (writer->history == NULL && writer->folder != NULL)
		return writer->kept == 0;
	writer->kept = 0;
	return true;
}

void wh_history_writer_order(
	struct wh_history_writer *writer, const struct wh_history_record *record)
{
	append(writer, record);
}

/*
 * Logs and audits the waiting records at once, without waiting for the history's disk: a record
 * that is not written yet is lost if the process is killed. Workers meanwhile only append. Returns
 * the number of waiting records.
 */
static uint32_t tell_waiting(struct wh_history_writer *writer)
{
	uint32_t count;

	wh_spin_lock(&writer->lock);
	count = writer->count;
	wh_spin_unlock(&writer->lock);
	for (; writer->told < count; writer->told++)
		tell(writer, &writer->waiting[writer->told]);
	return count;
}

/* Whether the waiting records are to be written to the history now; otherwise *wait_ms. */
static bool is_due(struct wh_history_writer *writer, uint32_t count, int64_t now, uint32_t *wait_ms)
{
	int64_t since = now - writer->written_us;
	int64_t every = writer->failing ? FAILED_EVERY_US : WRITE_EVERY_US;

	/* If the clock was set back, do not wait. */
	if (count + writer->kept == 0 ||
		((count < CROWDED || writer->failing) && since >= 0 && since < every)) {
		*wait_ms = RESTING_MS;
		if (count > 0)
			*wait_ms = (uint32_t)wh_min_u64(
				RESTING_MS, (uint64_t)(every - since) / 1000 + 1);
		return false;
	}
	writer->written_us = now;
	return true;
}

/*
 * Records that the database does not accept are kept for the next attempt. When too many new ones
 * wait behind them, the kept ones are lost to the history, so that the new ones are logged in time.
 * The log and the audit have all of them.
 */
static void write_waiting(struct wh_history_writer *writer)
{
	struct wh_history_record *records;
	uint32_t count;

	if (!note_taken(writer)) {
		if (writer->count < CROWDED)
			return;
		atomic_fetch_add(&writer->lost, writer->kept);
	}
	wh_spin_lock(&writer->lock);
	count = writer->count;
	records = writer->waiting;
	writer->waiting = writer->taken;
	writer->taken = records;
	writer->count = 0;
	wh_spin_unlock(&writer->lock);
	for (uint32_t i = writer->told; i < count; i++)
		tell(writer, &records[i]);
	writer->told = 0;
	writer->kept = count;
	(void)note_taken(writer);
}

/* Opens the database later if it was not available at the start; follows it if it is replaced. */
static void follow_history(struct wh_history_writer *writer, int64_t now)
{
	int rc;

	if (writer->folder == NULL ||
		(now < writer->next_open_us && now > writer->next_open_us - OPEN_EVERY_US))
		return;
	rc = writer->history == NULL
		     ? wh_history_try(&writer->history, writer->folder)
		     : wh_history_follow(&writer->history, writer->folder, !writer->shares_file);
	if (rc < 0)
		writer->next_open_us = now + OPEN_EVERY_US;
}

/*
 * Refusals are written once a second, and only one of them to the log: strangers must not fill it.
 */
static void write_refusals(struct wh_history_writer *writer)
{
	struct wh_refusal refusal;
	char sentence[WH_TELL_BYTES];
	bool told = false;

	for (uint32_t i = 0; i <= WH_REFUSALS_KEPT; i++) {
		if (!wh_refusals_take(&writer->jobs->refusals, &refusal))
			break;
		wh_refusal_tell(&refusal, told ? 0 : writer->refused_untold, sentence);
		wh_audit_refused(&writer->audit, &refusal, sentence);
		if (!told)
			wh_say("%s", sentence);
		writer->refused_untold = told ? writer->refused_untold + refusal.times : 0;
		told = true;
	}
}

/* Audits removals, before the line of the job that removed the files. */
static void write_removals(struct wh_history_writer *writer)
{
	static struct wh_removal taken[WH_REMOVALS_MAX]; /* of the one thread that writes */
	uint64_t lost = 0;
	uint32_t count = wh_removals_take(&writer->removals, taken, &lost);

	for (uint32_t i = 0; i < count; i++) {
		wh_audit_removed(&writer->audit, &taken[i]);
		wh_removal_free(&taken[i]);
	}
	atomic_fetch_add(&writer->audit.lost, lost);
}

static uint32_t take_turn(void *context)
{
	struct wh_history_writer *writer = context;
	int64_t now = wh_wall_us();

	uint32_t wait_ms = RESTING_MS;

	follow_history(writer, now);
	write_removals(writer);
	if (is_due(writer, tell_waiting(writer), now, &wait_ms))
		write_waiting(writer);
	/* A clock that was set back only delays it. */
	if (now >= writer->next_refused_us || now < writer->next_refused_us - REFUSED_EVERY_US) {
		writer->next_refused_us = now + REFUSED_EVERY_US;
		write_refusals(writer);
	}
	forget_old(writer, now);
	return wait_ms;
}

void wh_history_writer_open(struct wh_history_writer *writer, const char *folder, uint64_t keep_ns,
	struct wh_control_socket *control)
{
	writer->keep_us = (int64_t)(keep_ns / 1000);
	writer->control = control;
	wh_control_add_turn(control, take_turn, writer, -1);
	if (keep_ns == 0 || folder[0] == '\0')
		return;
	writer->folder = folder;
	say_trouble(writer, wh_history_try(&writer->history, folder));
}

void wh_history_writer_close(struct wh_history_writer *writer)
{
	uint64_t lost;

	if (writer->waiting != NULL && writer->taken != NULL) {
		write_removals(writer);
		(void)tell_waiting(writer);
		write_refusals(writer);
		write_waiting(writer);
		if (writer->kept > 0)
			write_waiting(writer);
	}
	lost = atomic_load(&writer->lost) + writer->kept + writer->count;
	if (lost > 0)
		wh_say("%" PRIu64 " transfer%s could not be noted", lost, wh_plural(lost));
	wh_history_close(writer->history);
	free(writer->waiting);
	free(writer->taken);
	writer->history = NULL;
	writer->folder = NULL;
	writer->kept = writer->count = 0;
	writer->waiting = writer->taken = NULL;
}

/* The most records in one answer. */
#define LAST_MAX 100

static json_t *ended_json(const struct wh_history_writer *writer)
{
	json_t *ended = json_object();

	for (uint32_t i = 0; i < WH_HISTORY_WRITER_VERBS; i++)
		json_object_set_new(ended, verbs[i],
			json_pack("{s:I, s:I, s:I}", "ended_ok", (json_int_t)writer->ended[i].ok,
				"ended_failed", (json_int_t)writer->ended[i].failed, "bytes",
				(json_int_t)writer->ended[i].bytes));
	return ended;
}

static void tell_last(struct wh_control_call *call)
{
	struct wh_history_writer *writer = call->context;
	uint64_t wanted = wh_min_u64(wh_control_count(call, "count", 20), LAST_MAX);
	struct wh_history_record *record = malloc(sizeof(*record));
	json_t *list = json_array();
	int64_t below = INT64_MAX;

	for (uint64_t i = 0; record != NULL && writer->history != NULL && i < wanted; i++) {
		if (wh_history_next(writer->history, INT64_MIN, INT64_MAX, below, record) != 1)
			break;
		below = record->id;
		json_array_append_new(list, wh_history_json(record));
	}
	free(record);
	json_object_set_new(call->answer, "transfers", list);
	json_object_set_new(call->answer, "ended", ended_json(writer));
	json_object_set_new(
		call->answer, "lost", json_integer((json_int_t)atomic_load(&writer->lost)));
}

static const struct wh_control_command commands[] = {
	{.name = "transfers",
		.help = "those that are over, the newest first: 20, or count, 100 at most",
		.run = tell_last,
		.argument = {{"count", WH_CONTROL_COUNT, false, "so many"}}},
};

void wh_history_writer_add(struct wh_control_tables *tables, struct wh_history_writer *writer)
{
	wh_control_add(tables, commands, sizeof(commands) / sizeof(commands[0]), writer);
}
