/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Converts an operator's settings for the rooms below. */

#include "cli/settings.h"
#include "guard/guard.h"
#include "host/host.h"
#include "job/service.h"

/* A request as the settings want it, without paths: root_fd is -1. */
struct wh_request wh_wanted_request(const struct wh_settings *settings, enum wh_job_verb verb);

/* False: too many terms, as was reported. */
bool wh_wanted_choice(
	const struct wh_settings *settings, struct wh_terms *terms, struct wh_choice *choice);

struct wh_service wh_wanted_service(const struct wh_settings *settings, int root_fd);

/* A client's guard, which may write its picture and its records of paths. */
struct wh_guard wh_wanted_guard(const struct wh_settings *settings, const struct wh_host *host);

/* Enters it; 0 or an exit status. Reports its restrictions if requested, and if there are none. */
int wh_wanted_guard_enter(const struct wh_settings *settings, struct wh_guard *guard);
