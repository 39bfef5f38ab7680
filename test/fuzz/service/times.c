/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: times as operators and other users of the control socket write them, timetables and
 * moments; and the file of what peers have moved in a day. The first byte says which. What is taken
 * stays within its bounds, at any time.
 */

#include "queue/timetable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "cli/settings.h"
#include "fuzz.h"
#include "queue/when.h"
#include "trust/days.h"

#define NOW_S INT64_C(1800000000)

enum kind {
	TABLE,
	MOMENT,
	DAYS,
	KINDS,
};

static uint64_t taken[KINDS], refused[KINDS];

static const char *const seeds[] = {
	"\0weekdays 8:00-18:00 2G, sat+sun 22:00-6:00 max, mon-fri 1G, else 9.5G",
	"\0"
	"daily 0:00-24:00 1G, 3G",
	"\1"
	"22:00",
	"\1"
	"2027-11-30 22:00",
	"\1"
	"90m",
};

static bool check_table(const char *text)
{
	struct wh_timetable table;
	struct tm local = {0};

	if (wh_timetable_parse(text, &table) != NULL)
		return false;
	WH_ASSERT(table.lines <= WH_TIMETABLE_LINES_MAX);
	for (local.tm_wday = 0; local.tm_wday < 7; local.tm_wday++)
		for (local.tm_hour = 0; local.tm_hour < 24; local.tm_hour += 7)
			WH_ASSERT(wh_timetable_bps(&table, &local) >= WH_RATE_MIN);
	return true;
}

static bool check_moment(const char *text)
{
	int64_t when_s = INT64_MIN;

	if (!wh_when_parse(text, NOW_S, &when_s))
		return false;
	WH_ASSERT(when_s > 0);
	return true;
}

/* The last line is made right: what is behind it is to be read. */
static size_t with_sum(char *text, size_t bytes)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return bytes + (size_t)snprintf(text + bytes, 32, "sum %016" PRIx64 "\n", sum);
}

static bool check_days(const char *text, size_t chars)
{
	static struct wh_days days;
	static char made[WH_DAYS_TEXT_BYTES + 1];
	const struct wh_days_now now = {"4f7e", 100000, NOW_S};
	bool future;

	if (chars > WH_DAYS_TEXT_BYTES - 32)
		return false;
	memcpy(made, text, chars);

	size_t bytes = with_sum(made, chars);

	if (wh_days_read(&days, &now, made, bytes, &future) != NULL) {
		WH_ASSERT(days.days == 0);
		return false;
	}
	WH_ASSERT(days.days <= WH_DAYS_MAX);
	for (uint32_t i = 0; i < days.days; i++)
		WH_ASSERT(days.day[i].began_s <= now.boot_s &&
			  now.boot_s - days.day[i].began_s < WH_DAY_S);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	if (length == 0)
		return 0;

	enum kind kind = (enum kind)(bytes[0] % KINDS);
	char *text = malloc(length);
	bool good;

	WH_ASSERT(text != NULL);
	memcpy(text, bytes + 1, length - 1);
	text[length - 1] = '\0';
	good = kind == TABLE    ? check_table(text)
	       : kind == MOMENT ? check_moment(text)
				: check_days(text, strlen(text));
	taken[kind] += good;
	refused[kind] += !good;
	free(text);
	return 0;
}

#define AN_ID "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	static const char days[] =
		"\2wavehaul days 1\nboot 4f7e\nboot_s 99000\nwall_s 1799999000\n" AN_ID
		" 77 4711\n";
	bool last = number == sizeof(seeds) / sizeof(seeds[0]);

	if (number > sizeof(seeds) / sizeof(seeds[0]))
		return 0;

	size_t length = last ? sizeof(days) - 1 : 1 + strlen(seeds[number] + 1);

	WH_ASSERT(length <= room);
	memcpy(bytes, last ? days : seeds[number], length);
	return length;
}

static size_t put(uint8_t *bytes, size_t room, const char *text)
{
	size_t chars = strlen(text) < room ? strlen(text) : room;

	memcpy(bytes, text, chars);
	return chars;
}

/* Words that are near to good ones, and numbers at the edges of their types. */
size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const char *const words[] = {"weekdays ", "mon-fri ", "sat+sun ", "sun-sat ",
		"8:00-18:00 ", "22:00-6:00 ", "24:00-0:00 ", "0:00-24:01 ", "2G", "max", "0", ", ",
		", else ", "1"};
	static const char *const moments[] = {"90m", "10000001s", "9999999d", "24:00", "2:5",
		"2027-02-31 22:00", "9999-12-31 23:59", "1969-01-01 00:00", " 22:00", "-1m"};
	static const char *const numbers[] = {"0", "-1", "86399", "86400", "100000", "1800000000",
		"9223372036854775807", "-9223372036854775808", "9223372036854775808"};
	size_t used = 1;
	char line[200];

	bytes[0] = (uint8_t)wh_prng_below(prng, KINDS);
	if (bytes[0] == MOMENT)
		return used + put(bytes + used, room - used, moments[wh_prng_below(prng, 10)]);
	if (bytes[0] == DAYS) {
		snprintf(line, sizeof(line), "wavehaul days 1\nboot %s\nboot_s %s\nwall_s %s\n",
			wh_prng_below(prng, 2) == 0 ? "4f7e" : "-", numbers[wh_prng_below(prng, 9)],
			numbers[wh_prng_below(prng, 9)]);
		used += put(bytes + used, room - used, line);
	}
	for (uint64_t count = wh_prng_below(prng, 12); count > 0 && used < room; count--) {
		snprintf(line, sizeof(line), AN_ID " %s %s\n", numbers[wh_prng_below(prng, 9)],
			numbers[wh_prng_below(prng, 9)]);
		used += put(bytes + used, room - used,
			bytes[0] == DAYS ? line : words[wh_prng_below(prng, 14)]);
	}
	return used;
}

void wh_fuzz_report(void)
{
	printf("timetables %" PRIu64 " taken, %" PRIu64 " refused; moments %" PRIu64 ", %" PRIu64
	       "; files of days %" PRIu64 ", %" PRIu64 "\n",
		taken[TABLE], refused[TABLE], taken[MOMENT], refused[MOMENT], taken[DAYS],
		refused[DAYS]);
}
