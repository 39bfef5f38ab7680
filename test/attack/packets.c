/* SPDX-License-Identifier: BSD-3-Clause */

/* Packets whose tag is right and whose content is not, to connections that nobody has. */

#include <string.h>

#include "attacker.h"
#include "wire/layout.h"

#define HOLES_BEYOND 4 /* more than a packet may have, up to what its length would let through */

/* From a stranger, and in the name of the peer; to the server and to the peer. */
static void everywhere(struct wh_attacker *attacker, uint8_t *bytes, size_t count)
{
	wh_attack_tag(bytes, count);
	wh_attack_to_server(attacker, &attacker->own, bytes, count);
	if (attacker->peer.family != 0)
		wh_attack_both_ways(attacker, bytes, count);
}

/* A receiver's report with so many holes, whether or not it may have them. */
static size_t make_state(uint8_t *bytes, uint32_t holes, uint8_t flags)
{
	struct wh_packet packet = wh_attack_example(WH_PACKET_RCV_REPORT, 0);
	struct wh_wire_head *head = (struct wh_wire_head *)bytes;
	uint8_t *end = head->body + WH_RCV_REPORT_BODY;
	size_t count = WH_RCV_REPORT_BYTES + WH_RANGES_BYTES(holes);

	packet.rcv_report.highest_end = packet.rcv_report.cover_end = 1000;
	wh_attack_encode(&packet, 0, bytes);
	head->flags = flags;
	memcpy(end - sizeof(holes), &holes, sizeof(holes)); /* n_holes, the body's last */
	for (uint32_t i = 0; i < holes; i++)
		memcpy(end + WH_RANGES_BYTES(i), &(struct wh_range){2 * i, 1},
			sizeof(struct wh_range));
	memset(bytes + count, 0, wh_report_behind_bytes(flags));
	return count + wh_report_behind_bytes(flags);
}

static void holes(struct wh_attacker *attacker)
{
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];

	for (uint32_t n = WH_RANGES_MAX - 1; n <= WH_RANGES_MAX + HOLES_BEYOND; n++)
		for (uint8_t flags = 0; flags < 2 * WH_FLAG_BEHIND; flags++)
			everywhere(attacker, bytes, make_state(bytes, n, flags));
}

static const uint64_t edges[] = {0, 1, 2, 3, 63, 64, 65, 127, 128, 129, 255, 256, 1023, 1024, 1025,
	9215, 9216, 9217, UINT16_MAX - 1, UINT16_MAX, UINT32_MAX - 1, UINT32_MAX,
	WH_WINDOW_PACKETS_MAX, WH_PN_MAX - 1, WH_PN_MAX, UINT64_MAX};

#define EDGES (sizeof(edges) / sizeof(edges[0]))

/* A value of so many bytes over whatever is there, lengths of other packets not minded. */
static void change(
	struct wh_attacker *attacker, const uint8_t *truth, size_t count, size_t at, size_t width)
{
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];
	size_t most = count - at < width ? count - at : width;

	for (size_t i = 0; i < EDGES; i++) {
		rte_le64_t wire = rte_cpu_to_le_64(edges[i]);

		if (width < sizeof(wire) && edges[i] >> (8 * width) != 0)
			break;
		memcpy(bytes, truth, count);
		memcpy(bytes + at, &wire, most);
		wh_attack_tag(bytes, count);
		wh_attack_to_server(attacker, &attacker->own, bytes, count);
	}
}

static size_t seed_of(enum wh_packet_type type, uint8_t *bytes)
{
	struct wh_packet packet = wh_attack_example(type, 0x1234567);

	return wh_attack_encode(&packet, 0, bytes);
}

static void every_field(struct wh_attacker *attacker, enum wh_packet_type type)
{
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];
	size_t count = seed_of(type, bytes);
	size_t end = count < WH_HEAD_BYTES + 72 ? count : WH_HEAD_BYTES + 72;

	for (size_t at = 2; at < end; at++) {
		if (at >= WH_TAG_OFFSET && at < WH_HEAD_BYTES)
			continue;
		change(attacker, bytes, count, at, 1);
		if (at % 2 == 0)
			change(attacker, bytes, count, at, 2);
		if (at % 4 == 0)
			change(attacker, bytes, count, at, 4);
		if (at % 8 == 0)
			change(attacker, bytes, count, at, 8);
	}
}

/* Of each length at and around the bounds of its type. */
static void every_length(struct wh_attacker *attacker, enum wh_packet_type type)
{
	const struct wh_packet_rule *rule = &wh_packet_rules[type];
	uint8_t bytes[WH_ATTACK_FRAME_BYTES] = {0};
	size_t lengths[] = {WH_HEAD_BYTES, rule->bytes_min - 1u, rule->bytes_min,
		rule->bytes_min + 1u, rule->bytes_min + 8u, rule->bytes_max - 8u,
		rule->bytes_max - 1u, rule->bytes_max, rule->bytes_max + 1u, rule->bytes_max + 8u};

	seed_of(type, bytes);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		if (lengths[i] >= WH_HEAD_BYTES && lengths[i] <= 1472)
			everywhere(attacker, bytes, lengths[i]);
}

static void bounds(struct wh_attacker *attacker)
{
	for (int type = 1; type < WH_PACKET_TYPES; type++) {
		every_length(attacker, (enum wh_packet_type)type);
		every_field(attacker, (enum wh_packet_type)type);
	}
}

const struct wh_attack wh_attacks_packets[] = {
	{"holes", 1, "receiver's reports with more holes than there are places for", holes},
	{"bounds", 1, "packets of each type with every field and length at its bounds", bounds},
	{0},
};
