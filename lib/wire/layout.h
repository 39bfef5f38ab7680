/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_WIRE_LAYOUT_H
#define WH_WIRE_LAYOUT_H

/*
 * The bytes of every packet type, private to lib/wire. Each type has a struct for the 32 bytes of
 * head.fields, reserved bytes last; types that need more have a body struct, followed by the
 * variable part (payload, name or ranges). All structs are packed: packets are read in
 * place, wherever in a frame they begin.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "wire/packet.h"

#define WH_WIRE_FIELDS_BYTES 32

#define WH_WIRE_AT(name, member, offset)                                                           \
	static_assert(offsetof(struct name, member) == (offset), #name "." #member " moved")
#define WH_WIRE_SIZE(name, bytes)                                                                  \
	static_assert(sizeof(struct name) == (bytes), #name " has another size")

struct wh_wire_head {
	uint8_t version;
	uint8_t type;
	uint8_t flags;
	uint8_t key;
	rte_le32_t lci;
	rte_le64_t serial;
	uint8_t fields[WH_WIRE_FIELDS_BYTES];
	uint8_t tag[WH_TAG_BYTES];
	uint8_t body[];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_head, version, 0);
WH_WIRE_AT(wh_wire_head, type, 1);
WH_WIRE_AT(wh_wire_head, flags, 2);
WH_WIRE_AT(wh_wire_head, key, WH_KEY_OFFSET);
WH_WIRE_AT(wh_wire_head, lci, 4);
WH_WIRE_AT(wh_wire_head, serial, 8);
WH_WIRE_AT(wh_wire_head, fields, 16);
WH_WIRE_AT(wh_wire_head, tag, WH_TAG_OFFSET);
WH_WIRE_AT(wh_wire_head, body, WH_HEAD_BYTES);
WH_WIRE_SIZE(wh_wire_head, WH_HEAD_BYTES);

struct wh_wire_range {
	rte_le32_t offset;
	rte_le32_t count;
} __attribute__((packed));

WH_WIRE_AT(wh_wire_range, offset, 0);
WH_WIRE_AT(wh_wire_range, count, 4);
WH_WIRE_SIZE(wh_wire_range, 8);

/* Data and repair. Body: payload. */
struct wh_wire_data {
	rte_le64_t transmission;
	rte_le32_t chunk;
	rte_le32_t stamp_us;
	rte_le16_t blocks;
	rte_le16_t index;
	rte_le16_t k;
	rte_le16_t r;
	rte_le16_t payload_bytes;
	rte_le16_t last_bytes;
	uint8_t code;
	uint8_t reserved[3];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_data, transmission, 0);
WH_WIRE_AT(wh_wire_data, chunk, 8);
WH_WIRE_AT(wh_wire_data, stamp_us, 12);
WH_WIRE_AT(wh_wire_data, blocks, 16);
WH_WIRE_AT(wh_wire_data, index, 18);
WH_WIRE_AT(wh_wire_data, k, 20);
WH_WIRE_AT(wh_wire_data, r, 22);
WH_WIRE_AT(wh_wire_data, payload_bytes, 24);
WH_WIRE_AT(wh_wire_data, last_bytes, 26);
WH_WIRE_AT(wh_wire_data, code, 28);
WH_WIRE_AT(wh_wire_data, reserved, 29);
WH_WIRE_SIZE(wh_wire_data, WH_WIRE_FIELDS_BYTES);

struct wh_wire_rcv_state {
	rte_le64_t lower;
	rte_le64_t upper;
	rte_le64_t highest_end;
	rte_le64_t cover_first;
} __attribute__((packed));

WH_WIRE_AT(wh_wire_rcv_state, lower, 0);
WH_WIRE_AT(wh_wire_rcv_state, upper, 8);
WH_WIRE_AT(wh_wire_rcv_state, highest_end, 16);
WH_WIRE_AT(wh_wire_rcv_state, cover_first, 24);
WH_WIRE_SIZE(wh_wire_rcv_state, WH_WIRE_FIELDS_BYTES);

struct wh_wire_rcv_state_body {
	rte_le64_t cover_end;
	rte_le64_t received_pkts;
	rte_le64_t duplicate_pkts;
	rte_le64_t bad_pkts;
	rte_le32_t chunk_upper;
	rte_le32_t queued_chunks;
	rte_le32_t buffer_chunks;
	rte_le32_t arrival_pps;
	rte_le32_t capacity_pps;
	rte_le32_t rtt_us;
	rte_le32_t rtt_var_us;
	rte_le16_t n_holes;
	uint8_t reserved[2];
	struct wh_wire_range holes[];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_rcv_state_body, cover_end, 0);
WH_WIRE_AT(wh_wire_rcv_state_body, received_pkts, 8);
WH_WIRE_AT(wh_wire_rcv_state_body, duplicate_pkts, 16);
WH_WIRE_AT(wh_wire_rcv_state_body, bad_pkts, 24);
WH_WIRE_AT(wh_wire_rcv_state_body, chunk_upper, 32);
WH_WIRE_AT(wh_wire_rcv_state_body, queued_chunks, 36);
WH_WIRE_AT(wh_wire_rcv_state_body, buffer_chunks, 40);
WH_WIRE_AT(wh_wire_rcv_state_body, arrival_pps, 44);
WH_WIRE_AT(wh_wire_rcv_state_body, capacity_pps, 48);
WH_WIRE_AT(wh_wire_rcv_state_body, rtt_us, 52);
WH_WIRE_AT(wh_wire_rcv_state_body, rtt_var_us, 56);
WH_WIRE_AT(wh_wire_rcv_state_body, n_holes, 60);
WH_WIRE_AT(wh_wire_rcv_state_body, reserved, 62);
WH_WIRE_AT(wh_wire_rcv_state_body, holes, 64);
WH_WIRE_SIZE(wh_wire_rcv_state_body, 64);

/* After the holes, with WH_FLAG_LOSSES. */
struct wh_wire_losses {
	rte_le64_t lost_pkts;
	rte_le64_t loss_events;
	rte_le64_t repaired_pkts;
	rte_le32_t undecodable_blocks;
	uint8_t reserved[4];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_losses, lost_pkts, 0);
WH_WIRE_AT(wh_wire_losses, loss_events, 8);
WH_WIRE_AT(wh_wire_losses, repaired_pkts, 16);
WH_WIRE_AT(wh_wire_losses, undecodable_blocks, 24);
WH_WIRE_AT(wh_wire_losses, reserved, 28);
WH_WIRE_SIZE(wh_wire_losses, 32);

struct wh_wire_trans_state {
	rte_le64_t lower;
	rte_le64_t upper;
	rte_le64_t sent_pkts;
	rte_le32_t queued_pkts;
	rte_le32_t stamp_us;
} __attribute__((packed));

WH_WIRE_AT(wh_wire_trans_state, lower, 0);
WH_WIRE_AT(wh_wire_trans_state, upper, 8);
WH_WIRE_AT(wh_wire_trans_state, sent_pkts, 16);
WH_WIRE_AT(wh_wire_trans_state, queued_pkts, 24);
WH_WIRE_AT(wh_wire_trans_state, stamp_us, 28);
WH_WIRE_SIZE(wh_wire_trans_state, WH_WIRE_FIELDS_BYTES);

struct wh_wire_ack2 {
	rte_le64_t ack_serial;
	rte_le64_t lower;
	rte_le32_t stamp_us;
	uint8_t reserved[12];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_ack2, ack_serial, 0);
WH_WIRE_AT(wh_wire_ack2, lower, 8);
WH_WIRE_AT(wh_wire_ack2, stamp_us, 16);
WH_WIRE_AT(wh_wire_ack2, reserved, 20);
WH_WIRE_SIZE(wh_wire_ack2, WH_WIRE_FIELDS_BYTES);

/* Body: ranges. */
struct wh_wire_nak {
	rte_le64_t base;
	rte_le16_t n_losses;
	uint8_t reserved[22];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_nak, base, 0);
WH_WIRE_AT(wh_wire_nak, n_losses, 8);
WH_WIRE_AT(wh_wire_nak, reserved, 10);
WH_WIRE_SIZE(wh_wire_nak, WH_WIRE_FIELDS_BYTES);

struct wh_wire_delay_warning {
	rte_le64_t highest_end;
	rte_le16_t pct_milli;
	rte_le16_t pdt_milli;
	uint8_t reserved[20];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_delay_warning, highest_end, 0);
WH_WIRE_AT(wh_wire_delay_warning, pct_milli, 8);
WH_WIRE_AT(wh_wire_delay_warning, pdt_milli, 10);
WH_WIRE_AT(wh_wire_delay_warning, reserved, 12);
WH_WIRE_SIZE(wh_wire_delay_warning, WH_WIRE_FIELDS_BYTES);

/* Body: words of bits. */
struct wh_wire_bitmap {
	rte_le64_t first;
	rte_le16_t pkts;
	uint8_t reserved[22];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_bitmap, first, 0);
WH_WIRE_AT(wh_wire_bitmap, pkts, 8);
WH_WIRE_AT(wh_wire_bitmap, reserved, 10);
WH_WIRE_SIZE(wh_wire_bitmap, WH_WIRE_FIELDS_BYTES);

struct wh_wire_word {
	rte_le64_t bits;
} __attribute__((packed));

WH_WIRE_SIZE(wh_wire_word, 8);

/* The body of open and confirm, followed by options and name; a cookie is made over all of it. */
struct wh_wire_params {
	rte_le32_t initiator_lci;
	rte_le32_t chunk_bytes;
	rte_le32_t window_pkts;
	rte_le32_t period_us;
	rte_le64_t first_serial;
	rte_le64_t object_bytes;
	rte_le16_t payload_bytes;
	uint8_t name_bytes;
	uint8_t n_options;
	uint8_t profile;
	uint8_t recovery;
	rte_le16_t repair_pkts;
	rte_le64_t initiator_token;
} __attribute__((packed));

WH_WIRE_AT(wh_wire_params, initiator_lci, 0);
WH_WIRE_AT(wh_wire_params, chunk_bytes, 4);
WH_WIRE_AT(wh_wire_params, window_pkts, 8);
WH_WIRE_AT(wh_wire_params, period_us, 12);
WH_WIRE_AT(wh_wire_params, first_serial, 16);
WH_WIRE_AT(wh_wire_params, object_bytes, 24);
WH_WIRE_AT(wh_wire_params, payload_bytes, 32);
WH_WIRE_AT(wh_wire_params, name_bytes, 34);
WH_WIRE_AT(wh_wire_params, n_options, 35);
WH_WIRE_AT(wh_wire_params, profile, 36);
WH_WIRE_AT(wh_wire_params, recovery, 37);
WH_WIRE_AT(wh_wire_params, repair_pkts, 38);
WH_WIRE_AT(wh_wire_params, initiator_token, 40);
WH_WIRE_SIZE(wh_wire_params, 48);

struct wh_wire_option {
	rte_le64_t bits;
	uint8_t number;
} __attribute__((packed));

WH_WIRE_AT(wh_wire_option, bits, 0);
WH_WIRE_AT(wh_wire_option, number, 8);
WH_WIRE_SIZE(wh_wire_option, 9);

struct wh_wire_open {
	rte_le32_t stamp_us;
	uint8_t reserved[28];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_open, stamp_us, 0);
WH_WIRE_AT(wh_wire_open, reserved, 4);
WH_WIRE_SIZE(wh_wire_open, WH_WIRE_FIELDS_BYTES);

struct wh_wire_accept {
	rte_le32_t acceptor_lci;
	rte_le32_t stamp_us;
	uint8_t cookie[WH_COOKIE_BYTES];
	rte_le32_t buffer_chunks;
	uint8_t refused;
	uint8_t reserved[3];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_accept, acceptor_lci, 0);
WH_WIRE_AT(wh_wire_accept, stamp_us, 4);
WH_WIRE_AT(wh_wire_accept, cookie, 8);
WH_WIRE_AT(wh_wire_accept, buffer_chunks, 24);
WH_WIRE_AT(wh_wire_accept, refused, 28);
WH_WIRE_AT(wh_wire_accept, reserved, 29);
WH_WIRE_SIZE(wh_wire_accept, WH_WIRE_FIELDS_BYTES);

struct wh_wire_confirm {
	rte_le32_t acceptor_lci;
	uint8_t cookie[WH_COOKIE_BYTES];
	uint8_t reserved[12];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_confirm, acceptor_lci, 0);
WH_WIRE_AT(wh_wire_confirm, cookie, 4);
WH_WIRE_AT(wh_wire_confirm, reserved, 20);
WH_WIRE_SIZE(wh_wire_confirm, WH_WIRE_FIELDS_BYTES);

struct wh_wire_release {
	rte_le64_t chunks;
	rte_le64_t total_bytes;
	rte_le64_t serial_end;
	uint8_t stage;
	uint8_t status;
	uint8_t reserved[6];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_release, chunks, 0);
WH_WIRE_AT(wh_wire_release, total_bytes, 8);
WH_WIRE_AT(wh_wire_release, serial_end, 16);
WH_WIRE_AT(wh_wire_release, stage, 24);
WH_WIRE_AT(wh_wire_release, status, 25);
WH_WIRE_AT(wh_wire_release, reserved, 26);
WH_WIRE_SIZE(wh_wire_release, WH_WIRE_FIELDS_BYTES);

struct wh_wire_release_body {
	uint8_t digest[WH_DIGEST_BYTES];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_release_body, digest, 0);
WH_WIRE_SIZE(wh_wire_release_body, 16);

/* Body: padding. */
struct wh_wire_probe {
	rte_le64_t stamp_ns;
	rte_le64_t made_us;
	rte_le32_t index;
	rte_le32_t count;
	rte_le16_t padding_bytes;
	rte_le16_t train;
	uint8_t reserved[4];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_probe, stamp_ns, 0);
WH_WIRE_AT(wh_wire_probe, made_us, 8);
WH_WIRE_AT(wh_wire_probe, index, 16);
WH_WIRE_AT(wh_wire_probe, count, 20);
WH_WIRE_AT(wh_wire_probe, padding_bytes, 24);
WH_WIRE_AT(wh_wire_probe, train, 26);
WH_WIRE_AT(wh_wire_probe, reserved, 28);
WH_WIRE_SIZE(wh_wire_probe, WH_WIRE_FIELDS_BYTES);

/* Body: words. */
struct wh_wire_probe_answer {
	rte_le64_t stamp_ns;
	rte_le32_t index;
	rte_le32_t total;
	rte_le32_t heard;
	rte_le16_t train;
	rte_le16_t n_words;
	uint8_t status;
	uint8_t reserved[7];
} __attribute__((packed));

WH_WIRE_AT(wh_wire_probe_answer, stamp_ns, 0);
WH_WIRE_AT(wh_wire_probe_answer, index, 8);
WH_WIRE_AT(wh_wire_probe_answer, total, 12);
WH_WIRE_AT(wh_wire_probe_answer, heard, 16);
WH_WIRE_AT(wh_wire_probe_answer, train, 20);
WH_WIRE_AT(wh_wire_probe_answer, n_words, 22);
WH_WIRE_AT(wh_wire_probe_answer, status, 24);
WH_WIRE_AT(wh_wire_probe_answer, reserved, 25);
WH_WIRE_SIZE(wh_wire_probe_answer, WH_WIRE_FIELDS_BYTES);

/* The bytes before the variable part. */
#define WH_RCV_STATE_BYTES  (WH_HEAD_BYTES + sizeof(struct wh_wire_rcv_state_body))
#define WH_PARAMS_BYTES     (WH_HEAD_BYTES + sizeof(struct wh_wire_params))
#define WH_OPTIONS_BYTES(n) ((n) * sizeof(struct wh_wire_option))
#define WH_PARAMS_BYTES_MAX                                                                        \
	(WH_PARAMS_BYTES + WH_OPTIONS_BYTES(WH_OPEN_OPTIONS_MAX) + WH_NAME_BYTES_MAX)
#define WH_RELEASE_BYTES (WH_HEAD_BYTES + sizeof(struct wh_wire_release_body))

#define WH_RANGES_BYTES(count) ((count) * sizeof(struct wh_wire_range))
#define WH_WORDS_BYTES(count)  ((count) * sizeof(struct wh_wire_word))

#define WH_RCV_STATE_BYTES_MAX                                                                     \
	(WH_RCV_STATE_BYTES + WH_RANGES_BYTES(WH_RANGES_MAX) + sizeof(struct wh_wire_losses))

static_assert(
	WH_RCV_STATE_BYTES_MAX <= WH_CONTROL_BYTES_MAX, "a receiver state with all its holes fits");
static_assert(WH_HEAD_BYTES + WH_RANGES_BYTES(WH_RANGES_MAX) <= WH_CONTROL_BYTES_MAX,
	"a NAK with all its losses fits");
static_assert(WH_HEAD_BYTES + WH_WORDS_BYTES(WH_BITMAP_WORDS_MAX) <= WH_CONTROL_BYTES_MAX,
	"the longest bitmap fits");
static_assert(WH_HEAD_BYTES + WH_WORDS_BYTES(WH_PROBE_WORDS_MAX) <= WH_CONTROL_BYTES_MAX,
	"an answer about a probe with all its words fits");
static_assert(WH_RANGES_MAX == RTE_DIM(((struct wh_rcv_state *)0)->holes) &&
		      WH_RANGES_MAX == RTE_DIM(((struct wh_nak *)0)->losses),
	"as many ranges as there is room for");
static_assert(WH_BITMAP_PKTS_MAX == 64 * RTE_DIM(((struct wh_bitmap *)0)->bits),
	"as many bits as there is room for");
static_assert(WH_NAME_BYTES_MAX + 1 == sizeof(((struct wh_open_params *)0)->name),
	"a name and the NUL behind it");
static_assert(WH_BITMAP_PKTS_MAX % 64 == 0, "the longest bitmap is of whole words");
static_assert(
	WH_PARAMS_BYTES_MAX <= WH_CONTROL_BYTES_MAX, "OPEN and CONFIRM with the longest name fit");
/* A stranger gets nothing back that is larger than what it sent. */
static_assert(WH_HEAD_BYTES <= WH_PARAMS_BYTES, "ACCEPT is no longer than OPEN and CONFIRM");
static_assert(WH_RELEASE_BYTES <= WH_CONTROL_BYTES_MAX, "a release fits");
static_assert(WH_CONTROL_BYTES_MAX + 40 + 8 <= 1280, "RFC 8200 5: every IPv6 path carries 1280");

/* What a type's head may say before anything else of the packet is looked at. */
struct wh_packet_rule {
	uint16_t bytes_min;
	uint16_t bytes_max;
	uint16_t flags_allowed; /* bit n: the flags byte may be n */
	uint16_t fields_bytes;  /* used ones; the rest of head.fields is reserved */
};

static_assert(WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX <= UINT16_MAX, "sizes fit into the rules");

extern const struct wh_packet_rule wh_packet_rules[WH_PACKET_TYPES];

static inline bool wh_packet_flags_allowed(const struct wh_packet_rule *rule, uint8_t flags)
{
	return flags < 16 && (rule->flags_allowed >> flags & 1) != 0;
}

/* WH_PARAMS_BYTES_MAX without the head are always enough; returns how many. */
size_t wh_params_encode(const struct wh_open_params *params, uint8_t *bytes);

#endif
