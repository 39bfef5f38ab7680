/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One block of a systematic Cauchy Reed-Solomon code (Bloemer et al., "An XOR-based
 * erasure-resilient coding scheme", 1995, section 4). Repair packet i is the sum over data packets
 * j of j's bytes times 1 / (x_i + y_j), with x_i = 255 - i and y_j = j, all different as long as k
 * + r <= 255. Coefficients do not depend on k and r, so every block is a part of one matrix, and
 * any square part of that matrix can be inverted.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_RS_TABLE_BYTES   32   /* ISA-L's table of one coefficient */
#define WH_RS_PACKETS_MAX   255  /* k + r */
#define WH_RS_EXP           1024 /* powers of 2, up to the largest sum of logarithms */
#define WH_RS_ENCODE_TABLES 4    /* shapes cached: blocks of a chunk differ by one packet */

struct wh_rs_table {
	uint32_t k; /* 0: empty */
	uint32_t r;
	uint32_t used; /* call number of the latest use */
	uint8_t *gf;
};

struct wh_rs {
	uint32_t rows_max; /* of any matrix */
	uint32_t calls;
	uint8_t log[256];
	uint8_t exp[WH_RS_EXP];
	uint8_t (*times)[WH_RS_TABLE_BYTES]; /* ISA-L's table of each coefficient */
	struct wh_rs_table encode[WH_RS_ENCODE_TABLES];
	uint8_t *decode_gf;
};

/* For blocks of up to r_max repair packets. 0 or -ENOMEM. */
int wh_rs_init(struct wh_rs *rs, uint32_t r_max);
void wh_rs_free(struct wh_rs *rs);
uint64_t wh_rs_bytes(uint32_t r_max); /* bytes that wh_rs_init allocates */

/*
 * Adds the data packets [first, end) of a block of k to its r repair packets; first == 0 overwrites
 * them instead. data[j] is packet first + j. One call for all packets is about twice as fast as
 * several.
 */
void wh_rs_encode(struct wh_rs *rs, uint32_t k, uint32_t r, uint32_t bytes, uint32_t first,
	uint32_t end, uint8_t *const *data, uint8_t *const *repair);

/*
 * Recovers the missing data packets of a block of k into out[]. `missing` has their `count`
 * numbers, ascending; `with` has as many numbers of received repair packets; data[j] is packet j
 * (ignored for a missing one).
 */
void wh_rs_decode(struct wh_rs *rs, uint32_t k, uint32_t bytes, const uint8_t *missing,
	const uint8_t *with, uint32_t count, uint8_t *const *data, uint8_t *const *repair,
	uint8_t *const *out);
