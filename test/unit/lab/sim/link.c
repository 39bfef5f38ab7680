/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "lab/sim/traffic.h"

const char wh_suite_name[] = "sim_link";

#define US       (WH_PS_PER_S / 1000000)
#define MS       (WH_PS_PER_S / 1000)
#define GBPS     UINT64_C(1000000000)
#define LOG_ROOM 64

/* What an agent received. */
struct inbox {
	struct wh_sim *sim;
	uint32_t agent;
	uint64_t pkts;
	uint64_t number[LOG_ROOM];
	uint64_t when_ps[LOG_ROOM];
	uint64_t bursts; /* of losses: gaps in the numbers */
	uint64_t next_number;
	uint64_t digest;
};

static void receive(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct inbox *inbox = context;

	if (inbox->pkts < LOG_ROOM) {
		inbox->number[inbox->pkts] = packet->number;
		inbox->when_ps[inbox->pkts] = now_ps;
	}
	inbox->pkts++;
	inbox->bursts += packet->number != inbox->next_number;
	inbox->next_number = packet->number + 1;
	inbox->digest = inbox->digest * UINT64_C(0x100000001b3) ^ packet->number ^ now_ps;
	wh_sim_packet_put(wh_sim_pool(inbox->sim), packet);
}

/* A chain of so many links alike; the inbox is at its end. */
static struct wh_sim *create_chain(
	const struct wh_sim_link_config *config, uint32_t links, uint64_t seed, struct inbox *inbox)
{
	struct wh_sim *sim = wh_sim_create(seed);

	for (uint32_t i = 0; i <= links; i++)
		wh_sim_add_node(sim);
	for (uint32_t i = 0; i < links; i++) {
		struct wh_sim_link_config one = *config;

		one.from = i;
		one.to = i + 1;
		wh_sim_add_link(sim, &one);
	}
	wh_sim_add_flow(sim);
	*inbox = (struct inbox){.sim = sim};
	inbox->agent = wh_sim_add_agent(sim, links, receive, inbox);
	return sim;
}

static void send_one(struct inbox *inbox, uint32_t bytes, uint64_t number)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(inbox->sim));

	packet->bytes = bytes;
	packet->flow = 0;
	packet->to = inbox->agent;
	packet->number = number;
	wh_sim_send(inbox->sim, 0, packet);
}

/*
 * Packets of 12 us each 100 us, while the machine that emulates the link is away for 1 ms of 2:
 * some arrive together, in order, and none is lost.
 */
static void absences_delay(void)
{
	const struct wh_sim_link_config config = {
		.rate_bps = GBPS, .delay_ps = 5 * MS, .absence = {.mean = {MS, MS}}};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);
	uint32_t late = 0, together = 0;

	for (unsigned int i = 0; i < LOG_ROOM; i++) {
		wh_sim_run(sim, i * 100 * US);
		send_one(&inbox, 1500, i);
	}
	wh_sim_run(sim, 50 * MS);
	CU_ASSERT_EQUAL(inbox.pkts, LOG_ROOM);
	CU_ASSERT_EQUAL(inbox.bursts, 0);
	for (unsigned int i = 0; i < LOG_ROOM; i++) {
		CU_ASSERT_TRUE(inbox.when_ps[i] >= i * 100 * US + 5 * MS + 12 * US);
		late += inbox.when_ps[i] > i * 100 * US + 5 * MS + 12 * US;
		together += i > 0 && inbox.when_ps[i] == inbox.when_ps[i - 1];
	}
	CU_ASSERT_TRUE(late > LOG_ROOM / 4 && late < LOG_ROOM);
	CU_ASSERT_TRUE(together > LOG_ROOM / 8);
	wh_sim_check(sim);
	wh_sim_destroy(sim);
}

/* 1500 bytes take 12 us at 1 Gb/s; 5 ms more are the delay. */
static void packets_arrive_when_they_should(void)
{
	struct wh_sim_link_config config = {.rate_bps = GBPS, .delay_ps = 5 * MS};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);

	for (unsigned int i = 0; i < 3; i++)
		send_one(&inbox, 1500, i);
	wh_sim_run(sim, 100 * US);
	send_one(&inbox, 125, 3); /* 1 us, on a free line */
	wh_sim_run(sim, 20 * MS);

	static const uint64_t when_us[] = {5012, 5024, 5036, 5101};

	CU_ASSERT_EQUAL(inbox.pkts, 4);
	for (unsigned int i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(inbox.number[i], i);
		CU_ASSERT_EQUAL(inbox.when_ps[i], when_us[i] * US);
	}
	CU_ASSERT_EQUAL(wh_sim_now_ps(sim), 20 * MS);
	CU_ASSERT_EQUAL(wh_sim_hops(sim), 4);
	CU_ASSERT_EQUAL(wh_sim_pool(sim)->in_use_pkts, 0);
	CU_ASSERT_EQUAL(wh_sim_pool(sim)->in_use_pkts_max, 4);
	wh_sim_destroy(sim);
}

/* In whole picoseconds, and never fewer than the rate allows. */
static void no_packet_is_faster_than_the_line(void)
{
	static const struct {
		uint64_t rate_bps;
		uint32_t bytes;
		uint64_t time_ps;
	} cases[] = {
		{GBPS, 1, 8000},
		{3 * GBPS, 1000, 2666667}, /* 2666666.67 */
		{100 * GBPS, 1, 80},
		{100 * GBPS, 1500, 120000},
		{UINT64_C(622080000), 53, 681585}, /* 681584.36 */
		{1, 65535, UINT64_C(524280000000000000)},
		{8 * WH_PS_PER_S, 40, 40},
		{16 * WH_PS_PER_S, 1, 1},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_link_config config = {.rate_bps = cases[i].rate_bps};
		struct inbox inbox;
		struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);

		send_one(&inbox, cases[i].bytes, 0);
		send_one(&inbox, cases[i].bytes, 1);
		wh_sim_run(sim, 2 * cases[i].time_ps);
		CU_ASSERT_EQUAL(inbox.pkts, 2);
		CU_ASSERT_EQUAL(inbox.when_ps[0], cases[i].time_ps);
		CU_ASSERT_EQUAL(inbox.when_ps[1], 2 * cases[i].time_ps);
		wh_sim_destroy(sim);
	}
}

/* Each node takes a packet in as a whole before it sends it on. */
static void nodes_store_and_forward(void)
{
	struct wh_sim_link_config config = {.rate_bps = GBPS, .delay_ps = MS};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 3, 1, &inbox);

	send_one(&inbox, 1500, 0);
	send_one(&inbox, 1500, 1);
	wh_sim_run(sim, 10 * MS);
	CU_ASSERT_EQUAL(inbox.when_ps[0], 3 * MS + 36 * US);
	CU_ASSERT_EQUAL(inbox.when_ps[1], 3 * MS + 48 * US);
	CU_ASSERT_EQUAL(wh_sim_hops(sim), 6);
	wh_sim_destroy(sim);
}

/* Three at once, of 12 us: two wait, then one, then none. */
static void a_link_counts_up_to_now(void)
{
	static const struct {
		uint64_t now_us;
		uint64_t busy_us;
		uint64_t queue_pkt_us;
		uint64_t left_pkts;
		uint32_t queue_pkts;
	} cases[] = {
		{0, 0, 0, 0, 2},
		{6, 6, 12, 0, 2},
		{12, 12, 24, 0, 1},
		{18, 18, 30, 0, 1},
		{30, 30, 36, 1, 0},
		{36, 36, 36, 2, 0},
		{50, 36, 36, 3, 0},
	};
	struct wh_sim_link_config config = {.rate_bps = GBPS, .delay_ps = 10 * US};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);

	for (unsigned int i = 0; i < 3; i++)
		send_one(&inbox, 1500, i);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wh_sim_run(sim, cases[i].now_us * US);

		const struct wh_sim_link_stats *stats = wh_sim_link_stats(sim, 0);

		CU_ASSERT_EQUAL(stats->entered_pkts, 3);
		CU_ASSERT_EQUAL(stats->entered_bytes, 4500);
		CU_ASSERT_EQUAL(stats->left_pkts, cases[i].left_pkts);
		CU_ASSERT_EQUAL(stats->left_bytes, 1500 * cases[i].left_pkts);
		CU_ASSERT_EQUAL(stats->busy_ps, cases[i].busy_us * US);
		CU_ASSERT_TRUE(stats->queue_pkt_ps == cases[i].queue_pkt_us * US);
		CU_ASSERT_EQUAL(wh_sim_link_stats(sim, 0)->queue_pkts, cases[i].queue_pkts);
		CU_ASSERT_EQUAL(stats->queue_max_pkts, 2);
	}
	wh_sim_destroy(sim);
}

/* ns-2: limit_ counts the packet on the line. Of ten at once, as many as the limit get through. */
static void what_has_no_room_is_dropped_and_counted(void)
{
	static const uint32_t limits[] = {2, 3, 9, 10, 11};

	for (unsigned int i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct wh_sim_link_config config = {
			.rate_bps = GBPS, .queue = {.limit_pkts = limits[i]}};
		struct inbox inbox;
		struct wh_sim *sim = create_chain(&config, 2, 1, &inbox);
		uint64_t through = limits[i] < 10 ? limits[i] : 10;

		for (unsigned int n = 0; n < 10; n++)
			send_one(&inbox, 1000, n);
		wh_sim_run(sim, MS);
		CU_ASSERT_EQUAL(inbox.pkts, through);
		CU_ASSERT_EQUAL(inbox.number[through - 1], through - 1);
		CU_ASSERT_EQUAL(wh_sim_link_stats(sim, 0)->overflow_pkts, 10 - through);
		CU_ASSERT_EQUAL(wh_sim_link_stats(sim, 0)->gone_bytes, 1000 * (10 - through));
		CU_ASSERT_EQUAL(wh_sim_link_stats(sim, 0)->queue_max_pkts, through - 1);
		CU_ASSERT_EQUAL(wh_sim_link_stats(sim, 1)->overflow_pkts, 0);
		CU_ASSERT_EQUAL(wh_sim_link_stats(sim, 1)->queue_max_pkts, 0);
		CU_ASSERT_EQUAL(wh_sim_flow_stats(sim, 0)->dropped_pkts, 10 - through);
		CU_ASSERT_EQUAL(wh_sim_pool(sim)->in_use_pkts, 0);
		wh_sim_destroy(sim);
	}
}

static struct wh_sim_traffic *add_poisson(struct wh_sim *sim, uint32_t to, double load)
{
	/* 12 us on the line each; as good as no time between arrival and arrival but the draw. */
	struct wh_sim_traffic_config config = {
		.kind = WH_SIM_EXPONENTIAL,
		.packet_bytes = 1500,
		.rate_bps = 12000 * WH_PS_PER_S,
		.off_ps = (uint64_t)(12.0 * (double)US / load),
	};

	return wh_sim_traffic_create(sim, &config, 0, to, 0);
}

/*
 * Pollaczek and Khinchine: with deterministic service S and load r, the mean wait is
 * S r / (2 (1 - r)). By Little, the mean length of the queue is r^2 / (2 (1 - r)). The tolerances
 * are three standard deviations, measured over 20 seeds.
 */
static void poisson_arrivals_wait_as_in_m_d_1(void)
{
	static const struct {
		double load;
		double tolerance;
	} cases[] = {{0.3, 0.021}, {0.5, 0.021}, {0.8, 0.024}, {0.9, 0.048}};
	const uint64_t end_ps = 10 * WH_PS_PER_S;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_link_config config = {.rate_bps = GBPS, .delay_ps = MS};
		struct inbox inbox;
		struct wh_sim *sim = create_chain(&config, 1, 3, &inbox);
		double load = cases[i].load;
		struct wh_sim_traffic *source = add_poisson(sim, 1, load);

		wh_sim_traffic_start(source, 0);
		wh_sim_run(sim, end_ps);

		const struct wh_sim_link_stats *stats = wh_sim_link_stats(sim, 0);
		double waited_ps = (double)stats->queue_pkt_ps / (double)stats->entered_pkts;
		double length = (double)stats->queue_pkt_ps / (double)end_ps;

		WH_ASSERT_NEAR((double)stats->busy_ps / (double)end_ps, load, 0.007);
		WH_ASSERT_NEAR(waited_ps, 12.0 * (double)US * load / (2.0 * (1.0 - load)),
			cases[i].tolerance);
		WH_ASSERT_NEAR(
			length, load * load / (2.0 * (1.0 - load)), cases[i].tolerance + 0.007);
		wh_sim_traffic_destroy(source);
		wh_sim_destroy(sim);
	}
}

/* More than it can carry: busy all the time, and exactly the rate comes out. */
static void an_overloaded_line_is_always_busy(void)
{
	struct wh_sim_link_config config = {
		.rate_bps = GBPS, .delay_ps = MS, .queue = {.limit_pkts = 20}};
	struct wh_sim_traffic_config cbr = {
		.kind = WH_SIM_CBR, .packet_bytes = 1500, .rate_bps = 2 * GBPS};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);
	struct wh_sim_traffic *source = wh_sim_traffic_create(sim, &cbr, 0, 1, 0);

	wh_sim_traffic_start(source, 0);
	wh_sim_run(sim, 12 * MS);

	const struct wh_sim_link_stats *stats = wh_sim_link_stats(sim, 0);

	/* One each 6 us, the first at once; 12 ms - 1 ms hold 916 packets of 12 us and a part. */
	CU_ASSERT_EQUAL(stats->entered_pkts, 2001);
	CU_ASSERT_EQUAL(stats->busy_ps, 12 * MS);
	CU_ASSERT_EQUAL(stats->left_pkts, 916);
	CU_ASSERT_EQUAL(stats->queue_max_pkts, 19);
	/* 1000 have been sent, one is on the line and 19 wait but for the last moment's. */
	CU_ASSERT_EQUAL(
		stats->overflow_pkts, 2001 - 1000 - 1 - wh_sim_link_stats(sim, 0)->queue_pkts);
	wh_sim_traffic_destroy(source);
	wh_sim_destroy(sim);
}

/* So many packets through a lossy link, spread so that none overflows. */
static struct wh_sim *lose(const struct wh_link_model *loss, uint64_t pkts, struct inbox *inbox)
{
	struct wh_sim_link_config config = {.rate_bps = GBPS, .delay_ps = MS, .loss = *loss};
	struct wh_sim *sim = create_chain(&config, 1, 5, inbox);

	for (uint64_t i = 0; i < pkts; i++) {
		send_one(inbox, 1250, i);
		wh_sim_run(sim, (i + 1) * 10 * US);
	}
	wh_sim_run(sim, pkts * 10 * US + 2 * MS);
	return sim;
}

/* Share p / (p + r), mean burst 1 / r; the tolerances are those of test/unit/loss_model.c. */
static void bursts_of_loss_match_gilbert_and_elliott(void)
{
	static const struct wh_link_model loss = {
		.loss_model = WH_LOSS_GILBERT_ELLIOTT,
		.gilbert_elliott = {.good_to_bad = 0.01, .bad_to_good = 0.25, .loss_bad = 1.0},
	};
	const uint64_t pkts = 500000;
	struct inbox inbox;
	struct wh_sim *sim = lose(&loss, pkts, &inbox);
	const struct wh_sim_link_stats *stats = wh_sim_link_stats(sim, 0);

	WH_ASSERT_NEAR((double)stats->lost_pkts / (double)pkts, 0.01 / 0.26, 0.074);
	WH_ASSERT_NEAR((double)stats->lost_pkts / (double)inbox.bursts, 4.0, 0.051);
	CU_ASSERT_EQUAL(stats->left_pkts, inbox.pkts);
	CU_ASSERT_EQUAL(stats->lost_pkts + inbox.pkts, pkts);
	CU_ASSERT_EQUAL(stats->gone_bytes, 1250 * stats->lost_pkts);
	CU_ASSERT_EQUAL(stats->busy_ps, pkts * 10 * US);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(sim, 0)->dropped_pkts, stats->lost_pkts);
	wh_sim_destroy(sim);
}

/* 10000 bits each: (1 - 1e-6)^10000 come through. */
static void bit_errors_are_of_the_packets_size(void)
{
	static const struct wh_link_model loss = {.bit_error = 1e-6};
	struct inbox inbox;
	struct wh_sim *sim = lose(&loss, 200000, &inbox);

	/* 4 standard deviations of a binomial count: sqrt(200000 * 0.00995) = 44.4. */
	CU_ASSERT_TRUE(fabs((double)wh_sim_link_stats(sim, 0)->lost_pkts - 1990.0) <= 178.0);
	wh_sim_destroy(sim);
}

/* Packets of 10 us back to back; those whose last bit leaves in [1 ms, 1.5 ms) are lost. */
static void an_outage_loses_what_leaves_in_it(void)
{
	static const struct wh_link_model loss = {
		.outage = {{.start_ns = 1000000, .length_ns = 500000}}, .n_outages = 1};
	struct inbox inbox;
	struct wh_sim *sim = lose(&loss, 1000, &inbox);

	CU_ASSERT_EQUAL(wh_sim_link_stats(sim, 0)->lost_pkts, 50);
	CU_ASSERT_EQUAL(inbox.bursts, 1);
	CU_ASSERT_EQUAL(inbox.pkts, 950);
	wh_sim_destroy(sim);
}

/* A lossy chain under Poisson load, run step by step: what it did as one number. */
static uint64_t fingerprint(uint64_t seed, uint64_t step_ps)
{
	struct wh_sim_link_config config = {
		.rate_bps = GBPS,
		.delay_ps = MS,
		.queue = {.discipline = WH_SIM_RED, .limit_pkts = 50},
		.loss = {.loss = 0.01},
	};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 3, seed, &inbox);
	struct wh_sim_traffic *source = add_poisson(sim, 3, 0.95);

	wh_sim_traffic_start(source, 0);
	for (uint64_t now_ps = 0; now_ps <= 300 * MS; now_ps += step_ps) {
		wh_sim_run(sim, now_ps);
		if (now_ps % (20 * MS) == 0 && now_ps < 200 * MS)
			send_one(&inbox, 700, now_ps / (20 * MS));
	}

	uint64_t digest =
		inbox.digest ^ wh_sim_hops(sim) << 32 ^ wh_sim_link_stats(sim, 0)->busy_ps;

	for (uint32_t i = 0; i < wh_sim_links(sim); i++)
		digest = digest * 31 + wh_sim_link_stats(sim, i)->early_pkts * 7 +
			 wh_sim_link_stats(sim, i)->lost_pkts;
	wh_sim_traffic_destroy(source);
	wh_sim_destroy(sim);
	return digest;
}

/* The number itself is of no meaning: builds and machines must agree on it. */
static void a_seed_decides_all(void)
{
	uint64_t first = fingerprint(1, 20 * MS);

	CU_ASSERT_EQUAL(first, UINT64_C(0x4e5788bd035f53d7));
	CU_ASSERT_EQUAL(first, fingerprint(1, MS));
	CU_ASSERT_NOT_EQUAL(first, fingerprint(2, 20 * MS));
}

/* What one link loses does not hang on what others draw. */
static void links_draw_for_themselves(void)
{
	uint64_t digests[2];

	for (unsigned int i = 0; i < 2; i++) {
		struct wh_sim *sim = wh_sim_create(9);
		struct inbox inbox = {.sim = sim};

		for (uint32_t n = 0; n < 3; n++)
			wh_sim_add_node(sim);
		wh_sim_add_link(
			sim, &(struct wh_sim_link_config){
				     .from = 0, .to = 1, .rate_bps = GBPS, .loss = {.loss = 0.2}});
		wh_sim_add_link(sim, &(struct wh_sim_link_config){.from = 0,
					     .to = 2,
					     .rate_bps = GBPS,
					     .loss = {.loss = i == 0 ? 0.0 : 0.5}});
		wh_sim_add_flow(sim);
		inbox.agent = wh_sim_add_agent(sim, 1, receive, &inbox);

		struct inbox other = {.sim = sim};

		other.agent = wh_sim_add_agent(sim, 2, receive, &other);
		for (unsigned int n = 0; n < 1000; n++) {
			send_one(&inbox, 1000, n);
			send_one(&other, 1000, n);
		}
		wh_sim_run(sim, 100 * MS);
		CU_ASSERT_TRUE(inbox.pkts > 700 && inbox.pkts < 900);
		CU_ASSERT_EQUAL(other.pkts == 1000, i == 0);
		digests[i] = inbox.digest;
		wh_sim_destroy(sim);
	}
	CU_ASSERT_EQUAL(digests[0], digests[1]);
}

static void flows_begin_without_moments(void)
{
	struct wh_sim *sim = wh_sim_create(1);

	CU_ASSERT_EQUAL(wh_sim_add_flow(sim), 0);

	struct wh_sim_flow_stats *first = wh_sim_flow_stats(sim, 0);

	for (uint32_t i = 1; i < 100; i++)
		CU_ASSERT_EQUAL(wh_sim_add_flow(sim), i);
	CU_ASSERT_PTR_EQUAL(wh_sim_flow_stats(sim, 0), first);
	CU_ASSERT_EQUAL(first->first_sent_ps, WH_SIM_NEVER_PS);
	CU_ASSERT_EQUAL(first->finished_ps, WH_SIM_NEVER_PS);
	CU_ASSERT_EQUAL(first->sent_pkts, 0);
	wh_sim_destroy(sim);
}

/*
 * A receiver that rests: 1000 bytes a microsecond come, ten may wait, and from 20 to 50 us nothing
 * is taken. At 50 us the ten leave, and the rest of what came is lost in a row.
 */
static void a_pause_lets_the_queue_fill(void)
{
	const struct wh_sim_link_config config = {.rate_bps = 8 * GBPS,
		.queue = {.limit_pkts = 11},
		.pause = {{.start_ns = 20000, .length_ns = 30000}},
		.n_pauses = 1};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);

	for (uint64_t n = 0; n < 60; n++) {
		wh_sim_run(sim, n * US + US / 2);
		send_one(&inbox, 1000, n);
	}
	wh_sim_run(sim, 200 * US);

	const struct wh_sim_link_stats *stats = wh_sim_link_stats(sim, 0);

	/* 0 to 19 go, the last of them on the line at 20 us; 20 to 29 wait. */
	CU_ASSERT_EQUAL(stats->overflow_pkts, 20);
	CU_ASSERT_EQUAL(inbox.pkts, 40);
	CU_ASSERT_EQUAL(inbox.bursts, 1);
	CU_ASSERT_EQUAL(inbox.number[29], 29);
	CU_ASSERT_EQUAL(inbox.number[30], 50);
	CU_ASSERT_EQUAL(inbox.when_ps[19], 20 * US + US / 2);
	CU_ASSERT_EQUAL(inbox.when_ps[20], 51 * US);
	wh_sim_destroy(sim);
}

/*
 * 1500 bytes are 12 us at 1 Gb/s and 120 us at 0.1. Four at once; from 20 us on it is slower, so
 * that the second keeps its rate and the third does not, and from 150 us on it is as before.
 */
static void a_packet_keeps_the_rate_at_which_it_began(void)
{
	const struct wh_sim_link_config config = {
		.rate_bps = GBPS,
		.rate_steps = {.step = {{20 * US, GBPS / 10}, {150 * US, GBPS}}, .count = 2},
	};
	static const uint64_t when_us[] = {12, 24, 144, 264, 276};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);

	for (unsigned int i = 0; i < 5; i++)
		send_one(&inbox, 1500, i);
	wh_sim_run(sim, MS);
	CU_ASSERT_EQUAL(inbox.pkts, 5);
	for (unsigned int i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(inbox.when_ps[i], when_us[i] * US);
	wh_sim_destroy(sim);
}

/* Two that fly when the delay rises keep theirs; when it falls, later ones arrive before them. */
static void packets_in_flight_keep_their_delay(void)
{
	const struct wh_sim_link_config config = {
		.rate_bps = GBPS,
		.delay_ps = MS,
		.delay_steps = {.step = {{30 * US, 2 * MS}, {60 * US, 0}}, .count = 2},
	};
	/* Their last bits leave at 12, 24, ... us. */
	static const uint64_t number[] = {4, 5, 0, 1, 2, 3};
	static const uint64_t when_us[] = {60, 72, 1012, 1024, 2036, 2048};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);

	for (unsigned int i = 0; i < 6; i++)
		send_one(&inbox, 1500, i);
	wh_sim_run(sim, 10 * MS);
	CU_ASSERT_EQUAL(inbox.pkts, 6);
	for (unsigned int i = 0; i < 6; i++) {
		CU_ASSERT_EQUAL(inbox.number[i], number[i]);
		CU_ASSERT_EQUAL(inbox.when_ps[i], when_us[i] * US);
	}
	wh_sim_destroy(sim);
}

/* 3 % by 1 ms, one each 10 us: each that is held back is a gap, and comes 100 later. */
static void some_are_held_back_and_overtaken(void)
{
	const struct wh_sim_link_config config = {
		.rate_bps = GBPS, .delay_ps = MS, .reorder = 0.03, .reorder_delay_ps = MS};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 5, &inbox);
	uint64_t late = 0;

	for (uint64_t i = 0; i < LOG_ROOM; i++)
		send_one(&inbox, 1250, i);
	wh_sim_run(sim, 10 * MS);
	CU_ASSERT_EQUAL(inbox.pkts, LOG_ROOM);
	for (uint64_t i = 0; i < LOG_ROOM; i++) {
		uint64_t straight_ps = MS + (inbox.number[i] + 1) * 10 * US;

		CU_ASSERT_TRUE(
			inbox.when_ps[i] == straight_ps || inbox.when_ps[i] == straight_ps + MS);
		late += inbox.when_ps[i] != straight_ps;
	}
	CU_ASSERT_TRUE(late > 0 && late < 8);
	wh_sim_destroy(sim);
}

static void reordered_packets_are_of_the_share(void)
{
	const struct wh_sim_link_config config = {
		.rate_bps = GBPS, .delay_ps = MS, .reorder = 0.03, .reorder_delay_ps = MS};
	const uint64_t pkts = 200000;
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 5, &inbox);

	for (uint64_t i = 0; i < pkts; i++) {
		send_one(&inbox, 1250, i);
		wh_sim_run(sim, (i + 1) * 10 * US);
	}
	wh_sim_run(sim, pkts * 10 * US + 3 * MS);
	CU_ASSERT_EQUAL(inbox.pkts, pkts);
	/* One leaves a gap, and comes between two others: three, but for those of neighbours. */
	WH_ASSERT_NEAR((double)inbox.bursts / (double)pkts, 3 * 0.03 * (1 - 0.03), 0.03);
	wh_sim_destroy(sim);
}

/* 2 Gb/s offered to a policer of 1 Gb/s with a bucket of ten packets, on a line of 10 Gb/s. */
static void a_policer_drops_and_queues_nothing(void)
{
	const struct wh_sim_link_config config = {
		.rate_bps = 10 * GBPS, .policer = {.rate_bps = GBPS, .bucket_bytes = 15000}};
	struct inbox inbox;
	struct wh_sim *sim = create_chain(&config, 1, 1, &inbox);

	for (uint64_t i = 0; i < 1000; i++) {
		wh_sim_run(sim, i * 6 * US);
		send_one(&inbox, 1500, i);
	}
	wh_sim_run(sim, 10 * MS);

	const struct wh_sim_link_stats *stats = wh_sim_link_stats(sim, 0);

	/* 10 of the bucket, and one each 12 us for 5994 us. */
	CU_ASSERT_EQUAL(inbox.pkts, 509);
	CU_ASSERT_EQUAL(stats->policed_pkts, 491);
	CU_ASSERT_EQUAL(stats->gone_bytes, 491 * 1500);
	CU_ASSERT_EQUAL(stats->queue_max_pkts, 0);
	CU_ASSERT_EQUAL(stats->overflow_pkts, 0);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(sim, 0)->dropped_pkts, 491);
	wh_sim_destroy(sim);
}

CU_TestInfo wh_tests[] = {
	{"packets arrive when they should", packets_arrive_when_they_should},
	{"absences delay", absences_delay},
	{"no packet is faster than the line", no_packet_is_faster_than_the_line},
	{"nodes store and forward", nodes_store_and_forward},
	{"a link counts up to now", a_link_counts_up_to_now},
	{"what has no room is dropped and counted", what_has_no_room_is_dropped_and_counted},
	{"Poisson arrivals wait as in M/D/1", poisson_arrivals_wait_as_in_m_d_1},
	{"an overloaded line is always busy", an_overloaded_line_is_always_busy},
	{"bursts of loss match Gilbert and Elliott", bursts_of_loss_match_gilbert_and_elliott},
	{"bit errors are of the packet's size", bit_errors_are_of_the_packets_size},
	{"an outage loses what leaves in it", an_outage_loses_what_leaves_in_it},
	{"a pause lets the queue fill", a_pause_lets_the_queue_fill},
	{"a packet keeps the rate at which it began", a_packet_keeps_the_rate_at_which_it_began},
	{"packets in flight keep their delay", packets_in_flight_keep_their_delay},
	{"some are held back and overtaken", some_are_held_back_and_overtaken},
	{"reordered packets are of the share", reordered_packets_are_of_the_share},
	{"a policer drops and queues nothing", a_policer_drops_and_queues_nothing},
	{"a seed decides all", a_seed_decides_all},
	{"links draw for themselves", links_draw_for_themselves},
	{"flows begin without moments", flows_begin_without_moments},
	CU_TEST_INFO_NULL,
};
