/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_REPAIR_JSON_H
#define WH_APP_REPAIR_JSON_H

#include <jansson.h>

#include "session/session.h"

/* "repair" of every report: {"sent", "used", "undecodable_blocks", "overhead"}. */
json_t *wh_repair_json(const struct wh_session_stats *stats);

#endif
