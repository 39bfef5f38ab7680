/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/join.h"

#include <errno.h>

#include <rte_mbuf.h>

#include "base/assert.h"
#include "base/clock.h"
#include "netem/partial_sum.h"
#include "wire/internet.h"

/*
 * Hand-overs per poll: more than a burst can bring in, so that packets that fell due while the
 * lcore was away are caught up with, but not all of them before the other direction gets its turn.
 */
#define HANDOVERS_MAX 4

/* Tags that do not count against the MTU: a customer's and a provider's. */
#define TAGS_MAX 2

/* In transit to or from a port: a burst of each, and the sending port's backlog. */
#define MOVING_PKTS (2 * WH_JOIN_BURST + WH_PORT_BACKLOG_PKTS)

static const char *const drop_names[WH_JOIN_DROPS] = {
	[WH_JOIN_DROP_OVERSIZE] = "longer than the MTU",
	[WH_JOIN_DROP_NO_ROOM] = "no room to hold them",
	[WH_JOIN_DROP_NO_MBUF] = "no buffer for a second copy",
	[WH_JOIN_DROP_PORT_FULL] = "not taken by the sending port",
};

const char *wh_join_drop_name(enum wh_join_drop drop)
{
	WH_ASSERT((unsigned int)drop < WH_JOIN_DROPS);
	return drop_names[drop];
}

/*
 * A cache overflows at 1.5 times its size; there are three: one per direction and the main lcore's.
 */
uint32_t wh_join_mbufs_needed(uint32_t items_max, uint32_t rx_descriptors, uint32_t tx_descriptors)
{
	uint64_t mbufs = (uint64_t)items_max + rx_descriptors + tx_descriptors + MOVING_PKTS +
			 3 * (WH_JOIN_POOL_CACHE * 3 / 2);

	return (uint32_t)wh_min_u64(mbufs, UINT32_MAX);
}

int wh_join_direction_init(
	struct wh_join_direction *direction, const struct wh_join_direction_config *config)
{
	WH_ASSERT(config->from != config->to && config->from->mtu == config->to->mtu);
	*direction = (struct wh_join_direction){
		.from = config->from,
		.to = config->to,
		.pool = config->pool,
		.clock = config->clock,
		.tap = config->tap,
		.late_tsc = wh_ns_to_tsc(config->hz, WH_JOIN_LATE_NS),
		.frame_bytes_max = (uint32_t)config->from->mtu + WH_ETHER_BYTES,
	};
	direction->netem =
		wh_netem_create(&config->netem, config->hz, config->clock(), config->items_max);
	return direction->netem != NULL ? 0 : -errno;
}

void wh_join_direction_free(struct wh_join_direction *direction)
{
	struct rte_mbuf *pkt;

	if (direction->netem == NULL)
		return;
	while ((pkt = wh_netem_take_any(direction->netem)) != NULL)
		rte_pktmbuf_free(pkt);
	wh_netem_destroy(direction->netem);
	direction->netem = NULL;
}

static bool is_tag(rte_be16_t type)
{
	return type == rte_cpu_to_be_16(WH_ETHER_TYPE_VLAN) ||
	       type == rte_cpu_to_be_16(WH_ETHER_TYPE_PROVIDER);
}

/* Tags do not count against the MTU: IEEE 802.3 3.2.7. */
static bool is_oversize(const struct wh_join_direction *direction, const struct rte_mbuf *pkt)
{
	uint32_t most_bytes = direction->frame_bytes_max;
	uint32_t at = offsetof(struct wh_ether_header, type);

	if (likely(pkt->pkt_len <= most_bytes))
		return false;
	for (uint32_t tags = 0; tags < TAGS_MAX; tags++) {
		rte_be16_t copy;
		const rte_be16_t *type = rte_pktmbuf_read(pkt, at, sizeof(copy), &copy);

		if (type == NULL || !is_tag(*type))
			break;
		most_bytes += WH_VLAN_BYTES;
		at += WH_VLAN_BYTES;
	}
	return pkt->pkt_len > most_bytes;
}

static void drop(
	struct wh_join_direction *direction, enum wh_join_drop reason, struct rte_mbuf *pkt)
{
	direction->stats.dropped_pkts[reason]++;
	rte_pktmbuf_free(pkt);
}

static void flip_bit(struct rte_mbuf *pkt, uint64_t bit)
{
	uint8_t *data = rte_pktmbuf_mtod(pkt, uint8_t *);

	if (pkt->data_len == 0) /* the peer of a shared-memory port may send this */
		return;
	bit %= (uint64_t)pkt->data_len * 8;
	data[bit / 8] ^= (uint8_t)(1U << bit % 8);
}

static void hold(struct wh_join_direction *direction, uint64_t due_tsc, struct rte_mbuf *pkt)
{
	if (unlikely(!wh_netem_hold(direction->netem, due_tsc, pkt)))
		drop(direction, WH_JOIN_DROP_NO_ROOM, pkt);
}

/* Admits a packet to the link, which keeps it, it and a copy, or neither. */
static void admit(struct wh_join_direction *direction, uint64_t now_tsc, struct rte_mbuf *pkt)
{
	struct wh_netem_fate fate;

	wh_netem_admit(direction->netem, now_tsc,
		RTE_MAX(pkt->pkt_len, (uint32_t)WH_ETHER_FRAME_BYTES_MIN) + WH_ETHER_WIRE_BYTES,
		&fate);
	if (unlikely(fate.copies == 0)) {
		rte_pktmbuf_free(pkt);
		return;
	}
	if (unlikely(fate.corrupt))
		flip_bit(pkt, fate.corrupt_bit);
	if (likely(fate.copies == 1)) {
		hold(direction, fate.due_tsc[0], pkt);
		return;
	}

	struct rte_mbuf *copy = rte_pktmbuf_copy(pkt, direction->pool, 0, UINT32_MAX);

	hold(direction, fate.due_tsc[0], pkt);
	if (copy == NULL)
		direction->stats.dropped_pkts[WH_JOIN_DROP_NO_MBUF]++;
	else
		hold(direction, fate.due_tsc[1], copy);
}

static uint32_t take_in(struct wh_join_direction *direction)
{
	struct rte_mbuf *pkts[WH_JOIN_BURST];
	uint16_t came = wh_port_receive(direction->from, 0, pkts, WH_JOIN_BURST);

	if (came == 0)
		return 0;

	uint64_t now_tsc = direction->clock();

	for (uint16_t i = 0; i < came; i++) {
		struct rte_mbuf *pkt = pkts[i];

		direction->stats.came_bytes += pkt->pkt_len;
		if (unlikely(direction->tap.frame != NULL))
			direction->tap.frame(direction->tap.context, pkt, now_tsc, false);
		/* The receiving port's offload flags mean something else to the sending port. */
		pkt->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
		if (unlikely(is_oversize(direction, pkt))) {
			drop(direction, WH_JOIN_DROP_OVERSIZE, pkt);
			continue;
		}
		if (unlikely(direction->stats.came_pkts < WH_JOIN_LOOKS))
			direction->stats.partial_sums += wh_has_partial_sum(pkt);
		admit(direction, now_tsc, pkt);
	}
	direction->stats.came_pkts += came;
	return came;
}

static uint32_t hand_over(struct wh_join_direction *direction)
{
	struct wh_netem_item items[WH_JOIN_BURST];
	struct rte_mbuf *pkts[WH_JOIN_BURST];
	uint64_t now_tsc = direction->clock();
	uint32_t due = wh_netem_take(direction->netem, now_tsc, items, WH_JOIN_BURST);

	for (uint32_t i = 0; i < due; i++) {
		uint64_t late_tsc = now_tsc - items[i].due_tsc;

		direction->stats.late_pkts += late_tsc > direction->late_tsc;
		direction->stats.late_tsc_max = RTE_MAX(direction->stats.late_tsc_max, late_tsc);
		pkts[i] = items[i].item;
		if (unlikely(direction->tap.frame != NULL))
			direction->tap.frame(direction->tap.context, pkts[i], now_tsc, true);
	}

	/* Also called with no packets, so that the port's backlog is sent. */
	uint32_t taken = wh_port_send(direction->to, 0, pkts, (uint16_t)due);

	for (uint32_t i = taken; i < due; i++)
		drop(direction, WH_JOIN_DROP_PORT_FULL, pkts[i]);
	direction->stats.went_pkts += taken;
	return due;
}

int32_t wh_join_direction_poll(void *state, uint64_t now_tsc)
{
	struct wh_join_direction *direction = state;
	uint32_t moved = take_in(direction);
	uint32_t due = WH_JOIN_BURST;

	(void)now_tsc;
	for (uint32_t i = 0; i < HANDOVERS_MAX && due == WH_JOIN_BURST; i++) {
		due = hand_over(direction);
		moved += due;
	}
	return (int32_t)moved;
}

bool wh_join_direction_adds_up(const struct wh_join_direction *direction)
{
	const struct wh_netem_stats *netem = wh_netem_stats(direction->netem);
	const struct wh_join_stats *own = &direction->stats;
	uint64_t lost = wh_netem_dropped_pkts(netem);

	for (uint32_t i = 0; i < WH_JOIN_DROPS; i++)
		lost += i == WH_JOIN_DROP_OVERSIZE ? 0 : own->dropped_pkts[i];
	return own->came_pkts == own->dropped_pkts[WH_JOIN_DROP_OVERSIZE] + netem->entered_pkts &&
	       netem->entered_pkts + netem->duplicated_pkts ==
		       own->went_pkts + lost + wh_netem_held(direction->netem);
}
