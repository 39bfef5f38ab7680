/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Packets that arrive before their SA, on the RX core. Right after the end of its handshake a
 * client confirms the session that it was offered, and sends data. Our side still checks a
 * signature before the SA exists, and would drop these packets. So a CONFIRM under an SA that is
 * being made is kept, and the packets of its sender that follow, until the SA exists or WH_EARLY_MS
 * is over. Nothing of them is believed or answered before.
 *
 * They lie in blocks of one arena, linked by sender. A byte is kept for a byte that was sent. The
 * number of senders, and of blocks in total and per sender, is limited: an attacker who takes all
 * makes others retransmit their first packets, no more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"
#include "wire/packet.h"

#define WH_EARLY_MS               100
#define WH_EARLY_SENDERS          32
#define WH_EARLY_BLOCK_BYTES      UINT32_C(32768)
#define WH_EARLY_BLOCKS           128 /* 4 MiB */
#define WH_EARLY_BLOCKS_OF_SENDER 12  /* 384 KiB: what goes ahead of a file, and its heads */

struct wh_endpoint;

struct wh_early_pkt {
	uint64_t arrived_tsc;
	uint32_t bytes;
	uint8_t via[6]; /* as endpoint->via */
	uint8_t packet[];
};

struct wh_early_sender {
	struct wh_address address;
	uint32_t sa; /* number of the awaited SA */
	uint64_t arrived_tsc;
	uint32_t blocks;
	uint8_t block[WH_EARLY_BLOCKS_OF_SENDER];
	uint32_t used[WH_EARLY_BLOCKS_OF_SENDER]; /* bytes of each */
};

struct wh_early {
	uint8_t *arena;
	uint8_t free[WH_EARLY_BLOCKS]; /* a stack: blocks in use lately come first */
	uint32_t frees;
	struct wh_early_sender sender[WH_EARLY_SENDERS]; /* in order of arrival */
	uint32_t senders;

	/* The sender whose packets are being processed: none of them must be kept twice. */
	bool replaying;
	struct wh_early_sender replayed;
	uint32_t at_block, at_byte; /* the next packet */

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
 * _begin: whether the wait of a sender is over, whose address is endpoint->early.replayed.address.
 * Then _next returns its packets one by one, with endpoint->via as it was, and NULL after the last.
 * They are to be processed in one turn, before what comes behind them, as if they arrived now, so
 * that a packet whose SA failed is dropped like any other without an SA.
 */
bool wh_early_begin(struct wh_endpoint *endpoint, uint64_t now_tsc);
struct wh_early_pkt *wh_early_next(struct wh_endpoint *endpoint);
