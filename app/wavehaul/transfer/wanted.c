/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/wanted.h"

#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "report/kept.h"

/* Extra jobs for peers that have none yet, as a fraction of those for all. */
#define SPARE_PART 8

/* Log lines per second of all peers together, as a multiple of one peer's. */
#define LINES_OF_ALL 10

static uint64_t three_quarters(uint64_t of)
{
	return of - of / 4;
}

static struct wh_peer_limits limits_of(const struct wh_settings *settings)
{
	return (struct wh_peer_limits){
		.places = settings->sessions,
		.spare_places = (settings->sessions + SPARE_PART - 1) / SPARE_PART,
		.peer_places = settings->peer_jobs > 0
				       ? settings->peer_jobs
				       : (uint32_t)three_quarters(settings->sessions),
		.peer_bytes = settings->peer_memory_bytes > 0
				      ? settings->peer_memory_bytes
				      : three_quarters(settings->buffer_bytes),
		.peer_room_bytes = settings->peer_reserve_bytes,
		.peer_kept_bytes = settings->peer_parts_bytes,
		.peer_openings_s = settings->peer_openings_s,
		.peer_lines_s = settings->peer_lines_s,
		.lines_s = LINES_OF_ALL * settings->peer_lines_s,
	};
}

/* A client gets what it asks for; peers get what is harmless, or was allowed. */
static uint32_t keeps_of(const struct wh_settings *settings, enum wh_job_verb verb)
{
	if (verb != WH_JOB_IDLE)
		return WH_CHOICE_KEEPS;
	return WH_CHOICE_HARD_LINKS | WH_CHOICE_XATTRS | WH_CHOICE_ACLS |
	       (settings->owners ? WH_CHOICE_OWNERS : 0U) |
	       (settings->set_ids ? WH_CHOICE_SET_IDS : 0U);
}

struct wh_request wh_wanted_request(const struct wh_settings *settings, enum wh_job_verb verb)
{
	struct wh_request request = {
		.verb = verb,
		.lanes = verb == WH_JOB_IDLE ? 1 : settings->parallel,
		.ports = wh_job_moves_files(verb) ? settings->ports : verb != WH_JOB_IDLE,
		.profile = settings->profile,
		.options = *wh_profile_choice(&settings->choices, settings->profile),
		.rate_bps = settings->rate_bps,
		.burst_pkts = settings->burst_pkts,
		.payload_bytes = WH_PAYLOAD_BYTES_MAX,
		.repair = settings->repair,
		.memory_bytes = settings->buffer_bytes,
		.peer_timeout_ns = settings->peer_timeout_ns,
		.stall_timeout_ns = settings->stall_timeout_ns,
		.pipe_timeout_ns = settings->pipe_timeout_ns,
		.here = {.root_fd = -1},
		.there = {.root_fd = -1},
	};

	request.resume = settings->resume;
	request.rules = (struct wh_rules){
		.entries_max = settings->job_files,
		.bytes_max = settings->job_bytes,
		.depth_max = settings->job_depth,
		.plain_names = settings->plain_names,
		.links_inside = settings->links_inside,
	};
	if (settings->case_clash[0] == 'r')
		request.rules.case_clash = WH_CASE_REFUSE;
	else if (settings->case_clash[0] == 'a' && settings->case_clash[1] == 'l')
		request.rules.case_clash = WH_CASE_ALLOW;
	/* Checked already when they were read. */
	wh_settings_owners(settings->map_owners, false, &request.rules.owners.users);
	wh_settings_owners(settings->map_groups, true, &request.rules.owners.groups);
	request.rules.keeps = keeps_of(settings, verb);
	if (settings->known.by == WH_KNOWN_TOLD)
		request.known = settings->known.path;
	if (wh_job_is_rpc(verb)) {
		request.lanes = 1;
		request.resume = WH_RESUME_OFF;
		request.rate_bps = WH_RATE_MAX;
		request.recursive = verb != WH_JOB_ORDER && settings->recursive;
	}
	if (wh_job_moves_files(verb)) {
		request.recursive = settings->recursive;
		request.choice.wishes = settings->relative ? WH_CHOICE_RELATIVE : 0;
	}
	if (verb != WH_JOB_BENCH)
		return request;
	request.reverse = settings->reverse;
	request.time_ns = settings->time_ns;
	request.size_bytes = settings->size_bytes;
	return request;
}

bool wh_wanted_choice(
	const struct wh_settings *settings, struct wh_terms *terms, struct wh_choice *choice)
{
	uint32_t wishes =
		(settings->update ? WH_CHOICE_UPDATE : 0U) |
		(settings->ignore_existing ? WH_CHOICE_ABSENT : 0U) |
		(settings->quick_check ? WH_CHOICE_QUICK : 0U) |
		(settings->blocks ? WH_CHOICE_BLOCKS : 0U) |
		(settings->relative ? WH_CHOICE_RELATIVE : 0U) |
		(settings->remove ? WH_CHOICE_DELETE : 0U) |
		(settings->move ? WH_CHOICE_MOVE : 0U) | (settings->dry_run ? WH_CHOICE_DRY : 0U) |
		(settings->hard_links ? WH_CHOICE_HARD_LINKS : 0U) |
		(settings->owners ? WH_CHOICE_OWNERS : 0U) |
		(settings->set_ids ? WH_CHOICE_SET_IDS : 0U) |
		(settings->xattrs ? WH_CHOICE_XATTRS : 0U) | (settings->acls ? WH_CHOICE_ACLS : 0U);
	bool fits = true;

	*terms = (struct wh_terms){0};
	for (uint32_t i = 0; fits && i < settings->patterns; i++)
		fits = wh_terms_add(
			terms, settings->pattern_takes[i] ? '+' : '-', settings->pattern[i]);
	fits = fits && wh_terms_add_number(terms, '>', settings->min_bytes) &&
	       wh_terms_add_number(terms, '<', settings->max_bytes) &&
	       wh_terms_add_number(terms, '@', settings->newer_s) &&
	       wh_terms_add_number(terms, '[', settings->range_from) &&
	       (settings->range_bytes == 0 ||
		       wh_terms_add_number(
			       terms, ']', settings->range_from + settings->range_bytes)) &&
	       (settings->join[0] == '\0' || wh_terms_add(terms, '=', settings->join)) &&
	       (!settings->remove || wh_terms_add_number(terms, '!', settings->remove_max)) &&
	       (!settings->backup || wh_terms_add(terms, '~', settings->suffix));
	if (!fits)
		return wh_fail(false, "all patterns together are longer than %d bytes",
			WH_TERMS_BYTES_MAX);

	int rc = wh_choice_parse(choice, wishes, terms->term, terms->count);

	if (rc != 0 && (choice->has_range || choice->join != NULL))
		return wh_fail(false,
			"%s cannot be combined with options that look at what is "
			"there, or remove it",
			choice->join != NULL ? "--join" : "--offset and --length");
	WH_ASSERT(rc == 0); /* each was checked when it was given */
	return true;
}

struct wh_service wh_wanted_service(const struct wh_settings *settings, int root_fd)
{
	struct wh_service service = {
		.own = wh_wanted_request(settings, WH_JOB_IDLE),
		.limits = limits_of(settings),
	};

	service.own.here.root_fd = root_fd;
	for (uint32_t i = 0; i < settings->ports; i++) {
		service.allow[service.allows++] = settings->port[i].ipv4;
		service.allow[service.allows++] = settings->port[i].ipv6;
	}
	if (settings->allows == 0)
		return service;
	memcpy(service.allow, settings->allow, sizeof(service.allow));
	service.allows = settings->allows;
	return service;
}

struct wh_guard wh_wanted_guard(const struct wh_settings *settings, const struct wh_host *host)
{
	struct wh_guard guard;

	wh_guard_init(&guard, settings->no_guard, settings->user, false, host->spec, host->ports);
	guard.owners = settings->owners;
	guard.set_ids = settings->set_ids;
	if (settings->plot[0] != '\0')
		wh_guard_let_file(&guard, settings->plot);
	if (settings->manifest[0] != '\0')
		wh_guard_let_file(&guard, settings->manifest);

	int state_fd = guard.off ? -1 : wh_kept_folder(settings->state);

	if (state_fd >= 0) {
		wh_guard_let(&guard, state_fd, WH_LET_WRITE);
		close(state_fd);
	}
	return guard;
}

int wh_wanted_guard_enter(const struct wh_settings *settings, struct wh_guard *guard)
{
	if (wh_guard_enter(guard) != 0)
		return WH_EXIT_HARDWARE;
	if (settings->verbose || guard->off)
		wh_say("guard: %s", guard->told);
	return WH_EXIT_OK;
}
