/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * How long packets may be that reach a server, by its own answers (wire/versions.h). No ICMP error
 * is believed, since anybody may forge one, and none is needed. The questions leave from a socket
 * of their own, while this end opens its port and the handshake begins. They prove the way there;
 * the way back is taken to carry as much.
 *
 * First the longest and the shortest packets are asked about. Only if the shortest are answered and
 * the longest are not, sizes between them follow, some at once.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"

/*
 * Asks for the first time; one server per process. Sizes are at the IP layer; told_bytes: what the
 * kernel believes, which is taken if nothing is answered.
 */
void wh_path_size_begin(const struct wh_address *server, uint32_t least_bytes, uint32_t most_bytes,
	uint32_t told_bytes, uint8_t dscp);

/* Reads what has come, and asks on; never waits. True: enough is known, or nothing was asked. */
bool wh_path_size_known(void);

/* The longest packets that pass, at most most_bytes, and whether that is proved; 0: not asked. */
uint32_t wh_path_size_end(bool *proved);
