/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Quantities as operators write and read them.
 *
 *   rate    bits per second, decimal: 10G, 9.5Gbit, 800Mbps, 1500000; bytes with B: 1.2GB/s
 *   size    bytes, binary: 4096, 64K, 1.5G, 1GiB, 512MiB; 1GB is rejected (decimal or binary?)
 *   time    100ms, 1.5s, 20us, 15m, 2h, 7d; a bare number is rejected (which unit?), except 0
 *   share   a probability: 0.01%, 1e-4, 0.5; from 0 to 1
 *   count   a whole number: 32
 *   number  any: 1.5e-6
 *
 * Numbers are decimal, without sign or blanks, optionally with a point or an exponent. Integers are
 * rounded to the nearest.
 *
 * Parsers take the whole string: 0, or -EINVAL (not such a quantity) or -ERANGE (too large, or so
 * small that it would become 0); *result is written on success only. Letters are case-insensitive
 * except that b/B (bit, byte) differ in rates.
 */

#include <stddef.h>
#include <stdint.h>

int wh_parse_rate(const char *text, uint64_t *result_bps);
int wh_parse_size(const char *text, uint64_t *result_bytes);
int wh_parse_time(const char *text, uint64_t *result_ns);
int wh_parse_share(const char *text, double *result);
int wh_parse_count(const char *text, uint64_t *result); /* digits only */
int wh_parse_number(const char *text, double *result);

/* Parse the digits that `text` begins with and return the end; NULL: none, or too many. */
const char *wh_scan_count(const char *text, uint64_t *result);
const char *wh_scan_hex(const char *text, uint64_t *result);

/* The same for a number; NULL also when it is too large, or so small that it would become 0. */
const char *wh_scan_number(const char *text, double *result);

/*
 * Write into `text` (WH_UNITS_MAX bytes suffice) and return it: three significant digits, or a
 * whole number of the smallest unit. A rate is from 0 to less than 10^21 b/s.
 */
#define WH_UNITS_MAX 32
const char *wh_format_rate(char *text, size_t room, double rate_bps);  /* "9.84 Gb/s" */
const char *wh_format_size(char *text, size_t room, uint64_t bytes);   /* "1.00 GiB" */
const char *wh_format_time(char *text, size_t room, uint64_t span_ns); /* "100 ms" */
