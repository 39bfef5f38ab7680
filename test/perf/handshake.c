/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What handshakes cost: of one handshake the time of the handshake core, by flights, and how many
 * it does in a second; and what a transfer on another core loses while RATE peers a second begin a
 * handshake.
 *
 * Two endpoints in one loop, in turns of a slice with handshakes on another thread and without; the
 * peers' part of the handshakes is worked out on that thread, too. Of both kinds of slices the
 * medians count. With fewer than two CPUs there is no verdict.
 */

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../rig/end.h"
#include "base/clock.h"
#include "chunks.h"
#include "now.h"
#include "seal/seal.h"
#include "trust/pending.h"

#define HANDSHAKES  2000
#define RATE        1000
#define SLICES      24
#define SLICE_NS    UINT64_C(250000000)
#define CHUNK_BYTES (UINT32_C(64) << 10)
#define CHUNKS      16
#define WINDOW_PKTS 1024
#define BURST       32
#define ROOM_BYTES  9300
#define LOSS_MAX    0.05
#define SKIPPED     77

/* Of this thread: what the machine does beside it takes time, and none of this. */
static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * WH_NS_PER_S + (uint64_t)time.tv_nsec;
}

/* A peer that makes handshakes, and the account of what that costs the other end. */
struct account {
	struct wh_identity identity;
	struct wh_sadb sadb;
	struct wh_handshakes handshakes;
	uint32_t peers;
	uint64_t first_ns; /* ClientHello to Finished */
	uint64_t second_ns;
	uint64_t in_bytes;
	uint64_t out_bytes;
	_Atomic bool on;
	_Atomic bool stop;
	_Atomic uint64_t done;
};

static void open_account(struct account *account)
{
	const struct wh_handshakes_config config = {
		.hz = WH_NS_PER_S,
		.identity = &account->identity,
		.ciphers = 1 << WH_CIPHER_AES_128_GCM,
		.version = "perf",
		.sadb = &account->sadb,
		.per_second = 1000000,
	};

	if (wh_identity_make(&account->identity) != 0 || wh_sadb_init(&account->sadb, 4096) != 0 ||
		wh_handshakes_init(&account->handshakes, &config) != 0)
		abort();
}

static void close_account(struct account *account)
{
	wh_handshakes_free(&account->handshakes);
	wh_sadb_free(&account->sadb);
	wh_identity_free(&account->identity);
}

/* All that the peer has to say now, in one datagram; and what is answered, to its TLS. */
static uint64_t exchange(struct account *account, struct wh_packet *packet,
	const struct wh_address *peer, struct wh_handshake *client)
{
	struct wh_handshake_datagram datagram = {.peer = *peer, .rtt_us = 1000};
	struct wh_crypto *crypto = &packet->crypto;
	struct wh_packet answer;

	crypto->offset += crypto->bytes;
	crypto->bytes = (uint16_t)wh_handshake_take(client, crypto->data, sizeof(crypto->data));
	crypto->padding_bytes = (uint16_t)(WH_CRYPTO_BYTES_MAX - crypto->bytes);
	datagram.bytes = wh_packet_encode(packet, datagram.packet, sizeof(datagram.packet));
	wh_seal_close_packet(&wh_seal_to_listener, datagram.packet, datagram.bytes);

	uint64_t begin_ns = cpu_ns();

	wh_handshakes_take(&account->handshakes, now_ns(), &datagram);

	uint64_t took_ns = cpu_ns() - begin_ns;

	while (wh_handshakes_give(&account->handshakes, now_ns(), &datagram)) {
		if (wh_packet_decode(datagram.packet, datagram.bytes, &answer) != WH_WIRE_OK)
			abort();
		crypto->acked += answer.crypto.bytes;
		wh_handshake_put(client, answer.crypto.data, answer.crypto.bytes);
	}
	return took_ns;
}

/* A peer of an address of its own; its SA ends at once. */
static void handshake(struct account *account)
{
	struct wh_packet packet = {.type = WH_PACKET_CRYPTO};
	uint32_t number = ++account->peers;
	struct wh_address peer = {.family = WH_IPV4, .port = 7000};
	struct wh_handshake client;

	memcpy(peer.ip, &number, sizeof(number));
	memcpy(packet.crypto.cookie, &number, sizeof(number));
	if (wh_handshake_begin(&client, &account->handshakes.ends, NULL) != 0)
		abort();
	wh_handshake_put(&client, NULL, 0);
	account->first_ns += exchange(account, &packet, &peer, &client);
	if (client.state != WH_HANDSHAKE_MET)
		abort();
	wh_handshake_answer(&client, &(struct wh_auth){
					     .verdict = WH_AUTH_WELCOME,
					     .ciphers = 1 << WH_CIPHER_AES_128_GCM,
					     .number = 1,
					     .version = "peer",
				     });
	account->second_ns += exchange(account, &packet, &peer, &client);
	if (wh_handshake_put(&client, NULL, 0) != WH_HANDSHAKE_DONE)
		abort();

	struct wh_sa *sa = wh_sadb_hold(&account->sadb, client.theirs.number);

	if (sa == NULL)
		abort();
	wh_keep_revoke(&account->handshakes, sa);
	wh_sa_let_go(sa);
	/* All is acknowledged: the place is free. */
	exchange(account, &packet, &peer, &client);
	wh_handshake_end(&client);
	wh_handshakes_poll(&account->handshakes, now_ns());
	atomic_fetch_add(&account->done, 1);
}

static void *handshake_all(void *context)
{
	struct account *account = context;
	uint64_t next_ns = now_ns();

	while (!atomic_load(&account->stop)) {
		if (now_ns() < next_ns || !atomic_load(&account->on)) {
			next_ns = atomic_load(&account->on) ? next_ns : now_ns();
			sched_yield();
			continue;
		}
		next_ns += WH_NS_PER_S / RATE;
		handshake(account);
	}
	return NULL;
}

static void measure_cost(struct account *account)
{
	uint64_t begin_ns = cpu_ns();

	for (uint32_t i = 0; i < HANDSHAKES; i++)
		handshake(account);

	double all_us = (double)(cpu_ns() - begin_ns) / 1000 / HANDSHAKES;
	double first_us = (double)account->first_ns / 1000 / HANDSHAKES;
	double second_us = (double)account->second_ns / 1000 / HANDSHAKES;

	printf("handshake: first flight %.0f us, second %.0f us of the handshake core: %.0f a "
	       "second; %.0f us with the peer's part\n",
		first_us, second_us, 1e6 / (first_us + second_us), all_us);
	printf("bytes of UDP payload, each: in %.0f, out %.0f\n",
		(double)account->handshakes.stats.in_bytes / HANDSHAKES,
		(double)account->handshakes.stats.out_bytes / HANDSHAKES);
}

/* A session between two endpoints in a loop; packets are copied once between them. */
struct transfer {
	struct wh_rig_end end[2];
	struct wh_session *session[2];
	uint8_t *chunks[2];
	uint64_t next_chunk;
};

static void accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	struct transfer *transfer = context;

	(void)config;
	transfer->session[1] = session;
}

/* Nobody asks sessions to leave. */
static void gone(void *context, struct wh_session *session)
{
	(void)context;
	(void)session;
	abort();
}

static void prepare(void *context, struct wh_session_config *config)
{
	struct transfer *transfer = context;

	config->chunk_memory = transfer->chunks[transfer->session[0] != NULL];
}

static void open_transfer(struct transfer *transfer)
{
	for (uint8_t i = 0; i < 2; i++) {
		struct wh_rig_end *end = &transfer->end[i];

		transfer->chunks[i] = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * CHUNK_BYTES);
		if (transfer->chunks[i] == NULL)
			abort();
		memset(transfer->chunks[i], 1, CHUNKS * CHUNK_BYTES);
		wh_rig_session_config(&end->session, WH_NS_PER_S, CHUNK_BYTES, CHUNKS, WINDOW_PKTS);
		end->session.burst_pkts = BURST;
		end->session.attach_bytes = UINT32_MAX;
		end->prepare = prepare;
		end->accepted = accepted;
		end->gone = gone;
		end->context = transfer;
		wh_rig_end_open(end, (uint8_t)(i + 1), WH_ENDPOINT_PLACES_MIN);
	}
	transfer->session[0] = wh_rig_end_connect(&transfer->end[0], &transfer->end[1].address,
		"perf", WH_OBJECT_BYTES_UNKNOWN, NULL);
	if (transfer->session[0] == NULL)
		abort();
}

static void close_transfer(struct transfer *transfer)
{
	for (uint32_t i = 0; i < 2; i++) {
		wh_rig_end_close(&transfer->end[i]);
		wh_session_destroy(transfer->session[i]);
		free(transfer->chunks[i]);
	}
}

static void carry(struct transfer *transfer, uint32_t from, uint64_t at_ns)
{
	static uint8_t room[BURST][ROOM_BYTES];
	struct wh_out out[BURST];
	struct wh_rig_end *to = &transfer->end[1 - from];

	for (uint32_t i = 0; i < BURST; i++)
		out[i].head = room[i];
	wh_endpoint_send_poll(&transfer->end[from].endpoint, at_ns);

	uint32_t count = wh_endpoint_output(&transfer->end[from].endpoint, at_ns, out, BURST);

	for (uint32_t i = 0; i < count; i++) {
		if (out[i].payload_bytes > 0)
			memcpy(out[i].head + out[i].head_bytes, out[i].payload,
				out[i].payload_bytes);
		wh_endpoint_input(&to->endpoint, at_ns, at_ns, out[i].head,
			out[i].head_bytes + out[i].payload_bytes, &transfer->end[from].address);
	}
	wh_endpoint_receive_poll(&to->endpoint, at_ns);
}

/* Packets in a slice, millions in a second of the CPU. */
static double run_slice(struct transfer *transfer)
{
	uint64_t begin_ns = now_ns(), at_ns = begin_ns, begin_cpu_ns = cpu_ns();
	uint64_t before = transfer->session[1] != NULL
				  ? wh_session_stats(transfer->session[1]).received_pkts
				  : 0;

	for (; at_ns - begin_ns < SLICE_NS; at_ns = now_ns()) {
		carry(transfer, 0, at_ns);
		carry(transfer, 1, at_ns);
		chunks_feed(transfer->session[0], &transfer->next_chunk, CHUNK_BYTES);
		chunks_drain(transfer->session[1]);
	}
	return (double)(wh_session_stats(transfer->session[1]).received_pkts - before) /
	       (double)(cpu_ns() - begin_cpu_ns) * 1e3;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double median(double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static int measure_loss(struct account *account)
{
	struct transfer *transfer = calloc(1, sizeof(*transfer));
	double alone[SLICES], beside[SLICES];
	uint64_t on_ns = 0;
	pthread_t thread;

	if (transfer == NULL || pthread_create(&thread, NULL, handshake_all, account) != 0)
		abort();
	open_transfer(transfer);
	run_slice(transfer);
	atomic_store(&account->done, 0);
	for (uint32_t i = 0; i < SLICES; i++) {
		uint64_t begin_ns;

		alone[i] = run_slice(transfer);
		atomic_store(&account->on, true);
		begin_ns = now_ns();
		beside[i] = run_slice(transfer);
		atomic_store(&account->on, false);
		on_ns += now_ns() - begin_ns;
	}
	atomic_store(&account->stop, true);
	pthread_join(thread, NULL);
	close_transfer(transfer);
	free(transfer);

	double rate = (double)atomic_load(&account->done) / (double)on_ns * 1e9;
	double loss = 1 - median(beside, SLICES) / median(alone, SLICES);

	printf("transfer: %.2f M packets a second alone, %.2f beside %.0f handshakes a second: "
	       "%.1f %% less, at most %.0f %% is wanted\n",
		median(alone, SLICES), median(beside, SLICES), rate, 100 * loss, 100 * LOSS_MAX);
	return loss <= LOSS_MAX && rate >= 0.95 * RATE ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
	static struct account account;
	cpu_set_t cpus;
	int status = SKIPPED;

	open_account(&account);
	measure_cost(&account);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) >= 2)
		status = measure_loss(&account);
	close_account(&account);
	return status;
}
