/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How well packets keep their time: 10 Gb/s of packets with an MTU of 1500 bytes, one by one, from
 * a TX core that does nothing else.
 *
 *   lcore 1  the sending task of the sender's netif, in a loop like wh_loop_run's
 *   lcore 0  all the rest: the sender's receiving task, the receiver's netif, reader, writer
 *
 * Two net_ring ports hand over mbufs to each other. The rest looks at them every REST_US, as often
 * as a NIC tells of some packets at once: a core that takes each packet in the moment it comes
 * fights with the TX core for the ring's and the packet's cache lines, which no NIC does.
 *
 * In turns of a second the TX core runs the session and a bare loop, which reads the TSC and
 * charges a pacer of its own: how late that one is, is the machine's doing. Held against a bound is
 * the difference.
 *
 * Lateness is counted up to the beginning of the turn that a packet goes in, in both loops; how
 * long such a turn lasts, to the port and back, is told beside it.
 *
 * With bursts of 1 nothing is caught up: whatever takes the TX core away for longer than an
 * interval, 1.23 us, takes from the rate. A gap of GAP_NS between two turns is longer than any turn
 * of ours: an interrupt, another program, the hypervisor. What the pacer gives up after one is told
 * apart, and so is time in which the session has nothing that it may send (enum wh_limit), since
 * the rest of it, on lcore 0, was kept from running. Held against a bound is the rate in the time
 * that is left, beside the bare loop's; when more than DISTURBED_MAX of it is gone there is no
 * verdict. On CPUs that are isolated there are no gaps, and the bare loop's rate is exact. taskset
 * chooses the two CPUs.
 */

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "../rig/histogram_total.h"
#include "base/histogram.h"
#include "chunks.h"
#include "eal.h"
#include "pair.h"
#include "session/pacer.h"

#define RATE_BPS    (10 * WH_NS_PER_S)
#define MTU         1500
#define CHUNKS      8 /* of each end: what is sent stays in the cache */
#define WINDOW_PKTS 8192
#define RING_PKTS   8191 /* more than chunks hold packets: never full */
#define MBUFS       16383
#define MEMORY_MIB  96
#define REST_US     20 /* between two rounds of the rest */
#define TX_LCORE    1

#define SLICE_NS      WH_NS_PER_S
#define WARM_NS       UINT64_C(20000000) /* of a slice of the session: it has slept for another */
#define SECONDS       10
#define SECONDS_MAX   3600
#define BURST_MAX     1024
#define GAP_NS        5000
#define SKIPPED       77 /* what meson takes for "cannot run here" */
#define RATE_PPM_MAX  100.0
#define DISTURBED_MAX 0.01
#define LATER_NS_MAX  200

/* What one of the two loops did. */
struct run {
	uint64_t measured_tsc;
	uint64_t wire_bytes;
	uint64_t forfeited_tsc;
	uint64_t gaps;
	uint64_t gaps_forfeited_tsc; /* of forfeited_tsc: after gaps */
	uint64_t limited_tsc;        /* by the rest, not by the rate */
	struct wh_histogram late_tsc;
};

/* What the session has counted up to a moment. */
struct mark {
	uint64_t tsc;
	uint64_t forfeited_tsc;
	uint64_t wire_bytes;
	struct wh_session_stats session;
	struct wh_histogram late_tsc;
};

struct bench {
	uint64_t hz;
	uint64_t gap_tsc;
	uint32_t seconds;
	uint32_t burst_pkts;
	struct pair pair;
	uint64_t next_chunk;

	/* TX core; lcore 0 while that one waits */
	struct wh_meter meter;
	uint64_t turns;
	uint64_t from_tsc; /* of the slice: what comes before is not counted */
	uint64_t until_tsc;
	struct mark begin;
	struct mark end;

	/* sums over the slices */
	struct run paced;
	struct run bare;
	uint64_t control_pkts;
	uint64_t retransmitted_pkts;
	struct wh_histogram sending_tsc; /* turns with a packet */
	struct wh_histogram waiting_tsc; /* and without */
};

static void add_difference(
	struct wh_histogram *sum, const struct wh_histogram *from, const struct wh_histogram *to)
{
	for (uint32_t i = 0; i < WH_HISTOGRAM_BUCKETS; i++)
		sum->count[i] += to->count[i] - from->count[i];
}

static uint32_t wire_bytes(void)
{
	return wh_encap_wire_bytes(WH_IPV4, wh_encap_payload_bytes(WH_IPV4, MTU));
}

static void poll_the_rest(struct bench *bench)
{
	uint64_t now_tsc = rte_rdtsc();

	wh_netif_receive(&bench->pair.netif[SENDER], now_tsc);
	wh_netif_receive(&bench->pair.netif[RECEIVER], now_tsc);
	wh_netif_send(&bench->pair.netif[RECEIVER], now_tsc);
	chunks_feed(bench->pair.session[SENDER], &bench->next_chunk, WH_CHUNK_BYTES_DEFAULT);
	chunks_drain(bench->pair.session[RECEIVER]);
}

/* A round of the TX core's loop. */
static void send_turn(struct bench *bench, uint64_t now_tsc)
{
	bool metered = bench->turns++ % WH_METER_EVERY == 0;

	if (metered)
		wh_meter_begin(&bench->meter, now_tsc);

	int32_t work = wh_netif_send(&bench->pair.netif[SENDER], now_tsc);

	if (metered)
		wh_meter_end(&bench->meter, work > 0);
	if (work == 0)
		rte_pause();
}

static uint64_t limited_tsc(const struct wh_session_stats *stats)
{
	uint64_t sum_tsc = 0;

	for (uint32_t i = 0; i < WH_LIMITS; i++)
		sum_tsc += i == WH_LIMIT_RATE ? 0 : stats->limit_tsc[i];
	return sum_tsc;
}

/* Lateness is the pacer's; bytes are those of all frames, with what Ethernet adds to them. */
static void take_mark(const struct bench *bench, uint64_t now_tsc, struct mark *mark)
{
	const struct wh_port_stats *port = wh_port_stats(bench->pair.port[SENDER], 0);
	const struct wh_pacer *pacer = wh_session_pacer(bench->pair.session[SENDER]);

	mark->tsc = now_tsc;
	mark->forfeited_tsc = pacer->forfeited_tsc;
	mark->wire_bytes = port->tx_bytes + port->tx_pkts * WH_ETHER_WIRE_BYTES;
	mark->session = wh_session_stats(bench->pair.session[SENDER]);
	mark->late_tsc = pacer->lateness_tsc;
}

static bool is_gap(const struct bench *bench, uint64_t last_tsc, uint64_t now_tsc)
{
	return now_tsc - last_tsc > bench->gap_tsc;
}

/* Not to end with a gap: what the pacer gives up for it is known one turn later. */
static bool goes_on(const struct bench *bench, uint64_t last_tsc, uint64_t now_tsc)
{
	return now_tsc < bench->until_tsc || is_gap(bench, last_tsc, now_tsc);
}

/* After a turn of the pacer's, which began at now_tsc: the one before it did at last_tsc. */
static void count_gap(const struct bench *bench, struct run *run, uint64_t last_tsc,
	uint64_t now_tsc, uint64_t forfeited_tsc)
{
	if (likely(!is_gap(bench, last_tsc, now_tsc)))
		return;
	run->gaps++;
	run->gaps_forfeited_tsc += forfeited_tsc;
}

/* TX core: a turn of the session that counts; returns when the next one begins. */
static uint64_t counted_turn(struct bench *bench, uint64_t last_tsc, uint64_t now_tsc)
{
	const struct wh_port_stats *port = wh_port_stats(bench->pair.port[SENDER], 0);
	const struct wh_pacer *pacer = wh_session_pacer(bench->pair.session[SENDER]);
	uint64_t sent_pkts = port->tx_pkts;
	uint64_t forfeited_tsc = pacer->forfeited_tsc;

	send_turn(bench, now_tsc);
	count_gap(bench, &bench->paced, last_tsc, now_tsc, pacer->forfeited_tsc - forfeited_tsc);

	uint64_t next_tsc = rte_rdtsc();

	wh_histogram_add(port->tx_pkts > sent_pkts ? &bench->sending_tsc : &bench->waiting_tsc,
		next_tsc - now_tsc);
	return next_tsc;
}

static int run_session(void *argument)
{
	struct bench *bench = argument;
	uint64_t now_tsc = rte_rdtsc();

	for (; now_tsc < bench->from_tsc; now_tsc = rte_rdtsc())
		send_turn(bench, now_tsc);

	take_mark(bench, now_tsc, &bench->begin);

	uint64_t last_tsc = now_tsc;

	while (goes_on(bench, last_tsc, now_tsc)) {
		uint64_t next_tsc = counted_turn(bench, last_tsc, now_tsc);

		last_tsc = now_tsc;
		now_tsc = next_tsc;
	}
	take_mark(bench, now_tsc, &bench->end);
	return 0;
}

/* TX core: nothing but the pacer. */
static int run_bare(void *argument)
{
	struct bench *bench = argument;
	struct run *run = &bench->bare;
	uint64_t now_tsc = rte_rdtsc();
	uint64_t last_tsc = now_tsc;
	uint64_t begin_tsc = now_tsc;
	struct wh_pacer pacer;

	wh_pacer_init(&pacer, now_tsc, wire_bytes(), bench->burst_pkts);
	wh_pacer_set_interval(&pacer, wh_interval_fp(bench->hz, wire_bytes(), RATE_BPS));
	while (goes_on(bench, last_tsc, now_tsc)) {
		uint64_t forfeited_tsc = pacer.forfeited_tsc;

		if (wh_pacer_due(&pacer, now_tsc))
			wh_pacer_charge(&pacer, now_tsc, wire_bytes());
		count_gap(bench, run, last_tsc, now_tsc, pacer.forfeited_tsc - forfeited_tsc);
		last_tsc = now_tsc;
		now_tsc = rte_rdtsc();
	}
	run->measured_tsc += now_tsc - begin_tsc;
	run->wire_bytes += wh_rig_histogram_total(&pacer.lateness_tsc) * wire_bytes();
	run->forfeited_tsc += pacer.forfeited_tsc;
	add_difference(&run->late_tsc, &(struct wh_histogram){0}, &pacer.lateness_tsc);
	return 0;
}

static void run_slice(struct bench *bench, lcore_function_t *run)
{
	uint64_t now_tsc = rte_rdtsc();

	bench->from_tsc = now_tsc + wh_ns_to_tsc(bench->hz, WARM_NS);
	bench->until_tsc = bench->from_tsc + wh_ns_to_tsc(bench->hz, SLICE_NS);

	int rc = rte_eal_remote_launch(run, bench, TX_LCORE);

	WH_ASSERT(rc == 0);
	while (rte_eal_get_lcore_state(TX_LCORE) == RUNNING) {
		poll_the_rest(bench);
		rte_delay_us_block(REST_US);
	}
	rte_eal_wait_lcore(TX_LCORE);
}

static void add_slice(struct bench *bench)
{
	const struct mark *begin = &bench->begin;
	const struct mark *end = &bench->end;
	struct run *run = &bench->paced;

	run->measured_tsc += end->tsc - begin->tsc;
	run->wire_bytes += end->wire_bytes - begin->wire_bytes;
	run->forfeited_tsc += end->forfeited_tsc - begin->forfeited_tsc;
	run->limited_tsc += limited_tsc(&end->session) - limited_tsc(&begin->session);
	add_difference(&run->late_tsc, &begin->late_tsc, &end->late_tsc);
	bench->control_pkts += end->session.control_sent_pkts - begin->session.control_sent_pkts;
	bench->retransmitted_pkts +=
		end->session.retransmitted_pkts - begin->session.retransmitted_pkts;
}

/* The first two CPUs that this process may use; false: there is one. */
static bool find_cpus(unsigned int cpus[2])
{
	cpu_set_t allowed;
	unsigned int found = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return false;
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[found++] = cpu;
	return found == 2;
}

static void start_eal(const unsigned int cpus[2])
{
	char memory[16], lcores[32];
	const char *const words[] = {"perf_pacing", "--no-pci", "--no-telemetry", "--iova-mode=va",
		"--log-level=error", "-m", memory, "--lcores", lcores};

	snprintf(memory, sizeof(memory), "%d", MEMORY_MIB);
	snprintf(lcores, sizeof(lcores), "0@%u,%d@%u", cpus[0], TX_LCORE, cpus[1]);

	bool huge = start_eal_with(words, RTE_DIM(words), MEMORY_MIB / 2);

	printf("memory: %s; the TX core is CPU %u\n", huge ? "2 MiB pages" : "4 KiB pages",
		cpus[1]);
}

static void make_rings(struct pair *pair)
{
	pair->pool[SENDER] = pair_pool("pacing", MBUFS, MTU);
	pair->pool[RECEIVER] = pair->pool[SENDER];
	pair->in[SENDER] = pair_ring("to_sender", RING_PKTS);
	pair->in[RECEIVER] = pair_ring("to_receiver", RING_PKTS);
	pair->out[SENDER] = pair->in[RECEIVER];
	pair->out[RECEIVER] = pair->in[SENDER];
}

/* The session opens and runs for a while; its owner core stays the same, whoever polls it here. */
static void open_all(struct bench *bench)
{
	struct pair *pair = &bench->pair;

	pair->config = pair_config(MTU, RATE_BPS);
	pair->config.chunks = CHUNKS;
	pair->config.window_pkts = WINDOW_PKTS;
	pair->config.burst_pkts = bench->burst_pkts;
	pair->attach_bytes = UINT32_MAX; /* a ring hands over the very packet: a copy */
	pair->tx_meter[SENDER] = &bench->meter;
	bench->meter.read = pair_read_tsc;
	make_rings(pair);
	pair_open(pair, "pacing");

	uint64_t until_tsc = rte_rdtsc() + wh_ns_to_tsc(bench->hz, PAIR_OPENING_NS);

	while (wh_session_stats(pair->session[SENDER]).acked_bytes == 0) {
		poll_the_rest(bench);
		send_turn(bench, rte_rdtsc());
		if (rte_rdtsc() > until_tsc)
			rte_exit(EXIT_FAILURE, "the session does not open\n");
	}
}

static void close_all(struct bench *bench)
{
	struct pair *pair = &bench->pair;

	pair_close(pair);
	for (enum side side = 0; side < SIDES; side++)
		pair_ring_free(pair->in[side]);
	rte_mempool_free(pair->pool[SENDER]);
}

static double to_ns(const struct bench *bench, uint64_t tsc)
{
	return 1e9 * (double)tsc / (double)bench->hz;
}

static uint64_t p99(const struct wh_histogram *histogram)
{
	return wh_histogram_quantile(histogram, 0.99);
}

static void print_histogram(
	const struct bench *bench, const char *name, const struct wh_histogram *histogram)
{
	static const double shares[] = {0.5, 0.99, 0.999};

	printf("%-24s %12" PRIu64, name, wh_rig_histogram_total(histogram));
	for (size_t i = 0; i < RTE_DIM(shares); i++) {
		uint64_t tsc = wh_histogram_quantile(histogram, shares[i]);

		printf(" %8" PRIu64 " (%7.0f ns)", tsc, to_ns(bench, tsc));
	}
	printf("\n");
}

static void print_meter(const struct bench *bench)
{
	printf("cycles of the TX core, by process, per turn:");
	for (uint32_t i = 0; i < WH_METER_TASKS; i++)
		if (bench->meter.cycles[i] > 0)
			printf(" %s %.0f", wh_meter_task_name((enum wh_meter_task)i),
				(double)bench->meter.cycles[i] / (double)bench->meter.turns);
	printf("\n");
}

/* How far the rate was off, in the time that is left without `less_tsc`. */
static double off_ppm(const struct bench *bench, const struct run *run, uint64_t less_tsc)
{
	double seconds = (double)(run->measured_tsc - less_tsc) / (double)bench->hz;

	return 1e6 * (8.0 * (double)run->wire_bytes / seconds / (double)RATE_BPS - 1.0);
}

static double undisturbed_off_ppm(const struct bench *bench, const struct run *run)
{
	return off_ppm(bench, run, run->gaps_forfeited_tsc + run->limited_tsc);
}

static void print_run(const struct bench *bench, const char *name, const struct run *run)
{
	double gaps_us = to_ns(bench, run->gaps_forfeited_tsc) / 1e3;
	double all_us = to_ns(bench, run->forfeited_tsc) / 1e3;

	printf("%s: off by %+.1f ppm over %.2f s; %+.1f ppm without disturbances\n", name,
		off_ppm(bench, run, 0), (double)run->measured_tsc / (double)bench->hz,
		undisturbed_off_ppm(bench, run));
	printf("  given up: %.1f us after %" PRIu64 " gaps, %.1f us beside; limited by the rest: "
	       "%.1f us\n",
		gaps_us, run->gaps, all_us - gaps_us, to_ns(bench, run->limited_tsc) / 1e3);
}

static void print_all(const struct bench *bench)
{
	printf("%-24s %12s %8s %12s %8s %12s %8s\n", "cycles", "number", "p50", "", "p99", "",
		"p99.9");
	print_histogram(bench, "late: session", &bench->paced.late_tsc);
	print_histogram(bench, "late: bare TSC loop", &bench->bare.late_tsc);
	print_histogram(bench, "turns with a packet", &bench->sending_tsc);
	print_histogram(bench, "turns without", &bench->waiting_tsc);
	print_meter(bench);
	printf("%" PRIu64 " control packets, %" PRIu64 " sent again\n", bench->control_pkts,
		bench->retransmitted_pkts);
	print_run(bench, "rate: session", &bench->paced);
	print_run(bench, "rate: bare TSC loop", &bench->bare);
}

/* The share of the time that was not the session's to use. */
static double disturbed(const struct run *run)
{
	return (double)(run->gaps_forfeited_tsc + run->limited_tsc) / (double)run->measured_tsc;
}

static int judge(const struct bench *bench)
{
	double off = undisturbed_off_ppm(bench, &bench->paced) -
		     undisturbed_off_ppm(bench, &bench->bare);
	double later_ns = to_ns(bench, p99(&bench->paced.late_tsc)) -
			  to_ns(bench, p99(&bench->bare.late_tsc));
	bool rate_holds = off <= RATE_PPM_MAX && off >= -RATE_PPM_MAX;
	bool time_holds = later_ns <= LATER_NS_MAX;

	if (disturbed(&bench->paced) > DISTURBED_MAX || disturbed(&bench->bare) > DISTURBED_MAX) {
		printf("no verdict: the CPUs were not this program's alone\n");
		return SKIPPED;
	}
	printf("rate: %+.1f ppm beside the bare loop (bound: %.0f): %s\n", off, RATE_PPM_MAX,
		rate_holds ? "holds" : "MISSED");
	printf("p99: %.0f ns later than the bare loop (bound: %d): %s\n", later_ns, LATER_NS_MAX,
		time_holds ? "holds" : "MISSED");
	return rate_holds && time_holds ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void usage(void)
{
	fprintf(stderr, "usage: perf_pacing [--seconds 1..%d] [--burst 1..%d]\n", SECONDS_MAX,
		BURST_MAX);
	exit(2);
}

static void read_options(struct bench *bench, int count, char **words)
{
	bench->seconds = SECONDS;
	bench->burst_pkts = 1;
	for (int i = 1; i < count; i += 2) {
		long number = i + 1 < count ? atol(words[i + 1]) : 0;

		if (strcmp(words[i], "--seconds") == 0 && number >= 1 && number <= SECONDS_MAX)
			bench->seconds = (uint32_t)number;
		else if (strcmp(words[i], "--burst") == 0 && number >= 1 && number <= BURST_MAX)
			bench->burst_pkts = (uint32_t)number;
		else
			usage();
	}
}

int main(int count, char **words)
{
	static struct bench bench;
	unsigned int cpus[2];

	read_options(&bench, count, words);
	if (!find_cpus(cpus)) {
		printf("a TX core of its own takes two CPUs: skipped\n");
		return SKIPPED;
	}
	start_eal(cpus);
	bench.hz = rte_get_tsc_hz();
	bench.gap_tsc = wh_ns_to_tsc(bench.hz, GAP_NS);
	open_all(&bench);
	for (uint32_t second = 0; second < bench.seconds; second++) {
		run_slice(&bench, run_bare);
		run_slice(&bench, run_session);
		add_slice(&bench);
	}
	print_all(&bench);

	int verdict = judge(&bench);

	close_all(&bench);
	if (rte_eal_cleanup() != 0)
		return EXIT_FAILURE;
	return verdict;
}
