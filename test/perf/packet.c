/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a packet costs on its way, by process: a session between two stations, both on one core, so
 * that no cache line comes from another one and no device copies anything into the account.
 *
 * The line between them is a loop of ours, which is not counted: it copies each frame into a packet
 * of the receiver's, as memif's slots and a NIC's DMA do. Turns are measured in slices, and of
 * each number the best slice counts: whatever else the machine does only adds to it. Sums are of
 * whole turns; the numbers by process are of other slices, in which the meter is on, and contain
 * what reading the clock costs.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_eth_ring.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/meter.h"
#include "chunks.h"
#include "port/station.h"

#define CHUNKS       16
#define CHUNK_BYTES  (UINT32_C(64) << 10) /* twice what a state is for, in all */
#define WINDOW_PKTS  1024
#define RING_PKTS    1023 /* more than chunks hold packets: never full */
#define MBUFS        2047
#define MBUF_CACHE   256
#define MEMORY_MIB   96
#define SLICE_PKTS   5000
#define SLICES       60
#define OPENING_NS   (5 * WH_NS_PER_S)
#define ATTACH_BYTES 4096 /* as hosts do: app/wavehaul/host.c */

enum side {
	SENDER,
	RECEIVER,
	SIDES,
};

struct bench {
	uint64_t hz;
	uint16_t mtu;
	struct rte_mempool *pool[SIDES];
	struct rte_ring *in[SIDES];
	struct rte_ring *out[SIDES];
	struct wh_port *port[SIDES];
	uint8_t *chunks[SIDES];
	struct wh_station station[SIDES];
	struct wh_session *session[SIDES];
	struct wh_meter meter[SIDES];
	uint64_t next_chunk;
	bool metered;
	uint64_t turn_tsc[SIDES]; /* of the slice */
};

static struct wh_address address_of(enum side side)
{
	return (struct wh_address){
		.family = WH_IPV4, .ip = {192, 0, 2, (uint8_t)(side + 1)}, .port = 5760};
}

static struct wh_session_config session_config(const struct bench *bench, enum side side)
{
	struct wh_session_config config;

	wh_session_config_init(&config);
	config.hz = bench->hz;
	config.profile = wh_profile_find("fixed");
	config.payload_bytes = wh_encap_payload_bytes(WH_IPV4, bench->mtu);
	config.packet_bytes = bench->mtu;
	config.wire_bytes = wh_encap_wire_bytes(WH_IPV4, config.payload_bytes);
	config.chunk_bytes = CHUNK_BYTES;
	config.chunks = CHUNKS;
	config.chunk_memory = bench->chunks[side];
	config.attach_bytes = ATTACH_BYTES;
	config.window_pkts = WINDOW_PKTS;
	config.rate_bps = 0;
	config.burst_pkts = WH_STATION_BURST;
	return config;
}

static enum wh_release_status welcome(void *context, const struct wh_open_params *params,
	const struct wh_address *peer, uint32_t *buffer_chunks)
{
	(void)context;
	(void)params;
	(void)peer;
	*buffer_chunks = CHUNKS;
	return WH_STATUS_PENDING;
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t lci,
	const struct wh_address *peer, const struct wh_open_params *params, uint64_t rtt_tsc)
{
	struct bench *bench = context;
	struct wh_session_config config = session_config(bench, RECEIVER);

	bench->session[RECEIVER] = wh_session_accept(&config, now_tsc, lci, peer, params, rtt_tsc);
	return bench->session[RECEIVER];
}

static void carry(struct bench *bench, enum side from)
{
	enum side to = 1 - from;
	struct rte_mbuf *sent;

	while (rte_ring_dequeue(bench->out[from], (void **)&sent) == 0) {
		struct rte_mbuf *copy = rte_pktmbuf_copy(sent, bench->pool[to], 0, UINT32_MAX);

		rte_pktmbuf_free(sent);
		if (copy == NULL || rte_ring_enqueue(bench->in[to], copy) != 0)
			abort(); /* there is room for all that chunks hold */
	}
}

static uint64_t read_tsc(void)
{
	return rte_rdtsc();
}

/* A round of one side's loop. */
static void turn(struct bench *bench, enum side side)
{
	struct wh_meter *meter = &bench->meter[side];
	uint64_t begin_tsc = rte_rdtsc();
	int32_t work;

	if (bench->metered)
		wh_meter_begin(meter, begin_tsc);
	work = wh_station_receive(&bench->station[side], begin_tsc);
	work += wh_station_send(&bench->station[side], begin_tsc);
	if (bench->metered)
		wh_meter_end(meter, work > 0);
	bench->turn_tsc[side] += rte_rdtsc() - begin_tsc;
}

static void round_trip(struct bench *bench)
{
	turn(bench, SENDER);
	carry(bench, SENDER);
	turn(bench, RECEIVER);
	carry(bench, RECEIVER);
	chunks_feed(bench->session[SENDER], &bench->next_chunk, CHUNK_BYTES);
	chunks_drain(bench->session[RECEIVER]);
}

static uint64_t received_pkts(const struct bench *bench)
{
	return wh_session_stats(bench->session[RECEIVER]).received_pkts;
}

/* Returns how many packets it had. */
static uint64_t run_slice(struct bench *bench)
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

static void keep_least(double *least, double value)
{
	if (*least == 0 || value < *least)
		*least = value;
}

static void print_side(const struct bench *bench, enum side side, double sum,
	const double by_process[WH_METER_PROCESSES])
{
	printf("%5u %-8s %6.0f  ", bench->mtu, side == SENDER ? "sender" : "receiver", sum);
	for (uint32_t i = 0; i < WH_METER_PROCESSES; i++)
		if (by_process[i] >= 0.5)
			printf(" %s %.0f", wh_meter_process_name((enum wh_meter_process)i),
				by_process[i]);
	printf("\n");
}

static void measure(struct bench *bench)
{
	double sum[SIDES] = {0};
	double by_process[SIDES][WH_METER_PROCESSES] = {0};

	for (uint32_t slice = 0; slice < SLICES; slice++) {
		bench->metered = slice % 2 == 1;
		for (enum side side = 0; side < SIDES; side++)
			memset(bench->meter[side].cycles, 0, sizeof(bench->meter[side].cycles));

		double pkts = (double)run_slice(bench);

		for (enum side side = 0; side < SIDES; side++) {
			if (!bench->metered)
				keep_least(&sum[side], (double)bench->turn_tsc[side] / pkts);
			for (uint32_t i = 0; bench->metered && i < WH_METER_PROCESSES; i++)
				keep_least(&by_process[side][i],
					(double)bench->meter[side].cycles[i] / pkts);
		}
	}
	for (enum side side = 0; side < SIDES; side++)
		print_side(bench, side, sum[side], by_process[side]);
}

static void open_port(struct bench *bench, enum side side)
{
	static const char *const names[SIDES] = {[SENDER] = "sender", [RECEIVER] = "receiver"};
	char why[WH_PORT_WHY_BYTES];
	int ethdev = rte_eth_from_rings(names[side], &bench->in[side], 1, &bench->out[side], 1,
		(unsigned int)SOCKET_ID_ANY);
	struct wh_port_config config = {
		.ethdev = (uint16_t)ethdev,
		.queues = 1,
		.mtu = bench->mtu,
		.pool = bench->pool[side],
		.socket = SOCKET_ID_ANY,
		.link_wait_ms = 100,
		.mac = {.addr_bytes = {0x02, 'w', 'h', 0, 0, (uint8_t)(side + 1)}},
	};

	if (ethdev < 0)
		rte_exit(EXIT_FAILURE, "no ring port\n");
	if (wh_port_open(&config, &bench->port[side], why, sizeof(why)) != 0)
		rte_exit(EXIT_FAILURE, "%s\n", why);
}

static void open_station(struct bench *bench, enum side side)
{
	struct wh_station_config config = {
		.port = bench->port[side],
		.pool = bench->pool[side],
		.local4 = address_of(side),
		.attach_bytes = ATTACH_BYTES,
		.neighbour = {.hz = bench->hz, .mtu = bench->mtu, .ipv4 = {.prefix_bits = 24}},
		.endpoint =
			{
				.hz = bench->hz,
				.places = WH_ENDPOINT_PLACES_MIN,
				.rx_meter = &bench->meter[side],
				.tx_meter = &bench->meter[side],
			},
	};

	memcpy(config.neighbour.mac, &bench->port[side]->mac, sizeof(config.neighbour.mac));
	memcpy(config.neighbour.ipv4.ip, config.local4.ip, 4);
	if (side == RECEIVER) {
		config.endpoint.welcome = welcome;
		config.endpoint.accept = accept_session;
		config.endpoint.context = bench;
	}
	bench->meter[side].read = read_tsc;
	if (wh_station_init(&bench->station[side], &config) != 0)
		rte_exit(EXIT_FAILURE, "no memory for a station\n");
}

static struct rte_ring *make_ring(const char *way, enum side side)
{
	char name[16];

	snprintf(name, sizeof(name), "%s_%u", way, side);

	struct rte_ring *ring = rte_ring_create(
		name, RING_PKTS, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);

	if (ring == NULL)
		rte_exit(EXIT_FAILURE, "no memory for rings\n");
	return ring;
}

static void open_ends(struct bench *bench)
{
	static const char *const pools[SIDES] = {"to_send", "to_receive"};

	for (enum side side = 0; side < SIDES; side++) {
		bench->pool[side] = rte_pktmbuf_pool_create(pools[side], MBUFS, MBUF_CACHE, 0,
			wh_port_room_bytes(bench->mtu), SOCKET_ID_ANY);
		bench->chunks[side] =
			rte_zmalloc("chunks", (size_t)CHUNKS * CHUNK_BYTES, WH_CHUNK_ALIGN);
		if (bench->pool[side] == NULL || bench->chunks[side] == NULL)
			rte_exit(EXIT_FAILURE, "no memory for packets and chunks\n");
		bench->in[side] = make_ring("in", side);
		bench->out[side] = make_ring("out", side);
		open_port(bench, side);
		open_station(bench, side);
	}
}

static void open_session(struct bench *bench)
{
	struct wh_session_config config = session_config(bench, SENDER);
	struct wh_address to = address_of(RECEIVER);
	uint64_t until_tsc = rte_rdtsc() + wh_ns_to_tsc(bench->hz, OPENING_NS);

	bench->session[SENDER] = wh_session_open(&config, &to, "packet", WH_OBJECT_BYTES_UNKNOWN);
	if (bench->session[SENDER] == NULL ||
		wh_endpoint_open(&bench->station[SENDER].endpoint, bench->session[SENDER]) != 0)
		rte_exit(EXIT_FAILURE, "no memory for a session\n");
	while (bench->session[RECEIVER] == NULL || received_pkts(bench) == 0) {
		round_trip(bench);
		if (rte_rdtsc() > until_tsc)
			rte_exit(EXIT_FAILURE, "the session does not open\n");
	}
}

static void close_ends(struct bench *bench)
{
	static const char *const devices[SIDES] = {"net_ring_sender", "net_ring_receiver"};
	void *mbuf = NULL;

	for (enum side side = 0; side < SIDES; side++) {
		wh_station_free(&bench->station[side]);
		wh_session_destroy(bench->session[side]);
		wh_port_close(bench->port[side]);
		(void)rte_vdev_uninit(devices[side]);
	}
	for (enum side side = 0; side < SIDES; side++) {
		while (rte_ring_dequeue(bench->in[side], &mbuf) == 0 ||
			rte_ring_dequeue(bench->out[side], &mbuf) == 0)
			rte_pktmbuf_free(mbuf);
		rte_ring_free(bench->in[side]);
		rte_ring_free(bench->out[side]);
		rte_free(bench->chunks[side]);
		rte_mempool_free(bench->pool[side]);
	}
}

static void start_eal(void)
{
	static char words[][32] = {"perf_packet", "--no-pci", "--no-telemetry", "--iova-mode=va",
		"--log-level=error", "-m", "", "--no-huge", "--no-shconf"};
	char *args[RTE_DIM(words) + 1] = {NULL};

	snprintf(words[6], sizeof(words[6]), "%d", MEMORY_MIB);
	for (size_t i = 0; i < RTE_DIM(words); i++)
		args[i] = words[i];
	if (rte_eal_init(RTE_DIM(words), args) < 0)
		rte_exit(EXIT_FAILURE, "the EAL does not start\n");
}

int main(void)
{
	static const uint16_t mtus[] = {1500, 9000};

	start_eal();
	printf("%5s %-8s %6s   by process, in cycles per packet\n", "MTU", "side", "sum");
	for (size_t i = 0; i < RTE_DIM(mtus); i++) {
		struct bench *bench = calloc(1, sizeof(*bench));

		if (bench == NULL)
			return EXIT_FAILURE;
		bench->hz = rte_get_tsc_hz();
		bench->mtu = mtus[i];
		open_ends(bench);
		open_session(bench);
		measure(bench);
		close_ends(bench);
		free(bench);
	}
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
