/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/assert.h"

#define GROUPS_MAX 16

static const char *const groups_names[WH_PORT_GROUPS] = {
	[WH_PORT_GROUPS_LISTED] = "our groups",
	[WH_PORT_GROUPS_ALL] = "all groups",
	[WH_PORT_GROUPS_PROMISCUOUS] = "every frame",
	[WH_PORT_GROUPS_UNFILTERED] = "no filter to set",
};

const char *wh_port_groups_name(enum wh_port_groups groups)
{
	WH_ASSERT((unsigned int)groups < WH_PORT_GROUPS);
	return groups_names[groups];
}

static int list_groups(uint16_t ethdev, const uint8_t (*macs)[6], uint32_t count)
{
	struct rte_ether_addr list[GROUPS_MAX];

	for (uint32_t i = 0; i < count; i++) {
		memcpy(list[i].addr_bytes, macs[i], RTE_ETHER_ADDR_LEN);
		WH_ASSERT(rte_is_multicast_ether_addr(&list[i]));
	}
	return rte_eth_dev_set_mc_addr_list(ethdev, list, count);
}

int wh_port_join_groups(const struct wh_port *port, const uint8_t (*macs)[6], uint32_t count,
	enum wh_port_groups *groups)
{
	WH_ASSERT(port->started && count <= GROUPS_MAX);

	*groups = WH_PORT_GROUPS_LISTED;
	if (list_groups(port->ethdev, macs, count) == 0)
		return 0;
	*groups = WH_PORT_GROUPS_ALL;
	if (rte_eth_allmulticast_enable(port->ethdev) == 0)
		return 0;
	*groups = WH_PORT_GROUPS_PROMISCUOUS;

	int error = rte_eth_promiscuous_enable(port->ethdev);

	if (error != -ENOTSUP)
		return error;
	*groups = WH_PORT_GROUPS_UNFILTERED;
	return 0;
}
