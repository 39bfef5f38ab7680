/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Figures of a process that serves, for monitoring systems: at /metrics of a TCP port, on the
 * control's thread. They are taken from answers of its control socket.
 *
 *   wh_metrics_open   binds the port; before the guard, which forbids that
 *   wh_metrics_close  when the control's thread has stopped
 */

#include "control/control.h"
#include "metrics/families.h"
#include "metrics/http.h"

#define WH_METRICS_SOURCES_MAX 16

struct wh_metrics {
	struct wh_http http;
	const struct wh_control_tables *tables;
	/* A source's last answer, and until when it is reused. */
	struct wh_metrics_answer {
		json_t *answer; /* NULL: none */
		uint64_t until_ns;
	} answer[WH_METRICS_SOURCES_MAX];
	/* The page for people, and until when it is reused. */
	char *page;
	uint64_t page_until_ns;
};

/*
 * Serves at `where`, [ADDRESS:]PORT; "": nowhere. Commands may still be added to the tables. 0, or
 * an exit status after one sentence.
 */
int wh_metrics_open(
	struct wh_metrics *metrics, const char *where, struct wh_control_socket *control);
void wh_metrics_close(struct wh_metrics *metrics);
