/* SPDX-License-Identifier: BSD-3-Clause */

/* What follows when TLS has proved the peer's key: trust decision, exchange of verdicts, SA. */

#include <string.h>

#include "base/clock.h"
#include "trust/pending.h"

/* Pause before the trust decision is asked for again. */
#define ASK_AGAIN_MS 20

/* Time for the delivery of the last bytes of a finished handshake. */
#define LAST_BYTES_MS 3000

/* Asks for the trust decision; NONE: pending. Without an authorizer our own key is trusted. */
static enum wh_auth_verdict authorize(struct wh_handshakes *handshakes, struct wh_pending *pending)
{
	const struct wh_authorizer *authorizer = &handshakes->config.authorizer;
	const struct wh_handshake *handshake = &pending->handshake;
	const struct wh_stranger stranger = {
		.address = pending->peer,
		.id = handshake->peer_id,
		.certificate = wh_handshake_certificate(handshake),
		.chain = wh_handshake_chain(handshake),
		.we_asked = !pending->came,
	};

	memcpy(pending->granted.owner, stranger.id, WH_IDENTITY_BYTES);
	if (authorizer->authorize == NULL)
		return memcmp(stranger.id, handshakes->config.identity->id, WH_IDENTITY_BYTES) == 0
			       ? WH_AUTH_WELCOME
			       : WH_AUTH_UNKNOWN;
	switch (authorizer->authorize(authorizer->context, &stranger, &pending->granted)) {
	case WH_AUTHORIZED:
		return WH_AUTH_WELCOME;
	case WH_UNAUTHORIZED:
		return WH_AUTH_UNKNOWN;
	default:
		return WH_AUTH_NONE;
	}
}

/* Our verdict, including cipher and SA number. */
static enum wh_auth_verdict judge(struct wh_handshakes *handshakes, struct wh_pending *pending)
{
	const struct wh_handshakes_config *config = &handshakes->config;
	const struct wh_auth *theirs = &pending->handshake.theirs;
	bool wanted = theirs->verdict == WH_AUTH_WELCOME || !pending->came;
	enum wh_auth_verdict verdict;

	/* Our own packets come back. Their sender need not have any key. */
	if (memcmp(theirs->process, handshakes->process, sizeof(theirs->process)) == 0)
		return WH_AUTH_SELF;
	verdict = authorize(handshakes, pending);
	if (verdict != WH_AUTH_WELCOME)
		return verdict;
	if (wanted && wh_handshake_cipher(&pending->handshake, config->ciphers) == 0)
		return WH_AUTH_CIPHER;
	/* For a peer's handshake the number was reserved at its beginning. */
	if (!pending->came && theirs->verdict == WH_AUTH_NONE)
		pending->sa_number = wh_pending_reserve(handshakes);
	return pending->sa_number != 0 ? WH_AUTH_WELCOME : WH_AUTH_BUSY;
}

static void tell(struct wh_handshakes *handshakes, const struct wh_pending *pending,
	struct wh_handshakes_news news)
{
	if (handshakes->config.tell == NULL)
		return;
	news.peer = pending->peer;
	news.came = pending->came;
	memcpy(news.id, pending->handshake.peer_id, sizeof(news.id));
	memcpy(news.version, pending->handshake.theirs.version, sizeof(news.version));
	handshakes->config.tell(handshakes->config.context, &news);
}

static void tell_verdict(struct wh_handshakes *handshakes, const struct wh_pending *pending,
	enum wh_auth_verdict verdict, bool by_peer)
{
	handshakes->stats.sas += verdict == WH_AUTH_WELCOME;
	handshakes->stats.refused += verdict != WH_AUTH_WELCOME;
	tell(handshakes, pending,
		(struct wh_handshakes_news){.verdict = verdict, .by_peer = by_peer});
}

static struct wh_sa *make_sa(
	struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc)
{
	const struct wh_handshake *handshake = &pending->handshake;
	struct wh_sa_config config = {
		.peer_number = handshake->theirs.number,
		.peer = pending->peer,
		.cipher = wh_handshake_cipher(handshake, handshakes->config.ciphers),
		.asked = !pending->came,
		.rights = pending->granted.rights,
	};
	struct wh_sa *sa = NULL;

	if (!pending->came)
		config.offer = (struct wh_sa_offer){
			.offered = handshake->theirs.offered,
			.peer = pending->peer,
			.queue = pending->queue,
			.rtt_us = pending->rtt_us,
			.came_us = wh_tsc_to_us(handshakes->config.hz, now_tsc),
		};
	memcpy(config.own_identity, handshakes->config.identity->id, sizeof(config.own_identity));
	memcpy(config.peer_identity, handshake->peer_id, sizeof(config.peer_identity));
	memcpy(config.peer_process, handshake->theirs.process, sizeof(config.peer_process));
	memcpy(config.owner, pending->granted.owner, sizeof(config.owner));
	if (wh_handshake_secret(handshake, config.secret)) {
		sa = wh_sadb_fill(handshakes->config.sadb, pending->sa_number, &config);
		pending->sa_number = 0;
	}
	wh_secret_wipe(&config, sizeof(config));
	return sa != NULL && wh_keep_sa(handshakes, sa, now_tsc) ? sa : NULL;
}

/* Passes the result to the known peer, if we began the handshake. */
static void conclude(struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc,
	struct wh_sa *sa, enum wh_auth_verdict verdict, bool by_peer)
{
	struct wh_attempt attempt = {
		.state = sa != NULL ? WH_ATTEMPT_HAS_SA : WH_ATTEMPT_REFUSED,
		.verdict = verdict,
		.by_peer = by_peer,
		.seen = true,
		.sa = sa,
	};

	memcpy(attempt.peer_id, pending->handshake.peer_id, sizeof(attempt.peer_id));
	if (pending->came)
		return;
	wh_known_peer_settle(handshakes, pending, now_tsc, &attempt);
	/* Sessions under SAs that the peer has lost move to the new one. */
	if (attempt.sa != NULL)
		wh_keep_succeed(handshakes, attempt.sa);
}

/* A client that trusts the server uses the SA at once; the server's verdict may end it. */
static void settle_early(
	struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc)
{
	pending->sa = make_sa(handshakes, pending, now_tsc);
	if (pending->sa == NULL)
		return;
	wh_sa_share(pending->sa);
	conclude(handshakes, pending, now_tsc, pending->sa, WH_AUTH_WELCOME, false);
}

/* Both verdicts are known: an SA, or a refusal by either end. */
static void settle(struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc)
{
	const struct wh_handshake *handshake = &pending->handshake;
	enum wh_auth_verdict ours = (enum wh_auth_verdict)handshake->ours.verdict;
	bool welcome = ours == WH_AUTH_WELCOME && handshake->verdict == WH_AUTH_WELCOME;
	bool full = !pending->came && handshake->theirs.verdict == WH_AUTH_BUSY;
	bool by_peer = !welcome && (ours == WH_AUTH_WELCOME || full);

	if (welcome && pending->came) {
		pending->sa = make_sa(handshakes, pending, now_tsc);
		wh_shares_befriend(handshakes->shares, &pending->peer);
	}
	if (welcome && pending->sa == NULL) {
		welcome = false;
		ours = WH_AUTH_BUSY;
	}
	tell_verdict(handshakes, pending, by_peer ? handshake->verdict : ours, by_peer);
	/* Before the SA is revoked, so that its sessions can report the reason. */
	if (!welcome)
		conclude(handshakes, pending, now_tsc, NULL, by_peer ? handshake->verdict : ours,
			by_peer);
	if (!welcome && pending->sa != NULL)
		wh_keep_revoke(handshakes, pending->sa);
	/* For a peer's handshake the reference is held in `kept` only. */
	if (pending->came)
		pending->sa = NULL;
	pending->over = true;
	pending->stream->asks = false;
}

static void answer(struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc)
{
	const struct wh_handshakes_config *config = &handshakes->config;
	enum wh_auth_verdict verdict;
	struct wh_auth auth;

	if (now_tsc < pending->ask_tsc)
		return;
	handshakes->stats.met += !pending->proved;
	pending->proved = true;
	pending->ask_tsc = now_tsc + wh_ns_to_tsc(config->hz, ASK_AGAIN_MS * UINT64_C(1000000));
	verdict = judge(handshakes, pending);
	if (verdict == WH_AUTH_NONE) {
		if (!pending->came)
			wh_known_peer_judged(handshakes, pending);
		return;
	}
	wh_pending_auth(
		handshakes, &auth, verdict, verdict == WH_AUTH_WELCOME ? pending->sa_number : 0);
	wh_handshake_answer(&pending->handshake, &auth);
	if (pending->handshake.state != WH_HANDSHAKE_WAITS)
		return;
	settle_early(handshakes, pending, now_tsc);
	wh_handshake_put(&pending->handshake, NULL, 0);
}

/* The handshake ends without a verdict: marks its SA, which the peer may not have. */
void wh_pending_give_up(
	struct wh_handshakes *handshakes, struct wh_pending *pending, const char *why)
{
	if (pending->sa != NULL)
		atomic_store(&pending->sa->hinted, true);
	tell(handshakes, pending, (struct wh_handshakes_news){.broken_by = why});
}

static void break_off(struct wh_handshakes *handshakes, struct wh_pending *pending)
{
	handshakes->stats.broken++;
	wh_pending_give_up(handshakes, pending,
		pending->handshake.broken_by != NULL ? pending->handshake.broken_by
						     : "it says more than there is room for");
	pending->over = true;
	pending->stream->asks = false;
}

void wh_pending_step(struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc)
{
	uint8_t bytes[2048];
	uint32_t count;

	if (!pending->over && pending->handshake.state == WH_HANDSHAKE_MET)
		answer(handshakes, pending, now_tsc);
	/* Also writes TLS's alert, which tells the peer the reason. */
	while ((count = wh_handshake_take(&pending->handshake, bytes, sizeof(bytes))) > 0)
		if (!wh_stream_write(pending->stream, bytes, count))
			pending->handshake.state = WH_HANDSHAKE_BROKEN;
	if (pending->over)
		return;
	if (pending->handshake.state == WH_HANDSHAKE_DONE)
		settle(handshakes, pending, now_tsc);
	else if (pending->handshake.state == WH_HANDSHAKE_BROKEN)
		break_off(handshakes, pending);
	if (!pending->over)
		return;
	wh_handshake_end(&pending->handshake);
	pending->until_tsc =
		now_tsc + wh_ns_to_tsc(handshakes->config.hz, LAST_BYTES_MS * UINT64_C(1000000));
}
