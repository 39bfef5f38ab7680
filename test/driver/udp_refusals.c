/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Port `udp`, when the kernel does not take what it is to send: its loopback in a network of our
 * own, with a queue before it that passes nearly nothing, or without the address.
 */

#include "udp/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

const char wh_suite_name[] = "drivers/udp refusals";

#define HZ   WH_NS_PER_S
#define PKTS 10

/* Behind it comes the number of bytes that it keeps. */
#define SLOW_QUEUE "tc qdisc replace dev lo root tbf rate 8kbit burst 2000 limit "
#define NO_QUEUE   "tc qdisc del dev lo root"

/* Of the first packet. Packets that grow are not joined. */
#define PKT_BYTES  1000
#define HEAD_BYTES 100

static const struct wh_address own = {.family = WH_IPV4, .ip = {192, 0, 2, 1}};

/* A queue of the port, and a socket that gets what it sends. */
struct ends {
	struct wh_udp udp;
	int peer;
	struct wh_address to;
	uint8_t chunk[PKTS][PKT_BYTES];
};

static struct ends ends;
static bool has_netns;
static bool has_queues;

static void run(const char *command)
{
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
}

static void start(void)
{
	has_netns = geteuid() == 0 && unshare(CLONE_NEWNET) == 0;
	if (!has_netns) {
		printf("skipped: all, for lack of rights\n");
		return;
	}
	run("ip link set lo up");
	has_queues = system(SLOW_QUEUE "1000") == 0;
	if (has_queues)
		run(NO_QUEUE);
	else
		printf("skipped: queues, which the kernel has not\n");
}

static bool open_ends(bool reports_errors)
{
	const struct wh_address owns[] = {own, {0}};
	struct wh_udp_config config = {
		.mtu = 1500,
		.endpoint = {.hz = HZ, .places = WH_ENDPOINT_PLACES_MIN},
	};
	union wh_sockaddr name;
	socklen_t bytes = wh_sockaddr_of(&own, &name);
	char why[256] = "";

	if (!has_netns)
		return false;
	run("ip address replace 192.0.2.1/32 dev lo");
	CU_ASSERT_EQUAL_FATAL(
		wh_udp_sockets_open(owns, 0, reports_errors, &config.sockets, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL_FATAL(wh_udp_init(&ends.udp, &config), 0);
	ends.peer = socket(AF_INET, SOCK_DGRAM, 0);
	name.ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CU_ASSERT_EQUAL_FATAL(bind(ends.peer, &name.any, bytes), 0);
	CU_ASSERT_EQUAL_FATAL(getsockname(ends.peer, &name.any, &bytes), 0);
	CU_ASSERT_TRUE_FATAL(wh_sockaddr_read(&name, &ends.to));
	return true;
}

static void close_ends(void)
{
	wh_udp_free(&ends.udp);
	close(ends.peer);
}

/* The port's next turn begins with these packets. Each has its number in all bytes. */
static void fill(uint32_t growth_bytes)
{
	struct wh_udp_batch *batch = &ends.udp.batch;
	struct wh_out out[PKTS];

	for (uint32_t i = 0; i < PKTS; i++) {
		out[i] = (struct wh_out){
			.head = wh_udp_batch_slot(batch, i),
			.head_bytes = HEAD_BYTES + i * growth_bytes,
			.payload = ends.chunk[i],
			.payload_bytes = PKT_BYTES - HEAD_BYTES,
			.to = &ends.to,
		};
		memset(out[i].head, (int)i + 1, out[i].head_bytes);
		memset(ends.chunk[i], (int)i + 1, sizeof(ends.chunk[i]));
	}
	wh_udp_batch_fill(batch, out, PKTS, ends.udp.segments_max);
}

static uint64_t refused(void)
{
	return ends.udp.stats.dropped_pkts[WH_PORT_TX_REFUSED];
}

/* How many come to the peer, whole and in order; the last is the last one that was sent. */
static uint32_t count_arrived(uint32_t growth_bytes)
{
	uint8_t bytes[2048];
	uint32_t count = 0;
	uint8_t last = 0;
	ssize_t got;

	while ((got = recv(ends.peer, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
		CU_ASSERT(bytes[0] > last && bytes[0] <= PKTS);
		last = bytes[0];
		CU_ASSERT_EQUAL(got, PKT_BYTES + (last - 1) * growth_bytes);
		for (ssize_t i = 0; i < got; i++)
			CU_ASSERT_EQUAL(bytes[i], last);
		count++;
	}
	CU_ASSERT(count == 0 || last == PKTS);
	return count;
}

/* EAGAIN: what the socket has no room for waits, though its chunks change; none is counted lost. */
static void a_full_socket_waits(void)
{
	const int smallest = 1;
	uint64_t first;

	if (!has_queues || !open_ends(false))
		return;
	CU_ASSERT_EQUAL(setsockopt(ends.udp.config.sockets.fd[0], SOL_SOCKET, SO_SNDBUF, &smallest,
				sizeof(smallest)),
		0);
	run(SLOW_QUEUE "1000000");
	fill(1);
	(void)wh_udp_send(&ends.udp, HZ);
	first = ends.udp.stats.tx_pkts;
	CU_ASSERT(first > 0 && first < PKTS - 2);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_full, 1);
	CU_ASSERT_TRUE(wh_udp_batch_waits(&ends.udp.batch));
	memset(ends.chunk, 0xee, sizeof(ends.chunk));
	(void)wh_udp_send(&ends.udp, HZ);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_pkts, first);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_full, 2);
	run(NO_QUEUE); /* and nothing that is in it */
	(void)wh_udp_send(&ends.udp, HZ);
	CU_ASSERT_FALSE(wh_udp_batch_waits(&ends.udp.batch));
	CU_ASSERT_EQUAL(ends.udp.stats.tx_pkts, PKTS);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_full, 2);
	CU_ASSERT_EQUAL(refused(), 0);
	CU_ASSERT(count_arrived(1) >= PKTS - first);
	close_ends();
}

/*
 * ENOBUFS, which only sockets that report errors get: a packet that the interface's queue drops is
 * counted, the next ones have their attempt, and nothing waits.
 */
static void a_full_queue_drops(void)
{
	if (!has_queues || !open_ends(true))
		return;
	run(SLOW_QUEUE "3000");
	fill(1);
	(void)wh_udp_send(&ends.udp, HZ);
	CU_ASSERT_FALSE(wh_udp_batch_waits(&ends.udp.batch));
	CU_ASSERT(refused() >= PKTS / 2);
	CU_ASSERT(refused() < PKTS);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_pkts + refused(), PKTS);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_full, 0);
	CU_ASSERT_EQUAL(ends.udp.segments_max, WH_UDP_BURST);
	run(NO_QUEUE);
	while (recv(ends.peer, ends.chunk, sizeof(ends.chunk), MSG_DONTWAIT) > 0)
		;

	uint64_t dropped = refused();

	fill(1);
	(void)wh_udp_send(&ends.udp, HZ);
	CU_ASSERT_EQUAL(refused(), dropped);
	CU_ASSERT_EQUAL(count_arrived(1), PKTS);
	close_ends();
}

/* A pending ICMP error fails the next call, which may be to anyone: its packets have another. */
static void a_pending_error_costs_none(void)
{
	const struct wh_address nobody = {.family = WH_IPV4, .ip = {127, 0, 0, 1}, .port = 9};
	union wh_sockaddr name;

	if (!open_ends(true))
		return;
	CU_ASSERT_EQUAL(sendto(ends.udp.config.sockets.fd[0], "x", 1, 0, &name.any,
				wh_sockaddr_of(&nobody, &name)),
		1);
	fill(0);
	(void)wh_udp_send(&ends.udp, HZ);
	CU_ASSERT_TRUE(atomic_load(&ends.udp.errors_due));
	CU_ASSERT_EQUAL(refused(), 0);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_pkts, PKTS);
	CU_ASSERT_EQUAL(count_arrived(0), PKTS);
	close_ends();
}

/* What is sent meanwhile is counted; with the address the port sends again, in joined messages. */
static void an_address_goes_and_comes(bool reports_errors)
{
	if (!open_ends(reports_errors))
		return;
	run("ip address del 192.0.2.1/32 dev lo");
	fill(0);
	CU_ASSERT_EQUAL(ends.udp.batch.messages, 1);
	(void)wh_udp_send(&ends.udp, HZ);
	CU_ASSERT_FALSE(wh_udp_batch_waits(&ends.udp.batch));
	CU_ASSERT_EQUAL(refused(), PKTS);
	CU_ASSERT_EQUAL(wh_udp_receive(&ends.udp, HZ), 0);
	run("ip address add 192.0.2.1/32 dev lo");
	fill(0);
	CU_ASSERT_EQUAL(ends.udp.batch.messages, 1);
	(void)wh_udp_send(&ends.udp, HZ);
	CU_ASSERT_EQUAL(refused(), PKTS);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_pkts, PKTS);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_bytes, PKTS * PKT_BYTES);
	CU_ASSERT_EQUAL(count_arrived(0), PKTS);
	close_ends();
}

static void an_address_goes(void)
{
	an_address_goes_and_comes(false);
}

static void an_address_goes_where_errors_count(void)
{
	an_address_goes_and_comes(true);
}

/* As a kernel before 5.0, for the rest of this process: UDP has no options of its own. */
static void take_udp_options(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOPROTOOPT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	CU_ASSERT_EQUAL_FATAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CU_ASSERT_EQUAL_FATAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* Each packet is a message of its own, and all arrive. Told is which of both is missing. */
static void an_old_kernel_neither_cuts_nor_joins(void)
{
	struct wh_udp_sockets can = {.sends_segments = true, .receives_segments = true};
	char text[256] = "";

	CU_ASSERT_FALSE(wh_udp_old_kernel_text(&can, text, sizeof(text)));
	can.receives_segments = false;
	CU_ASSERT_TRUE(wh_udp_old_kernel_text(&can, text, sizeof(text)));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "not join packets that arrive (UDP_GRO),"));
	if (!has_netns)
		return;
	take_udp_options();
	CU_ASSERT_TRUE_FATAL(open_ends(false));
	CU_ASSERT_TRUE(wh_udp_old_kernel_text(&ends.udp.config.sockets, text, sizeof(text)));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "(UDP_SEGMENT) or join those that arrive (UDP_GRO),"));
	fill(0);
	CU_ASSERT_EQUAL(ends.udp.batch.messages, PKTS);
	(void)wh_udp_send(&ends.udp, HZ);
	CU_ASSERT_EQUAL(ends.udp.stats.tx_pkts, PKTS);
	CU_ASSERT_EQUAL(refused(), 0);
	CU_ASSERT_EQUAL(count_arrived(0), PKTS);
	close_ends();
}

CU_TestInfo wh_tests[] = {
	{"the network begins", start},
	{"a full socket waits", a_full_socket_waits},
	{"a full queue drops", a_full_queue_drops},
	{"a pending error costs none", a_pending_error_costs_none},
	{"an address goes", an_address_goes},
	{"an address goes where errors count", an_address_goes_where_errors_count},
	{"an old kernel neither cuts nor joins", an_old_kernel_neither_cuts_nor_joins},
	CU_TEST_INFO_NULL,
};
