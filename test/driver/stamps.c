/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A port that stamps what it receives by a clock of its own. No device in software does; here
 * net_ring is one: a callback stamps, and functions of ethdev, whose library is looked at later
 * than the program, say that it can.
 */

#define ALLOW_EXPERIMENTAL_API /* rte_eth_read_clock */
#include "port/port.h"

#include <dlfcn.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "eal.h"
#include "port/arrived.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/port: stamps";

#define MTU        1500
#define NIC_HZ     78125000.0
#define OFFSET     (UINT64_C(1) << 40)
#define PATIENCE_S 10 /* for two readings, each of which is to be undisturbed */

/* What the device is. */
static struct {
	const char *driver;
	bool stamps;
	bool readable;
} nic;

static uint64_t stamped_tsc[2]; /* before and after the last stamp */

static uint64_t nic_ticks(void)
{
	return OFFSET + (uint64_t)((double)rte_rdtsc() / (double)rte_get_timer_hz() * NIC_HZ);
}

int rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	static int (*real)(uint16_t, struct rte_eth_dev_info *);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "rte_eth_dev_info_get");

	int error = real(port_id, info);

	info->driver_name = nic.driver;
	if (nic.stamps)
		info->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	return error;
}

int rte_eth_read_clock(uint16_t port_id, uint64_t *clock)
{
	(void)port_id;
	*clock = nic_ticks();
	return nic.readable ? 0 : -ENOTSUP;
}

static uint16_t stamp(uint16_t port_id, uint16_t queue, struct rte_mbuf *pkts[], uint16_t count,
	uint16_t most, void *context)
{
	const struct wh_port *port = context;

	(void)port_id;
	(void)queue;
	(void)most;
	stamped_tsc[0] = rte_rdtsc();
	for (uint16_t i = 0; i < count; i++) {
		*RTE_MBUF_DYNFIELD(pkts[i], port->stamp_offset, rte_mbuf_timestamp_t *) =
			nic_ticks();
		pkts[i]->ol_flags |= port->stamp_flag;
	}
	stamped_tsc[1] = rte_rdtsc();
	return count;
}

struct rig {
	struct rte_mempool *pool;
	struct rte_ring *ring;
	struct wh_port *port;
	const struct rte_eth_rxtx_callback *callback;
};

static void rig_open(struct rig *rig)
{
	char why[WH_PORT_WHY_BYTES] = "";
	int ethdev;

	rig->pool = wh_test_pool("stamps", 64, wh_port_room_bytes(MTU));
	rig->ring = rte_ring_create("stamps", 32, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->ring);
	ethdev = rte_eth_from_ring(rig->ring);
	CU_ASSERT_FATAL(ethdev >= 0);

	struct wh_port_config config = {.ethdev = (uint16_t)ethdev,
		.queues = 1,
		.mtu = MTU,
		.pool = rig->pool,
		.socket = SOCKET_ID_ANY};

	CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &rig->port, why, sizeof(why)), 0);
	rig->callback = rte_eth_add_rx_callback(config.ethdev, 0, stamp, rig->port);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->callback);
}

static void rig_close(struct rig *rig)
{
	rte_eth_remove_rx_callback(rig->port->ethdev, 0, rig->callback);
	wh_port_close(rig->port);
	CU_ASSERT_EQUAL(rte_vdev_uninit("net_ring_stamps"), 0);
	rte_ring_free(rig->ring);
	wh_test_pool_free(rig->pool);
}

/* When a packet came, by the port, which was asked `late_us` after it. */
static uint64_t arrival(struct rig *rig, uint32_t late_us, uint64_t *now_tsc)
{
	struct rte_mbuf *pkt = wh_test_frame(rig->pool, 1, 100);
	uint64_t tsc;

	CU_ASSERT_EQUAL_FATAL(wh_port_send(rig->port, 0, &pkt, 1), 1);
	CU_ASSERT_EQUAL_FATAL(wh_port_receive(rig->port, 0, &pkt, 1), 1);
	rte_delay_us_block(late_us);
	*now_tsc = rte_rdtsc();
	tsc = wh_port_arrived_tsc(rig->port, pkt, *now_tsc);
	rte_pktmbuf_free(pkt);
	return tsc;
}

static bool await_clock(struct rig *rig)
{
	uint64_t until_tsc = rte_rdtsc() + PATIENCE_S * rte_get_timer_hz();

	while (!wh_port_has_stamps(rig->port) && rte_rdtsc() < until_tsc) {
		rte_delay_us_sleep(1000);
		(void)wh_port_watch_link(rig->port);
	}
	return wh_port_has_stamps(rig->port);
}

static void test_stamps(void)
{
	struct rig rig;
	uint64_t slack_tsc = rte_get_timer_hz() / 1000000 * 80;
	uint64_t now_tsc;

	nic.driver = "mlx5_pci";
	nic.stamps = nic.readable = true;
	rig_open(&rig);
	CU_ASSERT_TRUE(rig.port->nic_stamps);

	/* Until the clock is known packets come when they are taken. */
	CU_ASSERT_FALSE(wh_port_has_stamps(rig.port));
	CU_ASSERT_EQUAL(arrival(&rig, 0, &now_tsc), now_tsc);
	CU_ASSERT_TRUE_FATAL(await_clock(&rig));

	uint64_t tsc = arrival(&rig, 500, &now_tsc);

	CU_ASSERT(tsc + slack_tsc >= stamped_tsc[0]);
	CU_ASSERT(tsc <= stamped_tsc[1] + slack_tsc);
	CU_ASSERT(tsc < now_tsc);
	rig_close(&rig);
}

static void test_no_stamps(void)
{
	static const struct {
		const char *driver;
		bool stamps;
		bool readable;
	} cases[] = {
		{"mlx5_pci", false, true},
		{"mlx5_pci", true, false}, /* isolated, without a clock in its BAR */
		{"net_ice", true, true},
		{"net_e1000_igc", true, true},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct rig rig;
		uint64_t now_tsc;

		nic.driver = cases[i].driver;
		nic.stamps = cases[i].stamps;
		nic.readable = cases[i].readable;
		rig_open(&rig);
		CU_ASSERT_FALSE(rig.port->nic_stamps);
		(void)wh_port_watch_link(rig.port);
		CU_ASSERT_EQUAL(rig.port->nic_clock.readings, 0);
		CU_ASSERT_EQUAL(arrival(&rig, 0, &now_tsc), now_tsc);
		rig_close(&rig);
	}
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts without hugepages", wh_test_eal_start},
	{"a NIC's stamps are arrivals", test_stamps},
	{"no stamps, or no clock that is theirs", test_no_stamps},
	{"the EAL ends", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
