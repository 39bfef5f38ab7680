/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/demo_plan.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "host/bounds.h"
#include "host/eal.h"
#include "host/host.h"
#include "host/memory_room.h"
#include "job/jobs.h"

/* Chunks being read, written or hashed by a source or sink, beside those of the link. */
#define STORE_CHUNKS 24

/* A sender keeps a packet for one round trip, and for a second one if it was lost. */
#define SENDER_ROUND_TRIPS 2

/*
 * A receiver gives chunks to the sink in order: while a lost packet is sent a second time (its
 * first retransmission was lost, too, and reported two round trips later), all following chunks
 * wait.
 */
#define RECEIVER_ROUND_TRIPS 3

/* The fewest with which a transfer makes progress. */
#define CHUNKS_MIN 4

/* Control packets in transit, beside data; the reverse direction carries nothing else. */
#define CONTROL_MBUFS       4096
#define REVERSE_QUEUE_BYTES (UINT64_C(1) << 20)

/* Derives settings from several options, and refuses contradictions. */
static int complete(struct wh_demo_options *options)
{
	struct wh_settings *settings = &options->settings;
	struct wh_link_model *netem = &settings->link;
	uint64_t bdp_bytes = wh_muldiv_u64(netem->rate_bps, settings->rtt_ns, 8 * WH_NS_PER_S);
	uint32_t wire_bytes =
		wh_encap_wire_bytes(WH_IPV4, wh_encap_payload_bytes(WH_IPV4, settings->mtu_bytes));

	if (!wh_settings_given(settings, WH_VERB_DEMO, "loss") &&
		(netem->loss_model != WH_LOSS_BERNOULLI || netem->bit_error > 0))
		netem->loss = 0;
	if (netem->loss > 0 && netem->loss_model == WH_LOSS_GILBERT_ELLIOTT)
		return wh_fail(WH_EXIT_USAGE, "--loss and --loss-model ge contradict; ge:P,R,H,K "
					      "says it all, for example --loss-model ge:0.001,0.2");
	options->loss = netem->loss;
	if (netem->loss_model == WH_LOSS_GILBERT_ELLIOTT) {
		const struct wh_gilbert_elliott *ge = &netem->gilbert_elliott;
		double bad_share = ge->good_to_bad + ge->bad_to_good > 0
					   ? ge->good_to_bad / (ge->good_to_bad + ge->bad_to_good)
					   : 0;

		options->loss = bad_share * ge->loss_bad + (1 - bad_share) * ge->loss_good;
	}
	netem->delay_ns = settings->rtt_ns / 2;
	if (netem->queue_bytes == 0 && netem->queue_pkts == 0)
		netem->queue_bytes =
			wh_max_u64(bdp_bytes, 2 * (uint64_t)settings->burst_pkts * wire_bytes);
	return -1;
}

static int check(struct wh_demo_options *options)
{
	struct wh_settings *settings = &options->settings;

	if (settings->operand_count > 0)
		return wh_fail(WH_EXIT_USAGE,
			"unexpected argument '%s'; name a file with --file %s",
			settings->operands[0], settings->operands[0]);
	if (settings->file[0] != '\0' && wh_settings_given(settings, WH_VERB_DEMO, "size"))
		return wh_fail(WH_EXIT_USAGE, "--size creates a file, and --file sends an existing "
					      "one: leave out one of them");
	return complete(options);
}

int wh_demo_options_parse(int argc, char **argv, struct wh_demo_options *options)
{
	int status = wh_settings_read(&options->settings, WH_VERB_DEMO, argc, argv);

	return status == -1 ? check(options) : status;
}

const char *const wh_demo_link[WH_PORTS_MAX] = {"demo", "demo1", "demo2", "demo3"};

/* Networks for documentation and tests (RFC 5737, RFC 2544), one for each link. */
static const uint8_t networks[WH_PORTS_MAX][3] = {
	{192, 0, 2}, {198, 51, 100}, {203, 0, 113}, {198, 18, 0}};

void wh_demo_ports(enum wh_emulator_end end, struct wh_port_spec ports[WH_PORTS_MAX])
{
	for (uint32_t i = 0; i < WH_PORTS_MAX; i++) {
		struct wh_port_spec *spec = &ports[i];

		*spec = (struct wh_port_spec){
			.kind = WH_PORT_VDEV,
			.verbatim = true,
			.node = -1,
			.facts = {.queues_max = 1, .mtu_max = UINT16_MAX, .emulated = true},
		};
		snprintf(spec->ethdev, sizeof(spec->ethdev), "net_ring_%s_%c", wh_demo_link[i],
			end == WH_DEMO_SENDER ? 'a' : 'b');
		snprintf(spec->target, sizeof(spec->target), "an emulated link");
	}
}

/* Settings of one of the hosts; its buffers are added later. */
static struct wh_settings settings_of(
	const struct wh_demo_options *options, enum wh_emulator_end end)
{
	struct wh_settings settings = options->settings;

	settings.queues = 1;
	settings.parallel = 1;
	settings.udp_port = WH_UDP_PORT_DEFAULT;
	for (uint32_t i = 0; i < settings.ports; i++) {
		struct wh_subnet *own = &settings.port[i].ipv4;

		*own = (struct wh_subnet){.address = {.family = WH_IPV4}, .prefix_bits = 24};
		memcpy(own->address.ip, networks[i], sizeof(networks[i]));
		own->address.ip[3] = (uint8_t)(end + 1);
	}
	/* On dedicated paths the rate is known, so it is given unless the profile finds it. */
	settings.rate_bps = settings.profile->rate_is_told || wh_profile_option(settings.profile,
								      "bottleneck") != NULL
				    ? settings.ports * settings.link.rate_bps
				    : WH_RATE_MAX;
	return settings;
}

/* The configuration of a sending session with this many chunks. */
static struct wh_session_config session_of(const struct wh_demo_options *options, uint32_t chunks)
{
	struct wh_session_config config;

	wh_session_config_init(&config);
	wh_session_config_profile(&config, options->settings.profile);
	config.payload_bytes = wh_encap_payload_bytes(WH_IPV4, options->settings.mtu_bytes);
	config.chunk_bytes = WH_CHUNK_BYTES_DEFAULT;
	config.chunks = chunks;
	wh_repair_configure(&options->settings.repair, &config);
	config.window_pkts = wh_stream_window(&config);
	return config;
}

static uint64_t add_up(const struct wh_demo_options *options, struct wh_demo_plan *plan)
{
	static const char *const whose[WH_EMULATOR_ENDS] = {"sender's ", "receiver's "};
	uint32_t paths = options->settings.ports;
	struct wh_session_config sender = session_of(options, plan->chunks[WH_DEMO_SENDER]);
	struct wh_session_config receiver = session_of(options, plan->chunks[WH_DEMO_RECEIVER]);
	const struct wh_fec_limits fec = wh_session_fec_limits(&sender);

	receiver.window_pkts = sender.window_pkts;
	plan->memory = (struct wh_memory_plan){0};
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		plan->settings[end].buffer_bytes = wh_jobs_buffers_for(
			(uint64_t)paths * plan->chunks[end] * wh_session_chunk_stride(&sender));
		plan->host[end] = wh_host_settings_of(&plan->settings[end]);

		struct wh_port_spec ports[WH_PORTS_MAX];

		wh_demo_ports((enum wh_emulator_end)end, ports);
		wh_host_plan_memory(&plan->host[end], ports, whose[end], &plan->memory);
	}
	wh_memory_plan_add_mbufs(&plan->memory, "link's ", "packets", plan->link_mbufs,
		wh_port_room_bytes((uint16_t)options->settings.mtu_bytes));
	wh_memory_plan_add(&plan->memory, "", "tables of both sessions",
		paths * (wh_session_table_bytes(WH_TRANSMITTER, &sender) +
				wh_session_sealing_bytes(WH_TRANSMITTER) +
				wh_session_sealing_bytes(WH_RECEIVER) +
				wh_session_table_bytes(WH_RECEIVER, &receiver)));
	wh_memory_plan_add(&plan->memory, "link's ", "delay lines",
		plan->link_mbufs * (uint64_t)WH_NETEM_ITEM_BYTES);
	wh_memory_plan_add(
		&plan->memory, "", "tables of the code", fec.r > 0 ? wh_fec_bytes(&fec) : 0);
	return plan->memory.bytes;
}

static void plan_link(const struct wh_demo_options *options, struct wh_demo_plan *plan)
{
	uint32_t payload_bytes = wh_encap_payload_bytes(WH_IPV4, options->settings.mtu_bytes);
	uint32_t frame_bytes = wh_encap_wire_bytes(WH_IPV4, payload_bytes) - WH_ETHER_WIRE_BYTES;

	plan->payload_line_bps = options->settings.ports *
				 wh_muldiv_u64(options->settings.link.rate_bps, payload_bytes,
					 (uint64_t)options->settings.mtu_bytes + WH_ETHER_BYTES +
						 WH_ETHER_WIRE_BYTES);
	plan->reverse = (struct wh_link_model){
		.rate_bps = options->settings.link.rate_bps,
		.delay_ns = options->settings.rtt_ns - options->settings.link.delay_ns,
		.queue_bytes = REVERSE_QUEUE_BYTES,
		.seed = options->settings.link.seed + 1,
	};

	const struct wh_emulator_config link = {
		.netem =
			{
				[WH_DEMO_SENDER] = options->settings.link,
				[WH_DEMO_RECEIVER] = plan->reverse,
			},
	};

	plan->link_mbufs = options->settings.ports *
			   (wh_emulator_mbufs_needed(&link, frame_bytes) + CONTROL_MBUFS);
}

static uint32_t chunks_for(uint64_t bdp_bytes, uint32_t round_trips)
{
	uint64_t chunks = round_trips * bdp_bytes / WH_CHUNK_BYTES_DEFAULT + STORE_CHUNKS;

	return (uint32_t)RTE_MIN(chunks, UINT64_C(60000)); /* slots are 16 bits wide */
}

int wh_demo_plan_make(const struct wh_demo_options *options, struct wh_demo_plan *plan)
{
	uint64_t bdp_bytes = wh_muldiv_u64(
		options->settings.link.rate_bps, options->settings.rtt_ns, 8 * WH_NS_PER_S);
	uint32_t *chunks = plan->chunks;

	*plan = (struct wh_demo_plan){
		.settings = {settings_of(options, WH_DEMO_SENDER),
			settings_of(options, WH_DEMO_RECEIVER)},
	};
	plan_link(options, plan);
	/* Hugepages are not part of MemAvailable. */
	plan->budget_bytes = options->settings.buffer_bytes != 0
				     ? options->settings.buffer_bytes
				     : RTE_MAX(wh_memory_room("", false).bytes / 2,
					       wh_eal_hugepage_room_bytes());
	chunks[WH_DEMO_SENDER] = chunks_for(bdp_bytes, SENDER_ROUND_TRIPS);
	chunks[WH_DEMO_RECEIVER] = chunks_for(bdp_bytes, RECEIVER_ROUND_TRIPS);

	const struct wh_session_config sender = session_of(options, chunks[WH_DEMO_SENDER]);

	chunks[WH_DEMO_RECEIVER] = RTE_MIN(chunks[WH_DEMO_RECEIVER],
		wh_job_chunks_wanted(sender.window_pkts, sender.payload_bytes, sender.chunk_bytes));
	plan->limited = bdp_bytes / sender.payload_bytes > sender.window_pkts;

	/* The number of chunks can be reduced; that of packets in transit cannot. */
	while (add_up(options, plan) > plan->budget_bytes) {
		if (chunks[WH_DEMO_SENDER] <= CHUNKS_MIN && chunks[WH_DEMO_RECEIVER] <= CHUNKS_MIN)
			return -ENOMEM;
		plan->limited = true;
		for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
			chunks[end] = RTE_MAX(chunks[end] * 7 / 8, CHUNKS_MIN);
	}
	WH_ASSERT(chunks[WH_DEMO_SENDER] >= CHUNKS_MIN && chunks[WH_DEMO_RECEIVER] >= CHUNKS_MIN);
	WH_ASSERT(plan->memory.bytes <= plan->budget_bytes);
	return 0;
}
