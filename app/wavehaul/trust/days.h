/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_DAYS_H
#define WH_APP_TRUST_DAYS_H

/*
 * What each peer has moved in a day, which begins with its first byte. It is kept in a file, so
 * that who has moved what he may does not begin anew with the server. Within a boot a day's age is
 * told by a clock that nobody sets; over a boot by the time of day, and one that has gone back
 * makes no day older.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seal/bond.h"

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
	bool changed; /* since it was loaded or saved */
};

#define WH_BOOT_BYTES 40

/* What all clocks say now. */
struct wh_days_now {
	char boot[WH_BOOT_BYTES]; /* of which boot; "": nobody knows */
	int64_t boot_s;           /* since then, suspended or not: what days begin and end by */
	int64_t wall_s;           /* since 1970, as somebody set it */
};

/* `boot`: what the other one has found, which a guarded process cannot read any more. */
struct wh_days_now wh_days_now(const char *boot);
void wh_days_find_boot(char boot[WH_BOOT_BYTES]);

int64_t wh_days_clock_s(void);

/*
 * So much in the day of now_s, with what it has moved more. Where there is no room the day that
 * began first is forgotten.
 */
uint64_t wh_days_add(struct wh_days *days, const uint8_t owner[WH_IDENTITY_BYTES], uint64_t bytes,
	int64_t now_s);

/* A file is no longer. */
#define WH_DAYS_TEXT_BYTES ((size_t)WH_DAYS_MAX * 128 + 256)

/* Days that are not over, as text; how long it is. */
size_t wh_days_write(
	const struct wh_days *days, const struct wh_days_now *now, char text[WH_DAYS_TEXT_BYTES]);

/* NULL; or why there are no days in it: then days is empty. *future: it is of a time to come. */
const char *wh_days_read(struct wh_days *days, const struct wh_days_now *now, const char *text,
	size_t bytes, bool *future);

/* Likewise a file: 0 or a negative errno. -EBADMSG: `wrong` says why there are none. */
int wh_days_load(struct wh_days *days, const struct wh_days_now *now, const char *path,
	const char **wrong, bool *future);
int wh_days_save(
	const struct wh_days *days, const struct wh_days_now *now, const char *path, bool durable);

#endif
