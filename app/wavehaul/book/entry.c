/* SPDX-License-Identifier: BSD-3-Clause */
#include "book/entry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/exit.h"
#include "file/digest.h"
#include "job/jobs.h"
#include "trust/fingerprint.h"
#include "trust/store.h"

/* A million times the fastest lines of today. */
#define BPS_MAX 1e18

const char *wh_entry_side_name(enum wh_entry_side side)
{
	static const char *const names[WH_ENTRY_SIDES] = {
		[WH_ENTRY_SERVED] = "served",
		[WH_ENTRY_ORDER] = "queue",
		[WH_ENTRY_CLIENT] = "client",
	};

	WH_ASSERT((unsigned int)side < WH_ENTRY_SIDES);
	return names[side];
}

static void set_word(char word[WH_ENTRY_WORD_BYTES], const char *text)
{
	snprintf(word, WH_ENTRY_WORD_BYTES, "%s", text != NULL ? text : "");
}

static void set_times(struct wh_book_entry *entry, uint64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	entry->ended_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
	entry->began_us = entry->ended_us - (int64_t)(ns / 1000);
}

static void add_totals(struct wh_book_entry *entry, const struct wh_totals *totals)
{
	entry->files = totals->files;
	entry->skipped = totals->skipped;
	entry->failed = totals->failed;
	entry->bytes = totals->bytes;
	entry->resumed_bytes = totals->resumed_bytes;
}

static void add_packets(struct wh_book_entry *entry, const struct wh_job *job)
{
	entry->moved_bytes += atomic_load(&job->view.moved_bytes);
	entry->pkts += atomic_load(&job->view.sent_pkts);
	entry->lost_pkts += atomic_load(&job->view.lost_pkts);
	entry->again_pkts += atomic_load(&job->view.again_pkts);
	entry->repair_pkts += atomic_load(&job->view.repair_pkts);
}

/* The fields common to all its lanes. */
static void add_request(struct wh_book_entry *entry, const struct wh_job *job)
{
	const struct wh_request *request = &job->request;
	const struct wh_job_figures *figures = &job->result.figures;

	set_word(entry->verb, wh_job_verb_name(request->verb));
	set_word(entry->profile, request->profile != NULL ? request->profile->name : "");
	entry->sends = wh_job_sends(job);
	entry->lanes = request->lanes;
	entry->rate_bps = wh_rate_is_paced(request->rate_bps) ? request->rate_bps : 0;
	entry->rtt_ns = figures->rtt_ns;
	if (entry->sends)
		set_word(entry->limit, wh_limit_name(figures->limited_by));
	if (figures->digest_known && entry->files == 1 && entry->lanes <= 1)
		wh_digest_text(&figures->digest, entry->digest);
}

static void set_peer(struct wh_book_entry *entry, const struct wh_address *peer)
{
	char text[WH_ADDRESS_TEXT_BYTES];

	snprintf(entry->peer, sizeof(entry->peer), "%s", wh_address_text(peer, text));
}

static void name_peer(struct wh_book_entry *entry, const struct wh_job *job)
{
	struct wh_store *store = job->jobs->service->store;
	char name[WH_PEER_NAME_BYTES];
	struct wh_rights rights;

	if (job->streams.sa != NULL)
		wh_id_text(job->streams.sa->config.peer_identity, entry->identity);
	if (store != NULL && job->rights.number != 0 &&
		wh_store_rights(store, job->rights.number, &rights, name))
		snprintf(entry->name, sizeof(entry->name), "%s", name);
}

void wh_entry_of_job(struct wh_book_entry *entry, const struct wh_job *job)
{
	const struct wh_totals totals = wh_job_totals(job);
	uint64_t ended_tsc = wh_max_u64(wh_job_flowed_tsc(job), job->turn.came_tsc);
	bool failed = job->result.failed != WH_STATUS_PENDING;

	WH_ASSERT(job->role == WH_AT_SERVER);
	*entry = (struct wh_book_entry){.side = WH_ENTRY_SERVED,
		.number = job->place.transfer,
		.lane = job->place.lane,
		.uid = -1,
		.paths = job->request.here.count};
	set_times(entry, wh_tsc_to_ns(job->jobs->ctx->hz, ended_tsc - job->turn.came_tsc));
	add_totals(entry, &totals);
	add_packets(entry, job);
	add_request(entry, job);
	set_peer(entry, &job->place.peer);
	name_peer(entry, job);
	if (entry->paths > 0 && job->records.paths != NULL)
		snprintf(entry->path, sizeof(entry->path), "%s", job->records.paths[0]);
	if (job->records.file != NULL)
		snprintf(entry->file, sizeof(entry->file), "%s", job->records.file);
	entry->status = failed ? WH_EXIT_OTHER : totals.failed > 0 ? WH_EXIT_PARTIAL : WH_EXIT_OK;
	set_word(entry->outcome, failed              ? wh_release_status_name(job->result.failed)
				 : totals.failed > 0 ? "some files failed"
						     : "ok");
	snprintf(entry->why, sizeof(entry->why), "%s", job->result.why);
}

void wh_entry_of_lanes(
	struct wh_book_entry *entry, const struct wh_lanes *lanes, const char *server)
{
	const struct wh_totals totals = wh_lanes_totals(lanes);
	const struct wh_job *job = lanes->job[0];
	const struct wh_request_paths *from =
		job->request.verb == WH_JOB_SEND ? &job->request.here : &job->request.there;

	WH_ASSERT(lanes->started > 0);
	*entry = (struct wh_book_entry){.side = WH_ENTRY_CLIENT,
		.number = lanes->transfer,
		.uid = (int64_t)getuid(),
		.paths = from->count};
	set_times(entry, (uint64_t)(wh_lanes_seconds(lanes) * 1e9));
	add_totals(entry, &totals);
	for (uint32_t lane = 0; lane < lanes->started; lane++)
		add_packets(entry, lanes->job[lane]);
	add_request(entry, job);
	set_peer(entry, &lanes->peer);
	snprintf(entry->name, sizeof(entry->name), "%s", server);
	if (job->sealed.cipher != 0)
		wh_id_text(job->sealed.peer_id, entry->identity);
	if (from->count > 0)
		snprintf(entry->path, sizeof(entry->path), "%s", from->path[0]);
}

double wh_entry_seconds(const struct wh_book_entry *entry)
{
	/* In a damaged row they may be any numbers. */
	double us = (double)entry->ended_us - (double)entry->began_us;

	return us > 0 ? us / 1e6 : 0;
}

double wh_book_bps(uint64_t bytes, double seconds)
{
	return seconds > 0 ? fmin((double)bytes * 8 / seconds, BPS_MAX) : 0;
}

uint64_t wh_entry_flowed_bytes(const struct wh_book_entry *entry)
{
	uint64_t before = wh_min_u64(entry->resumed_bytes, entry->bytes);

	return entry->status != 0 || entry->files == 0 ? entry->moved_bytes : entry->bytes - before;
}

double wh_entry_bps(const struct wh_book_entry *entry)
{
	return wh_book_bps(wh_entry_flowed_bytes(entry), wh_entry_seconds(entry));
}

double wh_entry_loss(const struct wh_book_entry *entry)
{
	return entry->pkts > 0 ? (double)entry->lost_pkts / (double)entry->pkts : 0;
}

const char *wh_entry_fingerprint(
	const struct wh_book_entry *entry, char print[WH_FINGERPRINT_BYTES])
{
	uint8_t id[WH_IDENTITY_BYTES];

	return wh_id_read(entry->identity, id) ? wh_fingerprint_text(id, print) : "";
}

const char *wh_entry_who(const struct wh_book_entry *entry, char print[WH_FINGERPRINT_BYTES])
{
	if (entry->name[0] != '\0')
		return entry->name;
	return wh_entry_fingerprint(entry, print)[0] != '\0' ? print : entry->peer;
}
