/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/history_tell.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "cli/address_text.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "cli/plain_text.h"

/* The most bytes of a path in a sentence. */
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

static void add_who(char sentence[WH_TELL_BYTES], const struct wh_history_record *record)
{
	char name[WH_HISTORY_NAME_BYTES];
	bool named = record->name[0] != '\0' && strcmp(record->name, record->peer) != 0;

	if (record->order != 0)
		add(sentence, " job %" PRIu64, record->order);
	add(sentence, " %s", record->peer);
	if (named)
		add(sentence, " (%s)", wh_plain_text(record->name, true, name, sizeof(name)));
}

/* Adds the packet loss, what limited the speed, and the digest of a single large file. */
static void add_how(char sentence[WH_TELL_BYTES], const struct wh_history_record *record)
{
	char limit[WH_HISTORY_WORD_BYTES], digest[WH_HISTORY_DIGEST_BYTES];

	if (record->lost_pkts > 0)
		add(sentence, ", %.3g %% lost", 100 * wh_history_loss(record));
	if (record->limit[0] != '\0')
		add(sentence, ", limited by %s",
			wh_plain_text(record->limit, false, limit, sizeof(limit)));
	if (record->digest[0] != '\0')
		add(sentence, ", xxh3-128 %s",
			wh_plain_text(record->digest, false, digest, sizeof(digest)));
}

void wh_history_tell(const struct wh_history_record *record, char sentence[WH_TELL_BYTES])
{
	char when[WH_WHEN_BYTES], size[WH_UNITS_MAX], rate[WH_UNITS_MAX];
	char path[PATH_SHOWN_BYTES], why[WH_HISTORY_WHY_BYTES];
	/* A measurement has no files. */
	bool files = record->files > 0 || record->failed > 0 || record->skipped > 0;
	uint64_t bytes = files ? record->bytes : record->moved_bytes;
	double seconds = wh_history_seconds(record);

	sentence[0] = '\0';
	add(sentence, "%s", wh_when_text(record->ended_us, when));
	add_who(sentence, record);
	add(sentence, " %s", record->verb);
	if (record->path[0] != '\0')
		add(sentence, " %s", wh_plain_text(record->path, true, path, sizeof(path)));
	if (record->file[0] != '\0')
		add(sentence, " (first: %s)",
			wh_plain_text(record->file, true, path, sizeof(path)));
	if (record->paths > 1)
		add(sentence, " and %u more", record->paths - 1);
	if (record->lanes > 1)
		add(sentence, ", lane %u of %u", record->lane + 1, record->lanes);
	if (files)
		add(sentence, ": %" PRIu64 " file%s", record->files, wh_plural(record->files));
	add(sentence, "%s %s in %.2f s, %s", files ? "," : ":",
		wh_format_size(size, sizeof(size), bytes), seconds,
		wh_format_rate(rate, sizeof(rate), wh_history_record_bps(record)));
	if (record->resumed_bytes > 0)
		add(sentence, ", %s of it had come before",
			wh_format_size(size, sizeof(size), record->resumed_bytes));
	add_how(sentence, record);
	if (record->skipped > 0)
		add(sentence, ", %" PRIu64 " skipped", record->skipped);
	if (record->failed > 0)
		add(sentence, ", %" PRIu64 " failed", record->failed);
	add(sentence, ": %s", record->outcome);
	if (record->why[0] != '\0')
		add(sentence, ": %s", wh_plain_text(record->why, false, why, sizeof(why)));
}

void wh_refusal_tell(
	const struct wh_refusal *refusal, uint64_t others, char sentence[WH_TELL_BYTES])
{
	char when[WH_WHEN_BYTES], peer[WH_ADDRESS_TEXT_BYTES], why[WH_REFUSAL_WHY_BYTES];

	sentence[0] = '\0';
	add(sentence, "%s %s refused", wh_when_text(wh_wall_us(), when),
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
json_t *wh_history_json(const struct wh_history_record *record)
{
	char began[WH_WHEN_BYTES], ended[WH_WHEN_BYTES], print[WH_FINGERPRINT_BYTES];
	json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:i}",
		"id", (json_int_t)record->id,
		"side", wh_history_side_name(record->side),
		"began", wh_when_text(record->began_us, began),
		"ended", wh_when_text(record->ended_us, ended),
		"verb", wh_word_to_json(record->verb),
		"peer", wh_word_to_json(record->peer),
		"name", wh_text_to_json(record->name),
		"identity", wh_text_to_json(record->identity),
		"fingerprint", wh_text_to_json(wh_history_fingerprint(record, print)),
		"paths", (json_int_t)record->paths,
		"lanes", (json_int_t)record->lanes,
		"exit_status", record->status);

	if (record->path[0] != '\0')
		wh_path_to_json(object, "path", record->path);
	if (record->file[0] != '\0')
		wh_path_to_json(object, "file", record->file);
	wh_json_add(object, json_pack("{s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f}",
		"job", record->order != 0 ? json_integer((json_int_t)record->order) : json_null(),
		"uid", record->uid >= 0 ? json_integer(record->uid) : json_null(),
		"sends", record->sends,
		"files", (json_int_t)record->files,
		"skipped", (json_int_t)record->skipped,
		"failed", (json_int_t)record->failed,
		"bytes", (json_int_t)record->bytes,
		"resumed_bytes", (json_int_t)record->resumed_bytes,
		"moved_bytes", (json_int_t)record->moved_bytes,
		"seconds", wh_history_seconds(record),
		"bps", wh_history_record_bps(record)));
	wh_json_add(object, json_pack("{s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:o}",
		"pkts", (json_int_t)record->pkts,
		"lost_pkts", (json_int_t)record->lost_pkts,
		"retransmitted_pkts", (json_int_t)record->retransmitted_pkts,
		"repair_pkts", (json_int_t)record->repair_pkts,
		"rtt_ms", (double)record->rtt_ns / 1e6,
		"rate_bps", record->rate_bps != 0 ? json_integer((json_int_t)record->rate_bps)
						 : json_null(),
		"limited_by", wh_text_to_json(record->limit),
		"profile", wh_text_to_json(record->profile),
		"digest", wh_text_to_json(record->digest),
		"outcome", wh_word_to_json(record->outcome),
		"why", wh_text_to_json(record->why)));
	return object;
}
/* clang-format on */
