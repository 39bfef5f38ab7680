/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/host_handshake.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "host/host_ctx.h"
#include "trust/fingerprint.h"

/* The most SAs at once, one for each peer that shares a secret with this process. */
#define SAS 4096

/*
 * Steps of TLS for a queue in one turn. A step costs the worker up to a signature and the rest of a
 * handshake, some 300 us, and jobs have their turns in between. Datagrams that lead to no step cost
 * next to nothing, so that a flood of them does not keep others waiting.
 */
#define STEPS_PER_TURN     4
#define DATAGRAMS_PER_TURN 256

/*
 * The server's answer that it does not seal may be forged by an attacker on the path. So wait this
 * long for the server's handshake.
 */
#define UNSEALED_PATIENCE_NS UINT64_C(1000000000)

int wh_host_handshake_init(struct wh_host_handshake *handshake, struct wh_host_ctx *ctx,
	const struct wh_handshake_settings *settings)
{
	struct wh_handshakes_config config = {
		.hz = ctx->hz,
		.identity = settings->identity,
		.ciphers = settings->ciphers,
		.version = WH_VERSION,
		.told = settings->told,
		.authorizer = settings->authorizer,
		.tell = settings->tell,
		.context = settings->context,
		.sadb = &handshake->sadb,
	};

	*handshake = (struct wh_host_handshake){.ctx = ctx};
	memcpy(config.key, ctx->cookie_key, sizeof(config.key));

	int rc = wh_sadb_init(&handshake->sadb, SAS);

	if (rc == 0)
		rc = wh_handshakes_init(&handshake->handshakes, &config);
	if (rc != 0)
		wh_sadb_free(&handshake->sadb);
	else
		ctx->handshake = handshake;
	return rc;
}

void wh_host_handshake_free(struct wh_host_handshake *handshake)
{
	if (handshake->ctx == NULL)
		return;
	wh_handshakes_free(&handshake->handshakes);
	wh_sadb_free(&handshake->sadb);
	handshake->ctx->handshake = NULL;
	handshake->ctx = NULL;
}

static int32_t take(
	struct wh_host_handshake *handshake, struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_slot *slot;
	int32_t taken = 0;
	uint32_t steps = 0;

	while (steps < STEPS_PER_TURN && taken < DATAGRAMS_PER_TURN &&
		(slot = wh_slot_fifo_peek(&endpoint->datagrams_in)) != NULL) {
		steps += wh_handshakes_take(&handshake->handshakes, now_tsc,
			(const struct wh_handshake_datagram *)slot->data);
		wh_slot_fifo_release(&endpoint->datagrams_in);
		taken++;
	}
	return taken;
}

/*
 * An answer leaves by the queue by which the question came. Datagrams without room are lost, as in
 * the network, and are repeated.
 */
static void post(struct wh_host_ctx *ctx, const struct wh_handshake_datagram *datagram)
{
	uint32_t shard = datagram->is_answer
				 ? datagram->queue
				 : wh_host_settings_toward(ctx->settings, &datagram->peer);

	WH_ASSERT(shard < wh_host_settings_shards(ctx->settings));

	struct wh_endpoint *endpoint = ctx->shard[shard].endpoint;
	struct wh_slot *slot = wh_slot_fifo_reserve(&endpoint->datagrams_out);

	if (slot == NULL)
		return;
	memcpy(slot->data, datagram, sizeof(*datagram));
	slot->bytes = sizeof(*datagram);
	wh_slot_fifo_commit(&endpoint->datagrams_out);
}

int32_t wh_host_handshake_poll(void *state, uint64_t now_tsc)
{
	struct wh_host_handshake *handshake = state;
	struct wh_host_ctx *ctx = handshake->ctx;
	struct wh_handshake_datagram datagram;
	int32_t work = 0;

	for (uint32_t i = 0; i < wh_host_settings_shards(ctx->settings); i++)
		work += take(handshake, ctx->shard[i].endpoint, now_tsc);
	work += wh_handshakes_poll(&handshake->handshakes, now_tsc);
	while (wh_handshakes_give(&handshake->handshakes, now_tsc, &datagram)) {
		post(ctx, &datagram);
		work++;
	}
	return work;
}

void wh_host_handshake_refusal(const struct wh_host_handshake *handshake,
	const struct wh_attempt *attempt, char why[WH_SOUGHT_WHY_BYTES])
{
	char text[WH_FINGERPRINT_BYTES];

	if (attempt->verdict == WH_AUTH_CIPHER)
		snprintf(why, WH_SOUGHT_WHY_BYTES,
			"the two ends have no cipher in common: set the same --cipher at both");
	else if (attempt->verdict == WH_AUTH_BUSY)
		snprintf(why, WH_SOUGHT_WHY_BYTES, "%s has no room for another peer",
			attempt->by_peer ? "the server" : "this host");
	else if (attempt->verdict == WH_AUTH_SELF)
		snprintf(why, WH_SOUGHT_WHY_BYTES,
			"this process has answered itself: the address is one of this host, or "
			"whoever is there sends our packets back");
	else if (attempt->by_peer)
		snprintf(why, WH_SOUGHT_WHY_BYTES,
			"the server does not trust this end, %s: run `wavehaul trust add` there to "
			"allow it",
			wh_fingerprint_text(
				handshake->ctx->settings->handshake->identity->id, text));
	else
		snprintf(why, WH_SOUGHT_WHY_BYTES, "the server %s is not trusted here",
			wh_fingerprint_text(attempt->peer_id, text));
}

static void give_up(struct wh_sought *sought, enum wh_release_status status, const char *why)
{
	sought->status = status;
	snprintf(sought->why, sizeof(sought->why), "%s", why);
}

/* Gives up after the patience, unless there is an SA or a refusal. */
static void see_patience(const struct wh_attempt *attempt, uint64_t waited_ns, uint64_t patience_ns,
	struct wh_sought *sought)
{
	if (attempt->least != 0 && waited_ns > UNSEALED_PATIENCE_NS) {
		sought->least = attempt->least;
		sought->most = attempt->most;
		give_up(sought, WH_STATUS_REFUSED, "the server uses other packet formats");
	} else if (attempt->unsealed && waited_ns > UNSEALED_PATIENCE_NS) {
		give_up(sought, WH_STATUS_REFUSED,
			"the server runs unsealed: add --unsealed here to accept that");
	} else if (waited_ns > patience_ns && attempt->put_off) {
		give_up(sought, WH_STATUS_BUSY,
			"the server has no place for another handshake: too many hosts begin one "
			"at "
			"once, so try again later");
	} else if (waited_ns > patience_ns && attempt->state == WH_ATTEMPT_RUNS) {
		give_up(sought, WH_STATUS_STALLED,
			"the server answered, but did not complete the handshake");
	} else if (waited_ns > patience_ns) {
		give_up(sought, WH_STATUS_PEER_GONE, wh_release_status_name(WH_STATUS_PEER_GONE));
	}
}

void wh_host_handshake_seek(struct wh_host_handshake *handshake, uint64_t now_tsc,
	const struct wh_address *door, uint64_t patience_ns, uint64_t *since_tsc,
	struct wh_sought *sought)
{
	struct wh_attempt attempt;

	*sought = (struct wh_sought){.status = WH_STATUS_PENDING};
	wh_handshakes_attempt(&handshake->handshakes, now_tsc, door, &attempt);
	sought->sa = attempt.sa;
	if (attempt.state == WH_ATTEMPT_REFUSED) {
		wh_host_handshake_refusal(handshake, &attempt, sought->why);
		sought->status =
			attempt.verdict == WH_AUTH_BUSY ? WH_STATUS_BUSY : WH_STATUS_REFUSED;
	} else if (attempt.state == WH_ATTEMPT_FULL) {
		give_up(sought, WH_STATUS_BUSY, "too many servers at once");
	} else if (attempt.state == WH_ATTEMPT_JUDGED) {
		*since_tsc = now_tsc;
	} else if (attempt.state != WH_ATTEMPT_HAS_SA) {
		see_patience(&attempt, wh_tsc_to_ns(handshake->ctx->hz, now_tsc - *since_tsc),
			patience_ns, sought);
	}
}
