/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/sums.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/units.h"
#include "cli/json.h"
#include "cli/plain_text.h"
#include "history/history_csv.h"

static const char *const words[WH_SUMS_BYS] = {
	[WH_SUMS_BY_DAY] = "day",
	[WH_SUMS_BY_PEER] = "peer",
	[WH_SUMS_BY_USER] = "user",
	[WH_SUMS_BY_VERB] = "verb",
	[WH_SUMS_BY_OUTCOME] = "outcome",
};

const char *wh_sums_word(enum wh_sums_by by)
{
	WH_ASSERT((unsigned int)by < WH_SUMS_BYS);
	return words[by];
}

bool wh_sums_by_word(const char *word, enum wh_sums_by *by)
{
	for (uint32_t i = 0; i < WH_SUMS_BYS; i++) {
		if (strcmp(words[i], word) != 0)
			continue;
		*by = (enum wh_sums_by)i;
		return true;
	}
	return false;
}

/* A day of the local time zone, or of $TZ. */
static void name_day(const struct wh_history_record *record, char name[WH_SUMS_NAME_BYTES])
{
	time_t seconds = (time_t)(record->ended_us / 1000000);
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(name, WH_SUMS_NAME_BYTES, "%Y-%m-%d", &local);
}

/* Who asked for it: a user of this host, or the peer. */
static void name_user(const struct wh_history_record *record, char name[WH_SUMS_NAME_BYTES])
{
	char print[WH_FINGERPRINT_BYTES];
	const struct passwd *user = record->uid >= 0 ? getpwuid((uid_t)record->uid) : NULL;

	if (user != NULL)
		snprintf(name, WH_SUMS_NAME_BYTES, "%s", user->pw_name);
	else if (record->uid >= 0)
		snprintf(name, WH_SUMS_NAME_BYTES, "%" PRId64, record->uid);
	else
		snprintf(name, WH_SUMS_NAME_BYTES, "%s", wh_history_who(record, print));
}

static void name_of(
	const struct wh_history_record *record, enum wh_sums_by by, char name[WH_SUMS_NAME_BYTES])
{
	char print[WH_FINGERPRINT_BYTES];

	switch (by) {
	case WH_SUMS_BY_DAY:
		name_day(record, name);
		break;
	case WH_SUMS_BY_USER:
		name_user(record, name);
		break;
	case WH_SUMS_BY_PEER:
		snprintf(name, WH_SUMS_NAME_BYTES, "%s", wh_history_who(record, print));
		break;
	case WH_SUMS_BY_VERB:
		snprintf(name, WH_SUMS_NAME_BYTES, "%s", record->verb);
		break;
	default:
		WH_ASSERT(by == WH_SUMS_BY_OUTCOME);
		snprintf(name, WH_SUMS_NAME_BYTES, "%s", record->outcome);
	}
}

/* The index of the sum with this name, or where it is to be inserted. */
static uint32_t place_of(const struct wh_sums *sums, const char *name, bool *there)
{
	uint32_t from = 0;
	uint32_t end = sums->count;

	*there = false;
	while (from < end) {
		uint32_t middle = (from + end) / 2;
		int order = strcmp(sums->sum[middle].name, name);

		if (order == 0) {
			*there = true;
			return middle;
		}
		if (order < 0)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

static bool grow(struct wh_sums *sums)
{
	uint32_t room = sums->room == 0 ? 64 : 2 * sums->room;
	struct wh_sum *larger;

	if (sums->count < sums->room)
		return true;
	larger = realloc(sums->sum, room * sizeof(*larger));
	if (larger == NULL)
		return false;
	sums->sum = larger;
	sums->room = room;
	return true;
}

static struct wh_sum *sum_of(struct wh_sums *sums, const char *name)
{
	bool there;
	uint32_t i = place_of(sums, name, &there);

	if (!there && sums->count >= WH_SUMS_MAX)
		i = place_of(sums, name = WH_SUMS_OTHERS, &there);
	if (there)
		return &sums->sum[i];
	if (!grow(sums))
		return NULL;
	memmove(&sums->sum[i + 1], &sums->sum[i], (sums->count - i) * sizeof(sums->sum[0]));
	sums->count++;
	sums->sum[i] = (struct wh_sum){.transfers = 0};
	snprintf(sums->sum[i].name, sizeof(sums->sum[i].name), "%s", name);
	return &sums->sum[i];
}

static void add_to(struct wh_sum *sum, const struct wh_history_record *record)
{
	sum->transfers++;
	sum->wrong += record->status != 0;
	sum->files += record->files;
	sum->bytes += record->bytes;
	sum->moved_bytes += record->moved_bytes;
	sum->flowed_bytes += wh_history_flowed_bytes(record);
	sum->seconds += wh_history_seconds(record);
	sum->pkts += record->pkts;
	sum->lost_pkts += record->lost_pkts;
}

bool wh_sums_add(struct wh_sums *sums, const struct wh_history_record *record)
{
	char name[WH_SUMS_NAME_BYTES];
	struct wh_sum *sum;

	name_of(record, sums->by, name);
	sum = sum_of(sums, name);
	if (sum == NULL)
		return false;
	add_to(sum, record);
	add_to(&sums->all, record);
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	const struct wh_sum *left = a;
	const struct wh_sum *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	return strcmp(left->name, right->name);
}

void wh_sums_put_in_order(struct wh_sums *sums)
{
	if (sums->by != WH_SUMS_BY_DAY && sums->count > 0)
		qsort(sums->sum, sums->count, sizeof(sums->sum[0]), by_bytes);
}

void wh_sums_free(struct wh_sums *sums)
{
	free(sums->sum);
	*sums = (struct wh_sums){.count = 0};
}

static double bps_of(const struct wh_sum *sum)
{
	return wh_history_bps(sum->flowed_bytes, sum->seconds);
}

static double loss_of(const struct wh_sum *sum)
{
	return sum->pkts > 0 ? (double)sum->lost_pkts / (double)sum->pkts : 0;
}

static void print_sum(const struct wh_sum *sum, const char *name, FILE *to)
{
	char size[WH_UNITS_MAX], rate[WH_UNITS_MAX];
	char plain[WH_SUMS_NAME_BYTES];

	fprintf(to, "%-24s %9" PRIu64 " %7" PRIu64 " %10" PRIu64 " %10s %12s %9.2g\n",
		wh_plain_text(name, true, plain, sizeof(plain)), sum->transfers, sum->wrong,
		sum->files, wh_format_size(size, sizeof(size), sum->bytes),
		wh_format_rate(rate, sizeof(rate), bps_of(sum)), loss_of(sum));
}

void wh_sums_print(const struct wh_sums *sums, FILE *to)
{
	fprintf(to, "%-24s %9s %7s %10s %10s %12s %9s\n", wh_sums_word(sums->by), "transfers",
		"failed", "files", "size", "mean rate", "loss");
	for (uint32_t i = 0; i < sums->count; i++)
		print_sum(&sums->sum[i], sums->sum[i].name, to);
	if (sums->count > 1)
		print_sum(&sums->all, "all", to);
}

void wh_sums_csv(const struct wh_sums *sums, FILE *to)
{
	fprintf(to, "%s,transfers,failed,files,bytes,moved_bytes,seconds,bps,pkts,lost_pkts\n",
		wh_sums_word(sums->by));
	for (uint32_t i = 0; i < sums->count; i++) {
		const struct wh_sum *sum = &sums->sum[i];

		wh_csv_text(to, sum->name);
		fprintf(to,
			",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%.6f,%.0f,%" PRIu64 ",%" PRIu64 "\n",
			sum->transfers, sum->wrong, sum->files, sum->bytes, sum->moved_bytes,
			sum->seconds, bps_of(sum), sum->pkts, sum->lost_pkts);
	}
}

static json_t *sum_json(const struct wh_sum *sum)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I}", "transfers",
		(json_int_t)sum->transfers, "failed", (json_int_t)sum->wrong, "files",
		(json_int_t)sum->files, "bytes", (json_int_t)sum->bytes, "moved_bytes",
		(json_int_t)sum->moved_bytes, "seconds", sum->seconds, "bps", bps_of(sum), "pkts",
		(json_int_t)sum->pkts, "lost_pkts", (json_int_t)sum->lost_pkts);
}

json_t *wh_sums_json(const struct wh_sums *sums)
{
	json_t *object = json_object();
	json_t *list = json_array();

	for (uint32_t i = 0; i < sums->count; i++) {
		json_t *row = sum_json(&sums->sum[i]);

		json_object_set_new(
			row, wh_sums_word(sums->by), wh_word_to_json(sums->sum[i].name));
		json_array_append_new(list, row);
	}
	json_object_set_new(object, "by", json_string(wh_sums_word(sums->by)));
	json_object_set_new(object, "rows", list);
	json_object_set_new(object, "all", sum_json(&sums->all));
	return object;
}
