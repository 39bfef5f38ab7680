/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Forward error correction of a chunk: k data packets in, r repair packets out, such that about any
 * k of the k + r restore the data. One interface, two codes:
 *
 *   rs       systematic Cauchy Reed-Solomon over GF(2^8): exactly any k of the k + r suffice.
 *            Limited to k + r <= 255, so a chunk consists of `blocks` such codes, interleaved:
 *            packet i belongs to block i % blocks, with data and repair each counted from 0. A
 *            burst of losses is thus spread over the blocks.
 *   tornado  XOR over a cascade of sparse random graphs (ttp.txt II A): the whole chunk is one
 *            code, cheap for any k; needs a few packets more than k.
 *
 * Data packet i lies at i * symbol_bytes of the chunk; the last one may be shorter, and the code
 * treats it as padded with zeros. Repair packets are symbol_bytes long and contiguous.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

const char *wh_fec_code_name(enum wh_fec_code code);

#define WH_FEC_RS_PACKETS_MAX 255 /* k + r of one block */
#define WH_FEC_ALIGN          32  /* alignment of packets: a full vector */

/*
 * What both ends must agree on; the receiver takes it from the packets. With symbol_bytes 0,
 * decoding determines which packets can be recovered, but computes no data.
 */
struct wh_fec_shape {
	enum wh_fec_code code;
	uint32_t k;
	uint32_t r;
	uint32_t blocks; /* rs: at most as many as k and as r; tornado: 1 */
	uint32_t symbol_bytes;
	uint32_t last_bytes; /* of the last data packet */
};

/* Upper limits of the shapes that a codec accepts. */
struct wh_fec_limits {
	uint32_t k;
	uint32_t r;
	uint32_t symbol_bytes;
};

/* Whether the shape is valid and within the limits. Shapes from a peer are untrusted until then. */
bool wh_fec_shape_ok(const struct wh_fec_shape *shape, const struct wh_fec_limits *limits);

/* Tables and scratch memory of one core; caches the latest shapes. NULL: no memory. */
struct wh_fec;

struct wh_fec *wh_fec_create(const struct wh_fec_limits *limits);
void wh_fec_destroy(struct wh_fec *fec); /* NULL is allowed */

/* The bytes that wh_fec_create requests from malloc, exactly. */
uint64_t wh_fec_bytes(const struct wh_fec_limits *limits);

/*
 * Encodes a chunk while it is being filled. `ready` data packets are present, never fewer than at
 * the previous call. `from` is 0 for a new chunk, otherwise the previous return value. Returns how
 * many data packets have been encoded, which may be fewer than `ready`, since it encodes several
 * together; k: the repair packets are complete.
 */
uint32_t wh_fec_encode(struct wh_fec *fec, const struct wh_fec_shape *shape, const uint8_t *data,
	uint32_t from, uint32_t ready, uint8_t *repair);

/*
 * `have` has a bit for each of the k + r packets, data first. Recovers as much missing data as
 * possible in place, sets the bits of what it recovered, and returns how many data packets are
 * still missing. Received repair packets may be overwritten; their bits stay set.
 */
uint32_t wh_fec_decode(struct wh_fec *fec, const struct wh_fec_shape *shape, uint8_t *data,
	uint8_t *repair, uint64_t *have);

/*
 * Sets in `ask` the bits of the data packets that are needed to complete the chunk: for rs as many
 * per block as the block lacks, for tornado all missing ones. Returns their number.
 */
uint32_t wh_fec_shortfall(const struct wh_fec_shape *shape, const uint64_t *have, uint64_t *ask);
