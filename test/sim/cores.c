/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sessions between cores, in real time: one thread polls the receiving halves of two endpoints, one
 * the sending halves, and another is the user of hundreds of sessions that come and go. The
 * bookkeeping is done by these two, or by a thread of its own, which sometimes stops.
 * Packets cross in memory and now and then get lost. Best under ThreadSanitizer, with DPDK's rings
 * in the memory model that it understands (-DRTE_USE_C11_MEM_MODEL).
 */

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../rig/end.h"
#include "../rig/sas.h"
#include "../rig/stream.h"
#include "base/clock.h"
#include "endpoint/endpoint.h"
#include "endpoint/lifecycle.h"

#define HZ WH_NS_PER_S

#define CHUNK_BYTES 16384
#define CHUNKS      4
#define WINDOW_PKTS 64
#define BURST       16
#define PIPE_PKTS   1023
#define ROOM        1504
#define LOSE_ONE_IN 500
#define SESSIONS    400
#define AT_ONCE     24
#define PLACES      256 /* those that leave wait for the bookkeeping while it stops */
#define PATIENCE_S  60
#define STOP_NS     50000000

/* What becomes of a session besides its transfer. */
enum fate {
	FATE_NOTHING,
	FATE_ABORT_SENDER,
	FATE_ABORT_RECEIVER,
	FATE_CLOSE_SENDER,
	FATE_CLOSE_RECEIVER,
	FATES,
};

/* One side of a transfer, as its user knows it. */
struct side {
	struct wh_session *session;
	uint8_t *memory;
	bool closed;
	bool gone;
};

struct transfer {
	uint32_t number;
	enum fate fate;
	uint64_t total_bytes;
	uint64_t strike_bytes; /* when so many have arrived it happens */
	bool struck;
	struct side sender;
	struct side receiver;
	struct wh_stream_source source;
	struct wh_stream_sink sink;
	bool sink_told;
	enum wh_release_status sender_outcome;
	enum wh_release_status receiver_outcome;
};

struct hall {
	enum wh_cipher cipher; /* 0: nothing is sealed */
	bool books_apart;
	struct wh_rig_sadb sadb;     /* by role, too */
	struct wh_rig_end end[2];    /* by enum wh_role of its sessions */
	struct wh_slot_fifo pipe[2]; /* to that end */
	struct wh_fifo accepted;     /* receiving thread -> user */
	struct wh_fifo gone[2];      /* receiving, sending thread -> user */
	_Atomic bool stop;
	struct transfer transfer[SESSIONS];
	uint32_t opened;
	uint32_t over;
	uint64_t losses;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * HZ + (uint64_t)time.tv_nsec;
}

static void give_memory(void *context, struct wh_session_config *config)
{
	(void)context;
	config->chunk_memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * CHUNK_BYTES);
	WH_ASSERT(config->chunk_memory != NULL);
}

/* The session's memory goes along as its context. */
static void session_accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	struct hall *hall = context;

	wh_session_set_context(session, config->chunk_memory);

	bool pushed = wh_fifo_push(&hall->accepted, session);

	WH_ASSERT(pushed);
}

static void receiver_gone(void *context, struct wh_session *session)
{
	struct hall *hall = context;
	bool pushed = wh_fifo_push(&hall->gone[0], session);

	WH_ASSERT(pushed);
}

static void sender_gone(void *context, struct wh_session *session)
{
	struct hall *hall = context;
	bool pushed = wh_fifo_push(&hall->gone[1], session);

	WH_ASSERT(pushed);
}

static int32_t arrive(struct hall *hall, int role, uint64_t now_tsc)
{
	struct wh_slot *slot;
	int32_t count = 0;

	for (; count < 2 * BURST && (slot = wh_slot_fifo_peek(&hall->pipe[role])) != NULL;
		count++) {
		wh_endpoint_input(&hall->end[role].endpoint, now_tsc, now_tsc, slot->data,
			slot->bytes, &hall->end[!role].address);
		wh_slot_fifo_release(&hall->pipe[role]);
	}
	return count;
}

static void *receive_all(void *argument)
{
	struct hall *hall = argument;

	while (!atomic_load(&hall->stop)) {
		uint64_t now_tsc = now();
		int32_t work = 0;

		for (int role = 0; role < 2; role++) {
			work += arrive(hall, role, now_tsc);
			work += wh_endpoint_receive_poll(&hall->end[role].endpoint, now_tsc);
		}
		if (work == 0)
			sched_yield();
	}
	return NULL;
}

static void *keep_books(void *argument)
{
	struct hall *hall = argument;
	struct wh_prng prng;

	wh_prng_init(&prng, 1);
	while (!atomic_load(&hall->stop)) {
		int32_t work = 0;

		for (int role = 0; role < 2; role++)
			work += wh_endpoint_books_poll(&hall->end[role].endpoint, now());
		if (work == 0)
			sched_yield();
		if (wh_prng_below(&prng, 20000) == 0)
			nanosleep(&(struct timespec){.tv_nsec = STOP_NS}, NULL);
	}
	return NULL;
}

static void put(struct hall *hall, struct wh_prng *prng, int to, const struct wh_out *out)
{
	struct wh_slot *slot = wh_slot_fifo_reserve(&hall->pipe[to]);

	if (slot == NULL || wh_prng_below(prng, LOSE_ONE_IN) == 0) {
		hall->losses++;
		return; /* a slot that is reserved and not committed is free again */
	}
	slot->bytes = out->head_bytes + out->payload_bytes;
	memcpy(slot->data, out->head, out->head_bytes);
	if (out->payload_bytes > 0)
		memcpy(slot->data + out->head_bytes, out->payload, out->payload_bytes);
	wh_slot_fifo_commit(&hall->pipe[to]);
}

static void *send_all(void *argument)
{
	static uint8_t room[BURST][ROOM];
	struct hall *hall = argument;
	struct wh_out out[BURST];
	struct wh_prng prng;

	wh_prng_init(&prng, 1);
	for (uint32_t i = 0; i < BURST; i++)
		out[i].head = room[i];
	while (!atomic_load(&hall->stop)) {
		uint64_t now_tsc = now();
		int32_t work = 0;

		for (int role = 0; role < 2; role++) {
			work += wh_endpoint_send_poll(&hall->end[role].endpoint, now_tsc);

			uint32_t count =
				wh_endpoint_output(&hall->end[role].endpoint, now_tsc, out, BURST);

			for (uint32_t i = 0; i < count; i++)
				put(hall, &prng, !role, &out[i]);
			work += (int32_t)count;
		}
		if (work == 0)
			sched_yield();
	}
	return NULL;
}

/* User: the rest of this file. */
static void open_next(struct hall *hall)
{
	struct transfer *transfer = &hall->transfer[hall->opened];
	struct wh_rig_end *end = &hall->end[WH_TRANSMITTER];
	struct wh_session_config config;
	struct wh_prng prng;
	char name[16];

	wh_prng_init(&prng, hall->opened);
	snprintf(name, sizeof(name), "%u", hall->opened);
	transfer->number = hall->opened;
	transfer->total_bytes = wh_prng_below(&prng, 400000);
	transfer->strike_bytes = wh_prng_below(&prng, transfer->total_bytes + 1);
	if (wh_prng_below(&prng, 4) == 0)
		transfer->fate = (enum fate)wh_prng_below(&prng, FATES);
	end->session.seed = hall->opened++;

	bool untold = wh_prng_below(&prng, 2) == 0;
	struct wh_session *session = wh_rig_end_connect(end, &hall->end[WH_RECEIVER].address, name,
		untold ? WH_OBJECT_BYTES_UNKNOWN : transfer->total_bytes, &config);

	transfer->sender.memory = config.chunk_memory;
	transfer->sender.session = session;
	wh_stream_source_open(&transfer->source, transfer->total_bytes, transfer->number,
		CHUNK_BYTES, wh_prng_below(&prng, 2) == 0, wh_session_free_chunks(session),
		wh_session_ready_chunks(session));
}

/* What was confirmed: by its name it is known which transfer's it is. */
static void take_accepted(struct hall *hall)
{
	struct wh_session *session;

	while ((session = wh_fifo_pop(&hall->accepted)) != NULL) {
		uint64_t number = strtoul(wh_session_params(session)->name, NULL, 10);

		WH_ASSERT(number < hall->opened);

		struct transfer *transfer = &hall->transfer[number];

		WH_ASSERT(transfer->receiver.session == NULL);
		transfer->receiver.session = session;
		transfer->receiver.memory = wh_session_context(session);
		wh_stream_sink_open(&transfer->sink, transfer->total_bytes, transfer->number,
			wh_session_deliver_chunks(session), wh_session_recycled_chunks(session));
	}
}

static void let_go(struct side *side)
{
	if (side->session == NULL || side->closed)
		return;
	side->closed = true;
	wh_session_ask(side->session, WH_WISH_CLOSE, WH_STATUS_PENDING);
}

static void strike(struct transfer *transfer)
{
	struct side *sender = &transfer->sender;
	struct side *receiver = &transfer->receiver;

	if (transfer->struck || transfer->sink.bytes < transfer->strike_bytes)
		return;
	transfer->struck = true;
	if (transfer->fate == FATE_ABORT_SENDER && !sender->closed)
		wh_session_ask(sender->session, WH_WISH_ABORT, WH_STATUS_IO_ERROR);
	if (transfer->fate == FATE_ABORT_RECEIVER && receiver->session != NULL && !receiver->closed)
		wh_session_ask(receiver->session, WH_WISH_ABORT, WH_STATUS_NO_SPACE);
	if (transfer->fate == FATE_CLOSE_SENDER)
		let_go(sender);
	if (transfer->fate == FATE_CLOSE_RECEIVER)
		let_go(receiver);
}

static int32_t run_sender(struct transfer *transfer)
{
	struct side *side = &transfer->sender;

	if (side->closed)
		return 0;

	int32_t work = wh_stream_source_poll(&transfer->source, UINT64_MAX);

	if (work > 0)
		wh_session_kick(side->session);
	transfer->sender_outcome = wh_session_news(side->session).outcome;
	if (transfer->sender_outcome != WH_STATUS_PENDING) {
		let_go(side);
		work++;
	}
	return work;
}

static int32_t run_receiver(struct transfer *transfer)
{
	struct side *side = &transfer->receiver;

	if (side->session == NULL || side->closed)
		return 0;

	int32_t work = wh_stream_sink_poll(&transfer->sink);

	if (work > 0)
		wh_session_kick(side->session);
	if (transfer->sink.done != WH_STREAM_RUNNING && !transfer->sink_told) {
		transfer->sink_told = true;
		wh_session_ask(side->session, WH_WISH_SINK_DONE,
			transfer->sink.done == WH_STREAM_OK ? WH_STATUS_VERIFIED
							    : WH_STATUS_MISMATCH);
	}
	transfer->receiver_outcome = wh_session_news(side->session).outcome;
	if (transfer->receiver_outcome != WH_STATUS_PENDING) {
		let_go(side);
		work++;
	}
	return work;
}

static struct side *side_of(struct hall *hall, const struct wh_session *session)
{
	for (uint32_t i = 0; i < hall->opened; i++) {
		struct transfer *transfer = &hall->transfer[i];

		if (transfer->sender.session == session && !transfer->sender.gone)
			return &transfer->sender;
		if (transfer->receiver.session == session && !transfer->receiver.gone)
			return &transfer->receiver;
	}
	WH_ASSERT(!"a session that goes was there");
	return NULL;
}

/* No core touches it any more, which a sanitizer holds it to. */
static void take_gone(struct hall *hall)
{
	struct wh_session *session;

	for (int i = 0; i < 2; i++) {
		while ((session = wh_fifo_pop(&hall->gone[i])) != NULL) {
			struct side *side = side_of(hall, session);

			WH_ASSERT(side->closed);
			side->gone = true;
			wh_session_destroy(session);
			memset(side->memory, 0xdb, CHUNKS * CHUNK_BYTES);
			free(side->memory);
		}
	}
}

/* A receiver that no CONFIRM ever reached is none. */
static bool is_over(const struct transfer *transfer)
{
	return transfer->sender.gone &&
	       (transfer->receiver.gone || transfer->receiver.session == NULL);
}

static uint32_t count_running(const struct hall *hall)
{
	uint32_t running = 0;

	for (uint32_t i = 0; i < hall->opened; i++)
		running += !is_over(&hall->transfer[i]);
	return running;
}

static bool run_users(struct hall *hall)
{
	uint64_t give_up = now() + PATIENCE_S * HZ;

	while (now() < give_up) {
		int32_t work = 0;

		take_accepted(hall);
		take_gone(hall);

		uint32_t running = count_running(hall);

		if (running == 0 && hall->opened == SESSIONS)
			return true;
		for (; running < AT_ONCE && hall->opened < SESSIONS; running++)
			open_next(hall);
		for (uint32_t i = 0; i < hall->opened; i++) {
			struct transfer *transfer = &hall->transfer[i];

			if (is_over(transfer))
				continue;
			work += run_sender(transfer) + run_receiver(transfer);
			if (transfer->fate != FATE_NOTHING)
				strike(transfer);
		}
		if (work == 0)
			sched_yield();
	}
	return false;
}

static void hall_open(
	struct hall *hall, enum wh_cipher cipher, bool books_apart, const char *profile)
{
	hall->cipher = cipher;
	hall->books_apart = books_apart;
	if (cipher != 0)
		wh_rig_sadb_open(&hall->sadb, 1, cipher);
	for (int role = 0; role < 2; role++) {
		struct wh_rig_end *end = &hall->end[role];

		*end = (struct wh_rig_end){
			.prepare = give_memory,
			.accepted = role == WH_RECEIVER ? session_accepted : NULL,
			.gone = role == WH_RECEIVER ? receiver_gone : sender_gone,
			.more.books_apart = books_apart,
			.context = hall,
		};
		wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, CHUNKS, WINDOW_PKTS);
		wh_session_config_profile(&end->session, wh_profile_find(profile));
		end->session.rate_bps = UINT64_C(1000000000);
		end->session.initial_rtt_ns = 1000000;
		end->session.books_apart = books_apart;
		if (cipher != 0) {
			end->session.sa = hall->sadb.sa[role];
			end->sadb = &hall->sadb.sadb[role];
		}
		wh_rig_end_open(end, (uint8_t)role, PLACES);

		int rc = wh_slot_fifo_init(&hall->pipe[role], PIPE_PKTS, ROOM);
		WH_ASSERT(rc == 0);
		rc = wh_fifo_init(&hall->gone[role], SESSIONS);
		WH_ASSERT(rc == 0);
	}

	int rc = wh_fifo_init(&hall->accepted, SESSIONS);

	WH_ASSERT(rc == 0);
}

static void hall_close(struct hall *hall)
{
	for (int role = 0; role < 2; role++) {
		wh_rig_end_close(&hall->end[role]);
		wh_slot_fifo_free(&hall->pipe[role]);
		wh_fifo_free(&hall->gone[role]);
	}
	wh_fifo_free(&hall->accepted);
	if (hall->cipher != 0)
		wh_rig_sadb_close(&hall->sadb);
	for (uint32_t i = 0; i < hall->opened; i++) {
		wh_stream_source_close(&hall->transfer[i].source);
		wh_stream_sink_close(&hall->transfer[i].sink);
	}
	free(hall);
}

static void print_stuck(const struct hall *hall)
{
	for (uint32_t i = 0; i < hall->opened; i++) {
		const struct transfer *transfer = &hall->transfer[i];

		if (!is_over(transfer))
			printf("transfer %u, fate %d: sender %s%s%s, receiver %s%s%s, %" PRIu64
			       " of %" PRIu64 " bytes\n",
				i, transfer->fate, wh_release_status_name(transfer->sender_outcome),
				transfer->sender.closed ? " closed" : "",
				transfer->sender.gone ? " gone" : "",
				wh_release_status_name(transfer->receiver_outcome),
				transfer->receiver.closed ? " closed" : "",
				transfer->receiver.gone ? " gone" : "", transfer->sink.bytes,
				transfer->total_bytes);
	}
}

static bool is_good(const struct transfer *transfer)
{
	if (transfer->sink.done == WH_STREAM_MISMATCH)
		return false;
	if (transfer->fate == FATE_NOTHING)
		return transfer->sender_outcome == WH_STATUS_VERIFIED &&
		       transfer->receiver_outcome == WH_STATUS_VERIFIED &&
		       transfer->sink.done == WH_STREAM_OK;
	return transfer->sender_outcome != WH_STATUS_VERIFIED ||
	       transfer->sink.done == WH_STREAM_OK;
}

static uint32_t judge(const struct hall *hall)
{
	uint32_t bad = 0;

	for (uint32_t i = 0; i < hall->opened; i++) {
		const struct transfer *transfer = &hall->transfer[i];

		if (is_good(transfer))
			continue;
		bad++;
		printf("FAILED: transfer %u, fate %d: sender %s, receiver %s, %" PRIu64
		       " of %" PRIu64 " bytes\n",
			i, transfer->fate, wh_release_status_name(transfer->sender_outcome),
			wh_release_status_name(transfer->receiver_outcome), transfer->sink.bytes,
			transfer->total_bytes);
	}
	return bad;
}

static bool run(enum wh_cipher cipher, bool books_apart, const char *profile)
{
	struct hall *hall = calloc(1, sizeof(*hall));
	pthread_t threads[3];
	uint32_t count = books_apart ? 3 : 2;
	uint64_t start = now();

	WH_ASSERT(hall != NULL);
	hall_open(hall, cipher, books_apart, profile);
	if (pthread_create(&threads[0], NULL, receive_all, hall) != 0 ||
		pthread_create(&threads[1], NULL, send_all, hall) != 0 ||
		(books_apart && pthread_create(&threads[2], NULL, keep_books, hall) != 0))
		return false;

	bool all_over = run_users(hall);

	atomic_store(&hall->stop, true);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);

	uint32_t bad = judge(hall);

	printf("%s, %s%s: %u sessions in %.2f s, %" PRIu64 " packets lost, %u bad%s\n", profile,
		cipher != 0 ? "sealed" : "unsealed", books_apart ? ", books apart" : "",
		hall->opened, (double)(now() - start) / (double)HZ, hall->losses, bad,
		all_over ? "" : "; FAILED: not all have ended");
	print_stuck(hall);
	if (all_over)
		hall_close(hall);
	return all_over && bad == 0;
}

int main(void)
{
	bool good = true;

	for (uint32_t i = 0; i < 4; i++)
		good &= run(
			i % 2 == 0 ? (enum wh_cipher)0 : WH_CIPHER_AES_128_GCM, i >= 2, "fixed");
	good &= run(WH_CIPHER_AES_128_GCM, true, "lambda");
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
