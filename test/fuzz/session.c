/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: a hostile peer. Every packet decodes, and every field of it may lie. Bad packets
 * are dropped and counted, or end their connection with a status; nothing else comes of them.
 */

#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "maker.h"
#include "number_input.h"
#include "storm.h"
#include "wire/versions.h"

#define MS UINT64_C(1000000)

static uint64_t outcomes[WH_STATUSES]; /* of the ends that there were last */

#define STEPS_MAX    500
#define FORGED_MAX   8
#define RAW_BYTES    200
#define FLOOD        400 /* of one type, more than an inbox holds */
#define FLOOD_ONE_IN 200

/*
 * Rounds of polling and sending in which everything that is due at one moment must be done: two
 * windows of 1024 packets, again and new, and full inboxes and outboxes, by bursts of 32.
 */
#define ROUNDS_MAX 300

/* A connection left alone ends within the peer's timeout, 30 s, counted in steps of a second. */
#define SILENCE_STEPS 35

static uint64_t due_of(const struct wh_storm *storm, int role)
{
	const struct wh_endpoint *endpoint = &storm->end[role].endpoint;

	return wh_min_u64(
		wh_endpoint_receive_deadline(endpoint), wh_endpoint_send_deadline(endpoint));
}

/* Either half of either end, on a core of its own or not, may be far behind the other. */
static int32_t poll_receivers(struct wh_storm *storm, int role)
{
	return wh_endpoint_receive_poll(&storm->end[role].endpoint, storm->now_tsc);
}

static int32_t poll_transmitters(struct wh_storm *storm, int role)
{
	return wh_endpoint_send_poll(&storm->end[role].endpoint, storm->now_tsc);
}

/* Half of the time like an idle core: to whatever is due next. */
static void pass_time(struct wh_storm *storm)
{
	static const uint64_t spans_ns[] = {1, 1, 1, 1, 1000, 1000, 1000, 20 * MS, 20 * MS, 20 * MS,
		20 * MS, 20 * MS, 20 * MS, 250 * MS, 250 * MS, 10000 * MS};
	struct wh_script *script = &storm->script;
	uint64_t due_tsc = wh_min_u64(due_of(storm, 0), due_of(storm, 1));

	if (wh_script_one_in(script, 2)) {
		uint64_t span_ns = wh_script_below(script, spans_ns[wh_script_below(script, 16)]);

		storm->now_tsc += wh_ns_to_tsc(storm->hz, span_ns);
	} else if (due_tsc != WH_TSC_NEVER) {
		storm->now_tsc = wh_max_u64(storm->now_tsc, due_tsc);
	}
}

static void forge(struct wh_storm *storm, enum wh_role to, enum wh_packet_type type)
{
	static uint8_t bytes[WH_FUZZ_PACKET_BYTES_MAX];
	struct wh_script *script = &storm->script;
	struct wh_address from = storm->end[!to].address;
	struct wh_packet packet;

	if (!wh_liar_forge(&storm->liar, to, type, &packet))
		return;
	if (wh_script_one_in(script, 16))
		packet.cid = (uint32_t)wh_script_below(script, 200);

	uint64_t token = wh_liar_token(&storm->liar, to, type);

	if (token != 0 && wh_script_one_in(script, 16))
		token ^= 1;
	if (wh_script_one_in(script, 16))
		from.port = 2;
	storm->end[to].lied_to = true;
	wh_storm_deliver(storm, to, bytes, wh_fuzz_encode(&packet, token, bytes), &from);
}

/* At the edges of the format, to one that is addressed rightly; most of them decode. */
static void send_made(struct wh_storm *storm, enum wh_role to)
{
	static uint8_t bytes[2 * WH_FUZZ_PACKET_BYTES_MAX];
	struct wh_prng prng;

	wh_prng_init(&prng, wh_script_u64(&storm->script));

	size_t length = maker_packet(
		&prng, storm->liar.cid[to], storm->liar.token[to], bytes, sizeof(bytes));

	storm->end[to].lied_to = true;
	wh_storm_deliver(storm, to, bytes, (uint32_t)length, &storm->end[!to].address);
}

/* That the peer speaks another version, in answer to the OPEN that was heard last. */
static void send_versions(struct wh_storm *storm)
{
	static uint8_t bytes[8 + WH_FUZZ_PACKET_BYTES_MAX];
	const struct wh_packet *open = &storm->liar.last[WH_PACKET_OPEN];

	if (open->type != WH_PACKET_OPEN)
		return;
	wh_fuzz_encode(open, 0, bytes + 8);
	memset(bytes, 0, 8);
	bytes[1] = 1;
	bytes[2] = (uint8_t)wh_script_below(&storm->script, 4);
	bytes[3] = (uint8_t)wh_script_below(&storm->script, 4);
	wh_storm_deliver(
		storm, WH_TRANSMITTER, bytes, WH_VERSIONS_BYTES, &storm->end[WH_RECEIVER].address);
}

static void send_raw(struct wh_storm *storm, enum wh_role to)
{
	uint8_t bytes[RAW_BYTES];
	uint32_t length = (uint32_t)wh_script_below(&storm->script, sizeof(bytes) + 1);

	for (uint32_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)wh_script_below(&storm->script, 256);
	wh_storm_deliver(storm, to, bytes, length, &storm->end[!to].address);
}

/* Most of what is under way arrives, mostly in order; some of it will again. */
static void deliver(struct wh_storm *storm, enum wh_role to)
{
	struct wh_script *script = &storm->script;
	struct wh_storm_end *end = &storm->end[to];

	if (wh_script_one_in(script, 4))
		return;
	for (uint32_t left = end->n_waiting; left > 0; left--) {
		uint32_t i = 0;

		if (wh_script_one_in(script, 16))
			i = (uint32_t)wh_script_below(script, end->n_waiting);
		wh_storm_deliver_waiting(storm, to, i, wh_script_one_in(script, 32));
	}
}

static enum wh_packet_type any_type(struct wh_storm *storm)
{
	return (enum wh_packet_type)(1 + wh_script_below(&storm->script, WH_PACKET_TYPES - 1));
}

/* An end that is never lied to is one whose outcome can be judged. */
static void forge_some(struct wh_storm *storm)
{
	struct wh_script *script = &storm->script;
	enum wh_role to = (enum wh_role)wh_script_below(script, 2);

	if (storm->end[to].lie_one_in == 0)
		return;
	for (uint64_t left = wh_script_below(script, FORGED_MAX); left > 0; left--)
		forge(storm, to, any_type(storm));
	if (wh_script_one_in(script, 16))
		send_raw(storm, to);
	if (wh_script_one_in(script, 4))
		send_made(storm, to);
	if (to == WH_TRANSMITTER && wh_script_one_in(script, 256))
		send_versions(storm);
	if (wh_script_one_in(script, FLOOD_ONE_IN)) {
		enum wh_packet_type type = any_type(storm);

		for (uint64_t left = FLOOD; left > 0; left--)
			forge(storm, to, type);
	}
}

/* All that is due now gets done, in a bounded number of rounds, and then there is time to sleep. */
static void settle(struct wh_storm *storm)
{
	uint32_t idle_rounds = 0;

	for (uint32_t round = 0; idle_rounds < 3; round++) {
		int32_t work = 0;

		WH_ASSERT(round < ROUNDS_MAX);
		for (int role = 0; role < 2; role++) {
			work += poll_receivers(storm, role) + poll_transmitters(storm, role);
			work += (int32_t)wh_storm_take(storm, (enum wh_role)role, 32);
		}
		work += wh_storm_poll_users(storm);
		idle_rounds = work > 0 ? 0 : idle_rounds + 1;
	}
	for (int role = 0; role < 2; role++)
		WH_ASSERT(due_of(storm, role) > storm->now_tsc);
}

static void run_ends(struct wh_storm *storm)
{
	struct wh_script *script = &storm->script;

	for (int role = 0; role < 2; role++) {
		if (!wh_script_one_in(script, 4))
			poll_receivers(storm, role);
		if (!wh_script_one_in(script, 4))
			poll_transmitters(storm, role);
		if (wh_script_one_in(script, storm->end[role].take_one_in))
			wh_storm_take(
				storm, (enum wh_role)role, (uint32_t)wh_script_below(script, 33));
	}
	if (!wh_script_one_in(script, 3))
		wh_storm_poll_users(storm);
	if (wh_script_one_in(script, 8 * storm->end[0].take_one_in * storm->end[1].take_one_in))
		settle(storm);
}

/* An operator on either side, or a disk, may end it too. */
static void interrupt(struct wh_storm *storm)
{
	struct wh_script *script = &storm->script;
	struct wh_storm_end *end = &storm->end[wh_script_below(script, 2)];

	bool sink = end == &storm->end[WH_RECEIVER] && wh_script_one_in(script, 2);

	if (end->session == NULL || end->leaving)
		return;
	/* From the owner core, or from another. */
	if (wh_script_one_in(script, 2))
		wh_session_ask(end->session, sink ? WH_WISH_SINK_DONE : WH_WISH_ABORT,
			sink ? WH_STATUS_NO_SPACE : WH_STATUS_INTERRUPTED);
	else if (sink)
		wh_session_sink_done(end->session, storm->now_tsc, WH_STATUS_NO_SPACE);
	else
		wh_session_abort(end->session, storm->now_tsc, WH_STATUS_INTERRUPTED);
}

static void fall_silent(struct wh_storm *storm)
{
	for (int i = 0; i < SILENCE_STEPS; i++) {
		storm->now_tsc += storm->hz;
		settle(storm);
		wh_storm_check(storm);
	}
	for (int role = 0; role < 2; role++)
		if (storm->end[role].session != NULL)
			WH_ASSERT(storm->end[role].phase == WH_PHASE_CLOSED);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct wh_storm storm;

	wh_storm_begin(&storm, bytes, length);
	for (uint64_t left = 1 + wh_script_below(&storm.script, STEPS_MAX); left > 0; left--) {
		pass_time(&storm);
		deliver(&storm, WH_TRANSMITTER);
		deliver(&storm, WH_RECEIVER);
		forge_some(&storm);
		wh_storm_check(&storm);
		run_ends(&storm);
		if (wh_script_one_in(&storm.script, 16 * STEPS_MAX))
			interrupt(&storm);
		if (wh_script_one_in(&storm.script, 8))
			wh_storm_clear_receiver(&storm);
		wh_storm_check(&storm);
	}
	fall_silent(&storm);
	for (int role = 0; role < 2; role++)
		if (storm.end[role].session != NULL)
			outcomes[storm.end[role].outcome]++;
	wh_storm_end(&storm);
	return 0;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	uint64_t seed = number;

	WH_ASSERT(room >= sizeof(seed));
	memcpy(bytes, &seed, sizeof(seed));
	return number < 64 ? sizeof(seed) : 0;
}

void wh_fuzz_report(void)
{
	wh_tally_print(&wh_storm_tally);
	for (uint32_t i = 0; i < WH_STATUSES; i++)
		printf("%s%s %" PRIu64, i == 0 ? "connections: " : " ",
			wh_release_status_name((enum wh_release_status)i), outcomes[i]);
	printf("\n");
}
