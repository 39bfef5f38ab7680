/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A wavehaul connection in the simulator: the sessions of lib/session themselves, driven in virtual
 * time of 1 GHz. Payload is virtual: heads, tags of heads and control packets are real, chunks have
 * sizes and no memory. The connection is opened by OPEN, ACCEPT and CONFIRM as between hosts, and
 * ended by a release; CPU, disk and buffers are unlimited at both ends, except for the models of
 * tasks.h and absence.h.
 *
 * Links count IP packet lengths: a full packet of an MTU of 1500 bytes counts 1500 (head, payload,
 * UDP and IPv4), in the pacer too. Payloads are multiples of WH_PAYLOAD_ALIGN, so a full packet may
 * be a little shorter than the MTU. Goodput counts payload when it first arrives, whether or not
 * earlier payload is missing.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/scenario/host_clock.h"
#include "lab/scenario/tasks.h"
#include "lab/sim/machine/absence.h"
#include "lab/sim/simulation.h"
#include "session/session.h"

struct wh_sim_engine_config {
	const struct wh_profile *profile;
	struct wh_profile_options options;
	uint32_t mtu_bytes;   /* a full packet, in IP bytes */
	uint64_t rate_bps;    /* rate of `fixed`, upper limit for others; 0: none */
	uint64_t size_bytes;  /* of the stream; WH_OBJECT_BYTES_UNKNOWN: endless */
	uint32_t window_pkts; /* a power of two */
	uint32_t burst_pkts;
	struct wh_known_path known;
	struct wh_repair_config repair;
	uint32_t chunk_pkts; /* 0: a few; repair needs hundreds */
	/*
	 * With repair: duration of a chunk's encoding, which overlaps with the transmission of the
	 * previous chunk (ttp.txt, Fig. 2).
	 */
	uint64_t encode_ps;
	struct wh_host_clock_config sender_clock;
	struct wh_host_clock_config receiver_clock;
	struct wh_absence_config sender_absence; /* only without tasks */
	struct wh_absence_config receiver_absence;
	struct wh_tasks_config tasks; /* then each packet is a chunk of its own */
};

/* The papers' options, no repair, an MTU of 1500, no rate, endless, a window of 2^16. */
void wh_sim_engine_config_init(
	struct wh_sim_engine_config *config, const struct wh_profile *profile);

/* Data packets per chunk that result from chunk_pkts. */
uint32_t wh_sim_engine_chunk_pkts(const struct wh_sim_engine_config *config);

/* Payload of a full packet; 0: the MTU is not supported. */
uint32_t wh_sim_engine_payload_bytes(uint32_t mtu_bytes);

struct wh_sim_engine;

/*
 * The connection opens at the start, which also allocates its tables, in proportion to the window.
 * Destroy it after the run.
 */
struct wh_sim_engine *wh_sim_engine_create(struct wh_sim *sim,
	const struct wh_sim_engine_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow, uint64_t seed);
void wh_sim_engine_destroy(struct wh_sim_engine *engine);

void wh_sim_engine_start(struct wh_sim_engine *engine, uint64_t now_ps);

/*
 * The source yields no more chunks, and the session ends when all are acknowledged: the admitted
 * window, and some 64 packets more.
 */
void wh_sim_engine_stop(struct wh_sim_engine *engine);

/*
 * The pacer's current rate, in IP bytes, and the window; 0 before the connection opens and after
 * its end. The rate is also 0 while the window alone limits (UDT in slow start).
 */
double wh_sim_engine_rate_bps(const struct wh_sim_engine *engine);
double wh_sim_engine_window_pkts(const struct wh_sim_engine *engine);

/* NULL before the connection opens; the receiver's until its end has accepted. */
const struct wh_session *wh_sim_engine_sender(const struct wh_sim_engine *engine);
const struct wh_session *wh_sim_engine_receiver(const struct wh_sim_engine *engine);
