/* SPDX-License-Identifier: BSD-3-Clause */

/* Port `udp`: messages, arrival times, and the kernel's sockets on loopback. */

#include "udp/udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include "udp/host_address.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/udp";

#define HZ WH_NS_PER_S

static const struct wh_address loopback4 = {.family = WH_IPV4, .ip = {127, 0, 0, 1}};
static const struct wh_address loopback6 = {.family = WH_IPV6, .ip = {[15] = 1}};

/* A batch, and packets in its slots: `bytes` long, of which `chunk_bytes` lie elsewhere. */
struct load {
	struct wh_udp_batch batch;
	struct wh_out out[WH_UDP_BURST];
	uint8_t chunk[WH_UDP_BURST][1024];
};

static struct load load;

static void begin(void)
{
	CU_ASSERT_EQUAL_FATAL(wh_udp_batch_init(&load.batch, 1500), 0);
}

static void put(uint32_t i, uint32_t bytes, uint32_t chunk_bytes, const struct wh_address *to)
{
	uint8_t *slot = wh_udp_batch_slot(&load.batch, i);

	memset(slot, (int)i + 1, bytes - chunk_bytes);
	memset(load.chunk[i], (int)i + 1, chunk_bytes);
	load.out[i] = (struct wh_out){
		.head = slot,
		.head_bytes = chunk_bytes > 0 ? bytes - chunk_bytes : 64,
		.payload = chunk_bytes > 0 ? load.chunk[i] : slot + 64,
		.payload_bytes = chunk_bytes > 0 ? chunk_bytes : bytes - 64,
		.to = to,
	};
}

/* The length of segments that a message asks for; 0: none. */
static uint32_t segment_of(uint32_t message)
{
	struct msghdr *header = &load.batch.message[message].msg_hdr;
	struct cmsghdr *control = CMSG_FIRSTHDR(header);
	uint16_t segment;

	if (control == NULL)
		return 0;
	CU_ASSERT_EQUAL(control->cmsg_level, IPPROTO_UDP);
	CU_ASSERT_EQUAL(control->cmsg_type, UDP_SEGMENT);
	memcpy(&segment, CMSG_DATA(control), sizeof(segment));
	return segment;
}

static void packets_are_joined_by_peer_and_length(void)
{
	const struct wh_address other = {.family = WH_IPV4, .ip = {127, 0, 0, 2}, .port = 9};
	const struct wh_address same = other;

	begin();
	put(0, 1000, 0, &loopback4);
	put(1, 1000, 0, &loopback4);
	put(2, 900, 0, &loopback4);  /* shorter: the last one */
	put(3, 1000, 0, &loopback4); /* so this one begins anew */
	put(4, 1000, 0, &other);
	put(5, 1000, 700, &same); /* an equal address elsewhere */
	put(6, 1001, 0, &other);  /* longer */
	put(7, 100, 0, &loopback6);
	wh_udp_batch_fill(&load.batch, load.out, 8, WH_UDP_BURST);
	CU_ASSERT_EQUAL_FATAL(load.batch.messages, 5);
	CU_ASSERT_EQUAL(wh_udp_batch_message_pkts(&load.batch, 0), 3);
	CU_ASSERT_EQUAL(segment_of(0), 1000);
	CU_ASSERT_EQUAL(wh_udp_batch_message_pkts(&load.batch, 1), 1);
	CU_ASSERT_EQUAL(segment_of(1), 0);
	CU_ASSERT_EQUAL(wh_udp_batch_message_pkts(&load.batch, 2), 2);
	CU_ASSERT_EQUAL(segment_of(2), 1000);
	CU_ASSERT_EQUAL(load.batch.message[2].msg_hdr.msg_iovlen, 3);
	CU_ASSERT_EQUAL(wh_udp_batch_message_pkts(&load.batch, 3), 1);
	CU_ASSERT_EQUAL(load.batch.to[4].any.sa_family, AF_INET6);
	wh_udp_batch_free(&load.batch);
}

static void a_message_has_its_limits(void)
{
	begin();
	for (uint32_t i = 0; i < WH_UDP_BURST; i++)
		put(i, 1472, 0, &loopback4);
	wh_udp_batch_fill(&load.batch, load.out, WH_UDP_BURST, WH_UDP_BURST);
	/* 44 packets of 1472 bytes are in 65,487 bytes. */
	CU_ASSERT_EQUAL_FATAL(load.batch.messages, 2);
	CU_ASSERT_EQUAL(wh_udp_batch_message_pkts(&load.batch, 0), 44);
	load.batch.next = 2;
	wh_udp_batch_fill(&load.batch, load.out, WH_UDP_BURST, 1);
	CU_ASSERT_EQUAL(load.batch.messages, WH_UDP_BURST);
	wh_udp_batch_free(&load.batch);
}

static void what_waits_is_split_and_kept(void)
{
	struct wh_address gone = loopback4;

	begin();
	put(0, 100, 0, &loopback6);
	put(1, 1000, 600, &gone);
	put(2, 1000, 600, &gone);
	put(3, 500, 0, &gone);
	wh_udp_batch_fill(&load.batch, load.out, 4, WH_UDP_BURST);
	CU_ASSERT_EQUAL_FATAL(load.batch.messages, 2);
	load.batch.next = 1;
	memset(&gone, 0xee, sizeof(gone)); /* its session has ended */
	wh_udp_batch_split(&load.batch);
	wh_udp_batch_keep(&load.batch);
	memset(load.chunk, 0xee, sizeof(load.chunk));
	CU_ASSERT_EQUAL_FATAL(load.batch.messages, 4);
	for (uint32_t i = 1; i < 4; i++) {
		const struct msghdr *header = &load.batch.message[i].msg_hdr;
		uint32_t bytes = 0;

		CU_ASSERT_EQUAL(segment_of(i), 0);
		CU_ASSERT_EQUAL(load.batch.to[i].ipv4.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
		for (size_t part = 0; part < header->msg_iovlen; part++) {
			const uint8_t *at = header->msg_iov[part].iov_base;

			for (size_t b = 0; b < header->msg_iov[part].iov_len; b++, bytes++)
				CU_ASSERT_EQUAL(at[b], i + 1);
		}
		CU_ASSERT_EQUAL(bytes, i < 3 ? 1000 : 500);
	}
	wh_udp_batch_free(&load.batch);
}

static void stamps_become_cycles(void)
{
	struct wh_stamps stamps = {.hz = 2 * HZ, .distance_ns = 4000};

	wh_stamps_read(&stamps, 100000, 9000, 5000);
	CU_ASSERT_EQUAL(wh_stamps_tsc(&stamps, 8000), 98000);
	CU_ASSERT_EQUAL(wh_stamps_tsc(&stamps, 7000), 98000); /* not before the previous one */
	CU_ASSERT_EQUAL(wh_stamps_tsc(&stamps, 9000), 100000);
	CU_ASSERT_EQUAL(wh_stamps_tsc(&stamps, 9001), 100000); /* from the future */
	CU_ASSERT_EQUAL(wh_stamps_tsc(&stamps, 0), 100000);    /* none */
	/* The CPU was lost between the readings: the wall clock is 30 us ahead. */
	wh_stamps_read(&stamps, 110000, 39000, 35000);
	CU_ASSERT_EQUAL(wh_stamps_tsc(&stamps, 10000), 100000);
	/* The wall clock was set by 2 ms: the stamps of one call are not used. */
	wh_stamps_read(&stamps, 200000, 2010000, 6000);
	CU_ASSERT_EQUAL(wh_stamps_tsc(&stamps, 2009000), 200000);
	wh_stamps_read(&stamps, 300000, 2011000, 7000);
	CU_ASSERT_EQUAL(wh_stamps_tsc(&stamps, 2010000), 298000);
}

/* Two queues on loopback with real sockets. */
struct ends {
	struct wh_udp udp;
	int stranger; /* connected to it */
};

static struct ends ends;

static void open_ends(const struct wh_address *own)
{
	const struct wh_address owns[] = {own->family == WH_IPV4 ? *own : (struct wh_address){0},
		own->family == WH_IPV6 ? *own : (struct wh_address){0}};
	struct wh_udp_config config = {
		.mtu = 1500,
		.endpoint = {.hz = HZ, .places = WH_ENDPOINT_PLACES_MIN},
	};
	struct wh_address to = *own;
	union wh_sockaddr name;
	char why[256] = "";

	CU_ASSERT_EQUAL_FATAL(
		wh_udp_sockets_open(owns, 0, false, &config.sockets, why, sizeof(why)), 0);
	CU_ASSERT_NOT_EQUAL(config.sockets.port, 0);
	to.port = config.sockets.port;
	CU_ASSERT_EQUAL_FATAL(wh_udp_init(&ends.udp, &config), 0);
	ends.stranger = socket(own->family == WH_IPV4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	CU_ASSERT_EQUAL_FATAL(connect(ends.stranger, &name.any, wh_sockaddr_of(&to, &name)), 0);
}

static void close_ends(void)
{
	wh_udp_free(&ends.udp);
	close(ends.stranger);
}

/* A message of `bytes`, cut by the kernel into datagrams of `segment`; 0: not cut. */
static void say(uint32_t bytes, uint16_t segment)
{
	static const uint8_t zeros[60000];
	struct iovec part = {.iov_base = (void *)(uintptr_t)zeros, .iov_len = bytes};
	union wh_udp_control control;
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (segment != 0) {
		header.msg_control = control.bytes;
		header.msg_controllen = sizeof(control.bytes);
		*CMSG_FIRSTHDR(&header) = (struct cmsghdr){.cmsg_level = IPPROTO_UDP,
			.cmsg_type = UDP_SEGMENT,
			.cmsg_len = CMSG_LEN(sizeof(segment))};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&header)), &segment, sizeof(segment));
	}
	CU_ASSERT_EQUAL(sendmsg(ends.stranger, &header, 0), (ssize_t)bytes);
}

static uint64_t all_bad(void)
{
	uint64_t sum = 0;

	for (uint32_t i = WH_WIRE_OK + 1; i < WH_WIRE_REASONS; i++)
		sum += ends.udp.endpoint.stats.bad[i];
	return sum;
}

/* Each datagram is judged by itself, whatever lengths a stranger's batches have. */
static void each_datagram_is_judged(const struct wh_address *own)
{
	open_ends(own);
	say(0, 0);
	say(1, 0);
	say(63, 0);
	say(64, 0);
	say(1400, 0);
	say(50 * 1000 + 1, 1000); /* the last one has one byte */
	say(40 * 64, 64);
	say(3 * 7 + 2, 7);
	(void)wh_udp_receive(&ends.udp, HZ);
	(void)wh_udp_receive(&ends.udp, HZ);
	CU_ASSERT_EQUAL(ends.udp.endpoint.stats.packets, 5 + 51 + 40 + 4);
	CU_ASSERT_EQUAL(all_bad(), 5 + 51 + 40 + 4);
	CU_ASSERT_EQUAL(ends.udp.stats.rx_pkts, 100);
	CU_ASSERT_EQUAL(ends.udp.stats.rx_bytes, 1528 + 50001 + 2560 + 23);
	CU_ASSERT_EQUAL(ends.udp.stats.dropped_pkts[WH_PORT_RX_MISSED], 0);
	close_ends();
}

static void datagrams_of_ipv4(void)
{
	each_datagram_is_judged(&loopback4);
}

static void datagrams_of_ipv6(void)
{
	struct wh_udp_own own;

	if (wh_udp_own_named(&loopback6, &own) == 0)
		each_datagram_is_judged(&loopback6);
}

/* More than the receive buffer holds: what the kernel drops is counted when the next one comes. */
static void overflow_is_counted(void)
{
	const int small = 4096;
	uint64_t missed;

	open_ends(&loopback4);
	CU_ASSERT_EQUAL(setsockopt(ends.udp.config.sockets.fd[0], SOL_SOCKET, SO_RCVBUF, &small,
				sizeof(small)),
		0);
	for (uint32_t i = 0; i < 200; i++)
		say(1000, 0);
	while (wh_udp_receive(&ends.udp, HZ) > 0)
		;
	say(1000, 0);
	CU_ASSERT_EQUAL(wh_udp_receive(&ends.udp, HZ), 1);
	missed = ends.udp.stats.dropped_pkts[WH_PORT_RX_MISSED];
	CU_ASSERT(missed > 150);
	CU_ASSERT_EQUAL(missed + ends.udp.stats.rx_pkts, 201);
	close_ends();
}

/* A turn ends after WH_UDP_RECEIVE_MAX datagrams and what is left of the last call. */
static void a_flood_does_not_hold_a_turn(void)
{
	int32_t taken;

	open_ends(&loopback4);
	for (uint32_t i = 0; i < 30; i++)
		say(44 * 1000, 1000);
	taken = wh_udp_receive(&ends.udp, HZ);
	CU_ASSERT(taken >= WH_UDP_RECEIVE_MAX);
	CU_ASSERT(taken <= WH_UDP_RECEIVE_MAX + WH_UDP_MESSAGES * 64);
	close_ends();
}

static void sockets_say_what_is_wrong(void)
{
	const struct wh_address alien = {.family = WH_IPV4, .ip = {203, 0, 113, 9}};
	const struct wh_address owns[] = {loopback4, {0}};
	const struct wh_address aliens[] = {alien, {0}};
	struct wh_udp_sockets first, second;
	char why[256] = "";

	CU_ASSERT_EQUAL_FATAL(wh_udp_sockets_open(owns, 0, false, &first, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(wh_udp_sockets_open(owns, first.port, false, &second, why, sizeof(why)),
		-EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "of 127.0.0.1 is in use"));
	CU_ASSERT_EQUAL(second.fd[0], -1);
	CU_ASSERT_EQUAL(
		wh_udp_sockets_open(aliens, 0, false, &second, why, sizeof(why)), -EADDRNOTAVAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "203.0.113.9 is no address of this host"));
	CU_ASSERT(first.receive_bytes >= 65536);
	wh_udp_sockets_close(&first);
}

/* ICMP comes to sockets that report errors only, and costs no datagram. */
static void an_error_is_a_hint(void)
{
	const struct wh_address owns[] = {loopback4, {0}};
	struct wh_neighbour_watch watch;
	struct wh_udp_config config = {
		.mtu = 1500,
		.endpoint = {.hz = HZ, .places = WH_ENDPOINT_PLACES_MIN},
	};
	struct wh_address nobody = loopback4;
	union wh_sockaddr name;
	char why[256] = "";

	nobody.port = 9;
	CU_ASSERT_EQUAL_FATAL(
		wh_udp_sockets_open(owns, 0, true, &config.sockets, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL_FATAL(wh_udp_init(&ends.udp, &config), 0);
	wh_udp_watch(&ends.udp, &watch, &nobody);
	CU_ASSERT_EQUAL(
		sendto(config.sockets.fd[0], "x", 1, 0, &name.any, wh_sockaddr_of(&nobody, &name)),
		1);
	CU_ASSERT_EQUAL(wh_udp_receive(&ends.udp, HZ), 0);
	CU_ASSERT_EQUAL(watch.error, WH_NEIGHBOUR_ERROR_PORT);
	CU_ASSERT_EQUAL(watch.errors, 1);
	CU_ASSERT_EQUAL(watch.from.family, WH_IPV4);
	CU_ASSERT_EQUAL(wh_udp_receive(&ends.udp, HZ), 0);
	CU_ASSERT_EQUAL(watch.errors, 1);
	wh_udp_free(&ends.udp);
}

static void own_addresses(void)
{
	const struct wh_address far = {.family = WH_IPV4, .ip = {127, 9, 9, 9}};
	const struct wh_address alien = {.family = WH_IPV4, .ip = {203, 0, 113, 9}};
	struct wh_udp_own own;

	CU_ASSERT_EQUAL(wh_udp_own_main(WH_IPV4, &own), 0);
	CU_ASSERT_EQUAL(own.address.family, WH_IPV4);
	CU_ASSERT(own.prefix_bits > 0 && own.prefix_bits <= 32);
	CU_ASSERT_EQUAL(wh_udp_own_toward(&far, &own), 0);
	CU_ASSERT_EQUAL(own.address.ip[0], 127);
	CU_ASSERT_EQUAL(own.prefix_bits, 8);
	CU_ASSERT_TRUE(own.is_loopback);
	CU_ASSERT_EQUAL(own.mtu, WH_UDP_MTU_MAX); /* loopback's is larger */
	CU_ASSERT_EQUAL(wh_udp_own_named(&alien, &own), -EADDRNOTAVAIL);
	CU_ASSERT_EQUAL(wh_udp_own_named(&far, &own), 0);
	CU_ASSERT_EQUAL(own.address.ip[3], 9);
}

CU_TestInfo wh_tests[] = {
	{"packets are joined by peer and length", packets_are_joined_by_peer_and_length},
	{"a message has its limits", a_message_has_its_limits},
	{"what waits is split and kept", what_waits_is_split_and_kept},
	{"stamps become cycles", stamps_become_cycles},
	{"datagrams of IPv4", datagrams_of_ipv4},
	{"datagrams of IPv6", datagrams_of_ipv6},
	{"overflow is counted", overflow_is_counted},
	{"a flood does not hold a turn", a_flood_does_not_hold_a_turn},
	{"sockets say what is wrong", sockets_say_what_is_wrong},
	{"an error is a hint", an_error_is_a_hint},
	{"own addresses", own_addresses},
	CU_TEST_INFO_NULL,
};
