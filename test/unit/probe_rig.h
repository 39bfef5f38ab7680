/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A prober at one endpoint and an answerer at the other, two links between, in virtual time. */

#include "../rig/sas.h"
#include "endpoint/endpoint.h"
#include "lab/netem/netem.h"

#define PROBE_RIG_HZ      UINT64_C(1000000000)
#define PROBE_RIG_OVER_BY UINT64_C(1000) /* seconds */

struct probe_rig {
	struct wh_link_model forth, back;
	struct wh_prober_config config;
	bool sealed;
	struct wh_rig_sadb sadb; /* then; the prober's is [0] */
	enum wh_release_status welcome;
	/* Looks at, and may change, what comes over; false: it is lost. NULL: nobody does. */
	bool (*meddle)(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length);
	uint64_t number; /* for who meddles: packets so far */

	struct wh_endpoint client, server;
	struct wh_address client_address, server_address;
	struct wh_netem *netem[2];
	struct wh_prober prober;
	uint64_t now_tsc;
	uint64_t heard_bytes, said_bytes; /* by the server */
	uint64_t heard_pkts, said_pkts;
};

/* A lambda of 1 Gb/s, 10 ms each way, MTU 1500, that nothing is wrong with; a line of the same. */
void probe_rig_init(struct probe_rig *rig);

/* Opens all, and runs until the probe has ended; the caller closes. */
enum wh_prober_end probe_rig_run(struct probe_rig *rig);

/* The same once more, by another prober, with the server as it is. */
enum wh_prober_end probe_rig_run_again(struct probe_rig *rig);
void probe_rig_close(struct probe_rig *rig);

/* A packet of another one's making reaches the server, as if from `from`. */
void probe_rig_inject(
	struct probe_rig *rig, uint8_t *bytes, uint32_t length, const struct wh_address *from);

uint32_t probe_rig_wire_bytes(const struct probe_rig *rig);
