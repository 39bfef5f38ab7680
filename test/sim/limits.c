/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a session says has limited it, where one thing alone does; virtual time. Two ends over
 * lib/lab/netem (world.h), and two flows that share a line of lib/lab/sim.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "lab/scenario/engine.h"
#include "session/session_internal.h"
#include "world.h"

#define MS     UINT64_C(1000000)
#define GBPS   UINT64_C(1000000000)
#define END_NS (60 * WH_NS_PER_S)

/* `fixed` at a tenth of a line of 1 Gb/s, 10 ms there and back, nothing wrong. */
static struct wh_world_config quiet_world(void)
{
	const struct wh_link_model netem = {
		.rate_bps = GBPS, .delay_ns = 5 * MS, .queue_bytes = 2 << 20, .seed = 1};

	return (struct wh_world_config){
		.hz = WH_NS_PER_S,
		.seed = 1,
		.profile = wh_profile_find("fixed"),
		.send_rate_bps = GBPS / 10,
		.mtu_bytes = 1500,
		.chunk_bytes = 1 << 18,
		.chunks_sender = 64,
		.chunks_receiver = 64,
		.window_pkts = 1 << 14,
		.burst_pkts = 32,
		.object_bytes = 12 << 20,
		.forward = netem,
		.reverse = netem,
		.heal_ns = UINT64_MAX,
		.limit_ns = UINT64_MAX,
	};
}

static void as_it_is(struct wh_world_config *config)
{
	(void)config;
}

static void begin(struct wh_world_config *config, const char *profile, uint64_t object_bytes)
{
	config->profile = wh_profile_find(profile);
	wh_profile_options_init(&config->options, config->profile);
	config->send_rate_bps = 0;
	config->object_bytes = object_bytes;
}

/* The profile finds a line of that rate by itself, and has room for it. */
static void find(struct wh_world_config *config, uint64_t rate_bps, uint64_t object_bytes)
{
	begin(config, "lambda", object_bytes);
	config->mtu_bytes = 9000;
	config->chunk_bytes = 1 << 20;
	config->chunks_sender = config->chunks_receiver = 256;
	config->window_pkts = 1 << 16;
	config->forward.rate_bps = config->reverse.rate_bps = rate_bps;
	config->forward.delay_ns = config->reverse.delay_ns = MS;
	config->forward.queue_bytes = config->reverse.queue_bytes = rate_bps / 8 / 500;
}

static void find_1g(struct wh_world_config *config)
{
	find(config, GBPS, 100 << 20);
}

static void find_10g(struct wh_world_config *config)
{
	find(config, 10 * GBPS, 300 << 20);
}

static void find_40g(struct wh_world_config *config)
{
	find(config, 40 * GBPS, 1 << 30);
}

static void find_100g(struct wh_world_config *config)
{
	find(config, 100 * GBPS, UINT64_C(2) << 30);
}

static void bound_find(struct wh_world_config *config)
{
	find(config, 10 * GBPS, 100 << 20);
	config->send_rate_bps = GBPS;
}

static void find_through_noise(struct wh_world_config *config)
{
	find(config, GBPS, 100 << 20);
	config->forward.loss = 0.002;
}

/* A third of the time is the start's. */
static void find_for_a_while(struct wh_world_config *config)
{
	find(config, GBPS, 8 << 20);
	config->forward.delay_ns = config->reverse.delay_ns = 25 * MS;
}

static void say_a_word(struct wh_world_config *config)
{
	find(config, GBPS, 1000);
	config->forward.delay_ns = config->reverse.delay_ns = 25 * MS;
}

/*
 * More than the half of the time is the rate's; what keeps the flow from it is the core all the
 * same.
 */
static void starve(struct wh_world_config *config)
{
	config->steal_ns = 20 * MS;
}

static void starve_finder(struct wh_world_config *config)
{
	find(config, 10 * GBPS, 300 << 20);
	config->steal_ns = 20 * MS;
}

static void starve_receiver(struct wh_world_config *config)
{
	find(config, 10 * GBPS, 300 << 20);
	config->steal_receiver_ns = 20 * MS;
}

static void shut_window(struct wh_world_config *config)
{
	config->window_pkts = 64;
}

static void take_buffers(struct wh_world_config *config)
{
	config->chunks_receiver = 2;
	config->forward.delay_ns = 50 * MS;
}

static void take_our_buffers(struct wh_world_config *config)
{
	find(config, GBPS, 50 << 20);
	config->forward.delay_ns = 50 * MS;
	config->chunks_sender = 4;
}

static void rest_writer(struct wh_world_config *config)
{
	config->chunks_receiver = 4;
	config->writer_rest_ns = 200 * MS;
}

/* A chunk of 2.1 Mbit each 40 ms: half of the rate. */
static void rest_reader(struct wh_world_config *config)
{
	config->reader_rest_ns = 40 * MS;
}

static void rest_reader_of_finder(struct wh_world_config *config)
{
	find(config, GBPS, 50 << 20);
	config->reader_rest_ns = 16 * MS;
}

static void lose(struct wh_world_config *config)
{
	begin(config, "udt", 100 << 20);
	config->forward.loss = 0.005;
}

static void lose_window(struct wh_world_config *config)
{
	begin(config, "hstcp", 50 << 20);
	config->forward.loss = 0.005;
}

static void bound(struct wh_world_config *config)
{
	begin(config, "udt", 60 << 20);
	config->send_rate_bps = GBPS / 10;
}

static void cut(struct wh_world_config *config)
{
	config->event = WH_WORLD_CUT;
	config->event_ns = 500 * MS;
}

static const struct {
	const char *name;
	void (*change)(struct wh_world_config *config);
	enum wh_limit limit;
	enum wh_limit reader; /* what the reader waits for */
} cases[] = {
	{"the rate that was asked for", as_it_is, WH_LIMIT_RATE, WH_LIMIT_DISK},
	{"lambda at a bound of a tenth", bound_find, WH_LIMIT_RATE, WH_LIMIT_DISK},
	{"udt at the rate that bounds it", bound, WH_LIMIT_RATE, WH_LIMIT_DISK},
	{"lambda, 1 Gb/s, nothing lost", find_1g, WH_LIMIT_LINE, WH_LIMIT_DISK},
	{"lambda, 10 Gb/s, nothing lost", find_10g, WH_LIMIT_LINE, WH_LIMIT_DISK},
	{"lambda, 40 Gb/s, nothing lost", find_40g, WH_LIMIT_LINE, WH_LIMIT_DISK},
	{"lambda, 100 Gb/s, nothing lost", find_100g, WH_LIMIT_LINE, WH_LIMIT_DISK},
	{"lambda through noise", find_through_noise, WH_LIMIT_LINE, WH_LIMIT_DISK},
	{"lambda, a file of 70 ms at 50 ms", find_for_a_while, WH_LIMIT_START, WH_LIMIT_DISK},
	{"a thousand bytes", say_a_word, WH_LIMIT_START, WH_LIMIT_DISK},
	{"losses under udt", lose, WH_LIMIT_LOSS, WH_LIMIT_DISK},
	{"losses under hstcp", lose_window, WH_LIMIT_LOSS, WH_LIMIT_DISK},
	{"a core that others have, too", starve, WH_LIMIT_CPU, WH_LIMIT_DISK},
	{"the same under lambda", starve_finder, WH_LIMIT_CPU, WH_LIMIT_DISK},
	{"the receiver's core likewise", starve_receiver, WH_LIMIT_CPU, WH_LIMIT_DISK},
	{"a small window", shut_window, WH_LIMIT_WINDOW, WH_LIMIT_DISK},
	{"two buffers at the peer", take_buffers, WH_LIMIT_MEMORY, WH_LIMIT_DISK},
	{"four buffers here", take_our_buffers, WH_LIMIT_MEMORY, WH_LIMIT_DISK},
	{"a writer that rests", rest_writer, WH_LIMIT_PEER_DISK, WH_LIMIT_DISK},
	{"a reader that waits for its disk", rest_reader, WH_LIMIT_DISK, WH_LIMIT_DISK},
	{"the same under lambda", rest_reader_of_finder, WH_LIMIT_DISK, WH_LIMIT_DISK},
	{"a reader that waits for its pipe", rest_reader, WH_LIMIT_PIPE, WH_LIMIT_PIPE},
	{"a reader without a core", rest_reader, WH_LIMIT_CPU, WH_LIMIT_CPU},
	{"a reader that is not to send", rest_reader, WH_LIMIT_RATE, WH_LIMIT_NONE},
	{"a peer that is gone", cut, WH_LIMIT_PEER, WH_LIMIT_DISK},
};

static bool judge(const char *name, const struct wh_session *sender, enum wh_limit expected)
{
	const struct wh_session_stats stats = wh_session_stats(sender);
	enum wh_limit limit = wh_limit_of(stats.limit_tsc);

	printf("%s %s: limited by %s;", limit == expected ? "ok    " : "FAILED", name,
		wh_limit_name(limit));
	for (uint32_t i = 0; i < WH_LIMITS; i++)
		if (stats.limit_tsc[i] > 0)
			printf(" %s %.1f", wh_limit_name(i), (double)stats.limit_tsc[i] / MS);
	printf(" ms; %" PRIu64 " of %" PRIu64 " packets again\n", stats.retransmitted_pkts,
		stats.sent_pkts);
	fflush(stdout);
	return limit == expected;
}

static bool check(size_t i)
{
	struct wh_world_config config = quiet_world();

	cases[i].change(&config);

	struct wh_world *world = wh_world_create(&config);

	if (world == NULL)
		return false;
	wh_session_tell_reader(wh_world_sender(world), cases[i].reader);
	for (uint64_t at_ns = 0; at_ns < END_NS; at_ns += 100 * MS)
		if (wh_world_run(world, at_ns))
			break;

	bool good = judge(cases[i].name, wh_world_sender(world), cases[i].limit);

	wh_world_destroy(world);
	return good;
}

#define FLOWS     2
#define SHARED_PS (20 * WH_PS_PER_S)

static struct wh_sim *shared_line(uint32_t node[2])
{
	struct wh_sim *sim = wh_sim_create(1);

	for (uint32_t i = 0; i < 2; i++)
		node[i] = wh_sim_add_node(sim);
	for (uint32_t i = 0; i < 2; i++) {
		const struct wh_sim_link_config link = {
			.from = node[i],
			.to = node[1 - i],
			.rate_bps = GBPS / 10,
			.delay_ps = WH_PS_PER_S / 100,
			.queue = {.discipline = WH_SIM_DROPTAIL, .limit_pkts = 170},
		};

		wh_sim_add_link(sim, &link);
	}
	return sim;
}

/* Each of two flows of lambda has half of a line. */
static bool check_shared(void)
{
	struct wh_sim_engine_config config;
	struct wh_sim_engine *engine[FLOWS];
	uint32_t node[2];
	struct wh_sim *sim = shared_line(node);
	bool good = true;

	wh_sim_engine_config_init(&config, wh_profile_find("lambda"));
	for (uint32_t i = 0; i < FLOWS; i++) {
		engine[i] = wh_sim_engine_create(
			sim, &config, node[0], node[1], wh_sim_add_flow(sim), 100 + i);
		wh_sim_engine_start(engine[i], wh_sim_now_ps(sim));
	}
	wh_sim_run(sim, SHARED_PS);
	for (uint32_t i = 0; i < FLOWS; i++)
		good = judge("a line that two share", wh_sim_engine_sender(engine[i]),
			       WH_LIMIT_OTHERS) &&
		       good;
	for (uint32_t i = 0; i < FLOWS; i++)
		wh_sim_engine_destroy(engine[i]);
	wh_sim_destroy(sim);
	return good;
}

int main(void)
{
	bool good = check_shared();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		good = check(i) && good;
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
