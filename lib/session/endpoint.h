/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_ENDPOINT_H
#define WH_SESSION_ENDPOINT_H

/*
 * What sits behind one queue of a port: decodes each packet once, counts the bad ones by reason,
 * finds the session by its LCI (an index, no hash), and listens for new connections.
 *
 * An LCI is a place in the session table and the number of the offer that it was made for. No two
 * offers share one, so that packets of an earlier connection never reach a later one in the same
 * place, nor those of one that was opened at the same time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "session/handshake.h"
#include "session/session.h"

#define WH_ENDPOINT_SESSIONS 64 /* a power of two */
#define WH_ENDPOINT_REPLIES  64

struct wh_endpoint_stats {
	uint64_t packets;
	uint64_t bad[WH_WIRE_REASONS]; /* by the decoder's reason */
	uint64_t no_session_pkts;      /* an LCI that nobody has */
	uint64_t wrong_peer_pkts;      /* an LCI that belongs to another address */
	uint64_t bad_cookie_pkts;
	uint64_t refused_opens;
	uint64_t replies_dropped_pkts; /* no room for a stateless answer */
};

struct wh_endpoint_config {
	uint64_t hz;
	uint8_t key[WH_SIPHASH_KEY_BYTES]; /* the listener's secret */
	uint32_t buffer_chunks;            /* offered to every connection that is opened to us */
	/*
	 * Whether an OPEN is welcome: WH_STATUS_PENDING, or the reason why not. NULL: this end
	 * only opens connections and refuses them all. Decoding has held the fields to the format's
	 * limits; that the profile exists, chunk_bytes is a multiple of WH_CHUNK_ALIGN and memory
	 * allows for the sizes is for this to say: accept gets what was welcome, and nothing else.
	 */
	enum wh_release_status (*welcome)(
		void *context, const struct wh_open_params *params, const struct wh_address *peer);
	/* Makes the session (wh_session_accept) for a proved peer; NULL: it cannot. */
	struct wh_session *(*accept)(void *context, uint64_t now_tsc, uint32_t lci,
		const struct wh_address *peer, const struct wh_open_params *params,
		uint64_t rtt_tsc);
	void *context;
};

struct wh_endpoint {
	struct wh_endpoint_config config;
	struct wh_listener listener;
	struct wh_session *session[WH_ENDPOINT_SESSIONS];
	uint32_t last_lci[WH_ENDPOINT_SESSIONS]; /* of a place's latest tenant; 0: none yet */
	uint32_t offers;                         /* LCIs made, ever */
	uint32_t used;                           /* places from 0 on that were ever used */
	uint32_t next_turn;                      /* output takes the sessions in turn */
	struct wh_slot_fifo replies;
	struct wh_address reply_to; /* of the reply handed out last */
	struct wh_endpoint_stats stats;
};

/* 0 or -ENOMEM. */
int wh_endpoint_init(struct wh_endpoint *endpoint, const struct wh_endpoint_config *config);

/* Sessions still in it are the caller's to destroy. */
void wh_endpoint_free(struct wh_endpoint *endpoint);

/* A new LCI with a place that is free now; 0: none is. */
uint32_t wh_endpoint_offer_lci(struct wh_endpoint *endpoint);
void wh_endpoint_add(struct wh_endpoint *endpoint, uint32_t lci, struct wh_session *session);
void wh_endpoint_remove(struct wh_endpoint *endpoint, struct wh_session *session);

/* One UDP payload from `from`, which came in at arrived_tsc <= now_tsc. */
void wh_endpoint_input(struct wh_endpoint *endpoint, uint64_t now_tsc, uint64_t arrived_tsc,
	const uint8_t *bytes, size_t length, const struct wh_address *from);

int32_t wh_endpoint_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);
uint32_t wh_endpoint_output(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_out *out, uint32_t count);
uint64_t wh_endpoint_deadline(const struct wh_endpoint *endpoint);

/* Packets that were not a packet of any session here, whatever the reason. */
uint64_t wh_endpoint_bad_pkts(const struct wh_endpoint *endpoint);

#endif
