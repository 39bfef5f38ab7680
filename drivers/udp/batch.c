/* SPDX-License-Identifier: BSD-3-Clause */
#include "udp/batch.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

int wh_udp_batch_init(struct wh_udp_batch *batch, uint16_t mtu)
{
	uint32_t bytes = (uint32_t)wh_max_u64(mtu, WH_CONTROL_BYTES_MAX);

	*batch = (struct wh_udp_batch){.slot_bytes = (bytes + 63) / 64 * 64};
	batch->memory = aligned_alloc(64, (size_t)WH_UDP_BURST * batch->slot_bytes);
	return batch->memory != NULL ? 0 : -ENOMEM;
}

void wh_udp_batch_free(struct wh_udp_batch *batch)
{
	free(batch->memory);
	batch->memory = NULL;
}

static void add_part(struct wh_udp_batch *batch, const uint8_t *bytes, uint32_t count)
{
	struct wh_udp_pkt *pkt = &batch->pkt[batch->pkts];

	batch->part[pkt->first_part + pkt->parts++] =
		(struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
	pkt->bytes += count;
}

static void add_pkt(struct wh_udp_batch *batch, const struct wh_out *out, uint32_t first_part)
{
	struct wh_udp_pkt *pkt = &batch->pkt[batch->pkts];
	bool behind = out->payload == out->head + out->head_bytes;

	*pkt = (struct wh_udp_pkt){
		.first_part = first_part,
		.cut = out->cut && out->to->family == WH_IPV6,
		.to = out->to,
	};
	add_part(batch, out->head, out->head_bytes + (behind ? out->payload_bytes : 0));
	if (!behind && out->payload_bytes > 0)
		add_part(batch, out->payload, out->payload_bytes);
	WH_ASSERT(pkt->bytes <= batch->slot_bytes);
	batch->pkts++;
}

/* Whether that packet goes behind those that a message has already. Segments are not cut. */
static bool joins(const struct wh_udp_batch *batch, uint32_t first, uint32_t i, uint64_t bytes,
	uint32_t segments_max)
{
	const struct wh_udp_pkt *head = &batch->pkt[first];
	const struct wh_udp_pkt *pkt = &batch->pkt[i];

	return i - first < segments_max && !head->cut && !pkt->cut && pkt->bytes <= head->bytes &&
	       batch->pkt[i - 1].bytes == head->bytes &&
	       bytes + pkt->bytes <= WH_UDP_MESSAGE_BYTES_MAX &&
	       (pkt->to == head->to || wh_address_equal(pkt->to, head->to));
}

static void tell_segments(struct wh_udp_batch *batch, uint32_t message, uint32_t bytes)
{
	struct msghdr *header = &batch->message[message].msg_hdr;
	uint16_t segment = (uint16_t)bytes;

	header->msg_control = batch->control[message].bytes;
	header->msg_controllen = sizeof(batch->control[message].bytes);

	struct cmsghdr *control = CMSG_FIRSTHDR(header);

	control->cmsg_level = IPPROTO_UDP;
	control->cmsg_type = UDP_SEGMENT;
	control->cmsg_len = CMSG_LEN(sizeof(segment));
	memcpy(CMSG_DATA(control), &segment, sizeof(segment));
}

/* The message of packets [first, end); `kept`: its target, NULL: that of its packets. */
static void add_message(
	struct wh_udp_batch *batch, uint32_t first, uint32_t end, const union wh_sockaddr *kept)
{
	uint32_t i = batch->messages++;
	const struct wh_udp_pkt *last = &batch->pkt[end - 1];
	uint32_t parts = last->first_part + last->parts - batch->pkt[first].first_part;
	socklen_t name_bytes;

	if (kept == NULL)
		name_bytes = wh_sockaddr_of(batch->pkt[first].to, &batch->to[i]);
	else {
		batch->to[i] = *kept;
		name_bytes =
			kept->any.sa_family == AF_INET6 ? sizeof(kept->ipv6) : sizeof(kept->ipv4);
	}
	batch->first_pkt[i] = first;
	batch->message[i] = (struct mmsghdr){
		.msg_hdr =
			{
				.msg_name = &batch->to[i],
				.msg_namelen = name_bytes,
				.msg_iov = &batch->part[batch->pkt[first].first_part],
				.msg_iovlen = parts,
			},
	};
	if (end - first > 1)
		tell_segments(batch, i, batch->pkt[first].bytes);
}

void wh_udp_batch_fill(
	struct wh_udp_batch *batch, const struct wh_out *out, uint32_t count, uint32_t segments_max)
{
	uint32_t parts = 0;
	uint32_t first = 0;

	WH_ASSERT(count <= WH_UDP_BURST && !wh_udp_batch_waits(batch));
	batch->pkts = 0;
	batch->messages = 0;
	batch->next = 0;
	for (uint32_t i = 0; i < count; i++) {
		add_pkt(batch, &out[i], parts);
		parts += batch->pkt[i].parts;
	}
	while (first < count) {
		uint64_t bytes = batch->pkt[first].bytes;
		uint32_t end = first + 1;

		while (end < count && joins(batch, first, end, bytes, segments_max))
			bytes += batch->pkt[end++].bytes;
		add_message(batch, first, end, NULL);
		first = end;
	}
}

/* The targets of packets may have gone since: those of the messages are used. */
void wh_udp_batch_split(struct wh_udp_batch *batch)
{
	union wh_sockaddr to[WH_UDP_BURST];
	uint32_t first = batch->first_pkt[batch->next];

	for (uint32_t m = batch->next; m < batch->messages; m++)
		for (uint32_t i = 0; i < wh_udp_batch_message_pkts(batch, m); i++)
			to[batch->first_pkt[m] + i] = batch->to[m];
	batch->messages = batch->next;
	for (uint32_t i = first; i < batch->pkts; i++)
		add_message(batch, i, i + 1, &to[i]);
}

void wh_udp_batch_keep(struct wh_udp_batch *batch)
{
	if (!wh_udp_batch_waits(batch))
		return;
	for (uint32_t i = batch->first_pkt[batch->next]; i < batch->pkts; i++) {
		struct wh_udp_pkt *pkt = &batch->pkt[i];
		const struct iovec *head = &batch->part[pkt->first_part];
		struct iovec *payload = &batch->part[pkt->first_part + 1];
		uint8_t *behind = (uint8_t *)head->iov_base + head->iov_len;

		if (pkt->parts == 1 || payload->iov_base == behind)
			continue;
		memcpy(behind, payload->iov_base, payload->iov_len);
		payload->iov_base = behind;
	}
}
