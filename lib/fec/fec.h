/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FEC_FEC_H
#define WH_FEC_FEC_H

/*
 * Repair packets of a chunk: k data packets in, r repair packets out, such that about any k of the
 * k + r bring the data back. One interface, two codes:
 *
 *   rs       systematic Cauchy Reed-Solomon over GF(2^8): any k of k + r do, exactly. Of k + r <=
 *            255 only, so that a chunk is `blocks` of them, interleaved: packet i belongs to block
 *            i % blocks, data and repair each counted from 0, and a burst of losses is spread.
 *   tornado  XOR over sparse random graphs in cascade (ttp.txt II A): the whole chunk is one code,
 *            cheap for any k, and takes a few packets more than k.
 *
 * Data lies where it always lies: packet i at i * symbol_bytes of the chunk, the last one shorter.
 * The code sees it filled up with zeros. Repair packets are symbol_bytes long, one after the other.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/packet.h"

const char *wh_fec_code_name(enum wh_fec_code code);

#define WH_FEC_RS_PACKETS_MAX 255 /* k + r of one block */
#define WH_FEC_ALIGN          32  /* of packets: a full vector */

/*
 * What both ends must agree on; the receiver has it from the wire. symbol_bytes 0 is a chunk
 * without bytes: who is here is decided as ever, and nothing is computed.
 */
struct wh_fec_shape {
	enum wh_fec_code code;
	uint32_t k;
	uint32_t r;
	uint32_t blocks; /* rs: at most as many as k and as r; tornado: 1 */
	uint32_t symbol_bytes;
	uint32_t last_bytes; /* of the last data packet */
};

/* What a worker may be asked for. */
struct wh_fec_limits {
	uint32_t k;
	uint32_t r;
	uint32_t symbol_bytes;
};

/* Whether it is a shape at all, and within the limits: shapes are hostile until then. */
bool wh_fec_shape_ok(const struct wh_fec_shape *shape, const struct wh_fec_limits *limits);

/* Tables and scratch memory of one core; the latest shapes are remembered. NULL: no memory. */
struct wh_fec;

struct wh_fec *wh_fec_create(const struct wh_fec_limits *limits);
void wh_fec_destroy(struct wh_fec *fec); /* NULL is allowed */

/* What create takes, to the byte that malloc is asked for. */
uint64_t wh_fec_bytes(const struct wh_fec_limits *limits);

/*
 * Encodes a chunk as it comes in: `ready` of its data packets are there, no fewer than at the call
 * before; begins anew with `from` 0. Returns up to where it has come, to be passed as `from` the
 * next time: k when repair holds all. It takes what it may in larger portions than a packet.
 */
uint32_t wh_fec_encode(struct wh_fec *fec, const struct wh_fec_shape *shape, const uint8_t *data,
	uint32_t from, uint32_t ready, uint8_t *repair);

/*
 * `have` has a bit for each of the k + r packets, data first. Recovers missing data in place as far
 * as that goes, sets its bits, and returns how many data packets are still missing. Repair packets
 * that are here may be overwritten (and keep their bits).
 */
uint32_t wh_fec_decode(struct wh_fec *fec, const struct wh_fec_shape *shape, uint8_t *data,
	uint8_t *repair, uint64_t *have);

/*
 * Sets in `ask` the bits of data packets whose arrival will complete the chunk, and no more of them
 * than are needed: of each rs block as many as it lacks; of tornado all that are missing. Returns
 * how many there are.
 */
uint32_t wh_fec_shortfall(const struct wh_fec_shape *shape, const uint64_t *have, uint64_t *ask);

#endif
