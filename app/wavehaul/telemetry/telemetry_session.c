/* SPDX-License-Identifier: BSD-3-Clause */

/* The answers of /wavehaul/sessions and /wavehaul/session. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/address_text.h"
#include "seal/gcm.h"
#include "telemetry/answer.h"
#include "telemetry/live.h"
#include "trust/fingerprint.h"

static int compare_ids(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* The numbers of all sessions from `first` on, unsorted; NULL: out of memory. */
static uint64_t *list_ids(const struct wh_host *host, uint64_t first, uint32_t *count)
{
	uint32_t places = host->shards > 0 ? wh_host_endpoint(host, 0)->config.places : 0;
	uint64_t *ids = calloc((size_t)host->shards * places + 1, sizeof(*ids));

	*count = 0;
	if (ids == NULL)
		return NULL;
	for (struct wh_tel_found found = {.id = 0}; wh_tel_next_session(host, &found);)
		if (found.id >= first)
			ids[(*count)++] = found.id;
	return ids;
}

json_t *wh_tel_sessions(const char *params, bool at_once)
{
	uint64_t first = 0;
	uint32_t count;

	(void)at_once;
	if (params != NULL && !wh_tel_number(params, &first))
		return NULL;

	const struct wh_host *host = wh_tel_enter_sessions();

	if (host == NULL)
		return NULL;

	uint64_t *ids = list_ids(host, first, &count);

	wh_tel_leave_sessions();
	if (ids == NULL)
		return NULL;
	qsort(ids, count, sizeof(*ids), compare_ids);

	json_t *list = json_array();

	for (uint32_t i = 0; i < count && i < WH_TEL_LIST_MAX; i++)
		json_array_append_new(list, json_integer((json_int_t)ids[i]));
	free(ids);
	return list;
}

/* A session's state at one moment. */
struct look {
	uint64_t tsc;
	uint64_t hz;
	bool transmits;
	struct wh_address peer;
	struct wh_open_params params;
	struct wh_session_news news;
	struct wh_session_stats stats;
	uint64_t moved_bytes;
	uint64_t rtt_tsc;
	struct wh_session_pace pace;       /* a transmitter's */
	struct wh_profile_options options; /* a transmitter's */
	uint64_t lost_pkts;
	enum wh_limit limit;
	bool stalled;
	enum wh_cipher cipher; /* 0: not sealed */
	uint8_t peer_id[WH_IDENTITY_BYTES];
};

static void fill_look(const struct wh_session *session, struct look *look)
{
	look->tsc = rte_rdtsc();
	look->peer = *wh_session_peer(session);
	look->params = *wh_session_params(session);
	look->news = wh_session_news(session);
	look->stats = wh_session_stats(session);
	look->moved_bytes = wh_session_moved_bytes(session);
	look->rtt_tsc = wh_session_rtt_tsc(session);
	look->limit = wh_session_limit_now(session);
	look->stalled = wh_session_stalled(session);
	if (look->transmits) {
		look->pace = wh_session_pace(session);
		look->options = wh_session_options(session);
	}
	look->lost_pkts = wh_session_lost_pkts(session);

	const struct wh_sa *sa = wh_session_sa(session);

	look->cipher = sa != NULL ? sa->config.cipher : (enum wh_cipher)0;
	if (sa != NULL)
		memcpy(look->peer_id, sa->config.peer_identity, sizeof(look->peer_id));
}

static bool look_at(uint64_t id, struct look *look)
{
	const struct wh_host *host = wh_tel_enter_sessions();

	if (host == NULL)
		return false;

	struct wh_tel_found found;
	bool there = wh_tel_find_session(host, id, &found);

	look->hz = host->ctx.hz;
	look->transmits = there && found.transmits;
	if (there)
		fill_look(found.session, look);
	wh_tel_leave_sessions();
	return there;
}

static const char *phase_name(enum wh_phase phase)
{
	static const char *const names[] = {
		[WH_PHASE_OPENING] = "opening",
		[WH_PHASE_RUNNING] = "running",
		[WH_PHASE_RELEASING] = "releasing",
		[WH_PHASE_CLOSED] = "closed",
	};

	static_assert(RTE_DIM(names) == WH_PHASE_CLOSED + 1, "a name for each");
	WH_ASSERT((unsigned int)phase < RTE_DIM(names) && names[phase] != NULL);
	return names[phase];
}

static const char *recovery_name(enum wh_recovery recovery)
{
	static const char *const names[WH_RECOVERIES] = {
		[WH_RECOVERY_NAK] = "nak",
		[WH_RECOVERY_HYBRID] = "hybrid",
		[WH_RECOVERY_FEC] = "fec",
	};

	WH_ASSERT((unsigned int)recovery < WH_RECOVERIES && names[recovery] != NULL);
	return names[recovery];
}

static void put_seal(json_t *data, const struct look *look)
{
	char text[WH_FINGERPRINT_BYTES] = "";

	if (look->cipher != 0)
		wh_fingerprint_text(look->peer_id, text);
	wh_tel_put_text(data, "cipher", look->cipher != 0 ? wh_cipher_name(look->cipher) : "");
	wh_tel_put_text(data, "library", look->cipher != 0 ? wh_gcm_unit()->name : "");
	wh_tel_put_text(data, "fingerprint", text);
}

static void put_what_it_is(json_t *data, uint64_t id, const struct look *look)
{
	const struct wh_profile *profile = wh_profile_by_number(look->params.profile);
	char host[WH_ADDRESS_TEXT_BYTES];
	char peer[WH_ADDRESS_TEXT_BYTES + 16];

	snprintf(peer, sizeof(peer), look->peer.family == WH_IPV4 ? "%s:%u" : "[%s]:%u",
		wh_address_text(&look->peer, host), look->peer.port);
	wh_tel_put(data, "id", id);
	wh_tel_put(data, "queue", id >> 32);
	wh_tel_put(data, "cid", (uint32_t)id);
	wh_tel_put_text(data, "role", look->transmits ? "transmitter" : "receiver");
	wh_tel_put_text(data, "peer", peer);
	put_seal(data, look);
	wh_tel_put_text(data, "name", look->params.name);
	wh_tel_put_text(data, "profile", profile != NULL ? profile->name : "");
	wh_tel_put(data, "payload_bytes", look->params.payload_bytes);
	wh_tel_put(data, "chunk_bytes", look->params.chunk_bytes);
	wh_tel_put(data, "window_pkts", look->params.window_pkts);
	wh_tel_put_text(data, "recovery", recovery_name((enum wh_recovery)look->params.recovery));
	wh_tel_put(data, "chunk_repair_pkts_max", look->params.repair_pkts);
}

/* The present values of the profile's options. */
static void put_options(json_t *data, const struct look *look)
{
	const struct wh_profile *profile = wh_profile_by_number(look->params.profile);
	char text[WH_OPTION_TEXT_MAX];
	json_t *options = json_object();

	for (uint32_t i = 0; profile != NULL && i < profile->n_options; i++)
		wh_tel_put_text(options, profile->options[i].name,
			wh_option_print(
				&profile->options[i], look->options.value[i], text, sizeof(text)));
	json_object_set_new(data, "options", options);
}

static void put_rates(json_t *data, const struct look *before, const struct look *now)
{
	uint64_t span_tsc = now->tsc - before->tsc;
	uint64_t pkts = now->stats.sent_pkts - before->stats.sent_pkts;

	wh_tel_put(data, "bps",
		wh_muldiv_u64((now->moved_bytes - before->moved_bytes) * 8, now->hz, span_tsc));
	if (!now->transmits)
		pkts = now->stats.received_pkts - before->stats.received_pkts;
	wh_tel_put(data, "pps", wh_muldiv_u64(pkts, now->hz, span_tsc));
}

static void put_how_it_goes(json_t *data, const struct look *now)
{
	wh_tel_put_text(data, "phase", phase_name(now->news.phase));
	wh_tel_put_text(data, "outcome", wh_release_status_name(now->news.outcome));
	wh_tel_put(data, "now_us", wh_tsc_to_us(now->hz, now->tsc));
	wh_tel_put(data, "rtt_us", wh_tsc_to_us(now->hz, now->rtt_tsc));
	wh_tel_put(data, "stalled", now->stalled);
	if (!now->transmits)
		return;
	wh_tel_put(data, "paced_bps", now->pace.rate_bps);
	wh_tel_put(data, "window_now_pkts", now->pace.window_pkts);
	if (now->pace.mode != NULL)
		wh_tel_put_text(data, "mode", now->pace.mode);
	wh_tel_put_text(data, "limited_by", wh_limit_name(now->limit));
	for (uint32_t i = 0; i < WH_LIMITS; i++)
		wh_tel_put_about(data, "limited_by_", wh_limit_name((enum wh_limit)i), "_us",
			wh_tsc_to_us(now->hz, now->stats.limit_tsc[i]));
}

void wh_tel_put_counters(json_t *data, const struct wh_session_stats *stats, uint64_t moved_bytes,
	uint64_t lost_pkts)
{
	wh_tel_put(data, "moved_bytes", moved_bytes);
	wh_tel_put(data, "sent_pkts", stats->sent_pkts);
	wh_tel_put(data, "retransmitted_pkts", stats->retransmitted_pkts);
	wh_tel_put(data, "received_pkts", stats->received_pkts);
	wh_tel_put(data, "duplicate_pkts", stats->duplicate_pkts);
	wh_tel_put(data, "spurious_pkts", stats->spurious_pkts);
	wh_tel_put(data, "losses_detected_pkts", stats->losses_detected_pkts);
	wh_tel_put(data, "lost_pkts", lost_pkts);
	wh_tel_put(data, "repair_pkts", stats->repair_pkts);
	wh_tel_put(data, "repaired_pkts", stats->repaired_pkts);
	wh_tel_put(data, "undecodable_blocks", stats->undecodable_blocks);
	wh_tel_put(data, "control_sent_pkts", stats->control_sent_pkts);
	wh_tel_put(data, "control_received_pkts", stats->control_received_pkts);
	wh_tel_put(data, "control_stale_pkts", stats->control_stale_pkts);
	wh_tel_put(data, "control_full_pkts", stats->control_full_pkts);
	wh_tel_put(data, "notes_full_pkts", stats->notes_full_pkts);
	wh_tel_put(data, "bad_pkts", stats->bad_pkts);
	wh_tel_put(data, "bad_window_pkts", stats->bad_window_pkts);
	wh_tel_put(data, "bad_place_pkts", stats->bad_place_pkts);
	wh_tel_put(data, "bad_unexpected_pkts", stats->bad_unexpected_pkts);
	wh_tel_put(data, "naks", stats->naks);
	wh_tel_put(data, "delay_warnings", stats->delay_warnings);
	wh_tel_put(data, "exp_events", stats->exp_events);
	wh_tel_put(data, "stalls", stats->stalls);
	wh_tel_put(data, "narrowings", stats->narrowings);
}

json_t *wh_tel_session(const char *params, bool at_once)
{
	struct look before;
	struct look now;
	uint64_t id;

	if (!wh_tel_number(params, &id) || !look_at(id, &before))
		return NULL;
	if (!at_once)
		wh_tel_wait();
	if (!look_at(id, &now))
		return NULL;

	json_t *data = json_object();

	put_what_it_is(data, id, &now);
	if (now.transmits)
		put_options(data, &now);
	put_how_it_goes(data, &now);
	if (!at_once)
		put_rates(data, &before, &now);
	wh_tel_put_counters(data, &now.stats, now.moved_bytes, now.lost_pkts);
	return data;
}
