/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The limit of any mover on a port: one of two processes that do what none can avoid, and nothing
 * else. No session, no pacing, no report, and nothing is sent again.
 *
 *   bare send DEVICE MTU KEY       copies from cold chunks into packets as wavehaul's, until it is
 *                                  ended
 *   bare receive DEVICE MTU KEY MS copies from packets into cold chunks; tells what came in MS
 *                                  milliseconds as a JSON object, and rests until it is ended
 *
 * DEVICE is as for DPDK's --vdev. KEY is "sealed", where the copy is AES-128-GCM by the library
 * that wavehaul has, or "plain". Each runs on the first CPU that it may use. tools/bench starts
 * both.
 */

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "base/chunk.h"
#include "eal.h"
#include "port/port.h"
#include "seal/gcm.h"
#include "wire/encap.h"

#define BURST       32
#define POOL_MBUFS  8191
#define POOL_CACHE  256
#define ARENA_BYTES (UINT64_C(256) << 20) /* no cache holds it: what is next in it is cold */
#define PAGES       170                   /* huge ones of 2 MiB, for the arena and the pool */
#define LINK_MS     20000
#define WARM_MS     500

/* Frames as wavehaul's: Ethernet, IP and UDP, then a head that ends with the tag. */
#define OUTER_BYTES (WH_ETHER_BYTES + WH_IPV4_BYTES + WH_UDP_BYTES)
#define AAD_BYTES   (WH_HEAD_BYTES - WH_GCM_TAG_BYTES)

struct end {
	struct wh_port *port;
	struct rte_mempool *pool;
	uint8_t *arena;
	uint32_t payload_bytes;
	bool sealed;
	struct wh_gcm_key key;
};

/* Where the payload of a packet is: one behind the other in a chunk, chunk behind chunk. */
static uint8_t *place_of(const struct end *end, uint64_t number)
{
	uint64_t each = WH_CHUNK_BYTES_DEFAULT / end->payload_bytes;
	uint64_t chunk = number / each % (ARENA_BYTES / WH_CHUNK_BYTES_DEFAULT);

	return end->arena + chunk * WH_CHUNK_BYTES_DEFAULT + number % each * end->payload_bytes;
}

/* What is cold behind that payload is fetched while it is worked on: the cipher does not. */
static void fetch_next(const struct end *end, uint64_t number)
{
	const uint8_t *next = place_of(end, number + 1);

	for (uint32_t at = 0; at < end->payload_bytes; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(next + at);
}

static struct wh_gcm_message message_of(const struct end *end, const uint8_t *head,
	const uint8_t nonce[WH_GCM_NONCE_BYTES], const uint8_t *from, uint8_t *to)
{
	return (struct wh_gcm_message){
		.nonce = nonce,
		.aad = head,
		.aad_bytes = AAD_BYTES,
		.from = from,
		.bytes = end->payload_bytes,
		.to = to,
	};
}

static void write_packet(struct end *end, uint64_t number, struct rte_mbuf *pkt)
{
	uint8_t *frame = rte_pktmbuf_mtod(pkt, uint8_t *);
	uint8_t *head = frame + OUTER_BYTES;
	uint8_t *payload = head + WH_HEAD_BYTES;
	uint8_t nonce[WH_GCM_NONCE_BYTES] = {0};

	memset(frame, 0, OUTER_BYTES + WH_HEAD_BYTES);
	memcpy(head, &number, sizeof(number));
	memcpy(nonce, &number, sizeof(number));
	pkt->data_len = (uint16_t)(OUTER_BYTES + WH_HEAD_BYTES + end->payload_bytes);
	pkt->pkt_len = pkt->data_len;

	struct wh_gcm_message message =
		message_of(end, head, nonce, place_of(end, number), payload);

	if (end->sealed) {
		fetch_next(end, number);
		wh_gcm_encrypt(&end->key, &message, head + AAD_BYTES);
	} else {
		memcpy(payload, message.from, message.bytes);
	}
}

/* False: it is no packet of ours, or has changed. */
static bool read_packet(struct end *end, const struct rte_mbuf *pkt)
{
	const uint8_t *head = rte_pktmbuf_mtod_offset(pkt, const uint8_t *, OUTER_BYTES);
	const uint8_t *payload = head + WH_HEAD_BYTES;
	uint8_t nonce[WH_GCM_NONCE_BYTES] = {0};
	uint64_t number;

	if (pkt->data_len != OUTER_BYTES + WH_HEAD_BYTES + end->payload_bytes)
		return false;
	memcpy(&number, head, sizeof(number));
	memcpy(nonce, &number, sizeof(number));

	struct wh_gcm_message message =
		message_of(end, head, nonce, payload, place_of(end, number));

	if (end->sealed) {
		fetch_next(end, number);
		return wh_gcm_decrypt(&end->key, &message, head + AAD_BYTES);
	}
	memcpy(message.to, payload, message.bytes);
	return true;
}

/* An end that waits lets others have its CPU, as wavehaul's loops do. */
static void run_sender(struct end *end)
{
	struct rte_mbuf *pkts[BURST];
	uint64_t number = 0;

	for (;;) {
		uint16_t sent = 0;

		if (rte_pktmbuf_alloc_bulk(end->pool, pkts, BURST) != 0)
			rte_exit(EXIT_FAILURE, "no mbufs\n");
		for (uint32_t i = 0; i < BURST; i++)
			write_packet(end, number++, pkts[i]);
		while (sent < BURST) {
			uint16_t taken = rte_eth_tx_burst(
				end->port->ethdev, 0, &pkts[sent], (uint16_t)(BURST - sent));

			sent += taken;
			if (taken == 0)
				sched_yield();
		}
	}
}

static uint64_t receive_for(struct end *end, uint64_t ms, uint64_t *bad)
{
	uint64_t until_tsc = rte_rdtsc() + rte_get_timer_hz() / 1000 * ms;
	struct rte_mbuf *pkts[BURST];
	uint64_t came = 0;

	*bad = 0;
	while (rte_rdtsc() < until_tsc) {
		uint16_t count = rte_eth_rx_burst(end->port->ethdev, 0, pkts, BURST);

		for (uint16_t i = 0; i < count; i++)
			*bad += !read_packet(end, pkts[i]);
		rte_pktmbuf_free_bulk(pkts, count);
		came += count;
		if (count == 0)
			sched_yield();
	}
	return came;
}

static void run_receiver(struct end *end, uint64_t ms)
{
	uint64_t bad;

	(void)receive_for(end, WARM_MS, &bad);

	uint64_t began_tsc = rte_rdtsc();
	uint64_t came = receive_for(end, ms, &bad);
	double seconds = (double)(rte_rdtsc() - began_tsc) / (double)rte_get_timer_hz();

	printf("{\"packets\": %" PRIu64 ", \"bad\": %" PRIu64 ", \"seconds\": %.6f, "
	       "\"payload_bytes\": %u, \"cipher\": \"%s\"}\n",
		came, bad, seconds, end->payload_bytes, end->sealed ? wh_gcm_unit()->name : "none");
	fflush(stdout);
	/* The drivers do not expect that a peer leaves in the midst of a burst. */
	pause();
}

static void open_end(struct end *end, const char *device, uint16_t mtu, bool sealed)
{
	static const uint8_t key[WH_GCM_KEY_BYTES_MAX] = "the same at both ends";
	char name[WH_PORT_WHY_BYTES];
	char why[WH_PORT_WHY_BYTES];
	struct wh_port_config config = {
		.queues = 1, .mtu = mtu, .socket = SOCKET_ID_ANY, .link_wait_ms = LINK_MS};

	end->payload_bytes = wh_encap_payload_bytes(WH_IPV4, mtu);
	end->sealed = sealed;
	end->arena = rte_malloc(NULL, ARENA_BYTES, WH_CHUNK_ALIGN);
	end->pool = rte_pktmbuf_pool_create(
		"bare", POOL_MBUFS, POOL_CACHE, 0, wh_port_room_bytes(mtu), SOCKET_ID_ANY);
	if (end->arena == NULL || end->pool == NULL ||
		!wh_gcm_begin(&end->key, wh_gcm_unit(), WH_CIPHER_AES_128_GCM, key))
		rte_exit(EXIT_FAILURE, "out of memory\n");
	memset(end->arena, 0x5a, ARENA_BYTES);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(device, ","), device);
	config.pool = end->pool;
	if (wh_port_find(name, &config.ethdev) != 0)
		rte_exit(EXIT_FAILURE, "there is no port %s\n", name);
	if (wh_port_open(&config, &end->port, why, sizeof(why)) != 0)
		rte_exit(EXIT_FAILURE, "%s\n", why);
}

static void start(const char *device)
{
	char lcore[16] = "0@0";
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
			if (CPU_ISSET(cpu, &cpus))
				snprintf(lcore, sizeof(lcore), "0@%d", cpu);

	const char *words[] = {"bare", "--lcores", lcore, "--no-pci", "--no-telemetry",
		"--iova-mode=va", "--single-file-segments", "--log-level=error", "--vdev", device};

	if (!start_eal_with(words, RTE_DIM(words), PAGES))
		rte_exit(EXIT_FAILURE, "%d huge pages are wanted\n", PAGES);
}

int main(int count, char **word)
{
	static struct end end;
	bool receives = count == 6 && strcmp(word[1], "receive") == 0;
	bool sends = count == 5 && strcmp(word[1], "send") == 0;

	if (!receives && !sends) {
		fprintf(stderr, "usage: bare send DEVICE MTU sealed|plain\n"
				"       bare receive DEVICE MTU sealed|plain MILLISECONDS\n");
		return 2;
	}
	start(word[2]);
	open_end(&end, word[2], (uint16_t)atoi(word[3]), strcmp(word[4], "sealed") == 0);
	if (sends)
		run_sender(&end);
	run_receiver(&end, strtoull(word[5], NULL, 10));
	return 0;
}
