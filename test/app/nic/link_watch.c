/* SPDX-License-Identifier: BSD-3-Clause */

/* A port whose device is asked back. */

#define ALLOW_EXPERIMENTAL_API /* rte_dev_event_callback_process */
#include "host/link_watch.h"

#include <string.h>

#include <rte_dev.h>

#include "../../driver/eal.h"
#include "cli/complain.h"
#include "unit.h"

const char wh_suite_name[] = "app/link_watch";

#define MTU 1500

/* As vfio's driver does when the kernel wants its device back. */
static void ask_back(const char *device)
{
	rte_dev_event_callback_process(device, RTE_DEV_EVENT_REMOVE);
}

static void asked_back(bool alone, const char *told)
{
	struct rte_mempool *pool = wh_test_pool("pool", 64, wh_port_room_bytes(MTU));
	struct wh_port_spec spec = {.ethdev = "net_ring_watched"};
	char why[WH_PORT_WHY_BYTES];
	struct wh_link_watch watch;
	struct wh_port *port;
	uint16_t ethdev;

	CU_ASSERT_EQUAL_FATAL(rte_eal_hotplug_add("vdev", spec.ethdev, ""), 0);
	CU_ASSERT_EQUAL_FATAL(wh_port_find(spec.ethdev, &ethdev), 0);

	struct wh_port_config config = {
		.ethdev = ethdev,
		.queues = 1,
		.mtu = MTU,
		.pool = pool,
		.socket = SOCKET_ID_ANY,
	};

	CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &port, why, sizeof(why)), 0);
	wh_link_watch_init(&watch, port, &spec, 1000000000, alone);
	CU_ASSERT_TRUE(wh_link_watch_poll(&watch, 1));
	ask_back("net_ring_another");
	CU_ASSERT_TRUE(wh_link_watch_poll(&watch, 100000000));
	ask_back(spec.ethdev);
	CU_ASSERT_TRUE(wh_port_is_asked_back(port));
	CU_ASSERT_FALSE(wh_link_watch_poll(&watch, 200000000));
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), told));
	CU_ASSERT_TRUE(wh_link_watch_poll(&watch, 300000000)); /* told once */
	wh_port_stop(port);
	ask_back(spec.ethdev); /* nobody is called any more */
	wh_port_close(port);
	CU_ASSERT_EQUAL(rte_eal_hotplug_remove("vdev", spec.ethdev), 0);
	wh_test_pool_free(pool);
}

static void test_asked_back(void)
{
	asked_back(true, "net_ring_watched is to be removed, and is given back: put it in again");
	asked_back(false, "is given back when this process, whose other ports go on, has ended");
}

CU_TestInfo wh_tests[] = {
	{"start", wh_test_eal_start},
	{"asked back", test_asked_back},
	{"stop", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
