/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A client whose address changes while its session runs, in virtual time: by a translator that
 * forgets it, and by somebody who copies its packets from an address of his own.
 */

#include "../../rig/end.h"
#include "../../rig/sas.h"
#include "../../rig/stream.h"
#include "base/clock.h"
#include "unit.h"

const char wh_suite_name[] = "moves";

#define HZ          WH_NS_PER_S
#define MS          (HZ / 1000)
#define DELAY_MS    10
#define CHUNK_BYTES 16384
#define CHUNKS      8
#define STREAM      (UINT64_C(1) << 20)
#define PARCELS     2048
#define ROOM_BYTES  1504
#define CLIENT      0
#define SERVER      1

struct parcel {
	uint64_t due_tsc; /* 0: free */
	uint64_t number;
	uint32_t to_end;
	struct wh_address from;
	uint32_t bytes;
	uint8_t data[ROOM_BYTES];
};

static struct world {
	struct wh_rig_end end[2];
	struct wh_rig_sadb sas;
	uint8_t *memory[2];
	struct wh_session *session[2];
	bool gone[2];
	bool sealed;
	bool client_sends;
	uint64_t now_tsc;
	struct wh_address client; /* as the server sees it; nothing else reaches it */
	struct parcel parcel[PARCELS];
	uint64_t parcels;
	struct wh_stream_source source;
	struct wh_stream_sink sink;

	/* Who copies what the client sends, from his own address, `ahead_ms` before it arrives. */
	struct wh_address foe; /* family 0: nobody */
	uint32_t ahead_ms;
	uint32_t misses_one_in; /* he is too slow with one in so many; 0: never */
	bool relays;            /* what comes to him goes on to the client */
	uint64_t copied_pkts;
	/* By the server, to any address but the client's first one; and from there. */
	uint64_t told_bytes, heard_bytes;
	uint64_t challenges;
	struct parcel answer; /* the latest */
} world;

static const struct wh_address first_port = {
	.family = WH_IPV4, .ip = {203, 0, 113, 9}, .port = 40000};
static const struct wh_address barred = {.family = WH_IPV4, .ip = {192, 0, 2, 7}, .port = 40000};
static const struct wh_address foes = {.family = WH_IPV4, .ip = {203, 0, 113, 66}, .port = 666};

static bool may_come(void *context, const struct wh_address *peer, const struct wh_sa *sa)
{
	(void)context;
	CU_ASSERT_PTR_EQUAL(sa, world.sas.sa[SERVER]);
	return !wh_address_same_ip(peer, &barred);
}

static struct parcel *put(uint32_t to_end, const struct wh_address *from, const uint8_t *bytes,
	uint32_t count, uint64_t delay_ms)
{
	struct parcel *parcel = world.parcel;

	while (parcel < world.parcel + PARCELS && parcel->due_tsc != 0)
		parcel++;
	CU_ASSERT_FATAL(parcel < world.parcel + PARCELS && count <= ROOM_BYTES);
	*parcel = (struct parcel){
		.due_tsc = world.now_tsc + delay_ms * MS,
		.number = world.parcels++,
		.to_end = to_end,
		.from = *from,
		.bytes = count,
	};
	memcpy(parcel->data, bytes, count);
	return parcel;
}

static void accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	(void)context;
	(void)config;
	world.session[world.client_sends ? SERVER : CLIENT] = session;
	wh_stream_sink_open(&world.sink, STREAM, 1, wh_session_deliver_chunks(session),
		wh_session_recycled_chunks(session));
}

static void gone(void *context, struct wh_session *session)
{
	(void)context;
	for (uint32_t i = 0; i < 2; i++)
		if (world.session[i] == session)
			world.session[i] = NULL;
	wh_session_destroy(session);
}

static void open_world(bool client_sends, bool sealed)
{
	uint32_t sender = client_sends ? CLIENT : SERVER;

	memset(&world, 0, sizeof(world));
	world.client_sends = client_sends;
	world.sealed = sealed;
	world.now_tsc = HZ;
	world.client = first_port;
	wh_rig_sadb_open(&world.sas, 1, WH_CIPHER_AES_128_GCM);
	for (uint32_t i = 0; i < 2; i++) {
		struct wh_rig_end *end = &world.end[i];

		wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, CHUNKS, 256);
		world.memory[i] = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * CHUNK_BYTES);
		end->session.chunk_memory = world.memory[i];
		end->session.rate_bps = UINT64_C(8000000); /* the stream takes a second */
		end->session.peer_moves = i == SERVER;
		end->session.sa = sealed && i == sender ? world.sas.sa[i] : NULL;
		end->sadb = sealed ? &world.sas.sadb[i] : NULL;
		end->more.may_come = may_come;
		end->accepted = accepted;
		end->gone = gone;
		wh_rig_end_open(end, (uint8_t)(i + 1), WH_ENDPOINT_PLACES_MIN);
	}
	world.session[sender] = wh_rig_end_connect(&world.end[sender],
		client_sends ? &world.end[SERVER].address : &world.client, "x",
		WH_OBJECT_BYTES_UNKNOWN, NULL);
	wh_stream_source_open(&world.source, STREAM, 1, CHUNK_BYTES, false,
		wh_session_free_chunks(world.session[sender]),
		wh_session_ready_chunks(world.session[sender]));
}

static void close_world(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		wh_session_destroy(world.session[i]);
		wh_rig_end_close(&world.end[i]);
		free(world.memory[i]);
	}
	wh_stream_source_close(&world.source);
	wh_stream_sink_close(&world.sink);
	wh_rig_sadb_close(&world.sas);
}

static void from_client(const uint8_t *bytes, uint32_t count)
{
	uint32_t behind_ms = world.foe.family != 0 ? world.ahead_ms : 0;
	bool misses = world.misses_one_in > 0 && world.copied_pkts++ % world.misses_one_in == 0;

	if (world.foe.family != 0)
		put(SERVER, &world.foe, bytes, count, DELAY_MS + (misses ? 2 * behind_ms : 0));

	struct parcel *own = put(SERVER, &world.client, bytes, count, DELAY_MS + behind_ms);

	if (bytes[1] == WH_PACKET_PATH)
		world.answer = *own;
}

static void from_server(const struct wh_out *out, const uint8_t *bytes, uint32_t count)
{
	bool arrives = wh_address_equal(out->to, &world.client) ||
		       (world.relays && wh_address_equal(out->to, &world.foe));

	world.challenges += bytes[1] == WH_PACKET_PATH;
	if (!wh_address_equal(out->to, &first_port))
		world.told_bytes += count;
	if (arrives)
		put(CLIENT, &world.end[SERVER].address, bytes, count, DELAY_MS);
}

static void send_all(uint32_t from)
{
	uint8_t room[ROOM_BYTES], bytes[ROOM_BYTES];
	struct wh_out out = {.head = room};

	while (wh_endpoint_output(&world.end[from].endpoint, world.now_tsc, &out, 1) == 1) {
		uint32_t count = out.head_bytes + out.payload_bytes;

		memcpy(bytes, out.head, out.head_bytes);
		if (out.payload_bytes > 0)
			memcpy(bytes + out.head_bytes, out.payload, out.payload_bytes);
		if (from == CLIENT)
			from_client(bytes, count);
		else
			from_server(&out, bytes, count);
	}
}

static struct parcel *next_parcel(void)
{
	struct parcel *next = NULL;

	for (struct parcel *i = world.parcel; i < world.parcel + PARCELS; i++)
		if (i->due_tsc != 0 && i->due_tsc <= world.now_tsc &&
			(next == NULL || i->due_tsc < next->due_tsc ||
				(i->due_tsc == next->due_tsc && i->number < next->number)))
			next = i;
	return next;
}

static void receive_all(void)
{
	struct parcel *parcel;

	while ((parcel = next_parcel()) != NULL) {
		if (parcel->to_end == SERVER && !wh_address_equal(&parcel->from, &first_port))
			world.heard_bytes += parcel->bytes;
		wh_endpoint_input(&world.end[parcel->to_end].endpoint, world.now_tsc, world.now_tsc,
			parcel->data, parcel->bytes, &parcel->from);
		parcel->due_tsc = 0;
	}
}

static void step(void)
{
	struct wh_session *sender = world.session[world.client_sends ? CLIENT : SERVER];
	struct wh_session *receiver = world.session[world.client_sends ? SERVER : CLIENT];

	if (sender != NULL && wh_stream_source_poll(&world.source, UINT64_MAX) > 0)
		wh_session_kick(sender);
	if (receiver != NULL && wh_stream_sink_poll(&world.sink) > 0)
		wh_session_kick(receiver);
	receive_all();
	for (uint32_t i = 0; i < 2; i++) {
		wh_endpoint_receive_poll(&world.end[i].endpoint, world.now_tsc);
		wh_endpoint_send_poll(&world.end[i].endpoint, world.now_tsc);
		send_all(i);
	}
	world.now_tsc += MS;
}

static void pass(uint32_t ms)
{
	while (ms-- > 0)
		step();
}

/* Until the whole stream has arrived; how long that took. */
static uint32_t finish_ms(uint32_t most_ms)
{
	uint32_t ms = 0;

	for (; ms < most_ms && world.sink.done == WH_STREAM_RUNNING; ms++)
		step();
	CU_ASSERT_EQUAL(world.sink.done, WH_STREAM_OK);
	return ms;
}

static uint64_t moves(void)
{
	return world.end[SERVER].endpoint.stats.moves;
}

static bool server_follows(const struct wh_address *address)
{
	return world.session[SERVER] != NULL &&
	       wh_address_equal(wh_session_peer(world.session[SERVER]), address);
}

/* Until the server has found the client; how long that took. */
static uint32_t found_ms(uint32_t most_ms)
{
	uint32_t ms = 0;

	for (; ms < most_ms && !server_follows(&world.client); ms++) {
		/* Not proved yet. */
		CU_ASSERT(world.told_bytes <= 3 * world.heard_bytes);
		step();
	}
	return ms;
}

/* The way to a new address and back takes 20 ms, and is taken twice. */
static void new_port(bool client_sends)
{
	open_world(client_sends, true);
	pass(300);
	CU_ASSERT(server_follows(&first_port));
	world.client.port++;
	/* Who only receives is heard when a report of it is due. */
	CU_ASSERT(found_ms(5000) <= 2 * 2 * DELAY_MS + (client_sends ? 60 : 160));
	CU_ASSERT(world.challenges > 0 && world.challenges <= 3);
	CU_ASSERT_EQUAL(moves(), 1);
	CU_ASSERT(finish_ms(5000) < 1600);
	CU_ASSERT_EQUAL(world.end[CLIENT].endpoint.stats.moves, 0);
	close_world();
}

static void new_port_of_a_sender(void)
{
	new_port(true);
}

static void new_port_of_a_receiver(void)
{
	new_port(false);
}

/* A host that leaves one network after the other, faster than it may. */
static void restless(void)
{
	open_world(true, true);
	for (uint8_t i = 0; i < 5; i++) {
		pass(150);
		world.client.ip[3] = i;
	}
	pass(1100);
	CU_ASSERT(server_follows(&world.client));
	finish_ms(10000);
	CU_ASSERT(moves() >= 2 && moves() <= 5);
	close_world();
}

/* Copies that come after what they are of are replays, wherever they come from. */
static void slow_copies(void)
{
	open_world(true, true);
	pass(100);
	world.foe = foes;
	world.misses_one_in = 1;
	world.ahead_ms = 2;
	finish_ms(5000);
	CU_ASSERT_EQUAL(moves(), 0);
	CU_ASSERT_EQUAL(world.challenges, 0);
	close_world();
}

/* Nobody answers there: the victim of a forged source gets no more than 20 short packets/s. */
static void fast_copies(void)
{
	open_world(true, true);
	pass(100);
	world.foe = foes;
	world.ahead_ms = 2;

	uint32_t ms = finish_ms(5000);

	CU_ASSERT_EQUAL(moves(), 0);
	CU_ASSERT(world.challenges > 0 && world.challenges <= ms / 50 + 1);
	CU_ASSERT_EQUAL(world.told_bytes, world.challenges * WH_HEAD_BYTES);
	CU_ASSERT(server_follows(&first_port));
	close_world();
}

/*
 * While data flow, who is too slow with one packet in five gets nowhere, although he carries all
 * that comes to him. Behind the last data there may be no fifth.
 */
static void copies_mostly_fast(void)
{
	open_world(true, true);
	pass(100);
	world.foe = foes;
	world.ahead_ms = 2;
	world.misses_one_in = 5;
	world.relays = true;
	pass(800);
	CU_ASSERT_EQUAL(moves(), 0);
	finish_ms(5000);
	close_world();
}

/* Who is always faster has become a router. Once he is not, the true path wins back. */
static void router(void)
{
	open_world(true, true);
	pass(100);
	world.foe = foes;
	world.ahead_ms = 2;
	world.relays = true;
	pass(200);
	CU_ASSERT(server_follows(&foes));
	CU_ASSERT_EQUAL(moves(), 1);
	world.foe.family = 0;
	world.heard_bytes = world.told_bytes;
	CU_ASSERT(found_ms(5000) <= 1000 + 2 * 2 * DELAY_MS + 50);
	CU_ASSERT_EQUAL(moves(), 2);
	finish_ms(5000);
	close_world();
}

/* From where the peer may not come, it does not go on either; it may come back. */
static void forbidden(void)
{
	open_world(true, true);
	pass(100);
	world.client = barred;
	pass(500);
	CU_ASSERT_EQUAL(world.challenges, 0);
	/* The client in its silence asks by OPEN whether the server is there, which is answered. */
	CU_ASSERT(world.told_bytes <= 2 * WH_HEAD_BYTES);
	CU_ASSERT(world.end[SERVER].endpoint.stats.turned_away_pkts <= 500 / 50);
	world.client = first_port;
	finish_ms(5000);
	close_world();
}

/* An answer counts once, and only from where it was asked for. */
static void answers(void)
{
	struct wh_endpoint *server = &world.end[SERVER].endpoint;

	open_world(true, true);
	pass(100);
	world.client.port++;
	found_ms(5000);
	CU_ASSERT_EQUAL(moves(), 1);

	struct parcel again = world.answer;

	pass(1100);
	put(SERVER, &foes, again.data, again.bytes, 0);
	put(SERVER, &first_port, again.data, again.bytes, 0);
	put(SERVER, &world.client, again.data, again.bytes, 0);
	uint64_t before = server->stats.wrong_peer_pkts;
	pass(2);
	CU_ASSERT_EQUAL(server->stats.wrong_peer_pkts, before + 3);
	CU_ASSERT_EQUAL(moves(), 1);
	CU_ASSERT(server_follows(&world.client));
	close_world();
}

/* Without a seal nobody can tell a new address of the peer from somebody else's. */
static void unsealed(void)
{
	open_world(true, false);
	pass(300);
	world.client.port++;
	pass(300);
	CU_ASSERT(server_follows(&first_port));
	CU_ASSERT(world.end[SERVER].endpoint.stats.wrong_peer_pkts > 10);
	CU_ASSERT_EQUAL(world.challenges, 0);
	close_world();
}

/* A server has one address, and no client believes another. */
static void server_stays(void)
{
	open_world(false, true);
	pass(300);
	world.end[SERVER].address.port++;
	pass(100);
	CU_ASSERT(world.end[CLIENT].endpoint.stats.wrong_peer_pkts > 10);
	world.end[SERVER].address.port--;
	finish_ms(5000);
	CU_ASSERT_EQUAL(world.challenges, 0);
	close_world();
}

CU_TestInfo wh_tests[] = {
	{"new port of a sender", new_port_of_a_sender},
	{"new port of a receiver", new_port_of_a_receiver},
	{"restless", restless},
	{"slow copies", slow_copies},
	{"fast copies", fast_copies},
	{"copies mostly fast", copies_mostly_fast},
	{"router", router},
	{"forbidden", forbidden},
	{"answers", answers},
	{"unsealed", unsealed},
	{"server stays", server_stays},
	CU_TEST_INFO_NULL,
};
