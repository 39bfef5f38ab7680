/* SPDX-License-Identifier: BSD-3-Clause */

#include "profile/udt.h"
#include "session/pacer.h"
#include "unit.h"

const char wh_suite_name[] = "udt";

/*
 * A clock of 1 GHz: a cycle is a nanosecond, I = 10^9 / C cycles, SYN 10^7. Packets of 1500 bytes,
 * so one packet per second is 12000 bit/s, and a byte is 1/1500 packet.
 */
#define HZ           UINT64_C(1000000000)
#define SYN          UINT64_C(10000000)
#define MS           UINT64_C(1000000)
#define PACKET_BYTES 1500

/* Packet numbers sent when the flow's slow start ends. */
#define FIRST_SENT_END 1000

static void set(struct wh_control_config *config, const char *option, double value)
{
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&config->options, &wh_profile_udt, option, value), 0);
}

static struct wh_control_config defaults(void)
{
	struct wh_control_config config;

	config = (struct wh_control_config){.window_pkts_max = WH_WINDOW_UNLIMITED};
	wh_profile_options_init(&config.options, &wh_profile_udt);
	config.hz = HZ;
	config.syn_tsc = SYN;
	config.packet_bytes = PACKET_BYTES;
	config.wire_bytes = PACKET_BYTES + 38;
	return config;
}

static void feedback(struct wh_control *control, uint64_t acked_total, uint32_t arrival_pps,
	uint32_t capacity_pps, uint64_t rtt_tsc)
{
	struct wh_feedback_event event = {
		.acked_pkts_total = acked_total,
		.arrival_pps = arrival_pps,
		.capacity_pps = capacity_pps,
		.rtt_tsc = rtt_tsc,
	};

	WH_CONTROL_TELL(control, on_feedback, &event);
}

static void nak(struct wh_control *control, uint64_t now_tsc, uint64_t lost_pkts,
	uint64_t last_lost, uint64_t sent_end)
{
	struct wh_loss_event event = {now_tsc, lost_pkts, last_lost, sent_end, 0};

	WH_CONTROL_TELL(control, on_loss, &event);
}

static void warn(struct wh_control *control, uint64_t now_tsc, uint64_t sent_end)
{
	struct wh_delay_event event = {now_tsc, sent_end};

	WH_CONTROL_TELL(control, on_delay, &event);
}

static void tick(struct wh_control *control, uint64_t sent_total)
{
	struct wh_tick_event event = {.sent_pkts_total = sent_total};

	WH_CONTROL_TELL(control, on_tick, &event);
}

static const struct wh_udt *udt_of(const struct wh_control *control)
{
	return (const struct wh_udt *)control->state;
}

static double rate_pps(const struct wh_control *control)
{
	return HZ / udt_of(control)->interval_tsc;
}

static uint32_t window_of(const struct wh_control *control)
{
	return control->profile->decide(control).window_pkts;
}

static uint64_t interval_of(const struct wh_control *control)
{
	return control->profile->decide(control).interval_fp;
}

static uint64_t freeze_of(const struct wh_control *control)
{
	return control->profile->decide(control).freeze_until_tsc;
}

/* A flow whose slow start has just ended at now = 0: C = arrival_pps, W = 100, B as given. */
static struct wh_control flow(
	const struct wh_control_config *config, uint32_t arrival_pps, uint32_t capacity_pps)
{
	struct wh_control control;

	wh_control_init(&control, &wh_profile_udt, config);
	feedback(&control, 100, arrival_pps, capacity_pps, 90 * MS);
	nak(&control, 0, 1, 500, FIRST_SENT_END);
	return control;
}

static void test_slow_start(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control;

	config.window_pkts_max = 5000;
	wh_control_init(&control, &wh_profile_udt, &config);
	CU_ASSERT_TRUE(udt_of(&control)->slow_start);
	CU_ASSERT_EQUAL(window_of(&control), 2);
	CU_ASSERT_EQUAL(interval_of(&control), 0);
	CU_ASSERT_EQUAL(freeze_of(&control), 0);

	static const uint64_t acked[][2] = {{0, 2}, {1, 2}, {2, 2}, {3, 3}, {64, 64}, {4999, 4999},
		{5001, 5000}, {UINT64_MAX, 5000}};

	for (unsigned int i = 0; i < sizeof(acked) / sizeof(acked[0]); i++) {
		feedback(&control, acked[i][0], 83333, 83333, 100 * MS);
		tick(&control, 10 * i);
		CU_ASSERT_EQUAL(window_of(&control), acked[i][1]);
		CU_ASSERT_EQUAL(interval_of(&control), 0);
	}
}

/* The end sets I = 1 / AS, begins an epoch and freezes, but (7) is not taken on top: D = 0. */
static void test_slow_start_ends(void)
{
	for (int by_delay = 0; by_delay < 2; by_delay++) {
		struct wh_control_config config = defaults();
		struct wh_control control;

		wh_control_init(&control, &wh_profile_udt, &config);
		feedback(&control, 50, 500, 0, 90 * MS);
		feedback(&control, 100, 0, 0, 90 * MS); /* AS not known this time: 500 holds */
		if (by_delay)
			warn(&control, 7 * MS, 200);
		else
			nak(&control, 7 * MS, 3, 150, 200);

		const struct wh_udt *udt = udt_of(&control);

		CU_ASSERT_FALSE(udt->slow_start);
		CU_ASSERT_EQUAL(interval_of(&control), UINT64_C(2000000) << 20);
		CU_ASSERT_EQUAL(window_of(&control), 100);
		CU_ASSERT_EQUAL(freeze_of(&control), 17 * MS);
		CU_ASSERT_EQUAL(rate_pps(&control), 500.0);
		CU_ASSERT_EQUAL(udt->last_decrease_pps, 0.0);
		CU_ASSERT_EQUAL(udt->dec_end, 200);
		CU_ASSERT_EQUAL(udt->decrease_count, 1);
		CU_ASSERT_EQUAL(udt->e, 4);
		CU_ASSERT_EQUAL(udt->decreases, 0);
		CU_ASSERT_EQUAL(udt->freezes, 1);
	}
}

/* AS never known: W / (RTT + SYN) = 100 / (90 + 10 ms) = 1000; RTT neither: 100 / 10 ms. */
static void test_slow_start_ends_without_arrival_speed(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control;

	wh_control_init(&control, &wh_profile_udt, &config);
	feedback(&control, 100, 0, 0, 90 * MS);
	nak(&control, 0, 1, 10, 100);
	WH_ASSERT_NEAR(rate_pps(&control), 1000.0, 1e-12);

	wh_control_init(&control, &wh_profile_udt, &config);
	feedback(&control, 100, 0, 0, 0);
	nak(&control, 0, 1, 10, 100);
	WH_ASSERT_NEAR(rate_pps(&control), 10000.0, 1e-12);
}

static void test_formula_1(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 0);

	CU_ASSERT_EQUAL(window_of(&control), 100);
	/* 100 * 7/8 + 1000 * (0.09 + 0.01) / 8 = 87.5 + 12.5 */
	feedback(&control, 200, 1000, 0, 90 * MS);
	CU_ASSERT_EQUAL(window_of(&control), 100);
	/* 87.5 + 9000 * 0.1 / 8 = 87.5 + 112.5 */
	feedback(&control, 300, 9000, 0, 90 * MS);
	CU_ASSERT_EQUAL(window_of(&control), 200);
	/* AS = 0: no update */
	feedback(&control, 400, 0, 0, 90 * MS);
	CU_ASSERT_EQUAL(window_of(&control), 200);
	/* RTT not told: the last one; 175 + 112.5 = 287.5, rounded up */
	feedback(&control, 500, 9000, 0, 0);
	CU_ASSERT_EQUAL(window_of(&control), 288);
	/* 288 * 7/8 + 9001 * (0.19 + 0.01) / 8 = 252 + 225.025: of a whole W, and up again */
	feedback(&control, 600, 9001, 0, 190 * MS);
	CU_ASSERT_EQUAL(window_of(&control), 478);
}

static void test_window_bounds(void)
{
	struct wh_control_config config = defaults();

	config.window_pkts_max = 300;

	struct wh_control control = flow(&config, 1000, 0);

	feedback(&control, 0, UINT32_MAX, 0, 90 * MS);
	CU_ASSERT_EQUAL(window_of(&control), 300);
	/* 8 * 7/8 and a bit: rounding up holds it there. */
	for (int i = 0; i < 100; i++)
		feedback(&control, 0, 1, 0, MS);
	CU_ASSERT_EQUAL(window_of(&control), 8);

	/* Slow start may end with 2: from then on it is 4. */
	wh_control_init(&control, &wh_profile_udt, &config);
	feedback(&control, 2, 1000, 0, 90 * MS);
	CU_ASSERT_EQUAL(window_of(&control), 2);
	nak(&control, 0, 1, 1, 2);
	CU_ASSERT_EQUAL(window_of(&control), WH_UDT_LEAST_WINDOW);

	/* Unlimited is not a wrap-around: 4 * 10^9 packets/s over 1000 s. */
	config.window_pkts_max = WH_WINDOW_UNLIMITED;
	control = flow(&config, 1000, 0);
	feedback(&control, 0, UINT32_MAX, 0, 1000 * HZ);
	CU_ASSERT_EQUAL(window_of(&control), UINT32_MAX);

	/* RTT never known: (1) cannot be computed. */
	wh_control_init(&control, &wh_profile_udt, &config);
	feedback(&control, 100, 1000, 0, 0);
	nak(&control, 0, 1, 10, 100);
	feedback(&control, 200, 1000, 0, 0);
	CU_ASSERT_EQUAL(window_of(&control), 100);
}

struct increase_case {
	uint32_t rate_pps, capacity_pps;
	double bits_pkts, bytes_pkts; /* inc with B' in either unit */
};

static void check_increase(const struct increase_case *c)
{
	for (int bytes = 0; bytes < 2; bytes++) {
		struct wh_control_config config = defaults();

		set(&config, "bandwidth_in_bytes", bytes);

		struct wh_control control = flow(&config, c->rate_pps, c->capacity_pps);
		double inc = bytes ? c->bytes_pkts : c->bits_pkts;

		tick(&control, 1000);
		/* (5): packets per SYN grow by inc, so C by 100 inc */
		WH_ASSERT_NEAR(rate_pps(&control) - c->rate_pps, 100 * inc, 1e-7);
	}
}

static void test_formulas_2_and_4(void)
{
	static const struct increase_case cases[] = {
		/* (2) B <= C: one byte, 1/1500 */
		{1000, 0, 1.0 / 1500, 1.0 / 1500},
		{1000, 999, 1.0 / 1500, 1.0 / 1500},
		{1000, 1000, 1.0 / 1500, 1.0 / 1500},
		/* (4) 1 packet/s: 12000 bit/s, class 10^5, * 1.5e-6 / 1500 = 1e-4: the least */
		{1000, 1001, 1.0 / 1500, 1.0 / 1500},
		/* 10 packets/s: 120 kb/s, 10^6: 0.001 packets; 15 kB/s, 10^5: the least */
		{1000, 1010, 0.001, 1.0 / 1500},
		/* 5000 packets/s: 60 Mb/s, 10^8: 0.1; 7.5 MB/s, 10^7: 0.01 */
		{1000, 6000, 0.1, 0.01},
		/* 83333 packets/s, 1 Gb/s: one packet either way (125 MB/s is below 10^9) */
		{1000, 84333, 1.0, 1.0},
		/* one packet/s more is beyond 1 Gb/s: the next class in bits */
		{1000, 84334, 10.0, 1.0},
		/* 833333 packets/s, 10 Gb/s: ten packets; 1.25 GB/s: ten */
		{1000, 834333, 10.0, 10.0},
		/* 100 Gb/s: 8333333 packets/s: a hundred */
		{1000, 8334333, 100.0, 100.0},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_increase(&cases[i]);
}

/* 1250 bytes are 10^4 bits: 10^5 packets/s are 10^9 bit/s to the bit, and still of class 10^9. */
static void test_exact_power_of_ten(void)
{
	struct wh_control_config config = defaults();

	config.packet_bytes = 1250;

	struct wh_control control = flow(&config, 1000, 101000);

	tick(&control, 1000);
	/* 10^9 * 1.5e-6 / 1250 = 1.2 packets per SYN: 11.2 */
	WH_ASSERT_NEAR(rate_pps(&control), 1120.0, 1e-12);
}

/* (5) to the bit of the interval: 10 packets per SYN and 1 more, I = 10^7 / 11 = 909090.909. */
static void test_formula_5(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 84333);

	tick(&control, 1000);
	CU_ASSERT_EQUAL(interval_of(&control), UINT64_C(953250909091)); /* 10^7 * 2^20 / 11 */
	CU_ASSERT_EQUAL(window_of(&control), 100);
}

/*
 * B = 90000: B/9 = 10000 packets/s = 120 Mb/s, 10^9: 1 packet. B - C = 89000 = 1.07 Gb/s, 10^10:
 * 10 packets. C = 1000 is cut to 888.9; (3) holds until C is back at D = 1000.
 */
static void test_formula_3(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 90000);

	nak(&control, 0, 2, FIRST_SENT_END, 2000);
	WH_ASSERT_NEAR(rate_pps(&control), 1000 / 1.125, 1e-12);
	CU_ASSERT_EQUAL(udt_of(&control)->last_decrease_pps, 1000.0);
	tick(&control, 1000);
	WH_ASSERT_NEAR(rate_pps(&control), 1000 / 1.125 + 100, 1e-12);
	tick(&control, 2000);
	WH_ASSERT_NEAR(rate_pps(&control), 1000 / 1.125 + 200, 1e-12);
	tick(&control, 3000); /* C = 1088.9 is above D: (4) */
	WH_ASSERT_NEAR(rate_pps(&control), 1000 / 1.125 + 1200, 1e-12);

	set(&config, "formula3", false);
	control = flow(&config, 1000, 90000);
	nak(&control, 0, 2, FIRST_SENT_END, 2000);
	tick(&control, 1000);
	WH_ASSERT_NEAR(rate_pps(&control), 1000 / 1.125 + 1000, 1e-12);
}

/*
 * (2) comes before (3), however far C = 8000 is below D = 9000. Just above C, B/9 = 889 packets/s =
 * 10.7 Mb/s, 10^8: 0.1 packets.
 */
static void test_formula_2_before_3(void)
{
	static const struct {
		uint32_t capacity_pps;
		double inc_pkts;
	} cases[] = {{5000, 1.0 / 1500}, {7999, 1.0 / 1500}, {8001, 0.1}};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_control_config config = defaults();
		struct wh_control control = flow(&config, 9000, cases[i].capacity_pps);

		nak(&control, 0, 2, FIRST_SENT_END, 2000);
		tick(&control, 1000);
		WH_ASSERT_NEAR(rate_pps(&control) - 8000, 100 * cases[i].inc_pkts, 1e-7);
	}
}

/*
 * Table 1: (3) for capacities of x Mb/s (x * 10^6 / 12000 packets/s) beside one of 200 Mb/s. In
 * bits 80 is a class below 200 (unfair: 53.2 Mb/s), 100 in the same (fair: 91.6); in bytes the
 * border would be at 72.
 */
static void test_classes_of_table_1(void)
{
	static const struct {
		uint32_t capacity_pps;
		double bits_pkts, bytes_pkts;
	} cases[] = {
		{16666, 0.1, 0.01},  /* 200: 22.2 Mb/s, 2.78 MB/s */
		{5000, 0.01, 0.001}, /*  60: 6.67 Mb/s, 0.83 MB/s */
		{5999, 0.01, 0.001}, /*  72: 8.00 Mb/s, 0.9998 MB/s */
		{6001, 0.01, 0.01},  /*  72: 8.00 Mb/s, 1.0002 MB/s */
		{6666, 0.01, 0.01},  /*  80: 8.89 Mb/s, 1.11 MB/s */
		{7499, 0.01, 0.01},  /*  90: 9.999 Mb/s */
		{7501, 0.1, 0.01},   /*  90: 10.001 Mb/s */
		{8333, 0.1, 0.01},   /* 100: 11.1 Mb/s, 1.39 MB/s */
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int bytes = 0; bytes < 2; bytes++) {
			struct wh_control_config config = defaults();

			set(&config, "bandwidth_in_bytes", bytes);

			struct wh_control control = flow(&config, 900, cases[i].capacity_pps);
			double inc = bytes ? cases[i].bytes_pkts : cases[i].bits_pkts;

			nak(&control, 0, 2, FIRST_SENT_END, 2000); /* C = 800, D = 900 */
			tick(&control, 1000);
			WH_ASSERT_NEAR(rate_pps(&control) - 800, 100 * inc, 1e-7);
		}
	}
}

static void test_formula_6(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control;

	wh_control_init(&control, &wh_profile_udt, &config);
	CU_ASSERT_EQUAL(udt_of(&control)->capacity_pps, 0.0);
	feedback(&control, 1, 0, 8000, 0); /* in slow start too; the first is B */
	CU_ASSERT_EQUAL(udt_of(&control)->capacity_pps, 8000.0);
	feedback(&control, 1, 0, 16000, 0); /* 7000 + 2000 */
	CU_ASSERT_EQUAL(udt_of(&control)->capacity_pps, 9000.0);
	feedback(&control, 1, 0, 0, 0);
	CU_ASSERT_EQUAL(udt_of(&control)->capacity_pps, 9000.0);
	nak(&control, 0, 1, 1, 10);
	feedback(&control, 1, 0, 1000, 0); /* 7875 + 125 */
	CU_ASSERT_EQUAL(udt_of(&control)->capacity_pps, 8000.0);
}

/* (7): 10^6 * 1.125 cycles, then 1.125 of that; 8/9 of the rate each time. */
static void test_formula_7(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 0);

	warn(&control, 100 * MS, 1500);
	CU_ASSERT_EQUAL(interval_of(&control), UINT64_C(1125000) << 20);
	WH_ASSERT_NEAR(rate_pps(&control), 888.8888889, 1e-9);
	CU_ASSERT_EQUAL(udt_of(&control)->last_decrease_pps, 1000.0);
	warn(&control, 300 * MS, 2500);
	CU_ASSERT_EQUAL(interval_of(&control), UINT64_C(1265625) << 20);
	WH_ASSERT_NEAR(udt_of(&control)->last_decrease_pps, 888.8888889, 1e-9);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 2);
}

/* What tools/figures --mutate switches off: the factor of (7), and SYN at both ends. */
static void test_constants_by_option(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control;

	CU_ASSERT_EQUAL(wh_profile_feedback(&wh_profile_udt, &config.options).period_us, 10000);
	set(&config, "decrease", 2);
	set(&config, "syn", 100 * MS);
	CU_ASSERT_EQUAL(wh_profile_feedback(&wh_profile_udt, &config.options).period_us, 100000);
	control = flow(&config, 1000, 0);
	warn(&control, 100 * MS, 1500);
	CU_ASSERT_EQUAL(interval_of(&control), UINT64_C(2000000) << 20);
	CU_ASSERT_EQUAL(wh_profile_options_put(&config.options, &wh_profile_udt, "decrease", 0.99),
		-ERANGE);
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&config.options, &wh_profile_udt, "syn", 999999), -ERANGE);
}

/* An epoch lasts until a loss beyond last_dec_seq; within it (7) is taken at dc = 16, 32, 64. */
static void test_epoch(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 0);
	uint64_t interval_fp = UINT64_C(1125000) << 20;

	/* Packet number 999 was the last sent when the epoch began: still in it. */
	nak(&control, 50 * MS, 1, FIRST_SENT_END - 1, 2000);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 0);
	CU_ASSERT_EQUAL(udt_of(&control)->decrease_count, 2);
	nak(&control, 100 * MS, 1, FIRST_SENT_END, 2000);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 1);
	CU_ASSERT_EQUAL(udt_of(&control)->decrease_count, 1);
	CU_ASSERT_EQUAL(udt_of(&control)->dec_end, 2000);
	CU_ASSERT_EQUAL(interval_of(&control), interval_fp);

	for (uint32_t dc = 2; dc <= 70; dc++) {
		nak(&control, (100 + dc) * MS, 5, 1999, 3000 + dc);

		const struct wh_udt *udt = udt_of(&control);
		uint32_t taken = dc >= 64 ? 3 : dc >= 32 ? 2 : dc >= 16 ? 1 : 0;

		CU_ASSERT_EQUAL(udt->decrease_count, dc);
		CU_ASSERT_EQUAL(udt->decreases, 1 + taken);
		CU_ASSERT_EQUAL(udt->e, 4 + taken);
		CU_ASSERT_EQUAL(udt->dec_end, 2000);            /* 2^e does not begin an epoch */
		CU_ASSERT_EQUAL(freeze_of(&control), 110 * MS); /* nor freeze */
		CU_ASSERT_EQUAL(udt->freezes, 2);
		if (dc == 16) {
			interval_fp = UINT64_C(1265625) << 20;
			CU_ASSERT_EQUAL(interval_of(&control), interval_fp);
			WH_ASSERT_NEAR(udt->last_decrease_pps, 1000 / 1.125, 1e-12);
		}
	}

	nak(&control, 300 * MS, 1, 2000, 9000); /* a new epoch: e and dc start over */
	CU_ASSERT_EQUAL(udt_of(&control)->decrease_count, 1);
	CU_ASSERT_EQUAL(udt_of(&control)->e, 4);
	CU_ASSERT_EQUAL(udt_of(&control)->dec_end, 9000);
	for (uint32_t dc = 2; dc <= 16; dc++) {
		CU_ASSERT_EQUAL(udt_of(&control)->decreases, 5);
		nak(&control, 301 * MS, 1, 8999, 9500);
	}
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 6);
}

static void test_freeze(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 0);

	CU_ASSERT_EQUAL(freeze_of(&control), SYN); /* end of slow start, at 0 */
	nak(&control, 30 * MS, 1, 1200, 1500);     /* first NAK of an epoch */
	CU_ASSERT_EQUAL(freeze_of(&control), 40 * MS);
	nak(&control, 35 * MS, 1, 1300, 1600); /* within it */
	CU_ASSERT_EQUAL(freeze_of(&control), 40 * MS);
	warn(&control, 50 * MS, 1700);
	CU_ASSERT_EQUAL(freeze_of(&control), 60 * MS);
	warn(&control, 51 * MS, 1700);
	CU_ASSERT_EQUAL(freeze_of(&control), 61 * MS);
	tick(&control, 100);
	feedback(&control, 100, 10, 10, MS);
	CU_ASSERT_EQUAL(freeze_of(&control), 61 * MS);
	CU_ASSERT_EQUAL(udt_of(&control)->freezes, 4);
}

/* A warning does what the first NAK of an epoch does, at any time. */
static void test_delay_warning(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 0);

	for (uint32_t i = 0; i < 20; i++)
		nak(&control, MS, 1, 10, 1100);
	CU_ASSERT_EQUAL(udt_of(&control)->e, 5);
	warn(&control, 50 * MS, 1500);
	CU_ASSERT_EQUAL(udt_of(&control)->e, 4);
	CU_ASSERT_EQUAL(udt_of(&control)->decrease_count, 1);
	CU_ASSERT_EQUAL(udt_of(&control)->dec_end, 1500);
	nak(&control, 51 * MS, 1, 1499, 1600);
	CU_ASSERT_EQUAL(udt_of(&control)->decrease_count, 2);

	set(&config, "delay_warning", false);
	wh_control_init(&control, &wh_profile_udt, &config);
	feedback(&control, 100, 1000, 0, 90 * MS);
	warn(&control, 50 * MS, 1500);
	CU_ASSERT_TRUE(udt_of(&control)->slow_start);
	CU_ASSERT_EQUAL(freeze_of(&control), 0);
	nak(&control, 60 * MS, 1, 10, 1500);
	warn(&control, 100 * MS, 2500);
	CU_ASSERT_EQUAL(interval_of(&control), UINT64_C(1000000) << 20);
	CU_ASSERT_EQUAL(freeze_of(&control), 70 * MS);
}

static void test_loss_threshold(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 0); /* one lost packet reported */

	CU_ASSERT_EQUAL(udt_of(&control)->loss_rate, 0.0);
	/* 0 * 7/8 + 80/1000 / 8 = 0.01: not below the threshold */
	nak(&control, 0, 79, 10, 1000);
	tick(&control, 1000);
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.01, 1e-12);
	CU_ASSERT_EQUAL(rate_pps(&control), 1000.0);
	/* 0.01 * 7/8: below; (2) */
	tick(&control, 2000);
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.00875, 1e-12);
	WH_ASSERT_NEAR(rate_pps(&control), 1000 + 100.0 / 1500, 1e-12);

	/* 79 of 1000: 0.009875 */
	control = flow(&config, 1000, 0);
	nak(&control, 0, 78, 10, 1000);
	tick(&control, 1000);
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.009875, 1e-12);
	WH_ASSERT_NEAR(rate_pps(&control), 1000 + 100.0 / 1500, 1e-12);

	/* Another threshold: 0.009875 is not below 0.005 */
	set(&config, "loss_threshold", 0.005);
	control = flow(&config, 1000, 0);
	nak(&control, 0, 78, 10, 1000);
	tick(&control, 1000);
	CU_ASSERT_EQUAL(rate_pps(&control), 1000.0);
}

static void test_loss_rate_of_odd_intervals(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, 1000, 0);

	nak(&control, 0, 7, 10, 1000);
	tick(&control, 0); /* nothing sent: no rate, the 8 losses stay */
	CU_ASSERT_EQUAL(udt_of(&control)->loss_rate, 0.0);
	tick(&control, 100); /* 8/100 / 8 */
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.01, 1e-12);
	tick(&control, 100);
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.01, 1e-12);
	nak(&control, 0, 500, 10, 1000); /* more reported than sent: all lost, no more */
	tick(&control, 200);
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.01 * 7 / 8 + 1.0 / 8, 1e-12);

	/* As an option an empty interval is one without loss: 0.01 is below 1 % after one of it. */
	set(&config, "empty_syn", true);
	control = flow(&config, 1000, 0);
	nak(&control, 0, 7, 10, 1000);
	tick(&control, 0); /* its losses stay all the same */
	tick(&control, 100);
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.01, 1e-12);
	tick(&control, 100);
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.00875, 1e-12);
	tick(&control, 100);
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.00875 * 7 / 8, 1e-12);
}

/* rate_bps bounds C in slow start, at its end and in every increase: 12304 bits at 1 Gb/s. */
static void test_rate_bound(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control;
	uint64_t bound_fp = UINT64_C(12304) << 20;

	config.rate_bps = 1000000000;
	wh_control_init(&control, &wh_profile_udt, &config);
	CU_ASSERT_EQUAL(interval_of(&control), bound_fp);
	feedback(&control, 100, 1000000, 9000000, 90 * MS);
	CU_ASSERT_EQUAL(interval_of(&control), bound_fp);
	nak(&control, 0, 1, 500, FIRST_SENT_END);
	CU_ASSERT_EQUAL(interval_of(&control), bound_fp);
	tick(&control, 1000);
	CU_ASSERT_EQUAL(interval_of(&control), bound_fp);
	warn(&control, 0, 2000);
	CU_ASSERT_EQUAL(interval_of(&control), UINT64_C(13842) << 20); /* 12304 * 1.125 */
	tick(&control, 100000); /* (3): 12 Gb/s, 100 packets; 822.4 per SYN would be 12159 */
	CU_ASSERT_EQUAL(interval_of(&control), bound_fp);
}

/* What a peer may claim: an arrival speed beyond the clock's rate, warnings without end. */
static void test_interval_bounds(void)
{
	struct wh_control_config config = defaults();
	struct wh_control control = flow(&config, UINT32_MAX, 0);

	CU_ASSERT_EQUAL(interval_of(&control), WH_INTERVAL_MIN_FP);
	for (int i = 0; i < 1000; i++)
		warn(&control, 0, 2000);
	CU_ASSERT_EQUAL(interval_of(&control), HZ << 20);
	CU_ASSERT_EQUAL(rate_pps(&control), 1.0);
	feedback(&control, 0, 0, 84333, 0);
	tick(&control, 1000); /* C = D = 1: (4), 84332 packets/s, 1.01 Gb/s: ten packets */
	WH_ASSERT_NEAR(rate_pps(&control), 1001.0, 1e-9);
}

static void test_spare_single_loss(void)
{
	struct wh_control_config config = defaults();

	set(&config, "spare_single_loss", true);

	struct wh_control control = flow(&config, 1000, 0); /* slow start ended by one loss */

	CU_ASSERT_FALSE(udt_of(&control)->slow_start);
	CU_ASSERT_EQUAL(freeze_of(&control), SYN);

	/* The first single loss changes nothing but the loss rate. */
	nak(&control, 50 * MS, 1, 1200, 1500);
	CU_ASSERT_EQUAL(interval_of(&control), UINT64_C(1000000) << 20);
	CU_ASSERT_EQUAL(freeze_of(&control), SYN);
	CU_ASSERT_EQUAL(udt_of(&control)->dec_end, FIRST_SENT_END);
	CU_ASSERT_EQUAL(udt_of(&control)->decrease_count, 1);
	tick(&control, 100); /* 2 of 100 */
	WH_ASSERT_NEAR(udt_of(&control)->loss_rate, 0.0025, 1e-12);

	/* A NAK of the old epoch is counted there and is not the second. */
	nak(&control, 55 * MS, 1, 900, 1600);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 0);
	CU_ASSERT_EQUAL(udt_of(&control)->decrease_count, 2);

	/* The second, single or the same packet again, begins the epoch. */
	nak(&control, 60 * MS, 1, 1200, 1700);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 1);
	CU_ASSERT_EQUAL(udt_of(&control)->dec_end, 1700);
	CU_ASSERT_EQUAL(freeze_of(&control), 70 * MS);

	/* Then it starts over: one free, unless more than one packet was lost. */
	nak(&control, 100 * MS, 1, 1700, 1800);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 1);
	nak(&control, 110 * MS, 2, 1750, 1900);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 2);
	nak(&control, 150 * MS, 2, 1900, 2000);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 3);

	/* A warning takes the place of the second. */
	nak(&control, 200 * MS, 1, 2000, 2100);
	warn(&control, 210 * MS, 2200);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 4);
	nak(&control, 250 * MS, 1, 2200, 2300);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 4);

	/* Without the option every one of an epoch's first losses decreases. */
	set(&config, "spare_single_loss", false);
	control = flow(&config, 1000, 0);
	nak(&control, 50 * MS, 1, 1200, 1500);
	CU_ASSERT_EQUAL(udt_of(&control)->decreases, 1);
}

/* beta is an option: twice of it, twice the packets. */
static void test_beta(void)
{
	struct wh_control_config config = defaults();

	set(&config, "beta", 3e-6);

	struct wh_control control = flow(&config, 1000, 84333);

	tick(&control, 1000);
	WH_ASSERT_NEAR(rate_pps(&control), 1200.0, 1e-12);
}

CU_TestInfo wh_tests[] = {
	{"slow start", test_slow_start},
	{"slow start ends", test_slow_start_ends},
	{"slow start ends, AS unknown", test_slow_start_ends_without_arrival_speed},
	{"(1) window", test_formula_1},
	{"(1) bounds", test_window_bounds},
	{"(2), (4) increase, bits and bytes", test_formulas_2_and_4},
	{"(4) exact power of ten", test_exact_power_of_ten},
	{"(5) interval", test_formula_5},
	{"(3) after a decrease", test_formula_3},
	{"(2) before (3)", test_formula_2_before_3},
	{"(3) classes of Table 1", test_classes_of_table_1},
	{"(6) capacity", test_formula_6},
	{"(7) decrease", test_formula_7},
	{"decrease and SYN by option", test_constants_by_option},
	{"epochs and 2^e", test_epoch},
	{"freeze", test_freeze},
	{"delay warning", test_delay_warning},
	{"loss threshold", test_loss_threshold},
	{"loss rate of odd intervals", test_loss_rate_of_odd_intervals},
	{"upper bound of the rate", test_rate_bound},
	{"bounds of the interval", test_interval_bounds},
	{"section V: first single loss", test_spare_single_loss},
	{"beta", test_beta},
	CU_TEST_INFO_NULL,
};
