/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/mtu_proof.h"

#include "neighbour_rig.h"

const char wh_suite_name[] = "lib/neighbour MTU proof";

#define PEER4 rig_ip4(10, 0, 0, 2)
#define PEER6 rig_ip6(rig_peer6)

#define ECHOES_MAX 64

/* Us, a peer, and a path between with a delay of 1 ms each way that drops what is too long. */
struct world {
	struct rig here, there;
	uint32_t path_bytes; /* of an IP packet, at most */
	bool deaf;           /* the peer, to echo */
	uint32_t lose;       /* so many of the next echo requests */
	uint32_t echoes;
	struct {
		uint64_t at;
		uint32_t ip_bytes;
	} echo[ECHOES_MAX]; /* requests that left */
};

static void world_open(struct world *world, uint16_t mtu)
{
	struct wh_neighbour_config config = rig_config();

	memset(world, 0, sizeof(*world));
	world->path_bytes = UINT32_MAX;
	config.mtu = mtu;
	if (mtu < 1280)
		config.ipv6.prefix_bits = 0;
	rig_open(&world->here, &config);
	memcpy(config.mac, rig_peer, 6);
	config.ipv4.ip[3] = 2;
	config.ipv6.ip[15] = 2;
	rig_open(&world->there, &config);
}

static void world_close(struct world *world)
{
	rig_close(&world->here);
	rig_close(&world->there);
}

static uint32_t ip_bytes_of(const struct rig *rig)
{
	const uint8_t *ip = rig->frame + 14;

	switch (rig->frame[12] << 8 | rig->frame[13]) {
	case 0x0800:
		return (uint32_t)ip[2] << 8 | ip[3];
	case 0x86dd:
		return 40 + ((uint32_t)ip[4] << 8 | ip[5]);
	default:
		return 28;
	}
}

static bool is_echo_request(const struct rig *rig)
{
	bool ipv4 = rig->frame[12] == 0x08 && rig->frame[13] == 0x00;

	return (ipv4 && rig->frame[34] == 8) || (rig->frame[12] == 0x86 && rig->frame[54] == 128);
}

/* Whether a frame of ours that left gets to the peer. */
static bool gets_there(struct world *world)
{
	const struct rig *here = &world->here;

	if (is_echo_request(here)) {
		CU_ASSERT_FATAL(world->echoes < ECHOES_MAX);
		/* RFC 791: may not be fragmented. */
		CU_ASSERT(here->frame[12] == 0x86 || here->frame[20] == 0x40);
		world->echo[world->echoes].at = here->now;
		world->echo[world->echoes++].ip_bytes = ip_bytes_of(here);
		if (world->deaf)
			return false;
		if (world->lose > 0) {
			world->lose--;
			return false;
		}
	}
	return ip_bytes_of(here) <= world->path_bytes;
}

/* All that can happen now, and 2 ms for there and back; whether anything did. */
static bool exchange(struct world *world)
{
	bool moved = false;

	while (rig_take(&world->here) > 0) {
		moved = true;
		if (gets_there(world))
			rig_feed(&world->there, world->here.frame, world->here.bytes);
	}
	if (!moved)
		return false;
	world->here.now = world->there.now += 2 * RIG_MS;
	while (rig_take(&world->there) > 0)
		if (ip_bytes_of(&world->there) <= world->path_bytes)
			rig_feed(&world->here, world->there.frame, world->there.bytes);
	return true;
}

/*
 * Jumps to the neighbour's next deadline when nothing else happens; false: there is none. An echo
 * that is given up is so with the neighbour's output: the proof goes on after it.
 */
static bool step(struct world *world, struct wh_mtu_proof *proof)
{
	(void)wh_mtu_proof_poll(proof, world->here.now);
	if (exchange(world) || wh_mtu_proof_poll(proof, world->here.now) != WH_MTU_PROOF_RUNNING ||
		exchange(world))
		return true;

	uint64_t next = wh_neighbour_deadline(&world->here.host);

	/* That there is no way is news for the proof, too. */
	if (next == UINT64_MAX)
		return wh_mtu_proof_poll(proof, world->here.now) != WH_MTU_PROOF_RUNNING;
	if (next > world->here.now)
		world->here.now = world->there.now = next;
	return true;
}

static void start(struct world *world, struct wh_mtu_proof *proof, const struct wh_address *peer)
{
	CU_ASSERT_EQUAL_FATAL(
		wh_mtu_proof_start(proof, &world->here.host, world->here.now, peer), 0);
}

static enum wh_mtu_proof_state run(struct world *world, struct wh_mtu_proof *proof)
{
	while (wh_mtu_proof_poll(proof, world->here.now) == WH_MTU_PROOF_RUNNING)
		CU_ASSERT_FATAL(step(world, proof));
	return proof->state;
}

static bool asked(const struct world *world, const uint32_t *ip_bytes, uint32_t count)
{
	bool right = world->echoes == count;

	for (uint32_t i = 0; right && i < count; i++)
		right = world->echo[i].ip_bytes == ip_bytes[i];
	for (uint32_t i = 0; !right && i < world->echoes; i++)
		printf("%u%s", world->echo[i].ip_bytes, i + 1 < world->echoes ? ", " : "\n");
	return right;
}

#define ASKED(world, ...)                                                                          \
	asked(world, (const uint32_t[]){__VA_ARGS__},                                              \
		sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* One question, one answer: the first round trip finds the MAC, the second proves. */
static void proved(void)
{
	static const uint16_t mtus[] = {576, 1280, 1500, 9000, 9600};

	for (size_t i = 0; i < 2 * sizeof(mtus) / sizeof(mtus[0]); i++) {
		uint16_t mtu = mtus[i / 2];
		struct wh_address peer = i % 2 == 0 ? PEER4 : PEER6;
		struct wh_mtu_proof proof;
		struct world world;

		if (i % 2 == 1 && mtu < 1280)
			continue;
		world_open(&world, mtu);
		world.path_bytes = mtu;
		start(&world, &proof, &peer);
		CU_ASSERT_EQUAL(proof.state, WH_MTU_PROOF_RUNNING);
		CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_PROVED);
		CU_ASSERT_EQUAL(proof.proved_bytes, mtu);
		CU_ASSERT(ASKED(&world, mtu));
		CU_ASSERT_EQUAL(world.here.now, 4 * RIG_MS);
		/* It is over, and asks no more. */
		CU_ASSERT_EQUAL(
			wh_mtu_proof_poll(&proof, world.here.now + RIG_S), WH_MTU_PROOF_PROVED);
		CU_ASSERT_EQUAL(rig_take(&world.here), 0);
		world_close(&world);
	}
}

/*
 * The first are lost on the way, as when the peer has just come up; a second apart, small ones are
 * tried, and once one is answered the whole MTU is, again.
 */
static void repeated(void)
{
	struct wh_address peer = PEER4;
	struct wh_mtu_proof proof;
	struct world world;

	world_open(&world, 9000);
	world.lose = 3;
	start(&world, &proof, &peer);
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_PROVED);
	CU_ASSERT(ASKED(&world, 9000, 576, 576, 576, 9000));
	for (uint32_t i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(world.echo[i].at, 2 * RIG_MS + i * RIG_S);
	CU_ASSERT_EQUAL(world.echo[4].at, 4 * RIG_MS + 3 * RIG_S);
	CU_ASSERT_EQUAL(proof.asks, 0);
	world_close(&world);

	/* Four lost in a row are a peer that is silent to echo: nothing is proved, nor refuted. */
	world_open(&world, 9000);
	world.lose = 4;
	start(&world, &proof, &peer);
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_UNKNOWN);
	world_close(&world);
}

/* What the path bears, and the largest known size that it does. */
static void too_large(void)
{
	static const struct {
		uint16_t mtu, path, proved;
		bool ipv6;
	} cases[] = {
		{9000, 1500, 1500, false},
		{9000, 1499, 1492, false},
		{9000, 1501, 1500, false},
		{9000, 1500, 1500, true},
		{9000, 8999, 8976, false},
		{9000, 8950, 8950, true},
		{9000, 4470, 4470, false},
		{9000, 576, 576, false},
		{9000, 1279, 576, false},
		{9000, 1280, 1280, false},
		{9000, 1280, 1280, true},
		{9001, 9000, 9000, false},
		{9600, 9599, 9216, true},
		{9600, 9180, 9180, false},
		{1500, 1492, 1492, false},
		{1500, 1450, 1450, true},
		{1281, 1280, 1280, true},
		{577, 576, 576, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_address peer = cases[i].ipv6 ? PEER6 : PEER4;
		struct wh_mtu_proof proof;
		struct world world;

		world_open(&world, cases[i].mtu);
		world.path_bytes = cases[i].path;
		start(&world, &proof, &peer);
		CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_TOO_LARGE);
		if (proof.proved_bytes != cases[i].proved)
			printf("case %zu: %u\n", i, proof.proved_bytes);
		CU_ASSERT_EQUAL(proof.proved_bytes, cases[i].proved);
		CU_ASSERT(proof.refused_bytes > cases[i].path);
		/* Once the peer's round trip is known an echo is given up after 100 ms. */
		CU_ASSERT(world.here.now < 3 * RIG_S);
		world_close(&world);
	}
}

/* The sizes asked with, one after the other. */
static void bisection(void)
{
	struct wh_address peer = PEER6;
	struct wh_mtu_proof proof;
	struct world world;

	/* Between 1280 and 9000 are 12 sizes: the 7th, of the 5 above it the 3rd, and so on. */
	world_open(&world, 9000);
	world.path_bytes = 8192;
	start(&world, &proof, &peer);
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_TOO_LARGE);
	CU_ASSERT(ASKED(&world, 9000, 1280, 9000, 9000, 9000, 2048, 8192, 8976, 8976, 8976, 8950,
		8950, 8950));
	CU_ASSERT_EQUAL(proof.proved_bytes, 8192);
	CU_ASSERT_EQUAL(proof.refused_bytes, 8950);
	world_close(&world);

	/* Between 576 and 1500 are 6: the 4th, then those below it. */
	peer = PEER4;
	world_open(&world, 1500);
	world.path_bytes = 1000;
	start(&world, &proof, &peer);
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_TOO_LARGE);
	CU_ASSERT(ASKED(&world, 1500, 576, 1500, 1500, 1500, 1450, 1450, 1450, 1400, 1400, 1400,
		1280, 1280, 1280));
	CU_ASSERT_EQUAL(proof.proved_bytes, 576);
	world_close(&world);
}

/* A peer that answers no echo proves nothing, and takes 4 s; one that is not there at all, 3 s. */
static void unknown(void)
{
	struct wh_address peers[] = {PEER4, PEER6};
	static const uint32_t small[] = {576, 1280};

	for (size_t i = 0; i < 2; i++) {
		struct wh_mtu_proof proof;
		struct world world;

		world_open(&world, 9000);
		world.deaf = true;
		start(&world, &proof, &peers[i]);
		CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_UNKNOWN);
		CU_ASSERT_EQUAL(proof.result, WH_NEIGHBOUR_FOUND);
		CU_ASSERT_EQUAL(proof.proved_bytes, 0);
		CU_ASSERT(ASKED(&world, 9000, small[i], small[i], small[i]));
		CU_ASSERT_EQUAL(world.here.now, 4 * RIG_S + 2 * RIG_MS);
		world_close(&world);

		world_open(&world, 9000);
		world.path_bytes = 0;
		start(&world, &proof, &peers[i]);
		CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_UNKNOWN);
		CU_ASSERT_EQUAL(proof.result, WH_NEIGHBOUR_SILENT);
		CU_ASSERT_EQUAL(world.echoes, 0);
		world_close(&world);
	}

	/* Nothing is smaller than the smallest. */
	static const uint16_t least[] = {576, 1280};

	for (size_t i = 0; i < 2; i++) {
		struct wh_mtu_proof proof;
		struct world world;

		world_open(&world, least[i]);
		world.deaf = true;
		start(&world, &proof, &peers[i]);
		CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_UNKNOWN);
		CU_ASSERT(ASKED(&world, least[i], least[i], least[i]));
		world_close(&world);
	}
}

static void no_way(void)
{
	struct wh_neighbour_config config = rig_config();
	struct wh_address far = rig_ip4(10, 0, 1, 2), own = rig_ip4(10, 0, 0, 1);
	struct wh_mtu_proof proof;
	struct world world;

	world_open(&world, 1500);
	rig_close(&world.here);
	memset(config.ipv4.gateway, 0, 16);
	rig_open(&world.here, &config);
	start(&world, &proof, &far);
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_UNKNOWN);
	CU_ASSERT_EQUAL(proof.result, WH_NEIGHBOUR_NO_GATEWAY);
	start(&world, &proof, &own);
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_UNKNOWN);
	CU_ASSERT_EQUAL(proof.result, WH_NEIGHBOUR_NO_HOST);
	CU_ASSERT_EQUAL(world.here.now, 0);
	world_close(&world);
}

/* The peer goes away between two questions: what was proved does not make the rest too large. */
static void peer_goes(void)
{
	struct wh_address peer = PEER4;
	struct wh_mtu_proof proof;
	struct world world;

	world_open(&world, 9000);
	world.path_bytes = 1500;
	start(&world, &proof, &peer);
	while (proof.proved_bytes == 0)
		CU_ASSERT_FATAL(step(&world, &proof));
	CU_ASSERT_EQUAL(proof.state, WH_MTU_PROOF_RUNNING);
	world.here.host.entry[0].state = WH_NEIGHBOUR_FAILED;
	world.here.host.entry[0].until_tsc = UINT64_MAX;
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_UNKNOWN);
	CU_ASSERT_EQUAL(proof.result, WH_NEIGHBOUR_SILENT);
	world_close(&world);
}

/* One after the other; and not while somebody else's question is under way. */
static void in_turn(void)
{
	struct wh_address peers[] = {PEER4, PEER6};
	struct wh_mtu_proof proof;
	struct world world;

	world_open(&world, 9000);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&world.here.host, 0, &peers[0], 100), 0);
	CU_ASSERT_EQUAL(wh_mtu_proof_start(&proof, &world.here.host, 0, &peers[0]), -EBUSY);
	for (int i = 0; i < 3; i++) /* looked up, MAC asked for, echo */
		(void)exchange(&world);
	CU_ASSERT_EQUAL(world.here.host.echo.state, WH_NEIGHBOUR_ECHO_ANSWERED);
	/* That answer is none to the proof's question. */
	start(&world, &proof, &peers[0]);
	CU_ASSERT_EQUAL(wh_mtu_proof_poll(&proof, world.here.now), WH_MTU_PROOF_RUNNING);
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_PROVED);
	world.path_bytes = 1500;
	start(&world, &proof, &peers[1]);
	CU_ASSERT_EQUAL(run(&world, &proof), WH_MTU_PROOF_TOO_LARGE);
	CU_ASSERT_EQUAL(proof.proved_bytes, 1500);
	CU_ASSERT_EQUAL(world.echo[0].ip_bytes, 100);
	CU_ASSERT_EQUAL(world.echo[1].ip_bytes, 9000);
	world_close(&world);
}

/* Who has several peers proves the way to each; the second waits, even between two questions. */
static void two_proofs(void)
{
	struct wh_address peers[] = {PEER4, PEER6};
	struct wh_mtu_proof first, second;
	struct world world;

	world_open(&world, 9000);
	world.path_bytes = 1500;
	start(&world, &first, &peers[0]);
	while (wh_mtu_proof_poll(&first, world.here.now) == WH_MTU_PROOF_RUNNING) {
		CU_ASSERT_EQUAL(
			wh_mtu_proof_start(&second, &world.here.host, world.here.now, &peers[1]),
			-EBUSY);
		CU_ASSERT_FATAL(step(&world, &first));
	}
	CU_ASSERT_EQUAL(first.state, WH_MTU_PROOF_TOO_LARGE);
	start(&world, &second, &peers[1]);
	CU_ASSERT_EQUAL(run(&world, &second), WH_MTU_PROOF_TOO_LARGE);
	world_close(&world);
}

CU_TestInfo wh_tests[] = {
	{"one answer proves", proved},
	{"a peer that comes up late", repeated},
	{"too large: what does get through", too_large},
	{"sizes of the bisection", bisection},
	{"no answer at all is no proof", unknown},
	{"no way to the peer", no_way},
	{"the peer goes away", peer_goes},
	{"in turn", in_turn},
	{"two proofs", two_proofs},
	CU_TEST_INFO_NULL,
};
