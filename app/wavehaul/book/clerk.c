/* SPDX-License-Identifier: BSD-3-Clause */
#include "book/clerk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>

#include "base/calendar.h"
#include "base/clock.h"
#include "book/tell.h"
#include "cli/complain.h"
#include "cli/plain_text.h"
#include "control/steady.h"
#include "journal/database.h"

#define RESTING_MS 500

/* A transaction waits for the disk: many short jobs share one. */
#define WRITE_EVERY_US INT64_C(100000)
#define CROWDED        (WH_CLERK_WAITING_MAX / 2)

/* Until a failed write, or a failed opening of the database, is repeated. */
#define FAILED_EVERY_US INT64_C(1000000)
#define OPEN_EVERY_US   INT64_C(3000000)

#define FORGET_EVERY_US  INT64_C(3600000000)
#define REFUSED_EVERY_US INT64_C(1000000)

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int wh_clerk_init(struct wh_clerk *clerk, struct wh_jobs *jobs)
{
	clerk->jobs = jobs;
	wh_spin_init(&clerk->lock);
	clerk->waiting = calloc(WH_CLERK_WAITING_MAX, sizeof(*clerk->waiting));
	clerk->taken = calloc(WH_CLERK_WAITING_MAX, sizeof(*clerk->taken));
	return clerk->waiting != NULL && clerk->taken != NULL ? 0 : -ENOMEM;
}

static void append(struct wh_clerk *clerk, const struct wh_book_entry *entry)
{
	bool room;

	wh_spin_lock(&clerk->lock);
	room = clerk->count < WH_CLERK_WAITING_MAX;
	if (room)
		clerk->waiting[clerk->count++] = *entry;
	wh_spin_unlock(&clerk->lock);
	if (!room)
		atomic_fetch_add(&clerk->lost, 1);
}

/*
 * Runs on a worker's core: decides now, while the peer is known, whether it may have a line of the
 * log.
 */
void wh_clerk_job(void *context, const struct wh_job *job)
{
	static __thread struct wh_book_entry entry;
	struct wh_clerk *clerk = context;
	struct wh_jobs *jobs = job->jobs;

	wh_entry_of_job(&entry, job);
	entry.quiet = !wh_peers_may_log(
		&jobs->peers, job->place.peer_entry, wh_tsc_to_ns(jobs->ctx->hz, rte_rdtsc()));
	append(clerk, &entry);
	if (clerk->control != NULL)
		wh_control_wake(clerk->control);
}

void wh_clerk_removed(void *context, const struct wh_job *job, const char *file)
{
	struct wh_clerk *clerk = context;
	uint32_t waiting;

	if (clerk->audit.fd < 0)
		return;
	waiting = wh_removals_add(&clerk->removals, now_us(), job, file);
	if (clerk->control != NULL && (waiting == 1 || waiting == WH_REMOVALS_MAX / 2))
		wh_control_wake(clerk->control);
}

bool wh_clerk_may_remove(void *context)
{
	struct wh_clerk *clerk = context;

	if (clerk->audit.fd < 0 || wh_removals_have_room(&clerk->removals))
		return true;
	if (clerk->control != NULL)
		wh_control_wake(clerk->control);
	return false;
}

static const char *const verbs[WH_CLERK_VERBS] = {"send", "get", "bench", "idle", "other"};

static void count_ended(struct wh_clerk *clerk, const struct wh_book_entry *entry)
{
	uint32_t i = 0;

	while (i < WH_CLERK_VERBS - 1 && strcmp(verbs[i], entry->verb) != 0)
		i++;
	if (entry->status == 0)
		clerk->ended[i].ok++;
	else
		clerk->ended[i].failed++;
	clerk->ended[i].bytes += entry->bytes;
}

static void say_trouble(struct wh_clerk *clerk, int rc)
{
	if (rc < 0 && !clerk->failing)
		wh_say("transfers are not recorded: %s; they continue", wh_database_why(rc));
	if (rc == 0 && clerk->failing)
		wh_say("transfers are recorded again");
	clerk->failing = rc < 0;
}

static void forget_old(struct wh_clerk *clerk, int64_t now)
{
	if (!wh_calendar_is_settled(&clerk->calendar, now / 1000000, wh_steady_s()) ||
		clerk->book == NULL || now < clerk->next_forget_us)
		return;
	clerk->next_forget_us = now + FORGET_EVERY_US;
	say_trouble(clerk, wh_book_forget(clerk->book, now - clerk->keep_us, WH_BOOK_ROWS_MAX));
}

static void tell_hook(struct wh_clerk *clerk, const struct wh_book_entry *entry)
{
	static struct wh_hook_event event; /* of the one thread that writes */

	if (clerk->hook != NULL && wh_ends_take(&clerk->ends, entry, &event))
		wh_hook_tell(clerk->hook, &event);
}

static void tell(struct wh_clerk *clerk, const struct wh_book_entry *entry)
{
	char sentence[WH_TELL_BYTES];

	count_ended(clerk, entry);
	wh_entry_tell(entry, sentence);
	if (!entry->quiet)
		wh_say("%s", sentence);
	tell_hook(clerk, entry);
	if (entry->side == WH_ENTRY_SERVED)
		wh_audit_entry(&clerk->audit, entry, sentence);
}

/* Writes the taken entries to the book, in one transaction. False: they wait. */
static bool note_taken(struct wh_clerk *clerk)
{
	if (clerk->kept > 0 && clerk->book != NULL) {
		int rc = wh_book_add(clerk->book, clerk->taken, clerk->kept);

		say_trouble(clerk, rc);
		if (rc < 0)
			return false;
	}
	if (clerk->book == NULL && clerk->folder != NULL)
		return clerk->kept == 0;
	clerk->kept = 0;
	return true;
}

void wh_clerk_order(struct wh_clerk *clerk, const struct wh_book_entry *entry)
{
	append(clerk, entry);
}

/*
 * The log and the audit get each entry at once: they do not wait for the disk, and an entry not
 * written is lost to them if the process is killed. Workers only append to the waiting entries.
 */
static uint32_t tell_waiting(struct wh_clerk *clerk)
{
	uint32_t count;

	wh_spin_lock(&clerk->lock);
	count = clerk->count;
	wh_spin_unlock(&clerk->lock);
	for (; clerk->told < count; clerk->told++)
		tell(clerk, &clerk->waiting[clerk->told]);
	return count;
}

/* Whether the waiting entries are to be written to the book now; otherwise *wait_ms. */
static bool is_due(struct wh_clerk *clerk, uint32_t count, int64_t now, uint32_t *wait_ms)
{
	int64_t since = now - clerk->written_us;
	int64_t every = clerk->failing ? FAILED_EVERY_US : WRITE_EVERY_US;

	/* If the clock was set back, do not wait. */
	if (count + clerk->kept == 0 ||
		((count < CROWDED || clerk->failing) && since >= 0 && since < every)) {
		*wait_ms = RESTING_MS;
		if (count > 0)
			*wait_ms = (uint32_t)wh_min_u64(
				RESTING_MS, (uint64_t)(every - since) / 1000 + 1);
		return false;
	}
	clerk->written_us = now;
	return true;
}

/*
 * Entries that the database does not accept wait for the next time. When too many new ones wait
 * behind them, they are lost to the book, so that the new ones are logged in time: the log and the
 * audit have all.
 */
static void write_waiting(struct wh_clerk *clerk)
{
	struct wh_book_entry *entries;
	uint32_t count;

	if (!note_taken(clerk)) {
		if (clerk->count < CROWDED)
			return;
		atomic_fetch_add(&clerk->lost, clerk->kept);
	}
	wh_spin_lock(&clerk->lock);
	count = clerk->count;
	entries = clerk->waiting;
	clerk->waiting = clerk->taken;
	clerk->taken = entries;
	clerk->count = 0;
	wh_spin_unlock(&clerk->lock);
	for (uint32_t i = clerk->told; i < count; i++)
		tell(clerk, &entries[i]);
	clerk->told = 0;
	clerk->kept = count;
	(void)note_taken(clerk);
}

/* Opens the database later if it was not available at the start; follows it if it is replaced. */
static void follow_book(struct wh_clerk *clerk, int64_t now)
{
	int rc;

	if (clerk->folder == NULL ||
		(now < clerk->next_open_us && now > clerk->next_open_us - OPEN_EVERY_US))
		return;
	rc = clerk->book == NULL ? wh_book_try(&clerk->book, clerk->folder)
				 : wh_book_follow(&clerk->book, clerk->folder, !clerk->shares_file);
	if (rc < 0)
		clerk->next_open_us = now + OPEN_EVERY_US;
}

/*
 * Refusals are written once a second, and only one of them to the log: strangers must not fill it.
 */
static void write_refusals(struct wh_clerk *clerk)
{
	struct wh_refusal refusal;
	char sentence[WH_TELL_BYTES];
	bool told = false;

	for (uint32_t i = 0; i <= WH_REFUSALS_KEPT; i++) {
		if (!wh_refusals_take(&clerk->jobs->refusals, &refusal))
			break;
		wh_refusal_tell(&refusal, told ? 0 : clerk->refused_untold, sentence);
		wh_audit_refused(&clerk->audit, &refusal, sentence);
		if (!told)
			wh_say("%s", sentence);
		clerk->refused_untold = told ? clerk->refused_untold + refusal.times : 0;
		told = true;
	}
}

/* Before the line of the job that removed them. */
static void write_removals(struct wh_clerk *clerk)
{
	static struct wh_removal taken[WH_REMOVALS_MAX]; /* of the one thread that writes */
	uint64_t lost = 0;
	uint32_t count = wh_removals_take(&clerk->removals, taken, &lost);

	for (uint32_t i = 0; i < count; i++) {
		wh_audit_removed(&clerk->audit, &taken[i]);
		wh_removal_free(&taken[i]);
	}
	atomic_fetch_add(&clerk->audit.lost, lost);
}

static uint32_t take_turn(void *context)
{
	struct wh_clerk *clerk = context;
	int64_t now = now_us();

	uint32_t wait_ms = RESTING_MS;

	follow_book(clerk, now);
	write_removals(clerk);
	if (is_due(clerk, tell_waiting(clerk), now, &wait_ms))
		write_waiting(clerk);
	/* A clock that was set back only delays it. */
	if (now >= clerk->next_refused_us || now < clerk->next_refused_us - REFUSED_EVERY_US) {
		clerk->next_refused_us = now + REFUSED_EVERY_US;
		write_refusals(clerk);
	}
	forget_old(clerk, now);
	return wait_ms;
}

void wh_clerk_open(struct wh_clerk *clerk, const char *folder, uint64_t keep_ns,
	struct wh_control_socket *control)
{
	clerk->keep_us = (int64_t)(keep_ns / 1000);
	clerk->control = control;
	wh_control_add_turn(control, take_turn, clerk, -1);
	if (keep_ns == 0 || folder[0] == '\0')
		return;
	clerk->folder = folder;
	say_trouble(clerk, wh_book_try(&clerk->book, folder));
}

void wh_clerk_close(struct wh_clerk *clerk)
{
	uint64_t lost;

	if (clerk->waiting != NULL && clerk->taken != NULL) {
		write_removals(clerk);
		write_waiting(clerk);
		if (clerk->kept > 0)
			write_waiting(clerk);
	}
	lost = atomic_load(&clerk->lost) + clerk->kept + clerk->count;
	if (lost > 0)
		wh_say("%" PRIu64 " transfer%s could not be noted", lost, wh_plural(lost));
	wh_book_close(clerk->book);
	free(clerk->waiting);
	free(clerk->taken);
	clerk->book = NULL;
	clerk->folder = NULL;
	clerk->kept = clerk->count = 0;
	clerk->waiting = clerk->taken = NULL;
}

/* The most entries in one answer. */
#define LAST_MAX 100

static json_t *ended_json(const struct wh_clerk *clerk)
{
	json_t *ended = json_object();

	for (uint32_t i = 0; i < WH_CLERK_VERBS; i++)
		json_object_set_new(ended, verbs[i],
			json_pack("{s:I, s:I, s:I}", "ended_ok", (json_int_t)clerk->ended[i].ok,
				"ended_failed", (json_int_t)clerk->ended[i].failed, "bytes",
				(json_int_t)clerk->ended[i].bytes));
	return ended;
}

static void tell_last(struct wh_control_call *call)
{
	struct wh_clerk *clerk = call->context;
	uint64_t wanted = wh_min_u64(wh_control_count(call, "count", 20), LAST_MAX);
	struct wh_book_entry *entry = malloc(sizeof(*entry));
	json_t *list = json_array();
	int64_t below = INT64_MAX;

	for (uint64_t i = 0; entry != NULL && clerk->book != NULL && i < wanted; i++) {
		if (wh_book_next(clerk->book, INT64_MIN, INT64_MAX, below, entry) != 1)
			break;
		below = entry->id;
		json_array_append_new(list, wh_entry_json(entry));
	}
	free(entry);
	json_object_set_new(call->answer, "transfers", list);
	json_object_set_new(call->answer, "ended", ended_json(clerk));
	json_object_set_new(
		call->answer, "lost", json_integer((json_int_t)atomic_load(&clerk->lost)));
}

static const struct wh_control_command commands[] = {
	{.name = "transfers",
		.help = "those that are over, the newest first: 20, or count, 100 at most",
		.run = tell_last,
		.argument = {{"count", WH_CONTROL_COUNT, false, "so many"}}},
};

void wh_clerk_add(struct wh_control_tables *tables, struct wh_clerk *clerk)
{
	wh_control_add(tables, commands, sizeof(commands) / sizeof(commands[0]), clerk);
}
