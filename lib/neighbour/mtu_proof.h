/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_NEIGHBOUR_MTU_PROOF_H
#define WH_NEIGHBOUR_MTU_PROOF_H

/*
 * Whether packets of the whole MTU get to a peer and back, asked by echo, which wh_neighbour never
 * lets be fragmented. A path that is too narrow swallows data without a word while small control
 * packets go through: that is worth knowing before a transfer stalls.
 *
 * A packet of the whole MTU is sent. If it is not answered, small packets, up to three, tell a peer
 * that is silent to echo from a path that is too narrow. Once a small one is answered the whole MTU
 * is tried again, three times, since the peer may just have come up; then, by bisection, some sizes
 * that links are known to carry. No answer to large packets is a proof only after an answer to a
 * small one. The first answer is waited for as long as any path may take (WH_NEIGHBOUR_ECHO_MS),
 * others for four round trips.
 *
 * Sans-I/O on top of a wh_neighbour, whose frames the caller moves. While a proof runs the
 * neighbour's echo is its own: another one waits for its turn, and nobody else asks.
 */

#include <stdint.h>

#include "neighbour/neighbour.h"

#define WH_MTU_PROOF_ASKS    3   /* of each size, but for the first question */
#define WH_MTU_PROOF_WAIT_MS 100 /* for an answer, at least */

/* What every host takes, and every link carries: RFC 791 3.1, RFC 8200 5. */
#define WH_MTU_PROOF_SMALL_IPV4 576
#define WH_MTU_PROOF_SMALL_IPV6 1280

enum wh_mtu_proof_state {
	WH_MTU_PROOF_RUNNING = 0,
	WH_MTU_PROOF_PROVED,    /* packets of the whole MTU are answered */
	WH_MTU_PROOF_TOO_LARGE, /* they are not, those of proved_bytes are */
	WH_MTU_PROOF_UNKNOWN,   /* no echo of any size is answered, or there is no way: see `way` */
};

struct wh_mtu_proof {
	struct wh_neighbour *neighbour;
	struct wh_address target; /* port 0 */
	uint8_t state;            /* enum wh_mtu_proof_state */
	uint8_t way;              /* enum wh_neighbour_way: FOUND, or why no echo was sent */
	uint8_t asks;             /* of this size that were lost */
	uint32_t ip_bytes;        /* the size asked with, the IP header counted */
	uint32_t proved_bytes;    /* the largest size answered; 0: none yet */
	uint32_t refused_bytes;   /* the smallest size not answered; 0: none yet */
};

/*
 * Asks with the neighbour's whole MTU; the target's port does not matter. 0, or -EBUSY while the
 * neighbour has another echo under way, or another proof.
 */
int wh_mtu_proof_start(struct wh_mtu_proof *proof, struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target);

/* To be called after the neighbour's input and output, when its deadline has come, too. */
enum wh_mtu_proof_state wh_mtu_proof_poll(struct wh_mtu_proof *proof, uint64_t now_tsc);

#endif
