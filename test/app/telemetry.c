/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The commands as a client of DPDK's socket meets them, of a host that is made by hand: nothing
 * runs, and every counter is what the test has written.
 */

#include "telemetry/telemetry.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#include "../driver/eal.h"
#include "../rig/end.h"
#include "base/assert.h"
#include "unit.h"

const char wh_suite_name[] = "telemetry";

#define QUEUES       2
#define PLACES       2048
#define TRANSMITTERS 600 /* more than one answer holds */
#define ANSWER_BYTES (16 << 10)

static struct wh_runtime runtime;
static struct wh_host host;
static struct wh_jobs jobs;
static struct wh_host_settings settings;
static struct wh_session *transmitter[TRANSMITTERS];
static struct wh_session *receiver;
static uint8_t *chunk_memory;
static int client;

static const struct wh_address peer4 = {.family = WH_IPV4, .ip = {192, 0, 2, 9}, .port = 5760};
static const struct wh_address peer6 = {
	.family = WH_IPV6,
	.ip = {0x20, 0x01, 0x0d, 0xb8, [15] = 7},
	.port = 5761,
};

static void start_eal(void)
{
	static char words[][32] = {"telemetry", "--no-huge", "--no-shconf", "-m", "64", "--no-pci",
		"--iova-mode=va", "-l", "0", "--log-level=error", "--file-prefix", ""};
	char *args[RTE_DIM(words) + 1] = {NULL};
	int count = RTE_DIM(words);

	snprintf(words[count - 1], sizeof(words[0]), "wavehaul-test-%d", (int)getpid());
	for (int i = 0; i < count; i++)
		args[i] = words[i];
	CU_ASSERT_EQUAL_FATAL(rte_eal_init(count, args), count - 1);
}

static struct sockaddr_un socket_address(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	return address;
}

static int connect_client(void)
{
	const struct sockaddr_un address = socket_address();
	char handshake[1024];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	WH_ASSERT(fd >= 0);
	WH_ASSERT(connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
	WH_ASSERT(recv(fd, handshake, sizeof(handshake), 0) > 0);
	return fd;
}

static void start(void)
{
	start_eal();
	client = connect_client();
}

static void stop(void)
{
	const struct sockaddr_un address = socket_address();

	close(client);
	unlink(address.sun_path);
	rmdir(rte_eal_get_runtime_dir());
	wh_test_eal_stop();
}

/* What a command is answered with, below its name: a new reference. */
static json_t *ask_by(int fd, const char *command)
{
	static __thread char answer[ANSWER_BYTES];
	char name[64];
	json_error_t error;

	WH_ASSERT(send(fd, command, strlen(command), 0) == (ssize_t)strlen(command));

	ssize_t bytes = recv(fd, answer, sizeof(answer), 0);

	WH_ASSERT(bytes > 0);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, ","), command);

	json_t *whole = json_loadb(answer, (size_t)bytes, 0, &error);

	if (whole == NULL)
		fprintf(stderr, "\n    '%s': %s in '%.*s'\n", command, error.text, (int)bytes,
			answer);
	WH_ASSERT(whole != NULL && json_object_get(whole, name) != NULL);

	json_t *found = json_incref(json_object_get(whole, name));

	json_decref(whole);
	return found;
}

static json_t *ask(const char *command)
{
	return ask_by(client, command);
}

static json_t *ask_about(const char *command, uint64_t number)
{
	char text[64];

	snprintf(text, sizeof(text), "%s,%" PRIu64, command, number);
	return ask(text);
}

static uint64_t number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fprintf(stderr, "\n    no number '%s'\n", key);
	CU_ASSERT_TRUE_FATAL(json_is_integer(value));
	return (uint64_t)json_integer_value(value);
}

static void expect_number(const json_t *object, const char *key, uint64_t expected)
{
	uint64_t value = number_of(object, key);

	CU_ASSERT_EQUAL(value, expected);
	if (value != expected)
		fprintf(stderr, "\n    %s is %" PRIu64 ", not %" PRIu64 "\n", key, value, expected);
}

static void expect_text(const json_t *object, const char *key, const char *expected)
{
	const char *value = json_string_value(json_object_get(object, key));

	CU_ASSERT_PTR_NOT_NULL_FATAL(value);
	CU_ASSERT_STRING_EQUAL(value, expected);
}

static void expect_null(const char *command)
{
	json_t *answer = ask(command);

	CU_ASSERT_TRUE(json_is_null(answer));
	if (!json_is_null(answer))
		fprintf(stderr, "\n    '%s' is answered\n", command);
	json_decref(answer);
}

/* The host */

static void open_shard(uint32_t number)
{
	struct wh_netif *netif = &host.netif[number];
	const struct wh_endpoint_config config = {.hz = host.ctx.hz, .places = PLACES};

	*netif = (struct wh_netif){0};
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(&netif->endpoint, &config), 0);
	host.ctx.shard[number].endpoint = &netif->endpoint;
}

static void open_host(void)
{
	settings.ports = 1;
	settings.queues = QUEUES;
	host = (struct wh_host){
		.ctx = {.settings = &settings, .hz = rte_get_tsc_hz()},
		.runtime = &runtime,
		.ports = 1,
		.shards = QUEUES,
	};
	snprintf(host.spec[0].ethdev, sizeof(host.spec[0].ethdev), "net_memif0");
	host.at[0].port = calloc(1, sizeof(*host.at[0].port));
	host.netif = aligned_alloc(64, RTE_ALIGN_CEIL(QUEUES * sizeof(*host.netif), 64));
	runtime.loop = calloc(WH_SETTINGS_CPUS_MAX, sizeof(*runtime.loop));
	chunk_memory = aligned_alloc(WH_CHUNK_ALIGN, 16 * WH_CHUNK_ALIGN);
	WH_ASSERT(host.at[0].port != NULL && host.netif != NULL && runtime.loop != NULL);
	WH_ASSERT(chunk_memory != NULL);
	host.at[0].port->queues = QUEUES;
	host.at[0].port->mtu = 9000;
	host.at[0].port->link_up = true;
	host.at[0].port->steering = WH_PORT_STEER_PAIRED;
	for (uint32_t i = 0; i < QUEUES; i++)
		open_shard(i);
	runtime.cores = (struct wh_cores){
		.count = 2,
		.core = {{.cpu = 3, .works = true}, {.cpu = 5, .receives = 3, .sends = 2}},
	};
	rte_spinlock_init(&jobs.burial);
}

static struct wh_session_config session_config(uint64_t rate_bps)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, host.ctx.hz, 4 * WH_CHUNK_ALIGN, 4, 64);
	config.rate_bps = rate_bps;
	config.chunk_memory = chunk_memory; /* nobody writes to it */
	return config;
}

static void open_transmitters(uint32_t shard, uint32_t count, uint64_t rate_bps)
{
	const struct wh_session_config config = session_config(rate_bps);
	struct wh_endpoint *endpoint = &host.netif[shard].endpoint;

	endpoint->tx->cursor = 900; /* so that later ones get the places below the first ones' */
	for (uint32_t i = 0; i < count; i++) {
		transmitter[i] = wh_session_open(&config, &peer4, "job", WH_OBJECT_BYTES_UNKNOWN);
		CU_ASSERT_PTR_NOT_NULL_FATAL(transmitter[i]);
		CU_ASSERT_EQUAL_FATAL(wh_endpoint_open(endpoint, transmitter[i]), 0);
		wh_endpoint_send_poll(endpoint, rte_rdtsc());
	}
}

static void open_receiver(uint32_t shard)
{
	const struct wh_session_config config = session_config(0);
	struct wh_endpoint *endpoint = &host.netif[shard].endpoint;

	endpoint->rx->cursor = PLACES / 2 - 1; /* it gets the last place of receivers */

	/* Any connection ID of that place. */
	uint32_t cid = PLACES + wh_half_offer(endpoint->rx);
	struct wh_open_params params = {
		.initiator_cid = 1,
		.profile = config.profile->number,
		.payload_bytes = 1408,
		.chunk_bytes = config.chunk_bytes,
		.window_pkts = 64,
		.period_us = config.profile->feedback.period_us,
		.first_pn = 1,
		.object_bytes = WH_OBJECT_BYTES_UNKNOWN,
		.name_bytes = 9,
		.name = "a \"name\"\n",
	};

	receiver =
		wh_session_accept(&config, rte_rdtsc(), cid, &peer6, &params, host.ctx.hz / 1000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(receiver);
	CU_ASSERT_EQUAL(cid % PLACES, PLACES / 2 - 1);
	atomic_store(&endpoint->session[cid & (PLACES - 1)], receiver);
}

static void close_host(void)
{
	for (uint32_t i = 0; i < TRANSMITTERS; i++)
		wh_session_destroy(transmitter[i]);
	wh_session_destroy(receiver);
	for (uint32_t i = 0; i < QUEUES; i++)
		wh_endpoint_free(&host.netif[i].endpoint);
	free(chunk_memory);
	free(runtime.loop);
	free(host.netif);
	free(host.at[0].port);
	memset(&host, 0xee, sizeof(host));
	memset(&jobs, 0xee, sizeof(jobs));
}

/* The cases, in this order: sessions come, and nobody is watched any more at the end. */

static void test_before(void)
{
	wh_telemetry_stop();
	expect_null("/wavehaul/sessions");
	open_host();
	wh_telemetry_start(&host, &jobs);
}

static void test_no_sessions(void)
{
	json_t *list = ask("/wavehaul/sessions");

	CU_ASSERT_TRUE(json_is_array(list));
	CU_ASSERT_EQUAL(json_array_size(list), 0);
	json_decref(list);
}

static uint64_t id_at(const json_t *list, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(list, i));
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* The answer is `count` of the sorted ids from `from` on. */
static void expect_ids(const json_t *list, const uint64_t *ids, size_t from, size_t count)
{
	CU_ASSERT_EQUAL_FATAL(json_array_size(list), count);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL(id_at(list, i), ids[from + i]);
}

static void test_pages(void)
{
	uint64_t ids[TRANSMITTERS + 1];

	open_receiver(1);
	open_transmitters(0, TRANSMITTERS, 1000000000);
	for (uint32_t i = 0; i < TRANSMITTERS; i++)
		ids[i] = wh_session_cid(transmitter[i]);
	ids[TRANSMITTERS] = (UINT64_C(1) << 32) + wh_session_cid(receiver);
	qsort(ids, TRANSMITTERS + 1, sizeof(ids[0]), compare_ids);
	CU_ASSERT_EQUAL(ids[TRANSMITTERS], (UINT64_C(1) << 32) + wh_session_cid(receiver));

	static const struct {
		size_t first; /* of the sorted ids */
		uint64_t beyond;
		size_t from;
		size_t count;
	} cases[] = {
		{0, 0, 0, 512},
		{89, 0, 89, 512}, /* just as many as fit */
		{90, 0, 90, 511},
		{511, 1, 512, 89},
		{TRANSMITTERS, 0, TRANSMITTERS, 1},
		{TRANSMITTERS, 1, TRANSMITTERS + 1, 0},
	};
	json_t *list = ask("/wavehaul/sessions");

	expect_ids(list, ids, 0, 512);
	json_decref(list);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		list = ask_about("/wavehaul/sessions", ids[cases[i].first] + cases[i].beyond);
		expect_ids(list, ids, cases[i].from, cases[i].count);
		json_decref(list);
	}
}

/* Of the transmitters the one that has their first place, just above the receiver's. */
static void test_first_transmitter(void)
{
	uint32_t i = 0;

	while (i < TRANSMITTERS - 1 && wh_session_cid(transmitter[i]) % PLACES != PLACES / 2)
		i++;
	CU_ASSERT_EQUAL(wh_session_cid(transmitter[i]) % PLACES, PLACES / 2);

	json_t *session = ask_about("/wavehaul/session", wh_session_cid(transmitter[i]));

	expect_text(session, "role", "transmitter");
	json_decref(session);
}

static void test_transmitter(void)
{
	json_t *session = ask_about("/wavehaul/session", wh_session_cid(transmitter[7]));

	expect_number(session, "id", wh_session_cid(transmitter[7]));
	expect_number(session, "cid", wh_session_cid(transmitter[7]));
	expect_number(session, "queue", 0);
	expect_text(session, "role", "transmitter");
	expect_text(session, "phase", "opening");
	expect_text(session, "outcome", "pending");
	expect_text(session, "peer", "192.0.2.9:5760");
	expect_text(session, "name", "job");
	expect_text(session, "profile", "fixed");
	expect_number(session, "payload_bytes", 1408);
	expect_number(session, "chunk_bytes", 16384);
	expect_number(session, "window_pkts", 64);
	expect_text(session, "recovery", "nak");
	expect_number(session, "chunk_repair_pkts_max", 0);
	expect_number(session, "repair_pkts", 0);
	expect_number(session, "repaired_pkts", 0);
	expect_number(session, "undecodable_blocks", 0);
	expect_number(session, "bps", 0);
	expect_number(session, "pps", 0);
	expect_number(session, "stalled", 0);
	expect_number(session, "sent_pkts", 0);
	expect_number(session, "naks", 0);
	CU_ASSERT_PTR_NOT_NULL(json_object_get(session, "limited_by"));
	CU_ASSERT_PTR_NULL(json_object_get(session, "mode")); /* its profile has one only */
	expect_number(session, "limited_by_disk_us", 0);
	WH_ASSERT_NEAR(number_of(session, "paced_bps"), 1e9, 1e-6);
	WH_ASSERT_NEAR(number_of(session, "now_us"),
		(double)rte_rdtsc() * 1e6 / (double)host.ctx.hz, 0.01);
	json_decref(session);
}

static void test_receiver(void)
{
	uint64_t id = (UINT64_C(1) << 32) + wh_session_cid(receiver);
	json_t *session = ask_about("/wavehaul/session", id);

	expect_number(session, "id", id);
	expect_number(session, "cid", wh_session_cid(receiver));
	expect_number(session, "queue", 1);
	expect_text(session, "role", "receiver");
	expect_text(session, "phase", "running");
	expect_text(session, "peer", "[2001:db8::7]:5761");
	expect_text(session, "name", "a \"name\"\n");
	expect_number(session, "rtt_us", 1000);
	/* Who is told what to send does not know what it is limited by. */
	CU_ASSERT_PTR_NULL(json_object_get(session, "limited_by"));
	CU_ASSERT_PTR_NULL(json_object_get(session, "paced_bps"));
	json_decref(session);
}

static void test_unanswered(void)
{
	static const char *const commands[] = {
		"/wavehaul/session",
		"/wavehaul/session,",
		"/wavehaul/session,x",
		"/wavehaul/session,-1",
		"/wavehaul/session,+1",
		"/wavehaul/session, 1",
		"/wavehaul/session,1x",
		"/wavehaul/session,1,2",
		"/wavehaul/session,0",
		"/wavehaul/session,4294967296",
		"/wavehaul/session,8589934592",
		"/wavehaul/session,18446744073709551615",
		"/wavehaul/session,18446744073709551616",
		"/wavehaul/sessions,x",
		"/wavehaul/sessions,0x",
		"/wavehaul/sessions, 0",
		"/wavehaul/sessions,+0",
		"/wavehaul/sessions,-1",
		"/wavehaul/sessions,18446744073709551616",
		"/wavehaul/ports,2",
		"/wavehaul/ports,-1",
		"/wavehaul/ports,65536",
		"/wavehaul/ports,net_memif0",
		"/wavehaul/cores,4",
		"/wavehaul/cores,cpu_3",
		"/wavehaul/cores,4294967299",
	};

	for (size_t i = 0; i < RTE_DIM(commands); i++)
		expect_null(commands[i]);

	/* A connection ID of another offer of the same place, and of the same place elsewhere. */
	json_t *session = ask_about("/wavehaul/session", wh_session_cid(transmitter[0]) + PLACES);

	CU_ASSERT_TRUE(json_is_null(session));
	json_decref(session);
	session = ask_about(
		"/wavehaul/session", (UINT64_C(1) << 32) + wh_session_cid(transmitter[0]));
	CU_ASSERT_TRUE(json_is_null(session));
	json_decref(session);
}

/* Counters of a queue: of each kind another number. */
static void count_queue(uint32_t queue, uint64_t factor)
{
	struct wh_port_stats *port = &host.at[0].port->queue[queue].stats;
	struct wh_netif *netif = &host.netif[queue];
	struct wh_endpoint_stats *endpoint = &netif->endpoint.stats;

	*port = (struct wh_port_stats){
		.rx_pkts = 100 * factor,
		.rx_bytes = 1000 * factor,
		.tx_pkts = 200 * factor,
		.tx_bytes = 2000 * factor,
		.tx_full = 3 * factor,
		.tx_linearised = 4 * factor,
	};
	port->dropped_pkts[WH_PORT_RX_CHECKSUM] = 5 * factor;
	netif->receive_stats.not_ours_pkts[WH_ENCAP_VLAN] = 6 * factor;
	netif->receive_stats.host_full_pkts = 7 * factor;
	netif->send_stats.not_ours_pkts[WH_ENCAP_VLAN] = factor;
	netif->send_stats.unresolved_pkts = 8 * factor;
	netif->send_stats.no_mbuf_turns = 9 * factor;
	endpoint->bad[WH_WIRE_TAG] = 10 * factor;
	endpoint->no_session_pkts = 11 * factor;
	endpoint->wrong_peer_pkts = 12 * factor;
	endpoint->bad_cookie_pkts = 13 * factor;
	endpoint->refused_opens = 14 * factor;
	endpoint->replies_dropped_pkts = 15 * factor;
	endpoint->repeated_closings = 16 * factor;
	endpoint->datagrams_dropped_pkts = 17 * factor;
	endpoint->no_sa_pkts = 18 * factor;
	netif->neighbour.stats.input_pkts[WH_NEIGHBOUR_CONTESTED] = 19 * factor;
}

static void expect_ports(const json_t *ports, uint64_t factor)
{
	expect_text(ports, "port", "net_memif0");
	expect_number(ports, "link_up", 1);
	expect_number(ports, "mtu_bytes", 9000);
	expect_number(ports, "queues", QUEUES);
	expect_text(ports, "steering", wh_port_steering_name(WH_PORT_STEER_PAIRED));
	expect_number(ports, "rx_pkts", 100 * factor);
	expect_number(ports, "rx_bytes", 1000 * factor);
	expect_number(ports, "tx_pkts", 200 * factor);
	expect_number(ports, "tx_bytes", 2000 * factor);
	expect_number(ports, "tx_full_bursts", 3 * factor);
	expect_number(ports, "tx_linearised_pkts", 4 * factor);
	expect_number(ports, "drop_received_with_a_wrong_checksum", 5 * factor);
	expect_number(ports, "drop_missed_by_the_device", 0);
	expect_number(ports, "drop_frame_vlan", 7 * factor);
	expect_number(ports, "drop_frame_not_ip", 0);
	expect_number(ports, "drop_host_full", 7 * factor);
	expect_number(ports, "drop_unresolved", 8 * factor);
	expect_number(ports, "no_mbuf_turns", 9 * factor);
	expect_number(ports, "drop_packet_tag", 10 * factor);
	expect_number(ports, "drop_packet_short", 0);
	expect_number(ports, "drop_no_session", 11 * factor);
	expect_number(ports, "drop_wrong_peer", 12 * factor);
	expect_number(ports, "drop_bad_cookie", 13 * factor);
	expect_number(ports, "refused_opens", 14 * factor);
	expect_number(ports, "drop_replies_full", 15 * factor);
	expect_number(ports, "repeated_closings", 16 * factor);
	expect_number(ports, "drop_handshakes_full", 17 * factor);
	expect_number(ports, "drop_no_sa", 18 * factor);
	expect_number(ports, "drop_neighbour_contested", 19 * factor);
	expect_number(ports, "drop_neighbour_no_room", 0);
}

static void test_ports(void)
{
	static const char *const commands[] = {
		"/wavehaul/ports", "/wavehaul/ports,0", "/wavehaul/ports,1"};
	static const uint64_t factors[] = {1001, 1, 1000};

	count_queue(0, 1);
	count_queue(1, 1000);
	host.at[0].port->nic_counters = (struct wh_nic_counters){1, .known = {1}, .value = {9}};
	for (size_t i = 0; i < RTE_DIM(commands); i++) {
		json_t *ports = ask(commands[i]);

		expect_ports(ports, factors[i]);
		if (i == 0) /* the NIC is the whole port's */
			expect_number(ports, "nic_bw_out_allowance_exceeded", 9);
		json_decref(ports);
	}
}

static int32_t do_nothing(void *state, uint64_t now_tsc)
{
	(void)state;
	(void)now_tsc;
	return 0;
}

static void open_loops(void)
{
	struct wh_loop *loop = &runtime.loop[1];

	wh_loop_add(&runtime.loop[0], "jobs", do_nothing, NULL);
	for (uint32_t i = 0; i < QUEUES; i++) {
		wh_loop_add(loop, "receive", do_nothing, NULL);
		wh_loop_add(loop, "send", do_nothing, NULL);
	}
	wh_loop_add(loop, "link", do_nothing, NULL);
	loop->busy_tsc = 3 * host.ctx.hz;
	loop->total_tsc = 4 * host.ctx.hz;
	loop->turns = 61000;
	loop->naps = 17;
	for (uint32_t i = 0; i < WH_METER_TASKS; i++)
		loop->meter.cycles[i] = 1001 * (i + 1);
}

static void test_cores(void)
{
	open_loops();

	json_t *cores = ask("/wavehaul/cores");
	const json_t *worker = json_object_get(cores, "cpu_3");
	const json_t *packets = json_object_get(cores, "cpu_5");

	CU_ASSERT_EQUAL(json_object_size(cores), 2);
	expect_text(worker, "tasks", "jobs");
	expect_number(worker, "busy_us", 0);
	expect_text(packets, "tasks", "receive x2, send x2, link");
	expect_number(packets, "busy_us", 3000000);
	expect_number(packets, "total_us", 4000000);
	expect_number(packets, "busy_permille", 0); /* nothing ran between the looks */
	expect_number(packets, "turns", 61000);
	expect_number(packets, "naps", 17);
	CU_ASSERT_PTR_NULL(json_object_get(packets, "rcv_cycles"));
	json_decref(cores);
}

/* The core has received 100,100 packets of both queues and sent 200,000 of one. */
static void test_core(void)
{
	json_t *core = ask("/wavehaul/cores,5");

	expect_text(core, "tasks", "receive x2, send x2, link");
	expect_number(core, "received_pkts", 100100);
	expect_number(core, "sent_pkts", 200000);
	for (uint32_t i = 0; i < WH_METER_TASKS; i++) {
		char key[64];

		snprintf(key, sizeof(key), "%s_cycles", wh_meter_task_name((enum wh_meter_task)i));
		expect_number(core, key, UINT64_C(61) * 1001 * (i + 1));
	}
	expect_number(core, "rcv_cycles_per_pkt", 2);       /* 4 * 61061 / 100100 */
	expect_number(core, "trans_cycles_per_pkt", 2);     /* 9 * 61061 / 200000 */
	expect_number(core, "port_send_cycles_per_pkt", 4); /* 14 * 61061 / 200000 */
	CU_ASSERT_PTR_NULL(json_object_get(core, "loop_cycles_per_pkt"));
	CU_ASSERT_PTR_NULL(json_object_get(core, "writer_cycles_per_pkt"));
	json_decref(core);

	/* One that moves no packets has no price for them. */
	core = ask("/wavehaul/cores,3");
	expect_number(core, "received_pkts", 0);
	expect_number(core, "rcv_cycles", 0);
	CU_ASSERT_PTR_NULL(json_object_get(core, "rcv_cycles_per_pkt"));
	json_decref(core);
}

/* As long as they can be, answers are whole. */
static void test_largest_answers(void)
{
	const struct wh_cores before = runtime.cores;

	for (uint32_t i = 0; i < WH_SETTINGS_CPUS_MAX; i++) {
		struct wh_loop *loop = &runtime.loop[i];

		runtime.cores.core[i] =
			(struct wh_core){.cpu = (uint16_t)(1000 + i), .receives = 1, .sends = 1};
		loop->tasks = 0;
		for (uint32_t j = 0; j < 4; j++)
			wh_loop_add(loop, j % 2 == 0 ? "receive" : "send", do_nothing, NULL);
		wh_loop_add(loop, "link", do_nothing, NULL);
		wh_loop_add(loop, "watch", do_nothing, NULL);
		wh_loop_add(loop, "jobs", do_nothing, NULL);
		loop->busy_tsc = loop->total_tsc = UINT64_C(1000000000) * host.ctx.hz;
		loop->turns = loop->naps = UINT64_C(1000000000000000);
		for (uint32_t p = 0; p < WH_METER_TASKS; p++)
			loop->meter.cycles[p] = INT64_MAX / WH_METER_EVERY;
	}
	runtime.cores.count = WH_SETTINGS_CPUS_MAX;

	json_t *cores = ask("/wavehaul/cores");
	json_t *core = ask("/wavehaul/cores,1063");

	CU_ASSERT_EQUAL(json_object_size(cores), WH_SETTINGS_CPUS_MAX);
	expect_number(json_object_get(cores, "cpu_1063"), "naps", UINT64_C(1000000000000000));
	CU_ASSERT_PTR_NOT_NULL(json_object_get(core, "job_cycles"));
	json_decref(cores);
	json_decref(core);
	runtime.cores = before;

	count_queue(0, UINT64_C(1000000000000000));
	json_t *ports = ask("/wavehaul/ports,0");

	expect_ports(ports, UINT64_C(1000000000000000));
	json_decref(ports);
}

static bool is_answered(int fd, int wait_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, wait_ms) == 1;
}

/* While sessions are freed nobody looks at them; the rest does not care. */
static void test_burial(void)
{
	static const char command[] = "/wavehaul/sessions";
	int fd = connect_client();

	rte_spinlock_lock(&jobs.burial);
	CU_ASSERT_EQUAL(send(fd, command, strlen(command), 0), (ssize_t)strlen(command));
	CU_ASSERT_FALSE(is_answered(fd, 100));
	rte_spinlock_unlock(&jobs.burial);
	CU_ASSERT_TRUE(is_answered(fd, 10000));
	close(fd);

	rte_spinlock_lock(&jobs.burial);

	json_t *ports = ask("/wavehaul/ports");

	rte_spinlock_unlock(&jobs.burial);
	CU_ASSERT_TRUE(json_is_object(ports));
	json_decref(ports);

	/* Whoever has answered has let go. */
	CU_ASSERT_EQUAL(rte_spinlock_trylock(&jobs.burial), 1);
	rte_spinlock_unlock(&jobs.burial);
}

static void expect_total(const char *role, const char *key, uint64_t expected)
{
	json_t *totals = ask("/wavehaul/totals");

	expect_number(json_object_get(totals, role), key, expected);
	json_decref(totals);
}

/* Those that are gone stay counted; none falls while one is neither here nor there. */
static void test_totals(void)
{
	json_t *totals = ask("/wavehaul/totals");
	uint64_t live = number_of(json_object_get(totals, "transmitter"), "live");

	CU_ASSERT(live > 0);
	expect_number(json_object_get(totals, "transmitter"), "sessions", live);
	json_decref(totals);
	jobs.past.role[0].sessions = 5;
	jobs.past.role[0].moved_bytes = 700;
	jobs.past.role[1].stats.naks = 3;
	expect_total("transmitter", "sessions", live + 5);
	expect_total("transmitter", "moved_bytes", 700);
	expect_total("receiver", "naks", 3);
	jobs.past.role[0].moved_bytes = 600;
	expect_total("transmitter", "moved_bytes", 700);
}

/* Asks as fast as it can until told to end; the last answers are null. */
struct asker {
	_Atomic bool asked;
	_Atomic bool end;
};

static void *keep_asking(void *argument)
{
	struct asker *asker = argument;
	int fd = connect_client();

	while (!atomic_load(&asker->end)) {
		json_decref(ask_by(fd, "/wavehaul/session,1"));
		json_decref(ask_by(fd, "/wavehaul/sessions"));
		json_decref(ask_by(fd, "/wavehaul/ports"));
		json_decref(ask_by(fd, "/wavehaul/cores"));
		atomic_store(&asker->asked, true);
	}
	close(fd);
	return NULL;
}

/* The host may be torn down while answers are asked for. */
static void test_stop(void)
{
	struct asker asker = {.asked = false};
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, keep_asking, &asker), 0);
	while (!atomic_load(&asker.asked))
		usleep(1000);
	wh_telemetry_stop();
	close_host();
	expect_null("/wavehaul/sessions");
	expect_null("/wavehaul/session,1");
	expect_null("/wavehaul/totals");
	expect_null("/wavehaul/ports");
	expect_null("/wavehaul/cores");
	atomic_store(&asker.end, true);
	CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
	wh_telemetry_stop();
}

CU_TestInfo wh_tests[] = {
	{"EAL starts", start},
	{"before", test_before},
	{"no sessions", test_no_sessions},
	{"pages", test_pages},
	{"transmitter", test_transmitter},
	{"first transmitter", test_first_transmitter},
	{"receiver", test_receiver},
	{"unanswered", test_unanswered},
	{"ports", test_ports},
	{"cores", test_cores},
	{"core", test_core},
	{"largest answers", test_largest_answers},
	{"burial", test_burial},
	{"totals", test_totals},
	{"stop", test_stop},
	{"EAL stops", stop},
	CU_TEST_INFO_NULL,
};
