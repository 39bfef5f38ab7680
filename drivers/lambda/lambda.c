/* SPDX-License-Identifier: BSD-3-Clause */
#include "lambda/lambda.h"

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
#define COPIES_MAX (2 * WH_LAMBDA_BURST)

/*
 * Hand-overs per poll and direction: more than a burst can bring in, so that packets that fell due
 * while the lcore was away are caught up with, but not all of them before anything else gets its
 * turn.
 */
#define HANDOVERS_MAX 4

/*
 * Payload that is not in the cache is prefetched some packets ahead: that halves the cost of a
 * frame of 1514 bytes (test/perf/lambda.c: 115 ns instead of 245). In longer segments the
 * processor's own prefetcher catches up, and prefetching every line gains nothing.
 */
#define PREFETCH_PKTS      2
#define PREFETCH_BYTES_MAX 1536

/* How late a poll may be on a machine that the lambda shares with other work. */
#define INGRESS_AHEAD_NS 100000

/* The ring driver truncates its ports' names to this size. */
#define PORT_NAME_BYTES  32
#define PORT_NAME_PREFIX "net_ring_"
static_assert(sizeof(PORT_NAME_PREFIX) + WH_LAMBDA_NAME_MAX + sizeof("_a") - 1 <= PORT_NAME_BYTES,
	"the longest name of a lambda makes a port name that is not cut");

/* One direction of the lambda. */
struct direction {
	struct rte_ring *from; /* into which the sender's port sends */
	struct rte_ring *to;   /* from which the receiver's port receives */
	struct wh_fibre *fibre;
	uint16_t to_ethdev;
	uint32_t n_spare;
	struct rte_mbuf *spare[COPIES_MAX];
	struct wh_lambda_stats stats;
} __rte_cache_aligned;

struct wh_lambda {
	struct direction direction[WH_LAMBDA_ENDS]; /* indexed by the sending end */
	uint16_t ethdev[WH_LAMBDA_ENDS];
	char port_name[WH_LAMBDA_ENDS][PORT_NAME_BYTES]; /* empty: not made */
	struct rte_mempool *pool;
	uint64_t (*read_tsc)(void);
	uint32_t frame_bytes_max; /* without a tag */
	uint64_t ahead_tsc;       /* how far ahead of time the ingress admits packets */
	int stamp_offset;
	uint64_t stamp_flag;
};

static uint32_t ring_pkts(const struct wh_lambda_config *config)
{
	return config->ring_pkts != 0 ? config->ring_pkts : WH_LAMBDA_RING_PKTS_DEFAULT;
}

static uint32_t padded_bytes(uint32_t frame_bytes)
{
	return RTE_MAX(frame_bytes, (uint32_t)WH_LAMBDA_FRAME_BYTES_MIN);
}

/*
 * Packets that wait for the ingress: those admitted ahead of time, and the burst that exceeds them.
 */
static uint64_t ingress_pkts(const struct wh_fibre_config *fibre, uint32_t wire_bytes)
{
	if (fibre->ingress_bps == 0)
		return 0;
	return wh_muldiv_u64(fibre->ingress_bps, INGRESS_AHEAD_NS, 8 * WH_NS_PER_S) / wire_bytes +
	       1 + WH_LAMBDA_BURST;
}

uint32_t wh_lambda_mbufs_needed(const struct wh_lambda_config *config, uint32_t frame_bytes)
{
	uint32_t wire_bytes = padded_bytes(frame_bytes) + WH_ETHER_WIRE_BYTES;
	/* An lcore's cache overflows at 1.5 times its size; both ends free into one. */
	uint64_t mbufs = 3 * (WH_LAMBDA_POOL_CACHE * 3 / 2);

	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++) {
		uint32_t items = wh_fibre_items_needed(&config->fibre[end], wire_bytes);

		if (items == UINT32_MAX)
			return UINT32_MAX;
		mbufs += (uint64_t)items + ring_pkts(config) + COPIES_MAX +
			 ingress_pkts(&config->fibre[end], wire_bytes);
	}
	return (uint32_t)RTE_MIN(mbufs, (uint64_t)UINT32_MAX);
}

/* In bulk while the pool has plenty; its last mbufs one by one. */
static void fill_spare(struct wh_lambda *lambda, struct direction *way, uint32_t wanted)
{
	WH_DEBUG_ASSERT(wanted <= COPIES_MAX);
	if (way->n_spare >= wanted)
		return;
	if (rte_pktmbuf_alloc_bulk(
		    lambda->pool, &way->spare[way->n_spare], wanted - way->n_spare) == 0) {
		way->n_spare = wanted;
		return;
	}
	while (way->n_spare < wanted) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(lambda->pool);

		if (mbuf == NULL)
			break;
		way->spare[way->n_spare++] = mbuf;
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
static void copy_and_hold(const struct wh_lambda *lambda, struct direction *way,
	const struct rte_mbuf *pkt, const struct wh_fibre_fate *fate)
{
	for (uint32_t i = 0; i < fate->copies; i++) {
		if (unlikely(way->n_spare == 0)) {
			way->stats.dropped_pkts[WH_LAMBDA_DROP_NO_MBUF]++;
			continue;
		}

		struct rte_mbuf *copy = way->spare[--way->n_spare];

		copy_frame(copy, pkt);
		if (unlikely(fate->corrupt))
			flip_bit(copy, fate->corrupt_bit);
		copy->port = way->to_ethdev;
		copy->ol_flags = lambda->stamp_flag;
		*RTE_MBUF_DYNFIELD(copy, lambda->stamp_offset, rte_mbuf_timestamp_t *) =
			fate->due_tsc[i];

		bool held = wh_fibre_hold(way->fibre, fate->due_tsc[i], copy);

		WH_ASSERT(held); /* the fibre holds as many as the pool has */
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
static bool is_oversize(const struct wh_lambda *lambda, const struct rte_mbuf *pkt)
{
	rte_be16_t copy;

	if (likely(pkt->pkt_len <= lambda->frame_bytes_max))
		return false;

	const rte_be16_t *type =
		rte_pktmbuf_read(pkt, offsetof(struct wh_ether_header, type), sizeof(copy), &copy);
	bool tagged = *type == rte_cpu_to_be_16(WH_ETHER_TYPE_VLAN);

	return pkt->pkt_len > lambda->frame_bytes_max + (tagged ? WH_VLAN_BYTES : 0);
}

/*
 * Like a NIC's wire: packets beyond the ingress rate stay in the sender's ring. Some are admitted
 * ahead of time, so that the wire does not run dry between two polls.
 *
 * The clock is read after the burst came: what was sent while this lcore was away, after its turn
 * began, would else be due before its time, and the path look shorter than it is.
 */
static uint32_t take_in(struct wh_lambda *lambda, struct direction *way, uint64_t turn_tsc)
{
	struct rte_mbuf *pkts[WH_LAMBDA_BURST];
	struct wh_fibre_fate fate;

	if (wh_fibre_ingress_free(way->fibre) > turn_tsc + lambda->ahead_tsc)
		return 0;

	uint32_t came = rte_ring_sc_dequeue_burst(way->from, (void **)pkts, WH_LAMBDA_BURST, NULL);

	if (came == 0)
		return 0;

	uint64_t now_tsc = lambda->read_tsc != NULL ? lambda->read_tsc() : turn_tsc;

	fill_spare(lambda, way, came);
	for (uint32_t i = 0; i < came; i++) {
		uint32_t frame_bytes = pkts[i]->pkt_len;

		if (i + PREFETCH_PKTS < came)
			prefetch_frame(pkts[i + PREFETCH_PKTS]);
		way->stats.sent_bytes += frame_bytes;
		if (unlikely(is_oversize(lambda, pkts[i]))) {
			way->stats.dropped_pkts[WH_LAMBDA_DROP_OVERSIZE]++;
			continue;
		}
		wh_fibre_admit(way->fibre, now_tsc, padded_bytes(frame_bytes) + WH_ETHER_WIRE_BYTES,
			&fate);
		if (unlikely(fate.copies > 1)) /* one more than was planned for in the burst */
			fill_spare(lambda, way, RTE_MIN(way->n_spare + 1, (uint32_t)COPIES_MAX));
		copy_and_hold(lambda, way, pkts[i], &fate);
	}
	way->stats.sent_pkts += came;
	rte_pktmbuf_free_bulk(pkts, came);
	return came;
}

static uint32_t hand_over(struct direction *way, uint64_t now_tsc)
{
	struct wh_fibre_item items[COPIES_MAX];
	struct rte_mbuf *pkts[COPIES_MAX];
	uint32_t due = wh_fibre_take(way->fibre, now_tsc, items, COPIES_MAX);

	if (due == 0)
		return 0;
	for (uint32_t i = 0; i < due; i++)
		pkts[i] = items[i].item;

	uint32_t taken = rte_ring_sp_enqueue_burst(way->to, (void **)pkts, due, NULL);

	way->stats.delivered_pkts += taken;
	if (unlikely(taken < due)) {
		way->stats.dropped_pkts[WH_LAMBDA_DROP_RING_FULL] += due - taken;
		rte_pktmbuf_free_bulk(&pkts[taken], due - taken);
	}
	return due;
}

int32_t wh_lambda_poll(void *lambda, uint64_t now_tsc)
{
	struct wh_lambda *self = lambda;
	uint32_t moved = 0;

	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++) {
		struct direction *way = &self->direction[end];
		uint32_t due = COPIES_MAX;

		moved += take_in(self, way, now_tsc);
		for (uint32_t i = 0; i < HANDOVERS_MAX && due == COPIES_MAX; i++) {
			due = hand_over(way, now_tsc);
			moved += due;
		}
	}
	return (int32_t)moved;
}

uint16_t wh_lambda_ethdev(const struct wh_lambda *lambda, enum wh_lambda_end end)
{
	WH_ASSERT((unsigned int)end < WH_LAMBDA_ENDS);
	return lambda->ethdev[end];
}

const struct wh_lambda_stats *wh_lambda_stats(
	const struct wh_lambda *lambda, enum wh_lambda_end sender)
{
	WH_ASSERT((unsigned int)sender < WH_LAMBDA_ENDS);
	return &lambda->direction[sender].stats;
}

const struct wh_fibre_stats *wh_lambda_path_stats(
	const struct wh_lambda *lambda, enum wh_lambda_end sender)
{
	WH_ASSERT((unsigned int)sender < WH_LAMBDA_ENDS);
	return wh_fibre_stats(lambda->direction[sender].fibre);
}

uint32_t wh_lambda_held(const struct wh_lambda *lambda, enum wh_lambda_end sender)
{
	WH_ASSERT((unsigned int)sender < WH_LAMBDA_ENDS);
	return wh_fibre_held(lambda->direction[sender].fibre);
}

/* Every packet that entered is accounted for. */
static void check_account(const struct direction *way)
{
	const struct wh_fibre_stats *fibre = wh_fibre_stats(way->fibre);
	const struct wh_lambda_stats *own = &way->stats;
	uint64_t lost = own->dropped_pkts[WH_LAMBDA_DROP_NO_MBUF] +
			own->dropped_pkts[WH_LAMBDA_DROP_RING_FULL];

	for (uint32_t i = 0; i < WH_FIBRE_DROPS; i++)
		lost += fibre->dropped_pkts[i];
	WH_ASSERT(
		own->sent_pkts == own->dropped_pkts[WH_LAMBDA_DROP_OVERSIZE] + fibre->entered_pkts);
	WH_ASSERT(fibre->entered_pkts + fibre->duplicated_pkts ==
		  own->delivered_pkts + lost + wh_fibre_held(way->fibre));
}

static void drain_ring(struct rte_ring *ring)
{
	struct rte_mbuf *pkts[WH_LAMBDA_BURST];
	uint32_t count;

	if (ring == NULL)
		return;
	while ((count = rte_ring_sc_dequeue_burst(ring, (void **)pkts, WH_LAMBDA_BURST, NULL)) > 0)
		rte_pktmbuf_free_bulk(pkts, count);
}

static void drain_fibre(struct wh_fibre *fibre)
{
	struct rte_mbuf *pkt;

	while ((pkt = wh_fibre_take_any(fibre)) != NULL)
		rte_pktmbuf_free(pkt);
}

static void close_direction(struct direction *way)
{
	drain_ring(way->from);
	drain_ring(way->to);
	if (way->fibre != NULL) {
		check_account(way);
		drain_fibre(way->fibre);
	}
	rte_pktmbuf_free_bulk(way->spare, way->n_spare);
	wh_fibre_destroy(way->fibre);
	rte_ring_free(way->from);
	rte_ring_free(way->to);
}

void wh_lambda_close(struct wh_lambda *lambda)
{
	if (lambda == NULL)
		return;
	/* Ports first, because they point at the rings. This also frees their names on the bus. */
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++)
		if (lambda->port_name[end][0] != '\0')
			(void)rte_vdev_uninit(lambda->port_name[end]);
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++)
		close_direction(&lambda->direction[end]);
	rte_free(lambda);
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

static int check_config(const struct wh_lambda_config *config, char *why, size_t why_bytes)
{
	WH_ASSERT(config->name != NULL && config->pool != NULL && config->hz > 0);

	size_t letters = strlen(config->name);
	uint32_t frame_bytes = (uint32_t)config->mtu + WH_ETHER_BYTES + WH_VLAN_BYTES;
	uint16_t room_bytes = rte_pktmbuf_data_room_size(config->pool);

	if (letters == 0 || letters > WH_LAMBDA_NAME_MAX)
		return fail(why, why_bytes, -EINVAL,
			"'%s' cannot name a lambda: choose 1 to %u letters", config->name,
			WH_LAMBDA_NAME_MAX);
	if (padded_bytes(frame_bytes) + RTE_PKTMBUF_HEADROOM > room_bytes)
		return fail(why, why_bytes, -EINVAL,
			"lambda %s at MTU %u: mbufs of pool %s have %u bytes, make them larger",
			config->name, config->mtu, config->pool->name, room_bytes);
	return 0;
}

/* RING_F_EXACT_SZ: a ring holds the number asked for, not one less than a power of two. */
static struct rte_ring *make_ring(
	const struct wh_lambda_config *config, uint32_t end, const char *use)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "%s_%c_%s", config->name, 'a' + (char)end, use);
	return rte_ring_create(name, ring_pkts(config), config->socket,
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

static int make_direction(struct direction *way, const struct wh_lambda_config *config,
	uint32_t end, uint64_t now_tsc, char *why, size_t why_bytes)
{
	way->from = make_ring(config, end, "tx");
	way->to = make_ring(config, end, "rx");
	if (way->from == NULL || way->to == NULL)
		return fail(why, why_bytes, -rte_errno,
			"lambda %s: no ring of %u packets (%s): is the name in use, or memory "
			"short?",
			config->name, ring_pkts(config), rte_strerror(rte_errno));
	way->fibre = wh_fibre_create(&config->fibre[end], config->hz, now_tsc, config->pool->size);
	if (way->fibre == NULL && errno == ENOMEM)
		return fail(why, why_bytes, -ENOMEM,
			"lambda %s: no memory for a fibre of %u packets", config->name,
			config->pool->size);
	if (way->fibre == NULL)
		return fail(why, why_bytes, -EINVAL,
			"lambda %s: the fibre from end %c makes no sense: check that shares are 0 "
			"to 1 "
			"and that rate and times are not absurd",
			config->name, 'a' + (char)end);
	return 0;
}

static int make_port(struct wh_lambda *lambda, const struct wh_lambda_config *config, uint32_t end,
	char *why, size_t why_bytes)
{
	uint32_t peer = WH_LAMBDA_ENDS - 1 - end;
	char name[PORT_NAME_BYTES - sizeof(PORT_NAME_PREFIX) + 1];

	snprintf(name, sizeof(name), "%s_%c", config->name, 'a' + (char)end);

	/* An end receives from the ring of the direction that starts at its peer. */
	int ethdev = rte_eth_from_rings(name, &lambda->direction[peer].to, 1,
		&lambda->direction[end].from, 1, (unsigned int)config->socket);

	if (ethdev < 0 || ethdev >= RTE_MAX_ETHPORTS)
		return fail(why, why_bytes, -ENODEV,
			"lambda %s: no port " PORT_NAME_PREFIX
			"%s: is the name in use, or are there %u "
			"ports?",
			config->name, name, RTE_MAX_ETHPORTS);
	snprintf(lambda->port_name[end], sizeof(lambda->port_name[end]), PORT_NAME_PREFIX "%s",
		name);
	lambda->ethdev[end] = (uint16_t)ethdev;
	lambda->direction[peer].to_ethdev = (uint16_t)ethdev;
	return 0;
}

static int make_all(struct wh_lambda *lambda, const struct wh_lambda_config *config,
	uint64_t now_tsc, char *why, size_t why_bytes)
{
	int error = 0;

	if (rte_mbuf_dyn_rx_timestamp_register(&lambda->stamp_offset, &lambda->stamp_flag) != 0)
		return fail(why, why_bytes, -rte_errno, "no room in mbufs for an arrival time (%s)",
			rte_strerror(rte_errno));
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS && error == 0; end++)
		error = make_direction(
			&lambda->direction[end], config, end, now_tsc, why, why_bytes);
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS && error == 0; end++)
		error = make_port(lambda, config, end, why, why_bytes);
	return error;
}

int wh_lambda_create(const struct wh_lambda_config *config, uint64_t now_tsc,
	struct wh_lambda **created, char *why, size_t why_bytes)
{
	int error = check_config(config, why, why_bytes);

	if (error != 0)
		return error;

	struct wh_lambda *lambda = rte_zmalloc_socket(
		"wh_lambda", sizeof(*lambda), RTE_CACHE_LINE_SIZE, config->socket);

	if (lambda == NULL)
		return fail(why, why_bytes, -ENOMEM,
			"no memory for lambda %s: reserve more hugepages", config->name);
	lambda->pool = config->pool;
	lambda->read_tsc = config->read_tsc;
	lambda->frame_bytes_max = (uint32_t)config->mtu + WH_ETHER_BYTES;
	lambda->ahead_tsc = wh_ns_to_tsc(config->hz, INGRESS_AHEAD_NS);
	error = make_all(lambda, config, now_tsc, why, why_bytes);
	if (error != 0) {
		wh_lambda_close(lambda);
		return error;
	}
	*created = lambda;
	return 0;
}
