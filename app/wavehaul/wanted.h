/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_WANTED_H
#define WH_APP_WANTED_H

/* What an operator's settings are for the rooms below. */

#include "cli/settings.h"
#include "job/service.h"

/* All but paths; root_fd -1. */
struct wh_request wh_wanted_request(const struct wh_settings *settings, enum wh_job_verb verb);

struct wh_service wh_wanted_service(const struct wh_settings *settings, int root_fd);

#endif
