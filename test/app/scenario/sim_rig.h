/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Scenario files as texts: read and built as wavehaul sim does, and what is said of bad ones. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "scenario/point.h"
#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MS            (WH_PS_PER_S / 1000)

/* 80 files, each a shard, which takes a second. */
#define FLEET                                                                                      \
	"[scenario]\ntitle = t\n[fleet]\nnode_rate = 8G\nfiles = 80\nsize = 1G\n"                  \
	"shard_size = 1G\n"

static struct wh_ini ini;
static struct wh_sweep sweep;

/* Complaints are for the test alone. */
static inline int divert_stderr(void)
{
	int kept = dup(STDERR_FILENO);
	int nowhere = open("/dev/null", O_WRONLY);

	WH_ASSERT(kept >= 0 && nowhere >= 0 && dup2(nowhere, STDERR_FILENO) >= 0);
	close(nowhere);
	return kept;
}

static inline void restore_stderr(int kept)
{
	WH_ASSERT(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
}

static inline int try_points(void)
{
	int status = -1;

	for (uint32_t i = 0; status == -1 && i < sweep.n_points; i++) {
		struct wh_point *point;

		status = wh_point_build(&ini, &sweep, i, &point);
		if (status == -1)
			wh_point_free(point);
	}
	for (uint32_t i = 0; status == -1 && i < ini.n_sections; i++)
		if (!wh_take_all_used(&ini.sections[i]))
			status = WH_EXIT_USAGE;
	return status;
}

static inline void close_file(void)
{
	wh_sweep_free(&sweep);
	wh_ini_free(&ini);
}

/* Reads it all, with one --set or none; ini and sweep stay open when it is fine. */
static inline int open_text(const char *text, const char *set)
{
	int kept = divert_stderr();

	wh_complain("%s", "");

	int status = wh_ini_parse(&ini, &wh_scenario_form, "f", text, strlen(text));

	if (status == -1 && set != NULL)
		status = wh_scenario_set(&ini, set);
	if (status == -1)
		status = wh_sweep_read(&sweep, &ini.sections[WH_INI_SWEEP]);
	if (status == -1)
		status = try_points();
	restore_stderr(kept);
	if (status != -1)
		close_file();
	return status;
}

static inline void expect_said(const char *text, const char *set, const char *said)
{
	CU_ASSERT_EQUAL(open_text(text, set), WH_EXIT_USAGE);
	CU_ASSERT_NSTRING_EQUAL(wh_last_complaint(), said, strlen(said));
	if (strncmp(wh_last_complaint(), said, strlen(said)) != 0)
		printf("\n%s: said '%s'", text, wh_last_complaint());
}

#define SCENARIO "[scenario]\nduration = 10s\n"
#define LINK     "[link A-B]\nrate = 10M\nqueue = 50\n"
#define FLOW     "[flow f]\nagent = udt\nfrom = A\nto = B\n"
#define WHOLE    SCENARIO LINK FLOW /* nine lines */
#define TTP_FLOW "[flow f]\nagent = ttp\nfrom = A\nto = B\nbottleneck = 10M\n"
#define TTP      SCENARIO LINK TTP_FLOW                                                /* ten */
#define PXP      SCENARIO LINK "[flow f]\nagent = pxp\nfrom = A\nto = B\nrate = 10M\n" /* ten */

static inline struct wh_point *build(uint32_t number)
{
	struct wh_point *point = NULL;

	WH_ASSERT(wh_point_build(&ini, &sweep, number, &point) == -1);
	return point;
}
