/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/early.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "endpoint/endpoint.h"

static_assert(sizeof(((struct wh_early_pkt *)0)->via) == WH_ENDPOINT_VIA_BYTES, "a way back");
static_assert(WH_EARLY_BLOCKS <= UINT8_MAX + 1, "the type of block numbers");
#define PKT_BYTES_MAX (WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX)

static_assert(
	sizeof(struct wh_early_pkt) + PKT_BYTES_MAX + sizeof(uint64_t) <= WH_EARLY_BLOCK_BYTES,
	"a block has room for any packet");

/* Pause between checks, which read a table of another core. */
#define LOOK_US 20

int wh_early_open(struct wh_early *early)
{
	*early = (struct wh_early){.arena = calloc(WH_EARLY_BLOCKS, WH_EARLY_BLOCK_BYTES)};
	if (early->arena == NULL)
		return -ENOMEM;
	while (early->frees < WH_EARLY_BLOCKS) {
		early->free[early->frees] = (uint8_t)early->frees;
		early->frees++;
	}
	return 0;
}

void wh_early_close(struct wh_early *early)
{
	free(early->arena);
	*early = (struct wh_early){0};
}

static struct wh_early_pkt *pkt_at(
	const struct wh_early *early, const struct wh_early_sender *sender, uint32_t i, uint32_t at)
{
	return (void *)&early->arena[sender->block[i] * WH_EARLY_BLOCK_BYTES + at];
}

/* What a packet takes of a block: the next head is aligned. */
static uint32_t room_of(size_t length)
{
	return (uint32_t)RTE_ALIGN_CEIL(sizeof(struct wh_early_pkt) + length, sizeof(uint64_t));
}

/* early->senders: none. */
static uint32_t find(const struct wh_early *early, const struct wh_address *from)
{
	uint32_t i = 0;

	while (i < early->senders && !wh_address_equal(&early->sender[i].address, from))
		i++;
	return i;
}

/* False: no room. */
static bool add_block(struct wh_early *early, struct wh_early_sender *sender)
{
	if (early->frees == 0 || sender->blocks == WH_EARLY_BLOCKS_OF_SENDER)
		return false;
	sender->used[sender->blocks] = 0;
	sender->block[sender->blocks++] = early->free[--early->frees];
	return true;
}

static bool keep(struct wh_endpoint *endpoint, struct wh_early_sender *sender, uint64_t arrived_tsc,
	const uint8_t *bytes, size_t length)
{
	struct wh_early *early = &endpoint->early;
	uint32_t room = room_of(length);

	if (length > PKT_BYTES_MAX)
		return false;
	if ((sender->blocks == 0 ||
		    sender->used[sender->blocks - 1] + room > WH_EARLY_BLOCK_BYTES) &&
		!add_block(early, sender))
		return false;

	uint32_t *used = &sender->used[sender->blocks - 1];
	struct wh_early_pkt *pkt = pkt_at(early, sender, sender->blocks - 1, *used);

	pkt->arrived_tsc = arrived_tsc;
	pkt->bytes = (uint32_t)length;
	memcpy(pkt->via, endpoint->via, sizeof(pkt->via));
	memcpy(pkt->packet, bytes, length);
	*used += room;
	endpoint->stats.early_pkts++;
	return true;
}

bool wh_early_confirm(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from, uint32_t sa)
{
	struct wh_early *early = &endpoint->early;
	struct wh_early_sender *sender = &early->sender[early->senders];

	if (early->arena == NULL || early->replaying || early->senders == WH_EARLY_SENDERS)
		return false;
	*sender = (struct wh_early_sender){.address = *from, .sa = sa, .arrived_tsc = arrived_tsc};
	if (!keep(endpoint, sender, arrived_tsc, bytes, length))
		return false;
	early->senders++;
	return true;
}

bool wh_early_waits(const struct wh_endpoint *endpoint, const struct wh_address *from)
{
	const struct wh_early *early = &endpoint->early;

	return !early->replaying && find(early, from) < early->senders;
}

bool wh_early_follow(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from)
{
	struct wh_early *early = &endpoint->early;
	uint32_t i = find(early, from);

	return i < early->senders && !early->replaying &&
	       keep(endpoint, &early->sender[i], arrived_tsc, bytes, length);
}

/* The SA exists, or its handshake failed, or took too long. */
static bool is_due(
	const struct wh_endpoint *endpoint, uint64_t now_tsc, const struct wh_early_sender *sender)
{
	uint64_t late_tsc = wh_us_to_tsc(endpoint->config.hz, WH_EARLY_MS * UINT64_C(1000));

	return !wh_sadb_is_reserved(endpoint->config.sadb, sender->sa) ||
	       now_tsc > sender->arrived_tsc + late_tsc;
}

/* One sender a turn: the packets of all would keep new ones of sessions waiting. */
bool wh_early_begin(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_early *early = &endpoint->early;
	uint32_t i = 0;

	WH_ASSERT(!early->replaying);
	if (now_tsc < early->next_look_tsc)
		return false;
	while (i < early->senders && !is_due(endpoint, now_tsc, &early->sender[i]))
		i++;
	if (i == early->senders) {
		early->next_look_tsc = now_tsc + wh_us_to_tsc(endpoint->config.hz, LOOK_US);
		return false;
	}
	early->replayed = early->sender[i];
	early->senders--;
	memmove(&early->sender[i], &early->sender[i + 1],
		(early->senders - i) * sizeof(early->sender[0]));
	early->replaying = true;
	early->at_block = early->at_byte = 0;
	return true;
}

struct wh_early_pkt *wh_early_next(struct wh_endpoint *endpoint)
{
	struct wh_early *early = &endpoint->early;
	struct wh_early_sender *sender = &early->replayed;

	WH_ASSERT(early->replaying);
	if (early->at_byte == sender->used[early->at_block]) {
		early->at_block++;
		early->at_byte = 0;
	}
	if (early->at_block == sender->blocks) {
		while (sender->blocks > 0)
			early->free[early->frees++] = sender->block[--sender->blocks];
		early->replaying = false;
		return NULL;
	}

	struct wh_early_pkt *pkt = pkt_at(early, sender, early->at_block, early->at_byte);

	early->at_byte += room_of(pkt->bytes);
	memcpy(endpoint->via, pkt->via, sizeof(pkt->via));
	return pkt;
}
