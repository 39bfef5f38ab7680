/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Writes the families as text: Prometheus's format 0.0.4, or OpenMetrics 1.0. */

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "metrics/families.h"

#define WH_EXPOSITION_TYPE   "text/plain; version=0.0.4; charset=utf-8"
#define WH_OPEN_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Access to the answers of all sources, by source number; borrowed. NULL: not available now. */
struct wh_figures {
	const json_t *(*of)(void *context, uint32_t source);
	void *context;
};

void wh_exposition_write(FILE *to, bool open_metrics, const struct wh_figures *figures);
