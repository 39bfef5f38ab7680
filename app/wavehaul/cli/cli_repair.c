/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/cli_repair.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "fec/fec.h"

/* The largest k of a block with as many repair packets as data packets: r <= k, k + r <= 255. */
#define HALF_BLOCK_PKTS (WH_FEC_RS_PACKETS_MAX / 2)

void wh_repair_options_init(struct wh_repair_options *options)
{
	*options = (struct wh_repair_options){
		.target = strtod(WH_REPAIR_TARGET_STANDARD, NULL),
	};
}

void wh_repair_settle(struct wh_repair_options *options, const struct wh_profile *profile)
{
	struct wh_repair_config standard;

	wh_repair_config_init(&standard, profile);
	if (!options->told)
		options->on = standard.recovery != WH_RECOVERY_NAK;
	if (options->code == WH_FEC_NONE)
		options->code = standard.code;
	if (options->ceiling == 0)
		options->ceiling = fmin(standard.planner.ceiling, WH_REPAIR_CEILING_MAX);
	WH_ASSERT(options->code < WH_FEC_CODES);
	WH_ASSERT(options->ceiling > 0);
}

const char *wh_repair_wrong(const struct wh_repair_options *options)
{
	if (options->strict && !options->on)
		return "--strict-paper needs repair packets; add --fec auto, or leave out "
		       "--strict-paper";
	return NULL;
}

bool wh_repair_possible(uint32_t code, uint32_t k, uint32_t r)
{
	if (code == WH_FEC_NONE)
		return k == 0 && r == 0;
	return code < WH_FEC_CODES && (k == 0) == (r == 0) && r <= k &&
	       k + r <= WH_FEC_RS_PACKETS_MAX;
}

/* "K,R" */
static bool parse_block(const char *text, uint8_t *k, uint8_t *r)
{
	uint64_t data = 0;
	uint64_t repair = 0;
	const char *rest = wh_scan_count(text, &data);

	if (rest == NULL || *rest != ',' || wh_parse_count(rest + 1, &repair) != 0)
		return false;
	if (data < 1 || data > UINT8_MAX || repair < 1 || repair > UINT8_MAX)
		return false;
	*k = (uint8_t)data;
	*r = (uint8_t)repair;
	return true;
}

bool wh_repair_parse(const char *text, struct wh_repair_options *options)
{
	uint8_t k = 0;
	uint8_t r = 0;
	bool off = strcmp(text, "off") == 0;

	if (!off && strcmp(text, "auto") != 0 && !parse_block(text, &k, &r))
		return false;
	if (!wh_repair_possible(WH_FEC_RS, k, r))
		return false;
	options->told = true;
	options->on = !off;
	options->k = k;
	options->r = r;
	return true;
}

const char *wh_repair_text(const struct wh_repair_options *options, char text[WH_REPAIR_TEXT_BYTES])
{
	if (!options->on)
		return "off";
	if (options->r == 0)
		return "auto";
	snprintf(text, WH_REPAIR_TEXT_BYTES, "%u,%u", options->k, options->r);
	return text;
}

enum wh_fec_code wh_repair_code(const char *name)
{
	for (uint32_t code = WH_FEC_NONE + 1; code < WH_FEC_CODES; code++)
		if (strcmp(name, wh_fec_code_name((enum wh_fec_code)code)) == 0)
			return (enum wh_fec_code)code;
	return WH_FEC_NONE;
}

static uint32_t round_up_div(uint32_t value, uint32_t divisor)
{
	return value / divisor + (value % divisor != 0);
}

static uint32_t chunk_pkts(const struct wh_session_config *config)
{
	return round_up_div(config->chunk_bytes, config->payload_bytes);
}

uint32_t wh_repair_most_pkts(uint32_t k, uint32_t r, double ceiling, uint32_t data_pkts)
{
	WH_ASSERT((k == 0) == (r == 0) && ceiling < 1.0);
	return r > 0 ? round_up_div(data_pkts, k) * r
		     : (uint32_t)ceil(ceiling / (1.0 - ceiling) * data_pkts);
}

void wh_repair_configure(const struct wh_repair_options *options, struct wh_session_config *config)
{
	struct wh_repair_config *repair = &config->repair;

	if (!options->on)
		return;
	WH_ASSERT(config->chunk_bytes > 0 && config->payload_bytes > 0);
	WH_ASSERT(wh_repair_possible(options->code, options->k, options->r));
	WH_ASSERT(options->code != WH_FEC_NONE);
	WH_ASSERT(options->ceiling >= WH_REPAIR_CEILING_MIN);
	WH_ASSERT(options->ceiling <= WH_REPAIR_CEILING_MAX);
	*repair = (struct wh_repair_config){
		.recovery = options->strict ? WH_RECOVERY_FEC : WH_RECOVERY_HYBRID,
		.repair_pkts = wh_repair_most_pkts(
			options->k, options->r, options->ceiling, chunk_pkts(config)),
		.code = options->code,
		.fixed_k = options->k,
		.fixed_r = options->r,
	};
	wh_fec_planner_config_init(&repair->planner, options->code);
	repair->planner.target = options->target;
	repair->planner.ceiling = options->ceiling;
	repair->planner.r_max = repair->repair_pkts;
	WH_ASSERT(repair->repair_pkts > 0); /* enabled without repair packets would mean disabled */
}

void wh_repair_follow(const struct wh_open_params *params, struct wh_session_config *config)
{
	config->repair = (struct wh_repair_config){
		.recovery = (enum wh_recovery)params->recovery,
		.repair_pkts = params->repair_pkts,
	};
}

struct wh_fec_limits wh_repair_limits(
	uint32_t chunk_bytes, uint32_t payload_bytes_min, uint32_t payload_bytes_max)
{
	uint32_t k = round_up_div(chunk_bytes, payload_bytes_min);

	WH_ASSERT(payload_bytes_min <= payload_bytes_max);
	/* r <= k in each block, the last of which may have few data packets. */
	return (struct wh_fec_limits){
		.k = k,
		.r = k + HALF_BLOCK_PKTS,
		.symbol_bytes = payload_bytes_max,
	};
}

bool wh_repair_fits(const struct wh_open_params *params, const struct wh_fec_limits *limits)
{
	return round_up_div(params->chunk_bytes, params->payload_bytes) <= limits->k &&
	       params->repair_pkts <= limits->r && params->payload_bytes <= limits->symbol_bytes;
}

double wh_repair_overhead(const struct wh_session_stats *stats)
{
	/* sent_pkts includes repair packets, received_pkts does not. */
	uint64_t data_pkts =
		stats->sent_pkts > 0 ? stats->sent_pkts - stats->repair_pkts : stats->received_pkts;

	return data_pkts > 0 ? (double)stats->repair_pkts / (double)data_pkts : 0;
}

json_t *wh_repair_json(const struct wh_session_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:f}", "sent", (json_int_t)stats->repair_pkts, "used",
		(json_int_t)stats->repaired_pkts, "undecodable_blocks",
		(json_int_t)stats->undecodable_blocks, "overhead", wh_repair_overhead(stats));
}

void wh_repair_print(const struct wh_session_stats *stats)
{
	printf("repair: %" PRIu64 " packets, %.2f for 100 of data; brought back %" PRIu64
	       ", too few in %" PRIu64 " blocks\n",
		stats->repair_pkts, 100 * wh_repair_overhead(stats), stats->repaired_pkts,
		stats->undecodable_blocks);
}
