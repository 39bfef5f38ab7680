/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SIM_LIST_H
#define WH_APP_SIM_LIST_H

/* What scenarios are made of, and where they are. */

#include "cli/ini.h"

/* Places in wh_ini.sections but for links and flows, and kinds of wh_scenario_form. */
enum wh_scenario_section {
	WH_INI_SCENARIO,
	WH_INI_SWEEP,
	WH_INI_REPORT,
	WH_INI_EXPECT,
	WH_INI_LINK,
	WH_INI_FLOW,
	WH_INI_KINDS,
};

extern const struct wh_ini_form wh_scenario_form;

/*
 * SECTION.KEY=VALUE as if the file said so, or PROFILE.OPTION=VALUE in all flows of that profile:
 * -1, or the exit status after a complaint.
 */
int wh_scenario_set(struct wh_ini *ini, const char *setting);

/* What [scenario] says for people: title, paper, figure; "" when it does not. */
const char *wh_scenario_text(const struct wh_ini *ini, const char *key);

/* Names and titles of the folder's; NULL: of those that came with wavehaul. An exit status. */
int wh_scenarios_list(const char *folder);

/* The file itself where there is one, else the scenario of that name; to be freed. */
char *wh_scenario_path(const char *file);

#endif
