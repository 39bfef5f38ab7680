/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/days.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/moment/system_clock.h"
#include "cli/whole_file.h"
#include "trust/fingerprint.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define NO_BOOT "unknown"

/* A clock that was set back by less is not reported. */
#define FUTURE_S 60

int64_t wh_days_clock_s(void)
{
	return (int64_t)(wh_clock_ns(CLOCK_BOOTTIME) / WH_NS_PER_S);
}

struct wh_days_now wh_days_now(const char *boot)
{
	struct wh_days_now now = {
		.boot_s = wh_days_clock_s(),
		.wall_s = wh_wall_us() / 1000000,
	};

	snprintf(now.boot, sizeof(now.boot), "%s", boot);
	return now;
}

void wh_days_find_boot(char boot[WH_BOOT_BYTES])
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, boot, WH_BOOT_BYTES - 1);

	if (fd >= 0)
		close(fd);
	boot[got > 0 ? got : 0] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
}

static bool is_over(const struct wh_day *day, int64_t now_s)
{
	return now_s - day->began_s >= WH_DAY_S;
}

static struct wh_day *find(struct wh_days *days, const uint8_t owner[WH_IDENTITY_BYTES])
{
	for (uint32_t i = 0; i < days->days; i++)
		if (memcmp(days->day[i].owner, owner, WH_IDENTITY_BYTES) == 0)
			return &days->day[i];
	return NULL;
}

static struct wh_day *add_day(struct wh_days *days)
{
	struct wh_day *oldest = &days->day[0];

	if (days->days < WH_DAYS_MAX)
		return &days->day[days->days++];
	for (uint32_t i = 1; i < days->days; i++)
		if (days->day[i].began_s < oldest->began_s)
			oldest = &days->day[i];
	return oldest;
}

uint64_t wh_days_add(
	struct wh_days *days, const uint8_t owner[WH_IDENTITY_BYTES], uint64_t bytes, int64_t now_s)
{
	struct wh_day *day = find(days, owner);

	if (day != NULL && !is_over(day, now_s)) {
		day->bytes = wh_add_u64(day->bytes, bytes);
		days->changed |= bytes > 0;
		return day->bytes;
	}
	if (bytes == 0)
		return 0;
	if (day == NULL)
		day = add_day(days);
	memcpy(day->owner, owner, sizeof(day->owner));
	day->began_s = now_s;
	day->bytes = bytes;
	days->changed = true;
	return bytes;
}

/*
 * Detects damage by a disk or an editor; it is no protection against a user who may write the file.
 */
static uint64_t sum_of(const char *text, size_t bytes)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return sum;
}

size_t wh_days_write(
	const struct wh_days *days, const struct wh_days_now *now, char text[WH_DAYS_TEXT_BYTES])
{
	char id[WH_ID_TEXT_BYTES];
	size_t used = 0;

	used += (size_t)snprintf(text, WH_DAYS_TEXT_BYTES,
		"wavehaul days 1\nboot %s\nboot_s %" PRId64 "\nwall_s %" PRId64 "\n",
		now->boot[0] != '\0' ? now->boot : NO_BOOT, now->boot_s, now->wall_s);
	for (uint32_t i = 0; i < days->days; i++) {
		const struct wh_day *day = &days->day[i];

		if (!is_over(day, now->boot_s))
			used += (size_t)snprintf(text + used, WH_DAYS_TEXT_BYTES - used,
				"%s %" PRId64 " %" PRIu64 "\n", wh_id_text(day->owner, id),
				now->boot_s - day->began_s, day->bytes);
	}
	used += (size_t)snprintf(
		text + used, WH_DAYS_TEXT_BYTES - used, "sum %016" PRIx64 "\n", sum_of(text, used));
	WH_ASSERT(used < WH_DAYS_TEXT_BYTES);
	return used;
}

/* Parses one line; false: invalid. */
static bool read_day(const char *line, int64_t passed_s, int64_t now_s, struct wh_day *day)
{
	char id[WH_ID_TEXT_BYTES];
	int64_t age_s;
	int used = 0;

	static_assert(WH_ID_TEXT_BYTES == 72, "as many characters as are read");
	if (sscanf(line, "%71s %" SCNd64 " %" SCNu64 "%n", id, &age_s, &day->bytes, &used) != 3 ||
		line[used] != '\n' || age_s < 0 || age_s >= WH_DAY_S || !wh_id_read(id, day->owner))
		return false;
	day->began_s = now_s - age_s - passed_s;
	return true;
}

/* Seconds since it was written. */
static int64_t passed_since(
	const struct wh_days_now *then, const struct wh_days_now *now, bool *future)
{
	bool same_boot = strcmp(then->boot, NO_BOOT) != 0 && strcmp(then->boot, now->boot) == 0;
	int64_t passed_s = same_boot ? now->boot_s - then->boot_s : now->wall_s - then->wall_s;

	*future = passed_s < -FUTURE_S;
	return passed_s < 0 ? 0 : passed_s > WH_DAY_S ? WH_DAY_S : passed_s;
}

/* The length covered by the checksum in the last line; 0: there is none. */
static size_t summed(const char *text, size_t bytes)
{
	static const char before[] = "sum ";
	const size_t tail = strlen(before) + 16 + 1;
	char wanted[32];

	if (bytes < tail || bytes >= WH_DAYS_TEXT_BYTES || memchr(text, '\0', bytes) != NULL)
		return 0;
	snprintf(wanted, sizeof(wanted), "%s%016" PRIx64 "\n", before, sum_of(text, bytes - tail));
	return memcmp(text + bytes - tail, wanted, tail) == 0 ? bytes - tail : 0;
}

/* Limited so that differences of two times do not overflow. */
static bool is_possible(int64_t time_s)
{
	return time_s >= 0 && time_s <= INT64_MAX / 2;
}

static bool read_all(struct wh_days *days, const struct wh_days_now *now, const char *text,
	const char *end, bool *future)
{
	struct wh_days_now then = {0};
	int used = 0;

	if (sscanf(text, "wavehaul days 1\nboot %39[^\n]\nboot_s %" SCNd64 "\nwall_s %" SCNd64 "%n",
		    then.boot, &then.boot_s, &then.wall_s, &used) != 3 ||
		text[used] != '\n' || !is_possible(then.boot_s) || !is_possible(then.wall_s))
		return false;

	int64_t passed_s = passed_since(&then, now, future);

	for (const char *line = text + used + 1; line < end; line = strchr(line, '\n') + 1) {
		struct wh_day day;

		if (days->days == WH_DAYS_MAX || !read_day(line, passed_s, now->boot_s, &day))
			return false;
		if (!is_over(&day, now->boot_s))
			days->day[days->days++] = day;
	}
	return true;
}

const char *wh_days_read(struct wh_days *days, const struct wh_days_now *now, const char *text,
	size_t bytes, bool *future)
{
	size_t signed_bytes = summed(text, bytes);

	*future = false;
	days->days = 0;
	days->changed = false;
	if (signed_bytes == 0)
		return "it is damaged";
	if (read_all(days, now, text, text + signed_bytes, future))
		return NULL;
	days->days = 0;
	return "another version of wavehaul has written it";
}

int wh_days_load(struct wh_days *days, const struct wh_days_now *now, const char *path,
	const char **wrong, bool *future)
{
	char *text = calloc(1, WH_DAYS_TEXT_BYTES + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	int rc = fd < 0 ? -errno : text == NULL ? -ENOMEM : 0;
	ssize_t got = rc == 0 ? read(fd, text, WH_DAYS_TEXT_BYTES) : 0;

	*wrong = NULL;
	*future = false;
	if (got < 0)
		rc = -errno;
	if (rc == 0)
		*wrong = wh_days_read(days, now, text, (size_t)got, future);
	if (fd >= 0)
		close(fd);
	free(text);
	return *wrong != NULL ? -EBADMSG : rc;
}

int wh_days_save(const struct wh_days *days, const struct wh_days_now *now, const char *path)
{
	char *text = malloc(WH_DAYS_TEXT_BYTES);
	struct wh_whole_file whole;
	int rc = text == NULL ? -ENOMEM : wh_whole_file_open(&whole, path);

	if (rc == 0) {
		(void)fwrite(text, 1, wh_days_write(days, now, text), whole.file);
		rc = wh_whole_file_close(&whole, true);
	}
	free(text);
	return rc;
}
