/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A probe over an emulated link, through netifs and ports, as `wavehaul probe` sends it to a
 * `serve`: frames, addresses and arrival stamps are what they are there, and time is virtual.
 */

#include <string.h>

#include "base/clock.h"
#include "eal.h"
#include "netem/emulator.h"
#include "port/netif.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/probe";

#define HZ       UINT64_C(1000000000) /* virtual time: a cycle is a nanosecond */
#define STEP_TSC 500
#define MTU      1500
#define LINK_BPS UINT64_C(1000000000)
#define OVER_TSC (20 * HZ)

struct rig {
	struct rte_mempool *pool, *sender;
	struct wh_emulator *emulator;
	struct wh_port *port[WH_EMULATOR_ENDS];
	struct wh_netif netif[WH_EMULATOR_ENDS];
	struct wh_address address[WH_EMULATOR_ENDS];
	struct wh_prober prober;
	uint64_t now_tsc;
};

static struct rig rig;

static enum wh_release_status may_probe(
	void *context, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa)
{
	(void)sa;
	(void)context;
	(void)now_tsc;
	return peer->ip[3] == 1 ? WH_STATUS_PENDING : WH_STATUS_REFUSED;
}

static void open_netif(uint8_t end)
{
	const uint8_t last = (uint8_t)(end + 1);
	const uint8_t mac[] = {2, 0, 0, 0, 0, last};
	struct wh_netif_config config = {
		.port = rig.port[end],
		.pool = rig.sender,
		.attach_bytes = UINT32_MAX,
		.local4 = {.family = WH_IPV4, .ip = {10, 0, 0, last}, .port = 5760},
		.neighbour = {.hz = HZ, .mtu = MTU, .ipv4.prefix_bits = 24},
		.endpoint = {.hz = HZ, .places = 64, .key = {last}},
	};

	if (end == WH_EMULATOR_B) {
		config.endpoint.may_probe = may_probe;
		config.endpoint.probe_room_pkts = WH_ANSWERER_ROOM_PKTS;
	}
	memcpy(config.neighbour.mac, mac, sizeof(mac));
	memcpy(config.neighbour.ipv4.ip, config.local4.ip, 4);
	rig.address[end] = config.local4;
	CU_ASSERT_EQUAL_FATAL(wh_netif_init(&rig.netif[end], &config), 0);
}

static void open_port(uint8_t end)
{
	char why[WH_PORT_WHY_BYTES] = "";
	struct wh_port_config config = {
		.ethdev = wh_emulator_ethdev(rig.emulator, end),
		.queues = 1,
		.mtu = MTU,
		.pool = rig.sender,
		.socket = SOCKET_ID_ANY,
		.link_wait_ms = 100,
		.mac = {2, 0, 0, 0, 0, (uint8_t)(end + 1)},
	};

	CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &rig.port[end], why, sizeof(why)), 0);
	CU_ASSERT_STRING_EQUAL(why, "");
}

static void open_rig(const struct wh_link_model *forth, const struct wh_link_model *back)
{
	char why[WH_EMULATOR_WHY_BYTES] = "";
	struct wh_emulator_config config = {
		.name = "probe", .netem = {*forth, *back}, .mtu = MTU, .hz = HZ};

	memset(&rig, 0, sizeof(rig));
	rig.now_tsc = HZ;
	rig.pool = wh_test_pool("lambda", 8191, wh_port_room_bytes(MTU));
	rig.sender = wh_test_pool("sender", 8191, wh_port_room_bytes(MTU));
	config.pool = rig.pool;
	config.socket = SOCKET_ID_ANY;
	CU_ASSERT_EQUAL_FATAL(
		wh_emulator_create(&config, rig.now_tsc, &rig.emulator, why, sizeof(why)), 0);
	for (uint8_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		open_port(end);
		open_netif(end);
	}
}

static void close_rig(void)
{
	for (uint8_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		wh_netif_free(&rig.netif[end]);
		wh_port_close(rig.port[end]);
	}
	wh_emulator_close(rig.emulator);
	wh_prober_free(&rig.prober);
	wh_test_pool_free(rig.sender);
	wh_test_pool_free(rig.pool);
}

static void probe(void)
{
	const struct wh_prober_config config = {
		.hz = HZ,
		.peer = rig.address[WH_EMULATOR_B],
		.token = 77,
		.packet_bytes = MTU - wh_encap_ip_udp_bytes(WH_IPV4),
		.ip_udp_bytes = wh_encap_ip_udp_bytes(WH_IPV4),
		.link_bytes = wh_encap_wire_bytes(WH_IPV4, 0) - WH_HEAD_BYTES -
			      wh_encap_ip_udp_bytes(WH_IPV4),
		.line_bps = LINK_BPS,
		.train_pkts = 2048,
		.duration_ns = 10 * WH_NS_PER_S,
		.patience_ns = WH_NS_PER_S,
	};

	CU_ASSERT_EQUAL_FATAL(wh_prober_init(&rig.prober, &config), 0);
	wh_endpoint_probe(&rig.netif[WH_EMULATOR_A].endpoint, &rig.prober);
	while (wh_prober_ended(&rig.prober) == WH_PROBER_RUNNING && rig.now_tsc < OVER_TSC) {
		for (uint8_t end = 0; end < WH_EMULATOR_ENDS; end++) {
			wh_netif_receive(&rig.netif[end], rig.now_tsc);
			wh_netif_send(&rig.netif[end], rig.now_tsc);
		}
		wh_emulator_poll(rig.emulator, rig.now_tsc);
		rig.now_tsc += STEP_TSC;
	}
}

/* At line rate into a switch of that memory, asked of an emulated link alone. */
static uint32_t true_burst(const struct wh_link_model *config)
{
	struct wh_netem *netem = wh_netem_create(config, HZ, 0, 1);
	uint32_t count = 0;

	for (; count < 10000; count++) {
		struct wh_netem_fate fate;

		wh_netem_admit(
			netem, 1, wh_encap_wire_bytes(WH_IPV4, 1500 - 28 - WH_HEAD_BYTES), &fate);
		if (fate.drop == WH_NETEM_DROP_QUEUE)
			break;
	}
	wh_netem_destroy(netem);
	return count;
}

static void over_lambdas(void)
{
	static const struct {
		uint64_t slow_bps, queue_bytes, delay_ns;
	} lambdas[] = {
		{622000000, 200000, 1000000},
		{155000000, 400000, 200000},
		{900000000, 100000, 3000000},
	};

	for (uint32_t i = 0; i < sizeof(lambdas) / sizeof(lambdas[0]); i++) {
		const struct wh_link_model back = {
			.rate_bps = LINK_BPS, .delay_ns = lambdas[i].delay_ns};
		const struct wh_link_model forth = {.rate_bps = lambdas[i].slow_bps,
			.ingress_bps = LINK_BPS,
			.queue_bytes = lambdas[i].queue_bytes,
			.delay_ns = lambdas[i].delay_ns};
		const struct wh_findings *found = &rig.prober.findings;

		open_rig(&forth, &back);
		probe();
		CU_ASSERT_EQUAL(wh_prober_ended(&rig.prober), WH_PROBER_DONE);
		CU_ASSERT_EQUAL(found->mtu_bytes, MTU);
		WH_ASSERT_NEAR(found->rtt_min_ns, 2 * lambdas[i].delay_ns, 0.05);
		WH_ASSERT_NEAR(found->trains_bps, lambdas[i].slow_bps, 0.02);
		WH_ASSERT_NEAR(found->memory_bytes, lambdas[i].queue_bytes, 0.05);
		CU_ASSERT_EQUAL(found->burst_end, WH_BURST_OVERFLOW);
		CU_ASSERT(found->burst_pkts + 1 >= true_burst(&forth) &&
			  found->burst_pkts <= true_burst(&forth) + 1);
		CU_ASSERT_EQUAL(found->steady_lost, 0);
		close_rig();
	}
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts without hugepages", wh_test_eal_start},
	{"over lambdas", over_lambdas},
	{"the EAL ends", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
