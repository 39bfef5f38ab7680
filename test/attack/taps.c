/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What somebody does with frames that he has recorded elsewhere on the way: they say all that the
 * true ones say, since they are the true ones. And noise, as fast as the line takes it.
 */

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <rte_byteorder.h>

#include "attacker.h"
#include "base/assert.h"
#include "wire/internet.h"

#define FRAMES_MAX   4096
#define BURST        64
#define IPV4_AT      WH_ETHER_BYTES
#define PACKET_AT    (WH_ETHER_BYTES + WH_IPV4_BYTES + WH_UDP_BYTES)
#define TYPE_AT      (PACKET_AT + 1)
#define NOISE_BYTES  1514
#define OPENS        1000000
#define NOISES       4096
#define FIRST_OF_ALL UINT32_C(0x0b000000) /* 11.0.0.0 */

struct frame {
	uint32_t bytes;
	uint8_t data[WH_ATTACK_FRAME_BYTES];
};

/* Of the file: length and bytes, one frame behind the other; all are IPv4 and UDP. */
static struct frame *read_frames(const struct wh_attacker *attacker, uint32_t *count)
{
	struct frame *frames = calloc(FRAMES_MAX, sizeof(*frames));
	FILE *file = fopen(attacker->path, "rb");

	WH_ASSERT(frames != NULL && file != NULL);
	for (*count = 0; *count < FRAMES_MAX; (*count)++) {
		struct frame *frame = &frames[*count];

		if (fread(&frame->bytes, sizeof(frame->bytes), 1, file) != 1)
			break;
		WH_ASSERT(frame->bytes <= sizeof(frame->data) && frame->bytes >= PACKET_AT);
		if (fread(frame->data, frame->bytes, 1, file) != 1)
			break;
	}
	fclose(file);
	WH_ASSERT(*count > 0);
	return frames;
}

static void sum_ipv4(struct frame *frame)
{
	struct wh_ipv4_header *ip = (struct wh_ipv4_header *)(frame->data + IPV4_AT);

	ip->sum = 0;
	ip->sum = (uint16_t)~wh_sum_fold(wh_sum_add(0, ip, sizeof(*ip)));
}

static void swap(uint8_t *a, uint8_t *b, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		uint8_t kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

/* As they were, over and over. */
static void replayed(struct wh_attacker *attacker)
{
	uint32_t count;
	struct frame *frames = read_frames(attacker, &count);

	for (uint32_t i = 0; wh_attack_goes_on(attacker); i = (i + 1) % count)
		wh_attack_frame(attacker, frames[i].data, frames[i].bytes);
	wh_attack_note(attacker, "frames", count);
	free(frames);
}

/* Back to who sent them, as if the other end had. */
static void reflected(struct wh_attacker *attacker)
{
	uint32_t count;
	struct frame *frames = read_frames(attacker, &count);

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *data = frames[i].data;

		swap(data, data + 6, 6);
		swap(data + IPV4_AT + 12, data + IPV4_AT + 16, 4);
		swap(data + PACKET_AT - WH_UDP_BYTES, data + PACKET_AT - WH_UDP_BYTES + 2, 2);
	}
	for (uint32_t i = 0; wh_attack_goes_on(attacker); i = (i + 1) % count)
		wh_attack_frame(attacker, frames[i].data, frames[i].bytes);
	free(frames);
}

/* From an address of ours, and from others. */
static void borrowed(struct wh_attacker *attacker)
{
	uint32_t count;
	struct frame *frames = read_frames(attacker, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct wh_address from = wh_attack_beside(
			&attacker->own, i % 2 == 0 ? attacker->own.ip[3] : (uint8_t)(20 + i % 200));

		memcpy(frames[i].data + 6, attacker->own_mac, 6);
		memcpy(frames[i].data + IPV4_AT + 12, from.ip, 4);
		sum_ipv4(&frames[i]);
	}
	for (uint32_t i = 0; wh_attack_goes_on(attacker); i = (i + 1) % count)
		wh_attack_frame(attacker, frames[i].data, frames[i].bytes);
	free(frames);
}

/* Each bit of the first packet of each type, one at a time. */
static void flipped(struct wh_attacker *attacker)
{
	bool done[UINT8_MAX + 1] = {false};
	uint64_t types = 0;
	uint32_t count;
	struct frame *frames = read_frames(attacker, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct frame *frame = &frames[i];
		uint8_t type = frame->bytes > TYPE_AT ? frame->data[TYPE_AT] : 0;

		if (done[type])
			continue;
		done[type] = true;
		types |= UINT64_C(1) << type % 64;
		for (uint32_t bit = PACKET_AT * 8; bit < frame->bytes * 8; bit++) {
			frame->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			wh_attack_frame(attacker, frame->data, frame->bytes);
			frame->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	wh_attack_note(attacker, "types", types);
	free(frames);
}

/* Several frames in one system call; those that the line does not take are tried again. */
static void send_burst(struct wh_attacker *attacker, struct frame *frames)
{
	struct mmsghdr burst[BURST] = {0};
	struct iovec whole[BURST];
	uint32_t sent = 0;

	for (uint32_t i = 0; i < BURST; i++) {
		whole[i] = (struct iovec){frames[i].data, frames[i].bytes};
		burst[i].msg_hdr = (struct msghdr){.msg_iov = &whole[i], .msg_iovlen = 1};
		attacker->sent_bytes += frames[i].bytes;
	}
	while (sent < BURST && wh_attack_goes_on(attacker)) {
		int some = sendmmsg(attacker->raw, burst + sent, BURST - sent, 0);

		if (some <= 0)
			wh_attack_sleep_ms(1);
		else
			sent += (uint32_t)some;
	}
	attacker->sent_pkts += sent;
}

/* Of any length, to the server or to all; every second one begins as a frame of ours does. */
static void draw_noise(
	struct wh_attacker *attacker, const struct frame *honest, struct frame *frame)
{
	uint64_t word = 0;

	frame->bytes = 60 + (uint32_t)wh_prng_below(&attacker->prng, NOISE_BYTES - 60);
	for (uint32_t i = 0; i < frame->bytes; i++) {
		if (i % 8 == 0)
			word = wh_prng_u64(&attacker->prng);
		frame->data[i] = (uint8_t)(word >> i % 8 * 8);
	}
	if (wh_prng_below(&attacker->prng, 2) == 0)
		memcpy(frame->data, honest->data, wh_prng_below(&attacker->prng, honest->bytes));
	memcpy(frame->data, attacker->server_mac, 6);
	frame->data[6] &= 0xfe;
}

/* A packet of ours in its frame: an OPEN from that address. */
static void make_open(struct wh_attacker *attacker, const struct wh_address *from, uint32_t cid,
	struct frame *frame)
{
	struct wh_packet packet = wh_attack_example(WH_PACKET_OPEN, 0);
	struct wh_flow flow = {.source = *from, .target = attacker->server};
	struct wh_encap encap;
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];
	uint32_t packet_bytes;

	packet.open.params.initiator_cid = cid;
	packet_bytes = wh_attack_encode(&packet, 0, bytes);
	memcpy(flow.source_mac, attacker->own_mac, 6);
	memcpy(flow.target_mac, attacker->server_mac, 6);
	wh_encap_init(&encap, &flow);
	wh_encap_write(&encap, frame->data, bytes, packet_bytes, NULL, 0);
	memcpy(frame->data + encap.bytes, bytes, packet_bytes);
	frame->bytes = encap.bytes + packet_bytes;
}

static struct frame *make_frames(uint32_t count)
{
	struct frame *frames = calloc(count, sizeof(*frames));

	WH_ASSERT(frames != NULL);
	return frames;
}

/* Pauses, so that no more than the rate asked for went since the beginning. */
static void keep_rate(const struct wh_attacker *attacker)
{
	while (attacker->pps > 0 && wh_attack_goes_on(attacker) &&
		attacker->sent_pkts * UINT64_C(1000000000) / attacker->pps >
			wh_attack_now_ns() - attacker->began_ns)
		wh_attack_sleep_ms(1);
}

/* Drawn beforehand, so that the line sets the rate. */
static void noise(struct wh_attacker *attacker)
{
	struct frame *frames = make_frames(NOISES);
	struct frame honest;

	make_open(attacker, &attacker->own, 1, &honest);
	for (uint32_t i = 0; i < NOISES; i++)
		draw_noise(attacker, &honest, &frames[i]);
	while (wh_attack_goes_on(attacker) &&
		(attacker->count == 0 || attacker->sent_pkts < attacker->count)) {
		send_burst(
			attacker, frames + wh_prng_below(&attacker->prng, NOISES / BURST) * BURST);
		keep_rate(attacker);
	}
	free(frames);
}

/* A frame, each time from an address of its own, all over the world. */
static void from_everywhere(struct wh_attacker *attacker, const struct frame *frame)
{
	uint64_t count = attacker->count > 0 ? attacker->count : OPENS;
	struct frame *frames = make_frames(BURST);

	for (uint32_t i = 0; i < BURST; i++)
		frames[i] = *frame;
	for (uint32_t number = 0; attacker->sent_pkts < count && wh_attack_goes_on(attacker);) {
		for (uint32_t i = 0; i < BURST; i++, number++) {
			rte_be32_t from = rte_cpu_to_be_32(FIRST_OF_ALL + number);

			memcpy(frames[i].data + IPV4_AT + 12, &from, sizeof(from));
			sum_ipv4(&frames[i]);
		}
		send_burst(attacker, frames);
		keep_rate(attacker);
	}
	free(frames);
}

static void million(struct wh_attacker *attacker)
{
	struct frame frame;

	make_open(attacker, &attacker->own, 1, &frame);
	from_everywhere(attacker, &frame);
}

/* Of the same length, and in it nothing makes sense. */
static void garbage(struct wh_attacker *attacker)
{
	struct frame frame;

	make_open(attacker, &attacker->own, 1, &frame);
	memset(frame.data + PACKET_AT, 0x55, frame.bytes - PACKET_AT);
	from_everywhere(attacker, &frame);
}

/* Without a key: at our address each datagram goes back to its sender at once. */
static void mirror(struct wh_attacker *attacker)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(attacker->own.port)};
	const struct timeval look = {.tv_usec = 10000};
	const int no_sum = 1; /* else the kernel leaves the sum to a NIC, of which there is none */
	int door = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t returned = 0;

	memcpy(&here.sin_addr, attacker->own.ip, sizeof(here.sin_addr));
	WH_ASSERT(door >= 0 && setsockopt(door, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look)) == 0);
	WH_ASSERT(setsockopt(door, SOL_SOCKET, SO_NO_CHECK, &no_sum, sizeof(no_sum)) == 0);

	int rc = bind(door, (const struct sockaddr *)&here, sizeof(here));

	WH_ASSERT(rc == 0);
	while (wh_attack_goes_on(attacker)) {
		uint8_t bytes[WH_ATTACK_FRAME_BYTES];
		struct sockaddr_in from;
		socklen_t from_bytes = sizeof(from);
		ssize_t got = recvfrom(
			door, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &from_bytes);

		returned += got > 0 && sendto(door, bytes, (size_t)got, 0,
					       (const struct sockaddr *)&from, from_bytes) == got;
	}
	close(door);
	wh_attack_note(attacker, "returned", returned);
}

const struct wh_attack wh_attacks_taps[] = {
	{"mirror", 13, "what is said to us, back to who says it", mirror},
	{"replayed", 13, "recorded frames, as they were", replayed},
	{"reflected", 13, "recorded frames, back to who sent them", reflected},
	{"borrowed", 13, "recorded frames, from other addresses", borrowed},
	{"flipped", 13, "a packet of each type, each of its bits flipped once", flipped},
	{"noise", 14, "frames of any content, as fast as the line takes them", noise},
	{"garbage", 14, "as many datagrams of as many bytes as million's, of no content", garbage},
	{"million", 14, "OPENs, each from an address of its own", million},
	{0},
};
