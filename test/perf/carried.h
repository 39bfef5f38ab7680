/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A session between two netifs, both on one core, so that no cache line comes from another one and
 * no device copies anything into the account. The line between them is a loop that is not counted:
 * it copies each frame into a packet of the receiver's, as memif's slots and a NIC's DMA do, and
 * may lose some.
 */

#include <rte_eal.h>

#include "base/prng.h"
#include "chunks.h"
#include "pair.h"
#include "profile/interval.h"

#define CHUNKS       16
#define CHUNKS_COLD  640                  /* more than caches hold, as hosts have */
#define CHUNK_BYTES  (UINT32_C(64) << 10) /* twice what a state is for, in CHUNKS */
#define WINDOW_PKTS  1024
#define RING_PKTS    1023 /* more than a turn sends, and the next one takes all: never full */
#define MBUFS        2047
#define MEMORY_MIB   240
#define SLICE_PKTS   5000
#define SLICES       60
#define ATTACH_BYTES 4096 /* as hosts do: app/wavehaul/host.c */

struct bench {
	struct pair pair;
	struct wh_meter meter[SIDES];
	uint64_t next_chunk;
	bool metered;
	uint64_t turn_tsc[SIDES]; /* of the slice */
	uint64_t loss;            /* of data, as a threshold of the generator's */
	struct wh_prng prng;
};

static inline void carry(struct bench *bench, enum side from)
{
	enum side to = 1 - from;
	struct rte_mbuf *sent;

	while (rte_ring_dequeue(bench->pair.out[from], (void **)&sent) == 0) {
		if (from == SENDER && bench->loss > 0 &&
			wh_prng_chance(&bench->prng, bench->loss)) {
			rte_pktmbuf_free(sent);
			continue;
		}

		struct rte_mbuf *copy = rte_pktmbuf_copy(sent, bench->pair.pool[to], 0, UINT32_MAX);

		rte_pktmbuf_free(sent);
		if (copy == NULL || rte_ring_enqueue(bench->pair.in[to], copy) != 0)
			abort();
	}
}

/* A round of one side's loop. */
static inline void turn(struct bench *bench, enum side side)
{
	struct wh_meter *meter = &bench->meter[side];
	uint64_t begin_tsc = rte_rdtsc();
	int32_t work;

	if (bench->metered)
		wh_meter_begin(meter, begin_tsc);
	work = wh_netif_receive(&bench->pair.netif[side], begin_tsc);
	work += wh_netif_send(&bench->pair.netif[side], begin_tsc);
	if (bench->metered)
		wh_meter_end(meter, work > 0);
	bench->turn_tsc[side] += rte_rdtsc() - begin_tsc;
}

static inline void round_trip(struct bench *bench)
{
	turn(bench, SENDER);
	carry(bench, SENDER);
	turn(bench, RECEIVER);
	carry(bench, RECEIVER);
	chunks_feed(bench->pair.session[SENDER], &bench->next_chunk, CHUNK_BYTES);
	chunks_drain(bench->pair.session[RECEIVER]);
}

static inline uint64_t received_pkts(const struct bench *bench)
{
	return wh_session_stats(bench->pair.session[RECEIVER]).received_pkts;
}

/* Returns how many packets it had. */
static inline uint64_t run_slice(struct bench *bench)
{
	uint64_t before = received_pkts(bench);
	uint64_t pkts;

	memset(bench->turn_tsc, 0, sizeof(bench->turn_tsc));
	do {
		round_trip(bench);
		pkts = received_pkts(bench) - before;
	} while (pkts < SLICE_PKTS);
	return pkts;
}

static inline void make_rings(struct pair *pair)
{
	static const char *const pools[SIDES] = {"to_send", "to_receive"};
	static const char *const ins[SIDES] = {"in_0", "in_1"};
	static const char *const outs[SIDES] = {"out_0", "out_1"};

	for (enum side side = 0; side < SIDES; side++) {
		pair->pool[side] =
			pair_pool(pools[side], MBUFS, (uint16_t)pair->config.packet_bytes);
		pair->in[side] = pair_ring(ins[side], RING_PKTS);
		pair->out[side] = pair_ring(outs[side], RING_PKTS);
	}
}

static inline void open_all(struct bench *bench, uint16_t mtu, const struct wh_profile *profile,
	enum wh_cipher cipher, uint32_t chunks)
{
	struct pair *pair = &bench->pair;

	pair->cipher = cipher;
	pair->config = pair_config(mtu, 0);
	wh_session_config_profile(&pair->config, profile);
	pair->config.chunk_bytes = CHUNK_BYTES;
	pair->config.chunks = chunks;
	pair->config.attach_bytes = ATTACH_BYTES;
	pair->config.window_pkts = WINDOW_PKTS;
	pair->config.burst_pkts = WH_NETIF_BURST;
	pair->attach_bytes = ATTACH_BYTES;
	for (enum side side = 0; side < SIDES; side++) {
		bench->meter[side].read = pair_read_tsc;
		pair->rx_meter[side] = &bench->meter[side];
		pair->tx_meter[side] = &bench->meter[side];
	}
	make_rings(pair);
	pair_open(pair, "packet");

	uint64_t until_tsc = rte_rdtsc() + wh_ns_to_tsc(pair->config.hz, PAIR_OPENING_NS);

	while (pair->session[RECEIVER] == NULL || received_pkts(bench) == 0) {
		round_trip(bench);
		if (rte_rdtsc() > until_tsc)
			rte_exit(EXIT_FAILURE, "the session does not open\n");
	}
}

static inline void close_all(struct bench *bench)
{
	struct pair *pair = &bench->pair;

	pair_close(pair);
	for (enum side side = 0; side < SIDES; side++) {
		pair_ring_free(pair->in[side]);
		pair_ring_free(pair->out[side]);
	}
	for (enum side side = 0; side < SIDES; side++)
		rte_mempool_free(pair->pool[side]);
}

static inline void start_eal(const char *name)
{
	static char words[][32] = {"", "--no-pci", "--no-telemetry", "--iova-mode=va",
		"--log-level=error", "-m", "", "--no-huge", "--no-shconf"};
	char *args[RTE_DIM(words) + 1] = {NULL};

	snprintf(words[0], sizeof(words[0]), "%s", name);
	snprintf(words[6], sizeof(words[6]), "%d", MEMORY_MIB);
	for (size_t i = 0; i < RTE_DIM(words); i++)
		args[i] = words[i];
	if (rte_eal_init(RTE_DIM(words), args) < 0)
		rte_exit(EXIT_FAILURE, "the EAL does not start\n");
}

static inline void keep_least(double *least, double value)
{
	if (*least == 0 || value < *least)
		*least = value;
}

static inline const char *side_name(enum side side)
{
	return side == SENDER ? "sender" : "receiver";
}

/* The controller works as ever, but holds nothing up: turns that wait are no cost of a packet. */
static inline struct wh_decision decide_all(const struct wh_control *control)
{
	struct wh_decision decision = wh_profile_find("lambda")->decide(control);

	decision.interval_fp = WH_INTERVAL_MIN_FP;
	decision.tokens = UINT64_MAX / 2;
	return decision;
}

static inline struct wh_profile unpaced(void)
{
	struct wh_profile lambda = *wh_profile_find("lambda");

	lambda.decide = decide_all;
	return lambda;
}
