/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sealed sessions, both ways and one after the other, over a path that belongs to somebody else
 * (foe.h): `adversary --seeds 100000`. Whatever he does, no byte that arrives is another, no two
 * packets are closed under one nonce, a session is opened once for each that was asked for; and
 * since he tires before anybody's patience ends, all end as they should: he may starve a session,
 * and can end none. A failing seed prints the command that replays it.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rig/end.h"
#include "../rig/seeds.h"
#include "../rig/stream.h"
#include "base/clock.h"
#include "cipher.h"
#include "foe.h"
#include "nonces.h"

#define HZ          WH_NS_PER_S
#define CHUNK_BYTES 16384
#define CHUNKS      4
#define BURST       32
#define TALKS       4 /* by turns from either end */
#define MOMENTS_MAX 2000000
#define LIMIT_S     90

/* One transfer: its session at the end that sends, and at the one that receives. */
struct talk {
	struct wh_session *session[2]; /* by role */
	uint8_t *memory[2];
	struct wh_stream_source source;
	struct wh_stream_sink sink;
	enum wh_release_status outcome[2];
	uint64_t bytes;
	bool begun;
	bool told;
	bool closed[2];
	bool gone[2];
};

struct world {
	struct wh_rig_end end[2];
	struct wh_sadb sadb[2];
	struct wh_sa *sa[2];
	struct talk talk[TALKS];
	struct wh_foe foe;
	struct wh_prng prng;
	const struct wh_profile *profile;
	uint64_t now_tsc;
	uint64_t moments;
	uint64_t met_pkts;
	struct wh_out out[BURST];
	uint8_t room[BURST][WH_FOE_ROOM];
	const char *wrong; /* NULL: nothing so far */
};

struct tally {
	struct wh_rig_tally common;
	uint64_t pkts;
	uint64_t nonces;
	uint64_t dropped;
	uint64_t altered;
	uint64_t added;
	uint64_t refused;
};

/* The end that sends in a talk. */
static uint32_t sender_of(uint32_t number)
{
	return number % 2;
}

static void configure(struct world *w, struct wh_session_config *config)
{
	wh_rig_session_config(config, HZ, CHUNK_BYTES, CHUNKS, 1024);
	wh_session_config_profile(config, w->profile);
	config->rate_bps = UINT64_C(200000000);
	config->peer_timeout_ns = 8 * WH_NS_PER_S;
	config->seed = wh_prng_u64(&w->prng);
}

/* "2": the number of its talk is what a session is called. */
static struct talk *talk_named(struct world *w, const struct wh_session *session)
{
	const struct wh_open_params *params = wh_session_params(session);
	uint32_t number = params->name_bytes == 1 ? (uint32_t)(params->name[0] - '0') : TALKS;

	return number < TALKS ? &w->talk[number] : NULL;
}

static void *chunk_memory(const struct wh_session_config *config)
{
	void *memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * wh_session_chunk_stride(config));

	WH_ASSERT(memory != NULL);
	return memory;
}

/* Memory of a session that is not known yet is given to the talk that it turns out to be of. */
static void prepare(void *context, struct wh_session_config *config)
{
	(void)context;
	config->chunk_memory = chunk_memory(config);
}

static void session_accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	struct world *w = context;
	struct talk *talk = talk_named(w, session);

	if (talk == NULL || !talk->begun || talk->session[WH_RECEIVER] != NULL) {
		w->wrong = "a session was opened that nobody asked for";
		return; /* the run ends here */
	}
	talk->session[WH_RECEIVER] = session;
	talk->memory[WH_RECEIVER] = config->chunk_memory;
	wh_stream_sink_open(&talk->sink, talk->bytes, talk->bytes,
		wh_session_deliver_chunks(session), wh_session_recycled_chunks(session));
}

static void session_gone(void *context, struct wh_session *session)
{
	struct world *w = context;

	for (uint32_t i = 0; i < TALKS; i++)
		for (uint32_t role = 0; role < 2; role++)
			if (w->talk[i].session[role] == session)
				w->talk[i].gone[role] = true;
}

static void begin(struct world *w, uint32_t number)
{
	struct talk *talk = &w->talk[number];
	struct wh_rig_end *end = &w->end[sender_of(number)];
	struct wh_session_config config;
	const char name[] = {(char)('0' + number), '\0'};

	/* Of several chunks, of one, of less: seldom the same. */
	talk->bytes = 1 + wh_prng_below(&w->prng,
				  wh_prng_below(&w->prng, 3) == 0 ? 2000 : 6 * CHUNK_BYTES);
	talk->begun = true;
	configure(w, &end->session);
	end->session.sa = w->sa[sender_of(number)];
	talk->session[WH_TRANSMITTER] = wh_rig_end_connect(
		end, &w->end[!sender_of(number)].address, name, talk->bytes, &config);
	talk->memory[WH_TRANSMITTER] = config.chunk_memory;
	wh_stream_source_open(&talk->source, talk->bytes, talk->bytes, CHUNK_BYTES, false,
		wh_session_free_chunks(talk->session[WH_TRANSMITTER]),
		wh_session_ready_chunks(talk->session[WH_TRANSMITTER]));
}

static void world_open(struct world *w, uint64_t seed)
{
	static const char *const profiles[] = {
		"fixed", "fixed", "udt", "hstcp", "ttp", "pack", "lambda"};

	memset(w, 0, sizeof(*w));
	wh_prng_init(&w->prng, seed);
	wh_cipher_forget();
	wh_cipher_bind(w->sadb, w->sa, wh_prng_u64(&w->prng));
	w->now_tsc = HZ;
	w->profile = wh_profile_find(
		profiles[wh_prng_below(&w->prng, sizeof(profiles) / sizeof(profiles[0]))]);
	wh_foe_open(&w->foe, wh_prng_u64(&w->prng), HZ);
	for (uint32_t i = 0; i < BURST; i++)
		w->out[i].head = w->room[i];
	for (uint32_t i = 0; i < 2; i++) {
		configure(w, &w->end[i].session);
		w->end[i].sadb = &w->sadb[i];
		w->end[i].prepare = prepare;
		w->end[i].accepted = session_accepted;
		w->end[i].gone = session_gone;
		w->end[i].context = w;
		wh_rig_end_open(&w->end[i], (uint8_t)(1 + i), WH_ENDPOINT_PLACES_MIN);
	}
}

static void world_close(struct world *w)
{
	for (uint32_t i = 0; i < TALKS; i++) {
		struct talk *talk = &w->talk[i];

		if (!talk->begun)
			continue;
		wh_stream_source_close(&talk->source);
		if (talk->session[WH_RECEIVER] != NULL)
			wh_stream_sink_close(&talk->sink);
		for (uint32_t role = 0; role < 2; role++) {
			if (talk->session[role] != NULL)
				wh_session_destroy(talk->session[role]);
			free(talk->memory[role]);
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		wh_rig_end_close(&w->end[i]);
		wh_sadb_free(&w->sadb[i]);
	}
	wh_foe_close(&w->foe);
}

static uint32_t arrive(struct world *w)
{
	static const struct wh_address stranger = {
		.family = WH_IPV4, .ip = {10, 0, 0, 77}, .port = 1};
	struct wh_foe_parcel *parcel;
	uint32_t count = 0;

	while (w->wrong == NULL && (parcel = wh_foe_take(&w->foe, w->now_tsc)) != NULL) {
		const struct wh_address *from =
			parcel->from < 2 ? &w->end[parcel->from].address : &stranger;

		wh_endpoint_input(&w->end[parcel->to].endpoint, w->now_tsc, w->now_tsc,
			parcel->data, parcel->bytes, from);
		count++;
	}
	return count;
}

static uint32_t send_all(struct world *w, uint32_t from)
{
	uint32_t count = wh_endpoint_output(&w->end[from].endpoint, w->now_tsc, w->out, BURST);

	for (uint32_t i = 0; i < count; i++)
		wh_foe_meet(&w->foe, w->now_tsc, (uint8_t)!from, w->out[i].head,
			w->out[i].head_bytes, w->out[i].payload, w->out[i].payload_bytes);
	w->met_pkts += count;
	return count;
}

static int32_t read_and_write(struct world *w, struct talk *talk)
{
	struct wh_session **session = talk->session;
	int32_t work = 0;

	if (!talk->closed[WH_TRANSMITTER]) {
		work = wh_stream_source_poll(&talk->source, UINT64_MAX);
		if (work > 0)
			wh_session_kick(session[WH_TRANSMITTER]);
	}
	if (session[WH_RECEIVER] == NULL || talk->closed[WH_RECEIVER])
		return work;

	int32_t written = wh_stream_sink_poll(&talk->sink);

	if (written > 0)
		wh_session_kick(session[WH_RECEIVER]);
	if (talk->sink.done != WH_STREAM_RUNNING && !talk->told) {
		talk->told = true;
		written++;
		wh_session_ask(session[WH_RECEIVER], WH_WISH_SINK_DONE,
			talk->sink.done == WH_STREAM_OK ? WH_STATUS_VERIFIED : WH_STATUS_MISMATCH);
		if (talk->sink.done != WH_STREAM_OK)
			w->wrong = "other bytes arrived than were sent";
	}
	return work + written;
}

static int32_t close_those_over(struct talk *talk)
{
	int32_t work = 0;

	for (uint32_t role = 0; role < 2; role++) {
		if (talk->session[role] == NULL || talk->closed[role])
			continue;

		struct wh_session_news news = wh_session_news(talk->session[role]);

		if (news.phase != WH_PHASE_CLOSED)
			continue;
		talk->outcome[role] = news.outcome;
		talk->closed[role] = true;
		wh_session_ask(talk->session[role], WH_WISH_CLOSE, WH_STATUS_PENDING);
		work++;
	}
	return work;
}

static bool is_over(const struct talk *talk)
{
	return talk->gone[WH_TRANSMITTER] &&
	       (talk->session[WH_RECEIVER] == NULL || talk->gone[WH_RECEIVER]);
}

/* The first two at once, each further one when the one before it of its direction is over. */
static int32_t begin_next(struct world *w)
{
	int32_t work = 0;

	for (uint32_t i = 0; i < TALKS; i++)
		if (!w->talk[i].begun && (i < 2 || is_over(&w->talk[i - 2]))) {
			begin(w, i);
			work++;
		}
	return work;
}

static uint64_t next_moment(const struct world *w)
{
	uint64_t next_tsc = wh_foe_deadline(&w->foe);

	for (uint32_t i = 0; i < 2; i++) {
		const struct wh_endpoint *endpoint = &w->end[i].endpoint;

		next_tsc = wh_min_u64(next_tsc, wh_endpoint_receive_deadline(endpoint));
		next_tsc = wh_min_u64(next_tsc, wh_endpoint_send_deadline(endpoint));
	}
	return next_tsc;
}

static int64_t one_moment(struct world *w)
{
	int64_t work = arrive(w);

	if (w->wrong != NULL)
		return 0;
	work += begin_next(w);
	for (uint32_t i = 0; i < TALKS; i++)
		if (w->talk[i].begun)
			work += read_and_write(w, &w->talk[i]);
	for (uint32_t i = 0; i < 2; i++) {
		work += wh_endpoint_receive_poll(&w->end[i].endpoint, w->now_tsc);
		work += wh_endpoint_send_poll(&w->end[i].endpoint, w->now_tsc);
		work += send_all(w, i);
	}
	for (uint32_t i = 0; i < TALKS; i++)
		work += close_those_over(&w->talk[i]);
	return work;
}

static bool all_over(const struct world *w)
{
	for (uint32_t i = 0; i < TALKS; i++)
		if (!w->talk[i].begun || !is_over(&w->talk[i]))
			return false;
	return true;
}

static void run(struct world *w)
{
	while (w->wrong == NULL && !all_over(w)) {
		if (++w->moments > MOMENTS_MAX || w->now_tsc > LIMIT_S * HZ) {
			w->wrong = "it never ends";
			return;
		}
		if (one_moment(w) > 0)
			continue;

		uint64_t next_tsc = next_moment(w);

		WH_ASSERT(next_tsc > w->now_tsc);
		w->now_tsc = next_tsc;
	}
}

static const char *judge(const struct world *w)
{
	if (w->wrong != NULL)
		return w->wrong;
	for (uint32_t i = 0; i < TALKS; i++) {
		const struct talk *talk = &w->talk[i];

		if (talk->session[WH_RECEIVER] == NULL)
			return "a session was never opened";
		for (uint32_t role = 0; role < 2; role++)
			if (talk->outcome[role] != WH_STATUS_VERIFIED)
				return wh_release_status_name(talk->outcome[role]);
		if (talk->sink.bytes != talk->bytes)
			return "the size is wrong";
	}
	return NULL;
}

static void describe(const struct world *w, uint64_t seed)
{
	const struct wh_foe_habits *habits = &w->foe.habits;

	printf("seed %" PRIu64 ": of 1000 packets he drops %" PRIu32 ", delays %" PRIu32
	       ", alters %" PRIu32 "; adds %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
	       " %" PRIu32 "%s; %.3f s, %" PRIu64 " packets, %" PRIu64 " nonces\n",
		seed, habits->drops, habits->delays, habits->alters, habits->adds[0],
		habits->adds[1], habits->adds[2], habits->adds[3], habits->adds[4], habits->adds[5],
		habits->never_stops ? " for ever" : "", (double)(w->now_tsc - HZ) / HZ, w->met_pkts,
		wh_nonces_count());
}

static bool run_seed(const struct wh_rig_seeds *seeds, uint64_t seed, void *state)
{
	static struct world w;
	struct tally *tally = state;

	world_open(&w, seed);
	run(&w);

	const char *wrong = judge(&w);

	tally->pkts += w.met_pkts;
	tally->nonces += wh_nonces_count();
	tally->dropped += w.foe.dropped;
	tally->altered += w.foe.altered;
	for (uint32_t i = 0; i < WH_FOE_ACTS; i++)
		tally->added += w.foe.done[i];
	for (uint32_t i = 0; i < 2; i++)
		tally->refused += wh_endpoint_bad_pkts(&w.end[i].endpoint) +
				  w.end[i].endpoint.stats.no_session_pkts;
	if (seeds->verbose || wrong != NULL)
		describe(&w, seed);
	if (wrong != NULL) {
		printf("FAILED: %s\n", wrong);
		wh_rig_seeds_tell(seeds, seed);
	}
	world_close(&w);
	return wrong == NULL;
}

int main(int argc, char **argv)
{
	static const struct wh_rig_share share = {.run = run_seed};
	struct wh_rig_seeds seeds;
	struct tally sum = {0};

	if (!wh_rig_seeds_read(&seeds, 100, argc, argv))
		return 2;

	int crashed = wh_rig_seeds_run(&seeds, &share, &sum.common, sizeof(sum));

	printf("%" PRIu64 " seeds passed, %" PRIu64 " failed: %" PRIu64
	       " packets, of which %" PRIu64 " dropped and %" PRIu64 " altered, %" PRIu64
	       " added; %" PRIu64 " refused; %" PRIu64 " nonces\n",
		sum.common.passed, sum.common.failed, sum.pkts, sum.dropped, sum.altered, sum.added,
		sum.refused, sum.nonces);
	return crashed > 0 || sum.common.failed > 0;
}
