/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Parallel sockets: one file over several connections of the same kind, usually NewReno. Each takes
 * the next segment of the file when its window has room. All belong to one flow.
 */

#include <stdint.h>

#include "lab/tcp/tcp.h"

struct wh_sim_psock;

struct wh_sim_psock *wh_sim_psock_create(struct wh_sim *sim, const struct wh_sim_tcp_config *config,
	uint32_t connections, uint32_t from_node, uint32_t to_node, uint32_t flow);
void wh_sim_psock_destroy(struct wh_sim_psock *psock);

/* Call once: a file of that many segments; UINT64_MAX: endless. */
void wh_sim_psock_start(struct wh_sim_psock *psock, uint64_t now_ps, uint64_t segments);

/* No new segments from now on; outstanding ones are still repaired. */
void wh_sim_psock_stop(struct wh_sim_psock *psock);

/* Sums over the connections. */
double wh_sim_psock_cwnd_pkts(const struct wh_sim_psock *psock);
uint64_t wh_sim_psock_acked_pkts(const struct wh_sim_psock *psock);
