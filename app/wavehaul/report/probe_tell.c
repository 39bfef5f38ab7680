/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/probe_tell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/complain.h"
#include "report/kept.h"

#define ROOM WH_UNITS_MAX

void wh_probe_announce(const char *host, const struct wh_prober_bounds *bounds)
{
	char bytes[ROOM], time[ROOM];

	wh_say("probing the path to %s: at most %" PRIu64
	       " packets (%s) within %s, in trains of up "
	       "to %u back to back; whoever shares the path may lose packets to them",
		host, bounds->pkts, wh_format_size(bytes, ROOM, bounds->bytes),
		wh_format_time(time, ROOM, bounds->duration_ns), bounds->train_pkts);
}

static void tell_echoes(const struct wh_findings *found)
{
	char least[ROOM], half[ROOM], most[ROOM];

	printf("round trip     %s least, %s p50, %s p99 (%u echoes)\n",
		wh_format_time(least, ROOM, found->rtt_min_ns),
		wh_format_time(half, ROOM, found->rtt_p50_ns),
		wh_format_time(most, ROOM, found->rtt_p99_ns), found->echoes_got);
	printf("MTU            %u bytes get through\n", found->mtu_bytes);
}

static void tell_capacity(const struct wh_findings *found)
{
	char text[ROOM];

	printf("capacity       %s by trains",
		found->trains_bps > 0 ? wh_format_rate(text, ROOM, found->trains_bps)
				      : "not known");
	if (found->line_bps > 0)
		printf(", sent at %s", wh_format_rate(text, ROOM, found->line_bps));
	if (found->pairs_bps > 0)
		printf("; %s by %u pairs\n", wh_format_rate(text, ROOM, found->pairs_bps),
			found->pairs);
	else
		printf("; pairs came at one moment\n");
}

static void tell_pattern(const struct wh_findings *found)
{
	printf("behind it      %.1f %% lost (%.1f %% by the two rates), in %u runs, the longest of "
	       "%u\n",
		100 * found->lost_share, 100 * found->lost_share_expected, found->lost_runs,
		found->longest_run);
	/* lambda-tcp.txt 2: 150 in a row were lost by the receiver, and none by the switch. */
	if (found->longest_run >= 32 && found->lost_share_expected < 0.9)
		printf("               so many in a row are lost by a receiver rather than by a "
		       "switch\n");
}

static void tell_bursts(const struct wh_findings *found)
{
	char bytes[ROOM];
	uint64_t burst_bytes = (uint64_t)found->burst_pkts * found->wire_bytes;

	if (found->burst_end == WH_BURST_UNKNOWN) {
		printf("burst          not known\n");
		return;
	}
	printf("burst          %s%u packets (%s) at line rate come whole%s\n",
		found->burst_end == WH_BURST_LONGEST ? "at least "
		: found->burst_verified              ? ""
						     : "up to ",
		found->burst_pkts, wh_format_size(bytes, ROOM, burst_bytes),
		found->burst_verified ? "" : ", as a rule: a train as long as that lost some");
	if (found->burst_end == WH_BURST_LONGEST)
		return;
	if (found->burst_spread_pkts > 1)
		printf("               three trains ran over within %u packets of each other\n",
			found->burst_spread_pkts);
	tell_pattern(found);
}

static void tell_formulas(const struct wh_findings *found)
{
	char text[ROOM], low[ROOM], high[ROOM];

	if (found->memory_bytes <= 0) {
		printf("memory         not known: nothing ran over\n");
		if (found->burst_end == WH_BURST_LONGEST)
			printf("safe start     %u packets at once; paced %s\n", found->burst_pkts,
				wh_format_rate(high, ROOM, found->trains_bps));
		return;
	}
	printf("memory         %s%s before the place that runs over first, by (1)\n",
		found->burst_verified ? "" : "up to ",
		wh_format_size(text, ROOM, (uint64_t)found->memory_bytes));
	if (found->wanted_bytes > 0)
		printf("               %s would let a flow in slow start reach the capacity, by "
		       "(3)\n",
			wh_format_size(text, ROOM, (uint64_t)found->wanted_bytes));
	if (found->forbidden)
		printf("forbidden      a slow line of %s to %s loses packets of a flow in slow "
		       "start here, by (4)\n",
			wh_format_rate(low, ROOM, found->forbidden_low_bps),
			wh_format_rate(high, ROOM, found->forbidden_high_bps));
	else if (found->initial_bps > 0)
		printf("forbidden      nothing: the round trip is short for that memory, by (4)\n");
	if (found->initial_bps > 0)
		printf("safe start     %u packets at once and %s until answers come, by (2); paced "
		       "%s\n",
			found->burst_pkts, wh_format_rate(low, ROOM, found->initial_bps),
			wh_format_rate(high, ROOM, found->trains_bps));
}

static void tell_losses(const struct wh_findings *found)
{
	char rate[ROOM];

	if (found->steady_sent > 0)
		printf("loss forth     %u of %u at %s; of echoes %u of %u\n", found->steady_lost,
			found->steady_sent, wh_format_rate(rate, ROOM, found->steady_bps),
			found->echoes_sent - found->echoes_heard, found->echoes_sent);
	if (found->echoes_heard >= found->echoes_got)
		printf("loss back      %u of %u\n", found->echoes_heard - found->echoes_got,
			found->echoes_heard);
	printf("order          %" PRIu64 " of %" PRIu64 " overtaken", found->overtaken_pkts,
		found->trains_arrived_pkts);
	if (found->overtaken_pkts > 0)
		printf(", by up to %u packets", found->overtaken_by);
	printf("; %" PRIu64 " came twice\n", found->duplicate_pkts);
}

/* Reports a value that differs from the previous one by more than the measurement error. */
static void tell_change(const char *what, double now, double before, double share,
	const char *(*format)(char *, size_t, double), const char *when)
{
	char was[ROOM];

	if (now > 0 && before > 0 && fabs(now - before) > share * before)
		printf("changed        %s was %s at %s\n", what, format(was, ROOM, before), when);
}

/* Shows what follows from the findings: for the next transfer, and for a plan. */
static void tell_next(const struct wh_findings *found)
{
	const struct wh_known_path path = wh_kept_path_of(found);
	double steady_loss =
		found->steady_sent > 0 ? (double)found->steady_lost / found->steady_sent : 0;
	char rate[ROOM];

	if (path.capacity_bps == 0 || found->wire_bytes == 0)
		return;
	printf("next time      lambda takes %s for the capacity if its own first packets tell "
	       "none\n",
		wh_format_rate(rate, ROOM, (double)path.capacity_bps));
	printf("               what it, BBR and CUBIC would reach: wavehaul plan --rate %.4gM "
	       "--rtt "
	       "%.6gms",
		(double)path.capacity_bps * found->mtu_bytes / found->wire_bytes / 1e6,
		(double)path.rtt_ns / 1e6);
	if (steady_loss > 0)
		printf(" --loss %.2g", steady_loss);
	if (found->memory_bytes > found->wire_bytes)
		printf(" --queue %.0f", found->memory_bytes / found->wire_bytes);
	printf(" --mtu %u\n", found->mtu_bytes);
}

static const char *size_text(char *text, size_t room, double bytes)
{
	return wh_format_size(text, room, (uint64_t)bytes);
}

static const char *time_text(char *text, size_t room, double ns)
{
	return wh_format_time(text, room, (uint64_t)ns);
}

static void tell_before(
	const struct wh_findings *found, const struct wh_findings *before, const char *when)
{
	char rate[ROOM], size[ROOM];

	printf("last time      %s: %s, burst %u packets, memory %s\n", when,
		wh_format_rate(rate, ROOM, before->trains_bps), before->burst_pkts,
		before->memory_bytes > 0
			? wh_format_size(size, ROOM, (uint64_t)before->memory_bytes)
			: "not known");
	tell_change("the round trip", (double)found->rtt_min_ns, (double)before->rtt_min_ns, 0.1,
		time_text, when);
	tell_change(
		"the capacity", found->trains_bps, before->trains_bps, 0.05, wh_format_rate, when);
	tell_change("the memory", found->memory_bytes, before->memory_bytes, 0.1, size_text, when);
}

void wh_probe_tell(
	const struct wh_findings *found, const struct wh_findings *before, const char *when)
{
	char bytes[ROOM], time[ROOM];

	if (found->echoes_got > 0) {
		tell_echoes(found);
		tell_capacity(found);
		tell_bursts(found);
		tell_formulas(found);
		tell_losses(found);
		tell_next(found);
	}
	printf("sent           %" PRIu64 " packets, %s, in %s\n", found->sent_pkts,
		wh_format_size(bytes, ROOM, found->sent_bytes),
		wh_format_time(time, ROOM, found->elapsed_ns));
	if (before != NULL)
		tell_before(found, before, when);
}
