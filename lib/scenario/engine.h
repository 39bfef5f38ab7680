/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SCENARIO_ENGINE_H
#define WH_SCENARIO_ENGINE_H

/*
 * A wavehaul connection in the simulator: the very sessions of lib/session, driven in virtual time
 * of 1 GHz. Payload is virtual: heads, tags of heads and control packets are real, chunks have
 * sizes and no memory. The connection is opened by OPEN, ACCEPT and CONFIRM as between hosts, and
 * ended by a release; neither end is ever short of CPU, disk or buffers, but for the models of
 * processes.h and absence.h.
 *
 * Links count what IP counts: a full packet of an MTU of 1500 bytes takes 1500 (head, payload, UDP
 * and IPv4), and so does the pacer. Where the MTU leaves a rest below WH_PAYLOAD_ALIGN of payload,
 * a full packet is shorter by that rest. Goodput counts payload as it arrives for the first time,
 * whatever is still missing before it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "scenario/absence.h"
#include "scenario/host_clock.h"
#include "scenario/processes.h"
#include "session/session.h"
#include "sim/sim.h"

struct wh_sim_engine_config {
	const struct wh_profile *profile;
	struct wh_profile_options options;
	uint32_t mtu_bytes;   /* a full packet, as IP and the links count it */
	uint64_t rate_bps;    /* what `fixed` sends, and others never exceed; 0: none */
	uint64_t size_bytes;  /* of the stream; WH_OBJECT_BYTES_UNKNOWN: without end */
	uint32_t window_pkts; /* a power of two */
	uint32_t burst_pkts;
	struct wh_known_path known;
	struct wh_repair_config repair;
	uint32_t chunk_pkts; /* 0: a few; a code wants hundreds */
	/*
	 * With repair, a chunk is encoded while the one before it is on the wire (ttp.txt, Fig. 2),
	 * for so long.
	 */
	uint64_t encode_ps;
	struct wh_host_clock_config sender_clock;
	struct wh_host_clock_config receiver_clock;
	struct wh_absence_config sender_absence; /* without processes */
	struct wh_absence_config receiver_absence;
	struct wh_processes_config processes; /* each packet is a chunk of its own then */
};

/* The papers' options, no repair, an MTU of 1500, no rate, no end, a window of 2^16. */
void wh_sim_engine_config_init(
	struct wh_sim_engine_config *config, const struct wh_profile *profile);

/* Data packets of the chunks that it makes of chunk_pkts. */
uint32_t wh_sim_engine_chunk_pkts(const struct wh_sim_engine_config *config);

/* Payload of a full packet; 0: no such MTU. */
uint32_t wh_sim_engine_payload_bytes(uint32_t mtu_bytes);

struct wh_sim_engine;

/*
 * Opens its connection when it is started. Its tables, in proportion to the window, are taken then.
 * It is freed after the run.
 */
struct wh_sim_engine *wh_sim_engine_create(struct wh_sim *sim,
	const struct wh_sim_engine_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow, uint64_t seed);
void wh_sim_engine_destroy(struct wh_sim_engine *engine);

void wh_sim_engine_start(struct wh_sim_engine *engine, uint64_t now_ps);

/*
 * The source gives no more chunks, and the session ends when all are acknowledged: what the window
 * had admitted, and some 64 packets more.
 */
void wh_sim_engine_stop(struct wh_sim_engine *engine);

/* Called once, when the sending session is closed; its outcome says how it ended. */
void wh_sim_engine_on_done(
	struct wh_sim_engine *engine, void (*done)(void *context, uint64_t now_ps), void *context);

/* Called once, when all of a sized stream is acknowledged, which may never be. */
void wh_sim_engine_on_finished(struct wh_sim_engine *engine,
	void (*finished)(void *context, uint64_t now_ps), void *context);

/*
 * What it sends at the moment by its pacer, as the links count it, and its window; 0 before its
 * connection is opened and after its end. The rate is 0, too, while the window alone decides (UDT
 * in slow start).
 */
double wh_sim_engine_rate_bps(const struct wh_sim_engine *engine);
double wh_sim_engine_window_pkts(const struct wh_sim_engine *engine);

/* NULL before its connection is opened; the receiver's after that, when the peer has accepted. */
const struct wh_session *wh_sim_engine_sender(const struct wh_sim_engine *engine);
const struct wh_session *wh_sim_engine_receiver(const struct wh_sim_engine *engine);

#endif
