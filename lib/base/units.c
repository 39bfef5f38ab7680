/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/assert.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct unit {
	const char *name;
	long double factor;
	bool exact_first; /* distinguishes b from B */
};

static const struct unit rate_prefixes[] = {
	{"K", 1e3L, false},
	{"M", 1e6L, false},
	{"G", 1e9L, false},
	{"T", 1e12L, false},
};

static const struct unit rate_units[] = {
	{"", 1.0L, false},
	{"bit", 1.0L, false},
	{"bit/s", 1.0L, false},
	{"b", 1.0L, true},
	{"b/s", 1.0L, true},
	{"bps", 1.0L, true},
	{"B", 8.0L, true},
	{"B/s", 8.0L, true},
	{"Bps", 8.0L, true},
};

static const struct unit size_units[] = {
	{"", 1.0L, false},
	{"B", 1.0L, false},
	{"K", 0x1p10L, false},
	{"KiB", 0x1p10L, false},
	{"M", 0x1p20L, false},
	{"MiB", 0x1p20L, false},
	{"G", 0x1p30L, false},
	{"GiB", 0x1p30L, false},
	{"T", 0x1p40L, false},
	{"TiB", 0x1p40L, false},
};

static const struct unit time_units[] = {
	{"ns", 1.0L, false},
	{"us", 1e3L, false},
	{"ms", 1e6L, false},
	{"s", 1e9L, false},
	{"m", 60e9L, false},
	{"h", 3600e9L, false},
	{"d", 86400e9L, false},
};

static const struct unit share_units[] = {
	{"", 1.0L, false},
	{"%", 1e-2L, false},
};

static const char *skip_digits(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	return text;
}

/*
 * Parses digits [. digits] [e [sign] digits]; *end is what follows. strtold alone would also accept
 * blanks, signs, hexadecimal, inf and nan. The decimal point is that of the C locale.
 */
static bool parse_number(const char *text, long double *value, const char **end)
{
	const char *p = skip_digits(text);

	if (p == text)
		return false;
	if (*p == '.') {
		const char *fraction = p + 1;

		p = skip_digits(fraction);
		if (p == fraction)
			return false;
	}
	if (tolower((unsigned char)*p) == 'e') {
		const char *exponent = p[1] == '+' || p[1] == '-' ? p + 2 : p + 1;

		if (!isdigit((unsigned char)*exponent))
			return false;
		p = skip_digits(exponent);
	}
	errno = 0;
	*value = strtold(text, NULL);
	if (*value == 0.0L && errno == ERANGE)
		*value = LDBL_MIN; /* not zero, but too small for any quantity */
	*end = p;
	return true;
}

static const struct unit *find_unit(const char *name, const struct unit *units, size_t n_units)
{
	for (size_t i = 0; i < n_units; i++) {
		if (units[i].exact_first && name[0] != units[i].name[0])
			continue;
		if (strcasecmp(name, units[i].name) == 0)
			return &units[i];
	}
	return NULL;
}

static int round_to_u64(long double value, uint64_t *result)
{
	if (value >= 0x1p64L)
		return -ERANGE;

	uint64_t whole = (uint64_t)value;
	bool up = value - (long double)whole >= 0.5L;

	if (whole == 0 && !up && value > 0.0L)
		return -ERANGE;
	if (whole == UINT64_MAX && up)
		return -ERANGE;
	*result = whole + up;
	return 0;
}

int wh_parse_rate(const char *text, uint64_t *result_bps)
{
	long double value;
	const char *rest;

	if (!parse_number(text, &value, &rest))
		return -EINVAL;
	if (*rest != '\0') {
		const char prefix_name[] = {*rest, '\0'};
		const struct unit *prefix =
			find_unit(prefix_name, rate_prefixes, LENGTH(rate_prefixes));

		if (prefix != NULL) {
			value *= prefix->factor;
			rest++;
		}
	}

	const struct unit *unit = find_unit(rest, rate_units, LENGTH(rate_units));

	return unit == NULL ? -EINVAL : round_to_u64(value * unit->factor, result_bps);
}

int wh_parse_size(const char *text, uint64_t *result_bytes)
{
	long double value;
	const char *rest;

	if (!parse_number(text, &value, &rest))
		return -EINVAL;

	const struct unit *unit = find_unit(rest, size_units, LENGTH(size_units));

	return unit == NULL ? -EINVAL : round_to_u64(value * unit->factor, result_bytes);
}

int wh_parse_time(const char *text, uint64_t *result_ns)
{
	long double value;
	const char *rest;

	if (!parse_number(text, &value, &rest))
		return -EINVAL;
	if (value == 0.0L && *rest == '\0') {
		*result_ns = 0;
		return 0;
	}

	const struct unit *unit = find_unit(rest, time_units, LENGTH(time_units));

	return unit == NULL ? -EINVAL : round_to_u64(value * unit->factor, result_ns);
}

static const char *scan(const char *text, uint64_t base, uint64_t *result)
{
	uint64_t value = 0;
	const char *p = text;

	for (; base == 16 ? isxdigit((unsigned char)*p) : isdigit((unsigned char)*p); p++) {
		uint64_t digit = (uint64_t)(isdigit((unsigned char)*p)
						    ? *p - '0'
						    : tolower((unsigned char)*p) - 'a' + 10);

		if (__builtin_mul_overflow(value, base, &value) ||
			__builtin_add_overflow(value, digit, &value))
			return NULL;
	}
	if (p == text)
		return NULL;
	*result = value;
	return p;
}

const char *wh_scan_count(const char *text, uint64_t *result)
{
	return scan(text, 10, result);
}

const char *wh_scan_hex(const char *text, uint64_t *result)
{
	return scan(text, 16, result);
}

int wh_parse_count(const char *text, uint64_t *result)
{
	uint64_t value;

	if (*text == '\0' || *skip_digits(text) != '\0')
		return -EINVAL;
	if (scan(text, 10, &value) == NULL)
		return -ERANGE;
	*result = value;
	return 0;
}

const char *wh_scan_number(const char *text, double *result)
{
	long double value;
	const char *rest;

	if (!parse_number(text, &value, &rest) || value > (long double)DBL_MAX ||
		(value > 0.0L && value < (long double)DBL_MIN))
		return NULL;
	/* Rounds once, so the result equals a compiler's for the same text. */
	*result = strtod(text, NULL);
	return rest;
}

int wh_parse_number(const char *text, double *result)
{
	long double value;
	const char *rest;

	if (!parse_number(text, &value, &rest) || *rest != '\0')
		return -EINVAL;
	return wh_scan_number(text, result) == NULL ? -ERANGE : 0;
}

int wh_parse_share(const char *text, double *result)
{
	long double value;
	const char *rest;

	if (!parse_number(text, &value, &rest))
		return -EINVAL;

	const struct unit *unit = find_unit(rest, share_units, LENGTH(share_units));

	if (unit == NULL)
		return -EINVAL;
	value *= unit->factor;
	if (value > 1.0L || (value > 0.0L && (double)value == 0.0))
		return -ERANGE;
	*result = (double)value;
	return 0;
}

/*
 * Chooses the largest unit in which the value prints as at least 1. So 999.6 kb/s, which would
 * print as "1000 kb/s", becomes "1.00 Mb/s".
 */
static const char *format_scaled(char *text, size_t room, double value, const char *const *names,
	size_t n_names, double step)
{
	WH_ASSERT(room > 0);
	WH_ASSERT(n_names > 0);

	size_t i = 0;

	while (i + 1 < n_names && value >= step - 0.5) {
		value /= step;
		i++;
	}

	int decimals = i == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	snprintf(text, room, "%.*f %s", decimals, value, names[i]);
	return text;
}

const char *wh_format_rate(char *text, size_t room, double rate_bps)
{
	static const char *const names[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "Pb/s", "Eb/s"};

	WH_ASSERT(rate_bps >= 0.0 && rate_bps < 1e21);
	return format_scaled(text, room, rate_bps, names, LENGTH(names), 1e3);
}

const char *wh_format_size(char *text, size_t room, uint64_t bytes)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	return format_scaled(text, room, (double)bytes, names, LENGTH(names), 0x1p10);
}

const char *wh_format_time(char *text, size_t room, uint64_t span_ns)
{
	static const char *const names[] = {"ns", "us", "ms", "s"};

	return format_scaled(text, room, (double)span_ns, names, LENGTH(names), 1e3);
}
