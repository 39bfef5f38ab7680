/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/emulator.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include "base/assert.h"
#include "base/clock.h"
#include "wire/internet.h"

/*
 * Copies kept ready per direction, for a burst in which every packet is duplicated; also the most
 * that are handed over at once.
 */
#define COPIES_MAX (2 * WH_EMULATOR_BURST)

/*
 * Hand-overs per poll and direction: more than a burst can bring in, so that packets that fell due
 * while the lcore was away are caught up with, but not all of them before anything else gets its
 * turn.
 */
#define HANDOVERS_MAX 4

/*
 * Payload that is not in the cache is prefetched some packets ahead: that halves the cost of a
 * frame of 1514 bytes (test/perf/emulator.c: 115 ns instead of 245). In longer segments the
 * processor's own prefetcher catches up, and prefetching every line gains nothing.
 */
#define PREFETCH_PKTS      2
#define PREFETCH_BYTES_MAX 1536

/* How late a poll may be on a machine that the link shares with other work. */
#define INGRESS_AHEAD_NS 100000

/* The ring driver truncates its ports' names to this size. */
#define PORT_NAME_BYTES  32
#define PORT_NAME_PREFIX "net_ring_"
static_assert(sizeof(PORT_NAME_PREFIX) + WH_EMULATOR_NAME_MAX + sizeof("_a") - 1 <= PORT_NAME_BYTES,
	"the longest name of an emulated link makes a port name that is not cut");

/* One direction of the link. */
struct direction {
	struct rte_ring *from; /* into which the sender's port sends */
	struct rte_ring *to;   /* from which the receiver's port receives */
	struct wh_netem *netem;
	uint16_t to_ethdev;
	uint32_t n_spare;
	struct rte_mbuf *spare[COPIES_MAX];
	struct wh_emulator_stats stats;
} __rte_cache_aligned;

struct wh_emulator {
	struct direction direction[WH_EMULATOR_ENDS]; /* indexed by the sending end */
	uint16_t ethdev[WH_EMULATOR_ENDS];
	char port_name[WH_EMULATOR_ENDS][PORT_NAME_BYTES]; /* empty: not made */
	struct rte_mempool *pool;
	uint64_t (*read_tsc)(void);
	uint32_t frame_bytes_max; /* without a tag */
	uint64_t ahead_tsc;       /* how far ahead of time the ingress admits packets */
	int stamp_offset;
	uint64_t stamp_flag;
};

static uint32_t ring_pkts(const struct wh_emulator_config *config)
{
	return config->ring_pkts != 0 ? config->ring_pkts : WH_EMULATOR_RING_PKTS_DEFAULT;
}

static uint32_t padded_bytes(uint32_t frame_bytes)
{
	return RTE_MAX(frame_bytes, (uint32_t)WH_ETHER_FRAME_BYTES_MIN);
}

/*
 * Packets that wait for the ingress: those admitted ahead of time, and the burst that exceeds them.
 */
static uint64_t ingress_pkts(const struct wh_link_model *netem, uint32_t wire_bytes)
{
	if (netem->ingress_bps == 0)
		return 0;
	return wh_muldiv_u64(netem->ingress_bps, INGRESS_AHEAD_NS, 8 * WH_NS_PER_S) / wire_bytes +
	       1 + WH_EMULATOR_BURST;
}

uint32_t wh_emulator_mbufs_needed(const struct wh_emulator_config *config, uint32_t frame_bytes)
{
	uint32_t wire_bytes = padded_bytes(frame_bytes) + WH_ETHER_WIRE_BYTES;
	/* An lcore's cache overflows at 1.5 times its size; both ends free into one. */
	uint64_t mbufs = 3 * (WH_EMULATOR_POOL_CACHE * 3 / 2);

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		uint32_t items = wh_netem_items_needed(&config->netem[end], wire_bytes);

		if (items == UINT32_MAX)
			return UINT32_MAX;
		mbufs += (uint64_t)items + ring_pkts(config) + COPIES_MAX +
			 ingress_pkts(&config->netem[end], wire_bytes);
	}
	return (uint32_t)RTE_MIN(mbufs, (uint64_t)UINT32_MAX);
}

/* In bulk while the pool has plenty; its last mbufs one by one. */
static void fill_spare(struct wh_emulator *emulator, struct direction *direction, uint32_t wanted)
{
	WH_DEBUG_ASSERT(wanted <= COPIES_MAX);
	if (direction->n_spare >= wanted)
		return;
	if (rte_pktmbuf_alloc_bulk(emulator->pool, &direction->spare[direction->n_spare],
		    wanted - direction->n_spare) == 0) {
		direction->n_spare = wanted;
		return;
	}
	while (direction->n_spare < wanted) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(emulator->pool);

		if (mbuf == NULL)
			break;
		direction->spare[direction->n_spare++] = mbuf;
	}
}

/*
 * Copies all segments of `from` into the single one of `to`, padded as a NIC pads. memcpy because
 * it chooses vector code at run time: built for DPDK's base architecture, rte_memcpy takes 195 ns
 * for 9014 bytes where memcpy takes 135.
 */
static void copy_frame(struct rte_mbuf *to, const struct rte_mbuf *from)
{
	uint32_t bytes = padded_bytes(from->pkt_len);
	uint8_t *frame = rte_pktmbuf_mtod(to, uint8_t *);
	uint32_t done_bytes = 0;

	for (const struct rte_mbuf *segment = from; segment != NULL; segment = segment->next) {
		memcpy(frame + done_bytes, rte_pktmbuf_mtod(segment, const void *),
			segment->data_len);
		done_bytes += segment->data_len;
	}
	WH_DEBUG_ASSERT(done_bytes == from->pkt_len);
	if (unlikely(done_bytes < bytes))
		memset(frame + done_bytes, 0, bytes - done_bytes);
	to->data_len = (uint16_t)bytes;
	to->pkt_len = bytes;
}

static void flip_bit(struct rte_mbuf *pkt, uint64_t bit)
{
	bit %= UINT64_C(8) * pkt->data_len;
	rte_pktmbuf_mtod(pkt, uint8_t *)[bit / 8] ^= (uint8_t)(1U << (bit % 8));
}

/*
 * The stamp is written now, while the mbuf is in the cache, so that handing over touches no packet.
 */
static void copy_and_hold(const struct wh_emulator *emulator, struct direction *direction,
	const struct rte_mbuf *pkt, const struct wh_netem_fate *fate)
{
	for (uint32_t i = 0; i < fate->copies; i++) {
		if (unlikely(direction->n_spare == 0)) {
			direction->stats.dropped_pkts[WH_EMULATOR_DROP_NO_MBUF]++;
			continue;
		}

		struct rte_mbuf *copy = direction->spare[--direction->n_spare];

		copy_frame(copy, pkt);
		if (unlikely(fate->corrupt))
			flip_bit(copy, fate->corrupt_bit);
		copy->port = direction->to_ethdev;
		copy->ol_flags = emulator->stamp_flag;
		*RTE_MBUF_DYNFIELD(copy, emulator->stamp_offset, rte_mbuf_timestamp_t *) =
			fate->due_tsc[i];

		bool held = wh_netem_hold(direction->netem, fate->due_tsc[i], copy);

		WH_ASSERT(held); /* the link holds as many as the pool has */
	}
}

static void prefetch_frame(const struct rte_mbuf *pkt)
{
	for (const struct rte_mbuf *segment = pkt; segment != NULL; segment = segment->next) {
		const uint8_t *data = rte_pktmbuf_mtod(segment, const uint8_t *);

		if (segment->data_len > PREFETCH_BYTES_MAX)
			continue;
		for (uint32_t i = 0; i < segment->data_len; i += RTE_CACHE_LINE_SIZE)
			rte_prefetch0(data + i);
	}
}

/* A VLAN tag does not count against the MTU: IEEE 802.3 3.2.7. */
static bool is_oversize(const struct wh_emulator *emulator, const struct rte_mbuf *pkt)
{
	rte_be16_t copy;

	if (likely(pkt->pkt_len <= emulator->frame_bytes_max))
		return false;

	const rte_be16_t *type =
		rte_pktmbuf_read(pkt, offsetof(struct wh_ether_header, type), sizeof(copy), &copy);
	bool tagged = *type == rte_cpu_to_be_16(WH_ETHER_TYPE_VLAN);

	return pkt->pkt_len > emulator->frame_bytes_max + (tagged ? WH_VLAN_BYTES : 0);
}

/*
 * Like a NIC's wire: packets beyond the ingress rate stay in the sender's ring. Some are admitted
 * ahead of time, so that the wire does not run dry between two polls.
 *
 * The clock is read after the burst came: what was sent while this lcore was away, after its turn
 * began, would else be due before its time, and the path look shorter than it is.
 */
static uint32_t take_in(
	struct wh_emulator *emulator, struct direction *direction, uint64_t turn_tsc)
{
	struct rte_mbuf *pkts[WH_EMULATOR_BURST];
	struct wh_netem_fate fate;

	if (wh_netem_ingress_free(direction->netem) > turn_tsc + emulator->ahead_tsc)
		return 0;

	uint32_t came =
		rte_ring_sc_dequeue_burst(direction->from, (void **)pkts, WH_EMULATOR_BURST, NULL);

	if (came == 0)
		return 0;

	uint64_t now_tsc = emulator->read_tsc != NULL ? emulator->read_tsc() : turn_tsc;

	fill_spare(emulator, direction, came);
	for (uint32_t i = 0; i < came; i++) {
		uint32_t frame_bytes = pkts[i]->pkt_len;

		if (i + PREFETCH_PKTS < came)
			prefetch_frame(pkts[i + PREFETCH_PKTS]);
		direction->stats.sent_bytes += frame_bytes;
		if (unlikely(is_oversize(emulator, pkts[i]))) {
			direction->stats.dropped_pkts[WH_EMULATOR_DROP_OVERSIZE]++;
			continue;
		}
		wh_netem_admit(direction->netem, now_tsc,
			padded_bytes(frame_bytes) + WH_ETHER_WIRE_BYTES, &fate);
		if (unlikely(fate.copies > 1)) /* one more than was planned for in the burst */
			fill_spare(emulator, direction,
				RTE_MIN(direction->n_spare + 1, (uint32_t)COPIES_MAX));
		copy_and_hold(emulator, direction, pkts[i], &fate);
	}
	direction->stats.sent_pkts += came;
	rte_pktmbuf_free_bulk(pkts, came);
	return came;
}

static uint32_t hand_over(struct direction *direction, uint64_t now_tsc)
{
	struct wh_netem_item items[COPIES_MAX];
	struct rte_mbuf *pkts[COPIES_MAX];
	uint32_t due = wh_netem_take(direction->netem, now_tsc, items, COPIES_MAX);

	if (due == 0)
		return 0;
	for (uint32_t i = 0; i < due; i++)
		pkts[i] = items[i].item;

	uint32_t taken = rte_ring_sp_enqueue_burst(direction->to, (void **)pkts, due, NULL);

	direction->stats.delivered_pkts += taken;
	if (unlikely(taken < due)) {
		direction->stats.dropped_pkts[WH_EMULATOR_DROP_RING_FULL] += due - taken;
		rte_pktmbuf_free_bulk(&pkts[taken], due - taken);
	}
	return due;
}

int32_t wh_emulator_poll(void *emulator, uint64_t now_tsc)
{
	struct wh_emulator *self = emulator;
	uint32_t moved = 0;

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		struct direction *direction = &self->direction[end];
		uint32_t due = COPIES_MAX;

		moved += take_in(self, direction, now_tsc);
		for (uint32_t i = 0; i < HANDOVERS_MAX && due == COPIES_MAX; i++) {
			due = hand_over(direction, now_tsc);
			moved += due;
		}
	}
	return (int32_t)moved;
}

uint16_t wh_emulator_ethdev(const struct wh_emulator *emulator, enum wh_emulator_end end)
{
	WH_ASSERT((unsigned int)end < WH_EMULATOR_ENDS);
	return emulator->ethdev[end];
}

const struct wh_emulator_stats *wh_emulator_stats(
	const struct wh_emulator *emulator, enum wh_emulator_end sender)
{
	WH_ASSERT((unsigned int)sender < WH_EMULATOR_ENDS);
	return &emulator->direction[sender].stats;
}

const struct wh_netem_stats *wh_emulator_path_stats(
	const struct wh_emulator *emulator, enum wh_emulator_end sender)
{
	WH_ASSERT((unsigned int)sender < WH_EMULATOR_ENDS);
	return wh_netem_stats(emulator->direction[sender].netem);
}

uint32_t wh_emulator_held(const struct wh_emulator *emulator, enum wh_emulator_end sender)
{
	WH_ASSERT((unsigned int)sender < WH_EMULATOR_ENDS);
	return wh_netem_held(emulator->direction[sender].netem);
}

/* Every packet that entered is accounted for. */
static void check_account(const struct direction *direction)
{
	const struct wh_netem_stats *netem = wh_netem_stats(direction->netem);
	const struct wh_emulator_stats *own = &direction->stats;
	uint64_t lost = wh_netem_dropped_pkts(netem) + own->dropped_pkts[WH_EMULATOR_DROP_NO_MBUF] +
			own->dropped_pkts[WH_EMULATOR_DROP_RING_FULL];

	WH_ASSERT(own->sent_pkts ==
		  own->dropped_pkts[WH_EMULATOR_DROP_OVERSIZE] + netem->entered_pkts);
	WH_ASSERT(netem->entered_pkts + netem->duplicated_pkts ==
		  own->delivered_pkts + lost + wh_netem_held(direction->netem));
}

static void drain_ring(struct rte_ring *ring)
{
	struct rte_mbuf *pkts[WH_EMULATOR_BURST];
	uint32_t count;

	if (ring == NULL)
		return;
	while ((count = rte_ring_sc_dequeue_burst(ring, (void **)pkts, WH_EMULATOR_BURST, NULL)) >
		0)
		rte_pktmbuf_free_bulk(pkts, count);
}

static void drain_netem(struct wh_netem *netem)
{
	struct rte_mbuf *pkt;

	while ((pkt = wh_netem_take_any(netem)) != NULL)
		rte_pktmbuf_free(pkt);
}

static void close_direction(struct direction *direction)
{
	drain_ring(direction->from);
	drain_ring(direction->to);
	if (direction->netem != NULL) {
		check_account(direction);
		drain_netem(direction->netem);
	}
	rte_pktmbuf_free_bulk(direction->spare, direction->n_spare);
	wh_netem_destroy(direction->netem);
	rte_ring_free(direction->from);
	rte_ring_free(direction->to);
}

void wh_emulator_close(struct wh_emulator *emulator)
{
	if (emulator == NULL)
		return;
	/* Ports first, because they point at the rings. This also frees their names on the bus. */
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		if (emulator->port_name[end][0] != '\0')
			(void)rte_vdev_uninit(emulator->port_name[end]);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		close_direction(&emulator->direction[end]);
	rte_free(emulator);
}

__attribute__((format(printf, 4, 5))) static int fail(
	char *why, size_t why_bytes, int error, const char *format, ...)
{
	va_list args;

	WH_ASSERT(error < 0);
	va_start(args, format);
	vsnprintf(why, why_bytes, format, args);
	va_end(args);
	return error;
}

static int check_config(const struct wh_emulator_config *config, char *why, size_t why_bytes)
{
	WH_ASSERT(config->name != NULL && config->pool != NULL && config->hz > 0);

	size_t letters = strlen(config->name);
	uint32_t frame_bytes = (uint32_t)config->mtu + WH_ETHER_BYTES + WH_VLAN_BYTES;
	uint16_t room_bytes = rte_pktmbuf_data_room_size(config->pool);

	if (letters == 0 || letters > WH_EMULATOR_NAME_MAX)
		return fail(why, why_bytes, -EINVAL,
			"'%s' cannot name an emulated link: choose 1 to %u letters", config->name,
			WH_EMULATOR_NAME_MAX);
	if (padded_bytes(frame_bytes) + RTE_PKTMBUF_HEADROOM > room_bytes)
		return fail(why, why_bytes, -EINVAL,
			"link %s at MTU %u: mbufs of pool %s have %u bytes, make them larger",
			config->name, config->mtu, config->pool->name, room_bytes);
	return 0;
}

/* RING_F_EXACT_SZ: a ring holds the number asked for, not one less than a power of two. */
static struct rte_ring *make_ring(
	const struct wh_emulator_config *config, uint32_t end, const char *use)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "%s_%c_%s", config->name, 'a' + (char)end, use);
	return rte_ring_create(name, ring_pkts(config), config->socket,
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

static int make_direction(struct direction *direction, const struct wh_emulator_config *config,
	uint32_t end, uint64_t now_tsc, char *why, size_t why_bytes)
{
	direction->from = make_ring(config, end, "tx");
	direction->to = make_ring(config, end, "rx");
	if (direction->from == NULL || direction->to == NULL)
		return fail(why, why_bytes, -rte_errno,
			"link %s: no ring of %u packets (%s): is the name in use, or memory "
			"short?",
			config->name, ring_pkts(config), rte_strerror(rte_errno));
	direction->netem =
		wh_netem_create(&config->netem[end], config->hz, now_tsc, config->pool->size);
	if (direction->netem == NULL && errno == ENOMEM)
		return fail(why, why_bytes, -ENOMEM,
			"link %s: no memory for an emulated link of %u packets", config->name,
			config->pool->size);
	if (direction->netem == NULL)
		return fail(why, why_bytes, -EINVAL,
			"link %s: the link from end %c makes no sense: check that shares are 0 "
			"to 1 "
			"and that rate and times are not absurd",
			config->name, 'a' + (char)end);
	return 0;
}

static int make_port(struct wh_emulator *emulator, const struct wh_emulator_config *config,
	uint32_t end, char *why, size_t why_bytes)
{
	uint32_t peer = WH_EMULATOR_ENDS - 1 - end;
	char name[PORT_NAME_BYTES - sizeof(PORT_NAME_PREFIX) + 1];

	snprintf(name, sizeof(name), "%s_%c", config->name, 'a' + (char)end);

	/* An end receives from the ring of the direction that starts at its peer. */
	int ethdev = rte_eth_from_rings(name, &emulator->direction[peer].to, 1,
		&emulator->direction[end].from, 1, (unsigned int)config->socket);

	if (ethdev < 0 || ethdev >= RTE_MAX_ETHPORTS)
		return fail(why, why_bytes, -ENODEV,
			"link %s: no port " PORT_NAME_PREFIX
			"%s: is the name in use, or are there %u "
			"ports?",
			config->name, name, RTE_MAX_ETHPORTS);
	snprintf(emulator->port_name[end], sizeof(emulator->port_name[end]), PORT_NAME_PREFIX "%s",
		name);
	emulator->ethdev[end] = (uint16_t)ethdev;
	emulator->direction[peer].to_ethdev = (uint16_t)ethdev;
	return 0;
}

static int make_all(struct wh_emulator *emulator, const struct wh_emulator_config *config,
	uint64_t now_tsc, char *why, size_t why_bytes)
{
	int error = 0;

	if (rte_mbuf_dyn_rx_timestamp_register(&emulator->stamp_offset, &emulator->stamp_flag) != 0)
		return fail(why, why_bytes, -rte_errno, "no room in mbufs for an arrival time (%s)",
			rte_strerror(rte_errno));
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS && error == 0; end++)
		error = make_direction(
			&emulator->direction[end], config, end, now_tsc, why, why_bytes);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS && error == 0; end++)
		error = make_port(emulator, config, end, why, why_bytes);
	return error;
}

int wh_emulator_create(const struct wh_emulator_config *config, uint64_t now_tsc,
	struct wh_emulator **created, char *why, size_t why_bytes)
{
	int error = check_config(config, why, why_bytes);

	if (error != 0)
		return error;

	struct wh_emulator *emulator = rte_zmalloc_socket(
		"wh_emulator", sizeof(*emulator), RTE_CACHE_LINE_SIZE, config->socket);

	if (emulator == NULL)
		return fail(why, why_bytes, -ENOMEM,
			"no memory for link %s: reserve more hugepages", config->name);
	emulator->pool = config->pool;
	emulator->read_tsc = config->read_tsc;
	emulator->frame_bytes_max = (uint32_t)config->mtu + WH_ETHER_BYTES;
	emulator->ahead_tsc = wh_ns_to_tsc(config->hz, INGRESS_AHEAD_NS);
	error = make_all(emulator, config, now_tsc, why, why_bytes);
	if (error != 0) {
		wh_emulator_close(emulator);
		return error;
	}
	*created = emulator;
	return 0;
}
