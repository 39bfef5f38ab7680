/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Tornado code (Luby et al., "Practical loss-resilient codes", 1997), as the cascade of ttp.txt II
 * A. Each level's packets are checked by XORs over a sparse random graph, and these checks are the
 * packets of the next level. The last level is protected by a Reed-Solomon block. The graphs are a
 * function of k and r alone, so both ends have the same ones.
 */

#include <stdint.h>

#include "fec/fec.h"
#include "fec/rs.h"

struct wh_tornado; /* tornado.c */

/* NULL: no memory. The Reed-Solomon code is shared with the caller. */
struct wh_tornado *wh_tornado_create(const struct wh_fec_limits *limits, struct wh_rs *rs);
void wh_tornado_destroy(struct wh_tornado *tornado);           /* NULL is allowed */
uint64_t wh_tornado_bytes(const struct wh_fec_limits *limits); /* bytes that create allocates */

/* Whether the code exists: r is large enough for its levels. */
bool wh_tornado_exists(uint32_t k, uint32_t r);

/* See fec.h. `last` is the last data packet, padded with zeros. */
uint32_t wh_tornado_encode(struct wh_tornado *tornado, const struct wh_fec_shape *shape,
	const uint8_t *data, const uint8_t *last, uint32_t from, uint32_t ready, uint8_t *repair);
uint32_t wh_tornado_decode(struct wh_tornado *tornado, const struct wh_fec_shape *shape,
	uint8_t *data, uint8_t *last, uint8_t *repair, uint64_t *have);
