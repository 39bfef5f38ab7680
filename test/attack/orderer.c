/* SPDX-License-Identifier: BSD-3-Clause */

/* A peer that gives orders to the server's queue, for what it may have and for what it may not. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attacker.h"
#include "base/assert.h"
#include "maker.h"
#include "peer.h"

#define ANSWER_BYTES (1 << 14)
#define ANSWER_MS    500
#define AGAIN_MS     110 /* a mailbox has ten questions in a second */
#define SAID_BYTES   8192
#define STEERERS     16
#define STEERED      24 /* questions of each: its answers have room */
#define THIRD        "liar"

/* What is said of an order that is not taken, by a name; or what became of it. */
static const struct {
	const char *name;
	const char *says;
} reasons[] = {
	{"right", "may not give orders"},
	{"deletes", "may not remove files from other hosts"},
	{"list", "options are no list"},
	{"written", "are to be written as"},
	{"unknown", "is none of an order"},
	{"comes", "is of what comes"},
	{"file", "names a file"},
	{"rate", "its rate is none"},
	{"nobody", "knows no peer"},
	{"address", "none of our peers"},
	{"itself", "this host itself"},
	{"folders", "outside the folders"},
	{"forgotten", "not known here any more"},
	{"many", "as many orders here"},
	{"sense", "makes no sense"},
	{"below", "below the folder that is served"},
};

#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

static struct {
	uint64_t begun; /* sessions */
	uint64_t answered;
	uint64_t ended; /* by the server */
	uint64_t state[WH_ORDER_STATUSES];
	uint64_t reason[REASONS];
	uint64_t unnamed;
	const char *last; /* reason, or state */
} seen;

static const char *const states[WH_ORDER_STATUSES] = {
	"refused", "waits", "paused", "runs", "done", "failed", "cancelled"};

static void see_why(const char *why, uint32_t bytes)
{
	char text[WH_ORDER_STATUS_WHY_MAX + 1];

	snprintf(text, sizeof(text), "%.*s", (int)bytes, why);
	for (size_t i = 0; i < REASONS; i++) {
		if (strstr(text, reasons[i].says) == NULL)
			continue;
		seen.reason[i]++;
		seen.last = reasons[i].name;
		return;
	}
	seen.unnamed++;
	seen.last = "unnamed";
	fprintf(stderr, "not known: %s\n", text);
}

/* Where the answers of a session are read. */
struct asked {
	struct wh_peer peer;
	uint32_t chunk;
	uint32_t at;
};

/* What has come by now; whether it is an answer. */
static bool hear(struct asked *asked)
{
	struct wh_record record;

	while (wh_peer_answer(&asked->peer, &asked->chunk, &asked->at, &record)) {
		if (record.type == WH_RECORD_REFUSED) {
			see_why(record.refused.text, record.refused.text_bytes);
			seen.state[WH_ORDER_STATUS_REFUSED]++;
		} else if (record.type == WH_RECORD_STATUS) {
			seen.state[record.order_status.state]++;
			seen.last = states[record.order_status.state];
			if (record.order_status.state == WH_ORDER_STATUS_REFUSED)
				see_why(record.order_status.why, record.order_status.why_bytes);
		} else {
			continue;
		}
		seen.answered++;
		return true;
	}
	return false;
}

static bool await_answer(struct asked *asked)
{
	for (uint32_t ms = 0; ms < ANSWER_MS; ms += 2) {
		if (hear(asked))
			return true;
		if (asked->peer.releases > 0)
			return false;
		wh_peer_pump(&asked->peer, 2);
	}
	return false;
}

static bool begin(struct asked *asked, struct wh_attacker *attacker, const char *path)
{
	struct wh_hello hello;

	*asked = (struct asked){0};
	wh_peer_init(&asked->peer, attacker, 0);
	asked->peer.params.chunk_bytes = ANSWER_BYTES;
	hello = wh_peer_hello(&asked->peer, WH_JOB_ORDER, path);

	bool begun = wh_peer_begin(&asked->peer, &hello);

	seen.begun += begun;
	return begun;
}

static void end(struct asked *asked)
{
	seen.ended += asked->peer.releases > 0;
	wh_peer_give_up(&asked->peer);
}

static struct wh_record order_of(
	uint64_t token, const char *host, const char *path, const char *rate, const char *words)
{
	struct wh_record record = {
		.type = WH_RECORD_ORDER,
		.order = {.host_bytes = (uint16_t)strlen(host),
			.path_bytes = (uint16_t)strlen(path),
			.rate_bytes = (uint16_t)strlen(rate),
			.words_bytes = (uint16_t)strlen(words),
			.priority = 9,
			.host = host,
			.path = path,
			.rate = rate,
			.words = words},
	};

	memcpy(record.order.token, &token, sizeof(token));
	return record;
}

/* What was heard of it last. */
static const char *order(
	struct wh_attacker *attacker, const char *path, const struct wh_record *record)
{
	struct asked asked;

	seen.last = "nothing";
	/* A refusal is the last that such a session hears, and may come before it is asked. */
	if (begin(&asked, attacker, path) && !hear(&asked))
		(void)wh_peer_say(&asked.peer, record);
	if (strcmp(seen.last, "nothing") == 0)
		(void)await_answer(&asked);
	end(&asked);
	return seen.last;
}

static void note_seen(struct wh_attacker *attacker)
{
	for (uint32_t i = 0; i < WH_ORDER_STATUSES; i++)
		if (seen.state[i] > 0)
			wh_attack_note(attacker, states[i], seen.state[i]);
	for (size_t i = 0; i < REASONS; i++)
		if (seen.reason[i] > 0)
			wh_attack_note(attacker, reasons[i].name, seen.reason[i]);
	wh_attack_note(attacker, "begun", seen.begun);
	wh_attack_note(attacker, "answered", seen.answered);
	wh_attack_note(attacker, "ended", seen.ended);
	wh_attack_note(attacker, "unnamed", seen.unnamed);
}

/* Each is well formed, and wrong: it has one reason; NULL: any, or an end of its session. */
static void orders_wrong(struct wh_attacker *attacker)
{
	static char deep[WH_ORDER_WORDS_MAX + 1], long_rate[WH_ORDER_RATE_MAX + 1];
	static const struct {
		const char *path; /* NULL: what may be had */
		const char *host;
		const char *rate;
		const char *words;
		const char *reason;
	} wrong[] = {
		{NULL, THIRD, "max", "", "sense"},
		{NULL, THIRD, "max", deep, "sense"},
		{NULL, THIRD, "max", "{}", "list"},
		{NULL, THIRD, "max", "[1]", "written"},
		{NULL, THIRD, "max", "[\"-r\"]", "written"},
		{NULL, THIRD, "max", "[\"--root=/\"]", "unknown"},
		{NULL, THIRD, "max", "[\"--port=pcap\"]", "unknown"},
		{NULL, THIRD, "max", "[\"--files-from=/etc/passwd\"]", "unknown"},
		{NULL, THIRD, "max", "[\"--manifest=/etc/passwd\"]", "file"},
		{NULL, THIRD, "max", "[\"--expect=x\"]", "file"},
		{NULL, THIRD, "max", "[\"--recursive\",\"--delete\"]", "deletes"},
		{NULL, THIRD, "fast", "[]", "rate"},
		{NULL, THIRD, "-1", "[]", "rate"},
		{NULL, THIRD, long_rate, "[]", "rate"},
		{NULL, "nobody", "max", "[]", "nobody"},
		{NULL, "../liar", "max", "[]", "address"},
		{NULL, "/etc/passwd", "max", "[]", "address"},
		{NULL, "192.0.2.1", "max", "[]", "address"},
		{NULL, "::1", "max", "[]", "address"},
		{NULL, "mirror", "max", "[]", "itself"},
		{"secret", THIRD, "max", "[]", "folders"},
		{"public/../secret", THIRD, "max", "[]", NULL},
		{"../public", THIRD, "max", "[]", NULL},
		{"/etc/passwd", THIRD, "max", "[]", NULL},
	};
	uint32_t count = sizeof(wrong) / sizeof(wrong[0]), as_told = 0;

	memset(deep, '[', WH_ORDER_WORDS_MAX);
	memset(long_rate, '9', WH_ORDER_RATE_MAX);
	for (uint32_t i = 0; i < count; i++) {
		const struct wh_record record =
			order_of(i + 1, wrong[i].host, "x", wrong[i].rate, wrong[i].words);
		const char *said = order(
			attacker, wrong[i].path != NULL ? wrong[i].path : attacker->path, &record);

		if (wrong[i].reason == NULL || strcmp(wrong[i].reason, said) == 0)
			as_told++;
		else
			fprintf(stderr, "%" PRIu32 ": %s, not %s\n", i, said, wrong[i].reason);
	}
	wh_attack_note(attacker, "asked", count);
	wh_attack_note(attacker, "as_told", as_told);
	note_seen(attacker);
	if (as_told < count)
		exit(1);
}

/* Orders of which a few bytes are others, in a pack whose digest is right. */
static void orders_damaged(struct wh_attacker *attacker)
{
	static uint8_t bytes[SAID_BYTES + WH_SEAL_BYTES];
	const struct wh_record record = order_of(7, THIRD, "x", "10M", "[\"--parallel=4\"]");
	struct wh_prng *prng = &attacker->prng;

	while (wh_attack_goes_on(attacker)) {
		uint32_t count = wh_record_encode(&record, bytes, SAID_BYTES);
		struct asked asked;

		for (uint64_t left = 1 + wh_prng_below(prng, 3); left > 0; left--)
			bytes[wh_prng_below(prng, count)] = (uint8_t)wh_prng_u64(prng);
		if (begin(&asked, attacker, attacker->path) &&
			wh_peer_pack(&asked.peer, bytes, count))
			(void)await_answer(&asked);
		end(&asked);
	}
	note_seen(attacker);
}

/* As many as there is time for, or `count`, each a new one. */
static void orders_many(struct wh_attacker *attacker)
{
	uint64_t asked = 0;

	while (attacker->count > 0 ? asked < attacker->count : wh_attack_goes_on(attacker)) {
		const struct wh_record record =
			order_of(++asked << 8, THIRD, "x", "10M", "[\"--peer-timeout=2s\"]");

		(void)order(attacker, attacker->path, &record);
	}
	wh_attack_note(attacker, "asked", asked);
	note_seen(attacker);
}

/* Wishes and rates that are others each time, of orders that each session has for itself. */
static void orders_steered(struct wh_attacker *attacker)
{
	struct asked *asked = aligned_alloc(_Alignof(struct asked), STEERERS * sizeof(*asked));
	char rate[32];

	WH_ASSERT(asked != NULL);
	for (uint32_t i = 0; i < STEERERS; i++)
		(void)begin(&asked[i], attacker, attacker->path);
	for (uint32_t turn = 0; turn < STEERED && wh_attack_goes_on(attacker); turn++) {
		snprintf(rate, sizeof(rate), "%" PRIu32 "M", 1 + turn);
		for (uint32_t i = 0; i < STEERERS; i++) {
			struct wh_record record =
				order_of((UINT64_C(1) << 40) + i, THIRD, "x", rate, "[]");

			record.order.wish = turn % 2 == 0 ? WH_WISH_RUN : WH_WISH_PAUSE;
			if (asked[i].peer.in_open && asked[i].peer.releases == 0)
				(void)wh_peer_say(&asked[i].peer, &record);
		}
		wh_attack_sleep_ms(AGAIN_MS);
		for (uint32_t i = 0; i < STEERERS; i++) {
			wh_peer_pump(&asked[i].peer, 1);
			while (hear(&asked[i]))
				;
		}
	}
	for (uint32_t i = 0; i < STEERERS; i++)
		end(&asked[i]);
	free(asked);
	note_seen(attacker);
}

const struct wh_attack wh_attacks_orderer[] = {
	{"orders-wrong", 18, "orders that make no sense, or are of what may not be had",
		orders_wrong},
	{"orders-damaged", 18, "orders whose fields are of any value", orders_damaged},
	{"orders-many", 18, "more orders than a queue takes of one peer", orders_many},
	{"orders-steered", 18, "orders of which something else is wished all the time",
		orders_steered},
	{0},
};
