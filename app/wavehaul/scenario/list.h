/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SIM_LIST_H
#define WH_APP_SIM_LIST_H

/* Where the scenarios are. */

/* Names and titles of the folder's; NULL: of those that came with wavehaul. An exit status. */
int wh_scenarios_list(const char *folder);

/* The file itself where there is one, else the scenario of that name; to be freed. */
char *wh_scenario_path(const char *file);

#endif
