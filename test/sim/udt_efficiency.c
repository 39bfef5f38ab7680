/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * udt.txt IV A: after slow start a single UDT flow uses at least 94.4 % of a link, the mean of the
 * peak and 8/9 of it: (1 + 8/9) / 2, which the paper prints upside down. Here 1 Gb/s with a queue
 * of one bandwidth-delay product and round trips of 1, 10 and 100 ms, for 100 s of virtual time
 * (`udt_efficiency RTT_MS [SECONDS]`).
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "profile/udt.h"
#include "wire/encap.h"
#include "world.h"

#define RATE_BPS     UINT64_C(1000000000)
#define MTU_BYTES    1500
#define MS           UINT64_C(1000000)
#define LEAST_SHARE  0.944
#define SLOW_START_S 60 /* it never takes that long */

static struct wh_world_config config_for(uint64_t rtt_ns, uint64_t seconds)
{
	struct wh_profile_options options;
	uint64_t bdp_bytes = wh_muldiv_u64(RATE_BPS, rtt_ns, 8 * WH_NS_PER_S);
	uint64_t queue_bytes =
		wh_max_u64(bdp_bytes, 10 * 1538); /* max(BDP, 10), as Fig. 1 has it */

	wh_profile_options_init(&options, &wh_profile_udt);
	return (struct wh_world_config){
		.hz = WH_NS_PER_S,
		.seed = 1,
		.profile = &wh_profile_udt,
		.options = options,
		.mtu_bytes = MTU_BYTES,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		/* Buffers never limit it: path and queue full, and as much again for repairs. */
		.chunks_sender = (uint32_t)(6 * bdp_bytes / WH_CHUNK_BYTES_DEFAULT) + 32,
		.chunks_receiver = (uint32_t)(6 * bdp_bytes / WH_CHUNK_BYTES_DEFAULT) + 32,
		.window_pkts = 1 << 18,
		.burst_pkts = 1,
		.object_bytes = RATE_BPS / 8 * (seconds + 2 * SLOW_START_S),
		.forward =
			{
				.rate_bps = RATE_BPS,
				.delay_ns = rtt_ns / 2,
				.queue_bytes = queue_bytes,
				.seed = 1,
			},
		.reverse =
			{
				.rate_bps = RATE_BPS,
				.delay_ns = rtt_ns / 2,
				.queue_bytes = queue_bytes,
				.seed = 2,
			},
		.heal_ns = UINT64_MAX,
		.limit_ns = UINT64_MAX,
	};
}

static const struct wh_udt *udt_of(struct wh_world *world)
{
	return (const struct wh_udt *)wh_session_control(wh_world_sender(world))->state;
}

/* Runs to the end of slow start; the moment, or 0 when there is none. */
static uint64_t end_of_slow_start(struct wh_world *world)
{
	for (uint64_t at_ns = 10 * MS; at_ns < SLOW_START_S * WH_NS_PER_S; at_ns += 10 * MS) {
		wh_world_run(world, at_ns);
		if (!udt_of(world)->slow_start)
			return at_ns;
	}
	return 0;
}

static bool measure(uint64_t rtt_ns, uint64_t seconds)
{
	struct wh_world_config config = config_for(rtt_ns, seconds);
	struct wh_world *world = wh_world_create(&config);
	uint64_t from_ns = end_of_slow_start(world);

	if (from_ns == 0) {
		printf("FAILED: slow start does not end\n");
		wh_world_destroy(world);
		return false;
	}

	struct wh_session *receiver = wh_world_receiver(world);
	uint64_t before_pkts = wh_session_stats(receiver).received_pkts;

	wh_world_run(world, from_ns + seconds * WH_NS_PER_S);

	uint64_t pkts = wh_session_stats(receiver).received_pkts - before_pkts;
	uint32_t wire_bytes =
		wh_encap_wire_bytes(WH_IPV4, wh_encap_payload_bytes(WH_IPV4, MTU_BYTES));
	double share = (double)pkts * wire_bytes * 8 / ((double)RATE_BPS * (double)seconds);
	const struct wh_udt *udt = udt_of(world);
	const struct wh_session_stats sender = wh_session_stats(wh_world_sender(world));
	/* (6): pairs measure what the line carries of full packets. */
	double capacity_pps = (double)RATE_BPS / 8 / wire_bytes;
	bool enough = share >= LEAST_SHARE && udt->capacity_pps > 0.98 * capacity_pps &&
		      udt->capacity_pps < 1.02 * capacity_pps;

	printf("%s rtt %3" PRIu64 " ms: %.1f %% of the line in %" PRIu64 " s after slow start "
	       "(%.2f s); %" PRIu64 " decreases, %" PRIu64 " freezes, %" PRIu64
	       " retransmissions, %" PRIu64 " delay warnings, B %.0f packets/s\n",
		enough ? "ok    " : "FAILED", rtt_ns / MS, 100 * share, seconds,
		(double)from_ns / 1e9, udt->decreases, udt->freezes, sender.retransmitted_pkts,
		sender.delay_warnings, udt->capacity_pps);
	fflush(stdout);
	wh_world_destroy(world);
	return enough;
}

int main(int argc, char **argv)
{
	uint64_t rtt_ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t seconds = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;

	if (rtt_ms == 0 || seconds == 0) {
		fprintf(stderr, "udt_efficiency RTT_MS [SECONDS]\n");
		return EXIT_FAILURE;
	}
	return measure(rtt_ms * MS, seconds) ? EXIT_SUCCESS : EXIT_FAILURE;
}
