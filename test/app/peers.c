/* SPDX-License-Identifier: BSD-3-Clause */

/* What peers have, and what they are not given, in virtual time. */

#include "job/peers.h"
#include "guard/refusals.h"

#include <string.h>

#include "base/clock.h"
#include "unit.h"

const char wh_suite_name[] = "app/peers";

static const struct wh_peer_limits limits = {
	.places = 8,
	.spare_places = 2,
	.peer_places = 6,
	.peer_bytes = 1000,
	.peer_room_bytes = 77,
	.peer_openings_s = 10,
	.peer_lines_s = 2,
	.lines_s = 5,
};

static struct wh_peers open_peers(void)
{
	struct wh_peers peers;

	static const uint64_t seed[] = {4711, 4712};

	CU_ASSERT_EQUAL_FATAL(wh_peers_init(&peers, &limits, seed), 0);
	return peers;
}

static struct wh_address host(uint32_t number)
{
	struct wh_address address = {.family = WH_IPV4, .port = 5760};

	memcpy(address.ip, &number, sizeof(number));
	return address;
}

static struct wh_who at(const struct wh_address *address)
{
	return (struct wh_who){.address = address};
}

/* The entry that a peer of that number was given last. */
static struct wh_peer **peer_entry(uint32_t number)
{
	static struct wh_peer *guests[64];

	return &guests[number % 64];
}

static uint32_t admit(struct wh_peers *peers, uint32_t number, uint32_t times, uint64_t now_ns)
{
	const struct wh_address address = host(number);
	const struct wh_who who = at(&address);
	uint32_t admitted = 0;

	for (uint32_t i = 0; i < times; i++) {
		bool would = wh_peers_would_admit(peers, &who, now_ns);
		struct wh_peer *peer = wh_peers_admit(peers, &who, now_ns);

		CU_ASSERT_EQUAL(would, peer != NULL);
		admitted += peer != NULL;
		if (peer != NULL)
			*peer_entry(number) = peer;
	}
	return admitted;
}

static void dismiss(struct wh_peers *peers, uint32_t number, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		wh_peers_dismiss(peers, *peer_entry(number));
}

/* One cannot have them all; with all taken, who has none still gets one, and room is made. */
static void test_places(void)
{
	struct wh_peers peers = open_peers();
	uint64_t now_ns = 0;

	CU_ASSERT_EQUAL(admit(&peers, 1, 20, now_ns), 6);
	CU_ASSERT_EQUAL(admit(&peers, 2, 20, now_ns), 2);
	CU_ASSERT_FALSE(wh_peers_are_crowded(&peers));
	CU_ASSERT_EQUAL(admit(&peers, 3, 20, now_ns), 1);
	CU_ASSERT_TRUE(wh_peers_are_crowded(&peers));
	CU_ASSERT_EQUAL(admit(&peers, 4, 20, now_ns), 1);
	CU_ASSERT_EQUAL(admit(&peers, 5, 20, now_ns), 0);
	dismiss(&peers, 1, 1);
	CU_ASSERT_TRUE(wh_peers_are_crowded(&peers));
	CU_ASSERT_EQUAL(admit(&peers, 2, 20, now_ns), 0);
	CU_ASSERT_EQUAL(admit(&peers, 5, 20, now_ns), 1);
	dismiss(&peers, 1, 5);
	CU_ASSERT_FALSE(wh_peers_are_crowded(&peers));
	wh_peers_free(&peers);
}

/* Ports and interfaces of one peer are the same one. */
static void test_who_is_one(void)
{
	struct wh_peers peers = open_peers();
	struct wh_address address = host(1);
	const struct wh_who who = at(&address);
	uint32_t admitted = 0;

	for (uint16_t port = 1; port <= 20; port++) {
		address.port = port;
		admitted += wh_peers_admit(&peers, &who, 0) != NULL;
	}
	CU_ASSERT_EQUAL(admitted, 6);
	wh_peers_free(&peers);

	peers = open_peers();
	address = (struct wh_address){.family = WH_IPV6, .ip = {0x20, 0x01, 0x0d, 0xb8}};
	admitted = 0;
	for (uint8_t interface = 1; interface <= 20; interface++) {
		address.ip[15] = interface;
		admitted += wh_peers_admit(&peers, &who, 0) != NULL;
	}
	CU_ASSERT_EQUAL(admitted, 6);
	address.ip[7] = 2; /* another subnet */

	const struct wh_peer *other = wh_peers_admit(&peers, &who, 0);

	CU_ASSERT_PTR_NOT_NULL_FATAL(other);
	CU_ASSERT_EQUAL(other->places, 1);
	CU_ASSERT_EQUAL(peers.places, 7);
	wh_peers_free(&peers);
}

/* What two addresses of one key have is one peer's, and so are they two that have one address. */
static void test_keys(void)
{
	static const uint8_t key[2][WH_IDENTITY_BYTES] = {{1, 2, 3}, {1, 2, 3, [31] = 1}};
	const struct wh_known_path way = {.capacity_bps = 1000, .rtt_ns = 5, .burst_pkts = 64};
	const struct wh_address address[] = {host(1), host(2)};
	const struct wh_who who[] = {{&address[0], key[0]}, {&address[1], key[0]}};
	const struct wh_who behind = {&address[0], key[1]};
	const struct wh_who plain = {&address[0], NULL};
	struct wh_peers peers = open_peers();
	struct wh_peer *first = wh_peers_admit(&peers, &who[0], 0);
	uint32_t admitted = 1;

	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	for (uint32_t i = 1; i < 20; i++)
		admitted += wh_peers_admit(&peers, &who[i % 2], 0) == first;
	CU_ASSERT_EQUAL(admitted, 6);
	CU_ASSERT_FALSE(wh_peers_would_admit(&peers, &who[0], 0));
	CU_ASSERT_TRUE(wh_address_equal(&first->address, &address[1]));
	CU_ASSERT_TRUE(wh_peers_take_bytes(&peers, first, 1000));

	/* The same beginning of a key is no key, and an address is none. */
	struct wh_peer *second = wh_peers_admit(&peers, &behind, 0);
	struct wh_peer *third = wh_peers_admit(&peers, &plain, 0);

	CU_ASSERT_FATAL(second != NULL && third != NULL);
	CU_ASSERT(second != first && third != first && second != third);
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&peers, second), 1000);
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&peers, first), 0);
	wh_peers_give_bytes(first, 1000);

	/* A way is to an address, whoever is there. */
	wh_peers_learn(&peers, first, &address[0], &way, 0);
	CU_ASSERT_EQUAL(wh_peers_known(&peers, first, &address[0], 0).capacity_bps, 1000);
	CU_ASSERT_EQUAL(wh_peers_known(&peers, first, &address[1], 0).capacity_bps, 0);
	wh_peers_free(&peers);
}

/* Three seconds' worth at once, then as many as time pays for. */
static void test_openings(void)
{
	struct wh_peers peers = open_peers();
	uint32_t opened = 0;

	for (uint32_t i = 0; i < 100; i++)
		if (admit(&peers, 1, 1, 0) == 1) {
			dismiss(&peers, 1, 1);
			opened++;
		}
	CU_ASSERT_EQUAL(opened, 30);
	CU_ASSERT_EQUAL(admit(&peers, 2, 1, 0), 1);
	CU_ASSERT_EQUAL(admit(&peers, 1, 1, WH_NS_PER_S / 10 - 1), 0);
	CU_ASSERT_EQUAL(admit(&peers, 1, 1, WH_NS_PER_S / 10), 1);
	dismiss(&peers, 1, 1);
	for (uint64_t ms = 0; ms < 10000; ms += 10)
		if (admit(&peers, 1, 1, WH_NS_PER_S + ms * 1000000) == 1) {
			dismiss(&peers, 1, 1);
			opened++;
		}
	CU_ASSERT_EQUAL(opened, 30 + 108);
	wh_peers_free(&peers);
}

static void test_memory(void)
{
	struct wh_peers peers = open_peers();

	admit(&peers, 1, 1, 0);
	admit(&peers, 2, 1, 0);

	struct wh_peer *one = *peer_entry(1);
	const struct wh_peer *other = *peer_entry(2);

	CU_ASSERT_PTR_NOT_EQUAL(one, other);
	CU_ASSERT_EQUAL(one->room.most_bytes, 77);
	CU_ASSERT_FALSE(wh_peers_take_bytes(&peers, one, 1001));
	CU_ASSERT_FALSE(wh_peers_take_bytes(&peers, one, UINT64_MAX));
	CU_ASSERT_TRUE(wh_peers_take_bytes(&peers, one, 999));
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&peers, one), 1);
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&peers, other), 1000);
	CU_ASSERT_FALSE(wh_peers_take_bytes(&peers, one, 2));
	CU_ASSERT_TRUE(wh_peers_take_bytes(&peers, one, 1));
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&peers, one), 0);
	wh_peers_give_bytes(one, 1000);
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&peers, one), 1000);
	wh_peers_free(&peers);
}

static uint32_t log_lines(struct wh_peers *peers, uint32_t number, uint32_t lines, uint64_t now_ns)
{
	uint32_t logged = 0;

	for (uint32_t i = 0; i < lines; i++)
		logged += wh_peers_may_log(peers, *peer_entry(number), now_ns);
	return logged;
}

/* What is held back is counted, and told once. */
static void test_lines(void)
{
	struct wh_peers peers = open_peers();
	struct wh_address told;
	uint64_t lines = 0;

	for (uint32_t number = 1; number <= 3; number++)
		admit(&peers, number, 1, 0);
	CU_ASSERT_EQUAL(log_lines(&peers, 1, 780, 0), 6);
	CU_ASSERT_EQUAL(log_lines(&peers, 2, 100, 0), 6);
	CU_ASSERT_EQUAL(log_lines(&peers, 3, 100, 0), 3); /* of 15 for all */
	CU_ASSERT_FALSE(wh_peers_next_untold(&peers, 0, &told, &lines));

	uint32_t found = 0;

	for (uint64_t ms = 0; ms < 10000; ms += 50)
		if (wh_peers_next_untold(&peers, ms * 1000000, &told, &lines)) {
			const struct wh_address first = host(1);

			found++;
			if (wh_address_equal(&told, &first))
				CU_ASSERT_EQUAL(lines, 774);
		}
	CU_ASSERT_EQUAL(found, 3);
	CU_ASSERT_EQUAL(peers.untold_lines, 0);
	CU_ASSERT_FALSE(wh_peers_next_untold(&peers, 20 * WH_NS_PER_S, &told, &lines));
	wh_peers_free(&peers);
}

/* Who has a place is known among any number of those who had one; lines of the others count on. */
static void test_forgets_who_has_nothing(void)
{
	struct wh_peers peers = open_peers();
	uint64_t lines = 0;
	struct wh_address told;

	admit(&peers, UINT32_MAX, 2, 0);

	struct wh_peer *holder = *peer_entry(UINT32_MAX);

	wh_peers_take_bytes(&peers, holder, 7);
	for (uint32_t number = 1; number <= 100000; number++) {
		CU_ASSERT_EQUAL(admit(&peers, number, 1, number), 1);
		log_lines(&peers, number, 1, number);
		dismiss(&peers, number, 1);
	}
	CU_ASSERT_EQUAL(holder->places, 2);
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&peers, holder), 993);

	uint64_t sum = 0;

	for (uint64_t s = 10; s < 40000 && sum < 100000 - 15; s++)
		if (wh_peers_next_untold(&peers, s * WH_NS_PER_S, &told, &lines))
			sum += lines;
	CU_ASSERT_EQUAL(sum, 100000 - 15);
	CU_ASSERT_EQUAL(peers.untold_lines, 0);
	wh_peers_free(&peers);
}

/* An entry that is held keeps its rate, however many others come; a second hold is of the same. */
static void test_held(void)
{
	static const uint8_t identity[WH_IDENTITY_BYTES] = {7, 7};
	struct wh_peers peers = open_peers();
	struct wh_peer *held = wh_peers_hold(&peers, identity, 0);

	CU_ASSERT_PTR_NOT_NULL_FATAL(held);
	wh_shared_rate_set(&held->rate, 4711);
	for (uint32_t number = 1; number <= 100000; number++) {
		CU_ASSERT_EQUAL(admit(&peers, number, 1, number), 1);
		dismiss(&peers, number, 1);
	}
	CU_ASSERT_PTR_EQUAL(wh_peers_hold(&peers, identity, 100001), held);
	CU_ASSERT_EQUAL(wh_shared_rate_bps(&held->rate), 4711);
	CU_ASSERT_EQUAL(held->places, 0);
	wh_peers_release(&peers, held);
	wh_peers_release(&peers, held);
	wh_peers_free(&peers);
}

static struct wh_known_path known(struct wh_peers *peers, uint32_t number, uint64_t now_ns)
{
	const struct wh_address address = host(number);

	return wh_peers_known(peers, *peer_entry(number), &address, now_ns);
}

static void learn(
	struct wh_peers *peers, uint32_t number, const struct wh_known_path *way, uint64_t now_ns)
{
	const struct wh_address address = host(number);

	wh_peers_learn(peers, *peer_entry(number), &address, way, now_ns);
}

/* What was found of the way to a peer is its own, is as old as it is, and goes with its entry. */
static void test_known(void)
{
	struct wh_peers peers = open_peers();
	struct wh_known_path way = {.capacity_bps = 1000, .rtt_ns = 5, .burst_pkts = 64};

	admit(&peers, 1, 1, 0);
	admit(&peers, 2, 1, 0);
	CU_ASSERT_EQUAL(known(&peers, 1, 9 * WH_NS_PER_S).capacity_bps, 0);
	CU_ASSERT_EQUAL(known(&peers, 1, 9 * WH_NS_PER_S).age_s, 0);
	learn(&peers, 1, &way, 9 * WH_NS_PER_S);
	way = (struct wh_known_path){.capacity_bps = 2000, .rtt_ns = 7};
	learn(&peers, 1, &way, 10 * WH_NS_PER_S);
	way = known(&peers, 1, 70 * WH_NS_PER_S);
	CU_ASSERT_EQUAL(way.capacity_bps, 2000);
	CU_ASSERT_EQUAL(way.rtt_ns, 7);
	CU_ASSERT_EQUAL(way.burst_pkts, 64);
	CU_ASSERT_EQUAL(way.age_s, 60);
	CU_ASSERT_EQUAL(known(&peers, 1, 0).age_s, 0);
	CU_ASSERT_EQUAL(known(&peers, 2, 70 * WH_NS_PER_S).capacity_bps, 0);

	/* It comes back before its entry is another's, and after that. */
	dismiss(&peers, 1, 1);
	admit(&peers, 1, 1, 71 * WH_NS_PER_S);
	CU_ASSERT_EQUAL(known(&peers, 1, 71 * WH_NS_PER_S).capacity_bps, 2000);
	dismiss(&peers, 1, 1);
	for (uint32_t number = 3; number <= 100000; number++) {
		admit(&peers, number, 1, 72 * WH_NS_PER_S + number);
		CU_ASSERT_EQUAL(known(&peers, number, 73 * WH_NS_PER_S).rtt_ns, 0);
		dismiss(&peers, number, 1);
	}
	admit(&peers, 1, 1, 80 * WH_NS_PER_S);
	CU_ASSERT_EQUAL(known(&peers, 1, 80 * WH_NS_PER_S).capacity_bps, 0);
	wh_peers_free(&peers);
}

static struct wh_address refused_host(uint8_t last, uint16_t port)
{
	return (struct wh_address){.family = WH_IPV4, .ip = {192, 0, 2, last}, .port = port};
}

/* As many addresses as there is room for, and the rest as a number. */
static void test_refusals(void)
{
	struct wh_refusals refusals;
	struct wh_refusal refusal;
	uint64_t times = 0;
	uint32_t named = 0;

	wh_refusals_init(&refusals);
	CU_ASSERT(!wh_refusals_take(&refusals, &refusal));
	/* Ports do not count, reasons do. */
	for (uint16_t i = 0; i < 1000; i++) {
		const struct wh_address peer = refused_host(1, (uint16_t)(i + 1));

		wh_refusals_note(&refusals, &peer, NULL, "refused", "");
		wh_refusals_note(&refusals, &peer, NULL, "busy", "");
	}
	while (wh_refusals_take(&refusals, &refusal)) {
		CU_ASSERT(refusal.peer.port == 0 && refusal.times == 1000);
		named++;
	}
	CU_ASSERT_EQUAL(named, 2);
	for (uint32_t i = 0; i < 200; i++) {
		const struct wh_address peer = refused_host((uint8_t)i, 1);

		wh_refusals_note(&refusals, &peer, NULL, "refused", "");
	}
	for (named = 0; wh_refusals_take(&refusals, &refusal); named++)
		times += refusal.times;
	CU_ASSERT(named == WH_REFUSALS_KEPT + 1 && times == 200);
	CU_ASSERT(refusal.peer.family == 0);
	CU_ASSERT(!wh_refusals_take(&refusals, &refusal));

	/* So do keys, of which anybody has as many as he likes; the first reason is told. */
	for (uint32_t i = 0; i < 200; i++) {
		const struct wh_address peer = refused_host(1, 1);
		const uint8_t key[WH_IDENTITY_BYTES] = {(uint8_t)(i / 2 + 1)};

		wh_refusals_note(&refusals, &peer, key, "unknown", i % 2 == 0 ? "first" : "then");
	}
	for (named = 0; wh_refusals_take(&refusals, &refusal); named++) {
		CU_ASSERT(refusal.peer.family == 0 ? refusal.times == 200 - 2 * WH_REFUSALS_KEPT
						   : refusal.times == 2);
		CU_ASSERT_STRING_EQUAL(refusal.why, refusal.peer.family == 0 ? "" : "first");
		CU_ASSERT_EQUAL(refusal.identity[0] != 0, refusal.peer.family != 0);
	}
	CU_ASSERT_EQUAL(named, WH_REFUSALS_KEPT + 1);
}

CU_TestInfo wh_tests[] = {
	{"what is known of the way", test_known},
	{"places", test_places},
	{"who is one", test_who_is_one},
	{"keys", test_keys},
	{"openings", test_openings},
	{"memory", test_memory},
	{"lines", test_lines},
	{"forgets who has nothing", test_forgets_who_has_nothing},
	{"refusals", test_refusals},
	{"an entry is held", test_held},
	CU_TEST_INFO_NULL,
};
