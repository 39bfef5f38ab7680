/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <math.h>

#include "lab/sim/traffic.h"

const char wh_suite_name[] = "sim_traffic";

#define US   (WH_PS_PER_S / 1000000)
#define MS   (WH_PS_PER_S / 1000)
#define MBPS UINT64_C(1000000)

/*
 * Packets are seen where they enter the only link, which is so fast that they are all through
 * between two moments at which the tests look.
 */
struct scene {
	struct wh_sim *sim;
	struct wh_sim_traffic *source;
};

static struct scene create(const struct wh_sim_traffic_config *config, uint64_t seed)
{
	struct scene scene = {.sim = wh_sim_create(seed)};

	wh_sim_add_node(scene.sim);
	wh_sim_add_node(scene.sim);
	wh_sim_add_link(scene.sim,
		&(struct wh_sim_link_config){.from = 0, .to = 1, .rate_bps = WH_PS_PER_S * 1000});
	scene.source = wh_sim_traffic_create(scene.sim, config, 0, 1, wh_sim_add_flow(scene.sim));
	return scene;
}

static void destroy(struct scene *scene)
{
	wh_sim_traffic_destroy(scene->source);
	wh_sim_destroy(scene->sim);
}

static uint64_t sent_by(const struct scene *scene, uint64_t now_ps)
{
	wh_sim_run(scene->sim, now_ps);
	return wh_sim_flow_stats(scene->sim, 0)->sent_pkts;
}

/* 1250 bytes at 10 Mb/s: one each millisecond. */
static const struct wh_sim_traffic_config cbr = {
	.kind = WH_SIM_CBR, .packet_bytes = 1250, .rate_bps = 10 * MBPS};

static void constant_bit_rate_is_constant(void)
{
	struct scene scene = create(&cbr, 1);
	const struct wh_sim_flow_stats *stats = wh_sim_flow_stats(scene.sim, 0);

	CU_ASSERT_EQUAL(sent_by(&scene, 5 * MS), 0);
	CU_ASSERT_EQUAL(stats->first_sent_ps, WH_SIM_NEVER_PS);
	wh_sim_traffic_start(scene.source, 5 * MS);
	CU_ASSERT_EQUAL(sent_by(&scene, 5 * MS), 1);
	CU_ASSERT_EQUAL(sent_by(&scene, 6 * MS - 1), 1);
	CU_ASSERT_EQUAL(sent_by(&scene, 6 * MS), 2);
	CU_ASSERT_EQUAL(sent_by(&scene, 1005 * MS), 1001);
	CU_ASSERT_EQUAL(sent_by(&scene, 1005 * MS + MS / 2), 1001);
	CU_ASSERT_EQUAL(stats->first_sent_ps, 5 * MS);
	CU_ASSERT_EQUAL(stats->goodput_bytes, 1001 * 1250);
	CU_ASSERT_EQUAL(stats->finished_ps, WH_SIM_NEVER_PS);
	CU_ASSERT_EQUAL(wh_sim_link_stats(scene.sim, 0)->entered_bytes, 1001 * 1250);
	destroy(&scene);
}

/* The next packet is due its time after the latest, by the rate of now. */
static void a_rate_takes_effect_at_once(void)
{
	struct scene scene = create(&cbr, 1);

	wh_sim_traffic_start(scene.source, 0);
	CU_ASSERT_EQUAL(sent_by(&scene, 2 * MS), 3); /* 0, 1, 2 */
	wh_sim_traffic_set_rate(scene.source, 2 * MS, 2 * MBPS);
	CU_ASSERT_EQUAL(sent_by(&scene, 7 * MS - 1), 3);
	CU_ASSERT_EQUAL(sent_by(&scene, 12 * MS), 5); /* 7, 12 */
	CU_ASSERT_EQUAL(sent_by(&scene, 14 * MS), 5);
	wh_sim_traffic_set_rate(scene.source, 14 * MS, 10 * MBPS); /* 13 is past: at once */
	CU_ASSERT_EQUAL(sent_by(&scene, 14 * MS), 6);
	CU_ASSERT_EQUAL(sent_by(&scene, 16 * MS), 8);

	wh_sim_traffic_set_rate(scene.source, 16 * MS, 0);
	CU_ASSERT_EQUAL(sent_by(&scene, 100 * MS), 8);
	wh_sim_traffic_set_rate(scene.source, 100 * MS, 10 * MBPS);
	CU_ASSERT_EQUAL(sent_by(&scene, 102 * MS), 11);
	destroy(&scene);
}

static void stops_and_starts_again(void)
{
	struct scene scene = create(&cbr, 1);

	wh_sim_traffic_start(scene.source, 0);
	CU_ASSERT_EQUAL(sent_by(&scene, 3 * MS), 4);
	wh_sim_traffic_stop(scene.source);
	CU_ASSERT_EQUAL(sent_by(&scene, 10 * MS), 4);
	wh_sim_traffic_set_rate(scene.source, 10 * MS, 5 * MBPS); /* while it is stopped */
	CU_ASSERT_EQUAL(sent_by(&scene, 20 * MS), 4);
	wh_sim_traffic_start(scene.source, 20 * MS);
	CU_ASSERT_EQUAL(sent_by(&scene, 24 * MS), 7); /* 20, 22, 24 */
	wh_sim_traffic_stop(scene.source);
	wh_sim_traffic_stop(scene.source);
	CU_ASSERT_EQUAL(sent_by(&scene, 50 * MS), 7);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(scene.sim, 0)->first_sent_ps, 0);
	destroy(&scene);
}

static void starts_silent_without_a_rate(void)
{
	static const enum wh_sim_traffic_kind kinds[] = {
		WH_SIM_CBR, WH_SIM_EXPONENTIAL, WH_SIM_PARETO};

	for (unsigned int i = 0; i < 3; i++) {
		struct wh_sim_traffic_config config = {
			.kind = kinds[i], .packet_bytes = 1250, .on_ps = MS, .off_ps = MS};
		struct scene scene = create(&config, 1);

		wh_sim_traffic_start(scene.source, 0);
		CU_ASSERT_EQUAL(sent_by(&scene, 1000 * MS), 0);
		wh_sim_traffic_set_rate(scene.source, 1000 * MS, 100 * MBPS);
		CU_ASSERT_TRUE(sent_by(&scene, 2000 * MS) > 1000);
		destroy(&scene);
	}
}

static void bursts_are_whole(void)
{
	static const struct {
		uint64_t rate_bps;
		uint64_t sent[6]; /* at 0, 1, 2, 10, 15, 100 ms */
	} cases[] = {{0, {5, 5, 5, 5, 5, 5}}, {10 * MBPS, {1, 2, 3, 5, 5, 5}}};
	static const uint64_t when_ms[6] = {0, 1, 2, 10, 15, 100};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_traffic_config config = {
			.kind = WH_SIM_BURST,
			.packet_bytes = 1250,
			.rate_bps = cases[i].rate_bps,
			.burst_pkts = 5,
		};
		struct scene scene = create(&config, 1);

		wh_sim_traffic_start(scene.source, 0);
		for (unsigned int n = 0; n < 6; n++)
			CU_ASSERT_EQUAL(sent_by(&scene, when_ms[n] * MS), cases[i].sent[n]);
		destroy(&scene);
	}
}

#define SILENCES 20000

static double silence_ps[SILENCES];

/* One by one: bursts of one packet, which takes a picosecond. */
static void collect(enum wh_sim_traffic_kind kind, double shape, uint64_t off_ps)
{
	struct wh_sim_traffic_config config = {
		.kind = kind,
		.packet_bytes = 1000,
		.rate_bps = 8000 * WH_PS_PER_S,
		.off_ps = off_ps,
		.shape = shape,
	};
	struct scene scene = create(&config, 31);
	uint64_t before_ps = 0;

	wh_sim_traffic_start(scene.source, 0);
	for (unsigned int n = 0; n < SILENCES; n++) {
		struct wh_sim_events *events = wh_sim_events(scene.sim);

		/* The link is empty between packets: what is pending is the source. */
		while (wh_sim_link_stats(scene.sim, 0)->entered_pkts == n)
			wh_sim_run(scene.sim, events->heap[1].due_ps);
		silence_ps[n] = (double)(wh_sim_now_ps(scene.sim) - before_ps - 1);
		before_ps = wh_sim_now_ps(scene.sim);
	}
	destroy(&scene);
}

struct silences {
	double mean_ps;
	double sigma_ps;
	double least_ps;
};

static struct silences sum_up(void)
{
	struct silences silences = {.least_ps = INFINITY};
	double sum = 0.0;
	double squares = 0.0;

	for (unsigned int n = 0; n < SILENCES; n++) {
		sum += silence_ps[n];
		squares += silence_ps[n] * silence_ps[n];
		silences.least_ps = fmin(silences.least_ps, silence_ps[n]);
	}
	silences.mean_ps = sum / SILENCES;
	silences.sigma_ps = sqrt(squares / SILENCES - silences.mean_ps * silences.mean_ps);
	return silences;
}

/* As many are above the bound as should be, within 4 standard deviations. */
static void check_above(double bound_ps, double share)
{
	double sigma = sqrt(share * (1.0 - share) / SILENCES);
	double above = 0.0;

	for (unsigned int n = 0; n < SILENCES; n++)
		above += silence_ps[n] > bound_ps;
	CU_ASSERT_TRUE(fabs(above / SILENCES - share) <= 4.0 * sigma);
}

/* Tolerances of 4 standard deviations: 1 / sqrt(20000) of the mean, twice that of sigma. */
static void exponential_silences_are_exponential(void)
{
	static const double bounds[] = {0.1, 0.5, 1.0, 2.0, 4.0};

	collect(WH_SIM_EXPONENTIAL, 0.0, MS);

	struct silences silences = sum_up();

	WH_ASSERT_NEAR(silences.mean_ps, MS, 0.028);
	WH_ASSERT_NEAR(silences.sigma_ps, MS, 0.057);
	for (unsigned int i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		check_above(bounds[i] * (double)MS, exp(-bounds[i]));
}

/* Above x: (scale / x)^shape, with scale = mean (shape - 1) / shape. */
static void pareto_silences_are_pareto(void)
{
	static const struct {
		double shape;
		double bound; /* in scales */
		double above;
	} cases[] = {
		{1.5, 1.0, 1.0},
		{1.5, 2.0, 0.353553},
		{1.5, 4.0, 0.125},
		{0.0, 4.0, 0.125},
		{1.5, 25.0, 0.008},
		{3.0, 2.0, 0.125},
		{1.2, 10.0, 0.0630957},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double shape = cases[i].shape == 0.0 ? 1.5 : cases[i].shape;
		double scale_ps = (double)MS * (shape - 1.0) / shape;

		collect(WH_SIM_PARETO, cases[i].shape, MS);

		struct silences silences = sum_up();

		check_above(cases[i].bound * scale_ps - 2.0, cases[i].above);
		WH_ASSERT_NEAR(silences.least_ps, scale_ps, 0.001);
		if (shape == 3.0) /* sigma is 0.577 of the mean; the others have none */
			WH_ASSERT_NEAR(silences.mean_ps, MS, 4.0 * 0.577 / sqrt(SILENCES));
	}
}

/* The same draws become both: Pareto's is a power of e of the other's. */
static void pareto_is_the_power_of_exponential(void)
{
	static double exponential[SILENCES];

	collect(WH_SIM_EXPONENTIAL, 0.0, MS);
	for (unsigned int n = 0; n < SILENCES; n++)
		exponential[n] = silence_ps[n] / (double)MS;
	collect(WH_SIM_PARETO, 1.5, MS);
	for (unsigned int n = 0; n < SILENCES; n++)
		WH_ASSERT_NEAR(silence_ps[n], (double)MS / 3.0 * exp(exponential[n] / 1.5), 1e-8);
}

/*
 * On for 10 ms of 40 on the mean, a packet each 0.1 ms meanwhile. A burst of round(Exp(100))
 * packets, at least 1, has 100 + 0.004 on the mean: 2.5 a millisecond. 25000 cycles have a standard
 * deviation of sqrt(1 + 9) / 4 / sqrt(25000) = 0.5 %.
 */
static void on_and_off_share_the_time(void)
{
	struct wh_sim_traffic_config config = {
		.kind = WH_SIM_EXPONENTIAL,
		.packet_bytes = 1250,
		.rate_bps = 100 * MBPS,
		.on_ps = 10 * MS,
		.off_ps = 30 * MS,
	};
	struct scene scene = create(&config, 5);

	wh_sim_traffic_start(scene.source, 0);
	WH_ASSERT_NEAR(sent_by(&scene, 1000000 * MS), 2500000.0, 0.02);
	destroy(&scene);

	/* Within a burst the distance is the rate's: no two are closer. */
	scene = create(&config, 6);
	wh_sim_traffic_start(scene.source, 0);
	for (uint64_t ms = 1; ms < 2000; ms++) {
		uint64_t before = wh_sim_flow_stats(scene.sim, 0)->sent_pkts;

		CU_ASSERT_TRUE(sent_by(&scene, ms * MS) - before <= 10);
	}
	destroy(&scene);
}

/* Two sources of one simulation differ; the same one of another simulation with its seed not. */
static void sources_draw_for_themselves(void)
{
	struct wh_sim_traffic_config config = {.kind = WH_SIM_EXPONENTIAL,
		.packet_bytes = 1250,
		.rate_bps = 100 * MBPS,
		.on_ps = MS,
		.off_ps = MS};
	uint64_t sent[2][2];

	for (unsigned int i = 0; i < 2; i++) {
		struct scene scene = create(&config, 8);
		uint32_t flow = wh_sim_add_flow(scene.sim);
		struct wh_sim_traffic *other =
			wh_sim_traffic_create(scene.sim, &config, 0, 1, flow);

		wh_sim_traffic_start(scene.source, 0);
		wh_sim_traffic_start(other, i * MS);
		sent[i][0] = sent_by(&scene, 1000 * MS);
		sent[i][1] = wh_sim_flow_stats(scene.sim, flow)->sent_pkts;
		wh_sim_traffic_destroy(other);
		destroy(&scene);
	}
	CU_ASSERT_EQUAL(sent[0][0], sent[1][0]);
	CU_ASSERT_NOT_EQUAL(sent[0][0], sent[0][1]);
}

CU_TestInfo wh_tests[] = {
	{"constant bit rate is constant", constant_bit_rate_is_constant},
	{"a rate takes effect at once", a_rate_takes_effect_at_once},
	{"stops and starts again", stops_and_starts_again},
	{"starts silent without a rate", starts_silent_without_a_rate},
	{"bursts are whole", bursts_are_whole},
	{"exponential silences are exponential", exponential_silences_are_exponential},
	{"Pareto silences are Pareto", pareto_silences_are_pareto},
	{"Pareto is the power of exponential", pareto_is_the_power_of_exponential},
	{"on and off share the time", on_and_off_share_the_time},
	{"sources draw for themselves", sources_draw_for_themselves},
	CU_TEST_INFO_NULL,
};
