/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Options for repair packets (--fec, --code and the planner's two constants), and their translation
 * into a session's configuration.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "session/session.h"

struct wh_repair_options {
	bool told; /* --fec was given; otherwise `on` is the profile's */
	bool on;
	uint8_t k;             /* for this many data packets there are always r repair packets */
	uint8_t r;             /* k and r 0: as many as planned */
	enum wh_fec_code code; /* NONE: not given */
	double target;         /* the probability that a block cannot be repaired */
	double ceiling;        /* most repair packets per packet sent; 0: not given */
	/* Packets that cannot be repaired are not retransmitted: the connection fails. */
	bool strict;
};

#define WH_REPAIR_TARGET_STANDARD "1e-4"

#define WH_REPAIR_TARGET_MIN 1e-9
#define WH_REPAIR_TARGET_MAX 0.5

/* At most as many repair as data packets, so that a peer's demand for our memory is limited. */
#define WH_REPAIR_CEILING_MIN 0.01
#define WH_REPAIR_CEILING_MAX 0.5

/* Nothing given: wh_repair_settle decides. */
void wh_repair_options_init(struct wh_repair_options *options);

/* Options not given are set as in the profile, its ceiling limited to ours. */
void wh_repair_settle(struct wh_repair_options *options, const struct wh_profile *profile);

/* NULL, or what is contradictory in settled options. */
const char *wh_repair_wrong(const struct wh_repair_options *options);

/* "off", "auto" or "k,r": false if none of them, or more than a block holds. */
bool wh_repair_parse(const char *text, struct wh_repair_options *options);

#define WH_REPAIR_TEXT_BYTES 16

const char *wh_repair_text(
	const struct wh_repair_options *options, char text[WH_REPAIR_TEXT_BYTES]);

/* NONE: unknown name. */
enum wh_fec_code wh_repair_code(const char *name);

/* Whether `code` has blocks of r repair packets for k of data; k and r 0: as planned. */
bool wh_repair_possible(uint32_t code, uint32_t k, uint32_t r);

/*
 * Sets a transmitter's config by settled options; its chunk and packet sizes must be set before.
 * Without repair it is unchanged.
 */
void wh_repair_configure(const struct wh_repair_options *options, struct wh_session_config *config);

/*
 * The most that a chunk of this many data packets may get: r for each k; if both are 0, what the
 * ceiling allows.
 */
uint32_t wh_repair_most_pkts(uint32_t k, uint32_t r, double ceiling, uint32_t data_pkts);

/* Sets a receiver's config by the peer's OPEN. */
void wh_repair_follow(const struct wh_open_params *params, struct wh_session_config *config);

/* Limits for any transmitter with these sizes, whatever its options. */
struct wh_fec_limits wh_repair_limits(
	uint32_t chunk_bytes, uint32_t payload_bytes_min, uint32_t payload_bytes_max);

/* Whether a core with tables for these limits can serve the peer's OPEN. */
bool wh_repair_fits(const struct wh_open_params *params, const struct wh_fec_limits *limits);

/* Whether a session has repair packets, so that its users encode or decode. */
static inline bool wh_repair_is_on(const struct wh_session *session)
{
	return wh_session_params(session)->recovery != WH_RECOVERY_NAK;
}

/* "repair" of every report: {"sent", "used", "undecodable_blocks", "overhead"}. */
json_t *wh_repair_json(const struct wh_session_stats *stats);

/* A line of the report for people. */
void wh_repair_print(const struct wh_session_stats *stats);

/* Repair packets per data packet sent or received. */
double wh_repair_overhead(const struct wh_session_stats *stats);
