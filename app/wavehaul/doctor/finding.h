/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The doctor's finding about one fact. */

#include <stdint.h>

enum wh_doctor_verdict {
	WH_GOOD, /* as a data transfer node should be */
	WH_INFO, /* neither good nor bad, or no need to repair it */
	WH_FIX,  /* to be repaired */
};

struct wh_finding {
	char name[24];
	enum wh_doctor_verdict verdict;
	char text[400];
	/* A command for a root shell; "": nothing to repair, or not possible by a command. */
	char repair[200];
};

/*
 * Texts may contain data from files of another machine, so they are reduced to printable ASCII, '?'
 * in place of any other byte.
 */
struct wh_finding wh_finding(enum wh_doctor_verdict verdict, const char *repair, const char *format,
	...) __attribute__((format(printf, 3, 4)));

#define wh_good(...)        wh_finding(WH_GOOD, "", __VA_ARGS__)
#define wh_info(...)        wh_finding(WH_INFO, "", __VA_ARGS__)
#define wh_fix(repair, ...) wh_finding(WH_FIX, repair, __VA_ARGS__)

struct wh_doctor_findings {
	struct wh_finding *at;
	uint32_t count;
};

/* Keeps a copy of it under a name. */
void wh_findings_add(struct wh_doctor_findings *findings, struct wh_finding finding,
	const char *format, ...) __attribute__((format(printf, 3, 4)));
void wh_findings_free(struct wh_doctor_findings *findings);

uint32_t wh_findings_to_fix(const struct wh_doctor_findings *findings);

void wh_findings_print_text(const struct wh_doctor_findings *findings);
void wh_findings_print_json(const struct wh_doctor_findings *findings);
