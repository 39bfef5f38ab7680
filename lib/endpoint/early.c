/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/early.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "endpoint/endpoint.h"

static_assert(sizeof(((struct wh_early_pkt *)0)->via) == WH_ENDPOINT_VIA_BYTES, "a way back");

/* Pause between checks, which read a table of another core. */
#define LOOK_US 20

int wh_early_open(struct wh_early *early)
{
	*early = (struct wh_early){.pkt = calloc(WH_EARLY_PKTS, sizeof(*early->pkt))};
	return early->pkt == NULL ? -ENOMEM : 0;
}

void wh_early_close(struct wh_early *early)
{
	free(early->pkt);
	*early = (struct wh_early){0};
}

static const struct wh_early_pkt *find(const struct wh_early *early, const struct wh_address *from)
{
	for (uint32_t i = 0; i < early->pkts; i++)
		if (wh_address_equal(&early->pkt[i].from, from))
			return &early->pkt[i];
	return NULL;
}

static bool keep(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from, uint32_t sa)
{
	struct wh_early *early = &endpoint->early;
	uint32_t of_address = 0;

	for (uint32_t i = 0; i < early->pkts; i++)
		of_address += wh_address_equal(&early->pkt[i].from, from);
	if (early->pkt == NULL || early->replaying || early->pkts == WH_EARLY_PKTS ||
		of_address == WH_EARLY_OF_ADDRESS || length > WH_EARLY_BYTES)
		return false;

	struct wh_early_pkt *pkt = &early->pkt[early->pkts++];

	pkt->from = *from;
	pkt->sa = sa;
	pkt->bytes = (uint32_t)length;
	pkt->arrived_tsc = arrived_tsc;
	memcpy(pkt->via, endpoint->via, sizeof(pkt->via));
	memcpy(pkt->packet, bytes, length);
	endpoint->stats.early_pkts++;
	return true;
}

bool wh_early_confirm(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from, uint32_t sa)
{
	return keep(endpoint, arrived_tsc, bytes, length, from, sa);
}

bool wh_early_waits(const struct wh_endpoint *endpoint, const struct wh_address *from)
{
	return !endpoint->early.replaying && find(&endpoint->early, from) != NULL;
}

bool wh_early_follow(struct wh_endpoint *endpoint, uint64_t arrived_tsc, const uint8_t *bytes,
	size_t length, const struct wh_address *from)
{
	const struct wh_early_pkt *before = find(&endpoint->early, from);

	return before != NULL && keep(endpoint, arrived_tsc, bytes, length, from, before->sa);
}

/* The SA exists, or its handshake failed, or took too long. */
static bool is_due(
	const struct wh_endpoint *endpoint, uint64_t now_tsc, const struct wh_early_pkt *pkt)
{
	uint64_t late_tsc = wh_us_to_tsc(endpoint->config.hz, WH_EARLY_MS * UINT64_C(1000));

	return !wh_sadb_is_reserved(endpoint->config.sadb, pkt->sa) ||
	       now_tsc - pkt->arrived_tsc > late_tsc;
}

bool wh_early_begin(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_early *early = &endpoint->early;

	if (now_tsc < early->next_look_tsc)
		return false;
	early->next_look_tsc = now_tsc + wh_us_to_tsc(endpoint->config.hz, LOOK_US);
	early->replaying = true;
	early->at = 0;
	early->left = 0;
	return true;
}

struct wh_early_pkt *wh_early_next(struct wh_endpoint *endpoint, uint64_t now_tsc)
{
	struct wh_early *early = &endpoint->early;

	while (early->at < early->pkts) {
		struct wh_early_pkt *pkt = &early->pkt[early->at++];

		if (is_due(endpoint, now_tsc, pkt)) {
			memcpy(endpoint->via, pkt->via, sizeof(pkt->via));
			return pkt;
		}
		if (++early->left < early->at)
			early->pkt[early->left - 1] = *pkt;
	}
	early->replaying = false;
	early->pkts = early->left;
	return NULL;
}
