/* SPDX-License-Identifier: BSD-3-Clause */

/* Trees that are sent with a lie in them, and what a server can be got to show of others'. */

#include <stdlib.h>
#include <string.h>

#include "attacker.h"
#include "base/assert.h"
#include "bundle/staging_name.h"
#include "peer.h"

#define FOLDER_PATH_BYTES 3800
#define FOLDERS           80000
#define RECORDS_BYTES     (1u << 20)
#define LISTING_MS        800
#define SETTLE_MS         300
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
		refused += record.type == WH_RECORD_REFUSED;
		want += record.type == WH_RECORD_WANT;
		failed += record.type == WH_RECORD_OUTCOME &&
			  record.outcome.status == WH_OUTCOME_FAILED;
	}
	wh_attack_note(peer->attacker, "ready", ready);
	wh_attack_note(peer->attacker, "refused", refused);
	wh_attack_note(peer->attacker, "failed", failed);
	wh_attack_note(peer->attacker, "want", want);
}

static bool begin_send(struct wh_peer *peer, struct wh_attacker *attacker, const char *path)
{
	struct wh_hello hello;

	wh_peer_init(peer, attacker, 0);
	hello = wh_peer_hello(peer, WH_JOB_SEND, path);
	hello.into_folder = true;
	return wh_peer_begin(peer, &hello);
}

static void give_up(struct wh_peer *peer)
{
	for (int i = 0; i < 2; i++)
		wh_peer_release(peer, WH_RELEASE_ABORT, WH_STATUS_INTERRUPTED);
	wh_peer_free(peer);
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
	give_up(&peer);
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
	give_up(&peer);
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
	give_up(&peer);

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
	while (wh_attack_goes_on(attacker)) {
		wh_peer_state(&peer);
		wh_peer_pump(&peer, 100);
	}
	give_up(&peer);
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
	while (wh_attack_goes_on(attacker)) {
		wh_peer_state(&peer);
		wh_peer_pump(&peer, 100);
	}
	note_answers(&peer);
	give_up(&peer);
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
	give_up(&peer);
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
		give_up(&peer);
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
	{"given-up", 10, "jobs that are given up while their files are made durable", given_up},
	{0},
};
