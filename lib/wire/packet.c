/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/packet.h"

#include <string.h>

#include "base/assert.h"
#include "wire/fields.h"
#include "wire/layout.h"

/* Bit n: a packet of that type may have n in its byte of flags. */
#define NO_FLAGS (1u << 0)

/* A retransmission has its own schedule, so it cannot be part of a back-to-back pair. */
#define DATA_FLAGS                                                                                 \
	(1u << 0 | 1u << WH_FLAG_RETRANSMISSION | 1u << WH_FLAG_PAIR_FIRST |                       \
		1u << WH_FLAG_PAIR_SECOND)

/* Any combination of the three. */
#define REPORT_FLAGS ((1u << (WH_FLAG_LOSSES | WH_FLAG_DELIVERY | WH_FLAG_BEHIND) << 1) - 1)

#define ANSWER_FLAGS (1u << WH_FLAG_ECHO | 1u << WH_FLAG_ASK | 1u << WH_FLAG_FETCH)
#define PROBE_FLAGS  (1u << 0 | ANSWER_FLAGS)

#define PATH_FLAGS    (1u << 0 | 1u << WH_FLAG_ANSWER)
#define CRYPTO_FLAGS  (1u << 0 | 1u << WH_FLAG_ANSWER)
#define COOKIE_FLAGS  (1u << 0 | 1u << WH_FLAG_LATER)
#define CONFIRM_FLAGS (1u << 0 | 1u << WH_FLAG_OFFERED)

#define HEAD            WH_HEAD_BYTES
#define PART(member)    offsetof(struct wh_packet, member), sizeof(((struct wh_packet *)0)->member)
#define FROM(at, bytes) offsetof(struct wh_packet, at), bytes

const struct wh_packet_rule wh_packet_rules[WH_PACKET_TYPES] = {
	[WH_PACKET_DATA] = {HEAD + 1, HEAD + WH_PAYLOAD_BYTES_MAX, DATA_FLAGS, WH_DATA_FIELDS, 0,
		0},
	[WH_PACKET_REPAIR] = {HEAD + 1, HEAD + WH_PAYLOAD_BYTES_MAX, DATA_FLAGS, WH_DATA_FIELDS, 0,
		0},
	[WH_PACKET_RCV_REPORT] = {WH_RCV_REPORT_BYTES, WH_RCV_REPORT_BYTES_MAX, REPORT_FLAGS,
		WH_FIELDS_BYTES, FROM(rcv_report.cover_end, WH_RCV_REPORT_BODY)},
	[WH_PACKET_TRANS_REPORT] = {HEAD, HEAD, NO_FLAGS, WH_FIELDS_BYTES, 0, 0},
	[WH_PACKET_ACK2] = {HEAD, HEAD, NO_FLAGS, WH_WIRE_END(wh_ack2, stamp_us), 0, 0},
	[WH_PACKET_NAK] = {HEAD + WH_RANGES_BYTES(1), HEAD + WH_RANGES_BYTES(WH_RANGES_MAX),
		NO_FLAGS, WH_WIRE_END(wh_nak, n_losses), 0, 0},
	[WH_PACKET_DELAY_WARNING] = {HEAD, HEAD, NO_FLAGS, WH_WIRE_END(wh_delay_warning, pdt_milli),
		0, 0},
	[WH_PACKET_BITMAP] = {HEAD + WH_WORDS_BYTES(1), HEAD + WH_WORDS_BYTES(WH_BITMAP_WORDS_MAX),
		NO_FLAGS, WH_WIRE_END(wh_bitmap, pkts), 0, 0},
	[WH_PACKET_OPEN] = {WH_PARAMS_BYTES, WH_PARAMS_BYTES_MAX, NO_FLAGS,
		WH_WIRE_END(wh_open, answer_cid), FROM(open.params, WH_PARAMS_BODY)},
	[WH_PACKET_ACCEPT] = {HEAD, HEAD, NO_FLAGS, WH_WIRE_END(wh_accept, refused), 0, 0},
	[WH_PACKET_CONFIRM] = {WH_PARAMS_BYTES, WH_PARAMS_BYTES_MAX, CONFIRM_FLAGS,
		WH_WIRE_END(wh_confirm, cookie), FROM(confirm.params, WH_PARAMS_BODY)},
	[WH_PACKET_RELEASE] = {WH_RELEASE_BYTES, WH_RELEASE_BYTES, NO_FLAGS,
		WH_WIRE_END(wh_release, status), PART(release.digest)},
	[WH_PACKET_PROBE] = {HEAD, HEAD + WH_PAYLOAD_BYTES_MAX, PROBE_FLAGS,
		WH_WIRE_END(wh_probe, sa), 0, 0},
	[WH_PACKET_PROBE_ANSWER] = {HEAD, HEAD + WH_WORDS_BYTES(WH_PROBE_WORDS_MAX), ANSWER_FLAGS,
		WH_WIRE_END(wh_probe_answer, status), 0, 0},
	[WH_PACKET_ASK] = {HEAD + WH_ASK_PADDING, HEAD + WH_ASK_PADDING, NO_FLAGS,
		WH_WIRE_END(wh_ask, handshake), PART(ask.padding)},
	[WH_PACKET_COOKIE] = {HEAD, HEAD, COOKIE_FLAGS, WH_WIRE_END(wh_cookie, cookie), 0, 0},
	[WH_PACKET_CRYPTO] = {HEAD + WH_CRYPTO_BODY, WH_CONTROL_BYTES_MAX, CRYPTO_FLAGS,
		WH_WIRE_END(wh_crypto, acked), FROM(crypto.bytes, WH_CRYPTO_BODY)},
	[WH_PACKET_PATH] = {HEAD, HEAD, PATH_FLAGS, WH_WIRE_END(wh_path, token), 0, 0},
};

static_assert(offsetof(struct wh_packet, rcv_report.cover_end) ==
		      offsetof(struct wh_packet, fields) + WH_FIELDS_BYTES,
	"a receiver's report has its first four packet numbers in the head");

static_assert(offsetof(struct wh_packet, crypto.bytes) ==
		      offsetof(struct wh_packet, fields) + WH_FIELDS_BYTES,
	"a piece of a handshake has its lengths in the body");

static size_t params_variable_bytes(const struct wh_open_params *params)
{
	return WH_OPTIONS_BYTES(params->n_options) + params->name_bytes;
}

size_t wh_packet_variable_bytes(const struct wh_packet *packet)
{
	switch (packet->type) {
	case WH_PACKET_DATA:
	case WH_PACKET_REPAIR:
		return packet->data.payload_bytes;
	case WH_PACKET_RCV_REPORT:
		return WH_RANGES_BYTES((size_t)packet->rcv_report.n_holes) +
		       wh_report_behind_bytes(packet->flags);
	case WH_PACKET_NAK:
		return WH_RANGES_BYTES(packet->nak.n_losses);
	case WH_PACKET_BITMAP:
		return WH_WORDS_BYTES(wh_bitmap_words(packet->bitmap.pkts));
	case WH_PACKET_OPEN:
		return params_variable_bytes(&packet->open.params);
	case WH_PACKET_CONFIRM:
		return params_variable_bytes(&packet->confirm.params);
	case WH_PACKET_PROBE:
		return packet->probe.padding_bytes;
	case WH_PACKET_PROBE_ANSWER:
		return WH_WORDS_BYTES(packet->probe_answer.n_words);
	case WH_PACKET_CRYPTO:
		return (size_t)packet->crypto.bytes + packet->crypto.padding_bytes;
	default:
		return 0;
	}
}

const char *wh_wire_reason_name(enum wh_wire_reason reason)
{
	static const char *const names[WH_WIRE_REASONS] = {
		[WH_WIRE_OK] = "ok",
		[WH_WIRE_SHORT] = "short",
		[WH_WIRE_LONG] = "long",
		[WH_WIRE_VERSION_UNKNOWN] = "version-unknown",
		[WH_WIRE_TYPE_UNKNOWN] = "type-unknown",
		[WH_WIRE_FLAGS] = "flags",
		[WH_WIRE_KEY] = "key",
		[WH_WIRE_TAG] = "tag",
		[WH_WIRE_RESERVED] = "reserved",
		[WH_WIRE_LENGTH] = "length",
		[WH_WIRE_FIELD] = "field",
		[WH_WIRE_RANGE] = "range",
	};

	WH_ASSERT(reason < WH_WIRE_REASONS);
	return names[reason];
}

const char *wh_release_status_name(enum wh_release_status status)
{
	static const char *const names[WH_STATUSES] = {
		[WH_STATUS_PENDING] = "pending",
		[WH_STATUS_VERIFIED] = "verified",
		[WH_STATUS_MISMATCH] = "mismatch",
		[WH_STATUS_NO_SPACE] = "no-space",
		[WH_STATUS_IO_ERROR] = "io-error",
		[WH_STATUS_REFUSED] = "refused",
		[WH_STATUS_BUSY] = "busy",
		[WH_STATUS_INTERRUPTED] = "interrupted",
		[WH_STATUS_STALLED] = "stalled",
		[WH_STATUS_PEER_GONE] = "peer-gone",
		[WH_STATUS_UNREPAIRED] = "unrepaired",
		[WH_STATUS_UNSEALED] = "unsealed",
		[WH_STATUS_NO_SA] = "unbound",
		[WH_STATUS_REVOKED] = "revoked",
		[WH_STATUS_REPLACED] = "replaced",
		[WH_STATUS_UNHEARD] = "unheard",
	};

	WH_ASSERT(status < WH_STATUSES);
	return names[status];
}

static enum wh_wire_reason field_unless(bool within_limits)
{
	return within_limits ? WH_WIRE_OK : WH_WIRE_FIELD;
}

static inline bool within(uint64_t value, uint64_t least, uint64_t most)
{
	return value >= least && value <= most;
}

#define AND_WITHIN(part, member, least, most) &&within((part)->member, least, most)

/* Whether each field of a list is within its limits. */
#define WITHIN(list, part) (true list(AND_WITHIN, part))

/* Without a code, its fields are 0. */
static bool code_valid(const struct wh_data_fields *data)
{
	if (data->code == WH_FEC_NONE)
		return data->r == 0 && data->blocks == 0 && data->last_bytes == 0;
	return data->r > 0 && data->blocks > 0 && data->last_bytes > 0;
}

static bool data_valid(const struct wh_data_fields *data)
{
	return WITHIN(WH_FIELDS_DATA, data) &&
	       (uint32_t)data->k + data->r <= WH_BLOCK_PACKETS_MAX && data->index < data->k &&
	       code_valid(data);
}

static bool repair_valid(const struct wh_data_fields *data)
{
	uint32_t index_end = (uint32_t)data->k + data->r;

	return WITHIN(WH_FIELDS_REPAIR, data) && index_end <= WH_BLOCK_PACKETS_MAX &&
	       data->index >= data->k && data->index < index_end;
}

/*
 * Ranges are not empty, ascend, stay below `end`, and are at least `gap` packet numbers apart. gap
 * 0: they may be adjacent. gap 1: adjacent ones would have to be one range.
 */
static bool ranges_valid(const struct wh_range *ranges, uint32_t count, uint64_t end, uint32_t gap)
{
	uint64_t lowest = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t range_end = (uint64_t)ranges[i].offset + ranges[i].count;

		if (ranges[i].count == 0 || ranges[i].offset < lowest || range_end > end)
			return false;
		lowest = range_end + gap;
	}
	return true;
}

static bool rcv_report_valid(const struct wh_rcv_report *report)
{
	return WITHIN(WH_FIELDS_RCV_REPORT, report) && WITHIN(WH_FIELDS_RCV_REPORT_BODY, report) &&
	       WITHIN(WH_FIELDS_LOSSES, report) && WITHIN(WH_FIELDS_DELIVERY, report) &&
	       report->lower <= report->cover_first && report->cover_first <= report->cover_end &&
	       report->cover_end <= report->highest_end && report->highest_end <= report->upper &&
	       report->upper - report->lower <= WH_WINDOW_PACKETS_MAX;
}

static enum wh_wire_reason rcv_report_check(uint8_t flags, const struct wh_rcv_report *report)
{
	const uint8_t both = WH_FLAG_LOSSES | WH_FLAG_DELIVERY;

	if (!rcv_report_valid(report) ||
		((flags & both) == both && report->n_holes > WH_HOLES_BESIDE_BOTH))
		return WH_WIRE_FIELD;

	uint64_t cover = report->cover_end - report->cover_first;

	return ranges_valid(report->holes, report->n_holes, cover, 1) ? WH_WIRE_OK : WH_WIRE_RANGE;
}

static enum wh_wire_reason nak_check(const struct wh_nak *nak)
{
	if (!WITHIN(WH_FIELDS_NAK, nak))
		return WH_WIRE_FIELD;

	/* base + offset + count < WH_PN_MAX */
	uint64_t end = WH_PN_MAX - 1 - nak->base;

	return ranges_valid(nak->losses, nak->n_losses, end, 0) ? WH_WIRE_OK : WH_WIRE_RANGE;
}

static bool trans_report_valid(const struct wh_trans_report *report)
{
	return WITHIN(WH_FIELDS_TRANS_REPORT, report) && report->lower <= report->upper &&
	       report->upper - report->lower <= WH_WINDOW_PACKETS_MAX;
}

static enum wh_wire_reason bitmap_check(const struct wh_bitmap *bitmap)
{
	uint32_t pkts = bitmap->pkts;

	if (!WITHIN(WH_FIELDS_BITMAP, bitmap) || bitmap->first >= WH_PN_MAX - pkts)
		return WH_WIRE_FIELD;
	if (pkts % 64 != 0 && bitmap->bits[pkts / 64] >> pkts % 64 != 0)
		return WH_WIRE_RESERVED;
	return WH_WIRE_OK;
}

/* Strictly ascending: each option has one value, and one encoding. */
static bool options_valid(const struct wh_open_params *params)
{
	for (uint32_t i = 1; i < params->n_options; i++)
		if (params->options[i].number <= params->options[i - 1].number)
			return false;
	return true;
}

static bool params_valid(const struct wh_open_params *params)
{
	if (!WITHIN(WH_FIELDS_PARAMS, params) || params->payload_bytes % WH_PAYLOAD_ALIGN != 0 ||
		!options_valid(params))
		return false;

	/* A chunk's packets, rounded up, must fit into one block. */
	uint32_t chunk_pkts =
		(params->chunk_bytes + params->payload_bytes - 1) / params->payload_bytes;
	uint32_t window = params->window_pkts;

	return chunk_pkts + params->repair_pkts <= WH_BLOCK_PACKETS_MAX &&
	       (window & (window - 1)) == 0 &&
	       (params->recovery == WH_RECOVERY_NAK) == (params->repair_pkts == 0) &&
	       memchr(params->name, '\0', params->name_bytes) == NULL;
}

static bool open_valid(const struct wh_open *open)
{
	return WITHIN(WH_FIELDS_OPEN, open) && params_valid(&open->params);
}

static bool confirm_valid(const struct wh_confirm *confirm)
{
	return WITHIN(WH_FIELDS_CONFIRM, confirm) && params_valid(&confirm->params);
}

/* VERIFIED and PEER_GONE cannot be reasons of a refusal. */
static bool accept_valid(const struct wh_accept *accept)
{
	return WITHIN(WH_FIELDS_ACCEPT, accept) && accept->refused != WH_STATUS_PEER_GONE &&
	       accept->refused != WH_STATUS_VERIFIED &&
	       (accept->acceptor_cid != 0 || accept->refused != 0);
}

static bool release_valid(const struct wh_release *release)
{
	return WITHIN(WH_FIELDS_RELEASE, release) && release->status != WH_STATUS_PEER_GONE;
}

static bool probe_valid(const struct wh_probe *probe)
{
	return WITHIN(WH_FIELDS_PROBE, probe) && probe->index < probe->count;
}

static bool probe_answer_valid(const struct wh_probe_answer *answer)
{
	return WITHIN(WH_FIELDS_PROBE_ANSWER, answer) && answer->status != WH_STATUS_PEER_GONE;
}

/* No bytes beyond the maximum length of a stream. */
static bool crypto_valid(const struct wh_crypto *crypto)
{
	return WITHIN(WH_FIELDS_CRYPTO, crypto) && WITHIN(WH_FIELDS_CRYPTO_BODY, crypto) &&
	       (uint32_t)crypto->bytes + crypto->padding_bytes <= WH_CRYPTO_BYTES_MAX &&
	       crypto->offset + crypto->bytes <= WH_CRYPTO_STREAM_MAX;
}

static enum wh_wire_reason head_check(const struct wh_packet *packet)
{
	if (packet->type == 0 || packet->type >= WH_PACKET_TYPES)
		return WH_WIRE_TYPE_UNKNOWN;
	if (!wh_packet_flags_allowed(&wh_packet_rules[packet->type], packet->flags))
		return WH_WIRE_FLAGS;
	return field_unless(WITHIN(WH_FIELDS_HEAD, packet));
}

enum wh_wire_reason wh_packet_check(const struct wh_packet *packet)
{
	enum wh_wire_reason reason = head_check(packet);

	if (reason != WH_WIRE_OK)
		return reason;
	switch (packet->type) {
	case WH_PACKET_DATA:
		return field_unless(data_valid(&packet->data));
	case WH_PACKET_REPAIR:
		return field_unless(repair_valid(&packet->data));
	case WH_PACKET_RCV_REPORT:
		return rcv_report_check(packet->flags, &packet->rcv_report);
	case WH_PACKET_TRANS_REPORT:
		return field_unless(trans_report_valid(&packet->trans_report));
	case WH_PACKET_ACK2:
		return field_unless(WITHIN(WH_FIELDS_ACK2, &packet->ack2));
	case WH_PACKET_NAK:
		return nak_check(&packet->nak);
	case WH_PACKET_DELAY_WARNING:
		return field_unless(WITHIN(WH_FIELDS_DELAY_WARNING, &packet->delay_warning));
	case WH_PACKET_BITMAP:
		return bitmap_check(&packet->bitmap);
	case WH_PACKET_OPEN:
		return field_unless(open_valid(&packet->open));
	case WH_PACKET_ACCEPT:
		return field_unless(accept_valid(&packet->accept));
	case WH_PACKET_CONFIRM:
		return field_unless(confirm_valid(&packet->confirm));
	case WH_PACKET_RELEASE:
		return field_unless(release_valid(&packet->release));
	case WH_PACKET_PROBE:
		return field_unless(probe_valid(&packet->probe));
	case WH_PACKET_PROBE_ANSWER:
		return field_unless(probe_answer_valid(&packet->probe_answer));
	case WH_PACKET_ASK:
		return field_unless(WITHIN(WH_FIELDS_ASK, &packet->ask));
	case WH_PACKET_COOKIE:
		return field_unless(WITHIN(WH_FIELDS_COOKIE, &packet->cookie));
	case WH_PACKET_CRYPTO:
		return field_unless(crypto_valid(&packet->crypto));
	case WH_PACKET_PATH:
		return field_unless(WITHIN(WH_FIELDS_PATH, &packet->path));
	case WH_PACKET_TYPES:
		break;
	}
	return WH_WIRE_TYPE_UNKNOWN;
}
