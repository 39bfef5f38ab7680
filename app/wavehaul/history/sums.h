/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Sums of the history's records by day, peer, user or another common property. */

#include <stdio.h>

#include <jansson.h>

#include "history/history_record.h"

/* The most sums; records of any further names are summed up as one. */
#define WH_SUMS_MAX        4096
#define WH_SUMS_NAME_BYTES 256
#define WH_SUMS_OTHERS     "(others)"

enum wh_sums_by {
	WH_SUMS_BY_DAY = 0,
	WH_SUMS_BY_PEER,
	WH_SUMS_BY_USER,
	WH_SUMS_BY_VERB,
	WH_SUMS_BY_OUTCOME,
};

#define WH_SUMS_BYS 5

struct wh_sum {
	char name[WH_SUMS_NAME_BYTES];
	uint64_t transfers;
	uint64_t wrong; /* of these, how many failed */
	uint64_t files;
	uint64_t bytes;
	uint64_t moved_bytes;
	uint64_t flowed_bytes; /* the bytes that its rate counts */
	double seconds;
	uint64_t pkts;
	uint64_t lost_pkts;
};

struct wh_sums {
	enum wh_sums_by by;
	struct wh_sum *sum; /* ascending by name, until they are put in order */
	uint32_t count;
	uint32_t room;
	struct wh_sum all;
};

/* False: unknown word. */
bool wh_sums_by_word(const char *word, enum wh_sums_by *by);
const char *wh_sums_word(enum wh_sums_by by);

/* False: out of memory. */
bool wh_sums_add(struct wh_sums *sums, const struct wh_history_record *record);

/* Sorts days by date, others by bytes. */
void wh_sums_put_in_order(struct wh_sums *sums);
void wh_sums_free(struct wh_sums *sums);

void wh_sums_print(const struct wh_sums *sums, FILE *to);

/* CSV of RFC 4180, but with Unix line ends: column names, then exact numbers. */
void wh_sums_csv(const struct wh_sums *sums, FILE *to);
json_t *wh_sums_json(const struct wh_sums *sums);

/* Draws a bar for each sum, as SVG. 0 or a negative errno. */
int wh_sums_draw(const struct wh_sums *sums, const char *span, const char *path);

/* Single records, as text and as CSV. */
void wh_history_print_head(FILE *to);
void wh_history_print(const struct wh_history_record *record, FILE *to);
void wh_history_csv_head(FILE *to);
void wh_history_csv(const struct wh_history_record *record, FILE *to);
