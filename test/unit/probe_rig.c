/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe_rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

#define MTU_BYTES 1500
#define ITEMS_MAX 300000
#define BURST     32

struct parcel {
	uint32_t length;
	uint8_t bytes[];
};

void probe_rig_init(struct probe_rig *rig)
{
	*rig = (struct probe_rig){
		.forth = {.rate_bps = 1000000000, .delay_ns = 10000000},
		.back = {.rate_bps = 1000000000, .delay_ns = 10000000},
		.config =
			{
				.hz = PROBE_RIG_HZ,
				.token = 0x1234567890abcdef,
				.packet_bytes = MTU_BYTES - wh_encap_ip_udp_bytes(WH_IPV4),
				.ip_udp_bytes = wh_encap_ip_udp_bytes(WH_IPV4),
				.line_bps = 1000000000,
				.train_pkts = 8192,
				.duration_ns = 30 * WH_NS_PER_S,
				.patience_ns = 2 * WH_NS_PER_S,
			},
		.client_address = {.family = WH_IPV4, .ip = {10, 0, 0, 1}, .port = 1},
		.server_address = {.family = WH_IPV4, .ip = {10, 0, 0, 2}, .port = 1},
	};
	rig->config.link_bytes =
		wh_encap_wire_bytes(WH_IPV4, 0) - WH_HEAD_BYTES - rig->config.ip_udp_bytes;
	rig->config.peer = rig->server_address;
}

uint32_t probe_rig_wire_bytes(const struct probe_rig *rig)
{
	return rig->config.packet_bytes + rig->config.ip_udp_bytes + rig->config.link_bytes;
}

static enum wh_release_status may_probe(
	void *context, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa)
{
	(void)sa;
	const struct probe_rig *rig = context;

	(void)now_tsc;
	WH_ASSERT(peer->family == WH_IPV4);
	return rig->welcome;
}

static void open_all(struct probe_rig *rig)
{
	struct wh_endpoint_config client = {.hz = PROBE_RIG_HZ, .places = 64, .key = {1}};
	struct wh_endpoint_config server = {
		.hz = PROBE_RIG_HZ,
		.places = 64,
		.key = {2},
		.may_probe = may_probe,
		.probe_room_pkts = WH_ANSWERER_ROOM_PKTS,
		.context = rig,
	};
	int rc;

	if (rig->sealed) {
		wh_rig_sadb_open(&rig->sadb, 7, WH_CIPHER_AES_128_GCM);
		server.sadb = &rig->sadb.sadb[1];
		rig->config.sa = rig->sadb.sa[0];
	}
	rc = wh_endpoint_init(&rig->client, &client);

	WH_ASSERT(rc == 0);
	rc = wh_endpoint_init(&rig->server, &server);
	WH_ASSERT(rc == 0);
	rc = wh_prober_init(&rig->prober, &rig->config);
	WH_ASSERT(rc == 0);
	rig->netem[0] = wh_netem_create(&rig->forth, PROBE_RIG_HZ, 0, ITEMS_MAX);
	rig->netem[1] = wh_netem_create(&rig->back, PROBE_RIG_HZ, 0, ITEMS_MAX);
	WH_ASSERT(rig->netem[0] != NULL && rig->netem[1] != NULL);
	wh_endpoint_probe(&rig->client, &rig->prober);
	rig->now_tsc = 1;
}

void probe_rig_close(struct probe_rig *rig)
{
	for (uint32_t i = 0; i < 2; i++) {
		void *parcel;

		while ((parcel = wh_netem_take_any(rig->netem[i])) != NULL)
			free(parcel);
		wh_netem_destroy(rig->netem[i]);
	}
	wh_endpoint_free(&rig->client);
	wh_endpoint_free(&rig->server);
	wh_prober_free(&rig->prober);
	if (rig->sealed)
		wh_rig_sadb_close(&rig->sadb);
}

static struct parcel *copy(const uint8_t *bytes, uint32_t length)
{
	struct parcel *parcel = malloc(sizeof(*parcel) + length);

	WH_ASSERT(parcel != NULL);
	parcel->length = length;
	memcpy(parcel->bytes, bytes, length);
	return parcel;
}

static void send_over(struct probe_rig *rig, bool to_server, const uint8_t *bytes, uint32_t length)
{
	struct wh_netem *netem = rig->netem[to_server ? 0 : 1];
	struct wh_netem_fate fate;

	wh_netem_admit(netem, rig->now_tsc,
		length + rig->config.ip_udp_bytes + rig->config.link_bytes, &fate);
	for (uint32_t i = 0; i < fate.copies; i++) {
		bool held = wh_netem_hold(netem, fate.due_tsc[i], copy(bytes, length));

		WH_ASSERT(held);
	}
}

static void send_from(struct probe_rig *rig, struct wh_endpoint *endpoint, bool to_server)
{
	static uint8_t room[BURST][16384];
	struct wh_out out[BURST];
	uint32_t count;

	wh_endpoint_send_poll(endpoint, rig->now_tsc);
	do {
		for (uint32_t i = 0; i < BURST; i++)
			out[i].head = room[i];
		count = wh_endpoint_output(endpoint, rig->now_tsc, out, BURST);
		for (uint32_t i = 0; i < count; i++) {
			WH_ASSERT(out[i].payload == NULL);
			send_over(rig, to_server, out[i].head, out[i].head_bytes);
			rig->said_bytes += to_server ? 0 : out[i].head_bytes;
			rig->said_pkts += !to_server;
		}
	} while (count > 0);
}

static void take(struct probe_rig *rig, bool to_server, uint64_t due_tsc, struct parcel *parcel)
{
	struct wh_endpoint *endpoint = to_server ? &rig->server : &rig->client;
	const struct wh_address *from = to_server ? &rig->client_address : &rig->server_address;

	rig->number++;
	rig->heard_bytes += to_server ? parcel->length : 0;
	rig->heard_pkts += to_server;
	if (rig->meddle == NULL || rig->meddle(rig, to_server, parcel->bytes, &parcel->length))
		wh_endpoint_input(
			endpoint, rig->now_tsc, due_tsc, parcel->bytes, parcel->length, from);
	free(parcel);
}

static void receive(struct probe_rig *rig, bool to_server)
{
	struct wh_netem_item item;

	while (wh_netem_take(rig->netem[to_server ? 0 : 1], rig->now_tsc, &item, 1) > 0)
		take(rig, to_server, item.due_tsc, item.item);
}

static uint64_t next_tsc(const struct probe_rig *rig)
{
	uint64_t next =
		wh_min_u64(wh_netem_deadline(rig->netem[0]), wh_netem_deadline(rig->netem[1]));

	next = wh_min_u64(next, wh_endpoint_send_deadline(&rig->client));
	next = wh_min_u64(next, wh_endpoint_send_deadline(&rig->server));
	return wh_max_u64(next, rig->now_tsc + 1);
}

void probe_rig_inject(
	struct probe_rig *rig, uint8_t *bytes, uint32_t length, const struct wh_address *from)
{
	wh_endpoint_input(&rig->server, rig->now_tsc, rig->now_tsc, bytes, length, from);
}

static enum wh_prober_end run(struct probe_rig *rig)
{
	for (;;) {
		receive(rig, true);
		receive(rig, false);
		send_from(rig, &rig->server, false);
		send_from(rig, &rig->client, true);
		if (wh_prober_ended(&rig->prober) != WH_PROBER_RUNNING)
			return wh_prober_ended(&rig->prober);
		rig->now_tsc = next_tsc(rig);
		WH_ASSERT(rig->now_tsc < PROBE_RIG_OVER_BY * PROBE_RIG_HZ);
	}
}

enum wh_prober_end probe_rig_run(struct probe_rig *rig)
{
	open_all(rig);
	return run(rig);
}

enum wh_prober_end probe_rig_run_again(struct probe_rig *rig)
{
	int rc;

	wh_endpoint_probe(&rig->client, NULL);
	wh_prober_free(&rig->prober);
	rig->config.token++;
	rc = wh_prober_init(&rig->prober, &rig->config);
	WH_ASSERT(rc == 0);
	wh_endpoint_probe(&rig->client, &rig->prober);
	return run(rig);
}
