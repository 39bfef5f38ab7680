/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Tests whether packets of the whole MTU reach a peer and come back, by echo requests that are
 * never fragmented. A path with a smaller MTU drops data silently while small control packets pass;
 * this finds it before a transfer stalls.
 *
 * First a packet of the whole MTU is sent. Without an answer up to three small packets follow: they
 * tell a peer that does not answer echo from a path with a smaller MTU, since missing answers to
 * large packets prove something only after an answer to a small one. Once a small packet is
 * answered the whole MTU is tried up to three times more, since the peer may just have come up.
 * Then some common MTUs are tried by bisection.
 *
 * The timeout is WH_NEIGHBOUR_ECHO_MS, longer than any path takes, until the first answer; then
 * four round trips.
 *
 * Sans-I/O on top of a wh_neighbour, whose frames the caller sends and receives. A running test
 * owns the neighbour's echo; other users of echo must wait.
 */

#include <stdint.h>

#include "neighbour/neighbour.h"

/* Attempts per size, except for the very first. */
#define WH_MTU_PROOF_ASKS 3

/* Shortest timeout. */
#define WH_MTU_PROOF_WAIT_MS 100

/* Every host accepts packets of this size: RFC 791 3.1. Every link carries them: RFC 8200 5. */
#define WH_MTU_PROOF_SMALL_IPV4 576
#define WH_MTU_PROOF_SMALL_IPV6 1280

enum wh_mtu_proof_state {
	WH_MTU_PROOF_RUNNING = 0,
	WH_MTU_PROOF_PROVED,    /* packets of the whole MTU are answered */
	WH_MTU_PROOF_TOO_LARGE, /* they are not, those of proved_bytes are */
	WH_MTU_PROOF_UNKNOWN,   /* no echo is answered, or none can be sent: see `result` */
};

struct wh_mtu_proof {
	struct wh_neighbour *neighbour;
	struct wh_address target; /* port 0 */
	uint8_t state;            /* enum wh_mtu_proof_state */
	uint8_t result;           /* enum wh_neighbour_result: FOUND, or why no echo was sent */
	uint8_t asks;             /* lost attempts at this size */
	uint32_t ip_bytes;        /* the present size, including the IP header */
	uint32_t proved_bytes;    /* the largest size answered; 0: none yet */
	uint32_t refused_bytes;   /* the smallest size not answered; 0: none yet */
};

/*
 * Starts with the neighbour's whole MTU; the target's port is ignored. 0, or -EBUSY while another
 * echo or test is running.
 */
int wh_mtu_proof_start(struct wh_mtu_proof *proof, struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target);

/* Call after the neighbour's input and output, and when its deadline is reached. */
enum wh_mtu_proof_state wh_mtu_proof_poll(struct wh_mtu_proof *proof, uint64_t now_tsc);
