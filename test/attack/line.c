/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames onto the line, and packets into frames. */

#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "attacker.h"
#include "base/assert.h"
#include "closed.h"
#include "profile/profile.h"

#define NS_PER_S        UINT64_C(1000000000)
#define FRAME_BYTES_MIN 60
#define RETRY_US        50

void wh_attacker_open(struct wh_attacker *attacker);

static void fail(const char *what)
{
	fprintf(stderr, "attacker: %s: %s\n", what, strerror(errno));
	exit(1);
}

uint64_t wh_attack_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void wh_attack_sleep_ms(uint32_t ms)
{
	usleep(ms * 1000);
}

void wh_attacker_open(struct wh_attacker *attacker)
{
	struct ifreq request = {0};
	struct sockaddr_ll here = {.sll_family = AF_PACKET};
	int one = 1;

	attacker->raw = socket(AF_PACKET, SOCK_RAW, 0);
	if (attacker->raw < 0)
		fail("socket");
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", attacker->interface);
	if (ioctl(attacker->raw, SIOCGIFHWADDR, &request) != 0)
		fail(attacker->interface);
	memcpy(attacker->own_mac, request.ifr_hwaddr.sa_data, sizeof(attacker->own_mac));
	here.sll_ifindex = (int)if_nametoindex(attacker->interface);
	if (bind(attacker->raw, (const struct sockaddr *)&here, sizeof(here)) != 0)
		fail("bind");
	if (setsockopt(attacker->raw, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) != 0)
		fail("PACKET_QDISC_BYPASS");
}

/* Never ahead of the rate asked for. */
static void pause_for_rate(const struct wh_attacker *attacker)
{
	if (attacker->pps == 0)
		return;

	uint64_t due_ns = attacker->began_ns + attacker->sent_pkts * NS_PER_S / attacker->pps;
	uint64_t now_ns = wh_attack_now_ns();

	if (due_ns > now_ns)
		usleep((useconds_t)((due_ns - now_ns) / 1000));
}

void wh_attack_frame(struct wh_attacker *attacker, const uint8_t *frame, size_t bytes)
{
	uint8_t padded[FRAME_BYTES_MIN] = {0};

	if (bytes < sizeof(padded)) {
		memcpy(padded, frame, bytes);
		frame = padded;
		bytes = sizeof(padded);
	}
	while (send(attacker->raw, frame, bytes, 0) < 0) {
		if (errno != ENOBUFS && errno != EAGAIN)
			fail("send");
		usleep(RETRY_US);
	}
	attacker->sent_pkts++;
	attacker->sent_bytes += bytes;
	pause_for_rate(attacker);
}

void wh_attack_datagram(struct wh_attacker *attacker, const struct wh_address *from,
	const struct wh_address *to, const uint8_t to_mac[6], const uint8_t *bytes, size_t count)
{
	uint8_t frame[WH_ENCAP_BYTES_MAX + WH_ATTACK_FRAME_BYTES];
	struct wh_flow flow = {.source = *from, .target = *to};
	struct wh_encap encap;

	WH_ASSERT(count <= WH_ATTACK_FRAME_BYTES);
	memcpy(flow.source_mac, attacker->own_mac, sizeof(flow.source_mac));
	memcpy(flow.target_mac, to_mac, sizeof(flow.target_mac));
	wh_encap_init(&encap, &flow);
	wh_encap_write(&encap, frame, bytes, count, NULL, 0);
	memcpy(frame + encap.bytes, bytes, count);
	wh_attack_frame(attacker, frame, encap.bytes + count);
}

void wh_attack_to_server(struct wh_attacker *attacker, const struct wh_address *from,
	const uint8_t *bytes, size_t count)
{
	wh_attack_datagram(attacker, from, &attacker->server, attacker->server_mac, bytes, count);
}

void wh_attack_both_ways(struct wh_attacker *attacker, const uint8_t *bytes, size_t count)
{
	wh_attack_to_server(attacker, &attacker->peer, bytes, count);
	wh_attack_datagram(
		attacker, &attacker->server, &attacker->peer, attacker->peer_mac, bytes, count);
}

struct wh_address wh_attack_beside(const struct wh_address *address, uint8_t last)
{
	struct wh_address beside = *address;

	beside.ip[3] = last;
	return beside;
}

uint32_t wh_attack_encode(
	const struct wh_packet *packet, uint64_t token, uint8_t bytes[WH_ATTACK_FRAME_BYTES])
{
	return closed_encode(packet, token, bytes, WH_ATTACK_FRAME_BYTES);
}

void wh_attack_tag(uint8_t *bytes, size_t count)
{
	WH_ASSERT(count >= WH_HEAD_BYTES);

	uint64_t token;

	memcpy(&token, bytes + WH_HEAD_BYTES - sizeof(token), sizeof(token));
	closed_tag(bytes, count, token);
}

struct wh_open_params wh_attack_params(uint32_t initiator_cid)
{
	const struct wh_profile *profile = wh_profile_find("fixed");

	return (struct wh_open_params){
		.initiator_cid = initiator_cid,
		.profile = profile->number,
		.payload_bytes = 1408,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.window_pkts = 1024,
		.period_us = profile->feedback.period_us,
		.first_pn = 1000,
		.object_bytes = WH_OBJECT_BYTES_UNKNOWN,
		.name_bytes = 3,
		.name = "job",
	};
}

static const uint8_t some_payload[1408];

struct wh_packet wh_attack_example(enum wh_packet_type type, uint32_t cid)
{
	struct wh_packet packet = {.type = type, .cid = cid};

	switch (type) {
	case WH_PACKET_DATA:
	case WH_PACKET_REPAIR:
		packet.payload = some_payload;
		packet.data = (struct wh_data_fields){.k = 4, .payload_bytes = 1408};
		if (type == WH_PACKET_REPAIR) {
			packet.data.index = 4;
			packet.data.r = 2;
			packet.data.code = WH_FEC_RS;
			packet.data.blocks = 1;
			packet.data.last_bytes = 1408;
		}
		break;
	case WH_PACKET_RCV_REPORT:
		packet.rcv_report.upper = 1024;
		break;
	case WH_PACKET_NAK:
		packet.nak.n_losses = 1;
		packet.nak.losses[0].count = 1;
		break;
	case WH_PACKET_BITMAP:
		packet.bitmap.pkts = 64;
		break;
	case WH_PACKET_OPEN:
		packet.cid = 0;
		packet.open.params = wh_attack_params(7);
		break;
	case WH_PACKET_ACCEPT:
		packet.accept.acceptor_cid = cid | 1;
		break;
	case WH_PACKET_CONFIRM:
		packet.cid = 0;
		packet.confirm.params = wh_attack_params(7);
		packet.confirm.acceptor_cid = cid | 1;
		break;
	case WH_PACKET_RELEASE:
		packet.release.stage = WH_RELEASE_ABORT;
		packet.release.status = WH_STATUS_INTERRUPTED;
		break;
	case WH_PACKET_PROBE:
		packet.flags = WH_FLAG_ECHO;
		packet.probe.count = 1;
		break;
	case WH_PACKET_PROBE_ANSWER:
		packet.flags = WH_FLAG_ECHO;
		break;
	default:
		break;
	}
	return packet;
}
