/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SEAL_TOLD_H
#define WH_APP_SEAL_TOLD_H

/* What a report says of the seal of a client's job. */

#include <jansson.h>

#include "job/job.h"

/* A line on stderr: cipher, library, and who the server is; or that nothing was sealed. */
void wh_seal_tell(const struct wh_job_sealed *sealed);

/* An object of the same; null: not sealed, or never so far. `sealed` may be NULL. */
json_t *wh_seal_json(const struct wh_job_sealed *sealed);

#endif
