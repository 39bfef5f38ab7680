/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include "eal.h"
#include "port/arrived.h"
#include "port/spec.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/port, two at a time";

#define MTU 9000

/* Two ports of this process, written as an operator writes them, and what lies between. */
struct pair {
	struct rte_mempool *pool;
	char name[2][WH_PORT_SPEC_NAME_BYTES];
	struct wh_port *port[2];
};

static char folder[] = "/tmp/wh_pairs_XXXXXX";
static bool has_netns;

/* The device of `text` as EAL would make it at start. */
static void make_device(
	struct pair *pair, unsigned int end, const char *text, uint16_t queues, uint16_t mtu)
{
	struct wh_port_spec spec;
	struct wh_port_argument argument;
	char why[WH_PORT_WHY_BYTES] = "";
	char *args;

	CU_ASSERT_EQUAL_FATAL(wh_port_spec_read(text, (uint16_t)end, &spec, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL_FATAL(
		wh_port_spec_prepare(&spec, queues, mtu, &argument, why, sizeof(why)), 0);
	CU_ASSERT_STRING_EQUAL(why, "");
	CU_ASSERT_STRING_EQUAL_FATAL(argument.option, "--vdev");
	args = strchr(argument.device, ',');
	CU_ASSERT_PTR_NOT_NULL_FATAL(args);
	*args++ = '\0';
	CU_ASSERT_STRING_EQUAL(argument.device, spec.ethdev);
	CU_ASSERT_EQUAL_FATAL(rte_vdev_init(argument.device, args), 0);
	snprintf(pair->name[end], sizeof(pair->name[end]), "%s", spec.ethdev);
}

static struct wh_port_config config_of(
	const struct pair *pair, unsigned int end, uint16_t queues, uint16_t mtu)
{
	struct wh_port_config config = {
		.queues = queues,
		.mtu = mtu,
		.pool = pair->pool,
		.socket = SOCKET_ID_ANY,
		.ipv6 = true,
	};

	CU_ASSERT_EQUAL_FATAL(wh_port_find(pair->name[end], &config.ethdev), 0);
	return config;
}

static void open_end(
	struct pair *pair, unsigned int end, const char *text, uint16_t queues, uint16_t mtu)
{
	char why[WH_PORT_WHY_BYTES] = "";

	make_device(pair, end, text, queues, mtu);

	struct wh_port_config config = config_of(pair, end, queues, mtu);

	CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &pair->port[end], why, sizeof(why)), 0);
	CU_ASSERT_STRING_EQUAL(why, "");
	CU_ASSERT_EQUAL(pair->port[end]->mtu, mtu);
}

static void make_pool(struct pair *pair, uint16_t mtu)
{
	memset(pair, 0, sizeof(*pair));
	pair->pool = wh_test_pool("pair", 4096, wh_port_room_bytes(mtu));
}

/* `text` are forms with the folder's place in them, in the order of their start. */
static void open_pair(struct pair *pair, const char *const forms[2], uint16_t queues, uint16_t mtu)
{
	char text[WH_PORT_SPEC_TEXT_MAX + 1];

	make_pool(pair, mtu);
	for (unsigned int end = 0; end < 2; end++) {
		snprintf(text, sizeof(text), forms[end], folder);
		open_end(pair, end, text, queues, mtu);
	}
	for (unsigned int end = 0; end < 2; end++)
		CU_ASSERT_EQUAL_FATAL(wh_port_await_link(pair->port[end], 5000), 0);
}

/* The end that was opened last goes first: a vhost does not survive the other order. */
static void close_ends(struct pair *pair)
{
	for (int end = 1; end >= 0; end--) {
		wh_port_close(pair->port[end]);
		CU_ASSERT_EQUAL(rte_vdev_uninit(pair->name[end]), 0);
	}
}

static void close_pair(struct pair *pair)
{
	close_ends(pair);
	wh_test_pool_free(pair->pool);
}

/* What comes at an end's queue within a second and begins like `like`; NULL: nothing. */
static struct rte_mbuf *await(
	struct pair *pair, unsigned int at, uint16_t queue, const void *like, size_t bytes)
{
	uint64_t start_tsc = rte_get_timer_cycles();
	struct rte_mbuf *pkt;

	while (rte_get_timer_cycles() - start_tsc < rte_get_timer_hz()) {
		(void)wh_port_flush(pair->port[1 - at], queue);
		if (wh_port_receive(pair->port[at], queue, &pkt, 1) == 0)
			continue;
		if (memcmp(rte_pktmbuf_mtod(pkt, const void *), like, bytes) == 0)
			return pkt;
		rte_pktmbuf_free(pkt); /* the kernel's own */
	}
	return NULL;
}

/* A frame from one end to the other's queue of the same number, and to no other. */
static void carry(
	struct pair *pair, unsigned int from, uint16_t queue, uint32_t number, uint32_t bytes)
{
	struct rte_mbuf *pkt = wh_test_frame(pair->pool, number, bytes);
	uint8_t head[32];

	memcpy(head, rte_pktmbuf_mtod(pkt, const void *), sizeof(head));
	CU_ASSERT_EQUAL(wh_port_send(pair->port[from], queue, &pkt, 1), 1);
	pkt = await(pair, 1 - from, queue, head, sizeof(head));
	CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
	CU_ASSERT_EQUAL(pkt->pkt_len, bytes);
	CU_ASSERT(wh_test_is_frame(pkt, number, bytes));
	rte_pktmbuf_free(pkt);
	for (uint16_t other = 0; other < pair->port[1 - from]->queues; other++)
		CU_ASSERT(other == queue ||
			  wh_port_receive(pair->port[1 - from], other, &pkt, 1) == 0);
}

static void carry_all(struct pair *pair, uint32_t bytes_max)
{
	const uint32_t bytes[] = {60, 1514, bytes_max};
	uint32_t number = 1;

	for (uint16_t queue = 0; queue < pair->port[0]->queues; queue++)
		for (size_t i = 0; i < RTE_DIM(bytes); i++)
			for (unsigned int from = 0; from < 2; from++)
				carry(pair, from, queue, number++, bytes[i]);
}

static enum wh_port_groups groups_of(const struct wh_port *port)
{
	static const uint8_t macs[2][6] = {
		{0x33, 0x33, 0, 0, 0, 1}, {0x33, 0x33, 0xff, 0x12, 0x34, 0x56}};
	enum wh_port_groups groups = WH_PORT_GROUPS;

	CU_ASSERT_EQUAL(wh_port_join_groups(port, macs, 2, &groups), 0);
	return groups;
}

static void test_memif(void)
{
	static const char *const forms[2] = {
		"memif:%s/memif,role=server", "memif:%s/memif,rsize=8"};
	struct pair pair;

	open_pair(&pair, forms, 2, MTU);
	for (unsigned int end = 0; end < 2; end++) {
		CU_ASSERT_EQUAL(pair.port[end]->steering, WH_PORT_STEER_PAIRED);
		CU_ASSERT(pair.port[end]->multi_segment_tx);
		CU_ASSERT_FALSE(pair.port[end]->udp_sum_tx);
		CU_ASSERT_EQUAL(groups_of(pair.port[end]), WH_PORT_GROUPS_PROMISCUOUS);
	}
	carry_all(&pair, MTU + 14);
	close_pair(&pair);
}

/* The largest MTU of all, in slots of any size. */
static void test_memif_slots(void)
{
	static const char *const forms[2] = {
		"memif:%s/memif,role=server,id=7", "memif:%s/memif,id=7,bsize=64,rsize=11"};
	struct pair pair;

	open_pair(&pair, forms, 1, WH_PORT_MTU_MAX);
	CU_ASSERT_EQUAL(pair.port[0]->steering, WH_PORT_STEER_ONE_QUEUE);
	carry_all(&pair, WH_PORT_MTU_MAX + 14);
	close_pair(&pair);
}

/* 2001:db8::1 to 2001:db8::2, 5 bytes from port 1000 to 5760. */
static struct rte_mbuf *udp6_frame(struct rte_mempool *pool)
{
	static const uint8_t frame[] = {0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x86,
		0xdd,                                                               /* Ethernet */
		0x60, 0, 0, 0, 0, 13, 17, 64,                                       /* IPv6 */
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,         /* source */
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,         /* target */
		0x03, 0xe8, 0x16, 0x80, 0, 13, 0, 0, 0xf0, 0x01, 0xf0, 0x02, 0xab}; /* UDP */
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(pool);

	CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
	memcpy(rte_pktmbuf_append(pkt, sizeof(frame)), frame, sizeof(frame));
	return pkt;
}

/* Sends that frame with its sum left to the port; what came of it, and the sum's two bytes. */
static struct rte_mbuf *carry_udp6(struct pair *pair, unsigned int from, uint8_t sum[2])
{
	struct rte_mbuf *pkt = udp6_frame(pair->pool);
	uint8_t head[60];

	wh_port_offload_udp6(pkt, 14);
	memcpy(head, rte_pktmbuf_mtod(pkt, const void *), sizeof(head));

	/* 2001 + db8 + 1 + 2001 + db8 + 2 + 13 + 17 */
	CU_ASSERT_EQUAL(rte_pktmbuf_mtod(pkt, const uint8_t *)[60], 0x5b);
	CU_ASSERT_EQUAL(rte_pktmbuf_mtod(pkt, const uint8_t *)[61], 0x93);
	CU_ASSERT_EQUAL(wh_port_send(pair->port[from], 0, &pkt, 1), 1);
	pkt = await(pair, 1 - from, 0, head, sizeof(head));
	CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
	memcpy(sum, rte_pktmbuf_mtod_offset(pkt, const uint8_t *, 60), 2);
	return pkt;
}

/* Two that share memory leave the sum as it is: who receives is told not to look at it. */
static void check_udp6_left(struct pair *pair, unsigned int from)
{
	uint8_t sum[2];
	struct rte_mbuf *pkt = carry_udp6(pair, from, sum);

	CU_ASSERT_FALSE(wh_port_udp_sum_unknown(pkt));
	CU_ASSERT_EQUAL(pkt->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK, RTE_MBUF_F_RX_L4_CKSUM_NONE);
	CU_ASSERT_EQUAL(sum[0], 0x5b);
	CU_ASSERT_EQUAL(sum[1], 0x93);
	rte_pktmbuf_free(pkt);
}

static void test_vhost(void)
{
	static const char *const forms[2] = {"vhost:%s/vhost", "virtio_user:%s/vhost"};
	struct pair pair;

	open_pair(&pair, forms, 2, MTU);
	for (unsigned int end = 0; end < 2; end++) {
		CU_ASSERT_EQUAL(pair.port[end]->steering, WH_PORT_STEER_PAIRED);
		CU_ASSERT(pair.port[end]->multi_segment_tx);
		CU_ASSERT(pair.port[end]->udp_sum_tx);
	}
	CU_ASSERT_EQUAL(groups_of(pair.port[0]), WH_PORT_GROUPS_ALL);
	CU_ASSERT_EQUAL(groups_of(pair.port[1]), WH_PORT_GROUPS_ALL);
	carry_all(&pair, MTU + 14);
	for (unsigned int from = 0; from < 2; from++)
		check_udp6_left(&pair, from);
	close_pair(&pair);
}

/* A split virtio queue has 32 to 32768 descriptors; others have what ethdev falls back on. */
static void test_descriptors(void)
{
	static const struct {
		uint16_t rx, tx, rx_given, tx_given;
	} cases[] = {{0, 0, 512, 512}, {8, 40000, 32, 32768}, {100, 1024, 100, 1024}};
	char text[WH_PORT_SPEC_TEXT_MAX + 1];
	char why[WH_PORT_WHY_BYTES];
	struct pair pair;

	make_pool(&pair, MTU);
	snprintf(text, sizeof(text), "vhost:%s/vhost", folder);
	open_end(&pair, 0, text, 1, MTU);
	snprintf(text, sizeof(text), "virtio_user:%s/vhost", folder);
	make_device(&pair, 1, text, 1, MTU);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct wh_port_config config = config_of(&pair, 1, 1, MTU);

		config.rx_descriptors = cases[i].rx;
		config.tx_descriptors = cases[i].tx;
		CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &pair.port[1], why, sizeof(why)), 0);
		CU_ASSERT_EQUAL(pair.port[1]->rx_descriptors, cases[i].rx_given);
		CU_ASSERT_EQUAL(pair.port[1]->tx_descriptors, cases[i].tx_given);
		wh_port_close(pair.port[1]);
		pair.port[1] = NULL;
		CU_ASSERT_EQUAL(rte_vdev_uninit(pair.name[1]), 0);
		make_device(&pair, 1, text, 1, MTU);
	}
	close_pair(&pair);
}

/* As far as one machine shows it: its nodes, and no crossing where there is one alone. */
static void test_nodes(void)
{
	static const char *const forms[2] = {
		"memif:%s/memif,role=server", "memif:%s/memif,rsize=8"};
	struct pair pair;
	int port_node = -2;
	int lcore_node = -2;

	open_pair(&pair, forms, 1, 1500);

	bool crosses =
		wh_port_crosses_nodes(pair.port[0], rte_get_main_lcore(), &port_node, &lcore_node);

	CU_ASSERT_EQUAL(port_node, rte_eth_dev_socket_id(pair.port[0]->ethdev));
	CU_ASSERT_EQUAL(lcore_node, (int)rte_socket_id());
	CU_ASSERT_EQUAL(crosses, port_node != -1 && port_node != lcore_node);
	close_pair(&pair);
}

/* A network of our own, where interfaces may be made: before EAL has threads. */
static void start(void)
{
	signal(SIGPIPE, SIG_IGN); /* what a vhost gets whose peer goes first */
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	has_netns = geteuid() == 0 && unshare(CLONE_NEWNET) == 0;
	if (!has_netns)
		printf("skipped: ports on the kernel's interfaces, for lack of rights\n");
	wh_test_eal_start();
}

static void stop(void)
{
	wh_test_eal_stop();
	(void)rmdir(folder);
}

static bool run(const char *command)
{
	return system(command) == 0;
}

static bool make_veth(const char *options)
{
	char command[256];

	if (!has_netns)
		return false;
	snprintf(command, sizeof(command),
		"ip link add wh0 %s type veth peer name wh1 && ip link set wh0 up && "
		"ip link set wh1 up",
		options);
	CU_ASSERT_FATAL(run(command));
	return true;
}

/* More than the ring of a receiver that looks away: what it has not is counted as missed. */
static void check_af_packet_missed(struct pair *pair)
{
	uint32_t slots = wh_port_packet_ring_for(1500, (uint32_t)sysconf(_SC_PAGESIZE)).slots;
	uint32_t sent = slots + 200;
	uint64_t received = 0;
	uint64_t all;
	struct rte_mbuf *pkts[32];
	struct wh_port_stats stats;

	for (uint32_t i = 0; i < sent; i++) {
		pkts[0] = wh_test_frame(pair->pool, i, 60);
		while (wh_port_send(pair->port[0], 0, pkts, 1) == 0)
			rte_delay_us_sleep(100);
	}
	while (wh_port_flush(pair->port[0], 0) > 0)
		rte_delay_us_sleep(100);
	rte_delay_us_sleep(50000);
	for (uint16_t count; (count = wh_port_receive(pair->port[1], 0, pkts, 32)) > 0;) {
		received += count;
		rte_pktmbuf_free_bulk(pkts, count);
	}
	for (int again = 0; again < 2; again++) {
		wh_port_stats_total(pair->port[1], &stats);
		CU_ASSERT(stats.dropped_pkts[WH_PORT_RX_MISSED] >= 200);
		/* The kernel may say a few words of its own. */
		all = received + stats.dropped_pkts[WH_PORT_RX_MISSED];
		CU_ASSERT(all >= sent && all < sent + 20);
	}
	wh_port_stats_total(pair->port[0], &stats);
	CU_ASSERT_EQUAL(stats.dropped_pkts[WH_PORT_RX_MISSED], 0);
}

static void test_af_packet(void)
{
	static const char *const forms[2] = {"af_packet:wh0", "af_packet:wh1"};
	struct pair pair;

	if (!make_veth("mtu 9000"))
		return;
	CU_ASSERT(run("ip link set wh1 mtu 9000"));
	open_pair(&pair, forms, 1, MTU);
	for (unsigned int end = 0; end < 2; end++) {
		CU_ASSERT_EQUAL(pair.port[end]->steering, WH_PORT_STEER_ONE_QUEUE);
		CU_ASSERT(pair.port[end]->multi_segment_tx);
		CU_ASSERT_EQUAL(groups_of(pair.port[end]), WH_PORT_GROUPS_PROMISCUOUS);
	}
	carry_all(&pair, MTU + 14);
	close_pair(&pair);

	/* an MTU of the kernel's that is larger stays what it is */
	open_pair(&pair, forms, 1, 1500);
	carry_all(&pair, 1514);
	CU_ASSERT(run("ip link show wh0 | grep -q 'mtu 9000 '"));
	check_af_packet_missed(&pair);
	close_pair(&pair);
	CU_ASSERT(run("ip link del wh0"));
}

/* Whether the kernel takes programs from us; they come with their license. */
static bool may_load_programs(void)
{
	const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr program = {.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)pass,
		.insn_cnt = RTE_DIM(pass),
		.license = (uintptr_t) "BSD"};
	long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof(program));

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

/* In a build with sanitizers: libxdp keeps what it allocated for a program. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static void carry_xdp(const char *form, const char *veth_options)
{
	const char *const forms[2] = {form, "af_packet:wh1"};
	struct pair pair;

	if (!make_veth(veth_options))
		return;
	CU_ASSERT(run("ip link set wh1 mtu 3400"));
	if (__lsan_disable != NULL)
		__lsan_disable();
	open_pair(&pair, forms, 1, 3400);
	if (__lsan_enable != NULL)
		__lsan_enable();
	CU_ASSERT_FALSE(pair.port[0]->multi_segment_tx);
	CU_ASSERT_EQUAL(groups_of(pair.port[0]), WH_PORT_GROUPS_PROMISCUOUS);
	CU_ASSERT(run("ip link show wh0 | grep -q 'mtu 3400 '"));
	carry_all(&pair, 3414);
	close_ends(&pair);
	rte_mempool_free(pair.pool); /* the driver keeps mbufs that the kernel had */
	CU_ASSERT(run("ip link del wh0"));
}

/*
 * Frames of full size come in only where mbufs have room for what XDP puts before them. Written as
 * for DPDK, the port may find an interface whose MTU is too small, and raises it.
 */
static void test_af_xdp(void)
{
	if (!may_load_programs()) {
		printf("skipped: af_xdp, for the kernel takes no XDP programs\n");
		return;
	}
	carry_xdp("af_xdp:wh0", "mtu 3400");
	carry_xdp("net_af_xdp0,iface=wh0", "mtu 1500");
}

static void expect_unready(const char *text, uint16_t mtu, int error, const char *says)
{
	struct wh_port_spec spec;
	struct wh_port_argument argument;
	char why[WH_PORT_WHY_BYTES] = "";

	CU_ASSERT_EQUAL_FATAL(wh_port_spec_read(text, 0, &spec, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(wh_port_spec_prepare(&spec, 1, mtu, &argument, why, sizeof(why)), error);
	CU_ASSERT_STRING_EQUAL(why, says);
}

static void test_interfaces(void)
{
	if (!make_veth("numrxqueues 2 numtxqueues 2"))
		return;
	expect_unready("af_packet:wh0", 1501, -EMSGSIZE,
		"interface wh0 has an MTU of 1500, port net_af_packet0 is to have 1501: "
		"'ip link set wh0 mtu 1501'");
	CU_ASSERT(run("ip link set wh0 down"));
	expect_unready(
		"af_packet:wh0", 1500, -ENETDOWN, "interface wh0 is down: 'ip link set wh0 up'");
	CU_ASSERT(run("ip link set wh0 mtu 3506 up"));
	expect_unready("af_xdp:wh0", 3400, -EINVAL,
		"interface wh0 spreads packets over 2 queues, of which port net_af_xdp0 would "
		"see one: 'ethtool -L wh0 combined 1'");
	CU_ASSERT(run("ip link set wh0 mtu 3507 up"));
	expect_unready("af_xdp:wh0", 3400, -EMSGSIZE,
		"interface wh0 has an MTU of 3507, AF_XDP takes up to 3506: "
		"'ip link set wh0 mtu 3400'");
	CU_ASSERT(run("ip link del wh0"));
}

/* The kernel's end of a tap is an interface like others. The tap's driver adds up the sum. */
static void test_tap(void)
{
	static const char *const forms[2] = {"tap:wh2", "af_packet:wh2"};
	struct pair pair;
	uint8_t sum[2];

	if (!has_netns)
		return;
	open_pair(&pair, forms, 1, 1500);
	CU_ASSERT(pair.port[0]->udp_sum_tx);
	CU_ASSERT_EQUAL(groups_of(pair.port[0]), WH_PORT_GROUPS_LISTED);
	carry_all(&pair, 1514);

	struct rte_mbuf *pkt = carry_udp6(&pair, 0, sum);
	const uint8_t *frame = rte_pktmbuf_mtod(pkt, const uint8_t *);

	/* 5b93 + 03e8 + 1680 + 000d + f001 + f002 + ab00 = 3010b, folded 010e, complement fef1 */
	CU_ASSERT_EQUAL(sum[0], 0xfe);
	CU_ASSERT_EQUAL(sum[1], 0xf1);
	CU_ASSERT_EQUAL(frame[66], 0xab);
	CU_ASSERT(wh_port_udp_sum_unknown(pkt));
	rte_pktmbuf_free(pkt);
	close_pair(&pair);
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts, in a network of our own", start},
	{"memif: two queues, jumbo frames, both ways", test_memif},
	{"memif: the largest MTU in the smallest slots", test_memif_slots},
	{"vhost and virtio_user: the same, and sums left to the port", test_vhost},
	{"descriptors within the device's limits", test_descriptors},
	{"nodes of port and lcore", test_nodes},
	{"af_packet: jumbo frames over a veth", test_af_packet},
	{"af_xdp: the largest frames over a veth", test_af_xdp},
	{"interfaces that are not ready get a sentence", test_interfaces},
	{"tap: the driver completes a UDP sum", test_tap},
	{"the EAL ends", stop},
	CU_TEST_INFO_NULL,
};
