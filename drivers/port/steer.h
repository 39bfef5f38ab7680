/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * How packets find the queue of their UDP port: udp_port + q to queue q, by one of enum
 * wh_port_steering. Steps of wh_port_open; others read port->steering.
 *
 * By hash: for each bit that is set in the packet's addresses and ports, Toeplitz takes the 32 bits
 * of the key that begin at the same position, and XORs them. A key with a single bit, 31 - 3
 * positions after the last bit of the target port, passes the last four bits of that port, in
 * reverse order, and nothing else. The redirection table maps those to queues. IPv6 addresses are
 * longer, so one key serves one family.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "port/port.h"

#define WH_STEER_KEY_BYTES_MAX 64

/* One queue's rule for one family; its parts point at each other, so it must not be moved. */
struct wh_steer_rule {
	struct rte_flow_attr attr;
	struct rte_flow_item_udp udp;
	struct rte_flow_item_udp udp_mask;
	struct rte_flow_action_queue queue;
	struct rte_flow_item pattern[4];
	struct rte_flow_action action[2];
};

void wh_steer_rule_init(struct wh_steer_rule *rule, enum rte_flow_item_type family,
	uint16_t udp_port, uint16_t queue);

/*
 * Whether the sender's queue decides the receiver's, according to the driver in the device's name.
 */
bool wh_steer_is_paired(const char *device);

/*
 * Sets up a hash in `conf` if the device can steer by it; `key` is the caller's, and the conf
 * points into it. False: it cannot, and conf is unchanged.
 */
bool wh_steer_choose_hash(const struct wh_port_config *config, const struct rte_eth_dev_info *info,
	uint8_t key[WH_STEER_KEY_BYTES_MAX], struct rte_eth_conf *conf);

/* The queue for a hash with these last four bits. */
uint16_t wh_steer_queue_of_hash(const struct wh_port_config *config, uint32_t hash);

/* On a started device. 0 or a negative errno, -ENOTSUP for most; then no rule is left behind. */
int wh_steer_by_rules(const struct wh_port_config *config);
int wh_steer_by_hash(const struct wh_port_config *config, const struct rte_eth_dev_info *info);
