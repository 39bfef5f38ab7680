/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/live.h"

#include <errno.h>
#include <stdio.h>

#include "cli/plain_text.h"
#include "telemetry/answer.h"

bool wh_tel_each_session(const struct wh_host *host,
	bool (*see)(const struct wh_host *host, const struct wh_tel_found *found, void *context),
	void *context)
{
	for (uint32_t shard = 0; shard < host->shards; shard++) {
		const struct wh_endpoint *endpoint = wh_host_endpoint(host, shard);

		for (uint32_t place = 0; place < endpoint->config.places; place++) {
			struct wh_session *session = atomic_load_explicit(
				&endpoint->session[place], memory_order_acquire);

			if (session == NULL || wh_session_context(session) == NULL)
				continue;

			const struct wh_tel_found found = {
				.id = (uint64_t)shard << 32 | wh_session_cid(session),
				.session = session,
				.job = wh_session_context(session),
				.transmits = place >= endpoint->config.places / 2,
			};

			if (see(host, &found, context))
				return true;
		}
	}
	return false;
}

/* A change to the job of a session, and to all lanes of its transfer. */
struct live_change {
	uint64_t session;
	bool there;
	uint64_t transfer; /* 0: it has only one lane */
	struct wh_address peer;
	/* False: it does not apply to this session. */
	bool (*make)(const struct wh_tel_found *found, void *context);
	void *context;
	bool made;
};

static bool find_transfer(
	const struct wh_host *host, const struct wh_tel_found *found, void *context)
{
	struct live_change *change = context;

	(void)host;
	if (found->id != change->session)
		return false;
	change->there = true;
	change->transfer = found->job->place.transfer;
	change->peer = found->job->place.peer;
	return true;
}

static bool make_change(const struct wh_host *host, const struct wh_tel_found *found, void *context)
{
	struct live_change *change = context;
	struct wh_address peer = found->job->place.peer;
	bool lane;

	(void)host;
	peer.port = change->peer.port;
	lane = change->transfer != 0 && found->job->place.transfer == change->transfer &&
	       wh_address_equal(&peer, &change->peer);
	if (found->id == change->session || lane)
		change->made |= change->make(found, change->context);
	return false;
}

/* 0, or -ENOENT, -EPERM. */
static int make_all(struct live_change *change)
{
	const struct wh_host *host = wh_tel_enter_sessions();

	if (host == NULL)
		return -ENOENT;
	if (wh_tel_each_session(host, find_transfer, change))
		(void)wh_tel_each_session(host, make_change, change);
	wh_tel_leave_sessions();
	return !change->there ? -ENOENT : change->made ? 0 : -EPERM;
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

struct wanted_locator {
	uint64_t session;
	struct wh_tel_locator *locator;
};

static bool find_locator(
	const struct wh_host *host, const struct wh_tel_found *found, void *context)
{
	const struct wanted_locator *wanted = context;

	(void)host;
	if (found->id != wanted->session)
		return false;
	*wanted->locator = (struct wh_tel_locator){
		.queue = (uint32_t)(found->id >> 32),
		.cid = (uint32_t)found->id,
		.peer_cid = wh_session_peer_cid(found->session),
		.peer = *wh_session_peer(found->session),
		.job = found->job,
	};
	return true;
}

bool wh_tel_session_locator(uint64_t session, struct wh_tel_locator *locator)
{
	struct wanted_locator wanted = {session, locator};
	const struct wh_host *host = wh_tel_enter_sessions();
	bool there;

	if (host == NULL)
		return false;
	there = wh_tel_each_session(host, find_locator, &wanted);
	wh_tel_leave_sessions();
	return there;
}

struct wanted_session {
	const void *job;
	uint64_t session;
};

static bool find_session(
	const struct wh_host *host, const struct wh_tel_found *found, void *context)
{
	struct wanted_session *wanted = context;

	(void)host;
	wanted->session = found->id;
	return found->job == wanted->job && found->transmits == wh_job_sends(found->job);
}

bool wh_tel_job_session(const void *job, uint64_t *session)
{
	struct wanted_session wanted = {.job = job};
	const struct wh_host *host = wh_tel_enter_sessions();
	bool there;

	if (host == NULL)
		return false;
	there = wh_tel_each_session(host, find_session, &wanted);
	wh_tel_leave_sessions();
	*session = wanted.session;
	return there;
}
