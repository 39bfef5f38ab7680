/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A host on a link, in virtual time, and frames of others made by hand: nothing of what makes or
 * checks them here is shared with what is tested. Every frame that comes out is checked.
 *
 *   us     02:00:00:00:00:01  10.0.0.1/24  fd00::1/64  fe80::ff:fe00:1
 *   peer   02:00:00:00:00:02  10.0.0.2     fd00::2
 *   gate   02:00:00:00:00:fe  10.0.0.254   fe80::fe
 */

#include <stddef.h>

#include "neighbour/neighbour.h"
#include "unit.h"

#define RIG_HZ      UINT64_C(1000000000)
#define RIG_MS      (RIG_HZ / 1000)
#define RIG_S       RIG_HZ
#define RIG_BYTES   9728 /* room for any frame of an MTU of 9600 */
#define RIG_ENTRIES 64

struct rig {
	struct wh_neighbour host;
	uint64_t now;
	uint8_t frame[RIG_BYTES]; /* the last one that came out */
	size_t bytes;
};

extern const uint8_t rig_us[6], rig_peer[6], rig_gate[6], rig_other[6], rig_all[6], rig_none[6];
extern const uint8_t rig_us4[4], rig_peer4[4], rig_gate4[4];
extern const uint8_t rig_us6[16], rig_link6[16], rig_peer6[16], rig_gate6[16];
extern const uint8_t rig_us6_group[16], rig_all6[16], rig_none6[16];

struct wh_neighbour_config rig_config(void);
void rig_open(struct rig *rig, const struct wh_neighbour_config *config);
void rig_open_default(struct rig *rig);
void rig_close(struct rig *rig);

/* From a block of exactly that size, so that a sanitizer sees any byte read beyond. */
enum wh_neighbour_reason rig_feed(struct rig *rig, const uint8_t *frame, size_t bytes);

/* The next frame out, checked, in rig->frame; its length, 0: none. */
size_t rig_take(struct rig *rig);

/* How many frames come out now. */
uint32_t rig_take_all(struct rig *rig);

/* The next frame out is that one. */
bool rig_take_is(struct rig *rig, const uint8_t *frame, size_t bytes);

struct wh_address rig_ip4(uint8_t a, uint8_t b, uint8_t c, uint8_t d);
struct wh_address rig_ip6(const uint8_t ip[16]);

/* A lookup that must give that way, and when found, that MAC. */
void rig_expect(struct rig *rig, const struct wh_address *target, enum wh_neighbour_result result,
	const uint8_t *mac, int line);

#define RIG_EXPECT(rig, target, result, mac)                                                       \
	do {                                                                                       \
		struct wh_address rig_target = (target);                                           \
		rig_expect(rig, &rig_target, result, mac, __LINE__);                               \
	} while (0)

/* The Internet checksum as in RFC 1071 1: two bytes at a time, big-endian. */
uint16_t rig_sum(const uint8_t *bytes, size_t count, uint32_t start);

/* Sums of IPv4 header and ICMP message made right again, in frames of any VLAN. */
void rig_resum(uint8_t *frame, size_t bytes);

/* Frames, each of which returns its length; those below 60 bytes are padded. */
size_t rig_arp(uint8_t *frame, const uint8_t to[6], uint8_t operation, const uint8_t mac[6],
	const uint8_t ip[4], const uint8_t target_mac[6], const uint8_t target_ip[4]);
size_t rig_echo4(uint8_t *frame, uint8_t type, const uint8_t mac[6], const uint8_t ip[4],
	const uint8_t to[4], size_t data_bytes);
size_t rig_echo6(uint8_t *frame, uint8_t type, const uint8_t mac[6], const uint8_t ip[16],
	const uint8_t to[16], size_t data_bytes);

struct rig_ndp {
	uint8_t type;
	uint8_t flags;
	uint8_t option; /* type of the one with `mac`; 0: none */
	const uint8_t *mac;
	const uint8_t *ip;
	const uint8_t *to;
	const uint8_t *target;
};

/* The frame's target MAC follows from `to`: ours or a group's. */
size_t rig_ndp(uint8_t *frame, const struct rig_ndp *ndp);

/* What the peer says. */
size_t rig_arp_request(uint8_t *frame);
size_t rig_arp_reply(uint8_t *frame);
size_t rig_solicitation(uint8_t *frame);
size_t rig_advertisement(uint8_t *frame); /* solicited, override */
