/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Packets that arrive before their SA, on the RX core. Right after the end of its handshake a
 * client confirms the session that it was offered, and sends data. Our side still checks a
 * signature before the SA exists, and would drop these packets. So a CONFIRM under an SA that is
 * being made is kept, and the packets of its sender that follow, until the SA exists or WH_EARLY_MS
 * is over. Their number is limited in total and per address: an attacker who fills the table makes
 * others retransmit their first packets, no more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"
#include "wire/packet.h"

#define WH_EARLY_MS         100
#define WH_EARLY_PKTS       32
#define WH_EARLY_OF_ADDRESS 8
#define WH_EARLY_BYTES      1536 /* longer packets are not kept */

struct wh_endpoint;

struct wh_early_pkt {
	struct wh_address from;
	uint8_t via[6]; /* as endpoint->via */
	uint32_t sa;    /* number of the awaited SA */
	uint32_t bytes;
	uint64_t arrived_tsc;
	uint8_t packet[WH_EARLY_BYTES];
};

struct wh_early {
	struct wh_early_pkt *pkt; /* WH_EARLY_PKTS, in order of arrival */
	uint32_t pkts;
	bool replaying; /* kept packets are being processed: none must be kept twice */
	uint32_t at;    /* the next of them to look at */
	uint32_t left;  /* how many before `at` stay */
	uint64_t next_look_tsc;
};

/* 0 or -ENOMEM. */
int wh_early_open(struct wh_early *early);
void wh_early_close(struct wh_early *early);

/* A CONFIRM under an SA that is being made; false: no room. */
bool wh_early_confirm(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from, uint32_t sa);

/* Whether a CONFIRM of that address is kept: a repeated one must not overtake what follows it. */
bool wh_early_waits(const struct wh_endpoint *endpoint, const struct wh_address *from);

/* A packet of no session: true if a CONFIRM of its sender is kept, and the packet behind it. */
bool wh_early_follow(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from);

/*
 * _begin: whether it is time to look for packets whose wait is over. Then _next returns them one by
 * one, with endpoint->via as it was, and NULL after the last. They are to be processed as if they
 * arrived now, so that a packet whose SA failed is dropped like any other without an SA.
 */
bool wh_early_begin(struct wh_endpoint *endpoint, uint64_t now_tsc);
struct wh_early_pkt *wh_early_next(struct wh_endpoint *endpoint, uint64_t now_tsc);
