/* SPDX-License-Identifier: BSD-3-Clause */
#include "udp/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "udp/errors.h"

/* Arrival time, segment length and drops; each is aligned. */
union control {
	char bytes[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(int)) +
		   CMSG_SPACE(sizeof(uint32_t)) + 64];
	struct cmsghdr align;
};

struct wh_udp_receiving {
	struct mmsghdr message[WH_UDP_MESSAGES];
	struct iovec part[WH_UDP_MESSAGES];
	union wh_sockaddr from[WH_UDP_MESSAGES];
	union control control[WH_UDP_MESSAGES];
	uint8_t room[WH_UDP_MESSAGES][WH_UDP_MESSAGE_ROOM_BYTES];
};

/* What the kernel says of a message beside its bytes. */
struct told {
	uint64_t stamp_ns; /* 0: none */
	uint32_t segment_bytes;
	uint32_t missed;
	bool has_missed;
};

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;
	int rc = clock_gettime(clock, &now);

	WH_ASSERT(rc == 0);
	return (uint64_t)now.tv_sec * WH_NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t time_of(const struct wh_udp *udp, uint64_t turn_tsc)
{
	return udp->config.read_tsc != NULL ? udp->config.read_tsc() : turn_tsc;
}

/* The wall clock first: if the CPU is lost in between, packets seem to have come later. */
static uint64_t read_clocks(struct wh_udp *udp, uint64_t turn_tsc)
{
	uint64_t wall_ns = read_ns(CLOCK_REALTIME);
	uint64_t monotonic_ns = read_ns(CLOCK_MONOTONIC);
	uint64_t now_tsc = time_of(udp, turn_tsc);

	wh_stamps_read(&udp->stamps, now_tsc, wall_ns, monotonic_ns);
	return now_tsc;
}

int wh_udp_init(struct wh_udp *udp, const struct wh_udp_config *config)
{
	*udp = (struct wh_udp){
		.config = *config,
		.stamps = {.hz = config->endpoint.hz},
		.segments_max = config->sockets.sends_segments ? WH_UDP_BURST : 1,
	};
	WH_ASSERT(config->sockets.fd[0] >= 0 || config->sockets.fd[1] >= 0);
	udp->receiving = aligned_alloc(64, (sizeof(*udp->receiving) + 63) / 64 * 64);

	int rc = udp->receiving != NULL ? wh_udp_batch_init(&udp->batch, config->mtu) : -ENOMEM;

	if (rc == 0)
		rc = wh_endpoint_init(&udp->endpoint, &config->endpoint);
	(void)read_clocks(udp, 0);
	if (rc != 0)
		wh_udp_free(udp);
	return rc;
}

void wh_udp_free(struct wh_udp *udp)
{
	wh_endpoint_free(&udp->endpoint);
	wh_udp_batch_free(&udp->batch);
	free(udp->receiving);
	udp->receiving = NULL;
	wh_udp_sockets_close(&udp->config.sockets);
}

static void prepare(struct wh_udp_receiving *receiving)
{
	for (uint32_t i = 0; i < WH_UDP_MESSAGES; i++) {
		receiving->part[i] = (struct iovec){
			.iov_base = receiving->room[i],
			.iov_len = WH_UDP_MESSAGE_ROOM_BYTES,
		};
		receiving->message[i].msg_hdr = (struct msghdr){
			.msg_name = &receiving->from[i],
			.msg_namelen = sizeof(receiving->from[i]),
			.msg_iov = &receiving->part[i],
			.msg_iovlen = 1,
			.msg_control = receiving->control[i].bytes,
			.msg_controllen = sizeof(receiving->control[i].bytes),
		};
	}
}

static void read_control(const struct cmsghdr *control, struct told *told)
{
	const void *data = CMSG_DATA(control);
	struct timespec stamp;
	int segment;

	if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SO_TIMESTAMPNS) {
		memcpy(&stamp, data, sizeof(stamp));
		told->stamp_ns = (uint64_t)stamp.tv_sec * WH_NS_PER_S + (uint64_t)stamp.tv_nsec;
	} else if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SO_RXQ_OVFL) {
		memcpy(&told->missed, data, sizeof(told->missed));
		told->has_missed = true;
	} else if (control->cmsg_level == IPPROTO_UDP && control->cmsg_type == UDP_GRO) {
		memcpy(&segment, data, sizeof(segment));
		told->segment_bytes = segment > 0 ? (uint32_t)segment : 0;
	}
}

static struct told read_controls(struct msghdr *header, uint32_t bytes)
{
	struct told told = {0};

	for (struct cmsghdr *i = CMSG_FIRSTHDR(header); i != NULL; i = CMSG_NXTHDR(header, i))
		read_control(i, &told);
	if (told.segment_bytes == 0)
		told.segment_bytes = bytes;
	return told;
}

/* Gives a message's datagrams to the endpoint; returns how many. An empty one counts, too. */
static uint32_t take_message(struct wh_udp *udp, uint32_t family, uint32_t i, uint64_t now_tsc)
{
	struct mmsghdr *message = &udp->receiving->message[i];
	struct told told = read_controls(&message->msg_hdr, message->msg_len);
	uint8_t *bytes = udp->receiving->room[i];
	uint32_t left = message->msg_len;
	uint32_t pkts = 0;
	struct wh_address from;

	if (told.has_missed && told.missed != udp->missed[family]) {
		wh_endpoint_overflowed(&udp->endpoint, now_tsc);
		udp->stats.dropped_pkts[WH_PORT_RX_MISSED] += told.missed - udp->missed[family];
		udp->missed[family] = told.missed;
	}
	if ((message->msg_hdr.msg_flags & MSG_TRUNC) != 0 ||
		!wh_sockaddr_read(&udp->receiving->from[i], &from)) {
		udp->stats.dropped_pkts[WH_PORT_RX_ERROR]++;
		return 1;
	}

	uint64_t arrived_tsc = wh_stamps_tsc(&udp->stamps, told.stamp_ns);

	do {
		uint32_t segment = left < told.segment_bytes ? left : told.segment_bytes;

		wh_endpoint_input(&udp->endpoint, now_tsc, wh_min_u64(arrived_tsc, now_tsc), bytes,
			segment, &from);
		bytes += segment;
		left -= segment;
		pkts++;
	} while (left > 0);
	udp->stats.rx_bytes += message->msg_len;
	return pkts;
}

static void read_errors(struct wh_udp *udp)
{
	for (uint32_t i = 0; i < WH_UDP_FAMILIES; i++)
		if (udp->config.sockets.fd[i] >= 0)
			wh_udp_errors_read(udp->config.sockets.fd[i], udp->watch);
}

/*
 * An ICMP error, perhaps forged, makes one call fail that would have received something: the next
 * one does.
 */
static int receive_messages(struct wh_udp *udp, int fd)
{
	int count;

	prepare(udp->receiving);
	count = recvmmsg(fd, udp->receiving->message, WH_UDP_MESSAGES, MSG_DONTWAIT, NULL);
	if (likely(count >= 0 || errno == EAGAIN || errno == EINTR))
		return count;
	if (udp->config.sockets.reports_errors)
		read_errors(udp);
	return recvmmsg(fd, udp->receiving->message, WH_UDP_MESSAGES, MSG_DONTWAIT, NULL);
}

/* One call. *pkts: datagrams so far. True: more may wait. */
static bool receive_some(
	struct wh_udp *udp, uint32_t family, int fd, uint64_t *now_tsc, uint32_t *pkts)
{
	struct wh_meter *meter = udp->config.endpoint.rx_meter;
	uint8_t before = wh_meter_enter(meter, WH_METER_PORT_RECEIVE);
	int count = receive_messages(udp, fd);
	uint32_t taken = 0;

	wh_meter_enter(meter, WH_METER_DECODE);
	if (count > 0)
		*now_tsc = read_clocks(udp, *now_tsc);
	for (int i = 0; i < count; i++)
		taken += take_message(udp, family, (uint32_t)i, *now_tsc);
	udp->stats.rx_pkts += taken;
	*pkts += taken;
	wh_meter_leave(meter, before);
	return count == WH_UDP_MESSAGES;
}

int32_t wh_udp_receive(void *state, uint64_t now_tsc)
{
	struct wh_udp *udp = state;
	uint32_t pkts = 0;

	if (unlikely(atomic_load_explicit(&udp->errors_due, memory_order_relaxed))) {
		atomic_store_explicit(&udp->errors_due, false, memory_order_relaxed);
		read_errors(udp);
	}
	for (uint32_t family = 0; family < WH_UDP_FAMILIES; family++) {
		int fd = udp->config.sockets.fd[family];
		uint32_t first = pkts;

		while (fd >= 0 && receive_some(udp, family, fd, &now_tsc, &pkts) &&
			pkts - first < WH_UDP_RECEIVE_MAX)
			;
	}
	return (int32_t)pkts + wh_endpoint_receive_poll(&udp->endpoint, now_tsc);
}

static void count_sent(struct wh_udp *udp, uint32_t messages)
{
	for (uint32_t i = 0; i < messages; i++) {
		const struct wh_udp_batch *batch = &udp->batch;

		udp->stats.tx_pkts += wh_udp_batch_message_pkts(batch, batch->next + i);
		udp->stats.tx_bytes += batch->message[batch->next + i].msg_len;
	}
	udp->batch.next += messages;
}

/* The messages from the next one on that go through the same socket, in the same way; it. */
static uint32_t same_socket(struct wh_udp *udp, int *fd)
{
	const struct wh_udp_batch *batch = &udp->batch;
	bool cut = wh_udp_batch_message_cut(batch, batch->next);
	sa_family_t family = batch->to[batch->next].any.sa_family;
	uint32_t end = batch->next + 1;

	*fd = udp->config.sockets.fd[family == AF_INET6];
	while (end < batch->messages && batch->to[end].any.sa_family == family &&
		wh_udp_batch_message_cut(batch, end) == cut)
		end++;
	if (unlikely(family == AF_INET6 && cut != udp->cuts)) {
		wh_udp_sockets_cut(*fd, cut);
		udp->cuts = cut;
	}
	return end - batch->next;
}

static bool cannot_cut(int error)
{
	return error == EIO || error == EINVAL || error == ENOPROTOOPT || error == EMSGSIZE;
}

/*
 * The kernel did not take the next message. False: it has no room now. A pending ICMP error fails
 * one call that has nothing to do with it, so a message has a second attempt.
 */
static bool after_refusal(struct wh_udp *udp, int error, bool *again)
{
	struct wh_udp_batch *batch = &udp->batch;
	uint32_t pkts = wh_udp_batch_message_pkts(batch, batch->next);

	if (error == EAGAIN || error == EWOULDBLOCK) {
		udp->stats.tx_full++;
		return false;
	}
	if (error == EINTR)
		return true;
	if (cannot_cut(error) && pkts > 1) {
		/* A device without checksums cannot cut; a shorter MTU may be for some time. */
		if (error == EIO || error == ENOPROTOOPT)
			udp->segments_max = 1;
		wh_udp_batch_split(batch);
		return true;
	}
	if (udp->config.sockets.reports_errors && !*again) {
		atomic_store_explicit(&udp->errors_due, true, memory_order_relaxed);
		*again = true;
		return true;
	}
	udp->stats.dropped_pkts[WH_PORT_TX_REFUSED] += pkts;
	batch->next++;
	*again = false;
	return true;
}

static void send_batch(struct wh_udp *udp)
{
	struct wh_udp_batch *batch = &udp->batch;
	bool again = false;
	int fd;

	while (wh_udp_batch_waits(batch)) {
		uint32_t count = same_socket(udp, &fd);
		int sent = sendmmsg(fd, &batch->message[batch->next], count, MSG_DONTWAIT);

		if (likely(sent > 0)) {
			count_sent(udp, (uint32_t)sent);
			again = false;
		} else if (!after_refusal(udp, errno, &again)) {
			break;
		}
	}
	wh_udp_batch_keep(batch);
}

/* Packets to families of which this end has no address have no way out. */
static uint32_t sendable(struct wh_udp *udp, struct wh_out *out, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (likely(udp->config.sockets.fd[wh_udp_place_of(out[i].to->family)] >= 0))
			out[kept++] = out[i];
		else
			udp->stats.dropped_pkts[WH_PORT_TX_REFUSED]++;
	}
	return kept;
}

int32_t wh_udp_send(void *state, uint64_t turn_tsc)
{
	struct wh_udp *udp = state;
	struct wh_meter *meter = udp->config.endpoint.tx_meter;
	struct wh_out out[WH_UDP_BURST];
	uint64_t now_tsc = time_of(udp, turn_tsc);
	int32_t work = wh_endpoint_send_poll(&udp->endpoint, now_tsc);
	uint32_t count = 0;

	uint8_t before = wh_meter_enter(meter, WH_METER_PORT_SEND);

	if (unlikely(wh_udp_batch_waits(&udp->batch)))
		send_batch(udp);
	if (likely(!wh_udp_batch_waits(&udp->batch))) {
		for (uint32_t i = 0; i < WH_UDP_BURST; i++)
			out[i].head = wh_udp_batch_slot(&udp->batch, i);
		count = wh_endpoint_output(&udp->endpoint, now_tsc, out, WH_UDP_BURST);
		wh_udp_batch_fill(&udp->batch, out, sendable(udp, out, count), udp->segments_max);
		send_batch(udp);
	}
	wh_meter_leave(meter, before);
	return work + (int32_t)count;
}

void wh_udp_watch(
	struct wh_udp *udp, struct wh_neighbour_watch *watch, const struct wh_address *peer)
{
	*watch = (struct wh_neighbour_watch){.next = udp->watch, .peer = *peer};
	udp->watch = watch;
}

void wh_udp_stats(const struct wh_udp *udp, struct wh_port_stats *stats)
{
	const uint64_t *from = (const uint64_t *)&udp->stats;
	uint64_t *to = (uint64_t *)stats;

	static_assert(sizeof(*stats) % sizeof(uint64_t) == 0, "all counters are of 64 bits");
	for (size_t i = 0; i < sizeof(*stats) / sizeof(uint64_t); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
