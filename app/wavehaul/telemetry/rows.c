/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/rows.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/address_text.h"
#include "telemetry/answer.h"
#include "telemetry/live.h"

static const char *verb_of(const struct wh_job *job)
{
	return wh_job_verb_name(
		__atomic_load_n((const uint32_t *)&job->request.verb, __ATOMIC_RELAXED));
}

static const char *state_of(const struct wh_job *job)
{
	static const char *const names[] = {
		[WH_JOB_OPENING] = "opening",
		[WH_JOB_TOLD] = "told",
		[WH_JOB_REFUSING] = "refused",
		[WH_JOB_RUNNING] = "running",
		[WH_JOB_ENDING] = "ending",
		[WH_JOB_OVER] = "over",
	};
	int state = atomic_load_explicit(&job->view.state, memory_order_relaxed);

	static_assert(RTE_DIM(names) == WH_JOB_OVER + 1, "a name for each");
	return names[state];
}

static void put_peer(json_t *row, const struct wh_address *peer)
{
	char host[WH_ADDRESS_TEXT_BYTES];
	char text[WH_ADDRESS_TEXT_BYTES + 16];

	snprintf(text, sizeof(text), peer->family == WH_IPV4 ? "%s:%u" : "[%s]:%u",
		wh_address_text(peer, host), peer->port);
	wh_tel_put_text(row, "peer", text);
}

static void add_job(const struct wh_tel_found *found, json_t *rows)
{
	const struct wh_job *job = found->job;
	const struct wh_totals totals = wh_job_totals(job);
	uint64_t rate_bps = atomic_load(&job->wishes.rate_bps);
	json_t *row = json_object();

	wh_tel_put(row, "session", found->id);
	wh_tel_put_text(row, "verb", verb_of(job));
	put_peer(row, &job->place.peer);
	wh_tel_put_text(row, "role", job->role == WH_AT_CLIENT ? "client" : "server");
	wh_tel_put_text(row, "state", state_of(job));
	wh_tel_put(row, "lane", job->place.lane);
	wh_tel_put(row, "files", totals.files);
	wh_tel_put(row, "bytes", totals.bytes);
	wh_tel_put(row, "moved_bytes", wh_session_moved_bytes(found->session));
	json_object_set_new(row, "rate_bps",
		wh_rate_is_paced(rate_bps) ? json_integer((json_int_t)rate_bps) : json_null());
	wh_tel_put_text(row, "limit",
		found->transmits ? wh_limit_name(wh_session_limit_now(found->session)) : "");
	json_array_append_new(rows, row);
}

json_t *wh_tel_job_rows(void)
{
	const struct wh_host *host = wh_tel_enter_sessions();
	struct wh_tel_found found = {.id = 0};
	json_t *rows;

	if (host == NULL)
		return NULL;
	rows = json_array();
	while (json_array_size(rows) < WH_TEL_ROWS_MAX && wh_tel_next_session(host, &found))
		/* The other session of the job carries only answers. */
		if (found.job != NULL && found.transmits == wh_job_sends(found.job))
			add_job(&found, rows);
	wh_tel_leave_sessions();
	return rows;
}

json_t *wh_tel_session_rows(uint64_t first)
{
	char text[24];
	json_t *rows = json_array();
	json_t *ids;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)first);
	ids = wh_tel_sessions(text, true);
	for (size_t i = 0; i < json_array_size(ids); i++) {
		json_t *row;

		snprintf(text, sizeof(text), "%lld",
			(long long)json_integer_value(json_array_get(ids, i)));
		row = wh_tel_session(text, true);
		/* It may have gone since. */
		if (row != NULL)
			json_array_append_new(rows, row);
	}
	json_decref(ids);
	return rows;
}

static uint64_t dropped_of(const json_t *queue)
{
	const char *key;
	json_t *value;
	uint64_t pkts = 0;

	json_object_foreach((json_t *)queue, key, value) if (strncmp(key, "drop_", 5) == 0) pkts +=
		(uint64_t)json_integer_value(value);
	return pkts;
}

json_t *wh_tel_queue_rows(void)
{
	json_t *rows = json_array();

	for (uint32_t queue = 0; queue < WH_PORT_QUEUES_MAX; queue++) {
		char text[12];
		json_t *row;

		snprintf(text, sizeof(text), "%u", queue);
		row = wh_tel_ports(text, true);
		if (row == NULL)
			break;
		wh_tel_put(row, "dropped_pkts", dropped_of(row));
		wh_tel_put(row, "queue", queue);
		json_array_append_new(rows, row);
	}
	return rows;
}

static const char *neighbour_state(uint8_t state)
{
	static const char *const names[] = {
		[WH_NEIGHBOUR_FREE] = "",
		[WH_NEIGHBOUR_INCOMPLETE] = "asked for",
		[WH_NEIGHBOUR_REACHABLE] = "reachable",
		[WH_NEIGHBOUR_PROBE] = "asked again",
		[WH_NEIGHBOUR_FAILED] = "silent",
	};

	return state < RTE_DIM(names) ? names[state] : "";
}

/*
 * The table's core may write an entry meanwhile: the copy may mix bytes of the old and the new one.
 */
static void add_neighbours(json_t *rows, const struct wh_neighbour *neighbour, uint32_t queue)
{
	for (uint32_t i = 0; i < neighbour->config.entries; i++) {
		struct wh_neighbour_entry entry;
		char text[WH_ADDRESS_TEXT_BYTES];
		char mac[18] = "";
		json_t *row;

		if (json_array_size(rows) == WH_TEL_ROWS_MAX)
			return;
		memcpy(&entry, &neighbour->entry[i], sizeof(entry));
		if (entry.state == WH_NEIGHBOUR_FREE ||
			(entry.address.family != WH_IPV4 && entry.address.family != WH_IPV6))
			continue;
		if (entry.state == WH_NEIGHBOUR_REACHABLE || entry.state == WH_NEIGHBOUR_PROBE)
			snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", entry.mac[0],
				entry.mac[1], entry.mac[2], entry.mac[3], entry.mac[4],
				entry.mac[5]);
		row = json_object();
		wh_tel_put_text(row, "address", wh_address_text(&entry.address, text));
		wh_tel_put_text(row, "mac", mac);
		wh_tel_put_text(row, "state", neighbour_state(entry.state));
		wh_tel_put(row, "queue", queue);
		json_array_append_new(rows, row);
	}
}

json_t *wh_tel_neighbour_rows(void)
{
	const struct wh_host *host = wh_tel_enter();
	json_t *rows;

	if (host == NULL)
		return NULL;
	rows = json_array();
	for (uint32_t queue = 0; host->netif != NULL && queue < host->shards; queue++)
		add_neighbours(rows, &host->netif[queue].neighbour, queue);
	wh_tel_leave();
	return rows;
}
