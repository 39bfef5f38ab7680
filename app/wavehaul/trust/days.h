/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Bytes that each peer has moved in a day, which begins with its first byte. They are kept in a
 * file, so that a restart of the server does not reset a peer's daily limit. Within a boot a day's
 * age is measured by a clock that cannot be set; across boots by the time of day, where a clock
 * that was set back makes no day older.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seal/sa.h"

#define WH_DAYS_MAX 4096
#define WH_DAY_S    86400

struct wh_day {
	uint8_t owner[WH_IDENTITY_BYTES];
	int64_t began_s;
	uint64_t bytes;
};

struct wh_days {
	struct wh_day day[WH_DAYS_MAX];
	uint32_t days;
	bool changed; /* since the last load or save */
};

#define WH_BOOT_BYTES 40

/* A reading of all clocks. */
struct wh_days_now {
	char boot[WH_BOOT_BYTES]; /* identifies the boot; "": unknown */
	int64_t boot_s;           /* since boot, suspended or not: measures days */
	int64_t wall_s;           /* since 1970, may be set by the operator */
};

/* `boot`: from wh_days_find_boot, since a guarded process can no longer read it. */
struct wh_days_now wh_days_now(const char *boot);
void wh_days_find_boot(char boot[WH_BOOT_BYTES]);

int64_t wh_days_clock_s(void);

/*
 * Adds bytes to the owner's day at now_s; returns its sum. If there is no room, the day that began
 * first is forgotten.
 */
uint64_t wh_days_add(struct wh_days *days, const uint8_t owner[WH_IDENTITY_BYTES], uint64_t bytes,
	int64_t now_s);

/* Maximum length of the file. */
#define WH_DAYS_TEXT_BYTES ((size_t)WH_DAYS_MAX * 128 + 256)

/* Writes the days that are not over as text; returns its length. */
size_t wh_days_write(
	const struct wh_days *days, const struct wh_days_now *now, char text[WH_DAYS_TEXT_BYTES]);

/* NULL; or why the text is invalid: then days is empty. *future: its time is in the future. */
const char *wh_days_read(struct wh_days *days, const struct wh_days_now *now, const char *text,
	size_t bytes, bool *future);

/* Like wh_days_read, for a file: 0 or a negative errno. -EBADMSG: invalid, see `wrong`. */
int wh_days_load(struct wh_days *days, const struct wh_days_now *now, const char *path,
	const char **wrong, bool *future);
/* On the disk when it returns: a power cut leaves the file as it was, or as it is now. */
int wh_days_save(const struct wh_days *days, const struct wh_days_now *now, const char *path);
