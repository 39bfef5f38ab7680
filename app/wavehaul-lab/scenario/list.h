/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The sections of scenarios, and where scenarios are stored. */

#include "cli/ini.h"

/* Kinds of wh_scenario_form; also the indices in wh_ini.sections, except of links and flows. */
enum wh_scenario_section {
	WH_INI_SCENARIO,
	WH_INI_SWEEP,
	WH_INI_REPORT,
	WH_INI_EXPECT,
	WH_INI_FLEET,
	WH_INI_LINK,
	WH_INI_FLOW,
	WH_INI_KINDS,
};

extern const struct wh_ini_form wh_scenario_form;

/*
 * Sets SECTION.KEY=VALUE as if it were in the file, or PROFILE.OPTION=VALUE in all flows of that
 * profile: -1, or the exit status after a complaint.
 */
int wh_scenario_set(struct wh_ini *ini, const char *setting);

/* A text of [scenario] for people: title, paper, figure; "": none. */
const char *wh_scenario_text(const struct wh_ini *ini, const char *key);

/*
 * Lists names and titles of the folder's scenarios; NULL: of those that come with wavehaul. An exit
 * status.
 */
int wh_scenarios_list(const char *folder);

/* The path itself if it is a file, else the scenario of that name; the caller frees it. */
char *wh_scenario_path(const char *file);
