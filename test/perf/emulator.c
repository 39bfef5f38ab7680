/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a packet costs on one lcore, from the sender's burst to the receiver's:
 *
 *   ring    a bare net_ring port that receives what it sends: no byte is touched
 *   link  a clean link of 100 Gb/s and 1 ms, full: one copy into memory that is as cold as
 *           that many packets under way make it
 *
 * Frames are sent from one mbuf ("hot", its bytes stay in the cache) or as a header with payload
 * in outside memory of many MiB ("cold", as from a file). The link's time is virtual: each
 * burst comes when the line is done with the last, so that the lcore is never waiting and nothing
 * is dropped; what is measured is the lcore's own time.
 */

#include "netem/emulator.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "base/clock.h"
#include "eal.h"
#include "port/port.h"
#include "wire/encap.h"

#define BURST         32
#define RATE_BPS      (100 * WH_NS_PER_S)
#define DELAY_NS      UINT64_C(1000000)
#define RING_PKTS     1024
#define HEADER_BYTES  64
#define PAYLOAD_BYTES (UINT64_C(128) << 20)
#define WARM_BURSTS   2000 /* until the link is full and every mbuf was used */
#define ROUNDS        9
#define PKTS          UINT64_C(128000) /* of a round */
#define MEMORY_MIB    "384"

struct bench {
	uint32_t frame_bytes;
	bool cold;
	struct rte_mempool *sender;
	struct rte_mempool *pool;
	struct wh_port *from;
	struct wh_port *to;
	struct wh_emulator *emulator; /* NULL: a bare ring */
	uint8_t *payload;
	uint64_t payload_next;
	struct rte_mbuf_ext_shared_info shared;
	uint64_t now_tsc;
};

static void start_eal(void)
{
	static const char *const words[] = {"perf_lambda", "--no-pci", "--no-telemetry",
		"--iova-mode=va", "-l", "0", "--log-level=error", "-m", MEMORY_MIB};

	bool huge = start_eal_with(words, RTE_DIM(words), 256);

	printf("memory: %s\n", huge ? "2 MiB pages" : "4 KiB pages");
}

static void keep(void *address, void *unused)
{
	(void)address;
	(void)unused;
}

/* Payload from outside behind the header, the next part of a long row. */
static void attach_cold(struct bench *bench, struct rte_mbuf *head, struct rte_mbuf *body)
{
	uint16_t bytes = (uint16_t)(bench->frame_bytes - HEADER_BYTES);

	if (bench->payload_next + bytes > PAYLOAD_BYTES)
		bench->payload_next = 0;
	rte_mbuf_ext_refcnt_set(&bench->shared, 1);
	rte_pktmbuf_attach_extbuf(
		body, bench->payload + bench->payload_next, RTE_BAD_IOVA, bytes, &bench->shared);
	bench->payload_next += bytes;
	body->data_len = bytes;
	body->pkt_len = bytes;
	head->data_len = HEADER_BYTES;
	head->pkt_len = HEADER_BYTES;
	if (rte_pktmbuf_chain(head, body) != 0)
		abort();
}

static void send_burst(struct bench *bench)
{
	struct rte_mbuf *pkts[2 * BURST];

	if (rte_pktmbuf_alloc_bulk(bench->sender, pkts, bench->cold ? 2 * BURST : BURST) != 0)
		rte_exit(EXIT_FAILURE, "the sender is out of mbufs\n");
	for (uint32_t i = 0; i < BURST; i++) {
		memset(rte_pktmbuf_mtod(pkts[i], void *), (int)i, HEADER_BYTES);
		if (bench->cold) {
			attach_cold(bench, pkts[i], pkts[BURST + i]);
		} else {
			pkts[i]->data_len = (uint16_t)bench->frame_bytes;
			pkts[i]->pkt_len = bench->frame_bytes;
		}
	}

	uint16_t taken = bench->emulator != NULL
				 ? wh_port_send(bench->from, 0, pkts, BURST)
				 : rte_eth_tx_burst(bench->from->ethdev, 0, pkts, BURST);

	if (taken != BURST)
		rte_exit(EXIT_FAILURE, "the port is full\n");
}

static uint64_t receive_burst(struct bench *bench)
{
	struct rte_mbuf *pkts[2 * BURST];
	uint16_t came = bench->emulator != NULL
				? wh_port_receive(bench->to, 0, pkts, 2 * BURST)
				: rte_eth_rx_burst(bench->to->ethdev, 0, pkts, 2 * BURST);

	rte_pktmbuf_free_bulk(pkts, came);
	return came;
}

static uint64_t pass(struct bench *bench)
{
	uint64_t wire_bits = UINT64_C(8) * (bench->frame_bytes + WH_ETHER_WIRE_BYTES);

	send_burst(bench);
	bench->now_tsc += (BURST * wire_bits * WH_NS_PER_S + RATE_BPS - 1) / RATE_BPS;
	if (bench->emulator != NULL)
		wh_emulator_poll(bench->emulator, bench->now_tsc);
	return receive_burst(bench);
}

/* One round: nanoseconds per packet. */
static double measure_round(struct bench *bench)
{
	uint64_t received = 0;
	uint64_t start_tsc = rte_rdtsc();

	for (uint64_t sent = 0; sent < PKTS; sent += BURST)
		received += pass(bench);

	double ns = 1e9 * (double)(rte_rdtsc() - start_tsc) / (double)rte_get_tsc_hz();

	/* one burst more or less, as the line's phase has it */
	if (received + BURST < PKTS || received > PKTS + BURST)
		rte_exit(EXIT_FAILURE, "%" PRIu64 " of %" PRIu64 " packets came\n", received, PKTS);
	return ns / (double)received;
}

/* The best of some rounds: the others were disturbed. */
static void measure(struct bench *bench, const char *what)
{
	double best_ns = DBL_MAX;

	for (uint32_t i = 0; i < WARM_BURSTS; i++)
		(void)pass(bench);
	for (uint32_t round = 0; round < ROUNDS; round++)
		best_ns = RTE_MIN(best_ns, measure_round(bench));
	printf("%-7s %-4s %5u B: %7.1f ns/packet %8.2f Mpps %8.1f Gb/s\n", what,
		bench->cold ? "cold" : "hot", bench->frame_bytes, best_ns, 1e3 / best_ns,
		8.0 * bench->frame_bytes / best_ns);
}

static struct wh_port *open_port(uint16_t ethdev, uint16_t mtu, struct rte_mempool *pool)
{
	char why[WH_PORT_WHY_BYTES];
	struct wh_port *port;
	struct wh_port_config config = {.ethdev = ethdev,
		.queues = 1,
		.mtu = mtu,
		.pool = pool,
		.socket = SOCKET_ID_ANY,
		.link_wait_ms = 100};

	if (wh_port_open(&config, &port, why, sizeof(why)) != 0)
		rte_exit(EXIT_FAILURE, "%s\n", why);
	return port;
}

static struct rte_mempool *make_pool(const char *name, uint32_t mbufs, uint16_t mtu)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		name, mbufs, WH_EMULATOR_POOL_CACHE, 0, wh_port_room_bytes(mtu), SOCKET_ID_ANY);

	if (pool == NULL)
		rte_exit(EXIT_FAILURE, "no memory for %" PRIu32 " mbufs\n", mbufs);
	return pool;
}

static void bench_ring(struct bench *bench, uint16_t mtu)
{
	struct rte_ring *ring =
		rte_ring_create("bare", RING_PKTS, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	int ethdev = ring != NULL ? rte_eth_from_ring(ring) : -1;

	if (ethdev < 0)
		rte_exit(EXIT_FAILURE, "no ring port\n");
	bench->from = open_port((uint16_t)ethdev, mtu, bench->sender);
	bench->to = bench->from;
	bench->emulator = NULL;
	measure(bench, "ring");
	wh_port_close(bench->from);
	(void)rte_vdev_uninit("net_ring_bare");
	rte_ring_free(ring);
}

static void bench_emulator(struct bench *bench, uint16_t mtu)
{
	char why[WH_EMULATOR_WHY_BYTES];
	struct wh_link_model netem = {
		.rate_bps = RATE_BPS, .delay_ns = DELAY_NS, .queue_pkts = 2 * BURST, .seed = 1};
	struct wh_emulator_config config = {.name = "bench",
		.netem = {netem, netem},
		.ring_pkts = RING_PKTS,
		.mtu = mtu,
		.hz = WH_NS_PER_S,
		.socket = SOCKET_ID_ANY};

	config.pool =
		make_pool("lambda", wh_emulator_mbufs_needed(&config, bench->frame_bytes), mtu);
	if (wh_emulator_create(&config, 0, &bench->emulator, why, sizeof(why)) != 0)
		rte_exit(EXIT_FAILURE, "%s\n", why);
	bench->from =
		open_port(wh_emulator_ethdev(bench->emulator, WH_EMULATOR_A), mtu, bench->sender);
	bench->to =
		open_port(wh_emulator_ethdev(bench->emulator, WH_EMULATOR_B), mtu, bench->sender);
	bench->now_tsc = 0;
	measure(bench, "lambda");
	wh_port_close(bench->from);
	wh_port_close(bench->to);
	wh_emulator_close(bench->emulator);
	rte_mempool_free(config.pool);
}

int main(void)
{
	static const uint32_t frames[] = {1514, 9014};
	struct bench bench = {.shared = {.free_cb = keep}};

	start_eal();
	bench.payload = malloc(PAYLOAD_BYTES);
	if (bench.payload == NULL)
		rte_exit(EXIT_FAILURE, "no memory for the payload\n");
	memset(bench.payload, 1, PAYLOAD_BYTES);
	for (uint32_t i = 0; i < 2 * RTE_DIM(frames); i++) {
		bench.frame_bytes = frames[i / 2];
		bench.cold = i % 2 != 0;

		uint16_t mtu = (uint16_t)(bench.frame_bytes - WH_ETHER_BYTES);

		bench.sender = make_pool("sender", 4095, mtu);
		bench_ring(&bench, mtu);
		bench_emulator(&bench, mtu);
		rte_mempool_free(bench.sender);
	}
	free(bench.payload);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
