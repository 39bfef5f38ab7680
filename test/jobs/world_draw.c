/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "bundle/split.h"
#include "world_internal.h"

/* A split file has 32 MiB or more: on slow emulated links that is much time for little news. */
#define SPLIT_BPS_MIN UINT64_C(200000000)

static bool one_in(struct world *w, uint32_t n)
{
	return wh_prng_below(&w->prng, n) == 0;
}

static uint64_t log_uniform(struct world *w, uint64_t low, uint64_t high)
{
	return (uint64_t)((double)low * pow((double)high / (double)low, wh_prng_unit(&w->prng)));
}

/* All have one key, as the processes of one user have; made once. */
static struct wh_identity identity;
static const struct wh_handshake_settings one_of_us = {
	.identity = &identity,
	.ciphers = 1 << WH_CIPHER_AES_128_GCM,
};

static void make_identity(void)
{
	int rc = identity.key == NULL ? wh_identity_make(&identity) : 0;

	WH_ASSERT(rc == 0);
}

static void draw_settings(struct world *w, struct wh_host_settings *settings, uint32_t lanes)
{
	*settings = (struct wh_host_settings){
		.ports = 1,
		.queues = 1 + (uint32_t)wh_prng_below(&w->prng, HOUSE_QUEUES_MAX),
		.mtu_bytes = w->mtu_bytes,
		.handshake = w->with_handshake ? &one_of_us : NULL,
		.buffer_bytes = (UINT64_C(24) << 20) * (1 + lanes),
	};

	struct wh_prng own = w->prng; /* so that other worlds stay what they are */

	settings->books_cpus.count = wh_prng_u64(&own) % 2;
	settings->ports = 1 + (wh_prng_u64(&own) % 3 == 0);
	settings->buffer_bytes *= settings->ports;
}

static void draw_request(struct world *w, struct wh_request *request, const char *profile,
	const struct wh_host_settings *settings)
{
	*request = (struct wh_request){
		.profile = wh_profile_find(profile),
		.rate_bps = w->rate_bps,
		.payload_bytes = WH_PAYLOAD_BYTES_MAX,
		.memory_bytes = settings->buffer_bytes,
		.peer_timeout_ns = (2 + wh_prng_below(&w->prng, 8)) * WH_NS_PER_S,
		.stall_timeout_ns = (2 + wh_prng_below(&w->prng, 8)) * WH_NS_PER_S,
	};
	wh_profile_options_init(&request->options, request->profile);
	wh_repair_options_init(&request->repair);
}

static void draw_client(struct world *w, struct visit_config *config)
{
	static const char *const profiles[] = {"fixed", "fixed", "udt", "ttp", "hstcp"};
	struct wh_request *request = &config->request;

	draw_settings(w, &config->settings, config->lanes);
	draw_request(w, request, profiles[wh_prng_below(&w->prng, 5)], &config->settings);
	request->rate_bps = (uint64_t)((double)w->rate_bps * (0.5 + 0.6 * wh_prng_unit(&w->prng)));
	if (one_in(w, 3)) {
		request->repair.told = true;
		request->repair.on = one_in(w, 2);
	}
	wh_repair_settle(&request->repair, request->profile);
}

static void draw_server(struct world *w, uint32_t jobs)
{
	draw_settings(w, &w->settings, jobs);
	w->settings.buffer_bytes = (UINT64_C(32) << 20) * (1 + jobs) * HOUSE_PORTS_MAX;
	draw_request(w, &w->own, "fixed", &w->settings);
	w->own.rate_bps = WH_RATE_MAX;
	w->is_tight = one_in(w, 5);
	w->limits = (struct wh_peer_limits){
		.places = w->is_tight ? 6 : 64,
		.spare_places = w->is_tight ? 1 : 8,
		.peer_places = w->is_tight ? 6 : 48,
		.peer_bytes = w->settings.buffer_bytes - w->settings.buffer_bytes / 4,
		.peer_room_bytes = UINT64_C(16) << 30,
		.peer_openings_s = w->is_tight ? 6 : 100,
		.peer_lines_s = 5,
		.lines_s = 50,
	};
	if (w->is_tight)
		w->settings.buffer_bytes = UINT64_C(96) << 20;
	/* All that a peer moves, both ways. */
	if (one_in(w, 3))
		w->own.rate_bps =
			(uint64_t)((double)w->rate_bps * (0.3 + 0.7 * wh_prng_unit(&w->prng)));
}

static void draw_netems(struct world *w)
{
	w->rate_bps = log_uniform(w, 20000000, UINT64_C(2000000000));
	w->rtt_ns = log_uniform(w, 100000, 100 * MS);
	w->mtu_bytes = one_in(w, 3) ? 9000 : 1500;
	w->with_handshake = one_in(w, 2);
	make_identity();
	w->is_rough = !one_in(w, 3);
	for (uint32_t i = 0; i < 2; i++) {
		struct wh_link_model *netem = &w->netem[i];

		*netem = (struct wh_link_model){
			.rate_bps = w->rate_bps,
			.delay_ns = w->rtt_ns / 2,
			.queue_bytes =
				100000 + wh_muldiv_u64(w->rate_bps, w->rtt_ns, 8 * WH_NS_PER_S),
		};
		if (!w->is_rough)
			continue;
		if (one_in(w, 2))
			netem->loss = 0.05 * wh_prng_unit(&w->prng);
		if (one_in(w, 3)) {
			netem->reorder = 0.1 * wh_prng_unit(&w->prng);
			netem->reorder_delay_ns = log_uniform(w, 1000, 20 * MS);
		}
		if (one_in(w, 4))
			netem->duplicate = 0.1 * wh_prng_unit(&w->prng);
		if (one_in(w, 4))
			netem->corrupt = 0.02 * wh_prng_unit(&w->prng);
		if (one_in(w, 4))
			netem->jitter_ns = log_uniform(w, 1000, 20 * MS);
	}
}

/* Large enough that each lane has a part of it. */
static void draw_split(struct world *w, struct visitor *visitor)
{
	struct tree *tree = &visitor->tree;

	for (uint32_t i = 0; i < tree->count; i++) {
		struct tree_entry *entry = &tree->entry[i];

		if (entry->kind != TREE_FILE)
			continue;
		tree->bytes -= entry->bytes;
		entry->bytes = visitor->config.lanes * WH_SPLIT_BYTES_MIN +
			       wh_prng_below(&w->prng, UINT64_C(1) << 20);
		tree->bytes += entry->bytes;
		return;
	}
}

/* What it wants, whoever it is and of whom. */
static void draw_wish(struct world *w, struct visitor *visitor)
{
	static const enum wh_job_verb verbs[] = {
		WH_JOB_SEND, WH_JOB_SEND, WH_JOB_SEND, WH_JOB_GET, WH_JOB_GET, WH_JOB_BENCH};
	struct visit_config *config = &visitor->config;

	config->verb = verbs[wh_prng_below(&w->prng, 6)];
	if (one_in(w, 4)) {
		visitor->change_ns = log_uniform(w, MS, 2000 * MS);
		visitor->change_bps = log_uniform(w, w->rate_bps / 20 + 1, 2 * w->rate_bps);
	}
	if (config->verb == WH_JOB_BENCH) {
		config->reverse = one_in(w, 2);
		config->idles = (uint32_t)wh_prng_below(&w->prng, 3);
		config->bench_bytes = config->lanes + log_uniform(w, 1, 2000000);
		return;
	}
	tree_draw(&visitor->tree, wh_prng_u64(&w->prng), one_in(w, 9) ? 5000000 : 800000);
	if (config->lanes == 2 && w->rate_bps > SPLIT_BPS_MIN && one_in(w, 20))
		draw_split(w, visitor);
	config->tree = &visitor->tree;
	visitor->has_before = one_in(w, 3);
	if (visitor->has_before) {
		visitor->before = visitor->tree;
		tree_change(&visitor->before, wh_prng_u64(&w->prng));
		config->before = &visitor->before;
		if (one_in(w, 2))
			config->request.choice.wishes |= WH_CHOICE_BLOCKS;
	}
}

/* A client, and what it wants of a server or of both. */
static void draw_visitor(struct world *w, uint32_t number)
{
	struct visitor *visitor = &w->visitor[w->visitors++];
	struct visit_config *config = &visitor->config;

	config->client = 1 + number;
	config->server = server_of((uint32_t)wh_prng_below(&w->prng, w->servers));
	config->lanes = one_in(w, 3) ? 2 + (uint32_t)wh_prng_below(&w->prng, 2) : 1;
	draw_client(w, config);
	visitor->start_ns = w->house.now_ns + wh_prng_below(&w->prng, one_in(w, 2) ? 1 : 1000 * MS);
	if (w->servers > 1 && one_in(w, 4)) {
		struct visitor *other = &w->visitor[w->visitors++];

		config->settings.buffer_bytes *= 2;
		other->config = *config;
		other->config.server = server_of(config->server == server_of(0));
		other->start_ns = visitor->start_ns;
		draw_wish(w, other);
	}
	draw_wish(w, visitor);
}

static void draw_fault(struct world *w)
{
	w->fault = one_in(w, 3) ? FAULT_NONE : 1 + (enum fault)wh_prng_below(&w->prng, FAULTS - 1);
	w->victim = 1 + (uint32_t)wh_prng_below(&w->prng, w->clients);
	w->victim_server = server_of((uint32_t)wh_prng_below(&w->prng, w->servers));
	w->fault_ns = w->visitor[0].start_ns + log_uniform(w, 10000, 3000 * MS);
	w->heal_ns = w->fault_ns + log_uniform(w, 100000, 8000 * MS);

	struct wh_prng own = w->prng;

	w->dark_port = (uint32_t)wh_prng_below(&own, 2 * HOUSE_PORTS_MAX);
	w->disk = (struct disk_config){
		.seed = wh_prng_u64(&w->prng),
		.in_memory = one_in(w, 3),
		.latency_ns = one_in(w, 2) ? 0 : log_uniform(w, 1000, 50 * MS),
		.work_ns = one_in(w, 2) ? 0 : log_uniform(w, 1000, 500 * MS),
		.short_one_in = one_in(w, 3) ? 20 : 0,
		.fails_after = one_in(w, 10) ? 1 + (uint32_t)wh_prng_below(&w->prng, 20) : 0,
		.room_bytes = one_in(w, 16) ? log_uniform(w, 10000, 5000000) : 0,
		.room_is_told = one_in(w, 2),
	};
}

void world_draw(struct world *w)
{
	wh_prng_init(&w->prng, w->seed);
	house_open(&w->house, wh_prng_u64(&w->prng), log_uniform(w, 20000, 1000000));
	draw_netems(w);
	w->servers = one_in(w, 4) ? SERVERS_MAX : 1;
	w->clients = 1 + (uint32_t)wh_prng_below(&w->prng, one_in(w, 2) ? 2 : CLIENTS_MAX);

	uint32_t jobs = 0;

	for (uint32_t i = 0; i < w->clients; i++)
		draw_visitor(w, i);
	for (uint32_t i = 0; i < w->visitors; i++)
		jobs += w->visitor[i].config.lanes;
	draw_server(w, jobs);
	draw_fault(w);
}

void world_describe(const struct world *w)
{
	static const char *const faults[FAULTS] = {"none", "cut", "outage", "client killed",
		"server killed", "drain", "server stands still", "client stands still"};

	printf("  rate %.1f Mb/s, rtt %.3f ms, mtu %u, handshakes %d, loss %g/%g, reorder %g/%g, "
	       "quantum %" PRIu64 " us; disk: memory %d, latency %" PRIu64
	       " us, remote operations %" PRIu64 " us, fails %u, room %" PRIu64
	       "; tight %d; fault: %s of %u or server %u at %.4f "
	       "s, until %.4f s, of port %u; server's ports %u\n",
		(double)w->rate_bps / 1e6, (double)w->rtt_ns / 1e6, w->mtu_bytes, w->with_handshake,
		w->netem[0].loss, w->netem[1].loss, w->netem[0].reorder, w->netem[1].reorder,
		w->house.quantum_ns / 1000, w->disk.in_memory, w->disk.latency_ns / 1000,
		w->disk.work_ns / 1000, w->disk.fails_after, w->disk.room_bytes, w->is_tight,
		faults[w->fault], w->victim, w->victim_server, (double)w->fault_ns / 1e9,
		(double)w->heal_ns / 1e9, w->dark_port, w->settings.ports);
	for (uint32_t i = 0; i < w->visitors; i++) {
		const struct visit_config *config = &w->visitor[i].config;

		printf("  client %u of server %u: verb %d%s, %u lanes, %u idle, %s %.1f Mb/s, "
		       "repair %d, ports %u, queues "
		       "%u, "
		       "timeouts %.0f %.0f s, %u entries, %" PRIu64
		       " bytes%s, rate %.1f Mb/s after %.3f s\n",
			config->client, config->server, config->verb,
			config->reverse ? " reverse" : "", config->lanes, config->idles,
			config->request.profile->name, (double)config->request.rate_bps / 1e6,
			config->request.repair.on, config->settings.ports, config->settings.queues,
			(double)config->request.peer_timeout_ns / 1e9,
			(double)config->request.stall_timeout_ns / 1e9, w->visitor[i].tree.count,
			w->visitor[i].tree.bytes + config->bench_bytes,
			!w->visitor[i].has_before            ? ""
			: config->request.choice.wishes != 0 ? ", by blocks of another version"
							     : ", another version is there",
			(double)w->visitor[i].change_bps / 1e6,
			(double)w->visitor[i].change_ns / 1e9);
	}
}
