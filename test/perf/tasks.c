/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What each task of a session costs alone on a core, in cycles per packet of data, and what it
 * costs to hand something over to another core: the figures of config/scenarios/pipeline.ini.
 *
 *   perf_tasks                 tells them
 *   perf_tasks --write FILE    puts them into a scenario, too: into the lines `process`,
 *                              `receiver_process` and `handing` of the flows that are named as in
 *                              `settings`
 *
 * Of each task the best slice counts. Reading the clock is taken off: it is measured, and each
 * stretch of a task contains one reading. Tasks are the paper's (lib/session), with two parts of
 * trans and rcv of their own: sealing and opening of the data, and the port. What a task does for a
 * report is divided among the packets that the report is about.
 */

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fifo.h"
#include "carried.h"
#include "seal/gcm.h"
#include "seal/seal.h"
#include "session/session_internal.h"

#define LOSS 0.01

/* In the order of `process` in scenarios. */
enum task {
	TASK_TAKE,    /* get_rcv_stat, get_trans_stat; their packets received and opened */
	TASK_SAY,     /* send_trans_stat, send_rcv_stat; their packets sealed and sent */
	TASK_NETWORK, /* trans, rcv */
	TASK_HOST,    /* host_trans, host_rcv */
	TASK_SEAL,    /* a packet of data sealed, or opened into its chunk */
	TASK_PORT, /* of the sender: frames made, and sent; of the receiver: received, and read */
	TASKS,
};

static const char *const task_names[SIDES][TASKS] = {
	[SENDER] = {"get_rcv_stat", "send_trans_stat", "trans", "host_trans", "seal", "port"},
	[RECEIVER] = {"get_trans_stat", "send_rcv_stat", "rcv", "host_rcv", "open", "port"},
};

/* Whose a part of the meter is. The loop goes on turning on each core: it is the port's. */
static const enum task task_of[SIDES][WH_METER_TASKS] = {
	[SENDER] =
		{
			[WH_METER_LOOP] = TASK_PORT,
			[WH_METER_PORT_RECEIVE] = TASK_TAKE,
			[WH_METER_DECODE] = TASK_TAKE,
			[WH_METER_HOST_TRANS] = TASK_HOST,
			[WH_METER_TRANS] = TASK_NETWORK,
			[WH_METER_GET_RCV_STAT] = TASK_TAKE,
			[WH_METER_SEND_TRANS_STAT] = TASK_SAY,
			[WH_METER_OPENING] = TASK_SAY,
			[WH_METER_FRAME] = TASK_PORT,
			[WH_METER_PORT_SEND] = TASK_PORT,
		},
	[RECEIVER] =
		{
			[WH_METER_LOOP] = TASK_PORT,
			[WH_METER_PORT_RECEIVE] = TASK_PORT,
			[WH_METER_DECODE] = TASK_PORT,
			[WH_METER_RCV] = TASK_NETWORK,
			[WH_METER_HOST_RCV] = TASK_HOST,
			[WH_METER_GET_TRANS_STAT] = TASK_TAKE,
			[WH_METER_TRANS] = TASK_SAY,
			[WH_METER_SEND_RCV_STAT] = TASK_SAY,
			[WH_METER_OPENING] = TASK_SAY,
			[WH_METER_FRAME] = TASK_SAY,
			[WH_METER_PORT_SEND] = TASK_SAY,
		},
};

/* With the meter on: how often the clock was read in a task, and what sealing took. */
static struct bench *bench;
static uint64_t readings[SIDES][WH_METER_TASKS];
static uint64_t seal_tsc[SIDES];
static uint64_t seals[SIDES];
static struct wh_seal_ops metered[SIDES];
static const struct wh_seal_ops *bare[SIDES];

static uint64_t read_sender(void)
{
	readings[SENDER][bench->meter[SENDER].current]++;
	return rte_rdtsc();
}

static uint64_t read_receiver(void)
{
	readings[RECEIVER][bench->meter[RECEIVER].current]++;
	return rte_rdtsc();
}

static void add_seal(enum side side, uint64_t begin_tsc)
{
	seal_tsc[side] += rte_rdtsc() - begin_tsc;
	seals[side]++;
}

static void close_metered(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	uint64_t begin_tsc = bench->metered ? rte_rdtsc() : 0;

	bare[SENDER]->close(seal, head, body, body_bytes, to);
	if (bench->metered)
		add_seal(SENDER, begin_tsc);
}

static bool open_metered(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	uint64_t begin_tsc = bench->metered ? rte_rdtsc() : 0;
	bool opened = bare[RECEIVER]->open(seal, head, body, body_bytes, to);

	if (bench->metered)
		add_seal(RECEIVER, begin_tsc);
	return opened;
}

static void meter_seals(void)
{
	struct wh_seal *sender = &bench->pair.session[SENDER]->send_seal;
	struct wh_seal *receiver = &bench->pair.session[RECEIVER]->receive_seal;

	bare[SENDER] = sender->ops;
	bare[RECEIVER] = receiver->ops;
	metered[SENDER] = *sender->ops;
	metered[RECEIVER] = *receiver->ops;
	metered[SENDER].close = close_metered;
	metered[RECEIVER].open = open_metered;
	sender->ops = &metered[SENDER];
	receiver->ops = &metered[RECEIVER];
	bench->meter[SENDER].read = read_sender;
	bench->meter[RECEIVER].read = read_receiver;
}

/* Cycles of a reading by the meter, and of a bare one. */
static double meter_cost(void)
{
	double least = 0;

	for (uint32_t slice = 0; slice < SLICES; slice++) {
		struct wh_meter meter = {.read = read_sender};
		uint64_t begin_tsc = rte_rdtsc();

		wh_meter_begin(&meter, begin_tsc);
		for (uint32_t i = 0; i < SLICE_PKTS; i++)
			wh_meter_leave(&meter, wh_meter_enter(&meter, WH_METER_RCV));
		keep_least(&least, (double)(rte_rdtsc() - begin_tsc) / (2 * SLICE_PKTS));
	}
	return least;
}

static double clock_cost(void)
{
	double least = 0;

	for (uint32_t slice = 0; slice < SLICES; slice++) {
		uint64_t begin_tsc = rte_rdtsc();
		volatile uint64_t now_tsc;

		for (uint32_t i = 0; i < SLICE_PKTS; i++)
			now_tsc = rte_rdtsc();
		(void)now_tsc;
		keep_least(&least, (double)(rte_rdtsc() - begin_tsc) / SLICE_PKTS);
	}
	return least;
}

static void measure_slice(double by_task[SIDES][TASKS], double reading, double clock)
{
	memset(readings, 0, sizeof(readings));
	memset(seal_tsc, 0, sizeof(seal_tsc));
	memset(seals, 0, sizeof(seals));
	for (enum side side = 0; side < SIDES; side++)
		memset(bench->meter[side].cycles, 0, sizeof(bench->meter[side].cycles));

	double pkts = (double)run_slice(bench);

	for (enum side side = 0; side < SIDES; side++) {
		enum task around = side == SENDER ? TASK_NETWORK : TASK_PORT;
		double sum[TASKS] = {0};

		for (uint32_t i = 0; i < WH_METER_TASKS; i++)
			sum[task_of[side][i]] += (double)bench->meter[side].cycles[i] -
						 reading * (double)readings[side][i];
		sum[TASK_SEAL] = (double)seal_tsc[side] - clock * (double)seals[side];
		sum[around] -= (double)seal_tsc[side] + clock * (double)seals[side];
		for (uint32_t i = 0; i < TASKS; i++)
			keep_least(&by_task[side][i], sum[i] > 0 ? sum[i] / pkts : 0);
	}
}

static void measure(uint16_t mtu, enum wh_cipher cipher, double loss, double by_task[SIDES][TASKS])
{
	struct wh_profile profile = unpaced();

	bench = calloc(1, sizeof(*bench));
	if (bench == NULL)
		rte_exit(EXIT_FAILURE, "no memory\n");

	double reading = meter_cost();
	double clock = clock_cost();

	memset(by_task, 0, SIDES * sizeof(by_task[0]));
	wh_prng_init(&bench->prng, 1);
	open_all(bench, mtu, &profile, cipher, CHUNKS_COLD);
	bench->loss = loss > 0 ? wh_chance_threshold(loss) : 0;
	meter_seals();
	bench->metered = true;
	for (uint32_t slice = 0; slice < SLICES; slice++)
		measure_slice(by_task, reading, clock);
	close_all(bench);
	free(bench);
}

/*
 * Handing over: a FIFO in which one core writes and another reads, and the cache line to which each
 * element points; or the notes of a receiver whose bookkeeping is apart, written in place one by
 * one. Both cores are busy all the time, so that it costs either at most what is told.
 */
#define HANDED       UINT32_C(16384) /* in a slice, shorter than a scheduler's */
#define HANDED_TIMES 500
#define HANDED_ROOM  1023
#define BURST        32 /* of a netif */

struct note {
	_Alignas(RTE_CACHE_LINE_SIZE) uint64_t number;
};

struct handing {
	struct note note[2 * (HANDED_ROOM + 1)];
	struct wh_fifo fifo;
	struct wh_slot_fifo notes;
	uint32_t burst; /* 0: notes of a receiver */
	int cpu[SIDES];
	atomic_bool ready;
	uint64_t sum;
};

static void stay_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		rte_exit(EXIT_FAILURE, "CPU %d is not ours\n", cpu);
}

static uint32_t take_burst(struct handing *handing)
{
	struct note *note[BURST];
	uint32_t count = rte_ring_sc_dequeue_burst_elem(
		handing->fifo.ring, note, sizeof(note[0]), handing->burst, NULL);

	for (uint32_t i = 0; i < count; i++)
		handing->sum += note[i]->number;
	return count;
}

static uint32_t take_landed(struct handing *handing)
{
	const struct wh_slot *slot = wh_slot_fifo_peek(&handing->notes);

	if (slot == NULL)
		return 0;
	handing->sum += ((const struct wh_landing_note *)slot->data)->pn;
	wh_slot_fifo_release(&handing->notes);
	return 1;
}

static void *take_notes(void *argument)
{
	struct handing *handing = argument;

	stay_on(handing->cpu[RECEIVER]);
	atomic_store(&handing->ready, true);
	for (uint32_t taken = 0; taken < HANDED * HANDED_TIMES;)
		taken += handing->burst > 0 ? take_burst(handing) : take_landed(handing);
	return NULL;
}

/* As wh_landing_take does. */
static void give_landed(struct handing *handing)
{
	struct wh_slot *slot;

	for (uint32_t given = 0; given < HANDED;) {
		slot = wh_slot_fifo_reserve(&handing->notes);
		if (slot == NULL)
			continue;
		*(struct wh_landing_note *)slot->data = (struct wh_landing_note){.pn = given++};
		slot->bytes = sizeof(struct wh_landing_note);
		slot->when_tsc = given;
		wh_slot_fifo_commit(&handing->notes);
	}
}

static void give_bursts(struct handing *handing)
{
	struct note *note[BURST];

	for (uint32_t given = 0; given < HANDED;) {
		if (wh_fifo_room(&handing->fifo) < handing->burst)
			continue;
		for (uint32_t i = 0; i < handing->burst; i++) {
			note[i] = &handing->note[(given + i) % RTE_DIM(handing->note)];
			note[i]->number = given + i;
		}
		given += rte_ring_sp_enqueue_burst_elem(
			handing->fifo.ring, note, sizeof(note[0]), handing->burst, NULL);
	}
}

static double give_notes(struct handing *handing)
{
	uint64_t begin_tsc = rte_rdtsc();

	if (handing->burst > 0)
		give_bursts(handing);
	else
		give_landed(handing);
	return (double)(rte_rdtsc() - begin_tsc) / HANDED;
}

static int compare_doubles(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/* The median: where two CPUs are virtual, the best time is one in which they were not two. */
static double hand_over(struct handing *handing, uint32_t burst)
{
	double cycles[HANDED_TIMES];
	pthread_t taker;

	handing->burst = burst;
	atomic_store(&handing->ready, false);
	if (pthread_create(&taker, NULL, take_notes, handing) != 0)
		rte_exit(EXIT_FAILURE, "no thread\n");
	while (!atomic_load(&handing->ready))
		;
	for (uint32_t i = 0; i < HANDED_TIMES; i++)
		cycles[i] = give_notes(handing);
	pthread_join(taker, NULL);
	qsort(cycles, HANDED_TIMES, sizeof(cycles[0]), compare_doubles);
	if (burst > 0)
		printf("handed to another core, in bursts of %u", burst);
	else
		printf("a note of %zu bytes for the bookkeeping of another core",
			sizeof(struct wh_slot) + sizeof(struct wh_landing_note));
	printf(": %.0f, least %.0f, most %.0f\n", cycles[HANDED_TIMES / 2], cycles[0],
		cycles[HANDED_TIMES - 1]);
	return cycles[HANDED_TIMES / 2];
}

static double measure_handing(const cpu_set_t *cpus)
{
	struct handing *handing = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*handing));
	uint32_t found = 0;

	if (handing == NULL || wh_fifo_init(&handing->fifo, HANDED_ROOM) != 0 ||
		wh_slot_fifo_init(&handing->notes, HANDED_ROOM, sizeof(struct wh_landing_note)) !=
			0)
		rte_exit(EXIT_FAILURE, "no memory\n");
	for (int cpu = 0; cpu < CPU_SETSIZE && found < SIDES; cpu++)
		if (CPU_ISSET(cpu, cpus))
			handing->cpu[found++] = cpu;
	if (found < SIDES)
		rte_exit(EXIT_FAILURE, "handing over takes two CPUs\n");
	stay_on(handing->cpu[SENDER]);

	(void)hand_over(handing, 1);
	(void)hand_over(handing, 0);

	double burst = hand_over(handing, BURST);

	wh_fifo_free(&handing->fifo);
	wh_slot_fifo_free(&handing->notes);
	free(handing);
	return burst;
}

/* A flow of the scenario, and its figures. */
struct setting {
	const char *flow;
	uint16_t mtu;
	bool sealed;
	double loss;
	double by_task[SIDES][TASKS];
};

static struct setting settings[] = {
	{"plain_1500", .mtu = 1500},
	{"plain_1500_loss", .mtu = 1500, .loss = LOSS},
	{"plain_9000", .mtu = 9000},
	{"plain_9000_loss", .mtu = 9000, .loss = LOSS},
	{"sealed_1500", .mtu = 1500, .sealed = true},
	{"sealed_1500_loss", .mtu = 1500, .sealed = true, .loss = LOSS},
	{"sealed_9000", .mtu = 9000, .sealed = true},
	{"sealed_9000_loss", .mtu = 9000, .sealed = true, .loss = LOSS},
};

static void tell(const struct setting *setting)
{
	for (enum side side = 0; side < SIDES; side++) {
		double sum = 0;

		for (uint32_t i = 0; i < TASKS; i++)
			sum += setting->by_task[side][i];
		printf("%-17s %-8s %6.0f ", setting->flow, side_name(side), sum);
		for (uint32_t i = 0; i < TASKS; i++)
			printf(" %s %.0f", task_names[side][i], setting->by_task[side][i]);
		printf("\n");
	}
}

static double to_ns(double cycles)
{
	return cycles * 1e9 / (double)rte_get_tsc_hz();
}

static void write_times(FILE *to, const char *key, const double by_task[TASKS])
{
	fprintf(to, "%s =", key);
	for (uint32_t i = 0; i < TASKS; i++)
		fprintf(to, "%s %.1fns", i > 0 ? "," : "", fmax(to_ns(by_task[i]), 0.1));
	fprintf(to, "\n");
}

/* The settings of the flow that begins with `line`; NULL: it is no such line. */
static const struct setting *setting_of(const char *line)
{
	char name[64];

	if (sscanf(line, "[flow %63[^]]", name) == 1)
		for (size_t i = 0; i < RTE_DIM(settings); i++)
			if (strcmp(settings[i].flow, name) == 0)
				return &settings[i];
	return NULL;
}

static void write_line(FILE *to, const char *line, const struct setting *flow, double handing)
{
	if (flow != NULL && strncmp(line, "process =", 9) == 0)
		write_times(to, "process", flow->by_task[SENDER]);
	else if (flow != NULL && strncmp(line, "receiver_process =", 18) == 0)
		write_times(to, "receiver_process", flow->by_task[RECEIVER]);
	else if (flow != NULL && strncmp(line, "handing =", 9) == 0)
		fprintf(to, "handing = far * %.1fns\n", to_ns(handing));
	else
		fputs(line, to);
}

static void write_scenario(const char *path, double handing)
{
	const struct setting *flow = NULL;
	char *text = NULL;
	size_t text_bytes = 0;
	char line[512];
	FILE *from = fopen(path, "r");
	FILE *to = open_memstream(&text, &text_bytes);

	if (from == NULL || to == NULL)
		rte_exit(EXIT_FAILURE, "%s is not to be read\n", path);
	while (fgets(line, sizeof(line), from) != NULL) {
		if (line[0] == '[')
			flow = setting_of(line);
		write_line(to, line, flow, handing);
	}
	fclose(to);
	from = freopen(path, "w", from);
	if (from == NULL || fputs(text, from) < 0 || fclose(from) != 0)
		rte_exit(EXIT_FAILURE, "%s is not to be written\n", path);
	free(text);
}

int main(int count, char **word)
{
	bool writes = count == 3 && strcmp(word[1], "--write") == 0;
	cpu_set_t cpus;

	if (count != 1 && !writes) {
		fprintf(stderr, "usage: perf_tasks [--write SCENARIO]\n");
		return 2;
	}
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return EXIT_FAILURE;
	start_eal("perf_tasks"); /* and this thread stays on one of them */

	double handing = measure_handing(&cpus);

	printf("sealed by %s; %.2f GHz; cycles per packet of data\n", wh_gcm_unit()->name,
		(double)rte_get_tsc_hz() / 1e9);
	for (size_t i = 0; i < RTE_DIM(settings); i++) {
		struct setting *setting = &settings[i];

		measure(setting->mtu, setting->sealed ? WH_CIPHER_AES_128_GCM : (enum wh_cipher)0,
			setting->loss, setting->by_task);
		tell(setting);
	}
	if (writes)
		write_scenario(word[2], handing);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
