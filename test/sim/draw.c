/* SPDX-License-Identifier: BSD-3-Clause */
#include "draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../rig/chance.h"
#include "base/clock.h"
#include "base/prng.h"
#include "base/units.h"
#include "fec/fec.h"
#include "profile/hstcp.h"
#include "profile/lambda/lambda.h"
#include "profile/sttp.h"
#include "profile/ttp.h"
#include "profile/udt.h"
#include "wire/encap.h"

#define MS UINT64_C(1000000)

/* Uniform in the logarithm: as many worlds between 1 and 10 as between 10 and 100. */
static uint64_t log_uniform(struct wh_prng *prng, uint64_t low, uint64_t high)
{
	double share = wh_prng_unit(prng);

	return (uint64_t)((double)low * pow((double)high / (double)low, share));
}

static void draw_loss(struct wh_prng *prng, struct wh_link_model *netem)
{
	if (one_in(prng, 3))
		return;
	if (one_in(prng, 3)) {
		netem->loss_model = WH_LOSS_GILBERT_ELLIOTT;
		netem->gilbert_elliott = (struct wh_gilbert_elliott){
			.good_to_bad = 0.02 * wh_prng_unit(prng),
			.bad_to_good = 0.1 + 0.9 * wh_prng_unit(prng),
			.loss_bad = wh_prng_unit(prng),
		};
	} else {
		netem->loss = one_in(prng, 2) ? 0.2 * wh_prng_unit(prng)
					      : pow(10, -1 - 5 * wh_prng_unit(prng));
	}
	if (one_in(prng, 8))
		netem->bit_error = pow(10, -6 - 4 * wh_prng_unit(prng));
}

static void draw_direction(
	struct wh_prng *prng, uint64_t rate_bps, uint64_t rtt_ns, struct wh_link_model *netem)
{
	uint64_t bdp_bytes = wh_muldiv_u64(rate_bps, rtt_ns, 8 * WH_NS_PER_S);

	*netem = (struct wh_link_model){
		.rate_bps = rate_bps,
		.delay_ns = rtt_ns / 2,
		.seed = wh_prng_u64(prng),
	};
	if (one_in(prng, 2))
		netem->queue_pkts = (uint32_t)log_uniform(prng, 2, 2000);
	else
		netem->queue_bytes =
			wh_max_u64(20000, (uint64_t)((double)bdp_bytes * 2 * wh_prng_unit(prng)));
	draw_loss(prng, netem);
	if (one_in(prng, 4)) {
		netem->reorder = 0.2 * wh_prng_unit(prng);
		netem->reorder_delay_ns = log_uniform(prng, 1000, 50 * MS);
	}
	if (one_in(prng, 4))
		netem->duplicate = 0.1 * wh_prng_unit(prng);
	if (one_in(prng, 4))
		netem->corrupt = 0.05 * wh_prng_unit(prng);
	if (one_in(prng, 4))
		netem->jitter_ns = log_uniform(prng, 1000, 20 * MS);
	if (one_in(prng, 5))
		netem->n_outages = 1 + (uint32_t)wh_prng_below(prng, 3);
	for (uint32_t i = 0; i < netem->n_outages; i++)
		netem->outage[i] = (struct wh_link_outage){
			.start_ns = log_uniform(prng, MS, 10000 * MS),
			.length_ns = log_uniform(prng, MS, 3000 * MS),
		};
}

static void choose(struct wh_world_config *config, const char *profile)
{
	config->profile = wh_profile_find(profile);
	wh_profile_options_init(&config->options, config->profile);
}

static void set(struct wh_world_config *config, const char *option, double value)
{
	int rc = wh_profile_options_put(&config->options, config->profile, option, value);

	WH_ASSERT(rc == 0);
}

static void draw_profile(struct wh_prng *prng, uint64_t rate_bps, struct wh_world_config *config)
{
	if (one_in(prng, 2)) {
		choose(config, "fixed");
		/* An operator may be wrong about the link, up to a third too fast. */
		config->send_rate_bps =
			(uint64_t)((double)rate_bps * (0.3 + 1.0 * wh_prng_unit(prng)));
		return;
	}
	choose(config, "udt");
	set(config, "formula3", !one_in(prng, 4));
	set(config, "spare_single_loss", one_in(prng, 4));
	set(config, "bandwidth_in_bytes", one_in(prng, 4));
	set(config, "delay_warning", !one_in(prng, 4));
	set(config, "one_way", one_in(prng, 4));
	set(config, "empty_syn", one_in(prng, 4));
}

/* Every recovery and code; from too little repair to much more than is needed. */
static void draw_repair(struct wh_prng *prng, struct wh_world_config *config)
{
	struct wh_repair_config *repair = &config->repair;
	uint32_t payload_bytes = wh_encap_payload_bytes(WH_IPV4, config->mtu_bytes);
	uint32_t k = (config->chunk_bytes + payload_bytes - 1) / payload_bytes;

	*repair = (struct wh_repair_config){.recovery = WH_RECOVERY_NAK};
	if (one_in(prng, 2))
		return;
	repair->recovery = WH_RECOVERY_HYBRID;
	repair->code = one_in(prng, 2) ? WH_FEC_RS : WH_FEC_TORNADO;
	repair->repair_pkts = 1 + (uint32_t)wh_prng_below(prng, k);
	wh_fec_planner_config_init(&repair->planner, repair->code);
	repair->planner.r_max = repair->repair_pkts;
	if (one_in(prng, 2)) {
		repair->fixed_k = 1 + (uint32_t)wh_prng_below(prng, 200);
		repair->fixed_r = 1 + (uint32_t)wh_prng_below(prng, 30);
	} else {
		repair->planner.initial_loss = 0.3 * wh_prng_unit(prng);
		repair->planner.clean_pkts = log_uniform(prng, 1, 10000);
	}
}

/* The paper's constants and others; its own recovery, ours, or none but asking. */
static void draw_ttp(struct wh_prng *prng, struct wh_world_config *config)
{
	double rate_bps = (double)config->forward.rate_bps;

	choose(config, "ttp");
	config->send_rate_bps = (uint64_t)(rate_bps * (0.3 + 1.0 * wh_prng_unit(prng)));
	if (!one_in(prng, 4)) {
		set(config, "n", (double)log_uniform(prng, 1, WH_BITMAP_PKTS_MAX));
		set(config, "q", 1 + (double)wh_prng_below(prng, 6));
		set(config, "stretch", 1 + (double)wh_prng_below(prng, 3));
		set(config, "stretch_max", 1 + (double)wh_prng_below(prng, 8));
		set(config, "initial_loss", wh_prng_unit(prng));
		set(config, "initial_rate", floor(rate_bps * wh_prng_unit(prng)));
	}
	if (config->repair.recovery == WH_RECOVERY_NAK) {
		uint32_t payload_bytes = wh_encap_payload_bytes(WH_IPV4, config->mtu_bytes);

		if (one_in(prng, 4))
			return;
		wh_repair_config_init(&config->repair, config->profile);
		config->repair.repair_pkts = 1 + 2 * config->chunk_bytes / payload_bytes;
		config->repair.planner.r_max = config->repair.repair_pkts;
	}
	if (one_in(prng, 4))
		config->repair.recovery = WH_RECOVERY_FEC;
}

/* Told nothing, a bound, or what an earlier session has found, which is up to ten times wrong. */
static void draw_lambda(struct wh_prng *prng, uint64_t rtt_ns, struct wh_world_config *config)
{
	double rate_bps = (double)config->forward.rate_bps;

	choose(config, "lambda");
	config->send_rate_bps = 0;
	if (one_in(prng, 3))
		config->send_rate_bps = (uint64_t)(rate_bps * (0.3 + 1.0 * wh_prng_unit(prng)));
	if (one_in(prng, 2))
		config->known = (struct wh_known_path){
			.capacity_bps = log_uniform(
				prng, (uint64_t)(rate_bps / 10.0), (uint64_t)(rate_bps * 10.0)),
			.rtt_ns = log_uniform(prng, rtt_ns / 4, rtt_ns * 4),
		};
	set(config, "share", (double)wh_prng_below(prng, WH_SHARING_SCAVENGER + 1));
	if (one_in(prng, 4))
		set(config, "train", (double)log_uniform(prng, 2, 1024));
	if (one_in(prng, 4))
		set(config, "alpha", (double)log_uniform(prng, 100, 1 << 24));
}

/* The constants and others, paced or not, up to a third faster than the link or unbound. */
static void draw_hstcp(struct wh_prng *prng, struct wh_world_config *config)
{
	double rate_bps = (double)config->forward.rate_bps;

	choose(config, "hstcp");
	config->send_rate_bps =
		one_in(prng, 2) ? 0 : (uint64_t)(rate_bps * (0.3 + 1.0 * wh_prng_unit(prng)));
	set(config, "pace", !one_in(prng, 4));
	set(config, "aimd", !one_in(prng, 4));
	if (one_in(prng, 2))
		return;
	set(config, "pace_gain", 0.5 + 2.0 * wh_prng_unit(prng));
	set(config, "initial_window", (double)log_uniform(prng, 1, 1000));
	set(config, "max_ssthresh", one_in(prng, 2) ? 0 : (double)log_uniform(prng, 1, 1000));
	set(config, "ack_bytes", one_in(prng, 2) ? 0 : (double)log_uniform(prng, 1, 1 << 20));
}

/* Each reading of the paper, but for a probe that is lost for good, which ends all liveness. */
static void draw_sttp(struct wh_prng *prng, uint64_t rate_bps, struct wh_world_config *config)
{
	static const char *const switches[] = {"growth_by_share", "scale_twice", "adaptive",
		"feed_scales", "timer", "token_returns", "returns_clear", "probe_takes"};

	choose(config, "sttp");
	config->send_rate_bps = one_in(prng, 2) ? 0 : rate_bps;
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		set(config, switches[i], one_in(prng, 2));
	set(config, "history", wh_prng_unit(prng));
	set(config, "probe_pkts", 2 + (double)wh_prng_below(prng, 14));
	set(config, "span", (double)log_uniform(prng, MS, 1000 * MS));
}

/*
 * Counted or timed. A timeout that is told may be too short for the way, but not for a queue that
 * a rate above the line's fills: such an avalanche is what timers are known for, and ends too late.
 */
static void draw_exchange(struct wh_prng *prng, uint64_t rtt_ns, struct wh_world_config *config)
{
	bool counts = !one_in(prng, 3);

	choose(config, counts ? "pxp" : "pack");
	config->send_rate_bps =
		(uint64_t)((double)config->forward.rate_bps * (0.3 + 1.0 * wh_prng_unit(prng)));
	if (one_in(prng, 2)) {
		set(config, "timeout",
			(double)wh_max_u64(rtt_ns * (1 + wh_prng_below(prng, 8)) / 2, MS));
		config->send_rate_bps =
			wh_min_u64(config->send_rate_bps, config->forward.rate_bps / 10 * 9);
	}
	if (one_in(prng, 3))
		set(config, "window", (double)log_uniform(prng, 32, 2048));
	if (!counts)
		return;
	if (one_in(prng, 2))
		set(config, "period", (double)log_uniform(prng, MS, 50 * MS));
	if (one_in(prng, 4))
		set(config, "load", 4.0 * wh_prng_unit(prng));
	set(config, "skip", (double)wh_prng_below(prng, 3));
}

static void draw_object(struct wh_prng *prng, struct wh_world_config *config)
{
	static const uint64_t edges[] = {0, 1, 4095, 4096, 4097};
	uint32_t payload_bytes = wh_encap_payload_bytes(WH_IPV4, config->mtu_bytes);

	if (one_in(prng, 10)) {
		config->object_bytes = edges[wh_prng_below(prng, 5)];
	} else if (one_in(prng, 10)) {
		config->object_bytes = config->chunk_bytes * (1 + wh_prng_below(prng, 4)) - 1 +
				       wh_prng_below(prng, 3);
	} else {
		config->object_bytes = log_uniform(prng, 1, 3000) * payload_bytes -
				       wh_prng_below(prng, payload_bytes);
	}
	/* A buffer per round trip is all that a small receiver takes: bound the round trips. */
	uint64_t buffer_bytes = (uint64_t)config->chunk_bytes *
				wh_min_u64(config->chunks_sender, config->chunks_receiver);

	config->object_bytes = wh_min_u64(config->object_bytes, 60 * buffer_bytes);
}

/* By when a healed link must have brought everything across: generous, but no more than that. */
static uint64_t time_limit_ns(const struct wh_world_config *config, uint64_t rtt_ns)
{
	uint32_t payload_bytes = wh_encap_payload_bytes(WH_IPV4, config->mtu_bytes);
	uint64_t buffer_bytes = (uint64_t)config->chunk_bytes *
				wh_min_u64(config->chunks_sender, config->chunks_receiver);
	uint64_t window_bytes = (uint64_t)config->window_pkts * payload_bytes;
	uint64_t round_trips =
		8 * (1 + config->object_bytes / wh_min_u64(buffer_bytes, window_bytes));
	uint64_t slowest_bps = config->forward.rate_bps / 4;

	if (config->profile == &wh_profile_ttp)
		slowest_bps = wh_min_u64(
			slowest_bps, (uint64_t)((double)config->send_rate_bps * WH_TTP_MIN_SHARE));

	uint64_t wire_ns = wh_muldiv_u64(config->object_bytes, 8 * WH_NS_PER_S, slowest_bps);
	uint64_t writer_ns =
		config->writer_rest_ns * (4 + config->object_bytes / config->chunk_bytes);

	/*
	 * A slow start that a loss ended early leaves UDT with its least window, which (1) widens
	 * by next to nothing as long as there are fewer packets than SYNs in a round trip. With a
	 * queue of two packets HighSpeed TCP goes from two to three, and back by a loss.
	 */
	uint64_t packets = config->object_bytes / wh_min_u64(payload_bytes, config->chunk_bytes);
	uint64_t least = config->profile == &wh_profile_hstcp ? 1 : WH_UDT_LEAST_WINDOW;
	uint64_t crawl_ns = 0;

	if (config->profile == &wh_profile_sttp)
		crawl_ns = (packets + 100) * (8 * rtt_ns + 400 * MS);
	else if (config->send_rate_bps == 0 || config->profile == &wh_profile_hstcp ||
		 config->profile == &wh_profile_lambda)
		crawl_ns = packets / least * (rtt_ns + 20 * MS) + 300 * WH_NS_PER_S;

	/* Short chunks fill a third of their buffers, and most end with a short packet. */
	uint64_t factor = config->short_chunks ? 5 : 1;
	uint64_t pause_ns = config->event == WH_WORLD_SOURCE_PAUSES ? WH_WORLD_PAUSE_NS : 0;

	return config->heal_ns + factor * round_trips * (rtt_ns + 20 * MS) +
	       factor * (2 * wire_ns + writer_ns + crawl_ns) + pause_ns + 100 * WH_NS_PER_S;
}

/* A long fat link with so many holes at once that no state or NAK holds them all. */
static void make_large(struct wh_prng *prng, struct wh_world_config *config)
{
	config->chunk_bytes = 65536;
	config->chunks_sender = 400;
	config->chunks_receiver = 400;
	config->window_pkts = 1 << 15;
	config->mtu_bytes = 1500;
	config->forward.queue_pkts = 20000;
	config->forward.queue_bytes = 0;
	config->forward.loss_model = WH_LOSS_BERNOULLI;
	config->forward.loss = 0.05 + 0.15 * wh_prng_unit(prng);
	config->object_bytes = 65536 * (100 + wh_prng_below(prng, 300));
	config->heal_ns = 30000 * MS;
}

static void draw_event(struct wh_prng *prng, struct wh_world_config *config)
{
	if (!one_in(prng, 6))
		return;
	config->event = 1 + (enum wh_world_event)wh_prng_below(prng, WH_WORLD_EVENTS - 1);
	config->event_ns = log_uniform(prng, MS, 10000 * MS);
	/* Nobody owes a stream of unknown size anything: it waits, and that is right. */
	if (config->event == WH_WORLD_SOURCE_STOPS || config->event == WH_WORLD_SOURCE_PAUSES)
		config->size_unknown = config->event == WH_WORLD_SOURCE_PAUSES;
}

void wh_draw_world(uint64_t seed, struct wh_world_config *config)
{
	static const uint64_t clocks_hz[] = {1000000000, 2600000000, 3333333333};
	static const uint32_t mtus_bytes[] = {1280, 1500, 9000};
	struct wh_prng prng, own;

	wh_prng_init(&prng, seed);
	*config = (struct wh_world_config){
		.hz = clocks_hz[wh_prng_below(&prng, 3)],
		.seed = seed,
		.mtu_bytes = mtus_bytes[wh_prng_below(&prng, 3)],
		.chunk_bytes = 4096 * (1 + (uint32_t)wh_prng_below(&prng, 16)),
		.chunks_sender = (uint32_t)log_uniform(&prng, 1, 200),
		.chunks_receiver = (uint32_t)log_uniform(&prng, 1, 200),
		.window_pkts = 64U << wh_prng_below(&prng, 8),
		.burst_pkts = (uint32_t)log_uniform(&prng, 1, 33),
		.check_deep = true,
	};

	uint64_t rate_bps = log_uniform(&prng, 1000000, UINT64_C(100000000000));
	uint64_t rtt_ns = log_uniform(&prng, 10000, 2000 * MS);

	if (one_in(&prng, 8))
		config->writer_rest_ns = log_uniform(&prng, 100000, 200 * MS);
	draw_profile(&prng, rate_bps, config);
	draw_direction(&prng, rate_bps, rtt_ns, &config->forward);
	draw_direction(&prng, rate_bps, rtt_ns, &config->reverse);
	draw_object(&prng, config);
	config->heal_ns = log_uniform(&prng, 10 * MS, 30000 * MS);
	if (one_in(&prng, 25))
		make_large(&prng, config);
	else
		config->short_chunks = one_in(&prng, 4);
	config->size_unknown = one_in(&prng, 3);
	config->close_early = one_in(&prng, 2);
	draw_event(&prng, config);
	draw_repair(&prng, config);
	if (one_in(&prng, 3))
		draw_ttp(&prng, config);
	else if (one_in(&prng, 5))
		draw_hstcp(&prng, config);
	else if (one_in(&prng, 4))
		draw_sttp(&prng, rate_bps, config);
	else if (one_in(&prng, 3))
		draw_exchange(&prng, rtt_ns, config);
	wh_prng_init(&own, ~seed); /* so that other worlds stay what they are */
	if (one_in(&own, 6))
		draw_lambda(&own, rtt_ns, config);
	if (one_in(&own, 2))
		config->books_ns = log_uniform(&own, 100, MS / 2);
	if (one_in(&own, 2))
		config->sender_books_ns = log_uniform(&own, 100, MS / 2);
	config->limit_ns = time_limit_ns(config, rtt_ns);
	if (config->repair.recovery != WH_RECOVERY_NAK)
		config->limit_ns *= 3; /* up to twice as many repair packets as data */
	if (one_in(&prng, 2))
		config->cipher = one_in(&prng, 4) ? WH_CIPHER_AES_256_GCM : WH_CIPHER_AES_128_GCM;
}

void wh_draw_describe(const struct wh_world_config *config, char *text, size_t room)
{
	char rate[WH_UNITS_MAX];
	char delay[WH_UNITS_MAX];
	char size[WH_UNITS_MAX];

	snprintf(text, room,
		"%s, %s, one way %s, mtu %u, %s in %schunks of %u%s, buffers %u/%u, window %u, "
		"loss %s%g/%g, reorder %g, duplicate %g, corrupt %g, outages %u/%u, event %d, "
		"repair%s %s %u (%u+%u)%s, books %" PRIu64 " and %" PRIu64 " ns",
		config->profile->name,
		wh_format_rate(rate, sizeof(rate), (double)config->forward.rate_bps),
		wh_format_time(delay, sizeof(delay), config->forward.delay_ns), config->mtu_bytes,
		wh_format_size(size, sizeof(size), config->object_bytes),
		config->short_chunks ? "short " : "", config->chunk_bytes,
		config->size_unknown ? " (untold)" : "", config->chunks_sender,
		config->chunks_receiver, config->window_pkts,
		config->forward.loss_model == WH_LOSS_GILBERT_ELLIOTT ? "bursts " : "",
		config->forward.loss, config->reverse.loss, config->forward.reorder,
		config->forward.duplicate, config->forward.corrupt, config->forward.n_outages,
		config->reverse.n_outages, config->event,
		config->repair.recovery == WH_RECOVERY_FEC ? " alone" : "",
		wh_fec_code_name(config->repair.code), config->repair.repair_pkts,
		config->repair.fixed_k, config->repair.fixed_r,
		config->cipher != 0 ? ", sealed" : "", config->books_ns, config->sender_books_ns);
}
