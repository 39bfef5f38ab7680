/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Shared by the files of the prober. */

#include "base/assert.h"
#include "base/clock.h"
#include "probe/prober.h"

/* Pause in which queues on the path empty; also allows for late timers. */
#define WH_PROBER_REST_NS UINT64_C(2000000)

static inline uint32_t wh_prober_wire_bytes(const struct wh_prober *prober, uint32_t packet_bytes)
{
	return packet_bytes + prober->config.ip_udp_bytes + prober->config.link_bytes;
}

/* prober_run.c */
void wh_prober_finish(struct wh_prober *prober, uint64_t now_tsc, enum wh_prober_end end);

/* Starts sending for a stage: `count` packets, `group` of them at line rate per gap_tsc. */
void wh_prober_run(struct wh_prober *prober, uint64_t now_tsc, uint8_t flags, uint32_t count,
	uint32_t packet_bytes, uint32_t group, uint64_t gap_tsc);

/* prober_fetch.c: fetches the arrivals of the run's train. _answer: true once all are fetched. */
void wh_prober_fetch_begin(struct wh_prober *prober, uint64_t begin_tsc);
void wh_prober_fetch_poll(struct wh_prober *prober, uint64_t now_tsc);
bool wh_prober_fetch_question(struct wh_prober *prober, uint64_t now_tsc, struct wh_probe *probe);
bool wh_prober_fetch_answer(
	struct wh_prober *prober, uint64_t now_tsc, const struct wh_probe_answer *answer);
uint64_t wh_prober_fetch_deadline(const struct wh_prober *prober);

/* prober_stages.c */
void wh_prober_begin_stage(struct wh_prober *prober, uint64_t now_tsc, enum wh_prober_stage stage);
void wh_prober_stage_poll(struct wh_prober *prober, uint64_t now_tsc);
void wh_prober_conclude_train(struct wh_prober *prober, uint64_t now_tsc);
void wh_prober_echo_answer(struct wh_prober *prober, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_probe_answer *answer);
