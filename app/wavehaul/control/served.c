/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/served.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <rte_mempool.h>

#include "base/units.h"
#include "bundle/record.h"
#include "cli/address_text.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "journal/journal.h"
#include "telemetry/live.h"
#include "telemetry/rows.h"
#include "telemetry/telemetry.h"

/* The most peers in one answer. */
#define PEERS_MAX 1024

static void tell_version(struct wh_control_call *call)
{
	json_object_set_new(call->answer, "version", json_string(WH_VERSION));
	json_object_set_new(call->answer, "control", json_integer(WH_CONTROL_VERSION));
	json_object_set_new(call->answer, "packets", json_integer(WH_WIRE_VERSION));
	json_object_set_new(call->answer, "bundles", json_integer(WH_BUNDLE_VERSION));
}

static json_t *addresses_of(const struct wh_settings *settings)
{
	json_t *list = json_array();
	char text[WH_ADDRESS_TEXT_BYTES];

	for (uint32_t i = 0; i < settings->ports; i++) {
		const struct wh_own_port *port = &settings->port[i];

		if (port->ipv4.address.family != 0)
			json_array_append_new(
				list, json_string(wh_address_text(&port->ipv4.address, text)));
		if (port->ipv6.address.family != 0)
			json_array_append_new(
				list, json_string(wh_address_text(&port->ipv6.address, text)));
	}
	return list;
}

static void tell_status(struct wh_control_call *call)
{
	const struct wh_served *served = call->context;
	const struct wh_settings *settings = served->settings;
	json_t *answer = call->answer;
	char ports[WH_SETTINGS_TEXT_BYTES];
	bool link_up = true;

	wh_settings_ports_text(settings, ", ", ports);
	for (uint32_t i = 0; i < served->host->ports; i++)
		link_up = link_up && wh_host_link_up(served->host, i);
	json_object_set_new(answer, "version", json_string(WH_VERSION));
	json_object_set_new(answer, "pid", json_integer(getpid()));
	json_object_set_new(answer, "port", wh_word_to_json(ports));
	json_object_set_new(answer, "udp_port", json_integer(settings->udp_port));
	json_object_set_new(answer, "addresses", addresses_of(settings));
	json_object_set_new(answer, "mtu_bytes", json_integer(settings->mtu_bytes));
	wh_path_to_json(answer, "root", served->root);
	json_object_set_new(answer, "sealed", json_boolean(!settings->unsealed));
	json_object_set_new(answer, "link_up", json_boolean(link_up));
	json_object_set_new(answer, "seconds", json_integer(time(NULL) - served->began_s));
	json_object_set_new(answer, "began", json_integer(served->began_s));
	json_object_set_new(answer, "live", json_integer(atomic_load(&served->jobs->live)));
	json_object_set_new(answer, "draining", json_boolean(atomic_load(&served->jobs->draining)));
	json_object_set_new(
		answer, "free_bytes", json_integer((json_int_t)wh_jobs_free_bytes(served->jobs)));
}

/* Answers by a telemetry command with one numeric parameter, if given. */
static void tell_of(struct wh_control_call *call, const char *parameter, const char *key,
	json_t *(*ask)(const char *params, bool at_once))
{
	const json_t *given = json_object_get(call->request, parameter);
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(given));

	json_t *found = ask(given != NULL ? number : NULL, true);

	if (found == NULL)
		wh_control_fail(call, WH_EXIT_OTHER, "there is no %s %s", parameter,
			given != NULL ? number : "");
	else
		json_object_set_new(call->answer, key, found);
}

static void tell_rows(struct wh_control_call *call, const char *key, json_t *rows)
{
	if (rows == NULL)
		wh_control_fail(call, WH_EXIT_OTHER, "the server is about to end");
	else
		json_object_set_new(call->answer, key, rows);
}

static void tell_ports(struct wh_control_call *call)
{
	tell_of(call, "queue", "ports", wh_tel_ports);
}

static void tell_cores(struct wh_control_call *call)
{
	tell_of(call, "cpu", "cores", wh_tel_cores);
}

static void tell_totals(struct wh_control_call *call)
{
	tell_of(call, "totals", "totals", wh_tel_totals);
}

static void tell_sessions(struct wh_control_call *call)
{
	if (!wh_control_switch(call, "rows"))
		tell_of(call, "first", "sessions", wh_tel_sessions);
	else
		tell_rows(call, "rows", wh_tel_session_rows(wh_control_count(call, "first", 0)));
}

static void tell_jobs(struct wh_control_call *call)
{
	tell_rows(call, "jobs", wh_tel_job_rows());
}

static void tell_queues(struct wh_control_call *call)
{
	tell_rows(call, "queues", wh_tel_queue_rows());
}

static void tell_neighbours(struct wh_control_call *call)
{
	tell_rows(call, "neighbours", wh_tel_neighbour_rows());
}

static void set_session_rate(struct wh_control_call *call, uint64_t session, const char *text)
{
	uint64_t rate_bps;
	int rc;

	if (wh_parse_rate(text, &rate_bps) != 0 || rate_bps < WH_RATE_MIN ||
		!wh_rate_is_paced(rate_bps)) {
		wh_control_fail(call, WH_EXIT_USAGE, "'%.60s' is no rate, as 4G", text);
		return;
	}
	rc = wh_tel_set_rate(session, rate_bps);
	if (rc == -ENOENT)
		wh_control_fail(call, WH_EXIT_OTHER, "there is no session %llu",
			(unsigned long long)session);
	else if (rc != 0)
		wh_control_fail(call, WH_EXIT_OTHER,
			"session %llu has no rate to set: its other end sends, or it was started "
			"without a rate",
			(unsigned long long)session);
}

void wh_served_set_option(struct wh_control_call *call, uint64_t session)
{
	const char *option = wh_control_text(call, "option");
	const char *value = wh_control_text(call, "value");
	char why[WH_CONTROL_WHY_BYTES];
	int rc;

	if (option == NULL || value == NULL) {
		wh_control_fail(call, WH_EXIT_USAGE, "%s wants a rate, or an option and its value",
			json_string_value(json_object_get(call->request, "do")));
		return;
	}
	rc = wh_tel_set_option(session, option, value, why, sizeof(why));
	if (rc != 0)
		wh_control_fail(call, rc == -ENOENT || rc == -EPERM ? WH_EXIT_OTHER : WH_EXIT_USAGE,
			"%s", why);
}

static void set_session(struct wh_control_call *call)
{
	uint64_t session = wh_control_count(call, "session", 0);
	const char *rate = wh_control_text(call, "rate");

	if (rate != NULL)
		set_session_rate(call, session, rate);
	if (rate == NULL || json_object_get(call->request, "option") != NULL)
		wh_served_set_option(call, session);
}

static void tell_session(struct wh_control_call *call)
{
	tell_of(call, "number", "session", wh_tel_session);
}

static void tell_peers(struct wh_control_call *call)
{
	const struct wh_served *served = call->context;
	static struct wh_peer_seen seen[PEERS_MAX]; /* used by one thread only */
	uint32_t count = wh_peers_list(&served->jobs->peers, seen, PEERS_MAX);
	json_t *list = json_array();
	char text[WH_ADDRESS_TEXT_BYTES];

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:i, s:I, s:I}", "address",
				wh_address_text(&seen[i].address, text), "jobs",
				(int)seen[i].places, "memory_bytes", (json_int_t)seen[i].bytes,
				"known_bps", (json_int_t)seen[i].known_bps));
	json_object_set_new(call->answer, "peers", list);
}

static void tell_refusals(struct wh_control_call *call)
{
	const struct wh_served *served = call->context;
	struct wh_refusal_total total[WH_REFUSAL_OUTCOMES];
	json_t *sums = json_object();

	wh_refusals_totals(&served->jobs->refusals, total);
	for (uint32_t i = 0; i < WH_REFUSAL_OUTCOMES && total[i].outcome != NULL; i++)
		json_object_set_new(
			sums, total[i].outcome, json_integer((json_int_t)total[i].times));
	json_object_set_new(call->answer, "refusals", sums);
}

static void tell_memory(struct wh_control_call *call)
{
	const struct wh_served *served = call->context;
	struct wh_arena *arena = &served->host->ctx.arena;
	uint32_t mbufs = 0, free_mbufs = 0; /* of DPDK's ports */
	struct rusage used;

	for (uint32_t i = 0; i < served->host->ports; i++) {
		const struct rte_mempool *pool = served->host->at[i].pool;

		mbufs += pool != NULL ? pool->size : 0;
		free_mbufs += pool != NULL ? rte_mempool_avail_count(pool) : 0;
	}
	getrusage(RUSAGE_SELF, &used);
	json_object_set_new(call->answer, "memory",
		json_pack("{s:I, s:I, s:I, s:I, s:I}", "buffer_bytes",
			(json_int_t)arena->units * WH_ARENA_UNIT_BYTES, "buffer_free_bytes",
			(json_int_t)wh_arena_free_bytes(arena), "mbufs", (json_int_t)mbufs,
			"mbufs_free", (json_int_t)free_mbufs, "resident_most_bytes",
			(json_int_t)used.ru_maxrss << 10));
}

static void tell_disk(json_t *disks, const char *name, const char *path)
{
	struct statvfs disk;

	if (path[0] == '\0' || statvfs(path, &disk) != 0)
		return;
	json_object_set_new(disks, name,
		json_pack("{s:I, s:I, s:I, s:I}", "size_bytes",
			(json_int_t)(disk.f_blocks * disk.f_frsize), "free_bytes",
			(json_int_t)(disk.f_bavail * disk.f_frsize), "files",
			(json_int_t)disk.f_files, "files_free", (json_int_t)disk.f_favail));
}

static void tell_disks(struct wh_control_call *call)
{
	const struct wh_served *served = call->context;
	json_t *disks = json_object();

	tell_disk(disks, "root", served->root);
	tell_disk(disks, "state", served->state);
	json_object_set_new(call->answer, "disks", disks);
}

static void tell_parts(struct wh_control_call *call)
{
	const struct wh_served *served = call->context;
	uint64_t parts = 0;
	uint64_t durable_bytes = 0;

	if (served->jobs->journal != NULL &&
		wh_journal_sums(served->jobs->journal, &parts, &durable_bytes) < 0)
		wh_control_fail(call, WH_EXIT_OTHER, "the database cannot be read");
	json_object_set_new(call->answer, "parts",
		json_pack("{s:I, s:I}", "parts", (json_int_t)parts, "durable_bytes",
			(json_int_t)durable_bytes));
}

static void drain(struct wh_control_call *call)
{
	struct wh_served *served = call->context;

	atomic_fetch_add(&served->drained, wh_control_switch(call, "now") ? 2 : 1);
	json_object_set_new(call->answer, "live", json_integer(atomic_load(&served->jobs->live)));
}

static void watch(struct wh_control_call *call)
{
	wh_control_watch(call, wh_control_count(call, "job", 0));
}

static const struct wh_control_command commands[] = {
	{.name = "version",
		.words = "show version",
		.help = "of wavehaul and of what it speaks",
		.run = tell_version},
	{.name = "status",
		.words = "show status",
		.help = "what the server is and how it stands",
		.run = tell_status},
	{.name = "ports",
		.words = "show ports [queue <queue>]",
		.help = "packets, bytes, drops by reason",
		.run = tell_ports,
		.argument = {{"queue", WH_CONTROL_COUNT, false, "of this queue alone"}}},
	{.name = "cores",
		.words = "show cores [cpu <cpu>]",
		.help = "who does what",
		.run = tell_cores,
		.argument = {{"cpu", WH_CONTROL_COUNT, false, "of this CPU, with its cycles"}}},
	{.name = "sessions",
		.words = "show sessions {rows} [from <first>]",
		.help = "numbers of sessions, ascending, 512 at most",
		.run = tell_sessions,
		.argument = {{"first", WH_CONTROL_COUNT, false, "from this number on"},
			{"rows", WH_CONTROL_SWITCH, false, "what session tells of each"}}},
	{.name = "session",
		.words = "show session <number>",
		.help = "a session's peer, pace, counters and limit",
		.run = tell_session,
		.argument = {{"number", WH_CONTROL_COUNT, true, "the session's"}}},
	{.name = "totals",
		.words = "show totals",
		.help = "counters of all sessions so far, by role",
		.run = tell_totals},
	{.name = "refusals",
		.words = "show refusals",
		.help = "how often so far, by reason",
		.run = tell_refusals},
	{.name = "memory",
		.words = "show memory",
		.help = "buffers, packets, the process",
		.run = tell_memory},
	{.name = "disks",
		.words = "show disks",
		.help = "those of the root and of --state",
		.run = tell_disks},
	{.name = "parts",
		.words = "show parts",
		.help = "kept of files that did not come whole: how many, and how much",
		.run = tell_parts},
	{.name = "session.set",
		.words = "set session <session> rate <rate> | set session <session> profile "
			 "<option> <value>",
		.help = "another rate, or another value of an option of the profile, for the job "
			"of that session, and all lanes of its transfer",
		.administers = true,
		.run = set_session,
		.argument = {{"session", WH_CONTROL_COUNT, true, "its number"},
			{"rate", WH_CONTROL_TEXT, false, "as 4G"},
			{"option", WH_CONTROL_TEXT, false, "of its profile, as share"},
			{"value", WH_CONTROL_TEXT, false, "of that, as scavenger"}}},
	{.name = "jobs",
		.words = "show jobs",
		.help = "what runs now, the queue's and peers' jobs, a row for each lane",
		.run = tell_jobs},
	{.name = "queues",
		.words = "show queues",
		.help = "packets, bytes, drops by reason of each queue of the port",
		.run = tell_queues},
	{.name = "neighbours",
		.words = "show neighbours",
		.help = "hosts on the link, by their MAC addresses",
		.run = tell_neighbours},
	{.name = "peers",
		.words = "show peers",
		.help = "who has been here lately, and has what",
		.run = tell_peers},
	{.name = "drain",
		.words = "drain [now]",
		.help = "no new jobs; the server ends when those that run are over",
		.administers = true,
		.run = drain,
		.argument = {{"now", WH_CONTROL_SWITCH, false, "those that run end, too"}}},
	{.name = "watch",
		.words = "watch [<job>]",
		.help = "events follow as they come, a line each",
		.run = watch,
		.argument = {{"job", WH_CONTROL_COUNT, false, "of this job of the queue alone"}}},
};

void wh_served_add(struct wh_control_tables *tables, struct wh_served *served)
{
	wh_control_add(tables, commands, sizeof(commands) / sizeof(commands[0]), served);
}
