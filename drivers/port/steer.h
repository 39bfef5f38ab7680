/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PORT_STEER_H
#define WH_PORT_STEER_H

/*
 * How packets find the queue of their UDP port: udp_port + q to queue q (enum wh_port_steering
 * has the ways). Steps of wh_port_open; others read port->steering.
 *
 * By hash: Toeplitz takes, for each bit that is set in the packet's addresses and ports, the 32
 * bits of the key that begin at the same place, and adds them without carry. A key with a single
 * bit, 31 - 3 places behind the last bit of the target port, lets the last four bits of that port
 * through, in reverse order, and nothing else. The redirection table does the rest. Addresses of
 * IPv6 are longer, so one key serves one family.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "port/port.h"

#define WH_STEER_KEY_BYTES_MAX 64

/* One queue's rule for one family; its parts point at each other, so it stays where it is. */
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

/* Whether the sender's queue decides the receiver's, by the driver that the device's name has. */
bool wh_steer_is_paired(const char *device);

/*
 * Asks for a hash in `conf` where the device can be made to steer by it; `key` is the caller's,
 * and the conf points into it. False: it cannot, and conf is as it was.
 */
bool wh_steer_choose_hash(const struct wh_port_config *config, const struct rte_eth_dev_info *info,
	uint8_t key[WH_STEER_KEY_BYTES_MAX], struct rte_eth_conf *conf);

/* The queue for a hash whose last four bits are these. */
uint16_t wh_steer_queue_of_hash(const struct wh_port_config *config, uint32_t hash);

/* On a started device. 0 or a negative errno, -ENOTSUP for most; none is left over then. */
int wh_steer_by_rules(const struct wh_port_config *config);
int wh_steer_by_hash(const struct wh_port_config *config, const struct rte_eth_dev_info *info);

#endif
