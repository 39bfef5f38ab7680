/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/steer.h"

#include <string.h>

#include "base/assert.h"

/* Last bits of the UDP port that a hash passes on. */
#define PORT_BITS   4
#define PORT_VALUES (1U << PORT_BITS)

static_assert(WH_PORT_QUEUES_MAX <= PORT_VALUES, "a value for each queue");

/* The input of Microsoft's RSS, used by every NIC: source, target, source port, target port. */
#define IPV4_INPUT_BITS ((4 + 4 + 2 + 2) * 8)
#define IPV6_INPUT_BITS ((16 + 16 + 2 + 2) * 8)
#define KEY_BYTES       40

static_assert(IPV6_INPUT_BITS + 31 < KEY_BYTES * 8, "the key's bit is within the key");

static const char *const steering_names[WH_PORT_STEERINGS] = {
	[WH_PORT_STEER_ONE_QUEUE] = "one queue",
	[WH_PORT_STEER_PAIRED] = "queues paired with the peer's",
	[WH_PORT_STEER_RULES] = "rules for UDP ports",
	[WH_PORT_STEER_HASH] = "a hash of the UDP port",
};

const char *wh_port_steering_name(enum wh_port_steering steering)
{
	WH_ASSERT((unsigned int)steering < WH_PORT_STEERINGS);
	return steering_names[steering];
}

/* Rings, shared or not, keep queues apart: a packet leaves by the queue by which it entered. */
bool wh_steer_is_paired(const char *device)
{
	static const char *const drivers[] = {
		"net_ring", "net_memif", "net_vhost", "net_virtio_user"};

	for (size_t i = 0; i < RTE_DIM(drivers); i++)
		if (strncmp(device, drivers[i], strlen(drivers[i])) == 0)
			return true;
	return false;
}

void wh_steer_rule_init(struct wh_steer_rule *rule, enum rte_flow_item_type family,
	uint16_t udp_port, uint16_t queue)
{
	WH_ASSERT(family == RTE_FLOW_ITEM_TYPE_IPV4 || family == RTE_FLOW_ITEM_TYPE_IPV6);
	*rule = (struct wh_steer_rule){
		.attr = {.ingress = 1},
		.udp = {.hdr = {.dst_port = rte_cpu_to_be_16(udp_port)}},
		.udp_mask = {.hdr = {.dst_port = RTE_BE16(UINT16_MAX)}},
		.queue = {.index = queue},
		.pattern = {{.type = RTE_FLOW_ITEM_TYPE_ETH}, {.type = family},
			{.type = RTE_FLOW_ITEM_TYPE_UDP,
				.spec = &rule->udp,
				.mask = &rule->udp_mask},
			{.type = RTE_FLOW_ITEM_TYPE_END}},
		.action = {{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &rule->queue},
			{.type = RTE_FLOW_ACTION_TYPE_END}},
	};
}

static int add_rule(
	uint16_t ethdev, enum rte_flow_item_type family, uint16_t udp_port, uint16_t queue)
{
	struct wh_steer_rule rule;
	struct rte_flow_error why;

	wh_steer_rule_init(&rule, family, udp_port, queue);

	int error = rte_flow_validate(ethdev, &rule.attr, rule.pattern, rule.action, &why);

	if (error != 0)
		return error;
	return rte_flow_create(ethdev, &rule.attr, rule.pattern, rule.action, &why) != NULL ? 0
											    : -EIO;
}

int wh_steer_by_rules(const struct wh_port_config *config)
{
	int error = 0;

	for (uint16_t queue = 0; queue < config->queues && error == 0; queue++) {
		uint16_t udp_port = config->udp_port + queue;

		if (config->ipv4)
			error = add_rule(config->ethdev, RTE_FLOW_ITEM_TYPE_IPV4, udp_port, queue);
		if (config->ipv6 && error == 0)
			error = add_rule(config->ethdev, RTE_FLOW_ITEM_TYPE_IPV6, udp_port, queue);
	}
	if (error != 0) {
		struct rte_flow_error why;

		(void)rte_flow_flush(config->ethdev, &why);
	}
	return error;
}

static uint32_t reverse(uint32_t bits)
{
	uint32_t reversed = 0;

	for (uint32_t i = 0; i < PORT_BITS; i++)
		reversed |= (bits >> i & 1) << (PORT_BITS - 1 - i);
	return reversed;
}

uint16_t wh_steer_queue_of_hash(const struct wh_port_config *config, uint32_t hash)
{
	uint32_t queue = (reverse(hash) - config->udp_port) % PORT_VALUES;

	return queue < config->queues ? (uint16_t)queue : 0;
}

/*
 * Some NICs give frames that are not hashed (ARP, ICMP, fragments) hash 0, which must lead to queue
 * 0 as with the others; it does for a base that is a multiple of 16.
 */
bool wh_steer_choose_hash(const struct wh_port_config *config, const struct rte_eth_dev_info *info,
	uint8_t key[WH_STEER_KEY_BYTES_MAX], struct rte_eth_conf *conf)
{
	uint64_t udp = config->ipv4 ? RTE_ETH_RSS_NONFRAG_IPV4_UDP : RTE_ETH_RSS_NONFRAG_IPV6_UDP;
	uint32_t key_bytes = info->hash_key_size != 0 ? info->hash_key_size : KEY_BYTES;
	uint32_t last_bit = (config->ipv4 ? IPV4_INPUT_BITS : IPV6_INPUT_BITS) - 1;
	uint32_t key_bit = last_bit + 31 - (PORT_BITS - 1);

	if (config->ipv4 == config->ipv6 || (info->flow_type_rss_offloads & udp) == 0 ||
		key_bytes < KEY_BYTES || key_bytes > WH_STEER_KEY_BYTES_MAX ||
		info->reta_size < PORT_VALUES || info->reta_size > RTE_ETH_RSS_RETA_SIZE_512 ||
		!rte_is_power_of_2(info->reta_size) || wh_steer_queue_of_hash(config, 0) != 0)
		return false;

	memset(key, 0, WH_STEER_KEY_BYTES_MAX);
	key[key_bit / 8] = 0x80 >> key_bit % 8;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf = (struct rte_eth_rss_conf){
		.rss_key = key, .rss_key_len = (uint8_t)key_bytes, .rss_hf = udp};
	return true;
}

int wh_steer_by_hash(const struct wh_port_config *config, const struct rte_eth_dev_info *info)
{
	struct rte_eth_rss_reta_entry64 table[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE] =
		{{0}};

	WH_ASSERT(info->reta_size <= RTE_ETH_RSS_RETA_SIZE_512);
	for (uint32_t hash = 0; hash < info->reta_size; hash++) {
		struct rte_eth_rss_reta_entry64 *group = &table[hash / RTE_ETH_RETA_GROUP_SIZE];

		group->mask |= UINT64_C(1) << hash % RTE_ETH_RETA_GROUP_SIZE;
		group->reta[hash % RTE_ETH_RETA_GROUP_SIZE] = wh_steer_queue_of_hash(config, hash);
	}
	return rte_eth_dev_rss_reta_update(config->ethdev, table, info->reta_size);
}
