/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/live.h"

#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "cli/plain_text.h"
#include "telemetry/answer.h"

static bool find_at(const struct wh_endpoint *endpoint, uint32_t place, struct wh_tel_found *found)
{
	found->session = atomic_load_explicit(&endpoint->session[place], memory_order_acquire);
	if (found->session == NULL)
		return false;
	found->id = (uint64_t)found->shard << 32 | wh_session_cid(found->session);
	found->job = wh_session_context(found->session);
	/* The lower half of the places belongs to receivers. */
	found->transmits = place >= endpoint->config.places / 2;
	return true;
}

bool wh_tel_next_session(const struct wh_host *host, struct wh_tel_found *found)
{
	for (; found->shard < host->shards; found->shard++) {
		const struct wh_endpoint *endpoint = wh_host_endpoint(host, found->shard);

		while (found->next_place < endpoint->config.places)
			if (find_at(endpoint, found->next_place++, found))
				return true;
		found->next_place = 0;
	}
	return false;
}

bool wh_tel_find_session(const struct wh_host *host, uint64_t id, struct wh_tel_found *found)
{
	const struct wh_endpoint *endpoint;

	if (id >> 32 >= host->shards)
		return false;
	found->shard = (uint32_t)(id >> 32);
	endpoint = wh_host_endpoint(host, found->shard);
	WH_ASSERT((endpoint->config.places & (endpoint->config.places - 1)) == 0);
	return find_at(endpoint, (uint32_t)id & (endpoint->config.places - 1), found) &&
	       found->id == id;
}

/* A change to the job of a session, and to all lanes of its transfer. */
struct live_change {
	uint64_t session;
	/* False: it does not apply to this session. */
	bool (*make)(const struct wh_tel_found *found, void *context);
	void *context;
};

static bool same_transfer(const struct wh_job *job, const struct wh_job *other)
{
	struct wh_address peer = job->place.peer;

	peer.port = other->place.peer.port;
	return other->place.transfer != 0 && job->place.transfer == other->place.transfer &&
	       wh_address_equal(&peer, &other->place.peer);
}

/* 0, or -ENOENT, -EPERM. */
static int make_all(const struct live_change *change)
{
	const struct wh_host *host = wh_tel_enter_sessions();
	struct wh_tel_found meant = {.job = NULL};
	bool made = false;

	if (host == NULL)
		return -ENOENT;
	if (wh_tel_find_session(host, change->session, &meant) && meant.job != NULL)
		for (struct wh_tel_found found = {.id = 0}; wh_tel_next_session(host, &found);)
			if (found.id == meant.id ||
				(found.job != NULL && same_transfer(found.job, meant.job)))
				made |= change->make(&found, change->context);
	wh_tel_leave_sessions();
	return meant.job == NULL ? -ENOENT : made ? 0 : -EPERM;
}

static bool change_rate(const struct wh_tel_found *found, void *context)
{
	const struct wh_request request = {.rate_bps = *(const uint64_t *)context};

	return wh_job_change(found->job, &request);
}

int wh_tel_set_rate(uint64_t session, uint64_t rate_bps)
{
	struct live_change change = {.session = session, .make = change_rate, .context = &rate_bps};

	return make_all(&change);
}

struct new_option {
	const char *name;
	const char *value;
	int rc; /* the result, and the reason of a failure */
	char *why;
	size_t why_bytes;
};

static void list_live(const struct wh_profile *profile, char *text, size_t room)
{
	text[0] = '\0';
	for (uint32_t i = 0; i < profile->n_options; i++)
		if (profile->options[i].live)
			wh_text_add(text, room, ", ", profile->options[i].name);
	if (text[0] == '\0')
		snprintf(text, room, "none");
}

static void say_why(
	const struct new_option *new, const struct wh_profile *profile, const char *contradicts)
{
	const struct wh_option *option = wh_profile_option(profile, new->name);
	char live[256];
	char least[WH_OPTION_TEXT_MAX];
	char most[WH_OPTION_TEXT_MAX];

	list_live(profile, live, sizeof(live));
	if (option == NULL)
		snprintf(new->why, new->why_bytes,
			"the profile %s has no option '%.60s'; of one that runs may change: %s",
			profile->name, new->name, live);
	else if (new->rc == -EPERM)
		snprintf(new->why, new->why_bytes,
			"%s.%s is settled when a session begins; what may change is: %s",
			profile->name, option->name, live);
	else if (new->rc == -EDOM)
		snprintf(new->why, new->why_bytes, "'%.60s' of %s.%s %s", new->value, profile->name,
			option->name, contradicts);
	else
		snprintf(new->why, new->why_bytes, "%s.%s is a %s from %s to %s, and no '%.60s'",
			profile->name, option->name, wh_option_type_name(option->type),
			wh_option_print(option, option->least, least, sizeof(least)),
			wh_option_print(option, option->most, most, sizeof(most)), new->value);
}

/* The profile of the sending end determines the transfer. */
static bool change_option(const struct wh_tel_found *found, void *context)
{
	struct new_option *new = context;
	struct wh_session *session = found->session;
	const struct wh_profile *profile;
	struct wh_profile_options options;
	const char *contradicts = "";

	if (!found->transmits || !wh_job_sends(found->job))
		return false;
	profile = wh_profile_by_number((uint8_t)wh_session_params(session)->profile);
	options = wh_session_options(session);
	new->rc = wh_profile_options_change(&options, profile, new->name, new->value, &contradicts);
	if (new->rc != 0) {
		say_why(new, profile, contradicts);
		return false;
	}
	wh_session_set_option(session,
		(uint32_t)(wh_profile_option(profile, new->name) - profile->options),
		wh_profile_options_get(&options, profile, new->name));
	return true;
}

int wh_tel_set_option(
	uint64_t session, const char *name, const char *value, char *why, size_t why_bytes)
{
	struct new_option new = {.name = name, .value = value, .why = why, .why_bytes = why_bytes};
	struct live_change change = {.session = session, .make = change_option, .context = &new};
	int rc = make_all(&change);

	if (rc == -EPERM && new.rc != 0)
		return new.rc == -ENOENT ? -EINVAL : new.rc;
	if (rc != 0)
		snprintf(why, why_bytes,
			rc == -ENOENT ? "there is no session %llu"
				      : "session %llu sends nothing from here: the other end "
					"sends, and uses the profile",
			(unsigned long long)session);
	return rc;
}

bool wh_tel_session_locator(uint64_t session, struct wh_tel_locator *locator)
{
	const struct wh_host *host = wh_tel_enter_sessions();
	struct wh_tel_found found;
	bool there;

	if (host == NULL)
		return false;
	there = wh_tel_find_session(host, session, &found) && found.job != NULL;
	if (there)
		*locator = (struct wh_tel_locator){
			.queue = found.shard,
			.cid = (uint32_t)found.id,
			.peer_cid = wh_session_peer_cid(found.session),
			.peer = *wh_session_peer(found.session),
			.job = found.job,
		};
	wh_tel_leave_sessions();
	return there;
}

bool wh_tel_job_session(const void *job, uint64_t *session)
{
	const struct wh_host *host = wh_tel_enter_sessions();
	struct wh_tel_found found = {.id = 0};
	bool there = false;

	if (host == NULL)
		return false;
	while (!there && wh_tel_next_session(host, &found))
		there = found.job != NULL && found.job == job &&
			found.transmits == wh_job_sends(found.job);
	wh_tel_leave_sessions();
	*session = found.id;
	return there;
}
