/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DEMO_OPTIONS_H
#define WH_APP_DEMO_OPTIONS_H

#include "cli/settings.h"

/* What a demo is told, and what follows from it. */
struct wh_demo_options {
	struct wh_settings settings; /* lambda: the data's direction, complete */
	double loss;                 /* of the whole model, for the report */
};

/* -1: go on; else the exit status to end with, --help or a complaint having been printed. */
int wh_demo_options_parse(int argc, char **argv, struct wh_demo_options *options);

#endif
