/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_OPEN_EARLY_H
#define WH_SESSION_OPEN_EARLY_H

/*
 * What comes too early, on the RX core. Right behind the end of its greeting a client confirms the
 * session that it was offered, and sends: a signature is checked before the bond is there, and what
 * came meanwhile would have to go again. So a CONFIRM under a bond that is to come is kept, and
 * what its sender sends behind it, until there is the bond, or WH_EARLY_MS. That is bounded in all
 * and by address: who fills it makes others' first packets go again, and nothing else.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"
#include "wire/packet.h"

#define WH_EARLY_MS         100
#define WH_EARLY_PKTS       32
#define WH_EARLY_OF_ADDRESS 8
#define WH_EARLY_BYTES      1536 /* what is longer is not kept */

struct wh_endpoint;

struct wh_early_pkt {
	struct wh_address from;
	uint8_t via[6]; /* as endpoint->via */
	uint32_t bond;  /* that it waits for */
	uint32_t bytes;
	uint64_t arrived_tsc;
	uint8_t packet[WH_EARLY_BYTES];
};

struct wh_early {
	struct wh_early_pkt *pkt; /* WH_EARLY_PKTS, in the order in which they came */
	uint32_t pkts;
	bool again; /* they come in once more, and are not kept twice */
	uint64_t next_look_tsc;
};

/* 0 or -ENOMEM. */
int wh_early_open(struct wh_early *early);
void wh_early_close(struct wh_early *early);

/* A CONFIRM that names a bond which is to come; false: there is no room. */
bool wh_early_confirm(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from, uint32_t bond);

/* A packet of no session: whether its sender has a CONFIRM here, and it is kept behind that. */
bool wh_early_follow(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from);

/* Lets in what needs to wait no more; how much was done. */
int32_t wh_early_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);

#endif
