/* SPDX-License-Identifier: BSD-3-Clause */

/* What a session says has limited it, in worlds where one thing alone does; virtual time. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session/internal.h"
#include "world.h"

#define MS       UINT64_C(1000000)
#define LINE_BPS UINT64_C(1000000000)
#define END_NS   (60 * WH_NS_PER_S)

static struct wh_world_config quiet_world(void)
{
	const struct wh_fibre_config fibre = {
		.rate_bps = LINE_BPS, .delay_ns = 5 * MS, .queue_bytes = 1 << 20, .seed = 1};

	return (struct wh_world_config){
		.hz = WH_NS_PER_S,
		.seed = 1,
		.profile = wh_profile_find("fixed"),
		.send_rate_bps = LINE_BPS / 10,
		.mtu_bytes = 1500,
		.chunk_bytes = 1 << 18,
		.chunks_sender = 64,
		.chunks_receiver = 64,
		.window_pkts = 1 << 14,
		.burst_pkts = 32,
		.object_bytes = 12 << 20,
		.forward = fibre,
		.reverse = fibre,
		.heal_ns = UINT64_MAX,
		.limit_ns = UINT64_MAX,
	};
}

static void as_it_is(struct wh_world_config *config)
{
	(void)config;
}

/* More than the half of the time is the rate's; what keeps the flow from it is the core all the
 * same. */
static void starve(struct wh_world_config *config)
{
	config->steal_ns = 20 * MS;
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

static void rest_writer(struct wh_world_config *config)
{
	config->chunks_receiver = 4;
	config->writer_rest_ns = 200 * MS;
}

static void lose(struct wh_world_config *config)
{
	config->profile = wh_profile_find("udt");
	wh_profile_options_init(&config->options, config->profile);
	config->send_rate_bps = 0;
	config->object_bytes = 100 << 20;
	config->forward.loss = 0.005;
}

static void bound(struct wh_world_config *config)
{
	config->profile = wh_profile_find("udt");
	wh_profile_options_init(&config->options, config->profile);
	config->object_bytes = 60 << 20;
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
} cases[] = {
	{"the rate that was asked for", as_it_is, WH_LIMIT_RATE},
	{"a core that others have, too", starve, WH_LIMIT_CPU},
	{"a small window", shut_window, WH_LIMIT_WINDOW},
	{"two buffers at the peer", take_buffers, WH_LIMIT_MEMORY},
	{"a writer that rests", rest_writer, WH_LIMIT_DISK},
	{"losses under udt", lose, WH_LIMIT_LOSS},
	{"udt at the rate that bounds it", bound, WH_LIMIT_RATE},
	{"a peer that is gone", cut, WH_LIMIT_PEER},
};

static bool check(size_t i)
{
	struct wh_world_config config = quiet_world();

	cases[i].change(&config);

	struct wh_world *world = wh_world_create(&config);

	if (world == NULL)
		return false;
	for (uint64_t at_ns = 0; at_ns < END_NS; at_ns += 100 * MS)
		if (wh_world_run(world, at_ns))
			break;

	const struct wh_session *sender = wh_world_sender(world);
	enum wh_limit limit = wh_session_limited_by(sender);

	if (limit != cases[i].limit) {
		printf("FAILED %s: limited by %s, not %s;", cases[i].name, wh_limit_name(limit),
			wh_limit_name(cases[i].limit));
		for (uint32_t j = 0; j < WH_LIMITS; j++)
			printf(" %s %" PRIu64, wh_limit_name(j), sender->stats.limit_tsc[j] / MS);
		printf(", forfeited %" PRIu64 " ms\n", sender->tx.pacer.forfeited_tsc / MS);
	} else {
		printf("ok     %s: %s\n", cases[i].name, wh_limit_name(limit));
	}
	wh_world_destroy(world);
	return limit == cases[i].limit;
}

int main(void)
{
	bool good = true;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		good = check(i) && good;
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
