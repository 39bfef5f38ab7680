/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An ACCEPT says nothing of addresses, which a translator changes. Somebody on the path gives that
 * of one opening to another that waits for its own, with the connection ID put right: of the same
 * client, and of another client. It opens nothing, and the true one still does.
 */

#include "../../rig/end.h"
#include "../../rig/sas.h"
#include "base/clock.h"
#include "session/session_internal.h"
#include "unit.h"
#include "wire/layout.h"

const char wh_suite_name[] = "forwarded";

#define HZ          WH_NS_PER_S
#define CHUNK_BYTES 65536
#define CHUNKS      4

#define PAIRS    2
#define CLIENT   0
#define SERVER   1
#define OPENINGS 3 /* two of the first client, one of the other */

struct message {
	uint8_t data[WH_CONTROL_BYTES_MAX];
	uint32_t bytes;
};

/* Each client has a server of its own, both at one address. */
struct pair {
	struct wh_rig_sadb sas;
	struct wh_rig_end end[2];
};

/* Of all sessions together: no data flow. */
static _Alignas(WH_CHUNK_ALIGN) uint8_t memory[CHUNKS * CHUNK_BYTES];

static struct pair pair[PAIRS];
static struct wh_session *session[OPENINGS];
static struct message answer[OPENINGS];

static struct pair *pair_of(uint32_t opening)
{
	return &pair[opening / 2];
}

static void accepted(
	void *context, struct wh_session *begun, const struct wh_session_config *config)
{
	(void)context;
	(void)begun;
	(void)config;
	CU_FAIL("no CONFIRM is carried on");
}

static void gone(void *context, struct wh_session *ended)
{
	(void)context;
	wh_session_destroy(ended);
}

static struct message take(struct wh_rig_end *end, enum wh_packet_type type)
{
	struct message message;
	struct wh_out out = {.head = message.data};

	wh_endpoint_send_poll(&end->endpoint, HZ);
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_output(&end->endpoint, HZ, &out, 1), 1);
	CU_ASSERT_EQUAL_FATAL(message.data[1], type);
	message.bytes = out.head_bytes + out.payload_bytes;
	return message;
}

/* It is opened where it lies, so a copy is given. */
static void give(struct wh_rig_end *end, struct message message, const struct wh_rig_end *from)
{
	wh_endpoint_input(&end->endpoint, HZ, HZ, message.data, message.bytes, &from->address);
	wh_endpoint_receive_poll(&end->endpoint, HZ);
	wh_endpoint_send_poll(&end->endpoint, HZ);
}

static void open_all(void)
{
	memset(pair, 0, sizeof(pair));
	for (uint32_t i = 0; i < PAIRS; i++) {
		wh_rig_sadb_open(&pair[i].sas, i + 1, WH_CIPHER_AES_128_GCM);
		for (uint32_t n = 0; n < 2; n++) {
			struct wh_rig_end *end = &pair[i].end[n];

			wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, CHUNKS, 64);
			end->session.chunk_memory = memory;
			end->session.sa = n == CLIENT ? pair[i].sas.sa[n] : NULL;
			end->sadb = &pair[i].sas.sadb[n];
			end->accepted = n == SERVER ? accepted : NULL;
			end->gone = gone;
			wh_rig_end_open(end, n == CLIENT ? 2 : 1, WH_ENDPOINT_PLACES_MIN);
		}
	}
	for (uint32_t i = 0; i < OPENINGS; i++) {
		struct wh_rig_end *client = &pair_of(i)->end[CLIENT];
		struct wh_rig_end *server = &pair_of(i)->end[SERVER];

		session[i] = wh_rig_end_connect(
			client, &server->address, "x", WH_OBJECT_BYTES_UNKNOWN, NULL);
		give(server, take(client, WH_PACKET_OPEN), client);
		answer[i] = take(server, WH_PACKET_ACCEPT);
	}
}

static void close_all(void)
{
	for (uint32_t i = 0; i < OPENINGS; i++)
		wh_session_destroy(session[i]);
	for (uint32_t i = 0; i < PAIRS; i++) {
		for (uint32_t n = 0; n < 2; n++)
			wh_rig_end_close(&pair[i].end[n]);
		wh_rig_sadb_close(&pair[i].sas);
	}
}

/* The answer to one opening, as if it were that to another. */
static void forward(uint32_t from, uint32_t to)
{
	struct wh_rig_end *client = &pair_of(to)->end[CLIENT];
	uint64_t bad_pkts = wh_endpoint_bad_pkts(&client->endpoint);
	struct message message = answer[from];

	memcpy(message.data + offsetof(struct wh_wire_head, cid),
		answer[to].data + offsetof(struct wh_wire_head, cid), sizeof(uint32_t));
	give(client, message, &pair_of(to)->end[SERVER]);
	CU_ASSERT_EQUAL(session[to]->phase, WH_PHASE_OPENING);
	CU_ASSERT_EQUAL(wh_session_outcome(session[to]), WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(wh_endpoint_bad_pkts(&client->endpoint), bad_pkts + 1);
}

static void test_forwarded(void)
{
	open_all();
	/* Of the two clients these are equal, so that the seal alone tells them apart. */
	CU_ASSERT_EQUAL(session[0]->local_cid, session[2]->local_cid);
	for (uint32_t from = 0; from < OPENINGS; from++)
		for (uint32_t to = 0; to < OPENINGS; to++)
			if (from != to)
				forward(from, to);
	for (uint32_t i = 0; i < OPENINGS; i++) {
		give(&pair_of(i)->end[CLIENT], answer[i], &pair_of(i)->end[SERVER]);
		CU_ASSERT_EQUAL(session[i]->phase, WH_PHASE_RUNNING);
	}
	close_all();
}

CU_TestInfo wh_tests[] = {
	{"forwarded", test_forwarded},
	CU_TEST_INFO_NULL,
};
