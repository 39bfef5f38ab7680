/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Which offloads of a device to configure: a step of wh_port_open. A driver chooses its functions
 * by what is configured, not by what packets need, so each offload that is not used may cost its
 * fastest ones: with MULTI_SEGS i40e and ice send without their vector code, and with TIMESTAMP ice
 * receives without it.
 */

#include <rte_ethdev.h>

#include "port/port.h"

/*
 * Sets the offloads of `conf`; no more than the device offers. `clock`: its clock can be read, so
 * stamps of it have a meaning.
 */
void wh_offloads_choose(const struct wh_port_config *config, const struct rte_eth_dev_info *info,
	bool clock, struct rte_eth_conf *conf);
