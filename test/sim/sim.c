/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Safety, then liveness, over random worlds: `sim --seeds 2000`. A seed is a world (draw.c) that
 * is rough until it heals. Never a wrong byte and never a wrong outcome; once healed, everything
 * ends within a bound. A failing seed prints the command that replays it.
 */

#include <inttypes.h>
#include <stdio.h>

#include "../rig/seeds.h"
#include "base/clock.h"
#include "draw.h"
#include "wire/encap.h"

/*
 * A receiver whose outcome is known stays until DONE comes, which it asks for every round trip or
 * second. Once the link is well the first of it is answered, whether the sender is still there or
 * has left; the answer may have to wait behind a full queue.
 */
#define LINGER_MAX_NS (10 * WH_NS_PER_S)

struct tally {
	struct wh_rig_tally common;
	uint64_t events;
	uint64_t packet_hops;
	uint64_t retransmitted_pkts;
	uint64_t repaired_pkts;
	uint64_t undecodable_blocks;
	uint64_t outcomes[WH_STATUSES];
};

/* Without asking, what repair packets do not bring back is lost, and a window may wait for it. */
static bool gave_up(enum wh_release_status status)
{
	return status == WH_STATUS_UNREPAIRED || status == WH_STATUS_STALLED;
}

/* What the receiver may end with, given what was to happen. */
static bool outcome_allowed(const struct wh_world_config *config, enum wh_release_status sender,
	enum wh_release_status receiver, const char **why)
{
	*why = "the outcome is not one of those that this event allows";
	if (config->repair.recovery == WH_RECOVERY_FEC && (gave_up(sender) || gave_up(receiver)))
		return sender != WH_STATUS_VERIFIED && receiver != WH_STATUS_VERIFIED;
	switch (config->event) {
	case WH_WORLD_NOTHING:
	case WH_WORLD_SOURCE_PAUSES:
		return sender == WH_STATUS_VERIFIED && receiver == WH_STATUS_VERIFIED;
	case WH_WORLD_CUT:
		return (sender == WH_STATUS_VERIFIED || sender == WH_STATUS_PEER_GONE) &&
		       (receiver == WH_STATUS_VERIFIED || receiver == WH_STATUS_PEER_GONE ||
			       receiver == WH_STATUS_PENDING);
	case WH_WORLD_ABORT_SENDER:
	case WH_WORLD_ABORT_RECEIVER:
	case WH_WORLD_CLOSE_SENDER:
	case WH_WORLD_CLOSE_RECEIVER:
		return (sender == WH_STATUS_VERIFIED || sender == WH_STATUS_INTERRUPTED ||
			       sender == WH_STATUS_PEER_GONE) &&
		       (receiver == WH_STATUS_VERIFIED || receiver == WH_STATUS_INTERRUPTED ||
			       receiver == WH_STATUS_PEER_GONE || receiver == WH_STATUS_PENDING);
	case WH_WORLD_SINK_FULL:
		return (sender == receiver || sender == WH_STATUS_PEER_GONE) &&
		       (receiver == WH_STATUS_VERIFIED || receiver == WH_STATUS_NO_SPACE);
	case WH_WORLD_SOURCE_STOPS:
		return sender == receiver &&
		       (sender == WH_STATUS_VERIFIED || sender == WH_STATUS_STALLED);
	default:
		return false;
	}
}

/* How long the receiver stays when its outcome is known and the link is well. */
static uint64_t healed_linger_ns(
	const struct wh_world_config *config, const struct wh_world_result *result)
{
	uint64_t since_ns = wh_max_u64(result->outcome_ns, config->heal_ns);

	return result->gone_ns - wh_min_u64(result->gone_ns, since_ns);
}

static uint64_t linger_max_ns(const struct wh_world_config *config)
{
	const struct wh_link_model *netem = &config->forward;
	uint64_t queue_bytes = wh_max_u64(netem->queue_bytes,
		(uint64_t)netem->queue_pkts *
			(config->mtu_bytes + WH_ETHER_BYTES + WH_ETHER_WIRE_BYTES));

	return LINGER_MAX_NS + wh_muldiv_u64(queue_bytes, 8 * WH_NS_PER_S, netem->rate_bps);
}

/* NULL, or what is wrong with this end of the world. */
static const char *judge(const struct wh_world_config *config, const struct wh_world_result *result)
{
	const char *why;

	if (!result->in_time)
		return "not ended in time after the link healed";
	if (result->receiver == WH_STATUS_MISMATCH || result->sender == WH_STATUS_MISMATCH)
		return "a digest did not agree";
	if (result->receiver == WH_STATUS_VERIFIED && !result->pattern_ok)
		return "verified, though the writer found wrong bytes";
	if (result->receiver == WH_STATUS_VERIFIED && result->object_bytes != config->object_bytes)
		return "verified, though the size is wrong";
	if (result->sender == WH_STATUS_VERIFIED && result->receiver != WH_STATUS_VERIFIED)
		return "the sender says verified and the receiver does not";
	if (config->event == WH_WORLD_NOTHING &&
		healed_linger_ns(config, result) > linger_max_ns(config))
		return "the receiver waits in vain for DONE";
	/* What an honest end sends over the worst link contradicts nothing. */
	if (result->sender_stats.bad_pkts > 0 || result->receiver_stats.bad_pkts > 0)
		return "an honest end's packets were counted as bad";
	if (!outcome_allowed(config, result->sender, result->receiver, &why))
		return why;
	if (result->sender == WH_STATUS_STALLED && result->stalled_by != WH_LIMIT_DISK &&
		config->repair.recovery != WH_RECOVERY_FEC)
		return "the reader hangs, and the stall is not put down to the disk";
	return NULL;
}

static bool run_seed(const struct wh_rig_seeds *seeds, uint64_t seed, void *state)
{
	struct tally *tally = state;
	struct wh_world_config config;
	struct wh_world_result result;
	char description[512];

	wh_draw_world(seed, &config);
	wh_draw_describe(&config, description, sizeof(description));
	if (seeds->verbose)
		printf("  %s\n", description);
	fflush(stdout);

	struct wh_world *world = wh_world_create(&config);

	wh_world_run(world, config.limit_ns);
	wh_world_result(world, &result);
	wh_world_destroy(world);

	const char *wrong = judge(&config, &result);

	tally->events += result.events;
	tally->packet_hops += result.packet_hops;
	tally->retransmitted_pkts += result.sender_stats.retransmitted_pkts;
	tally->repaired_pkts += result.receiver_stats.repaired_pkts;
	tally->undecodable_blocks += result.receiver_stats.undecodable_blocks;
	tally->outcomes[result.sender]++;
	if (seeds->verbose || wrong != NULL)
		printf("seed %" PRIu64 ": %.3f s virtual, sender %s, receiver %s, %" PRIu64
		       " events, %" PRIu64 " sent, %" PRIu64 " again\n",
			seed, (double)result.end_ns / 1e9, wh_release_status_name(result.sender),
			wh_release_status_name(result.receiver), result.events,
			result.sender_stats.sent_pkts, result.sender_stats.retransmitted_pkts);
	if (wrong == NULL)
		return true;
	printf("FAILED: %s\n  world: %s\n", wrong, description);
	wh_rig_seeds_tell(seeds, seed);
	return false;
}

int main(int argc, char **argv)
{
	static const struct wh_rig_share share = {.run = run_seed};
	struct wh_rig_seeds seeds;
	struct tally sum = {0};

	if (!wh_rig_seeds_read(&seeds, 200, argc, argv))
		return 2;

	int failures = wh_rig_seeds_run(&seeds, &share, &sum.common, sizeof(sum));

	printf("sim: seeds %" PRIu64 "..%" PRIu64 ": %" PRIu64 " passed, %" PRIu64
	       " failed, %d crashed; %.1f M events, %.1f M packet-hops, %" PRIu64
	       " retransmissions, %" PRIu64 " repaired (%" PRIu64 " blocks not); verified %" PRIu64
	       ", interrupted %" PRIu64 ", full %" PRIu64 ", stalled %" PRIu64
	       ", peer gone %" PRIu64 ", unrepaired %" PRIu64 "\n",
		seeds.first, seeds.first + seeds.count - 1, sum.common.passed, sum.common.failed,
		failures, (double)sum.events / 1e6, (double)sum.packet_hops / 1e6,
		sum.retransmitted_pkts, sum.repaired_pkts, sum.undecodable_blocks,
		sum.outcomes[WH_STATUS_VERIFIED], sum.outcomes[WH_STATUS_INTERRUPTED],
		sum.outcomes[WH_STATUS_NO_SPACE], sum.outcomes[WH_STATUS_STALLED],
		sum.outcomes[WH_STATUS_PEER_GONE], sum.outcomes[WH_STATUS_UNREPAIRED]);
	return failures == 0 && sum.common.failed == 0 && sum.common.passed == seeds.count ? 0 : 1;
}
