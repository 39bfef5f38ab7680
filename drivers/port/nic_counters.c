/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/nic_counters.h"

#include <stdbool.h>
#include <string.h>

#include <rte_ethdev.h>

#include "base/assert.h"

static const struct {
	const char *name;
	bool holds; /* what we send */
} known[] = {
	/* ena: beyond what the instance is allowed, queued or dropped */
	{"bw_in_allowance_exceeded", false},
	{"bw_out_allowance_exceeded", true},
	{"pps_allowance_exceeded", true},
	{"conntrack_allowance_exceeded", false},
	/* mlx5: no descriptor was free; the NIC's own buffer was full; a port that pauses */
	{"rx_out_of_buffer", false},
	{"rx_phy_discard_packets", false},
	{"tx_phy_discard_packets", true},
	{"rx_phy_crc_errors", false},
	{"rx_phy_symbol_errors", false},
	/* i40e, ice, ixgbe: no descriptor was free; the switch asks us to pause, or we it */
	{"rx_dropped_packets", false},
	{"rx_xoff_packets", true},
	{"tx_xoff_packets", false},
	{"rx_crc_errors", false},
	{"mac_remote_errors", false},
};

static_assert(RTE_DIM(known) <= WH_NIC_COUNTERS_MAX, "a place for each");

/* Drivers of software are not asked: vhost reports a failure. */
static bool has_known(const char *driver)
{
	static const char *const drivers[] = {
		"net_ena", "mlx5_pci", "mlx5_auxiliary", "net_i40e", "net_ice", "net_ixgbe"};

	for (size_t i = 0; i < RTE_DIM(drivers); i++)
		if (strcmp(driver, drivers[i]) == 0)
			return true;
	return false;
}

void wh_nic_counters_find(struct wh_nic_counters *counters, uint16_t ethdev, const char *driver)
{
	*counters = (struct wh_nic_counters){0};
	if (!has_known(driver))
		return;
	for (uint8_t i = 0; i < RTE_DIM(known); i++)
		if (rte_eth_xstats_get_id_by_name(
			    ethdev, known[i].name, &counters->id[counters->count]) == 0)
			counters->known[counters->count++] = i;
}

void wh_nic_counters_read(
	struct wh_nic_counters *counters, uint16_t ethdev, uint64_t now_tsc, uint64_t every_tsc)
{
	uint64_t next_tsc = __atomic_load_n(&counters->next_tsc, __ATOMIC_ACQUIRE);
	uint64_t value[WH_NIC_COUNTERS_MAX];

	/* Of several threads one reads. */
	if (counters->count == 0 || now_tsc < next_tsc ||
		!__atomic_compare_exchange_n(&counters->next_tsc, &next_tsc, now_tsc + every_tsc,
			false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) ||
		rte_eth_xstats_get_by_id(ethdev, counters->id, value, counters->count) !=
			(int)counters->count)
		return;
	for (uint32_t i = 0; i < counters->count; i++)
		__atomic_store_n(&counters->value[i], value[i], __ATOMIC_RELAXED);
}

const char *wh_nic_counter(const struct wh_nic_counters *counters, uint32_t number, uint64_t *value)
{
	WH_ASSERT(number < counters->count);
	*value = __atomic_load_n(&counters->value[number], __ATOMIC_RELAXED);
	return known[counters->known[number]].name;
}

uint64_t wh_nic_counters_held(const struct wh_nic_counters *counters)
{
	uint64_t pkts = 0;

	for (uint32_t i = 0; i < counters->count; i++)
		if (known[counters->known[i]].holds)
			pkts += __atomic_load_n(&counters->value[i], __ATOMIC_RELAXED);
	return pkts;
}
