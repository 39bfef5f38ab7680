/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The session configuration of a flow, derived from its engine's configuration. */

#include "lab/scenario/engine.h"
#include "session/session.h"
#include "wire/encap.h"

#define WH_SIM_IP_UDP_BYTES (WH_IPV4_BYTES + WH_UDP_BYTES)

/* Chunks kept ready ahead of the session: a stopped source still sends these. */
#define WH_SIM_READY_CHUNKS 2

struct wh_session_config wh_sim_engine_session_config(
	const struct wh_sim_engine_config *config, uint64_t seed);
