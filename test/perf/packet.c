/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a packet costs on its way, by task: carried.h. Turns are measured in slices, and of each
 * number the best slice counts: whatever else the machine does only adds to it. Sums are of whole
 * turns; the numbers by process are of other slices, in which the meter is on, and contain what
 * reading the clock costs.
 *
 * Chunks of CHUNKS fit into caches, nearly. Those of CHUNKS_COLD do not, as a host's do not, and
 * there it counts how early a payload is fetched. On an AMD EPYC with 1 MiB of L2, a sender that
 * seals, with the payload fetched one packet before and without: 361 and 468 cycles at 1500, 1249
 * and 2557 at 9000; unsealed 320 and 730. In caches fetching costs 10 and 100 cycles.
 *
 * Unsealed a sender copies nothing at 9000: 360 cycles in caches, of which the checksum has 218.
 * The library's call is 925. So what is 1.00 of the bar below is 34 % of the unsealed rate there,
 * before the device's part, which is the same for both: 60 % is out of the reach of any sealing by
 * that call, unless device and memory take 700 cycles beside it, sealed or not.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intel-ipsec-mb.h>
#include <rte_eal.h>

#include "carried.h"
#include "seal/gcm.h"
#include "seal/seal.h"

static void print_side(
	const struct bench *bench, enum side side, double sum, const double by_task[WH_METER_TASKS])
{
	printf("%5u %-8s %6.0f  ", bench->pair.config.packet_bytes, side_name(side), sum);
	for (uint32_t i = 0; i < WH_METER_TASKS; i++)
		if (by_task[i] >= 0.5)
			printf(" %s %.0f", wh_meter_task_name((enum wh_meter_task)i), by_task[i]);
	printf("\n");
}

static void measure(struct bench *bench, double sum[SIDES])
{
	double by_task[SIDES][WH_METER_TASKS] = {0};

	for (uint32_t slice = 0; slice < SLICES; slice++) {
		bench->metered = slice % 2 == 1;
		for (enum side side = 0; side < SIDES; side++)
			memset(bench->meter[side].cycles, 0, sizeof(bench->meter[side].cycles));

		double pkts = (double)run_slice(bench);

		for (enum side side = 0; side < SIDES; side++) {
			if (!bench->metered)
				keep_least(&sum[side], (double)bench->turn_tsc[side] / pkts);
			for (uint32_t i = 0; bench->metered && i < WH_METER_TASKS; i++)
				keep_least(&by_task[side][i],
					(double)bench->meter[side].cycles[i] / pkts);
		}
	}
	for (enum side side = 0; side < SIDES; side++)
		print_side(bench, side, sum[side], by_task[side]);
}

static void run(uint16_t mtu, const struct wh_profile *profile, enum wh_cipher cipher,
	uint32_t chunks, double sum[SIDES])
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (bench == NULL)
		rte_exit(EXIT_FAILURE, "no memory\n");
	sum[SENDER] = 0;
	sum[RECEIVER] = 0;
	open_all(bench, mtu, profile, cipher, chunks);
	measure(bench, sum);
	close_all(bench);
	free(bench);
}

/* A chunk's payload to a packet, or back, as sessions close and open it: on the same bytes. */
struct bare {
	uint8_t chunks[CHUNKS_COLD * CHUNK_BYTES];
	uint8_t packet[64][WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];
	IMB_MGR *manager;
	_Alignas(64) struct gcm_key_data key;
	struct gcm_context_data context;
};

static void gcm(struct bare *bare, enum side side, uint8_t *chunk, uint8_t *packet, uint32_t bytes)
{
	static const uint8_t nonce[12];
	uint8_t tag[WH_TAG_BYTES];
	uint8_t *body = packet + WH_HEAD_BYTES;

	if (side == SENDER)
		IMB_AES128_GCM_ENC(bare->manager, &bare->key, &bare->context, body, chunk, bytes,
			nonce, packet, WH_TAG_OFFSET, packet + WH_TAG_OFFSET, sizeof(tag));
	else
		IMB_AES128_GCM_DEC(bare->manager, &bare->key, &bare->context, chunk, body, bytes,
			nonce, packet, WH_TAG_OFFSET, tag, sizeof(tag));
}

static void checksum(enum side side, uint8_t *chunk, uint8_t *packet, uint32_t bytes)
{
	static const struct wh_seal seal = {.ops = &wh_seal_checksum, .keys = 1};
	uint8_t *body = packet + WH_HEAD_BYTES;

	if (side == SENDER)
		wh_seal_close(&seal, packet, chunk, bytes, bytes < ATTACH_BYTES ? body : NULL);
	else
		wh_seal_open(&seal, packet, WH_HEAD_BYTES + bytes, chunk);
}

/* Cycles of a call. */
static double bare_cycles(
	struct bare *bare, bool sealed, enum side side, uint32_t bytes, uint32_t chunks)
{
	uint32_t chunk_pkts = CHUNK_BYTES / bytes;
	uint32_t next = 0;
	double least = 0;

	for (uint32_t slice = 0; slice < SLICES; slice++) {
		uint64_t begin_tsc = rte_rdtsc();

		for (uint32_t i = 0; i < SLICE_PKTS; i++, next++) {
			uint8_t *chunk = bare->chunks + next / chunk_pkts % chunks * CHUNK_BYTES +
					 next % chunk_pkts * bytes;
			uint8_t *packet = bare->packet[i % RTE_DIM(bare->packet)];

			if (sealed)
				gcm(bare, side, chunk, packet, bytes);
			else
				checksum(side, chunk, packet, bytes);
		}
		keep_least(&least, (double)(rte_rdtsc() - begin_tsc) / SLICE_PKTS);
	}
	return least;
}

/*
 * What sealing costs beside what it must: a packet without its checksum, and the library's call for
 * its bytes.
 */
static void compare(struct bare *bare, uint16_t mtu, const double plain[SIDES],
	const double sealed[SIDES], uint32_t chunks)
{
	uint32_t bytes = pair_config(mtu, 0).payload_bytes;

	for (enum side side = 0; side < SIDES; side++) {
		double sum = bare_cycles(bare, false, side, bytes, chunks);
		double call = bare_cycles(bare, true, side, bytes, chunks);
		double least = plain[side] - sum + call;

		printf("%5u %-8s %6.0f = %.2f of %.0f (%.0f, less %.0f, and %.0f)\n", mtu,
			side_name(side), sealed[side], sealed[side] / least, least, plain[side],
			sum, call);
	}
}

static struct bare *open_bare(void)
{
	static const uint8_t key[16] = {1};
	IMB_ARCH arch;
	struct bare *bare = rte_zmalloc("bare", sizeof(*bare), WH_CHUNK_ALIGN);

	if (bare == NULL || (bare->manager = alloc_mb_mgr(0)) == NULL)
		rte_exit(EXIT_FAILURE, "no memory\n");
	init_mb_mgr_auto(bare->manager, &arch);
	IMB_AES128_GCM_PRE(bare->manager, key, &bare->key);
	return bare;
}

int main(void)
{
	static const uint16_t mtus[] = {1500, 9000};
	struct wh_profile lambda = unpaced();
	double plain[RTE_DIM(mtus)][SIDES], sealed[RTE_DIM(mtus)][SIDES];
	double cold[RTE_DIM(mtus)][SIDES], cold_sealed[RTE_DIM(mtus)][SIDES], other[SIDES];

	start_eal("perf_packet");
	printf("%5s %-8s %6s   by process, in cycles per packet\n", "MTU", "side", "sum");
	for (size_t i = 0; i < RTE_DIM(mtus); i++)
		run(mtus[i], wh_profile_find("fixed"), (enum wh_cipher)0, CHUNKS, plain[i]);
	printf("lambda\n");
	for (size_t i = 0; i < RTE_DIM(mtus); i++)
		run(mtus[i], &lambda, (enum wh_cipher)0, CHUNKS, other);
	printf("sealed, %s\n", wh_gcm_unit()->name);
	for (size_t i = 0; i < RTE_DIM(mtus); i++)
		run(mtus[i], wh_profile_find("fixed"), WH_CIPHER_AES_128_GCM, CHUNKS, sealed[i]);

	printf("chunks larger than caches, unsealed and sealed\n");
	for (size_t i = 0; i < RTE_DIM(mtus); i++) {
		run(mtus[i], wh_profile_find("fixed"), (enum wh_cipher)0, CHUNKS_COLD, cold[i]);
		run(mtus[i], wh_profile_find("fixed"), WH_CIPHER_AES_128_GCM, CHUNKS_COLD,
			cold_sealed[i]);
	}

	struct bare *bare = open_bare();

	printf("of a packet without its checksum and with a bare call of the library\n");
	for (size_t i = 0; i < RTE_DIM(mtus); i++)
		compare(bare, mtus[i], plain[i], sealed[i], CHUNKS);
	printf("the same, chunks larger than caches\n");
	for (size_t i = 0; i < RTE_DIM(mtus); i++)
		compare(bare, mtus[i], cold[i], cold_sealed[i], CHUNKS_COLD);
	free_mb_mgr(bare->manager);
	rte_free(bare);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
