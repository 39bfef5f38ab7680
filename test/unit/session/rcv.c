/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rx slots: what a data packet is by a head that nobody believes yet, and that taking it is that.
 */

#include "../../rig/end.h"
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endpoint/lifecycle.h"
#include "session/session.h"

const char wh_suite_name[] = "rcv";

#define HZ          UINT64_C(1000000000)
#define NOW         (10 * HZ)
#define PAYLOAD     1408
#define CHUNK_BYTES 8192
#define CHUNKS      4
#define FIRST       UINT64_C(1000)
#define CID         0x41

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

/* A receiver of chunks of 8 KiB (6 packets), and its memory. */
static struct rig {
	uint8_t *memory;
	struct wh_session *session;
} rig;

void wh_set_up(void)
{
	struct wh_session_config config;

	rig.memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * CHUNK_BYTES);
	wh_rig_session_config(&config, HZ, CHUNK_BYTES, CHUNKS, 64);
	config.chunk_memory = rig.memory;

	const struct wh_open_params params = wh_rig_open_params(&config, FIRST);

	rig.session = wh_session_accept(&config, NOW, CID, &peer, &params, HZ / 1000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig.session);
}

void wh_take_down(void)
{
	wh_session_check(rig.session, true);
	wh_session_destroy(rig.session);
	free(rig.memory);
}

static struct wh_packet data_packet(uint64_t pn, uint32_t chunk, uint16_t index, uint16_t k)
{
	return (struct wh_packet){
		.type = WH_PACKET_DATA,
		.cid = CID,
		.pn = pn,
		.data = {.chunk = chunk, .index = index, .k = k, .payload_bytes = PAYLOAD},
	};
}

static void take_data(uint64_t pn, uint32_t chunk, uint16_t index, uint8_t content)
{
	const struct wh_packet packet = data_packet(pn, chunk, index, 3);
	struct wh_rx_slot rx_slot;

	wh_session_place(rig.session, &packet, &rx_slot);
	memset(rx_slot.to, content, PAYLOAD);
	wh_session_take(&rx_slot, NOW, NOW);
}

static uint8_t *place_of(uint64_t pn, uint32_t chunk, uint16_t index, uint16_t k)
{
	const struct wh_packet packet = data_packet(pn, chunk, index, k);
	struct wh_rx_slot rx_slot;

	wh_session_place(rig.session, &packet, &rx_slot);
	return rx_slot.to;
}

/* Where a payload may go before its packet is believed: nowhere that counts already. */
static void test_places(void)
{
	/* Of a chunk that has not begun: where it will be once one of its packets is believed. */
	uint8_t *begun = place_of(FIRST, 0, 0, 3);

	CU_ASSERT_PTR_EQUAL(place_of(FIRST, 1, 1, 3), begun + PAYLOAD);
	take_data(FIRST, 0, 1, 1);

	uint8_t *first = place_of(FIRST + 1, 0, 0, 3);
	uint8_t *third = place_of(FIRST + 1, 0, 2, 3);

	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	CU_ASSERT_PTR_EQUAL(first, begun);
	CU_ASSERT_PTR_EQUAL(third, first + 2 * PAYLOAD);
	CU_ASSERT_EQUAL(first[PAYLOAD], 1);                /* what is there of the second */
	CU_ASSERT_PTR_NULL(place_of(FIRST, 0, 0, 3));      /* a duplicate */
	CU_ASSERT_PTR_NULL(place_of(FIRST + 65, 0, 0, 3)); /* beyond the window */
	CU_ASSERT_PTR_NULL(place_of(FIRST + 1, 0, 1, 3));  /* another packet number came for it */
	CU_ASSERT_PTR_NULL(place_of(FIRST + 1, 0, 0, 2));  /* of another length */
	CU_ASSERT_PTR_NULL(place_of(FIRST + 1, 4, 0, 3));  /* no credit for it */

	/* What is there counts once it is taken. */
	take_data(FIRST + 1, 0, 0, 0x5a);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).received_pkts, 2);
	CU_ASSERT_EQUAL(first[0], 0x5a);
	CU_ASSERT_EQUAL(first[PAYLOAD - 1], 0x5a);
	CU_ASSERT_EQUAL(first[PAYLOAD], 1);
	CU_ASSERT_PTR_NULL(place_of(FIRST + 2, 0, 0, 3));
	wh_session_abort(rig.session, NOW, WH_STATUS_INTERRUPTED);
	CU_ASSERT_PTR_NULL(place_of(FIRST + 2, 0, 2, 3));
}

/* What each packet is by its head alone, and that taking it counts as just that. */
static void test_rx_slots(void)
{
	static const struct {
		uint64_t pn;
		uint32_t chunk;
		uint16_t index;
		uint16_t k;
		enum wh_rx_slot_kind kind;
	} cases[] = {
		{FIRST, 0, 0, 3, WH_RX_SLOT_DUPLICATE},
		{FIRST + 65, 0, 0, 3, WH_RX_SLOT_BEYOND},
		{FIRST + 1, 4, 0, 3, WH_RX_SLOT_BEYOND},
		{FIRST + 1, 0, 1, 3, WH_RX_SLOT_CONTRADICTS},
		{FIRST + 1, 0, 0, 2, WH_RX_SLOT_CONTRADICTS},
		{FIRST + 1, 0, 0, 3, WH_RX_SLOT_FITS},
		{FIRST + 1, 0, 0, 3, WH_RX_SLOT_DUPLICATE},
	};
	uint64_t counted[WH_RX_SLOT_UNEXPECTED] = {1}; /* it fitted */

	take_data(FIRST, 0, 1, 1);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wh_packet packet =
			data_packet(cases[i].pn, cases[i].chunk, cases[i].index, cases[i].k);
		struct wh_rx_slot rx_slot;

		wh_session_place(rig.session, &packet, &rx_slot);
		CU_ASSERT_EQUAL(rx_slot.kind, cases[i].kind);
		CU_ASSERT_EQUAL(rx_slot.to != NULL, cases[i].kind == WH_RX_SLOT_FITS);
		wh_session_take(&rx_slot, NOW, NOW);
		counted[cases[i].kind]++;

		const struct wh_session_stats stats = wh_session_stats(rig.session);

		CU_ASSERT_EQUAL(stats.received_pkts, counted[WH_RX_SLOT_FITS]);
		CU_ASSERT_EQUAL(stats.duplicate_pkts, counted[WH_RX_SLOT_DUPLICATE]);
		CU_ASSERT_EQUAL(stats.bad_window_pkts, counted[WH_RX_SLOT_BEYOND]);
		CU_ASSERT_EQUAL(stats.bad_place_pkts, counted[WH_RX_SLOT_CONTRADICTS]);
	}
}

/* An rx slot that is given up leaves nothing: the next packet gets the same place. */
static void test_rx_slot_given_up(void)
{
	const struct wh_packet packet = data_packet(FIRST, 0, 0, 3);
	struct wh_rx_slot rx_slot, next;

	wh_session_place(rig.session, &packet, &rx_slot);
	memset(rx_slot.to, 0xee, PAYLOAD);
	wh_session_poll(rig.session, NOW);
	wh_session_place(rig.session, &packet, &next);
	CU_ASSERT_EQUAL(next.kind, WH_RX_SLOT_FITS);
	CU_ASSERT_PTR_EQUAL(next.to, rx_slot.to);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).received_pkts, 0);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).bad_pkts, 0);
}

enum misuse {
	TWICE,
	AFTER_A_TURN,
	AFTER_ANOTHER,
	MISUSES,
};

static void misuse_rx_slot(enum misuse misuse)
{
	const struct wh_packet packet = data_packet(FIRST, 0, 0, 3);
	const struct wh_packet other = data_packet(FIRST + 1, 0, 1, 3);
	struct wh_rx_slot rx_slot, second;

	wh_session_place(rig.session, &packet, &rx_slot);
	wh_session_place(rig.session, &other, &second);
	if (misuse == TWICE)
		wh_session_take(&rx_slot, NOW, NOW);
	else if (misuse == AFTER_A_TURN)
		wh_session_poll(rig.session, NOW);
	else
		wh_session_take(&second, NOW, NOW);
	wh_session_take(&rx_slot, NOW, NOW);
}

/* Used twice, late, or when another has moved things: our own mistake, and never unnoticed. */
static void test_rx_slot_misused(void)
{
	for (int misuse = 0; misuse < MISUSES; misuse++) {
		int status = 0;

		wh_take_down();
		wh_set_up();

		pid_t child = fork();

		CU_ASSERT_TRUE_FATAL(child >= 0);
		if (child == 0) {
			if (freopen("/dev/null", "w", stderr) == NULL)
				_exit(EXIT_FAILURE);
			misuse_rx_slot((enum misuse)misuse);
			_exit(EXIT_SUCCESS);
		}
		CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
		CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

CU_TestInfo wh_tests[] = {
	{"places", test_places},
	{"rx_slots", test_rx_slots},
	{"an rx slot given up", test_rx_slot_given_up},
	{"an rx slot misused", test_rx_slot_misused},
	CU_TEST_INFO_NULL,
};
