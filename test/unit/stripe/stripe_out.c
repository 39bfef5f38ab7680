/* SPDX-License-Identifier: BSD-3-Clause */

/* A stream by several sessions, in virtual time: what arrives is what was sent, whatever fails. */

#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "base/clock.h"
#include "base/prng.h"
#include "stripe/stripe.h"

const char wh_suite_name[] = "stripe out";

#define HZ     UINT64_C(1000000) /* a tick is a microsecond */
#define STEP   UINT64_C(200)
#define SLOTS  64
#define CHUNK  32
#define CHUNKS 400 /* of a stream */
#define HELD   8   /* that a source reads ahead */

/* A chunk between the two ends of a session. */
struct carried {
	struct wh_chunk *chunk; /* the sender's */
	uint64_t arrives_tsc;
};

/* A session that carries one chunk after the other, and delivers them in order. */
struct session {
	struct wh_fifo free, ready, deliver, recycled;
	struct wh_chunk out[SLOTS], in[SLOTS];
	uint8_t out_data[SLOTS][CHUNK], in_data[SLOTS][CHUNK];
	struct carried line[SLOTS];
	uint32_t first, count;
	bool in_use[SLOTS]; /* buffers of the receiver */
	uint32_t room;      /* those that are free */
	uint64_t next_number, moved_bytes, heard_tsc, busy_until_tsc;
	uint64_t chunk_tsc, delay_tsc; /* of the path */
	uint64_t dead_from_tsc, dead_until_tsc;
	bool alive;
	bool ends;
	struct wh_chunk end;
};

static struct rig {
	struct session session[3];
	struct wh_stripe_out out;
	struct wh_stripe_in in;
	uint32_t paths;
	uint64_t now_tsc;
	bool reads_ahead, swings; /* as a source does; paths change their rate */
	struct wh_chunk *held[HELD];
	uint32_t held_count,
		extent_left; /* what it has read, and has yet to send without a record */
	uint32_t filled;     /* chunks by the reader */
	uint32_t came;       /* to the writer, in order */
	uint32_t by[3];      /* of them, by path */
	bool ended, end_sent;
	struct wh_chunk end;
	struct wh_prng prng;
} rig;

static void open_small(uint32_t i, uint32_t chunks, uint64_t chunk_tsc, uint64_t delay_tsc)
{
	struct session *s = &rig.session[i];

	*s = (struct session){
		.room = SLOTS, .chunk_tsc = chunk_tsc, .delay_tsc = delay_tsc, .alive = true};
	CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&s->free, SLOTS), 0);
	CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&s->ready, SLOTS + 1), 0);
	CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&s->deliver, SLOTS + 1), 0);
	CU_ASSERT_EQUAL_FATAL(wh_fifo_init(&s->recycled, SLOTS), 0);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		s->out[slot] = (struct wh_chunk){.data = s->out_data[slot], .slot = slot};
		s->in[slot] = (struct wh_chunk){.data = s->in_data[slot], .slot = slot};
		if (slot < chunks)
			wh_fifo_push(&s->free, &s->out[slot]);
	}
	CU_ASSERT_EQUAL_FATAL(wh_stripe_out_add(&rig.out, i, &s->free, &s->ready, chunks, 0), 0);
	wh_stripe_in_add(&rig.in, i, &s->deliver, &s->recycled);
	rig.paths = i + 1;
}

static void open_session(uint32_t i, uint64_t chunk_tsc, uint64_t delay_tsc)
{
	open_small(i, SLOTS, chunk_tsc, delay_tsc);
}

static void close_session(struct session *s)
{
	wh_fifo_free(&s->free);
	wh_fifo_free(&s->ready);
	wh_fifo_free(&s->deliver);
	wh_fifo_free(&s->recycled);
}

static void open_rig(uint64_t seed)
{
	rig = (struct rig){.now_tsc = HZ};
	wh_prng_init(&rig.prng, seed);
	CU_ASSERT_EQUAL_FATAL(wh_stripe_out_init(&rig.out, HZ), 0);
	CU_ASSERT_EQUAL_FATAL(wh_stripe_in_init(&rig.in, 7), 0);
}

static void close_rig(void)
{
	wh_stripe_out_free(&rig.out);
	wh_stripe_in_free(&rig.in);
	for (uint32_t i = 0; i < rig.paths; i++)
		close_session(&rig.session[i]);
}

static bool is_dead(const struct session *s)
{
	return !s->alive || (rig.now_tsc >= s->dead_from_tsc && rig.now_tsc < s->dead_until_tsc);
}

static void fill_bytes(uint8_t *to, uint32_t number)
{
	for (uint32_t i = 0; i < CHUNK; i++)
		to[i] = (uint8_t)(number * 31 + i);
}

/* Sends what is ready while the receiver has a buffer, and lets arrive what is due. */
static void carry(struct session *s)
{
	struct wh_chunk *chunk;

	while ((chunk = wh_fifo_pop(&s->recycled)) != NULL) {
		CU_ASSERT_TRUE(s->in_use[chunk->slot]);
		s->in_use[chunk->slot] = false;
		s->room++;
	}
	if (is_dead(s))
		return;
	s->heard_tsc = rig.now_tsc;
	while (s->room > 0 && rig.now_tsc >= s->busy_until_tsc &&
		(chunk = wh_fifo_pop(&s->ready)) != NULL) {
		CU_ASSERT_EQUAL(chunk->number, s->next_number);
		if (chunk->end) {
			s->ends = true;
			s->end = *chunk;
			break;
		}
		s->next_number++;
		s->room--;
		s->busy_until_tsc = rig.now_tsc + s->chunk_tsc;
		s->line[(s->first + s->count++) % SLOTS] =
			(struct carried){chunk, s->busy_until_tsc + s->delay_tsc};
	}
	while (s->count > 0 && s->line[s->first].arrives_tsc <= rig.now_tsc) {
		struct wh_chunk *from = s->line[s->first].chunk;
		struct wh_chunk *to = NULL;

		for (uint32_t slot = 0; to == NULL && slot < SLOTS; slot++)
			if (!s->in_use[slot])
				to = &s->in[slot];
		CU_ASSERT_FATAL(to != NULL);
		s->in_use[to->slot] = true;
		memcpy(to->data, from->data, from->bytes);
		to->bytes = from->bytes;
		to->order = from->order;
		to->number = from->number;
		wh_fifo_push(&s->deliver, to);
		wh_fifo_push(&s->free, from);
		s->moved_bytes += from->bytes;
		s->first = (s->first + 1) % SLOTS;
		s->count--;
	}
	if (s->ends && s->count == 0) {
		wh_fifo_push(&s->deliver, &s->end);
		s->ends = false;
	}
}

static void fill_and_push(struct wh_chunk *chunk)
{
	fill_bytes(chunk->data, rig.filled);
	chunk->bytes = CHUNK - rig.filled % 3;
	chunk->number = 1000 + rig.filled++;
	wh_fifo_push(&rig.out.ready, chunk);
}

/* Before each extent there is a record, which needs a chunk that is not read into yet. */
static void read_ahead(void)
{
	struct wh_chunk *chunk;

	while (rig.filled < CHUNKS) {
		if (rig.extent_left == 0) {
			chunk = wh_fifo_pop(&rig.out.free);
			if (chunk == NULL)
				return;
			fill_and_push(chunk);
			rig.extent_left = 1 + (uint32_t)wh_prng_below(&rig.prng, 12);
		}
		while (rig.extent_left > 0 && rig.held_count > 0 && rig.filled < CHUNKS) {
			fill_and_push(rig.held[0]);
			memmove(rig.held, rig.held + 1, --rig.held_count * sizeof(rig.held[0]));
			rig.extent_left--;
		}
		while (rig.held_count < HELD && (chunk = wh_fifo_pop(&rig.out.free)) != NULL)
			rig.held[rig.held_count++] = chunk;
		if (rig.extent_left > 0 && rig.held_count == 0)
			return;
	}
}

static void read_some(void)
{
	struct wh_chunk *chunk;

	if (rig.reads_ahead)
		read_ahead();
	while (!rig.reads_ahead && rig.filled < CHUNKS &&
		(chunk = wh_fifo_pop(&rig.out.free)) != NULL)
		fill_and_push(chunk);
	if (rig.filled == CHUNKS && !rig.end_sent) {
		rig.end = (struct wh_chunk){.end = true, .number = 77, .digest = {{0xab}}};
		wh_fifo_push(&rig.out.ready, &rig.end);
		rig.end_sent = true;
	}
}

static void write_some(void)
{
	uint8_t expected[CHUNK];
	struct wh_chunk *chunk;

	while ((chunk = wh_fifo_pop(&rig.in.deliver)) != NULL) {
		if (chunk->end) {
			rig.ended = true;
			CU_ASSERT_EQUAL(chunk->number, 7 + CHUNKS);
			CU_ASSERT_EQUAL(chunk->digest.bytes[0], 0xab);
			continue;
		}
		fill_bytes(expected, rig.came);
		CU_ASSERT_EQUAL(chunk->bytes, CHUNK - rig.came % 3);
		CU_ASSERT_EQUAL(memcmp(chunk->data, expected, chunk->bytes), 0);
		CU_ASSERT_EQUAL(chunk->number, 7 + rig.came);
		rig.by[chunk->path]++;
		rig.came++;
		wh_fifo_push(&rig.in.recycled, chunk);
	}
}

static void step_without_reader(void)
{
	rig.now_tsc += STEP;
	for (uint32_t i = 0; i < rig.paths; i++) {
		struct session *s = &rig.session[i];

		if (rig.out.path[i].free != NULL)
			rig.out.path[i].view = (struct wh_stripe_view){
				.alive = s->alive,
				.heard_tsc = s->heard_tsc,
				.rtt_tsc = 2 * s->delay_tsc,
				.moved_bytes = s->moved_bytes,
				.rate_bps = WH_CHUNK_BYTES_DEFAULT * 8 * HZ / s->chunk_tsc,
				.peer_chunks = SLOTS,
			};
	}
	wh_stripe_out_poll(&rig.out, rig.now_tsc);
	for (uint32_t i = 0; i < rig.paths; i++)
		carry(&rig.session[i]);
	wh_stripe_in_poll(&rig.in);
	write_some();
}

static void step(void)
{
	read_some();
	for (uint32_t i = 0; i < rig.paths; i++)
		if (rig.swings && rig.session[i].count > 0 && wh_prng_below(&rig.prng, 100) == 0)
			rig.session[i].chunk_tsc = 200 + wh_prng_below(&rig.prng, 20000);
	step_without_reader();
}

/* Virtual seconds until the writer has all; 0: it had not after 60. */
static double run(void)
{
	uint64_t from_tsc = rig.now_tsc;

	while (!rig.ended && rig.now_tsc - from_tsc < 60 * HZ)
		step();
	CU_ASSERT_EQUAL(rig.came, CHUNKS);
	CU_ASSERT_FALSE(rig.in.wrong);
	return rig.ended ? (double)(rig.now_tsc - from_tsc) / HZ : 0;
}

static void one_path(void)
{
	open_rig(1);
	open_session(0, 1000, 5000);

	double seconds = run();

	CU_ASSERT(seconds > 0.40 && seconds < 0.44);
	CU_ASSERT_EQUAL(rig.out.resent, 0);
	close_rig();
}

static void equal_paths(void)
{
	open_rig(1);
	open_session(0, 2000, 5000);
	open_session(1, 2000, 5000);

	double seconds = run();

	CU_ASSERT(seconds > 0.40 && seconds < 0.44);
	CU_ASSERT(rig.by[0] > 190 && rig.by[1] > 190);
	close_rig();
}

/* Each carries what it can: 1000 and 250 chunks a second are 1250. */
static void unequal_paths(void)
{
	open_rig(1);
	open_session(0, 1000, 2000);
	open_session(1, 4000, 9000);

	double seconds = run();

	CU_ASSERT(seconds > 0.32 && seconds < 0.36);
	CU_ASSERT(rig.by[0] > 300 && rig.by[1] > 70);
	CU_ASSERT_EQUAL(rig.out.resent, 0);
	close_rig();
}

/* One falls silent in the middle: half a second later the other has everything. */
static void a_path_falls_silent(void)
{
	for (uint32_t which = 0; which < 2; which++) {
		open_rig(1);
		open_session(0, 2000, 5000);
		open_session(1, 2000, 5000);
		rig.session[which].dead_from_tsc = rig.now_tsc + HZ / 5;
		rig.session[which].dead_until_tsc = UINT64_MAX;

		double seconds = run();

		CU_ASSERT(seconds > 0.9 && seconds < 1.2);
		CU_ASSERT(rig.out.resent > 0 && rig.out.resent <= SLOTS);
		close_rig();
	}
}

/* It ends: what it had goes by the other at once, and then its memory is needed no more. */
static void a_path_ends(void)
{
	open_rig(1);
	open_session(0, 2000, 5000);
	open_session(1, 2000, 5000);
	while (rig.came < 100)
		step();
	CU_ASSERT_FALSE(wh_stripe_out_drop(&rig.out, 1));
	rig.session[1].alive = false;
	CU_ASSERT(run() > 0);
	CU_ASSERT(rig.out.resent > 0);
	CU_ASSERT_TRUE(wh_stripe_out_drop(&rig.out, 1));
	CU_ASSERT_TRUE(wh_stripe_in_drop(&rig.in, 1));
	CU_ASSERT_FALSE(wh_stripe_out_uses(&rig.out, 1));
	close_rig();
}

/* It comes back, and is used again; what it had kept arrives a second time. */
static void a_path_comes_back(void)
{
	open_rig(1);
	open_session(0, 8000, 5000);
	open_session(1, 2000, 5000);
	rig.session[1].dead_from_tsc = rig.now_tsc + HZ / 10;
	rig.session[1].dead_until_tsc = rig.now_tsc + HZ;
	CU_ASSERT(run() > 0);
	CU_ASSERT(rig.in.twice > 0);
	CU_ASSERT(rig.by[1] > 100);
	close_rig();
}

/* This host stops for a second, and takes no path for dead. */
static void this_host_is_away(void)
{
	open_rig(1);
	open_session(0, 2000, 5000);
	open_session(1, 2000, 5000);
	while (rig.came < 100)
		step();
	rig.now_tsc += HZ;
	CU_ASSERT(run() > 0);
	CU_ASSERT_EQUAL(rig.out.resent, 0);
	close_rig();
}

/* Paths, rates, delays and failures by chance; one path is never dead for good. */
static uint32_t free_after(uint32_t steps)
{
	while (steps-- > 0)
		step_without_reader();
	return wh_fifo_count(&rig.out.free);
}

/*
 * The reader was lent many, has read ahead into those that it still has, and needs one for a record
 * before them; meanwhile the path has become so slow that it should have fewer. It is lent one, and
 * one more when that has gone.
 */
static void reader_holds_all(void)
{
	struct wh_chunk *held[SLOTS];
	uint32_t count = 0;

	open_rig(1);
	open_session(0, 100, 1000);
	step_without_reader();
	while ((held[count] = wh_fifo_pop(&rig.out.free)) != NULL)
		count++;
	CU_ASSERT_EQUAL_FATAL(count, 32);
	rig.session[0].chunk_tsc = 10000;
	for (uint32_t i = 0; i < 20; i++)
		fill_and_push(held[i]);
	CU_ASSERT_EQUAL(free_after(2000), 1);
	CU_ASSERT_EQUAL(rig.came, 20);
	for (uint32_t i = 0; i < 3; i++) {
		struct wh_chunk *chunk = wh_fifo_pop(&rig.out.free);

		CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
		CU_ASSERT_EQUAL(free_after(2000), 0);
		fill_and_push(chunk);
		CU_ASSERT_EQUAL(free_after(2000), 1);
		CU_ASSERT_EQUAL(rig.came, 21 + i);
	}
	close_rig();
}

static void by_chance(void)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		open_rig(seed);

		uint32_t paths = 1 + (uint32_t)wh_prng_below(&rig.prng, 3);
		uint32_t safe = (uint32_t)wh_prng_below(&rig.prng, paths);

		rig.reads_ahead = rig.swings = seed % 2 == 0;

		for (uint32_t i = 0; i < paths; i++) {
			struct session *s = &rig.session[i];

			open_small(i, 2 + (uint32_t)wh_prng_below(&rig.prng, SLOTS - 1),
				200 + wh_prng_below(&rig.prng, 20000),
				wh_prng_below(&rig.prng, 100000));
			s->dead_from_tsc = rig.now_tsc + wh_prng_below(&rig.prng, 2 * HZ);
			s->dead_until_tsc = s->dead_from_tsc + wh_prng_below(&rig.prng, 3 * HZ);
			if (i != safe && wh_prng_below(&rig.prng, 2) == 0)
				s->dead_until_tsc = UINT64_MAX;
		}
		if (run() == 0)
			printf("seed %u: %u of %u\n", (unsigned)seed, rig.came, CHUNKS);
		CU_ASSERT_TRUE(rig.ended);
		close_rig();
	}
}

CU_TestInfo wh_tests[] = {
	{"one path", one_path},
	{"equal paths", equal_paths},
	{"unequal paths", unequal_paths},
	{"a path falls silent", a_path_falls_silent},
	{"a path ends", a_path_ends},
	{"a path comes back", a_path_comes_back},
	{"the reader holds all", reader_holds_all},
	{"this host is away", this_host_is_away},
	{"by chance", by_chance},
	CU_TEST_INFO_NULL,
};
