/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/steer.h"

#include <errno.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_thash.h>

#include "base/prng.h"
#include "eal.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/port/steer";

#define BASE 5760

/*
 * No device in software takes rules. These stand in for ethdev's functions, whose library is
 * looked at later than the program: what was asked for is kept, and refused from a number on.
 */
static struct {
	int refuse_from; /* the number of the rule that is refused, and those behind it */
	int validated;
	int created;
	int flushed;
	enum rte_flow_item_type family[64];
	uint16_t udp_port[64];
	uint16_t queue[64];
} rules;

int rte_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	(void)port_id;
	(void)pattern;
	(void)actions;
	(void)error;
	CU_ASSERT(attr->ingress);
	CU_ASSERT_FALSE(attr->egress);
	return rules.validated++ < rules.refuse_from ? 0 : -ENOSYS;
}

struct rte_flow *rte_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	const struct rte_flow_item_udp *udp = pattern[2].spec;
	const struct rte_flow_action_queue *queue = actions[0].conf;

	(void)port_id;
	(void)attr;
	(void)error;
	CU_ASSERT_FATAL(rules.created < 64);
	rules.family[rules.created] = pattern[1].type;
	rules.udp_port[rules.created] = rte_be_to_cpu_16(udp->hdr.dst_port);
	rules.queue[rules.created] = queue->index;
	rules.created++;
	return (struct rte_flow *)&rules;
}

int rte_flow_flush(uint16_t port_id, struct rte_flow_error *error)
{
	(void)port_id;
	(void)error;
	rules.flushed++;
	return 0;
}

static void take_rules(int refuse_from)
{
	memset(&rules, 0, sizeof(rules));
	rules.refuse_from = refuse_from;
}

static void test_rule(void)
{
	static const uint8_t port_5763[2] = {0x16, 0x83};
	struct wh_steer_rule rule;

	wh_steer_rule_init(&rule, RTE_FLOW_ITEM_TYPE_IPV6, 5763, 3);
	CU_ASSERT_EQUAL(rule.attr.ingress, 1);
	CU_ASSERT_EQUAL(rule.attr.egress, 0);
	CU_ASSERT_EQUAL(rule.pattern[0].type, RTE_FLOW_ITEM_TYPE_ETH);
	CU_ASSERT_PTR_NULL(rule.pattern[0].spec);
	CU_ASSERT_EQUAL(rule.pattern[1].type, RTE_FLOW_ITEM_TYPE_IPV6);
	CU_ASSERT_PTR_NULL(rule.pattern[1].spec);
	CU_ASSERT_EQUAL(rule.pattern[2].type, RTE_FLOW_ITEM_TYPE_UDP);
	CU_ASSERT_EQUAL(rule.pattern[3].type, RTE_FLOW_ITEM_TYPE_END);
	CU_ASSERT_EQUAL(rule.action[1].type, RTE_FLOW_ACTION_TYPE_END);

	const struct rte_flow_item_udp *udp = rule.pattern[2].spec;
	const struct rte_flow_item_udp *mask = rule.pattern[2].mask;
	const struct rte_flow_action_queue *queue = rule.action[0].conf;

	CU_ASSERT_EQUAL(memcmp(&udp->hdr.dst_port, port_5763, 2), 0);
	CU_ASSERT_EQUAL(mask->hdr.dst_port, 0xffff);
	CU_ASSERT_EQUAL(mask->hdr.src_port, 0);
	CU_ASSERT_EQUAL(mask->hdr.dgram_len, 0);
	CU_ASSERT_EQUAL(mask->hdr.dgram_cksum, 0);
	CU_ASSERT_EQUAL(rule.action[0].type, RTE_FLOW_ACTION_TYPE_QUEUE);
	CU_ASSERT_EQUAL(queue->index, 3);
}

static void test_paired(void)
{
	static const struct {
		const char *device;
		bool paired;
	} cases[] = {
		{"net_ring", true},
		{"net_ring_lambda_a", true},
		{"net_memif0", true},
		{"net_vhost1", true},
		{"net_virtio_user0", true},
		{"net_virtio", false}, /* a guest's: whoever is behind it spreads as it likes */
		{"net_af_packet0", false},
		{"net_null0", false},
		{"0000:3b:00.0", false},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++)
		CU_ASSERT_EQUAL(wh_steer_is_paired(cases[i].device), cases[i].paired);
}

/* What a device may say of itself that is good enough. */
static struct rte_eth_dev_info able(void)
{
	return (struct rte_eth_dev_info){.reta_size = 128,
		.hash_key_size = 40,
		.flow_type_rss_offloads =
			RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP};
}

/* As a NIC does it, by DPDK's own Toeplitz, from any address and port: queue q for base + q. */
static void check_hash(bool ipv6, uint16_t base, uint16_t queues, struct wh_prng *prng)
{
	struct wh_port_config config = {
		.queues = queues, .udp_port = base, .ipv4 = !ipv6, .ipv6 = ipv6};
	struct rte_eth_dev_info info = able();
	struct rte_eth_conf conf = {.rxmode = {.mtu = 1500}};
	uint8_t key[WH_STEER_KEY_BYTES_MAX];

	CU_ASSERT_FATAL(wh_steer_choose_hash(&config, &info, key, &conf));
	for (uint16_t queue = 0; queue < queues; queue++) {
		uint32_t tuple[9]; /* addresses, then the ports in one word, in host order */
		uint32_t words = ipv6 ? RTE_THASH_V6_L4_LEN : RTE_THASH_V4_L4_LEN;

		for (uint32_t i = 0; i < words; i++)
			tuple[i] = (uint32_t)wh_prng_u64(prng);
		tuple[words - 1] = (tuple[words - 1] & 0xffff0000) | (uint16_t)(base + queue);
		CU_ASSERT_EQUAL(
			wh_steer_queue_of_hash(&config, rte_softrss(tuple, words, key)), queue);
	}
}

static void test_hash(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 1);
	for (uint16_t queues = 1; queues <= WH_PORT_QUEUES_MAX; queues++)
		for (uint32_t i = 0; i < 200; i++) {
			check_hash(false, BASE, queues, &prng);
			check_hash(true, BASE, queues, &prng);
			check_hash(false, (uint16_t)(16 * i), queues, &prng);
		}

	/* a base that is no multiple of 16, where hash 0 is of no queue but 0 */
	check_hash(false, 5761, 15, &prng);
	check_hash(true, 5772, 4, &prng);
}

static void test_hash_conf(void)
{
	struct wh_port_config config = {.queues = 4, .udp_port = BASE, .ipv4 = true};
	struct rte_eth_dev_info info = able();
	struct rte_eth_conf conf = {.rxmode = {.mtu = 1500}};
	uint8_t key[WH_STEER_KEY_BYTES_MAX];
	uint8_t expected[WH_STEER_KEY_BYTES_MAX] = {[15] = 0x10}; /* bit 123 = 95 + 31 - 3 */

	info.hash_key_size = 52;
	CU_ASSERT(wh_steer_choose_hash(&config, &info, key, &conf));
	CU_ASSERT_EQUAL(memcmp(key, expected, sizeof(key)), 0);
	CU_ASSERT_EQUAL(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
	CU_ASSERT_EQUAL(conf.rx_adv_conf.rss_conf.rss_hf, RTE_ETH_RSS_NONFRAG_IPV4_UDP);
	CU_ASSERT_EQUAL(conf.rx_adv_conf.rss_conf.rss_key_len, 52);
	CU_ASSERT_PTR_EQUAL(conf.rx_adv_conf.rss_conf.rss_key, key);
	CU_ASSERT_EQUAL(conf.rxmode.mtu, 1500);

	config.ipv4 = false;
	config.ipv6 = true;
	info.hash_key_size = 0; /* not told: 40 */
	memset(expected, 0, sizeof(expected));
	expected[39] = 0x10; /* bit 315 = 287 + 31 - 3 */
	CU_ASSERT(wh_steer_choose_hash(&config, &info, key, &conf));
	CU_ASSERT_EQUAL(memcmp(key, expected, sizeof(key)), 0);
	CU_ASSERT_EQUAL(conf.rx_adv_conf.rss_conf.rss_hf, RTE_ETH_RSS_NONFRAG_IPV6_UDP);
	CU_ASSERT_EQUAL(conf.rx_adv_conf.rss_conf.rss_key_len, 40);
}

static void test_no_hash(void)
{
	static const struct {
		bool ipv4, ipv6;
		uint16_t udp_port;
		uint16_t reta_size;
		uint8_t key_bytes;
		uint64_t hashes;
		bool steers;
	} cases[] = {
		{true, false, BASE, 128, 40, RTE_ETH_RSS_NONFRAG_IPV4_UDP, true},
		{true, false, BASE, 16, 40, RTE_ETH_RSS_NONFRAG_IPV4_UDP, true},
		{true, false, BASE, 512, 64, RTE_ETH_RSS_NONFRAG_IPV4_UDP, true},
		{true, true, BASE, 128, 40, UINT64_MAX, false}, /* one key, one family */
		{true, false, BASE, 128, 40, RTE_ETH_RSS_NONFRAG_IPV6_UDP, false},
		{true, false, BASE, 128, 40, RTE_ETH_RSS_IPV4, false},
		{true, false, BASE, 0, 40, UINT64_MAX, false},
		{true, false, BASE, 8, 40, UINT64_MAX, false},
		{true, false, BASE, 1024, 40, UINT64_MAX, false},
		{true, false, BASE, 100, 40, UINT64_MAX, false},
		{true, false, BASE, 128, 39, UINT64_MAX, false},
		{true, false, BASE, 128, 65, UINT64_MAX, false},
		/* hash 0, that of ARP, would be queue 2 */
		{true, false, BASE + 14, 128, 40, UINT64_MAX, false},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct wh_port_config config = {.queues = 4,
			.udp_port = cases[i].udp_port,
			.ipv4 = cases[i].ipv4,
			.ipv6 = cases[i].ipv6};
		struct rte_eth_dev_info info = {.reta_size = cases[i].reta_size,
			.hash_key_size = cases[i].key_bytes,
			.flow_type_rss_offloads = cases[i].hashes};
		struct rte_eth_conf conf = {.rxmode = {.mq_mode = RTE_ETH_MQ_RX_NONE}};
		uint8_t key[WH_STEER_KEY_BYTES_MAX];

		CU_ASSERT_EQUAL(wh_steer_choose_hash(&config, &info, key, &conf), cases[i].steers);
		CU_ASSERT_EQUAL(conf.rxmode.mq_mode,
			cases[i].steers ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE);
	}
}

/* net_null hashes nothing that it could receive, but takes a redirection table. */
struct null_port {
	struct rte_mempool *pool;
	struct wh_port_config config;
	struct wh_port *port;
	char why[WH_PORT_WHY_BYTES];
};

static void null_make(struct null_port *null)
{
	memset(null, 0, sizeof(*null));
	null->pool = wh_test_pool("null", 64, wh_port_room_bytes(1500));
	CU_ASSERT_EQUAL_FATAL(rte_vdev_init("net_null0", "no-rx=1"), 0);
	null->config = (struct wh_port_config){.queues = 4,
		.mtu = 1500,
		.pool = null->pool,
		.socket = SOCKET_ID_ANY,
		.udp_port = BASE,
		.ipv4 = true};
	CU_ASSERT_EQUAL_FATAL(wh_port_find("net_null0", &null->config.ethdev), 0);
}

static int null_open(struct null_port *null)
{
	return wh_port_open(&null->config, &null->port, null->why, sizeof(null->why));
}

static void null_free(struct null_port *null)
{
	wh_port_close(null->port);
	CU_ASSERT_EQUAL(rte_vdev_uninit("net_null0"), 0);
	wh_test_pool_free(null->pool);
}

static void test_by_rules(void)
{
	struct null_port null;

	null_make(&null);
	null.config.ipv6 = true;
	take_rules(64);
	CU_ASSERT_EQUAL_FATAL(null_open(&null), 0);
	CU_ASSERT_EQUAL(null.port->steering, WH_PORT_STEER_RULES);
	CU_ASSERT_EQUAL(rules.created, 8);
	CU_ASSERT_EQUAL(rules.flushed, 0);
	for (int i = 0; i < 8; i++) {
		CU_ASSERT_EQUAL(rules.queue[i], i / 2);
		CU_ASSERT_EQUAL(rules.udp_port[i], BASE + i / 2);
		CU_ASSERT_EQUAL(rules.family[i],
			i % 2 == 0 ? RTE_FLOW_ITEM_TYPE_IPV4 : RTE_FLOW_ITEM_TYPE_IPV6);
	}
	wh_port_stop(null.port);
	CU_ASSERT_EQUAL(rules.flushed, 1);
	null_free(&null);
	CU_ASSERT_EQUAL(rules.flushed, 1);
}

static void test_by_hash(void)
{
	struct null_port null;
	struct rte_eth_rss_reta_entry64 table[2] = {{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};

	/* Hashes 0 to 15 are ports 0, 8, 4, 12, 2, .. behind the base: bits in reverse. */
	static const uint16_t queue_of_hash[16] = {0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0};

	null_make(&null);
	take_rules(2); /* the third of four is refused: the first two go, too */
	CU_ASSERT_EQUAL_FATAL(null_open(&null), 0);
	CU_ASSERT_EQUAL(null.port->steering, WH_PORT_STEER_HASH);
	CU_ASSERT_EQUAL(rules.created, 2);
	CU_ASSERT_EQUAL(rules.flushed, 1);
	CU_ASSERT_EQUAL(rte_eth_dev_rss_reta_query(null.config.ethdev, table, 128), 0);
	for (uint32_t hash = 0; hash < 128; hash++)
		CU_ASSERT_EQUAL(table[hash / 64].reta[hash % 64], queue_of_hash[hash % 16]);
	null_free(&null);
	CU_ASSERT_EQUAL(rules.flushed, 1);
}

static void test_not_at_all(void)
{
	struct null_port null;

	null_make(&null);
	null.config.ipv6 = true;
	take_rules(0);
	CU_ASSERT_EQUAL(null_open(&null), -ENOTSUP);
	CU_ASSERT_STRING_EQUAL(null.why, "port net_null0 cannot tell UDP ports apart for its 4 "
					 "queues: give it one queue");
	CU_ASSERT_PTR_NULL(null.port);

	null.config.udp_port = 65533;
	CU_ASSERT_EQUAL(null_open(&null), -EINVAL);
	CU_ASSERT_STRING_EQUAL(null.why, "port net_null0 needs 4 UDP ports, there are not as many "
					 "from 65533 on");

	/* alone it takes whatever comes */
	null.config.queues = 1;
	CU_ASSERT_EQUAL_FATAL(null_open(&null), 0);
	CU_ASSERT_EQUAL(null.port->steering, WH_PORT_STEER_ONE_QUEUE);
	CU_ASSERT_EQUAL(rules.created, 0);
	null_free(&null);
}

static void test_names(void)
{
	for (unsigned int i = 0; i < WH_PORT_STEERINGS; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(wh_port_steering_name(i));
		for (unsigned int j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(
				wh_port_steering_name(i), wh_port_steering_name(j));
	}
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts without hugepages", wh_test_eal_start},
	{"a rule's bytes", test_rule},
	{"whose queues are paired", test_paired},
	{"a hash of the port leads to its queue, whatever the rest", test_hash},
	{"what the device is configured for", test_hash_conf},
	{"devices that cannot steer by hash", test_no_hash},
	{"a port steers by rules, and takes them away", test_by_rules},
	{"without rules it steers by hash", test_by_hash},
	{"without either it has one queue", test_not_at_all},
	{"every steering has a name of its own", test_names},
	{"the EAL ends", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
