/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Many sessions between two endpoints over a clean line with a delay, in virtual time: what idle
 * ones say and cost, and that those that come and go do not mix.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../rig/end.h"
#include "../rig/line.h"
#include "../rig/stream.h"
#include "base/clock.h"
#include "endpoint/endpoint.h"
#include "endpoint/lifecycle.h"
#include "session/pacer.h"

#define HZ WH_NS_PER_S
#define MS (HZ / 1000)

#define DELAY_TSC   (5 * MS) /* one way */
#define CHUNK_BYTES 16384
#define CHUNKS      4
#define WINDOW_PKTS 64
#define BUSY_CHUNKS 512 /* of the one that has much to do: 8 MiB in 10 ms are 6.7 Gb/s */
#define BUSY_WINDOW 8192
#define BURST       32
#define SESSIONS    4096
#define PARCELS     65536

#define CHECK(condition) check((condition), #condition, __LINE__)

struct many {
	/*
	 * By enum wh_role of the sessions in it. Chunk memory is one for all: at most one session
	 * moves data at a time.
	 */
	struct wh_rig_end end[2];
	struct wh_rig_line line[2]; /* to that end */
	struct wh_session *sender[SESSIONS];
	struct wh_session *receiver[SESSIONS];
	uint32_t accepted;
	uint32_t gone;
	bool cut;
	bool lose_data; /* the next data packet */
	uint64_t now_tsc;
	uint64_t turns;
	uint64_t packets;
};

static uint32_t failures;

static void check(bool good, const char *condition, int line)
{
	if (good)
		return;
	printf("FAILED: line %d: %s\n", line, condition);
	failures++;
}

static void session_accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	struct many *many = context;

	(void)config;
	WH_ASSERT(many->accepted < SESSIONS);
	many->receiver[many->accepted++] = session;
}

static void session_gone(void *context, struct wh_session *session)
{
	struct many *many = context;

	many->gone++;
	wh_session_destroy(session);
}

static struct many *many_create(const char *profile, uint32_t places)
{
	struct many *many = calloc(1, sizeof(*many));

	WH_ASSERT(many != NULL);
	many->now_tsc = HZ;
	for (uint32_t role = 0; role < 2; role++) {
		struct wh_rig_end *end = &many->end[role];

		*end = (struct wh_rig_end){
			.accepted = session_accepted, .gone = session_gone, .context = many};
		wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, CHUNKS, WINDOW_PKTS);
		wh_session_config_profile(&end->session, wh_profile_find(profile));
		end->session.rate_bps = strcmp(profile, "fixed") == 0 ? UINT64_C(10000000000) : 0;
		end->session.chunk_memory =
			aligned_alloc(WH_CHUNK_ALIGN, BUSY_CHUNKS * CHUNK_BYTES);
		wh_rig_end_open(end, (uint8_t)role, places);
		WH_ASSERT(end->session.chunk_memory != NULL);
		wh_rig_line_open(&many->line[role], PARCELS);
	}
	return many;
}

static void many_destroy(struct many *many)
{
	for (uint32_t role = 0; role < 2; role++) {
		wh_rig_end_close(&many->end[role]);
		free(many->end[role].session.chunk_memory);
		wh_rig_line_close(&many->line[role]);
	}
	free(many);
}

static void many_open(struct many *many, uint32_t i)
{
	struct wh_rig_end *end = &many->end[WH_TRANSMITTER];

	end->session.seed = i;
	many->sender[i] = wh_rig_end_connect(
		end, &many->end[WH_RECEIVER].address, "many", WH_OBJECT_BYTES_UNKNOWN, NULL);
}

static void put(struct many *many, struct wh_rig_line *line, const struct wh_out *out)
{
	if (many->lose_data && out->payload_bytes > 0) {
		many->lose_data = false;
		return;
	}
	wh_rig_line_put(line, out, many->now_tsc + DELAY_TSC);
	many->packets++;
}

static int64_t arrive(struct many *many, enum wh_role role)
{
	struct wh_rig_packet *packet;
	int64_t count = 0;

	while ((packet = wh_rig_line_take(&many->line[role], many->now_tsc)) != NULL) {
		wh_endpoint_input(&many->end[role].endpoint, many->now_tsc, packet->due_tsc,
			packet->data, packet->bytes, &many->end[!role].address);
		count++;
	}
	return count;
}

static int64_t run_end(struct many *many, enum wh_role role)
{
	static uint8_t room[BURST][WH_CONTROL_BYTES_MAX];
	struct wh_out out[BURST];
	int64_t work = arrive(many, role);

	for (uint32_t i = 0; i < BURST; i++)
		out[i].head = room[i];
	work += wh_endpoint_receive_poll(&many->end[role].endpoint, many->now_tsc);
	work += wh_endpoint_send_poll(&many->end[role].endpoint, many->now_tsc);

	uint32_t count = wh_endpoint_output(&many->end[role].endpoint, many->now_tsc, out, BURST);

	for (uint32_t i = 0; i < count; i++)
		if (!many->cut)
			put(many, &many->line[!role], &out[i]);
	return work + count;
}

static int64_t turn(struct many *many)
{
	many->turns++;
	return run_end(many, WH_TRANSMITTER) + run_end(many, WH_RECEIVER);
}

static uint64_t next_moment(const struct many *many)
{
	uint64_t next_tsc = WH_TSC_NEVER;

	for (uint32_t role = 0; role < 2; role++) {
		next_tsc = wh_min_u64(
			next_tsc, wh_endpoint_receive_deadline(&many->end[role].endpoint));
		next_tsc =
			wh_min_u64(next_tsc, wh_endpoint_send_deadline(&many->end[role].endpoint));
		next_tsc = wh_min_u64(next_tsc, wh_rig_line_next_tsc(&many->line[role]));
	}
	return next_tsc;
}

/* From deadline to deadline, as idle cores that know when to wake. */
static void run_until(struct many *many, uint64_t until_tsc)
{
	for (;;) {
		while (turn(many) > 0)
			;

		uint64_t next_tsc = next_moment(many);

		WH_ASSERT(next_tsc > many->now_tsc);
		if (next_tsc > until_tsc)
			break;
		many->now_tsc = next_tsc;
	}
	many->now_tsc = until_tsc;
}

static struct wh_release_status_pair {
	enum wh_release_status sender;
	enum wh_release_status receiver;
} outcomes(const struct many *many, uint32_t i)
{
	return (struct wh_release_status_pair){
		.sender = wh_session_news(many->sender[i]).outcome,
		.receiver = wh_session_news(many->receiver[i]).outcome,
	};
}

static void check_alive(const struct many *many, uint32_t i)
{
	struct wh_session_stats stats = wh_session_stats(many->sender[i]);

	CHECK(outcomes(many, i).sender == WH_STATUS_PENDING);
	CHECK(outcomes(many, i).receiver == WH_STATUS_PENDING);
	CHECK(stats.exp_events == 0 && stats.stalls == 0);
	CHECK(stats.bad_pkts + wh_session_stats(many->receiver[i]).bad_pkts == 0);
}

/* All sessions are let go, running or not. */
static void close_all(struct many *many, uint32_t sessions)
{
	for (uint32_t i = 0; i < sessions; i++) {
		wh_session_ask(many->sender[i], WH_WISH_CLOSE, WH_STATUS_PENDING);
		wh_session_ask(many->receiver[i], WH_WISH_CLOSE, WH_STATUS_PENDING);
	}
	run_until(many, many->now_tsc + 61 * HZ);
	CHECK(many->gone == 2 * sessions);
}

/*
 * With nothing to say: a state of the transmitter every 2 s, one of the receiver in answer, and its
 * echo. 3 packets in 2 s are 90 a minute; the receiver's own heartbeat may come between.
 */
static void idle_pair(const char *profile)
{
	struct many *many = many_create(profile, 64);

	many_open(many, 0);
	run_until(many, 11 * HZ);

	uint64_t before_packets = many->packets;
	uint64_t before_turns = many->turns;

	run_until(many, 71 * HZ);

	uint64_t packets = many->packets - before_packets;

	printf("%s: %" PRIu64 " packets and %" PRIu64 " turns a minute when idle\n", profile,
		packets, many->turns - before_turns);
	CHECK(packets >= 88 && packets <= 130);
	CHECK(many->turns - before_turns < 10 * packets);
	run_until(many, 3600 * HZ);
	check_alive(many, 0);

	/* Both ends notice when the line is cut, within the patience of 30 s and a heartbeat. */
	many->cut = true;
	run_until(many, 3629 * HZ - 2 * HZ);
	CHECK(outcomes(many, 0).sender == WH_STATUS_PENDING);
	run_until(many, 3631 * HZ);
	CHECK(outcomes(many, 0).sender == WH_STATUS_PEER_GONE);
	CHECK(outcomes(many, 0).receiver == WH_STATUS_PEER_GONE);
	close_all(many, 1);
	many_destroy(many);
}

/* Ends whose patience differs: the heartbeats of each are enough for the other. */
static void patience(uint64_t sender_s, uint64_t receiver_s)
{
	struct many *many = many_create("udt", 64);

	many->end[WH_TRANSMITTER].session.peer_timeout_ns = sender_s * WH_NS_PER_S;
	many->end[WH_RECEIVER].session.peer_timeout_ns = receiver_s * WH_NS_PER_S;
	many_open(many, 0);
	run_until(many, 600 * HZ);
	check_alive(many, 0);
	close_all(many, 1);
	many_destroy(many);
}

/* The end of that role gives up while the path is down; the other one hears so once it is up. */
static void given_up(enum wh_role role)
{
	struct many *many = many_create("udt", 64);
	struct wh_session *patient;

	many->end[role].session.peer_timeout_ns = WH_NS_PER_S;
	many_open(many, 0);
	run_until(many, 10 * HZ);
	patient = role == WH_TRANSMITTER ? many->receiver[0] : many->sender[0];
	many->cut = true;
	run_until(many, 16 * HZ);
	CHECK(wh_session_outcome(role == WH_TRANSMITTER ? many->sender[0] : many->receiver[0]) ==
		WH_STATUS_PEER_GONE);
	wh_session_ask(role == WH_TRANSMITTER ? many->sender[0] : many->receiver[0], WH_WISH_CLOSE,
		WH_STATUS_PENDING);
	run_until(many, 17 * HZ);
	CHECK(many->gone == 1 && wh_session_outcome(patient) == WH_STATUS_PENDING);
	many->cut = false;
	run_until(many, 20 * HZ);
	CHECK(wh_session_outcome(patient) == WH_STATUS_UNHEARD);
	wh_session_ask(patient, WH_WISH_CLOSE, WH_STATUS_PENDING);
	run_until(many, 30 * HZ);
	CHECK(many->gone == 2);
	many_destroy(many);
}

static void send_hundred_bytes(struct many *many, uint32_t number)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(many->sender[0]));

	WH_ASSERT(chunk != NULL);
	chunk->number = number;
	chunk->bytes = 100;
	memset(chunk->data, (int)number, 100);
	wh_fifo_push(wh_session_ready_chunks(many->sender[0]), chunk);
	wh_session_kick(many->sender[0]);
}

/* Whether they have been delivered. */
static bool take_hundred_bytes(struct many *many, uint32_t number)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_deliver_chunks(many->receiver[0]));

	if (chunk == NULL)
		return false;
	CHECK(chunk->bytes == 100 && chunk->data[99] == number);
	wh_fifo_push(wh_session_recycled_chunks(many->receiver[0]), chunk);
	wh_session_kick(many->receiver[0]);
	return true;
}

/* Data that ends a rest goes at once, and so does its acknowledgement. */
static void data_after_rest(const char *profile)
{
	struct many *many = many_create(profile, 64);

	many_open(many, 0);
	for (uint32_t i = 0; i < 50; i++) {
		run_until(many, (20 + 7 * i) * HZ + i * 37 * MS);
		send_hundred_bytes(many, i);
		run_until(many, many->now_tsc + DELAY_TSC - 1);
		CHECK(!take_hundred_bytes(many, i));
		run_until(many, many->now_tsc + 1000); /* a state may go first */
		CHECK(take_hundred_bytes(many, i));
		run_until(many, many->now_tsc + DELAY_TSC + 10 * MS);
		CHECK(wh_session_moved_bytes(many->sender[0]) == 100 * (i + 1));
		check_alive(many, 0);
	}
	CHECK(wh_session_stats(many->sender[0]).retransmitted_pkts == 0);
	/* Nobody was late: there was nothing to send. */
	CHECK(wh_session_pacer(many->sender[0])->forfeited_tsc == 0);
	close_all(many, 1);
	many_destroy(many);
}

/*
 * The only packet after a rest is lost, and no later one shows it: the transmitter's report does.
 * Two periods of 10 ms until the second one that names it, then NAK and packet, one way each; UDT
 * freezes for a period upon the loss.
 */
static void loss_after_rest(const char *profile)
{
	struct many *many = many_create(profile, 64);

	many_open(many, 0);
	for (uint32_t i = 0; i < 20; i++) {
		run_until(many, (20 + 7 * i) * HZ + i * 37 * MS);
		many->lose_data = true;
		send_hundred_bytes(many, i);
		run_until(many, many->now_tsc + 3 * 10 * MS + 3 * DELAY_TSC + MS);
		CHECK(take_hundred_bytes(many, i));
	}
	CHECK(wh_session_stats(many->sender[0]).retransmitted_pkts == 20);
	close_all(many, 1);
	many_destroy(many);
}

static uint64_t polls(const struct many *many)
{
	uint64_t sum = 0;

	for (uint32_t role = 0; role < 2; role++)
		sum += many->end[role].endpoint.rx->polls + many->end[role].endpoint.tx->polls;
	return sum;
}

/* Of this core, for the printed line only: what a turn costs depends on the machine. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Of sessions that begin from now on. */
static void have_buffers(struct many *many, uint32_t chunks, uint32_t window_pkts)
{
	for (uint32_t role = 0; role < 2; role++) {
		many->end[role].session.chunks = chunks;
		many->end[role].session.window_pkts = window_pkts;
	}
}

/* One session moves data in turns of 2 us among `idle` others; session polls per turn. */
static double busy_among(uint32_t idle, double *turn_ns)
{
	struct many *many = many_create("fixed", 8192);
	struct wh_stream_source source;
	struct wh_stream_sink sink;

	have_buffers(many, BUSY_CHUNKS, BUSY_WINDOW);
	many_open(many, 0);
	run_until(many, many->now_tsc + 100 * MS);
	have_buffers(many, CHUNKS, WINDOW_PKTS);
	for (uint32_t i = 1; i <= idle; i++) {
		many_open(many, i);
		if (i % 50 == 0)
			run_until(many, many->now_tsc + 17 * MS); /* heartbeats spread */
	}
	run_until(many, many->now_tsc + 60 * HZ);
	CHECK(many->accepted == idle + 1);
	wh_stream_source_open(&source, UINT64_MAX / 2, 1, CHUNK_BYTES, false,
		wh_session_free_chunks(many->sender[0]), wh_session_ready_chunks(many->sender[0]));
	wh_stream_sink_open(&sink, UINT64_MAX / 2, 1, wh_session_deliver_chunks(many->receiver[0]),
		wh_session_recycled_chunks(many->receiver[0]));

	uint64_t before_polls = polls(many);
	uint64_t before_turns = many->turns;
	double before_s = seconds();

	for (uint32_t i = 0; i < 200000; i++) {
		if (wh_stream_source_poll(&source, UINT64_MAX) > 0)
			wh_session_kick(many->sender[0]);
		if (wh_stream_sink_poll(&sink) > 0)
			wh_session_kick(many->receiver[0]);
		turn(many);
		many->now_tsc += 2000;
	}
	/* 0.4 s at what the buffers allow, but for the time until the first acknowledgement. */
	CHECK(sink.bytes > UINT64_C(200000000) && sink.done == WH_STREAM_RUNNING);
	*turn_ns = (seconds() - before_s) * 1e9 / 200000;

	double polls_per_turn =
		(double)(polls(many) - before_polls) / (double)(many->turns - before_turns);

	for (uint32_t i = 0; i <= idle; i++)
		check_alive(many, i);
	wh_stream_source_close(&source);
	wh_stream_sink_close(&sink);
	close_all(many, idle + 1);
	many_destroy(many);
	return polls_per_turn;
}

/* An idle session is looked at around its heartbeats, a few times in 100,000 turns. */
static void idle_sessions_cost_nothing(uint32_t idle)
{
	double alone_ns, among_ns;
	double alone = busy_among(0, &alone_ns);
	double among = busy_among(idle, &among_ns);

	printf("polls per turn: %.3f alone, %.3f among %u idle sessions; %.0f and %.0f ns a turn\n",
		alone, among, idle, alone_ns, among_ns);
	CHECK(among - alone < 0.2);
}

/* Of 26 random bits, by a fixed secret: so few of them differ. */
#define SEEN_CIDS 4000

/*
 * One after the other in few places: no connection ID is used twice, and each gets its own bytes.
 */
static void comings_and_goings(void)
{
	struct many *many = many_create("fixed", 64);
	static uint32_t seen[2][SEEN_CIDS];

	for (uint32_t i = 0; i < SEEN_CIDS; i++) {
		struct wh_stream_source source;
		struct wh_stream_sink sink;

		many_open(many, 0);
		many->accepted = 0;
		run_until(many, many->now_tsc + 4 * DELAY_TSC);
		CHECK(many->accepted == 1);
		wh_stream_source_open(&source, 40000, i, CHUNK_BYTES, true,
			wh_session_free_chunks(many->sender[0]),
			wh_session_ready_chunks(many->sender[0]));
		wh_stream_sink_open(&sink, 40000, i, wh_session_deliver_chunks(many->receiver[0]),
			wh_session_recycled_chunks(many->receiver[0]));
		for (uint32_t role = 0; role < 2; role++) {
			uint32_t cid = wh_session_cid(
				role == WH_RECEIVER ? many->receiver[0] : many->sender[0]);

			for (uint32_t n = 0; n < i; n++)
				CHECK(seen[role][n] != cid);
			seen[role][i] = cid;
		}
		for (uint32_t n = 0; n < 10000 && sink.done == WH_STREAM_RUNNING; n++) {
			if (wh_stream_source_poll(&source, UINT64_MAX) > 0)
				wh_session_kick(many->sender[0]);
			run_until(many, many->now_tsc + DELAY_TSC);
			while (wh_stream_sink_poll(&sink) > 0)
				wh_session_kick(many->receiver[0]);
		}
		CHECK(sink.done == WH_STREAM_OK);
		wh_session_ask(many->receiver[0], WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
		run_until(many, many->now_tsc + 4 * DELAY_TSC);
		CHECK(outcomes(many, 0).sender == WH_STATUS_VERIFIED);
		wh_session_ask(many->sender[0], WH_WISH_CLOSE, WH_STATUS_PENDING);
		wh_session_ask(many->receiver[0], WH_WISH_CLOSE, WH_STATUS_PENDING);
		run_until(many, many->now_tsc + 10 * DELAY_TSC);
		CHECK(many->gone == 2 * (i + 1));
		wh_stream_source_close(&source);
		wh_stream_sink_close(&sink);
		if (failures > 0)
			break;
	}
	many_destroy(many);
}

int main(int argc, char **argv)
{
	uint32_t idle = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : SESSIONS - 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	WH_ASSERT(idle < SESSIONS);
	idle_pair("fixed");
	idle_pair("udt");
	patience(3, 30);
	patience(30, 3);
	given_up(WH_TRANSMITTER);
	given_up(WH_RECEIVER);
	data_after_rest("fixed");
	data_after_rest("udt");
	loss_after_rest("fixed");
	loss_after_rest("udt");
	comings_and_goings();
	idle_sessions_cost_nothing(idle);
	printf("%s\n", failures == 0 ? "all well" : "FAILED");
	return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
