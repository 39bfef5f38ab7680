/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/scenario_probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "lab/sim/sim_memory.h"
#include "probe/answerer.h"
#include "probe/prober.h"

/* Starts at one second: some timestamps use 0 as "not yet". */
#define HZ        WH_NS_PER_S
#define START_TSC HZ

#define IP_UDP_BYTES (WH_IPV4_BYTES + WH_UDP_BYTES)
#define BYTES_MAX    (WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX)
#define PATIENCE_NS  (20 * WH_NS_PER_S)

/* The lifetime of a cookie. */
#define DURATION_NS (WH_ANSWERER_LIFETIME_S * WH_NS_PER_S)

/* Packets are addressed by agent, so any addresses will do. */
static const struct wh_address prober_address = {.family = WH_IPV4, .ip = {10, 0, 0, 1}, .port = 1};
static const struct wh_address answerer_address = {
	.family = WH_IPV4, .ip = {10, 0, 0, 2}, .port = 1};

struct wh_sim_probe {
	struct wh_sim *sim;
	struct wh_sim_flow_stats *stats;
	struct wh_sim_event turn;
	struct wh_prober prober;
	struct wh_answerer answerer;
	uint32_t flow;
	uint32_t from_node, to_node;
	uint32_t from_agent, to_agent;
	bool running;
	uint8_t bytes[BYTES_MAX];
};

static uint64_t tsc_of(uint64_t now_ps)
{
	return START_TSC + now_ps / WH_PS_PER_NS;
}

/* Nanoseconds are coarser than the simulator's clock: not before now. */
static uint64_t ps_of(uint64_t tsc, uint64_t now_ps)
{
	uint64_t due_ps = tsc > START_TSC ? (tsc - START_TSC) * WH_PS_PER_NS : 0;

	return wh_max_u64(due_ps, now_ps);
}

bool wh_sim_probe_takes_mtu(uint32_t mtu_bytes)
{
	return mtu_bytes >= IP_UDP_BYTES + WH_PROBER_PACKET_MIN &&
	       mtu_bytes <= IP_UDP_BYTES + BYTES_MAX;
}

/* Everything after a probe's head is zeros: payload by length only. */
static struct wh_sim_packet *wrap(struct wh_sim_probe *probe, uint32_t to, uint32_t length)
{
	struct wh_sim_packet *packet = wh_sim_packet_get(wh_sim_pool(probe->sim));

	WH_ASSERT(length >= WH_HEAD_BYTES && length <= BYTES_MAX);
	packet->bytes = length + IP_UDP_BYTES;
	packet->flow = probe->flow;
	packet->to = to;
	packet->datagram.head_bytes = WH_HEAD_BYTES;
	packet->datagram.payload_bytes = length - WH_HEAD_BYTES;
	memcpy(packet->datagram.head, probe->bytes, WH_HEAD_BYTES);
	return packet;
}

static void take_turn(void *context, uint64_t now_ps)
{
	struct wh_sim_probe *probe = context;
	uint64_t now_tsc = tsc_of(now_ps);
	uint32_t length;

	wh_prober_poll(&probe->prober, now_tsc);
	while ((length = wh_prober_output(&probe->prober, now_tsc, probe->bytes)) > 0) {
		if (probe->stats->sent_pkts++ == 0)
			probe->stats->first_sent_ps = now_ps;
		wh_sim_send(probe->sim, probe->from_node, wrap(probe, probe->to_agent, length));
	}
	if (wh_prober_ended(&probe->prober) != WH_PROBER_RUNNING) {
		probe->running = false;
		probe->stats->finished_ps = now_ps;
		return;
	}

	uint64_t due_tsc = wh_max_u64(wh_prober_deadline(&probe->prober), now_tsc + 1);

	wh_sim_event_at(wh_sim_events(probe->sim), &probe->turn, ps_of(due_tsc, now_ps));
}

static void hear_answer(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct wh_sim_probe *probe = context;

	if (probe->running) {
		wh_prober_input(&probe->prober, tsc_of(now_ps), packet->control,
			packet->datagram.head_bytes, &answerer_address);
		wh_sim_event_at(wh_sim_events(probe->sim), &probe->turn, now_ps);
	}
	wh_sim_packet_put(wh_sim_pool(probe->sim), packet);
}

static void send_answer(struct wh_sim_probe *probe, const uint8_t *answer, uint32_t length)
{
	struct wh_sim_pool *pool = wh_sim_pool(probe->sim);
	struct wh_sim_packet *packet = wh_sim_packet_get(pool);

	packet->bytes = length + IP_UDP_BYTES;
	packet->flow = probe->flow;
	packet->to = probe->from_agent;
	packet->datagram.head_bytes = length;
	packet->datagram.payload_bytes = 0;
	memcpy(wh_sim_packet_add_control(pool, packet), answer, length);
	wh_sim_send(probe->sim, probe->to_node, packet);
}

static void hear_probe(void *context, uint64_t now_ps, struct wh_sim_packet *packet)
{
	struct wh_sim_probe *probe = context;
	uint32_t length = WH_HEAD_BYTES + packet->datagram.payload_bytes;
	uint64_t now_tsc = tsc_of(now_ps);
	uint8_t answer[WH_CONTROL_BYTES_MAX];
	uint32_t answer_bytes = 0;
	struct wh_packet seen;

	memcpy(probe->bytes, packet->datagram.head, WH_HEAD_BYTES);
	memset(probe->bytes + WH_HEAD_BYTES, 0, packet->datagram.payload_bytes);
	probe->stats->goodput_bytes += packet->bytes;
	wh_sim_packet_put(wh_sim_pool(probe->sim), packet);

	enum wh_wire_reason reason = wh_packet_peek(probe->bytes, length, &seen);

	if (reason == WH_WIRE_OK)
		reason = wh_answerer_input(&probe->answerer, now_tsc, now_tsc, probe->bytes, length,
			&prober_address, &seen, answer, &answer_bytes);
	WH_ASSERT(reason == WH_WIRE_OK); /* the simulator does not change its bytes */
	if (answer_bytes > 0)
		send_answer(probe, answer, answer_bytes);
}

static enum wh_release_status welcome(
	void *context, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa)
{
	(void)context;
	(void)now_tsc;
	(void)peer;
	(void)sa;
	return WH_STATUS_PENDING;
}

static void open_ends(
	struct wh_sim_probe *probe, const struct wh_sim_probe_config *config, uint64_t seed)
{
	const struct wh_prober_config prober = {
		.hz = HZ,
		.peer = answerer_address,
		.token = seed,
		.packet_bytes = config->mtu_bytes - IP_UDP_BYTES,
		.ip_udp_bytes = IP_UDP_BYTES,
		.line_bps = config->line_bps,
		.train_pkts = config->train_pkts,
		.duration_ns = DURATION_NS,
		.patience_ns = PATIENCE_NS,
	};
	const struct wh_answerer_config answerer = {
		.hz = HZ, .room_pkts = WH_PROBE_PKTS_MAX, .welcome = welcome};
	int rc = wh_prober_init(&probe->prober, &prober);

	WH_ASSERT(rc == 0); /* memory never fails in a simulation */
	rc = wh_answerer_init(&probe->answerer, &answerer);
	WH_ASSERT(rc == 0);
}

struct wh_sim_probe *wh_sim_probe_create(struct wh_sim *sim,
	const struct wh_sim_probe_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow, uint64_t seed)
{
	struct wh_sim_probe *probe = wh_sim_allocate(sizeof(*probe));

	WH_ASSERT(wh_sim_probe_takes_mtu(config->mtu_bytes));
	probe->sim = sim;
	probe->stats = wh_sim_flow_stats(sim, flow);
	probe->flow = flow;
	probe->from_node = from_node;
	probe->to_node = to_node;
	probe->from_agent = wh_sim_add_agent(sim, from_node, hear_answer, probe);
	probe->to_agent = wh_sim_add_agent(sim, to_node, hear_probe, probe);
	wh_sim_event_init(&probe->turn, take_turn, probe);
	open_ends(probe, config, seed);
	return probe;
}

void wh_sim_probe_destroy(struct wh_sim_probe *probe)
{
	wh_sim_event_cancel(wh_sim_events(probe->sim), &probe->turn);
	wh_prober_free(&probe->prober);
	wh_answerer_free(&probe->answerer);
	free(probe);
}

void wh_sim_probe_start(struct wh_sim_probe *probe, uint64_t now_ps)
{
	WH_ASSERT(!probe->running);
	probe->running = true;
	wh_sim_event_at(wh_sim_events(probe->sim), &probe->turn, now_ps);
}

void wh_sim_probe_stop(struct wh_sim_probe *probe)
{
	if (!probe->running)
		return;
	probe->running = false;
	wh_sim_event_cancel(wh_sim_events(probe->sim), &probe->turn);
}

const struct wh_findings *wh_sim_probe_findings(const struct wh_sim_probe *probe)
{
	return &probe->prober.findings;
}
