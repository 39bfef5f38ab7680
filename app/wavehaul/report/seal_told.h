/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The seal of a client's job in reports. */

#include <jansson.h>

#include "job/job.h"

/* A line on stderr: cipher, library, and the server's identity; or that nothing was sealed. */
void wh_seal_tell(const struct wh_job_sealed *sealed);

/* The same as an object; null: not sealed (yet). `sealed` may be NULL. */
json_t *wh_seal_json(const struct wh_job_sealed *sealed);
