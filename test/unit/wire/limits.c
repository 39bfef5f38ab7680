/* SPDX-License-Identifier: BSD-3-Clause */
/* Every limit of every field of every packet type, met from both sides; see lib/wire/fields.h. */

#include "../../rig/packet_names.h"
#include "packet_fields.h"
#include "packet_samples.h"
#include "unit.h"

const char wh_suite_name[] = "limits";

#define ROOM 16384

/* Values between a field's limits that it may not have all the same. */
static const struct {
	const char *name;
	uint64_t value;
} gaps[] = {
	{"refused", WH_STATUS_VERIFIED},
	{"refused", WH_STATUS_PEER_GONE},
	{"status", WH_STATUS_PEER_GONE},
};

static bool is_gap(const struct packet_field *field, uint64_t value)
{
	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++)
		if (field_is(field, gaps[i].name) && gaps[i].value == value)
			return true;
	/* Multiples and powers of two only: the next of them is met below. */
	return (field_is(field, "payload_bytes") && field->least == WH_PAYLOAD_BYTES_MIN &&
		       value % WH_PAYLOAD_ALIGN != 0) ||
	       (field_is(field, "window_pkts") && (value & (value - 1)) != 0);
}

/* In a block of exactly that size, so that a sanitizer sees any byte read beyond. */
static enum wh_wire_reason decode_exact(
	const uint8_t *bytes, size_t length, struct wh_packet *packet)
{
	uint8_t *copy = malloc(length);

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	memcpy(copy, bytes, length);
	memset(packet, 0xdd, sizeof(*packet));

	enum wh_wire_reason reason = wh_packet_decode(copy, length, packet);

	free(copy);
	return reason;
}

static bool is_refusal(enum wh_wire_reason reason)
{
	return reason == WH_WIRE_FIELD || reason == WH_WIRE_SHORT || reason == WH_WIRE_LONG;
}

static void meet(
	enum wh_packet_type type, const struct packet_field *field, uint8_t flags, uint64_t value)
{
	static uint8_t bytes[ROOM];
	struct wh_packet packet, decoded;
	bool within = value >= field->least && value <= field_most(field) && !is_gap(field, value);

	sample_make(type, SAMPLE_USUAL, &packet);
	packet.flags = flags;
	field_store(field, &packet, value);
	packet_settle(&packet, field);

	size_t length = raw_encode(&packet, bytes, sizeof(bytes));
	enum wh_wire_reason reason = decode_exact(bytes, length, &decoded);

	if (within ? reason != WH_WIRE_OK : !is_refusal(reason))
		printf("%s.%s = %#llx: %s\n", wh_rig_packet_name(type), field->name,
			(unsigned long long)value, wh_wire_reason_name(reason));
	if (!within) {
		CU_ASSERT(is_refusal(reason));
		return;
	}
	CU_ASSERT_EQUAL(reason, WH_WIRE_OK);
	if (reason == WH_WIRE_OK)
		CU_ASSERT_EQUAL(field_load(field, &decoded), value);
}

/* A limit, and what is next to it on either side as far as there is such a number. */
static void meet_around(
	enum wh_packet_type type, const struct packet_field *field, uint8_t flags, uint64_t limit)
{
	uint64_t width_most =
		field->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * field->bytes) - 1;

	if (limit > 0)
		meet(type, field, flags, limit - 1);
	meet(type, field, flags, limit);
	if (limit < width_most)
		meet(type, field, flags, limit + 1);
}

static void meet_limits(enum wh_packet_type type, const struct packet_field *field)
{
	/* All 256 of them: test/unit/packet.c. */
	if (field_is(field, "flags"))
		return;
	for (uint8_t flags = 0; flags < 16; flags++)
		if (wh_packet_flags_allowed(&wh_packet_rules[type], flags)) {
			meet_around(type, field, flags, field->least);
			meet_around(type, field, flags, field_most(field));
		}
}

static void every_field(void)
{
	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++) {
		CU_ASSERT(packet_fields[type].rows > 0);
		for (size_t i = 0; i < packet_fields[0].rows; i++)
			meet_limits(type, &packet_fields[0].row[i]);
		for (size_t i = 0; i < packet_fields[type].rows; i++)
			meet_limits(type, &packet_fields[type].row[i]);
	}
}

/* Those behind what repeats, with the flags that say they are there. */
static void behind_holes(void)
{
	const uint8_t both = WH_FLAG_LOSSES | WH_FLAG_DELIVERY;

	for (size_t i = 0; i < packet_fields[WH_PACKET_RCV_REPORT].behinds; i++) {
		const struct packet_field *field = &packet_fields[WH_PACKET_RCV_REPORT].behind[i];

		meet_around(WH_PACKET_RCV_REPORT, field, both, field->least);
		meet_around(WH_PACKET_RCV_REPORT, field, both, field_most(field));
	}
}

/* Of what is no number within plain limits: the next multiple and the next power of two. */
static void grains(void)
{
	for (uint32_t type = WH_PACKET_OPEN; type <= WH_PACKET_CONFIRM; type++)
		for (size_t i = 0; i < packet_fields[type].rows; i++) {
			const struct packet_field *field = &packet_fields[type].row[i];

			if (field_is(field, "payload_bytes")) {
				meet(type, field, 0, WH_PAYLOAD_BYTES_MIN - WH_PAYLOAD_ALIGN);
				meet(type, field, 0, WH_PAYLOAD_BYTES_MIN + WH_PAYLOAD_ALIGN);
				meet(type, field, 0, WH_PAYLOAD_BYTES_MAX - WH_PAYLOAD_ALIGN);
				meet(type, field, 0, WH_PAYLOAD_BYTES_MAX + WH_PAYLOAD_ALIGN);
			} else if (field_is(field, "window_pkts")) {
				meet(type, field, 0, WH_WINDOW_PACKETS_MIN / 2);
				meet(type, field, 0, WH_WINDOW_PACKETS_MIN * 2);
				meet(type, field, 0, WH_WINDOW_PACKETS_MAX / 2);
				meet(type, field, 0, UINT64_C(2) * WH_WINDOW_PACKETS_MAX);
			}
		}
}

/* What the table does not have: bytes without limits, and what is reserved behind the fields. */
static const struct {
	enum wh_packet_type type;
	uint16_t at;
	uint16_t bytes;
} strings[] = {
	{WH_PACKET_ACCEPT, FIELDS_AT + offsetof(struct wh_accept, cookie), WH_COOKIE_BYTES},
	{WH_PACKET_OPEN, WH_HEAD_BYTES + offsetof(struct wh_open_params, reply_cookie),
		WH_COOKIE_BYTES},
	{WH_PACKET_CONFIRM, WH_HEAD_BYTES + offsetof(struct wh_open_params, reply_cookie),
		WH_COOKIE_BYTES},
	{WH_PACKET_CONFIRM, FIELDS_AT + offsetof(struct wh_confirm, cookie), WH_COOKIE_BYTES},
	{WH_PACKET_RELEASE, WH_HEAD_BYTES, WH_DIGEST_BYTES},
	{WH_PACKET_ASK, WH_HEAD_BYTES, WH_ASK_PADDING},
	{WH_PACKET_COOKIE, FIELDS_AT + offsetof(struct wh_cookie, cookie), WH_COOKIE_BYTES},
	{WH_PACKET_CRYPTO, FIELDS_AT + offsetof(struct wh_crypto, cookie), WH_COOKIE_BYTES},
};

/* No byte of a layout is out of the table, so that a new field is met as well. */
static void every_byte(void)
{
	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++) {
		uint8_t covered[256] = {0};
		size_t end = fixed_bytes(type);

		for (size_t i = 0; i < packet_fields[type].rows; i++) {
			const struct packet_field *field = &packet_fields[type].row[i];

			for (uint32_t b = 0; b < field->bytes; b++)
				covered[field->wire_at + b]++;
		}
		for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
			for (uint32_t b = 0; strings[i].type == type && b < strings[i].bytes; b++)
				covered[strings[i].at + b]++;
		for (size_t at = FIELDS_AT; at < end; at++) {
			bool fields = at < WH_TAG_OFFSET;
			bool used = fields ? at - FIELDS_AT < wh_packet_rules[type].fields_bytes
					   : at >= WH_HEAD_BYTES;

			if (covered[at] != used)
				printf("%s: byte %zu\n", wh_rig_packet_name(type), at);
			CU_ASSERT_EQUAL(covered[at], used);
		}
	}
}

/* Far beyond an array, too, and of a length that agrees: nothing is written behind it. */
static void counts(void)
{
	static uint8_t bytes[ROOM];
	struct wh_packet packet, decoded;

	for (uint32_t count = 0; count <= 1500; count++)
		for (uint32_t type = 1; type < WH_PACKET_TYPES; type++) {
			const struct packet_field *row = packet_fields[type].row;

			for (size_t i = 0; i < packet_fields[type].rows; i++) {
				bool counts_ranges = field_is(&row[i], "n_holes") ||
						     field_is(&row[i], "n_losses") ||
						     field_is(&row[i], "n_words");

				if (!counts_ranges && !field_is(&row[i], "pkts") &&
					!field_is(&row[i], "name_bytes") &&
					!field_is(&row[i], "n_options"))
					continue;
				if (row[i].bytes == 1 && count > UINT8_MAX)
					continue;
				sample_make(type, SAMPLE_LEAST, &packet);
				field_store(&row[i], &packet, count);
				packet_settle(&packet, &row[i]);

				size_t length = raw_encode(&packet, bytes, sizeof(bytes));
				bool within = count >= row[i].least && count <= row[i].most;

				CU_ASSERT_EQUAL(decode_exact(bytes, length, &decoded) == WH_WIRE_OK,
					within);
			}
		}
}

/*
 * A receiver's report of 1200 bytes, the longest that there may be, all of it holes and none of it
 * delivery: six more holes than a state has room for.
 */
static void holes_in_place_of_delivery(void)
{
	static uint8_t bytes[ROOM];
	struct wh_packet packet, decoded;
	const struct packet_field *field = NULL;

	for (size_t i = 0; i < packet_fields[WH_PACKET_RCV_REPORT].rows; i++)
		if (field_is(&packet_fields[WH_PACKET_RCV_REPORT].row[i], "n_holes"))
			field = &packet_fields[WH_PACKET_RCV_REPORT].row[i];
	CU_ASSERT_PTR_NOT_NULL_FATAL(field);
	for (uint16_t more = 0; more <= 6; more++) {
		sample_make(WH_PACKET_RCV_REPORT, SAMPLE_MOST, &packet);
		packet.flags = 0;
		packet.rcv_report.n_holes = WH_RANGES_MAX + more;
		packet_settle(&packet, field);

		size_t length = raw_encode(&packet, bytes, sizeof(bytes));

		CU_ASSERT_EQUAL(length, 128 + 8 * (128 + (size_t)more));
		CU_ASSERT(length <= WH_RCV_REPORT_BYTES_MAX);
		CU_ASSERT_EQUAL(decode_exact(bytes, length, &decoded),
			more == 0 ? WH_WIRE_OK : WH_WIRE_FIELD);
	}
}

/* A byte less or more than a packet has, its tag made right again. */
static void lengths(void)
{
	static uint8_t bytes[ROOM];
	struct wh_packet packet, decoded;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++)
		for (uint32_t size = 0; size < SAMPLE_SIZES; size++) {
			sample_make(type, size, &packet);

			size_t length = raw_encode(&packet, bytes, sizeof(bytes) - 1);

			bytes[length] = 0;
			for (size_t other = length - 1; other <= length + 1; other++) {
				enum wh_wire_reason reason = decode_exact(bytes, other, &decoded);
				bool size_refused = reason == WH_WIRE_SHORT ||
						    reason == WH_WIRE_LONG ||
						    reason == WH_WIRE_LENGTH;

				CU_ASSERT(other == length ? reason == WH_WIRE_OK : size_refused);
			}
		}
}

/* The raw encoder writes what the real one does: what it makes wrong is what a test wanted. */
static void raw_is_right(void)
{
	static uint8_t bytes[ROOM], raw[ROOM];
	struct wh_packet packet;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++) {
		/* Payload, names and strings of bytes apart. */
		sample_make(type, SAMPLE_LEAST, &packet);

		size_t length = sample_encode(&packet, bytes);

		if (type == WH_PACKET_DATA || type == WH_PACKET_REPAIR)
			memset(bytes + WH_HEAD_BYTES, 0, length - WH_HEAD_BYTES);
		CU_ASSERT_EQUAL(raw_encode(&packet, raw, sizeof(raw)), length);
		CU_ASSERT_EQUAL(memcmp(bytes, raw, WH_TAG_OFFSET), 0);
		CU_ASSERT_EQUAL(
			memcmp(bytes + WH_HEAD_BYTES, raw + WH_HEAD_BYTES, length - WH_HEAD_BYTES),
			0);
	}
}

CU_TestInfo wh_tests[] = {
	{"every field", every_field},
	{"behind holes", behind_holes},
	{"multiples and powers", grains},
	{"every byte", every_byte},
	{"counts", counts},
	{"holes in place of delivery", holes_in_place_of_delivery},
	{"lengths", lengths},
	{"raw encoder", raw_is_right},
	CU_TEST_INFO_NULL,
};
