/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/sealed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/own/path_size.h"
#include "ssh/far.h"
#include "ssh/for_client.h"
#include "trust/keylog.h"

/* Interval of looks for questions to a person. Files are looked at once a second. */
#define LOOK_MS 50

/* The minimum. */
#define SMALL_BUFFER_BYTES (UINT64_C(64) << 20)

uint8_t wh_sealed_ciphers(const struct wh_settings *settings)
{
	return settings->cipher != 0 ? (uint8_t)(1u << settings->cipher)
				     : 1u << WH_CIPHER_AES_128_GCM | 1u << WH_CIPHER_AES_256_GCM;
}

static int32_t look(void *state, uint64_t now_tsc)
{
	struct wh_sealed *sealed = state;
	uint64_t hz = sealed->at->host.ctx.hz;

	if (now_tsc < sealed->next_tsc)
		return 0;
	sealed->next_tsc = now_tsc + wh_ns_to_tsc(hz, LOOK_MS * UINT64_C(1000000));
	wh_store_look(&sealed->trust.store);
	return 0;
}

static const char *outcome_of(const struct wh_handshakes_news *news)
{
	if (news->broken_by != NULL)
		return "handshake broke";
	return news->by_peer ? "refused by the peer" : wh_auth_verdict_name(news->verdict);
}

static void say_refusal(struct wh_sealed *sealed)
{
	char text[WH_REFUSAL_BYTES];

	wh_store_refusal(&sealed->trust.store, text);
	if (text[0] != '\0')
		wh_say("%s", text);
}

/*
 * A handshake that failed, at a server. Whom it went to itself, for a job, and does not trust, is
 * told in its log: why, and what trusts him. Of a program that runs for one transfer it is the last
 * line.
 */
static void note_refused(void *context, const struct wh_handshakes_news *news)
{
	struct wh_sealed *sealed = context;
	char why[WH_WHY_BYTES] = "";

	if (sealed->at->service == NULL || news->verdict == WH_AUTH_WELCOME)
		return;
	if (!news->came) {
		if (news->verdict == WH_AUTH_UNKNOWN && !news->by_peer)
			say_refusal(sealed);
		return;
	}
	if (news->broken_by != NULL)
		snprintf(why, sizeof(why), "%s", news->broken_by);
	else if (!news->by_peer)
		wh_store_why(&sealed->trust.store, news->id, why);
	wh_refusals_note(&sealed->at->jobs.refusals, &news->peer, news->id, outcome_of(news), why);
}

/* The port takes packets of its whole MTU, and need not send them. */
static void settle_size(struct wh_host_settings *host)
{
	bool proved = false;
	uint32_t passed_bytes = wh_path_size_end(&proved);

	if (passed_bytes == 0 || passed_bytes == host->mtu_bytes)
		return;
	if (proved)
		wh_say("packets of %u bytes do not reach the server; those of %u bytes do, and are "
		       "used",
			host->mtu_bytes, passed_bytes);
	host->mtu_bytes = passed_bytes;
}

static int hear_server(void *context)
{
	struct wh_sealed *sealed = context;
	int rc = sealed->far != NULL ? wh_far_passes(sealed->far) : 0;

	if (rc == 0 && !wh_path_size_known())
		rc = -EAGAIN;
	if (rc == 0)
		settle_size(&sealed->at->settings);
	return rc;
}

static int conclude(void *context)
{
	struct wh_sealed *sealed = context;

	return wh_far_conclude(sealed->far);
}

static int run_and_look(void *context)
{
	struct wh_sealed *sealed = context;

	wh_runtime_add(&sealed->at->runtime, 0, "trust", look, sealed);
	return sealed->run(sealed->context);
}

static int open_trust(
	struct wh_sealed *sealed, const struct wh_settings *settings, const char *server)
{
	if (settings->far != NULL)
		return wh_far_trust(settings->far, &sealed->trust);
	if (settings->client != NULL)
		return wh_for_client_trust(settings->client, &sealed->trust);
	return wh_trust_open(&sealed->trust, settings->identity, settings->trust, server);
}

int wh_on_sealed_host(struct wh_sealed *sealed, const struct wh_settings *settings,
	const char *server, struct wh_on_host *on, int (*run)(void *context), void *context)
{
	int status;

	*sealed = (struct wh_sealed){
		.on = !settings->unsealed,
		.far = settings->far,
		.at = on,
		.run = run,
		.context = context,
	};
	on->settings.question = (struct wh_host_question){hear_server, conclude, sealed};
	if (!sealed->on) {
		wh_say("not sealed, because of --unsealed: anyone on the path can read and change "
		       "the data");
		return wh_on_host(on, run, context);
	}
	status = wh_keylog_open(settings->keylog);
	if (status != 0)
		return status;
	status = open_trust(sealed, settings, server);
	if (status != -1)
		return status;
	sealed->handshake = (struct wh_handshake_settings){
		.identity = &sealed->trust.identity,
		.authorizer = wh_store_authorizer(&sealed->trust.store),
		.ciphers = wh_sealed_ciphers(settings),
		.tell = note_refused,
		.context = sealed,
	};
	if (settings->far != NULL)
		sealed->handshake.told.peer = settings->far->peer;
	if (settings->far != NULL || settings->client != NULL)
		memcpy(sealed->handshake.told.cookie,
			settings->far != NULL ? settings->far->line.cookie
					      : settings->client->line.cookie,
			sizeof(sealed->handshake.told.cookie));
	on->settings.handshake = &sealed->handshake;
	status = wh_on_host(on, run_and_look, sealed);
	if (status != WH_EXIT_OK && on->service == NULL)
		say_refusal(sealed);
	wh_trust_close(&sealed->trust);
	return status;
}

int wh_on_small_host(struct wh_sealed *sealed, const struct wh_settings *settings,
	const char *server, struct wh_on_host *on, int (*run)(void *context), void *context)
{
	on->settings = wh_host_settings_of(settings);
	on->settings.ports = 1;
	on->settings.queues = 1;
	on->settings.buffer_bytes = SMALL_BUFFER_BYTES;
	on->places = 1;
	return wh_on_sealed_host(sealed, settings, server, on, run, context);
}

void wh_sealed_name(
	struct wh_sealed *sealed, const struct wh_address *server, struct wh_request *request)
{
	request->peer_known =
		sealed->on && wh_store_meant(&sealed->trust.store, server, request->peer_id);
}

void wh_sealed_guard(const struct wh_sealed *sealed, struct wh_guard *guard)
{
	if (sealed->on && sealed->trust.store.pair[0] == '\0')
		wh_guard_let_path(guard, sealed->trust.store.place.peers, WH_LET_WRITE);
}
