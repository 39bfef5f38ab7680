/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rte_dev_event_callback_register, since DPDK 18.05 */
#include "port/removal.h"

#include <errno.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#define TRIES       1000
#define TRY_WAIT_US 1000

/* On EAL's interrupt thread, as all below. */
static void ask_back(void *port)
{
	__atomic_store_n(&((struct wh_port *)port)->asked_back, true, __ATOMIC_RELEASE);
}

/* Of vfio's request interrupt. */
static void on_device(const char *device, enum rte_dev_event_type event, void *port)
{
	(void)device;
	if (event == RTE_DEV_EVENT_REMOVE)
		ask_back(port);
}

static int on_ethdev(uint16_t ethdev, enum rte_eth_event_type event, void *port, void *unused)
{
	(void)ethdev;
	(void)event;
	(void)unused;
	ask_back(port);
	return 0;
}

static const char *device_of(const struct wh_port *port)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(port->ethdev, &info) == 0 ? rte_dev_name(info.device) : NULL;
}

/* Without them, which only memory that is exhausted prevents, a removal waits for our end. */
void wh_removal_watch(struct wh_port *port)
{
	const char *device = device_of(port);

	(void)rte_eth_dev_callback_register(port->ethdev, RTE_ETH_EVENT_INTR_RMV, on_ethdev, port);
	if (device != NULL)
		(void)rte_dev_event_callback_register(device, on_device, port);
}

void wh_removal_end(struct wh_port *port)
{
	const char *device = device_of(port);

	(void)rte_eth_dev_callback_unregister(
		port->ethdev, RTE_ETH_EVENT_INTR_RMV, on_ethdev, port);
	/* Not while it is being called. */
	for (int i = 0; device != NULL && i < TRIES &&
			rte_dev_event_callback_unregister(device, on_device, port) == -EAGAIN;
		i++)
		usleep(TRY_WAIT_US);
}
