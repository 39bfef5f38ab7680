/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_REPAIR_H
#define WH_APP_REPAIR_H

/*
 * What operators say about repair packets (--fec, --code and the planner's two constants), and what
 * that is for a session.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "session/session.h"

struct wh_repair_options {
	bool told; /* --fec was; without, `on` is as the profile says */
	bool on;
	uint8_t k; /* of so many data packets ... */
	uint8_t r; /* ... so many repair packets, whatever the path does; 0, 0: as planned */
	enum wh_fec_code code; /* NONE: not told */
	double target;         /* the chance that a block cannot be repaired */
	double ceiling;        /* repair packets per packet sent, at most; 0: not told */
	bool strict; /* what they do not bring back is not asked for: the connection fails */
};

#define WH_REPAIR_TARGET_STANDARD "1e-4"

#define WH_REPAIR_TARGET_MIN 1e-9
#define WH_REPAIR_TARGET_MAX 0.5

/* As much repair as data, at most, so that what a peer may ask of our memory is bounded. */
#define WH_REPAIR_CEILING_MIN 0.01
#define WH_REPAIR_CEILING_MAX 0.5

/* Nothing told: wh_repair_settle decides. */
void wh_repair_options_init(struct wh_repair_options *options);

/* What was not told becomes what the profile says, its ceiling within our bound. */
void wh_repair_settle(struct wh_repair_options *options, const struct wh_profile *profile);

/* NULL, or what does not go together in settled options. */
const char *wh_repair_wrong(const struct wh_repair_options *options);

/* "off", "auto" or "k,r": false when it is none of them, or more than a block holds. */
bool wh_repair_parse(const char *text, struct wh_repair_options *options);

#define WH_REPAIR_TEXT_BYTES 16

const char *wh_repair_text(
	const struct wh_repair_options *options, char text[WH_REPAIR_TEXT_BYTES]);

/* NONE when there is none of that name. */
enum wh_fec_code wh_repair_code(const char *name);

/* Whether `code` has blocks of r repair packets for k of data; k and r 0: as planned. */
bool wh_repair_possible(uint32_t code, uint32_t k, uint32_t r);

/*
 * By settled options, a transmitter's config, whose sizes of chunks and packets are known. Without
 * repair it is left alone.
 */
void wh_repair_configure(const struct wh_repair_options *options, struct wh_session_config *config);

/* That a chunk of so many data packets may get: r for each k, or with 0, 0 up to the ceiling. */
uint32_t wh_repair_most_pkts(uint32_t k, uint32_t r, double ceiling, uint32_t data_pkts);

/* A receiver's, as the peer's OPEN says. */
void wh_repair_follow(const struct wh_open_params *params, struct wh_session_config *config);

/* What any transmitter with these sizes may come to, whatever its options. */
struct wh_fec_limits wh_repair_limits(
	uint32_t chunk_bytes, uint32_t payload_bytes_min, uint32_t payload_bytes_max);

/* Whether a core with tables of these limits can work for what the peer's OPEN says. */
bool wh_repair_fits(const struct wh_open_params *params, const struct wh_fec_limits *limits);

/* Whether a session has repair packets: its users encode or decode. */
static inline bool wh_repair_is_on(const struct wh_session *session)
{
	return wh_session_params(session)->recovery != WH_RECOVERY_NAK;
}

/* Sums what reports tell of several sessions together. */
void wh_stats_add(struct wh_session_stats *sum, const struct wh_session_stats *stats);

/* "repair" of every report: {"sent", "used", "undecodable_blocks", "overhead"}. */
json_t *wh_repair_json(const struct wh_session_stats *stats);

/* A line of the human report. */
void wh_repair_print(const struct wh_session_stats *stats);

/* Repair packets per data packet that was sent, or came. */
double wh_repair_overhead(const struct wh_session_stats *stats);

#endif
