/* SPDX-License-Identifier: BSD-3-Clause */
#include "book/tell.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "cli/address_text.h"
#include "cli/json.h"
#include "cli/plain_text.h"

/* Of a path in a sentence. */
#define PATH_SHOWN_BYTES 240

const char *wh_when_text(int64_t us, char text[WH_WHEN_BYTES])
{
	time_t seconds = (time_t)(us / 1000000);
	struct tm parts;
	char when[WH_WHEN_BYTES - 8];

	gmtime_r(&seconds, &parts);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text, WH_WHEN_BYTES, "%s.%03dZ", when, (int)(us / 1000 % 1000));
	return text;
}

static void add(char sentence[WH_TELL_BYTES], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(char sentence[WH_TELL_BYTES], const char *format, ...)
{
	size_t used = strlen(sentence);
	va_list args;

	va_start(args, format);
	vsnprintf(sentence + used, WH_TELL_BYTES - used, format, args);
	va_end(args);
}

static void add_who(char sentence[WH_TELL_BYTES], const struct wh_book_entry *entry)
{
	char name[WH_ENTRY_NAME_BYTES];
	bool named = entry->name[0] != '\0' && strcmp(entry->name, entry->peer) != 0;

	if (entry->order != 0)
		add(sentence, " job %" PRIu64, entry->order);
	add(sentence, " %s", entry->peer);
	if (named)
		add(sentence, " (%s)", wh_plain_text(entry->name, true, name, sizeof(name)));
}

/* Adds the packet loss, what limited the speed, and the digest of a single large file. */
static void add_how(char sentence[WH_TELL_BYTES], const struct wh_book_entry *entry)
{
	char limit[WH_ENTRY_WORD_BYTES], digest[WH_ENTRY_DIGEST_BYTES];

	if (entry->lost_pkts > 0)
		add(sentence, ", %.3g %% lost", 100 * wh_entry_loss(entry));
	if (entry->limit[0] != '\0')
		add(sentence, ", limited by %s",
			wh_plain_text(entry->limit, false, limit, sizeof(limit)));
	if (entry->digest[0] != '\0')
		add(sentence, ", xxh3-128 %s",
			wh_plain_text(entry->digest, false, digest, sizeof(digest)));
}

void wh_entry_tell(const struct wh_book_entry *entry, char sentence[WH_TELL_BYTES])
{
	char when[WH_WHEN_BYTES], size[WH_UNITS_MAX], rate[WH_UNITS_MAX];
	char path[PATH_SHOWN_BYTES], why[WH_ENTRY_WHY_BYTES];
	/* A measurement has no files. */
	bool files = entry->files > 0 || entry->failed > 0 || entry->skipped > 0;
	uint64_t bytes = files ? entry->bytes : entry->moved_bytes;
	double seconds = wh_entry_seconds(entry);

	sentence[0] = '\0';
	add(sentence, "%s", wh_when_text(entry->ended_us, when));
	add_who(sentence, entry);
	add(sentence, " %s", entry->verb);
	if (entry->path[0] != '\0')
		add(sentence, " %s", wh_plain_text(entry->path, true, path, sizeof(path)));
	if (entry->file[0] != '\0')
		add(sentence, " %s", wh_plain_text(entry->file, true, path, sizeof(path)));
	if (entry->paths > 1)
		add(sentence, " and %u more", entry->paths - 1);
	if (entry->lanes > 1)
		add(sentence, ", lane %u of %u", entry->lane + 1, entry->lanes);
	if (files)
		add(sentence, ": %" PRIu64 " file%s", entry->files, wh_plural(entry->files));
	add(sentence, "%s %s in %.2f s, %s", files ? "," : ":",
		wh_format_size(size, sizeof(size), bytes), seconds,
		wh_format_rate(rate, sizeof(rate), wh_entry_bps(entry)));
	if (entry->resumed_bytes > 0)
		add(sentence, ", %s of it had come before",
			wh_format_size(size, sizeof(size), entry->resumed_bytes));
	add_how(sentence, entry);
	if (entry->skipped > 0)
		add(sentence, ", %" PRIu64 " skipped", entry->skipped);
	if (entry->failed > 0)
		add(sentence, ", %" PRIu64 " failed", entry->failed);
	add(sentence, ": %s", entry->outcome);
	if (entry->why[0] != '\0')
		add(sentence, ": %s", wh_plain_text(entry->why, false, why, sizeof(why)));
}

void wh_refusal_tell(
	const struct wh_refusal *refusal, uint64_t others, char sentence[WH_TELL_BYTES])
{
	char when[WH_WHEN_BYTES], peer[WH_ADDRESS_TEXT_BYTES], why[WH_REFUSAL_WHY_BYTES];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	sentence[0] = '\0';
	add(sentence, "%s %s refused",
		wh_when_text((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000, when),
		refusal->peer.family != 0 ? wh_address_text(&refusal->peer, peer) : "others");
	if (refusal->outcome != NULL && strcmp(refusal->outcome, "refused") != 0)
		add(sentence, ": %s", refusal->outcome);
	if (refusal->times > 1)
		add(sentence, ", %" PRIu64 " times", refusal->times);
	if (refusal->why[0] != '\0')
		add(sentence, ": %s", wh_plain_text(refusal->why, false, why, sizeof(why)));
	if (others > 0)
		add(sentence, "; before that %" PRIu64 " other%s", others, wh_plural(others));
}

/* clang-format off */
json_t *wh_entry_json(const struct wh_book_entry *entry)
{
	char began[WH_WHEN_BYTES], ended[WH_WHEN_BYTES], print[WH_FINGERPRINT_BYTES];
	json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:i}",
		"id", (json_int_t)entry->id,
		"side", wh_entry_side_name(entry->side),
		"began", wh_when_text(entry->began_us, began),
		"ended", wh_when_text(entry->ended_us, ended),
		"verb", wh_word_to_json(entry->verb),
		"peer", wh_word_to_json(entry->peer),
		"name", wh_text_to_json(entry->name),
		"identity", wh_text_to_json(entry->identity),
		"fingerprint", wh_text_to_json(wh_entry_fingerprint(entry, print)),
		"paths", (json_int_t)entry->paths,
		"lanes", (json_int_t)entry->lanes,
		"exit_status", entry->status);

	if (entry->path[0] != '\0')
		wh_path_to_json(object, "path", entry->path);
	if (entry->file[0] != '\0')
		wh_path_to_json(object, "file", entry->file);
	wh_json_add(object, json_pack("{s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}",
		"job", entry->order != 0 ? json_integer((json_int_t)entry->order) : json_null(),
		"uid", entry->uid >= 0 ? json_integer(entry->uid) : json_null(),
		"sends", entry->sends,
		"files", (json_int_t)entry->files,
		"skipped", (json_int_t)entry->skipped,
		"failed", (json_int_t)entry->failed,
		"bytes", (json_int_t)entry->bytes,
		"resumed_bytes", (json_int_t)entry->resumed_bytes,
		"moved_bytes", (json_int_t)entry->moved_bytes,
		"seconds", wh_entry_seconds(entry),
		"bps", wh_entry_bps(entry)));
	wh_json_add(object, json_pack("{s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:o}",
		"pkts", (json_int_t)entry->pkts,
		"lost_pkts", (json_int_t)entry->lost_pkts,
		"again_pkts", (json_int_t)entry->again_pkts,
		"repair_pkts", (json_int_t)entry->repair_pkts,
		"rtt_ms", (double)entry->rtt_ns / 1e6,
		"rate_bps", entry->rate_bps != 0 ? json_integer((json_int_t)entry->rate_bps)
						 : json_null(),
		"limited_by", wh_text_to_json(entry->limit),
		"profile", wh_text_to_json(entry->profile),
		"digest", wh_text_to_json(entry->digest),
		"outcome", wh_word_to_json(entry->outcome),
		"why", wh_text_to_json(entry->why)));
	return object;
}
/* clang-format on */
