/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/rs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l.h>

#include "base/assert.h"

#define GROUP     255 /* order of the multiplicative group */
#define GENERATOR 2   /* of that group, with ISA-L's polynomial */

static_assert(WH_RS_PACKETS_MAX <= GROUP, "every packet has a point of its own");
static_assert(WH_RS_EXP > 3 * GROUP, "a coefficient is made of three logarithms");

static uint8_t x_of(uint32_t repair)
{
	return (uint8_t)(255 - repair);
}

static uint8_t y_of(uint32_t data)
{
	return (uint8_t)data;
}

static void fill_logarithms(struct wh_rs *rs)
{
	uint8_t power = 1;

	for (uint32_t i = 0; i < WH_RS_EXP; i++) {
		rs->exp[i] = power;
		if (i < GROUP)
			rs->log[power] = (uint8_t)i;
		power = gf_mul(power, GENERATOR);
	}
	WH_ASSERT(rs->exp[GROUP] == 1);
}

/* ISA-L stores the tables of a matrix contiguously, so they can be composed of single ones. */
static void fill_times(struct wh_rs *rs)
{
	uint8_t coefficients[256];
	uint8_t one[WH_RS_TABLE_BYTES];

	for (uint32_t c = 0; c < 256; c++)
		coefficients[c] = (uint8_t)c;
	ec_init_tables(256, 1, coefficients, rs->times[0]);
	for (uint32_t c = 0; c < 256; c++) {
		ec_init_tables(1, 1, &coefficients[c], one);
		WH_ASSERT(memcmp(one, rs->times[c], sizeof(one)) == 0);
	}
}

static size_t matrix_bytes(uint32_t r_max)
{
	return (size_t)r_max * WH_RS_PACKETS_MAX * WH_RS_TABLE_BYTES;
}

uint64_t wh_rs_bytes(uint32_t r_max)
{
	return (WH_RS_ENCODE_TABLES + 1) * matrix_bytes(r_max) +
	       256 * sizeof(((struct wh_rs *)NULL)->times[0]);
}

int wh_rs_init(struct wh_rs *rs, uint32_t r_max)
{
	bool all = true;

	WH_ASSERT(r_max >= 1 && r_max < WH_RS_PACKETS_MAX);

	memset(rs, 0, sizeof(*rs));
	rs->rows_max = r_max;
	rs->times = aligned_alloc(WH_RS_TABLE_BYTES, sizeof(rs->times[0]) * 256);
	rs->decode_gf = aligned_alloc(WH_RS_TABLE_BYTES, matrix_bytes(r_max));
	for (uint32_t i = 0; i < WH_RS_ENCODE_TABLES; i++) {
		rs->encode[i].gf = aligned_alloc(WH_RS_TABLE_BYTES, matrix_bytes(r_max));
		all = all && rs->encode[i].gf != NULL;
	}
	if (!all || rs->times == NULL || rs->decode_gf == NULL) {
		wh_rs_free(rs);
		return -ENOMEM;
	}
	fill_logarithms(rs);
	fill_times(rs);
	return 0;
}

void wh_rs_free(struct wh_rs *rs)
{
	for (uint32_t i = 0; i < WH_RS_ENCODE_TABLES; i++)
		free(rs->encode[i].gf);
	free(rs->times);
	free(rs->decode_gf);
	memset(rs, 0, sizeof(*rs));
}

/* 2 to the power of a sum of logarithms. */
static uint8_t power(const struct wh_rs *rs, uint32_t logarithm)
{
	WH_DEBUG_ASSERT(logarithm < WH_RS_EXP);
	return rs->exp[logarithm];
}

static uint8_t coefficient(const struct wh_rs *rs, uint32_t repair, uint32_t data)
{
	WH_DEBUG_ASSERT(x_of(repair) != y_of(data));
	return power(rs, GROUP - rs->log[x_of(repair) ^ y_of(data)]);
}

static void put_table(const struct wh_rs *rs, uint8_t *gf, uint8_t factor)
{
	memcpy(gf, rs->times[factor], WH_RS_TABLE_BYTES);
}

/* The tables of all coefficients of a block, cached or computed now. */
static uint8_t *encode_tables(struct wh_rs *rs, uint32_t k, uint32_t r)
{
	struct wh_rs_table *oldest = &rs->encode[0];

	rs->calls++;
	for (uint32_t i = 0; i < WH_RS_ENCODE_TABLES; i++) {
		struct wh_rs_table *table = &rs->encode[i];

		if (table->k == k && table->r == r) {
			table->used = rs->calls;
			return table->gf;
		}
		if (table->used < oldest->used)
			oldest = table;
	}
	oldest->k = k;
	oldest->r = r;
	oldest->used = rs->calls;
	WH_ASSERT((size_t)r * k <= matrix_bytes(rs->rows_max) / WH_RS_TABLE_BYTES);
	for (uint32_t i = 0; i < r; i++)
		for (uint32_t j = 0; j < k; j++)
			put_table(rs, oldest->gf + (size_t)(i * k + j) * WH_RS_TABLE_BYTES,
				coefficient(rs, i, j));
	return oldest->gf;
}

void wh_rs_encode(struct wh_rs *rs, uint32_t k, uint32_t r, uint32_t bytes, uint32_t first,
	uint32_t end, uint8_t *const *data, uint8_t *const *repair)
{
	WH_ASSERT(k >= 1 && r >= 1 && r <= rs->rows_max && k + r <= WH_RS_PACKETS_MAX);
	WH_ASSERT(first < end && end <= k);

	uint8_t *sources[WH_RS_PACKETS_MAX];
	uint8_t *results[WH_RS_PACKETS_MAX];
	uint8_t *gf = encode_tables(rs, k, r);

	memcpy(sources, data, (end - first) * sizeof(sources[0]));
	memcpy(results, repair, r * sizeof(results[0]));
	if (first == 0 && end == k) {
		ec_encode_data((int)bytes, (int)k, (int)r, gf, sources, results);
		return;
	}
	for (uint32_t i = 0; first == 0 && i < r; i++)
		memset(results[i], 0, bytes);
	for (uint32_t j = first; j < end; j++)
		ec_encode_data_update(
			(int)bytes, (int)k, (int)r, (int)j, gf, sources[j - first], results);
}

/*
 * Decoding inverts a square part of the Cauchy matrix, whose inverse has a closed form; so has its
 * product with the other columns. With X the x of the repair packets used and Y the y of the
 * missing data packets, missing packet m is the sum of
 *
 *   data packet j    times  f(m) g(j) / (y_m + y_j)    g(j) = prod_Y (y_j + y) / prod_X (y_j + x)
 *   repair packet i  times  f(m) h(i) / (y_m + x_i)    h(i) = prod_Y (x_i + y) / prod_X' (x_i + x)
 *
 * with f(m) = prod_X (y_m + x) / prod_Y' (y_m + y), where X' and Y' are without the point itself.
 * So g, h and 1/f are one function of a point, which this returns as a logarithm, modulo 255.
 */
static uint32_t log_ratio(const struct wh_rs *rs, uint8_t point, const uint8_t *missing,
	const uint8_t *with, uint32_t count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t to_y = point ^ y_of(missing[i]);
		uint8_t to_x = point ^ x_of(with[i]);

		if (to_y != 0)
			sum += rs->log[to_y];
		if (to_x != 0)
			sum += GROUP - rs->log[to_x];
	}
	return sum % GROUP;
}

void wh_rs_decode(struct wh_rs *rs, uint32_t k, uint32_t bytes, const uint8_t *missing,
	const uint8_t *with, uint32_t count, uint8_t *const *data, uint8_t *const *repair,
	uint8_t *const *out)
{
	WH_ASSERT(count >= 1 && count <= k && count <= rs->rows_max);

	uint8_t *sources[WH_RS_PACKETS_MAX];
	uint8_t *results[WH_RS_PACKETS_MAX];
	uint8_t point[WH_RS_PACKETS_MAX];
	uint8_t *gf = rs->decode_gf;
	uint32_t ratio[WH_RS_PACKETS_MAX];
	uint32_t lost = 0;

	/* A repair packet takes the place of each missing packet among the sources. */
	for (uint32_t j = 0; j < k; j++) {
		bool is_missing = lost < count && missing[lost] == j;

		WH_DEBUG_ASSERT(!is_missing || k + with[lost] < WH_RS_PACKETS_MAX);
		sources[j] = is_missing ? repair[with[lost]] : data[j];
		point[j] = is_missing ? x_of(with[lost]) : y_of(j);
		ratio[j] = log_ratio(rs, point[j], missing, with, count);
		lost += is_missing;
	}
	WH_ASSERT(lost == count);
	for (uint32_t m = 0; m < count; m++) {
		uint8_t y = y_of(missing[m]);
		uint32_t f = GROUP - log_ratio(rs, y, missing, with, count);

		results[m] = out[m];
		for (uint32_t j = 0; j < k; j++, gf += WH_RS_TABLE_BYTES)
			put_table(rs, gf, power(rs, f + ratio[j] + GROUP - rs->log[y ^ point[j]]));
	}
	ec_encode_data((int)bytes, (int)k, (int)count, rs->decode_gf, sources, results);
}
