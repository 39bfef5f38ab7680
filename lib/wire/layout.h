/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The bytes of every packet type, private to lib/wire. Fields of fixed size are copied as they are
 * in struct wh_packet: fields_bytes of its union to head.fields, and body_bytes from body_at on to
 * the body. Repeated elements follow. Packets are read in place, at any alignment.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "wire/packet.h"

static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "fields travel as they are in memory");

struct wh_wire_head {
	uint8_t version;
	uint8_t type;
	uint8_t flags;
	uint8_t key;
	uint32_t cid;
	uint64_t pn;
	uint8_t fields[WH_FIELDS_BYTES];
	uint8_t tag[WH_TAG_BYTES];
	uint8_t body[];
} __attribute__((packed));

static_assert(offsetof(struct wh_wire_head, key) == WH_KEY_OFFSET, "key");
static_assert(offsetof(struct wh_wire_head, tag) == WH_TAG_OFFSET, "tag");
static_assert(offsetof(struct wh_wire_head, fields) == WH_FIELDS_OFFSET, "fields");
static_assert(sizeof(struct wh_wire_head) == WH_HEAD_BYTES, "head");

/* An option of OPEN; the struct in memory has padding. */
struct wh_wire_option {
	uint64_t bits;
	uint8_t number;
} __attribute__((packed));

/* Size of struct `type` up to and including `member`; its first bytes are in head.fields. */
#define WH_WIRE_END(type, member)                                                                  \
	(offsetof(struct type, member) + sizeof(((struct type *)0)->member))

#define WH_DATA_FIELDS     WH_WIRE_END(wh_data_fields, code)
#define WH_RCV_REPORT_BODY (WH_WIRE_END(wh_rcv_report, n_holes) - WH_FIELDS_BYTES)
#define WH_LOSSES_BYTES                                                                            \
	(WH_WIRE_END(wh_rcv_report, undecodable_blocks) - offsetof(struct wh_rcv_report, lost_pkts))
#define WH_DELIVERY_BYTES                                                                          \
	(WH_WIRE_END(wh_rcv_report, retransmitted_pkts) -                                          \
		offsetof(struct wh_rcv_report, delivered_pkts))
#define WH_PARAMS_BODY WH_WIRE_END(wh_open_params, reply_cookie)
#define WH_CRYPTO_BODY (WH_WIRE_END(wh_crypto, padding_bytes) - WH_FIELDS_BYTES)

/* Sums of the members' sizes: there is no padding. */
static_assert(WH_DATA_FIELDS == 8 + 2 * 4 + 7 * 2 + 1, "data, repair");
static_assert(WH_RCV_REPORT_BODY == 4 * 8 + 8 * 4, "receiver's report");
static_assert(WH_LOSSES_BYTES == 4 * 8, "losses");
static_assert(offsetof(struct wh_rcv_report, delivered_pkts) ==
		      WH_WIRE_END(wh_rcv_report, undecodable_blocks),
	"delivery is behind losses");
static_assert(WH_DELIVERY_BYTES == 2 * 8 + 8 * 4, "delivery");
static_assert(WH_WIRE_END(wh_trans_report, held_us) == WH_FIELDS_BYTES, "transmitter's report");
static_assert(WH_WIRE_END(wh_ack2, stamp_us) == 2 * 8 + 4, "ACK2");
static_assert(WH_WIRE_END(wh_nak, n_losses) == 8 + 2, "NAK");
static_assert(WH_WIRE_END(wh_delay_warning, pdt_milli) == 8 + 2 * 2, "delay warning");
static_assert(WH_WIRE_END(wh_bitmap, pkts) == 8 + 2, "bitmap");
static_assert(WH_PARAMS_BODY == 4 * 4 + 2 * 8 + 2 + 4 + 2 + 8 + 4 + WH_COOKIE_BYTES, "parameters");
static_assert(WH_WIRE_END(wh_open, answer_cid) == 2 * 4, "OPEN");
static_assert(WH_WIRE_END(wh_accept, refused) == 3 * 4 + WH_COOKIE_BYTES + 1, "ACCEPT");
static_assert(WH_WIRE_END(wh_confirm, cookie) == 4 + WH_COOKIE_BYTES, "CONFIRM");
static_assert(WH_WIRE_END(wh_release, status) == 3 * 8 + 2, "release");
static_assert(WH_WIRE_END(wh_probe, sa) == WH_FIELDS_BYTES, "probe");
static_assert(WH_WIRE_END(wh_probe_answer, status) == 8 + 3 * 4 + 2 * 2 + 1, "probe's answer");
static_assert(WH_WIRE_END(wh_cookie, cookie) == 8 + WH_COOKIE_BYTES, "cookie of a handshake");
static_assert(WH_WIRE_END(wh_crypto, acked) == WH_FIELDS_BYTES, "piece of a handshake");
static_assert(WH_CRYPTO_BODY == 2 * 2, "its lengths");
static_assert(WH_WIRE_END(wh_path, token) == 8, "challenge to a path");
static_assert(sizeof(struct wh_range) == 8 && sizeof(struct wh_wire_option) == 9, "what repeats");

/* Sizes without the variable part. */
#define WH_RCV_REPORT_BYTES (WH_HEAD_BYTES + WH_RCV_REPORT_BODY)
#define WH_PARAMS_BYTES     (WH_HEAD_BYTES + WH_PARAMS_BODY)
#define WH_RELEASE_BYTES    (WH_HEAD_BYTES + sizeof(struct wh_digest))
#define WH_RANGES_BYTES(n)  ((n) * sizeof(struct wh_range))
#define WH_WORDS_BYTES(n)   ((n) * sizeof(uint64_t))
#define WH_OPTIONS_BYTES(n) ((n) * sizeof(struct wh_wire_option))
#define WH_RCV_REPORT_BYTES_MAX                                                                    \
	(WH_RCV_REPORT_BYTES + WH_RANGES_BYTES(WH_RANGES_MAX) + WH_DELIVERY_BYTES)
#define WH_PARAMS_BYTES_MAX                                                                        \
	(WH_PARAMS_BYTES + WH_OPTIONS_BYTES(WH_OPEN_OPTIONS_MAX) + WH_NAME_BYTES_MAX)

static_assert(WH_RCV_REPORT_BYTES_MAX <= WH_CONTROL_BYTES_MAX,
	"a receiver state with all its holes fits");
static_assert(WH_RCV_REPORT_BYTES + WH_RANGES_BYTES(WH_HOLES_BESIDE_BOTH) + WH_LOSSES_BYTES +
			      WH_DELIVERY_BYTES <=
		      WH_RCV_REPORT_BYTES_MAX,
	"and so does one with everything behind fewer");
static_assert(WH_HEAD_BYTES + WH_RANGES_BYTES(WH_RANGES_MAX) <= WH_CONTROL_BYTES_MAX,
	"a NAK with all its losses fits");
static_assert(WH_HEAD_BYTES + WH_WORDS_BYTES(WH_BITMAP_WORDS_MAX) <= WH_CONTROL_BYTES_MAX,
	"the longest bitmap fits");
static_assert(WH_HEAD_BYTES + WH_WORDS_BYTES(WH_PROBE_WORDS_MAX) <= WH_CONTROL_BYTES_MAX,
	"an answer about a probe with all its words fits");
static_assert(WH_BITMAP_PKTS_MAX % 64 == 0, "the longest bitmap is of whole words");
static_assert(
	WH_PARAMS_BYTES_MAX <= WH_CONTROL_BYTES_MAX, "OPEN and CONFIRM with the longest name fit");
static_assert(WH_HEAD_BYTES + WH_CRYPTO_BODY + WH_CRYPTO_BYTES_MAX <= WH_CONTROL_BYTES_MAX,
	"the longest piece of a handshake fits");
/* No answer to a stranger is longer than the question: bounds amplification. */
static_assert(WH_HEAD_BYTES <= WH_PARAMS_BYTES, "ACCEPT is no longer than OPEN and CONFIRM");
static_assert(WH_CONTROL_BYTES_MAX + 40 + 8 <= 1280, "RFC 8200 5: every IPv6 path carries 1280");

/* Limits of a type that are checked before the rest of the packet is read, and its layout. */
struct wh_packet_rule {
	uint16_t bytes_min;
	uint16_t bytes_max;
	uint16_t flags_allowed; /* bit n: the flags byte may be n */
	uint16_t fields_bytes;  /* used of head.fields; the rest is reserved */
	uint16_t body_at;       /* offset in struct wh_packet */
	uint16_t body_bytes;
};

static_assert(WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX <= UINT16_MAX, "sizes fit into the rules");

extern const struct wh_packet_rule wh_packet_rules[WH_PACKET_TYPES];

static inline bool wh_packet_flags_allowed(const struct wh_packet_rule *rule, uint8_t flags)
{
	return flags < 16 && (rule->flags_allowed >> flags & 1) != 0;
}

/* Bytes behind the holes of a receiver's report. */
static inline size_t wh_report_behind_bytes(uint8_t flags)
{
	return (flags & WH_FLAG_LOSSES ? WH_LOSSES_BYTES : 0) +
	       (flags & WH_FLAG_DELIVERY ? WH_DELIVERY_BYTES : 0);
}

/* Length of the variable part, by the counts in the fixed part. */
size_t wh_packet_variable_bytes(const struct wh_packet *packet);
