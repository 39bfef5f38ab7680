/* SPDX-License-Identifier: BSD-3-Clause */

/* Trees that are sent with a lie in them, and what a server can be got to show of others'. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attacker.h"
#include "base/clock.h"
#include "bundle/split.h"
#include "bundle/staging_name.h"
#include "peer.h"

#define FOLDER_PATH_BYTES 3800
#define FOLDERS           80000
#define RECORDS_BYTES     (1u << 20)
#define LISTING_MS        800
#define SETTLE_MS         300
#define SPLIT             7
#define LIES              4
#define CLAIM_BYTES       (UINT64_C(1) << 40)

static struct wh_entry entry_of(uint64_t id, enum wh_entry_kind kind, const char *path)
{
	return (struct wh_entry){
		.id = id,
		.kind = (uint8_t)kind,
		.mode = 0644,
		.mtime_s = 1700000000,
		.path = path,
		.path_bytes = (uint16_t)strlen(path),
	};
}

static bool say_entry(struct wh_peer *peer, const struct wh_entry *entry)
{
	struct wh_record record = {.type = WH_RECORD_ENTRY, .entry = *entry};

	return wh_peer_say(peer, &record);
}

static bool say_small(struct wh_peer *peer, uint64_t id, const char *path, const char *text)
{
	struct wh_entry entry = entry_of(id, WH_ENTRY_FILE, path);

	entry.content = WH_CONTENT_INLINE;
	entry.size_bytes = strlen(text);
	entry.inline_bytes = (const uint8_t *)text;
	return say_entry(peer, &entry);
}

/* What became of it: READY, REFUSED, OUTCOMEs by now. */
static void note_answers(struct wh_peer *peer)
{
	struct wh_record record;
	uint32_t chunk = 0, at = 0;
	uint64_t ready = 0, refused = 0, failed = 0, want = 0;

	while (wh_peer_answer(peer, &chunk, &at, &record)) {
		ready += record.type == WH_RECORD_READY;
		if (record.type == WH_RECORD_REFUSED) {
			fprintf(stderr, "refused: %.*s\n", record.refused.text_bytes,
				record.refused.text);
			refused++;
		}
		want += record.type == WH_RECORD_WANT;
		failed += record.type == WH_RECORD_OUTCOME &&
			  record.outcome.status == WH_OUTCOME_FAILED;
	}
	wh_attack_note(peer->attacker, "ready", ready);
	wh_attack_note(peer->attacker, "refused", refused);
	wh_attack_note(peer->attacker, "failed", failed);
	wh_attack_note(peer->attacker, "want", want);
}

/* As a lane of a transfer; 0 of 1: alone. */
static bool begin_lane(struct wh_peer *peer, struct wh_attacker *attacker, const char *path,
	uint16_t lane, uint16_t lanes, uint64_t transfer)
{
	struct wh_hello hello;

	wh_peer_init(peer, attacker, 0);
	hello = wh_peer_hello(peer, WH_JOB_SEND, path);
	hello.into_folder = true;
	hello.lane = lane;
	hello.lanes = lanes;
	hello.transfer = transfer;
	return wh_peer_begin(peer, &hello);
}

static bool begin_send(struct wh_peer *peer, struct wh_attacker *attacker, const char *path)
{
	return begin_lane(peer, attacker, path, 0, 1, 0);
}

/* All that `get -r` shows, looked through for what is none of our business. */
static void list(struct wh_attacker *attacker)
{
	struct wh_peer peer;
	struct wh_hello hello;
	struct wh_record record;
	uint32_t chunk = 0, at = 0;
	uint64_t entries = 0, staging = 0;

	wh_peer_init(&peer, attacker, 0);
	peer.params.chunk_bytes = 1 << 14;
	hello = wh_peer_hello(&peer, WH_JOB_GET, attacker->path);
	if (wh_peer_begin(&peer, &hello))
		wh_peer_pump(&peer, LISTING_MS);
	while (wh_peer_answer(&peer, &chunk, &at, &record)) {
		if (record.type != WH_RECORD_ENTRY)
			continue;
		entries++;
		staging += memmem(record.entry.path, record.entry.path_bytes, WH_STAGING_HEAD,
				   strlen(WH_STAGING_HEAD)) != NULL;
	}
	note_answers(&peer);
	wh_attack_note(attacker, "entries", entries);
	wh_attack_note(attacker, "staging", staging);
	wh_peer_give_up(&peer);
}

/* Into a folder whose name was found out somehow: files of the names that staging uses. */
static void into(struct wh_attacker *attacker)
{
	static const char *const names[] = {"0", "1", "2", "3"};
	struct wh_peer peer;

	if (begin_send(&peer, attacker, attacker->path))
		for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			say_small(&peer, i, names[i], "EVIL");
	wh_peer_pump(&peer, SETTLE_MS);
	wh_attack_note(attacker, "begun", peer.in_open);
	note_answers(&peer);
	wh_peer_give_up(&peer);
}

/* By way of a link, which is made in one job and gone through in the next. */
static void by_link(struct wh_attacker *attacker)
{
	struct wh_peer peer;
	struct wh_entry entry = entry_of(0, WH_ENTRY_LINK, "way");
	struct wh_record finish = {.type = WH_RECORD_FINISH, .finish.entries = 1};

	entry.link = attacker->path;
	entry.link_bytes = (uint16_t)strlen(attacker->path);
	if (begin_send(&peer, attacker, ".")) {
		say_entry(&peer, &entry);
		wh_peer_say(&peer, &finish);
	}
	wh_peer_pump(&peer, SETTLE_MS);
	note_answers(&peer);
	wh_peer_give_up(&peer);

	attacker->path = "way";
	into(attacker);
}

/* One folder over and over, by a path as long as paths get. */
static void folders(struct wh_attacker *attacker)
{
	uint8_t *bytes = malloc(RECORDS_BYTES);
	char path[FOLDER_PATH_BYTES + 1];
	struct wh_peer peer;
	uint64_t id = 0;
	bool taken;

	for (uint32_t i = 0; i < FOLDER_PATH_BYTES; i++)
		path[i] = i % 200 == 199 ? '/' : 'p';
	path[FOLDER_PATH_BYTES - 1] = 'p';
	path[FOLDER_PATH_BYTES] = '\0';
	taken = begin_send(&peer, attacker, ".");
	while (taken && id < FOLDERS && wh_attack_goes_on(attacker)) {
		uint32_t used = 0, more;

		do {
			struct wh_record record = {.type = WH_RECORD_ENTRY,
				.entry = entry_of(id, WH_ENTRY_FOLDER, path)};

			more = wh_record_encode(
				&record, bytes + used, RECORDS_BYTES - WH_SEAL_BYTES - used);
			used += more;
			id += more > 0;
		} while (more > 0);
		taken = wh_peer_pack(&peer, bytes, used);
	}
	wh_peer_pump(&peer, SETTLE_MS);
	wh_attack_note(attacker, "entries", id);
	note_answers(&peer);
	wh_peer_linger(&peer);
	wh_peer_give_up(&peer);
	free(bytes);
}

/* A file that is to be as large as all that is free, or larger; nothing of it comes. */
static void claim(struct wh_attacker *attacker)
{
	struct wh_peer peer;
	struct wh_entry entry = entry_of(0, WH_ENTRY_FILE, "claimed");

	entry.content = WH_CONTENT_ASK;
	entry.size_bytes = attacker->count > 0 ? attacker->count : CLAIM_BYTES;
	if (begin_send(&peer, attacker, "."))
		say_entry(&peer, &entry);
	wh_peer_linger(&peer);
	note_answers(&peer);
	wh_peer_give_up(&peer);
}

/* A file as it should be, then two in a chunk that is not what its seal says. */
static void forged(struct wh_attacker *attacker)
{
	struct wh_record finish = {.type = WH_RECORD_FINISH, .finish.entries = 3};
	struct wh_peer peer;

	if (begin_send(&peer, attacker, "forged")) {
		wh_attack_note(attacker, "begun", 1);
		say_small(&peer, 0, "right", "this is right");
		wh_peer_pump(&peer, SETTLE_MS);
		peer.forges = true;
		say_small(&peer, 1, "first", "not what was read");
		say_small(&peer, 2, "second", "nor this");
		wh_peer_pump(&peer, SETTLE_MS);
		wh_peer_say(&peer, &finish);
		wh_peer_release(&peer, WH_RELEASE_REQUEST, WH_STATUS_VERIFIED);
		wh_peer_pump(&peer, SETTLE_MS);
	}
	wh_attack_note(attacker, "released_as", peer.released_as);
	note_answers(&peer);
	wh_peer_give_up(&peer);
}

/* The two lanes of a transfer, and a file with a segment for each: the first lane is its lead. */
struct lanes {
	struct wh_peer lead;
	struct wh_peer other;
};

static bool say_segment(struct wh_peer *peer, enum wh_entry_content content, const char *path)
{
	struct wh_entry entry = entry_of(0, WH_ENTRY_FILE, path);

	entry.content = (uint8_t)content;
	entry.size_bytes = 2 * WH_SPLIT_ALIGN_BYTES;
	entry.split = SPLIT;
	return say_entry(peer, &entry);
}

/* An extent of zeros, in chunks as long as they may be. */
static bool say_extent(struct wh_peer *peer, uint64_t offset, uint64_t bytes)
{
	struct wh_record record = {
		.type = WH_RECORD_EXTENT,
		.extent = {.offset = offset, .bytes = bytes},
	};
	uint8_t *zeros = calloc(1, peer->params.chunk_bytes);
	bool taken = wh_peer_say(peer, &record);

	while (taken && bytes > 0) {
		uint32_t some = (uint32_t)wh_min_u64(bytes, peer->params.chunk_bytes);

		taken = wh_peer_chunk(peer, zeros, some);
		bytes -= some;
	}
	free(zeros);
	return taken;
}

/* A segment from its first byte to its last, and what it is. */
static void say_whole_part(struct wh_peer *peer, uint64_t from)
{
	struct wh_record end = {.type = WH_RECORD_FILE_END};
	uint8_t *zeros = calloc(1, WH_SPLIT_ALIGN_BYTES);
	struct wh_hasher hasher;

	wh_hasher_init(&hasher);
	wh_hasher_add(&hasher, zeros, WH_SPLIT_ALIGN_BYTES);
	wh_hasher_digest(&hasher, &end.file_end.digest);
	free(zeros);
	say_extent(peer, from, WH_SPLIT_ALIGN_BYTES);
	wh_peer_say(peer, &end);
}

static bool begin_lanes(struct lanes *lanes, struct wh_attacker *attacker, const char *path)
{
	uint64_t transfer = wh_prng_u64(&attacker->prng);
	bool begun = begin_lane(&lanes->lead, attacker, ".", 0, 2, transfer) &
		     begin_lane(&lanes->other, attacker, ".", 1, 2, transfer);

	begun = begun && say_segment(&lanes->lead, WH_CONTENT_LEAD, path) &&
		say_segment(&lanes->other, WH_CONTENT_SEGMENT, path);
	wh_peer_pump(&lanes->other, SETTLE_MS);
	return begun;
}

static bool is_wanted(const struct wh_peer *peer)
{
	struct wh_record record;
	uint32_t chunk = 0, at = 0;

	while (wh_peer_answer(peer, &chunk, &at, &record))
		if (record.type == WH_RECORD_WANT)
			return true;
	return false;
}

/* Everything before our segment, behind it, again, and from two lead lanes. */
static void lie(struct lanes *lanes, uint32_t which)
{
	struct wh_peer *other = &lanes->other;
	const uint64_t from = WH_SPLIT_ALIGN_BYTES;

	if (which == 0)
		say_extent(other, 0, from);
	else if (which == 1)
		say_extent(other, from, from + 1);
	else if (which == 2 && say_extent(other, from, from / 4))
		say_extent(other, from, from / 4);
	else if (which == 3)
		say_segment(other, WH_CONTENT_LEAD, "lie");
}

/* First as it should be; then lies in one lane; then a segment of a file of another transfer. */
static void parts(struct wh_attacker *attacker)
{
	uint64_t begun = 0, ended = 0;
	struct wh_record finish = {.type = WH_RECORD_FINISH, .finish.entries = 1};
	struct lanes lanes;

	if (begin_lanes(&lanes, attacker, "right")) {
		say_whole_part(&lanes.other, WH_SPLIT_ALIGN_BYTES);
		wh_peer_say(&lanes.other, &finish);
		say_whole_part(&lanes.lead, 0);
		wh_peer_say(&lanes.lead, &finish);
		wh_peer_pump(&lanes.lead, SETTLE_MS);
	}
	wh_peer_give_up(&lanes.lead);
	wh_peer_give_up(&lanes.other);
	for (uint32_t which = 0; which < LIES; which++) {
		if (begin_lanes(&lanes, attacker, "lie") && is_wanted(&lanes.other)) {
			begun++;
			lie(&lanes, which);
			say_whole_part(&lanes.lead, 0);
			wh_peer_pump(&lanes.other, SETTLE_MS);
			ended += lanes.other.releases > 0;
		}
		wh_peer_give_up(&lanes.lead);
		wh_peer_give_up(&lanes.other);
	}
	if (begin_lanes(&lanes, attacker, "theirs")) {
		struct wh_peer stranger;
		uint64_t transfer = wh_prng_u64(&attacker->prng);

		if (begin_lane(&stranger, attacker, ".", 1, 2, transfer))
			say_segment(&stranger, WH_CONTENT_SEGMENT, "theirs");
		wh_peer_pump(&stranger, SETTLE_MS);
		wh_attack_note(attacker, "strangers", stranger.in_open);
		wh_attack_note(attacker, "wanted", is_wanted(&stranger));
		wh_peer_give_up(&stranger);
	}
	wh_attack_note(attacker, "begun", begun);
	wh_attack_note(attacker, "ended", ended);
	wh_peer_give_up(&lanes.lead);
	wh_peer_give_up(&lanes.other);
}

/* Jobs with a file each that are given up in the moment in which it is being made durable. */
static void given_up(struct wh_attacker *attacker)
{
	uint64_t jobs = 0;

	while (wh_attack_goes_on(attacker)) {
		struct wh_peer peer;

		if (begin_send(&peer, attacker, "given up"))
			jobs += say_small(&peer, 0, "small", "data");
		wh_peer_pump(&peer, SETTLE_MS);
		wh_peer_give_up(&peer);
	}
	wh_attack_note(attacker, "jobs", jobs);
}

const struct wh_attack wh_attacks_bundles[] = {
	{"list", 3, "what get -r shows of others' staging", list},
	{"into", 3, "files into a staging folder that was found", into},
	{"by-link", 3, "the same by way of a link", by_link},
	{"folders", 9, "one folder over and over by the longest path", folders},
	{"claim", 9, "one entry that wants all the disk", claim},
	{"forged", 12, "small files whose seal is of something else", forged},
	{"parts", 12, "segments of a file that are not where they say, or not of that file", parts},
	{"given-up", 10, "jobs that are given up while their files are made durable", given_up},
	{0},
};
