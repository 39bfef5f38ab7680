/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/history_record.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/exit.h"
#include "cli/moment/system_clock.h"
#include "file/digest.h"
#include "trust/fingerprint.h"
#include "trust/trust_store.h"

/* A million times the fastest lines of today. */
#define BPS_MAX 1e18

const char *wh_history_side_name(enum wh_history_side side)
{
	static const char *const names[WH_HISTORY_SIDES] = {
		[WH_HISTORY_SERVED] = "served",
		[WH_HISTORY_ORDER] = "queue",
		[WH_HISTORY_CLIENT] = "client",
	};

	WH_ASSERT((unsigned int)side < WH_HISTORY_SIDES);
	return names[side];
}

static void set_word(char word[WH_HISTORY_WORD_BYTES], const char *text)
{
	snprintf(word, WH_HISTORY_WORD_BYTES, "%s", text != NULL ? text : "");
}

static void set_times(struct wh_history_record *record, uint64_t ns)
{
	record->ended_us = wh_wall_us();
	record->began_us = record->ended_us - (int64_t)(ns / 1000);
}

static void add_totals(struct wh_history_record *record, const struct wh_totals *totals)
{
	record->files = totals->files;
	record->skipped = totals->skipped;
	record->failed = totals->failed;
	record->bytes = totals->bytes;
	record->resumed_bytes = totals->resumed_bytes;
}

static void add_packets(struct wh_history_record *record, const struct wh_job *job)
{
	record->moved_bytes += atomic_load(&job->view.moved_bytes);
	record->pkts += atomic_load(&job->view.sent_pkts);
	record->lost_pkts += atomic_load(&job->view.lost_pkts);
	record->retransmitted_pkts += atomic_load(&job->view.retransmitted_pkts);
	record->repair_pkts += atomic_load(&job->view.repair_pkts);
}

/* The fields common to all its lanes. */
static void add_request(struct wh_history_record *record, const struct wh_job *job)
{
	const struct wh_request *request = &job->request;
	const struct wh_job_figures *figures = &job->result.figures;

	set_word(record->verb, wh_job_verb_name(request->verb));
	set_word(record->profile, request->profile != NULL ? request->profile->name : "");
	record->sends = wh_job_sends(job);
	record->lanes = request->lanes;
	record->rate_bps = wh_rate_is_paced(request->rate_bps) ? request->rate_bps : 0;
	record->rtt_ns = figures->rtt_ns;
	if (record->sends && !wh_job_is_rpc(request->verb))
		set_word(record->limit, wh_limit_name(figures->limited_by));
	if (figures->digest_known && record->files == 1 && record->lanes <= 1)
		wh_digest_text(&figures->digest, record->digest);
}

static void set_peer(struct wh_history_record *record, const struct wh_address *peer)
{
	char text[WH_ADDRESS_TEXT_BYTES];

	snprintf(record->peer, sizeof(record->peer), "%s", wh_address_text(peer, text));
}

static void name_peer(struct wh_history_record *record, const struct wh_job *job)
{
	struct wh_store *store = job->jobs->service->store;
	char name[WH_PEER_NAME_BYTES];
	struct wh_rights rights;

	if (job->streams.sa != NULL)
		wh_id_text(job->streams.sa->config.peer_identity, record->identity);
	if (store != NULL && job->rights.number != 0 &&
		wh_store_rights(store, job->rights.number, &rights, name))
		snprintf(record->name, sizeof(record->name), "%s", name);
}

void wh_history_of_job(struct wh_history_record *record, const struct wh_job *job)
{
	const struct wh_totals totals = wh_job_totals(job);
	uint64_t ended_tsc = wh_max_u64(wh_job_flowed_tsc(job), job->turn.came_tsc);
	bool failed = job->result.failed != WH_STATUS_PENDING;

	WH_ASSERT(job->role == WH_AT_SERVER);
	*record = (struct wh_history_record){.side = WH_HISTORY_SERVED,
		.number = job->place.transfer,
		.lane = job->place.lane,
		.uid = -1,
		.paths = job->request.here.count};
	set_times(record, wh_tsc_to_ns(job->jobs->ctx->hz, ended_tsc - job->turn.came_tsc));
	add_totals(record, &totals);
	add_packets(record, job);
	add_request(record, job);
	set_peer(record, &job->place.peer);
	name_peer(record, job);
	if (record->paths > 0 && job->records.paths != NULL)
		snprintf(record->path, sizeof(record->path), "%s", job->records.paths[0]);
	if (job->records.file != NULL)
		snprintf(record->file, sizeof(record->file), "%s", job->records.file);
	record->status = failed ? WH_EXIT_OTHER : totals.failed > 0 ? WH_EXIT_PARTIAL : WH_EXIT_OK;
	set_word(record->outcome, failed              ? wh_release_status_name(job->result.failed)
				  : totals.failed > 0 ? "some files failed"
						      : "ok");
	snprintf(record->why, sizeof(record->why), "%s", job->result.why);
}

void wh_history_of_lanes(
	struct wh_history_record *record, const struct wh_lanes *lanes, const char *server)
{
	const struct wh_totals totals = wh_lanes_totals(lanes);
	const struct wh_job *job = lanes->job[0];
	const struct wh_request_paths *from =
		job->request.verb == WH_JOB_SEND ? &job->request.here : &job->request.there;

	WH_ASSERT(lanes->started > 0);
	*record = (struct wh_history_record){.side = WH_HISTORY_CLIENT,
		.number = lanes->transfer,
		.uid = (int64_t)getuid(),
		.paths = from->count};
	set_times(record, (uint64_t)(wh_lanes_seconds(lanes) * 1e9));
	add_totals(record, &totals);
	for (uint32_t lane = 0; lane < lanes->started; lane++)
		add_packets(record, lanes->job[lane]);
	add_request(record, job);
	set_peer(record, &lanes->peer);
	snprintf(record->name, sizeof(record->name), "%s", server);
	if (job->sealed.cipher != 0)
		wh_id_text(job->sealed.peer_id, record->identity);
	if (from->count > 0)
		snprintf(record->path, sizeof(record->path), "%s", from->path[0]);
}

double wh_history_seconds(const struct wh_history_record *record)
{
	/* In a damaged row they may be any numbers. */
	double us = (double)record->ended_us - (double)record->began_us;

	return us > 0 ? us / 1e6 : 0;
}

double wh_history_bps(uint64_t bytes, double seconds)
{
	return seconds > 0 ? fmin((double)bytes * 8 / seconds, BPS_MAX) : 0;
}

uint64_t wh_history_flowed_bytes(const struct wh_history_record *record)
{
	uint64_t before = wh_min_u64(record->resumed_bytes, record->bytes);

	return record->status != 0 || record->files == 0 ? record->moved_bytes
							 : record->bytes - before;
}

double wh_history_record_bps(const struct wh_history_record *record)
{
	return wh_history_bps(wh_history_flowed_bytes(record), wh_history_seconds(record));
}

double wh_history_loss(const struct wh_history_record *record)
{
	return record->pkts > 0 ? (double)record->lost_pkts / (double)record->pkts : 0;
}

const char *wh_history_fingerprint(
	const struct wh_history_record *record, char print[WH_FINGERPRINT_BYTES])
{
	uint8_t id[WH_IDENTITY_BYTES];

	return wh_id_read(record->identity, id) ? wh_fingerprint_text(id, print) : "";
}

const char *wh_history_who(const struct wh_history_record *record, char print[WH_FINGERPRINT_BYTES])
{
	if (record->name[0] != '\0')
		return record->name;
	return wh_history_fingerprint(record, print)[0] != '\0' ? print : record->peer;
}
