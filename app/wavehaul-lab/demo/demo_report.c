/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/demo_report.h"

#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

#include "base/units.h"
#include "cli/json.h"
#include "file/digest.h"
#include "host/eal.h"
#include "report/flow_now.h"
#include "report/seal_told.h"

/* Delivered by the line but not received, as by a NIC that runs out of descriptors. */
static uint64_t dropped_at_receiver(const struct wh_demo_result *result)
{
	return result->forward_emulator.dropped_pkts[WH_EMULATOR_DROP_RING_FULL] +
	       result->forward_emulator.dropped_pkts[WH_EMULATOR_DROP_NO_MBUF];
}

static double goodput_bps(const struct wh_demo_result *result)
{
	return result->verified && result->seconds > 0 ? (double)result->bytes * 8 / result->seconds
						       : 0;
}

static void __attribute__((format(printf, 2, 3))) row(const char *name, const char *format, ...)
{
	va_list args;

	printf("  %-16s", name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static void print_packet_rows(const struct wh_demo_result *result)
{
	row("seal", "%s",
		result->sealed.cipher != 0 ? wh_cipher_name(result->sealed.cipher) : "none");
	row("packets",
		"%" PRIu64 " sent, of them %" PRIu64 " retransmitted; %" PRIu64
		" duplicates, %" PRIu64 " bad",
		result->sender.stats.sent_pkts, result->sender.stats.retransmitted_pkts,
		wh_session_retransmitted_in_pkts(&result->receiver), result->bad_pkts);
	if (result->options->settings.repair.on)
		row("repair",
			"%" PRIu64 " packets, %.2f for 100 of data; brought back %" PRIu64
			", too few in %" PRIu64 " blocks",
			result->sender.stats.repair_pkts,
			100 * wh_repair_overhead(&result->sender.stats),
			result->receiver.repaired_pkts, result->receiver.undecodable_blocks);
	row("lost on the way",
		"%" PRIu64 " (loss %" PRIu64 ", queue %" PRIu64 ", outage %" PRIu64
		", bit errors %" PRIu64 "), %" PRIu64 " corrupted, %" PRIu64 " overtaken",
		wh_netem_dropped_pkts(&result->forward),
		result->forward.dropped_pkts[WH_NETEM_DROP_LOSS],
		result->forward.dropped_pkts[WH_NETEM_DROP_QUEUE],
		result->forward.dropped_pkts[WH_NETEM_DROP_OUTAGE],
		result->forward.dropped_pkts[WH_NETEM_DROP_BIT_ERROR],
		result->forward.corrupted_pkts, result->forward.reordered_pkts);
	if (dropped_at_receiver(result) > 0)
		row("lost at the end", "%" PRIu64 ": this machine did not take them fast enough",
			dropped_at_receiver(result));
}

void wh_demo_print_table(const struct wh_demo_result *result)
{
	const struct wh_settings *settings = &result->options->settings;
	static const char *const times[] = {"", "", "2 x ", "3 x ", "4 x "};
	char text[2][WH_UNITS_MAX];
	char digest[2 * WH_DIGEST_BYTES + 1];

	printf("%s\n", result->verified ? "arrived, every byte right" : "not arrived");
	row(settings->ports > 1 ? "links" : "link", "%s%s, RTT %s, MTU %u, loss %g",
		times[settings->ports],
		wh_format_rate(text[0], WH_UNITS_MAX, (double)settings->link.rate_bps),
		wh_format_time(text[1], WH_UNITS_MAX, settings->rtt_ns), settings->mtu_bytes,
		result->options->loss);
	row("file", "%s in %.3f s", wh_format_size(text[0], WH_UNITS_MAX, result->bytes),
		result->seconds);
	if (result->verified)
		row("goodput", "%s, %.1f %% of the %s that %s",
			wh_format_rate(text[0], WH_UNITS_MAX, goodput_bps(result)),
			100 * goodput_bps(result) / (double)result->plan->payload_line_bps,
			wh_format_rate(
				text[1], WH_UNITS_MAX, (double)result->plan->payload_line_bps),
			settings->ports > 1 ? "the lines carry" : "the line carries");
	row("limited by", "%s (profile %s)", wh_limit_name(result->sender.limited_by),
		settings->profile->name);
	print_packet_rows(result);
	row("round trip", "%s measured",
		wh_format_time(text[0], WH_UNITS_MAX, result->sender.rtt_ns));
	row("pacing", "half of the packets at most %s late, 99 %% at most %s",
		wh_format_time(text[0], WH_UNITS_MAX, result->sender.lateness_ns[0]),
		wh_format_time(text[1], WH_UNITS_MAX, result->sender.lateness_ns[1]));
	if (result->digest_known) {
		wh_digest_text(&result->digest, digest);
		row("XXH3-128", "%s", digest);
	}
	row("ran on", "%u lcores, %s of memory%s", result->lcores,
		wh_format_size(text[0], WH_UNITS_MAX, result->memory_bytes),
		result->hugepages ? " in hugepages" : ", no hugepages");
	if (!result->hugepages && !settings->no_huge)
		row("hugepages",
			"all of it would fit into %" PRIu64 " free ones, and be faster: see "
			"`wavehaul doctor`",
			wh_eal_hugepages_for(result->plan->memory.bytes));
}

/* Repair packets sent are counted at the sender, repaired packets at the receiver. */
static json_t *repair_json(const struct wh_demo_result *result)
{
	struct wh_session_stats both = result->sender.stats;

	both.repaired_pkts = result->receiver.repaired_pkts;
	both.undecodable_blocks = result->receiver.undecodable_blocks;
	return wh_repair_json(&both);
}

static json_t *digest_json(const struct wh_demo_result *result)
{
	char digest[2 * WH_DIGEST_BYTES + 1];

	wh_digest_text(&result->digest, digest);
	return json_pack("{s:s, s:o, s:b}", "algorithm", "xxh3-128", "value",
		result->digest_known ? json_string(digest) : json_null(), "verified",
		result->verified);
}

static json_t *packets_json(const struct wh_demo_result *result)
{
	/* clang-format off */
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"sent", (json_int_t)result->sender.stats.sent_pkts,
		"retransmitted", (json_int_t)result->sender.stats.retransmitted_pkts,
		"duplicates", (json_int_t)wh_session_retransmitted_in_pkts(&result->receiver),
		"dropped_by_path", (json_int_t)wh_netem_dropped_pkts(&result->forward),
		"bad", (json_int_t)result->bad_pkts,
		"received", (json_int_t)result->receiver.received_pkts,
		"dropped_at_receiver", (json_int_t)dropped_at_receiver(result),
		"dropped_on_return", (json_int_t)wh_netem_dropped_pkts(&result->reverse),
		"control", (json_int_t)result->sender.stats.control_sent_pkts,
		"control_back", (json_int_t)result->receiver.control_sent_pkts,
		"naks", (json_int_t)result->receiver.naks);
	/* clang-format on */
}

static json_t *netem_json(const struct wh_demo_options *options)
{
	const struct wh_link_model *netem = &options->settings.link;

	/* clang-format off */
	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:f, s:I, s:I}",
		"paths", (json_int_t)options->settings.ports,
		"rate_bps", (json_int_t)netem->rate_bps,
		"ingress_bps", (json_int_t)netem->ingress_bps,
		"rtt_ns", (json_int_t)options->settings.rtt_ns,
		"loss", options->loss,
		"seed", (json_int_t)netem->seed,
		"bit_error", netem->bit_error,
		"queue_bytes", (json_int_t)netem->queue_bytes,
		"queue_packets", (json_int_t)netem->queue_pkts);
	/* clang-format on */
}

static json_t *lateness_json(const struct wh_demo_result *result)
{
	const uint64_t *ns = result->sender.lateness_ns;

	return json_pack("{s:I, s:I, s:I}", "p50", (json_int_t)ns[0], "p99", (json_int_t)ns[1],
		"p999", (json_int_t)ns[2]);
}

void wh_demo_print_json(const struct wh_demo_result *result)
{
	json_t *object = wh_head_json("demo", result->exit_status);

	wh_flow_to_json(
		object, result->bytes, result->bytes, result->verified ? result->seconds : 0);
	/* clang-format off */
	json_t *rest = json_pack(
		"{s:f, s:f, s:f, s:s, s:I, s:o, s:o, s:o, s:o, s:s, s:o, s:I, s:I, s:o, s:I, s:b, "
		"s:I}",
		"seconds", result->seconds,
		"first_sent_s", result->first_sent_s,
		"first_received_s", result->first_received_s,
		"profile", result->options->settings.profile->name,
		"payload_line_bps", (json_int_t)result->plan->payload_line_bps,
		"path", netem_json(result->options),
		"packets", packets_json(result),
		"repair", repair_json(result),
		"digest", digest_json(result),
		"limited_by", wh_limit_name(result->sender.limited_by),
		"waits", wh_limits_json(result->sender.stats.limit_tsc),
		"mtu", (json_int_t)result->options->settings.mtu_bytes,
		"rtt_measured_ns", (json_int_t)result->sender.rtt_ns,
		"lateness_ns", lateness_json(result),
		"memory_bytes", (json_int_t)result->memory_bytes,
		"hugepages", result->hugepages,
		"lcores", (json_int_t)result->lcores);
	/* clang-format on */

	wh_json_add(object, rest);
	json_object_set_new(object, "sealed", wh_seal_json(&result->sealed));
	wh_json_print(object, JSON_COMPACT);
}
