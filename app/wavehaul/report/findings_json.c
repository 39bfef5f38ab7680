/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "report/probe_tell.h"

/*
 * Every number of the findings, in one table: for writing, and for reading, where limits are
 * checked.
 */
enum finding_kind {
	U32,
	U64,
	REAL,
	TRUTH,
};

struct member {
	const char *key;
	size_t offset;
	enum finding_kind kind;
	double most; /* the largest valid value */
};

#define AT(key, member, kind, most)                                                                \
	{                                                                                          \
		key, offsetof(struct wh_findings, member), kind, most                              \
	}

#define PKTS_MAX  4294967295.0
#define NS_MAX    1e12
#define BPS_MAX   1e14
#define BYTES_MAX 1e15

static const struct member members[] = {
	AT("echoes_sent", echoes_sent, U32, PKTS_MAX),
	AT("echoes_heard", echoes_heard, U32, PKTS_MAX),
	AT("echoes_got", echoes_got, U32, PKTS_MAX),
	AT("rtt_min_ns", rtt_min_ns, U64, NS_MAX),
	AT("rtt_p50_ns", rtt_p50_ns, U64, NS_MAX),
	AT("rtt_p99_ns", rtt_p99_ns, U64, NS_MAX),
	AT("mtu_bytes", mtu_bytes, U32, 65535),
	AT("pairs", pairs, U32, PKTS_MAX),
	AT("capacity_by_pairs_bps", pairs_bps, REAL, BPS_MAX),
	AT("capacity_bps", trains_bps, REAL, BPS_MAX),
	AT("line_bps", line_bps, REAL, BPS_MAX),
	AT("burst_pkts", burst_pkts, U32, WH_PROBE_PKTS_MAX),
	AT("burst_spread_pkts", burst_spread_pkts, U32, WH_PROBE_PKTS_MAX),
	AT("burst_verified", burst_verified, TRUTH, 1),
	AT("wire_bytes", wire_bytes, U32, 65535),
	AT("lost_share_behind", lost_share, REAL, 1),
	AT("lost_share_expected", lost_share_expected, REAL, 1),
	AT("lost_runs", lost_runs, U32, WH_PROBE_PKTS_MAX),
	AT("longest_run_lost", longest_run, U32, WH_PROBE_PKTS_MAX),
	AT("memory_bytes", memory_bytes, REAL, BYTES_MAX),
	AT("forbidden", forbidden, TRUTH, 1),
	AT("forbidden_low_bps", forbidden_low_bps, REAL, BPS_MAX),
	AT("forbidden_high_bps", forbidden_high_bps, REAL, BPS_MAX),
	AT("initial_bps", initial_bps, REAL, BPS_MAX),
	AT("wanted_bytes", wanted_bytes, REAL, BYTES_MAX),
	AT("steady_sent", steady_sent, U32, PKTS_MAX),
	AT("steady_lost", steady_lost, U32, PKTS_MAX),
	AT("steady_bps", steady_bps, REAL, BPS_MAX),
	AT("trains", trains, U32, PKTS_MAX),
	AT("arrived_pkts", trains_arrived_pkts, U64, BYTES_MAX),
	AT("overtaken_pkts", overtaken_pkts, U64, BYTES_MAX),
	AT("overtaken_by", overtaken_by, U32, WH_PROBE_PKTS_MAX),
	AT("duplicate_pkts", duplicate_pkts, U64, BYTES_MAX),
	AT("sent_pkts", sent_pkts, U64, BYTES_MAX),
	AT("sent_bytes", sent_bytes, U64, BYTES_MAX),
	AT("elapsed_ns", elapsed_ns, U64, NS_MAX),
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static const char *const ends[] = {
	[WH_BURST_UNKNOWN] = "unknown",
	[WH_BURST_OVERFLOW] = "overflow",
	[WH_BURST_LONGEST] = "longest",
};

static double number_of(const struct member *member, const uint8_t *at)
{
	switch (member->kind) {
	case U32:
		return *(const uint32_t *)at;
	case U64:
		return (double)*(const uint64_t *)at;
	case REAL:
		return *(const double *)at;
	default:
		return *(const bool *)at;
	}
}

/* A peer's lies may be beyond the limits, and what is written must be read again. NaN becomes 0. */
static json_t *member_json(const struct member *member, const uint8_t *at)
{
	double number = number_of(member, at);

	number = number > 0.0 ? fmin(number, member->most) : 0.0;
	if (member->kind == TRUTH)
		return json_boolean(number > 0.0);
	return member->kind == REAL ? json_real(number) : json_integer((json_int_t)number);
}

json_t *wh_findings_to_json(const struct wh_findings *found)
{
	json_t *object = json_object();

	for (size_t i = 0; i < MEMBERS; i++)
		json_object_set_new(object, members[i].key,
			member_json(&members[i], (const uint8_t *)found + members[i].offset));
	json_object_set_new(object, "burst_end", json_string(ends[found->burst_end]));
	return object;
}

static bool read_member(const json_t *value, const struct member *member, uint8_t *at)
{
	if (member->kind == TRUTH) {
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value);
	}
	if (!json_is_number(value))
		return false;

	double number = json_number_value(value);

	if (!(number >= 0 && number <= member->most))
		return false;
	if (member->kind == REAL)
		*(double *)at = number;
	else if (member->kind == U32)
		*(uint32_t *)at = (uint32_t)number;
	else
		*(uint64_t *)at = (uint64_t)number;
	return true;
}

bool wh_findings_from_json(const json_t *object, struct wh_findings *found)
{
	const char *end = json_string_value(json_object_get(object, "burst_end"));

	*found = (struct wh_findings){0};
	for (size_t i = 0; i < MEMBERS; i++)
		if (!read_member(json_object_get(object, members[i].key), &members[i],
			    (uint8_t *)found + members[i].offset))
			return false;
	for (size_t i = 0; end != NULL && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(end, ends[i]) == 0) {
			found->burst_end = (enum wh_burst_end)i;
			return true;
		}
	return false;
}
