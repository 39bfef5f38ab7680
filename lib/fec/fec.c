/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/fec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fec/rs.h"
#include "fec/tornado.h"

static_assert(WH_FEC_RS_PACKETS_MAX == WH_RS_PACKETS_MAX, "a block is one of the code's");

struct wh_fec {
	struct wh_fec_limits limits;
	struct wh_rs rs;
	struct wh_tornado *tornado;
	uint8_t *last; /* the last data packet, padded with zeros */
};

const char *wh_fec_code_name(enum wh_fec_code code)
{
	static const char *const names[WH_FEC_CODES] = {
		[WH_FEC_NONE] = "none",
		[WH_FEC_RS] = "rs",
		[WH_FEC_TORNADO] = "tornado",
	};

	WH_ASSERT(code < WH_FEC_CODES);
	return names[code];
}

static uint32_t round_up_div(uint32_t value, uint32_t divisor)
{
	return value / divisor + (value % divisor != 0);
}

static bool rs_shape_ok(const struct wh_fec_shape *shape)
{
	return shape->blocks >= 1 && shape->blocks <= shape->k && shape->blocks <= shape->r &&
	       round_up_div(shape->k, shape->blocks) + round_up_div(shape->r, shape->blocks) <=
		       WH_FEC_RS_PACKETS_MAX;
}

bool wh_fec_shape_ok(const struct wh_fec_shape *shape, const struct wh_fec_limits *limits)
{
	if (shape->k < 1 || shape->k > limits->k || shape->r < 1 || shape->r > limits->r)
		return false;
	if (shape->symbol_bytes > limits->symbol_bytes || shape->symbol_bytes % WH_FEC_ALIGN != 0 ||
		shape->last_bytes > shape->symbol_bytes)
		return false;
	switch (shape->code) {
	case WH_FEC_RS:
		return rs_shape_ok(shape);
	case WH_FEC_TORNADO:
		return shape->blocks == 1 && wh_tornado_exists(shape->k, shape->r);
	default:
		return false;
	}
}

/* Most repair packets of a Reed-Solomon block. */
static uint32_t rs_r_max(const struct wh_fec_limits *limits)
{
	return limits->r < WH_FEC_RS_PACKETS_MAX - 1 ? limits->r : WH_FEC_RS_PACKETS_MAX - 1;
}

static size_t last_room_bytes(const struct wh_fec_limits *limits)
{
	return (size_t)limits->symbol_bytes + WH_FEC_ALIGN;
}

uint64_t wh_fec_bytes(const struct wh_fec_limits *limits)
{
	return sizeof(struct wh_fec) + wh_rs_bytes(rs_r_max(limits)) + last_room_bytes(limits) +
	       wh_tornado_bytes(limits);
}

struct wh_fec *wh_fec_create(const struct wh_fec_limits *limits)
{
	WH_ASSERT(limits->k >= 1 && limits->r >= 1);
	WH_ASSERT(limits->symbol_bytes % WH_FEC_ALIGN == 0);

	struct wh_fec *fec = calloc(1, sizeof(*fec));

	if (fec == NULL)
		return NULL;
	fec->limits = *limits;
	if (wh_rs_init(&fec->rs, rs_r_max(limits)) < 0) {
		free(fec);
		return NULL;
	}
	fec->last = aligned_alloc(WH_FEC_ALIGN, last_room_bytes(limits));
	fec->tornado = wh_tornado_create(limits, &fec->rs);
	if (fec->last == NULL || fec->tornado == NULL) {
		wh_fec_destroy(fec);
		return NULL;
	}
	return fec;
}

void wh_fec_destroy(struct wh_fec *fec)
{
	if (fec == NULL)
		return;
	wh_tornado_destroy(fec->tornado);
	wh_rs_free(&fec->rs);
	free(fec->last);
	free(fec);
}

static bool has(const uint64_t *have, uint32_t packet)
{
	return have[packet / 64] >> packet % 64 & 1;
}

static void set(uint64_t *have, uint32_t packet)
{
	have[packet / 64] |= UINT64_C(1) << packet % 64;
}

/* Data packet i; for a short last one, its padded copy. */
static uint8_t *data_packet(
	const struct wh_fec *fec, const struct wh_fec_shape *shape, const uint8_t *data, uint32_t i)
{
	WH_DEBUG_ASSERT(i < shape->k);
	if (i + 1 == shape->k && shape->last_bytes < shape->symbol_bytes)
		return fec->last;
	return (uint8_t *)(uintptr_t)data + (size_t)i * shape->symbol_bytes;
}

static void fill_up_last(struct wh_fec *fec, const struct wh_fec_shape *shape, const uint8_t *data)
{
	WH_ASSERT(shape->last_bytes <= shape->symbol_bytes);
	WH_ASSERT(shape->symbol_bytes <= fec->limits.symbol_bytes);
	memcpy(fec->last, data + (size_t)(shape->k - 1) * shape->symbol_bytes, shape->last_bytes);
	memset(fec->last + shape->last_bytes, 0, shape->symbol_bytes - shape->last_bytes);
}

/* How many of `count` packets belong to `block` when dealt round-robin. */
static uint32_t share(uint32_t count, uint32_t blocks, uint32_t block)
{
	WH_DEBUG_ASSERT(block < blocks);
	return count / blocks + (block < count % blocks);
}

static void rs_encode(struct wh_fec *fec, const struct wh_fec_shape *shape, const uint8_t *data,
	uint32_t from, uint32_t end, uint8_t *repair)
{
	uint8_t *sources[WH_FEC_RS_PACKETS_MAX];
	uint8_t *results[WH_FEC_RS_PACKETS_MAX];

	for (uint32_t b = 0; b < shape->blocks; b++) {
		uint32_t first_row = share(from, shape->blocks, b);
		uint32_t end_row = share(end, shape->blocks, b);
		uint32_t r = share(shape->r, shape->blocks, b);

		WH_ASSERT(share(shape->k, shape->blocks, b) + r <= WH_FEC_RS_PACKETS_MAX);
		if (first_row == end_row)
			continue;
		for (uint32_t row = first_row; row < end_row; row++)
			sources[row - first_row] =
				data_packet(fec, shape, data, row * shape->blocks + b);
		for (uint32_t row = 0; row < r; row++)
			results[row] =
				repair + (size_t)(row * shape->blocks + b) * shape->symbol_bytes;
		wh_rs_encode(&fec->rs, share(shape->k, shape->blocks, b), r, shape->symbol_bytes,
			first_row, end_row, sources, results);
	}
}

uint32_t wh_fec_encode(struct wh_fec *fec, const struct wh_fec_shape *shape, const uint8_t *data,
	uint32_t from, uint32_t ready, uint8_t *repair)
{
	WH_ASSERT(wh_fec_shape_ok(shape, &fec->limits));
	WH_ASSERT(from <= ready && ready <= shape->k);

	if (from == shape->k || shape->symbol_bytes == 0)
		return ready;
	if (ready == shape->k)
		fill_up_last(fec, shape, data);
	if (shape->code == WH_FEC_RS) {
		rs_encode(fec, shape, data, from, ready, repair);
		return ready;
	}
	return wh_tornado_encode(fec->tornado, shape, data, fec->last, from, ready, repair);
}

/* Recovers a block if possible; returns how many of its data packets are still missing. */
static uint32_t rs_decode_block(struct wh_fec *fec, const struct wh_fec_shape *shape, uint32_t b,
	uint8_t *data, uint8_t *repair, uint64_t *have)
{
	uint32_t k = share(shape->k, shape->blocks, b);
	uint32_t r = share(shape->r, shape->blocks, b);
	uint8_t *sources[WH_FEC_RS_PACKETS_MAX];
	uint8_t *repairs[WH_FEC_RS_PACKETS_MAX];
	uint8_t *results[WH_FEC_RS_PACKETS_MAX];
	uint8_t missing[WH_FEC_RS_PACKETS_MAX];
	uint8_t with[WH_FEC_RS_PACKETS_MAX];
	uint32_t lost = 0;
	uint32_t helpers = 0;

	WH_ASSERT(k >= 1 && r >= 1 && k + r <= WH_FEC_RS_PACKETS_MAX);
	for (uint32_t row = 0; row < k; row++) {
		sources[row] = data_packet(fec, shape, data, row * shape->blocks + b);
		if (!has(have, row * shape->blocks + b)) {
			results[lost] = sources[row];
			missing[lost++] = (uint8_t)row;
		}
	}
	for (uint32_t row = 0; row < r; row++) {
		repairs[row] = repair + (size_t)(row * shape->blocks + b) * shape->symbol_bytes;
		if (has(have, shape->k + row * shape->blocks + b))
			with[helpers++] = (uint8_t)row;
	}
	if (lost == 0 || helpers < lost)
		return lost;
	if (shape->symbol_bytes > 0)
		wh_rs_decode(&fec->rs, k, shape->symbol_bytes, missing, with, lost, sources,
			repairs, results);
	for (uint32_t i = 0; i < lost; i++)
		set(have, missing[i] * shape->blocks + b);
	return 0;
}

static uint32_t rs_decode(struct wh_fec *fec, const struct wh_fec_shape *shape, uint8_t *data,
	uint8_t *repair, uint64_t *have)
{
	uint32_t missing = 0;

	for (uint32_t b = 0; b < shape->blocks; b++)
		missing += rs_decode_block(fec, shape, b, data, repair, have);
	return missing;
}

uint32_t wh_fec_decode(struct wh_fec *fec, const struct wh_fec_shape *shape, uint8_t *data,
	uint8_t *repair, uint64_t *have)
{
	WH_ASSERT(wh_fec_shape_ok(shape, &fec->limits));

	bool with_bytes = shape->symbol_bytes > 0;
	bool last_was_here = has(have, shape->k - 1);
	uint32_t missing;

	if (with_bytes && last_was_here)
		fill_up_last(fec, shape, data);
	if (shape->code == WH_FEC_RS)
		missing = rs_decode(fec, shape, data, repair, have);
	else
		missing = wh_tornado_decode(fec->tornado, shape, data, fec->last, repair, have);
	if (with_bytes && !last_was_here && has(have, shape->k - 1) &&
		shape->last_bytes < shape->symbol_bytes)
		memcpy(data + (size_t)(shape->k - 1) * shape->symbol_bytes, fec->last,
			shape->last_bytes);
	WH_ASSERT(missing <= shape->k);
	return missing;
}

/* Sets the bits of at most `most` missing data packets of a block. */
static uint32_t ask_for(const struct wh_fec_shape *shape, uint32_t block, uint32_t most,
	const uint64_t *have, uint64_t *ask)
{
	uint32_t asked = 0;

	for (uint32_t i = block; i < shape->k && asked < most; i += shape->blocks)
		if (!has(have, i)) {
			set(ask, i);
			asked++;
		}
	return asked;
}

uint32_t wh_fec_shortfall(const struct wh_fec_shape *shape, const uint64_t *have, uint64_t *ask)
{
	uint32_t asked = 0;

	if (shape->code != WH_FEC_RS)
		return ask_for(shape, 0, UINT32_MAX, have, ask);
	for (uint32_t b = 0; b < shape->blocks; b++) {
		uint32_t missing = 0;
		uint32_t helpers = 0;

		for (uint32_t i = b; i < shape->k; i += shape->blocks)
			missing += !has(have, i);
		for (uint32_t i = b; i < shape->r; i += shape->blocks)
			helpers += has(have, shape->k + i);
		if (missing > helpers)
			asked += ask_for(shape, b, missing - helpers, have, ask);
	}
	WH_ASSERT(asked <= shape->k);
	return asked;
}
