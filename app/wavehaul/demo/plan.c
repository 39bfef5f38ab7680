/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/plan.h"

#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "host/eal.h"
#include "lambda/lambda.h"
#include "port/station.h"
#include "session/session.h"

/* Chunks that the reader or writer has in the air and hashes, beside those of the path. */
#define STORE_CHUNKS 24

/* A sender keeps a packet for one round trip, and for another when it was lost. */
#define SENDER_ROUND_TRIPS 2

/*
 * A receiver gives chunks to the writer in order: while a lost packet is on its way for the second
 * time (its repair was lost, and reported two round trips later), all that follows waits.
 */
#define RECEIVER_ROUND_TRIPS 3

/* The least with which a transfer moves at all, if slowly. */
#define CHUNKS_MIN 4

/* Control packets under way, beside data; the reverse direction carries nothing else. */
#define SMALL_PAGE_BYTES    4096
#define CONTROL_MBUFS       4096
#define REVERSE_QUEUE_BYTES (UINT64_C(1) << 20)

/* Of MemAvailable in kB, in bytes; a guess when it cannot be read. */
static uint64_t available_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	unsigned long long kib = UINT64_C(2) << 20;

	if (file == NULL)
		return kib << 10;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	fclose(file);
	return kib << 10;
}

static uint64_t mbuf_bytes(const struct wh_plan *plan)
{
	/* The mempool puts a header before each object and aligns it to cache lines. */
	return RTE_ALIGN_CEIL(sizeof(struct rte_mbuf) + plan->room_bytes + 64, 64) + 64;
}

/*
 * Without hugepages a mempool lets no object straddle pages of 4 KiB: small ones leave the rest of
 * their page unused, large ones begin with a page of their own.
 */
static uint64_t mbuf_bytes_in_small_pages(const struct wh_plan *plan)
{
	uint64_t bytes = mbuf_bytes(plan);

	return bytes > SMALL_PAGE_BYTES ? RTE_ALIGN_CEIL(bytes, (uint64_t)SMALL_PAGE_BYTES)
					: SMALL_PAGE_BYTES / (SMALL_PAGE_BYTES / bytes);
}

static struct wh_session_config session_sizes(const struct wh_plan *plan, uint32_t chunks)
{
	return (struct wh_session_config){
		.payload_bytes = plan->payload_bytes,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.chunks = chunks,
		.window_pkts = plan->window_pkts,
		.repair = plan->repair,
	};
}

static void plan_repair(const struct wh_demo_options *options, struct wh_plan *plan)
{
	struct wh_session_config config = session_sizes(plan, 0);

	wh_repair_configure(&options->repair, &config);
	plan->repair = config.repair;
	plan->stride_bytes = wh_session_chunk_stride(&config);
	plan->fec = wh_session_fec_limits(&config);
}

static uint64_t add_up(struct wh_plan *plan)
{
	const struct wh_session_config sender = session_sizes(plan, plan->sender_chunks);
	const struct wh_session_config receiver = session_sizes(plan, plan->receiver_chunks);
	const uint64_t tables = wh_session_table_bytes(WH_TRANSMITTER, &sender) +
				wh_session_table_bytes(WH_RECEIVER, &receiver);
	const struct wh_plan_user users[WH_PLAN_USERS] = {
		{"sender's chunks", plan->sender_chunks * plan->stride_bytes},
		{"receiver's chunks", plan->receiver_chunks * plan->stride_bytes},
		{"packets in the ports", plan->port_mbufs * mbuf_bytes(plan)},
		{"packets in the lambda", plan->lambda_mbufs * mbuf_bytes(plan)},
		{"tables of both sessions", tables},
		{"lambda's delay lines", plan->lambda_mbufs * UINT64_C(64)},
		{"tables of the code", plan->fec.r > 0 ? wh_fec_bytes(&plan->fec) : 0},
	};

	memcpy(plan->user, users, sizeof(users));
	plan->total_bytes = 0;
	for (uint32_t i = 0; i < WH_PLAN_USERS; i++)
		plan->total_bytes += users[i].bytes;
	plan->small_pages_bytes =
		plan->total_bytes + (uint64_t)(plan->port_mbufs + plan->lambda_mbufs) *
					    (mbuf_bytes_in_small_pages(plan) - mbuf_bytes(plan));
	return plan->total_bytes;
}

static void plan_packets(const struct wh_demo_options *options, struct wh_plan *plan)
{
	uint32_t frame_bytes;
	struct wh_lambda_config lambda = {.path = {[WH_LAMBDA_A] = options->forward}};

	plan->payload_bytes = wh_encap_payload_bytes(WH_IPV4, options->mtu_bytes);
	plan->wire_bytes = wh_encap_wire_bytes(WH_IPV4, plan->payload_bytes);
	plan->payload_line_bps = wh_muldiv_u64(options->forward.rate_bps, plan->payload_bytes,
		(uint64_t)options->mtu_bytes + WH_ETHER_BYTES + WH_ETHER_WIRE_BYTES);
	plan->room_bytes = wh_port_room_bytes(options->mtu_bytes);
	plan->reverse = (struct wh_path_config){
		.rate_bps = options->forward.rate_bps,
		.delay_ns = options->rtt_ns - options->forward.delay_ns,
		.queue_bytes = REVERSE_QUEUE_BYTES,
		.seed = options->seed + 1,
	};
	frame_bytes = plan->wire_bytes - WH_ETHER_WIRE_BYTES;
	lambda.path[WH_LAMBDA_B] = plan->reverse;
	plan->lambda_mbufs = wh_lambda_mbufs_needed(&lambda, frame_bytes) + CONTROL_MBUFS;
	/* Both ends' rings full, both stations' bursts, and what lcores keep in their caches. */
	plan->port_mbufs = 2 * (WH_LAMBDA_RING_PKTS_DEFAULT / 2 + WH_STATION_MBUFS) + 2 * 256 * 2;
}

static uint32_t chunks_for(uint64_t bdp_bytes, uint32_t round_trips)
{
	uint64_t chunks = round_trips * bdp_bytes / WH_CHUNK_BYTES_DEFAULT + STORE_CHUNKS;

	return (uint32_t)RTE_MIN(chunks, UINT64_C(60000)); /* slots are 16 bits wide */
}

static uint32_t window_for(const struct wh_plan *plan)
{
	uint64_t bytes = RTE_MAX(plan->sender_chunks, plan->receiver_chunks) * plan->stride_bytes;
	uint64_t pkts = bytes / plan->payload_bytes;
	uint64_t window_pkts = rte_align64pow2(RTE_MAX(pkts, (uint64_t)WH_WINDOW_PACKETS_MIN));

	return (uint32_t)RTE_MIN(window_pkts, (uint64_t)WH_WINDOW_PACKETS_MAX);
}

int wh_plan_make(const struct wh_demo_options *options, struct wh_plan *plan)
{
	uint64_t bdp_bytes =
		wh_muldiv_u64(options->forward.rate_bps, options->rtt_ns, 8 * WH_NS_PER_S);

	*plan = (struct wh_plan){0};
	plan_packets(options, plan);
	plan_repair(options, plan);
	plan->budget_bytes = options->memory_bytes != 0
				     ? options->memory_bytes
				     : /* Hugepages are not in MemAvailable any more. */
				     RTE_MAX(available_bytes() / 2, wh_eal_hugepage_room_bytes());
	plan->sender_chunks = chunks_for(bdp_bytes, SENDER_ROUND_TRIPS);
	plan->receiver_chunks = chunks_for(bdp_bytes, RECEIVER_ROUND_TRIPS);
	plan->window_pkts = window_for(plan);
	plan->limited = plan->window_pkts == WH_WINDOW_PACKETS_MAX &&
			bdp_bytes / plan->payload_bytes > WH_WINDOW_PACKETS_MAX;

	/* Chunks are what can be had in fewer; packets on the line are not. */
	while (add_up(plan) > plan->budget_bytes) {
		if (plan->sender_chunks <= CHUNKS_MIN && plan->receiver_chunks <= CHUNKS_MIN)
			return -ENOMEM;
		plan->limited = true;
		plan->sender_chunks = RTE_MAX(plan->sender_chunks * 7 / 8, CHUNKS_MIN);
		plan->receiver_chunks = RTE_MAX(plan->receiver_chunks * 7 / 8, CHUNKS_MIN);
		plan->window_pkts = window_for(plan);
	}
	return 0;
}

void wh_plan_print(const struct wh_plan *plan, FILE *to)
{
	char text[WH_UNITS_MAX];

	for (uint32_t i = 0; i < WH_PLAN_USERS; i++)
		fprintf(to, "memory: %-24s %s\n", plan->user[i].name,
			wh_format_size(text, sizeof(text), plan->user[i].bytes));
	fprintf(to, "memory: %-24s %s (%u and %u chunks, window of %u packets)\n", "all together",
		wh_format_size(text, sizeof(text), plan->total_bytes), plan->sender_chunks,
		plan->receiver_chunks, plan->window_pkts);
}
