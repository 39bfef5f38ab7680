/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For dissector.py: writes the packets of packet_samples.h as a capture file, and to stdout what
 * their members are, a line for each: "PACKET NAME VALUE", named as the dissector's filters. The
 * values come from the structs that are encoded, the capture from the encoder.
 *
 * Every second packet goes over IPv6 and VLAN 7. With a second file all are sealed, and it is the
 * keylog.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "closed.h"
#include "packet_samples.h"
#include "wire/encap.h"

#define VLAN 7

/* https://www.tcpdump.org/manpages/pcap-savefile.5.html, in the machine's byte order. */
struct pcap_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, accuracy;
	uint32_t longest_bytes;
	uint32_t link;
};

struct pcap_record {
	uint32_t s, us;
	uint32_t captured_bytes, bytes;
};

static_assert(sizeof(struct pcap_head) == 24, "pcap-savefile(5)");
static_assert(sizeof(struct pcap_record) == 16, "pcap-savefile(5)");

#define LINK_ETHERNET 1

static const struct wh_flow flow4 = {
	.source_mac = {2, 0, 0, 0, 0, 1},
	.target_mac = {2, 0, 0, 0, 0, 2},
	.source = {.family = WH_IPV4, .ip = {10, 0, 0, 1}, .port = WH_UDP_PORT_DEFAULT},
	.target = {.family = WH_IPV4, .ip = {10, 0, 0, 2}, .port = WH_UDP_PORT_DEFAULT},
};

static const struct wh_flow flow6 = {
	.source_mac = {2, 0, 0, 0, 0, 1},
	.target_mac = {2, 0, 0, 0, 0, 2},
	.vlan = VLAN,
	.source = {.family = WH_IPV6, .ip = {0xfd, [15] = 1}, .port = WH_UDP_PORT_DEFAULT + 15},
	.target = {.family = WH_IPV6, .ip = {0xfd, [15] = 2}, .port = WH_UDP_PORT_DEFAULT + 15},
};

/* The packet that is being told. */
static uint32_t number;

static void tell(const char *name, uint64_t value)
{
	printf("%" PRIu32 " %s %" PRIu64 "\n", number, name, value);
}

static void tell_bytes(const char *name, const uint8_t *bytes, size_t count)
{
	if (count == 0)
		return;
	printf("%" PRIu32 " %s ", number, name);
	for (size_t i = 0; i < count; i++)
		printf("%s%02x", i == 0 ? "" : ":", bytes[i]);
	printf("\n");
}

#define TELL(prefix, members, member) tell("wavehaul." prefix "." #member, (members)->member)

static void tell_ranges(const struct wh_range *ranges, uint32_t count, uint64_t base)
{
	for (uint32_t i = 0; i < count; i++) {
		tell("wavehaul.range.offset", ranges[i].offset);
		tell("wavehaul.range.count", ranges[i].count);
		tell("wavehaul.range.first", base + ranges[i].offset);
	}
}

static void tell_data(const struct wh_packet *packet)
{
	const struct wh_data_fields *data = &packet->data;

	TELL("data", data, transmission);
	TELL("data", data, chunk);
	TELL("data", data, stamp);
	TELL("data", data, blocks);
	TELL("data", data, index);
	TELL("data", data, k);
	TELL("data", data, r);
	TELL("data", data, payload_bytes);
	TELL("data", data, last_bytes);
	TELL("data", data, order);
	TELL("data", data, code);
	tell_bytes("wavehaul.payload", packet->payload, data->payload_bytes);
	tell("wavehaul.flags.retransmission", (packet->flags & WH_FLAG_RETRANSMISSION) != 0);
	tell("wavehaul.flags.pair_first", (packet->flags & WH_FLAG_PAIR_FIRST) != 0);
	tell("wavehaul.flags.pair_second", (packet->flags & WH_FLAG_PAIR_SECOND) != 0);
}

static void tell_rcv_report(const struct wh_packet *packet)
{
	const struct wh_rcv_report *report = &packet->rcv_report;

	TELL("rcv_report", report, lower);
	TELL("rcv_report", report, upper);
	TELL("rcv_report", report, highest_end);
	TELL("rcv_report", report, cover_first);
	TELL("rcv_report", report, cover_end);
	TELL("rcv_report", report, received_pkts);
	TELL("rcv_report", report, duplicate_pkts);
	TELL("rcv_report", report, bad_pkts);
	TELL("rcv_report", report, chunk_upper);
	TELL("rcv_report", report, queued_chunks);
	TELL("rcv_report", report, buffer_chunks);
	TELL("rcv_report", report, arrival_pps);
	TELL("rcv_report", report, capacity_pps);
	TELL("rcv_report", report, rtt_us);
	TELL("rcv_report", report, rtt_var_us);
	TELL("rcv_report", report, n_holes);
	tell_ranges(report->holes, report->n_holes, report->cover_first);
	tell("wavehaul.flags.losses", (packet->flags & WH_FLAG_LOSSES) != 0);
	tell("wavehaul.flags.delivery", (packet->flags & WH_FLAG_DELIVERY) != 0);
	tell("wavehaul.flags.behind", (packet->flags & WH_FLAG_BEHIND) != 0);
	if (packet->flags & WH_FLAG_LOSSES) {
		TELL("rcv_report", report, lost_pkts);
		TELL("rcv_report", report, loss_events);
		TELL("rcv_report", report, repaired_pkts);
		TELL("rcv_report", report, undecodable_blocks);
	}
	if (packet->flags & WH_FLAG_DELIVERY) {
		TELL("rcv_report", report, delivered_pkts);
		TELL("rcv_report", report, seen_end);
		TELL("rcv_report", report, stamp);
		TELL("rcv_report", report, held);
		TELL("rcv_report", report, arrived);
		TELL("rcv_report", report, span);
		TELL("rcv_report", report, span_pkts);
		TELL("rcv_report", report, least_delay);
		TELL("rcv_report", report, late);
		TELL("rcv_report", report, retransmitted_pkts);
	}
}

static void tell_trans_report(const struct wh_packet *packet)
{
	const struct wh_trans_report *report = &packet->trans_report;

	TELL("trans_report", report, lower);
	TELL("trans_report", report, upper);
	TELL("trans_report", report, heard_end);
	TELL("trans_report", report, queued_pkts);
	TELL("trans_report", report, held_us);
}

static void tell_ack2(const struct wh_packet *packet)
{
	TELL("ack2", &packet->ack2, ack_pn);
	TELL("ack2", &packet->ack2, lower);
	TELL("ack2", &packet->ack2, stamp_us);
}

static void tell_nak(const struct wh_packet *packet)
{
	TELL("nak", &packet->nak, base);
	TELL("nak", &packet->nak, n_losses);
	tell_ranges(packet->nak.losses, packet->nak.n_losses, packet->nak.base);
}

static void tell_delay_warning(const struct wh_packet *packet)
{
	TELL("delay_warning", &packet->delay_warning, highest_end);
	TELL("delay_warning", &packet->delay_warning, pct_milli);
	TELL("delay_warning", &packet->delay_warning, pdt_milli);
}

static void tell_bitmap(const struct wh_packet *packet)
{
	const struct wh_bitmap *bitmap = &packet->bitmap;

	TELL("bitmap", bitmap, first);
	TELL("bitmap", bitmap, pkts);
	for (uint32_t i = 0; i < wh_bitmap_words(bitmap->pkts); i++)
		tell("wavehaul.bitmap.bits", bitmap->bits[i]);
}

static void tell_params(const struct wh_open_params *params)
{
	TELL("params", params, initiator_cid);
	TELL("params", params, initiator_token);
	TELL("params", params, chunk_bytes);
	TELL("params", params, window_pkts);
	TELL("params", params, period_us);
	TELL("params", params, first_pn);
	TELL("params", params, object_bytes);
	TELL("params", params, payload_bytes);
	TELL("params", params, name_bytes);
	TELL("params", params, n_options);
	TELL("params", params, profile);
	TELL("params", params, recovery);
	TELL("params", params, repair_pkts);
	TELL("params", params, reply_cid);
	tell_bytes("wavehaul.params.reply_cookie", params->reply_cookie, WH_COOKIE_BYTES);
	for (uint32_t i = 0; i < params->n_options; i++) {
		TELL("option", &params->options[i], number);
		TELL("option", &params->options[i], bits);
	}
	tell_bytes("wavehaul.params.name", (const uint8_t *)params->name, params->name_bytes);
}

static void tell_open(const struct wh_packet *packet)
{
	TELL("open", &packet->open, stamp_us);
	TELL("open", &packet->open, answer_cid);
	tell_params(&packet->open.params);
}

static void tell_accept(const struct wh_packet *packet)
{
	TELL("accept", &packet->accept, acceptor_cid);
	TELL("accept", &packet->accept, stamp_us);
	tell_bytes("wavehaul.accept.cookie", packet->accept.cookie, WH_COOKIE_BYTES);
	TELL("accept", &packet->accept, buffer_chunks);
	TELL("accept", &packet->accept, refused);
}

static void tell_confirm(const struct wh_packet *packet)
{
	TELL("confirm", &packet->confirm, acceptor_cid);
	tell("wavehaul.flags.offered", (packet->flags & WH_FLAG_OFFERED) != 0);
	tell_bytes("wavehaul.confirm.cookie", packet->confirm.cookie, WH_COOKIE_BYTES);
	tell_params(&packet->confirm.params);
}

static void tell_release(const struct wh_packet *packet)
{
	const struct wh_release *release = &packet->release;

	TELL("release", release, chunks);
	TELL("release", release, total_bytes);
	TELL("release", release, pn_end);
	TELL("release", release, stage);
	TELL("release", release, status);
	tell_bytes("wavehaul.release.digest", release->digest.bytes, WH_DIGEST_BYTES);
}

static void tell_probe_flags(uint8_t flags)
{
	tell("wavehaul.flags.echo", (flags & WH_FLAG_ECHO) != 0);
	tell("wavehaul.flags.ask", (flags & WH_FLAG_ASK) != 0);
	tell("wavehaul.flags.fetch", (flags & WH_FLAG_FETCH) != 0);
}

static void tell_probe(const struct wh_packet *packet)
{
	static const uint8_t zeros[WH_PAYLOAD_BYTES_MAX];
	const struct wh_probe *probe = &packet->probe;

	tell_probe_flags(packet->flags);
	tell_bytes("wavehaul.padding", zeros, probe->padding_bytes);
	TELL("probe", probe, stamp_ns);
	TELL("probe", probe, made_us);
	TELL("probe", probe, index);
	TELL("probe", probe, count);
	TELL("probe", probe, padding_bytes);
	TELL("probe", probe, train);
	TELL("probe", probe, sa);
}

static void tell_probe_answer(const struct wh_packet *packet)
{
	const struct wh_probe_answer *answer = &packet->probe_answer;

	tell_probe_flags(packet->flags);
	TELL("probe_answer", answer, stamp_ns);
	TELL("probe_answer", answer, index);
	TELL("probe_answer", answer, total);
	TELL("probe_answer", answer, heard);
	TELL("probe_answer", answer, train);
	TELL("probe_answer", answer, n_words);
	TELL("probe_answer", answer, status);
	for (uint32_t i = 0; i < answer->n_words; i++)
		tell("wavehaul.probe_answer.words", answer->words[i]);
}

static void tell_ask(const struct wh_packet *packet)
{
	TELL("ask", &packet->ask, handshake);
	tell_bytes("wavehaul.ask.padding", packet->ask.padding, WH_ASK_PADDING);
}

static void tell_cookie(const struct wh_packet *packet)
{
	tell("wavehaul.flags.later", (packet->flags & WH_FLAG_LATER) != 0);
	TELL("cookie", &packet->cookie, handshake);
	tell_bytes("wavehaul.cookie.cookie", packet->cookie.cookie, WH_COOKIE_BYTES);
}

static void tell_crypto(const struct wh_packet *packet)
{
	static const uint8_t zeros[WH_CRYPTO_BYTES_MAX];
	const struct wh_crypto *crypto = &packet->crypto;

	tell("wavehaul.flags.answer", (packet->flags & WH_FLAG_ANSWER) != 0);
	TELL("crypto", crypto, handshake);
	tell_bytes("wavehaul.crypto.cookie", crypto->cookie, WH_COOKIE_BYTES);
	TELL("crypto", crypto, offset);
	TELL("crypto", crypto, acked);
	TELL("crypto", crypto, bytes);
	TELL("crypto", crypto, padding_bytes);
	tell_bytes("wavehaul.crypto.data", crypto->data, crypto->bytes);
	tell_bytes("wavehaul.padding", zeros, crypto->padding_bytes);
}

static void tell_path(const struct wh_packet *packet)
{
	tell("wavehaul.flags.answer", (packet->flags & WH_FLAG_ANSWER) != 0);
	TELL("path", &packet->path, token);
}

static void tell_packet(const struct wh_packet *packet, const uint8_t *bytes)
{
	static void (*const tellers[WH_PACKET_TYPES])(const struct wh_packet *) = {
		[WH_PACKET_DATA] = tell_data,
		[WH_PACKET_REPAIR] = tell_data,
		[WH_PACKET_RCV_REPORT] = tell_rcv_report,
		[WH_PACKET_TRANS_REPORT] = tell_trans_report,
		[WH_PACKET_ACK2] = tell_ack2,
		[WH_PACKET_NAK] = tell_nak,
		[WH_PACKET_DELAY_WARNING] = tell_delay_warning,
		[WH_PACKET_OPEN] = tell_open,
		[WH_PACKET_ACCEPT] = tell_accept,
		[WH_PACKET_CONFIRM] = tell_confirm,
		[WH_PACKET_RELEASE] = tell_release,
		[WH_PACKET_BITMAP] = tell_bitmap,
		[WH_PACKET_PROBE] = tell_probe,
		[WH_PACKET_PROBE_ANSWER] = tell_probe_answer,
		[WH_PACKET_ASK] = tell_ask,
		[WH_PACKET_COOKIE] = tell_cookie,
		[WH_PACKET_CRYPTO] = tell_crypto,
		[WH_PACKET_PATH] = tell_path,
	};

	tell("wavehaul.version", WH_WIRE_VERSION);
	tell("wavehaul.type", packet->type);
	tell("wavehaul.flags", packet->flags);
	tell("wavehaul.key", bytes[WH_KEY_OFFSET]);
	tell("wavehaul.cid", packet->cid);
	tell("wavehaul.pn", packet->pn);

	uint64_t token;

	memcpy(&token, bytes + WH_TAG_OFFSET + WH_TAG_BYTES - sizeof(token), sizeof(token));
	tell("wavehaul.token", token);
	tell_bytes("wavehaul.tag", bytes + WH_TAG_OFFSET, WH_TAG_BYTES);
	tellers[packet->type](packet);
}

static bool write_packet(FILE *file, const uint8_t *bytes, size_t length)
{
	static uint8_t frame[WH_ENCAP_BYTES_MAX + SAMPLE_BYTES_MAX];
	struct wh_encap encap;

	wh_encap_init(&encap, number % 2 == 0 ? &flow4 : &flow6);
	memcpy(frame + encap.bytes, bytes, length);
	wh_encap_write(&encap, frame, frame + encap.bytes, length, NULL, 0);

	uint32_t frame_bytes = encap.bytes + (uint32_t)length;
	struct pcap_record record = {
		.s = number, .captured_bytes = frame_bytes, .bytes = frame_bytes};

	return fwrite(&record, sizeof(record), 1, file) == 1 &&
	       fwrite(frame, frame_bytes, 1, file) == 1;
}

static void log_key(void *keylog, const char *line)
{
	fprintf(keylog, "%s\n", line);
}

/* In place of the checksum: by an SA, whose secret goes into the log. */
static void seal_by_sa(uint8_t *bytes, size_t length, const struct wh_packet *packet)
{
	static const uint8_t secret[WH_SECRET_BYTES] = {7, 7};
	enum wh_cipher cipher =
		number % SAMPLE_SIZES == 0 ? WH_CIPHER_AES_256_GCM : WH_CIPHER_AES_128_GCM;
	bool accepts = packet->type == WH_PACKET_ACCEPT;
	bool probes = packet->type == WH_PACKET_PROBE;
	uint64_t about = accepts || probes ? UINT64_C(0xf0e0d0c0b0a09081) + number : 0;
	struct wh_gcm_raw raw;

	wh_seal_log_secret(packet->cid, cipher,
		accepts  ? "accept"
		: probes ? "probe"
			 : "sa",
		secret, about);
	wh_gcm_derive(&raw, cipher, secret, about);
	WH_ASSERT(wh_gcm_close_packet(&raw, bytes, length));
}

/* Of no session, or not yet. */
static bool is_of_sa(const struct wh_packet *packet)
{
	return packet->type == WH_PACKET_OPEN || packet->type == WH_PACKET_ACCEPT ||
	       packet->type == WH_PACKET_CONFIRM ||
	       (packet->type == WH_PACKET_PROBE && packet->cid == 0);
}

/* In place of the checksum: by a session of those of that size, whose keys go into the log. */
static void seal(uint8_t *bytes, size_t length, uint32_t cid)
{
	const struct wh_seal_direction direction = {.cid = cid, .to_acceptor = true};
	struct wh_seal_secret secret = {
		.secret = {(uint8_t)(number % SAMPLE_SIZES), 1},
		.cipher =
			number % SAMPLE_SIZES == 0 ? WH_CIPHER_AES_128_GCM : WH_CIPHER_AES_256_GCM,
	};
	size_t memory_bytes = wh_seal_gcm.memory_bytes[direction.to_acceptor];
	void *memory = wh_secret_alloc(memory_bytes);
	struct wh_seal seal;

	WH_ASSERT(
		memory != NULL && wh_seal_begin(&seal, &wh_seal_gcm, &direction, &secret, memory));
	wh_seal_close_packet(&seal, bytes, length);
	wh_seal_end(&seal);
	wh_secret_free(memory, memory_bytes);
}

static bool write_samples(FILE *file, FILE *keylog)
{
	static const struct pcap_head head = {
		.magic = 0xa1b2c3d4,
		.major = 2,
		.minor = 4,
		.longest_bytes = WH_ENCAP_BYTES_MAX + SAMPLE_BYTES_MAX,
		.link = LINK_ETHERNET,
	};
	static const uint64_t tokens[SAMPLE_SIZES] = {0, UINT64_C(0xf1f2f3f4f5f6f7f8), UINT64_MAX};
	bool written = fwrite(&head, sizeof(head), 1, file) == 1;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++)
		for (uint32_t size = 0; size < SAMPLE_SIZES; size++, number++) {
			static uint8_t bytes[SAMPLE_BYTES_MAX];
			struct wh_packet packet;

			sample_make(type, size, &packet);

			bool opens = type == WH_PACKET_OPEN || type == WH_PACKET_CONFIRM;
			uint64_t token = opens ? 0 : tokens[size];
			size_t length = closed_encode(&packet, token, bytes, sizeof(bytes));

			WH_ASSERT(length <= sizeof(bytes));
			if (keylog != NULL && is_of_sa(&packet))
				seal_by_sa(bytes, length, &packet);
			else if (keylog != NULL)
				seal(bytes, length, packet.cid);
			written = write_packet(file, bytes, length) && written;
			tell_packet(&packet, bytes);
		}
	return written;
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: %s CAPTURE [KEYLOG]\n", argv[0]);
		return EXIT_FAILURE;
	}

	FILE *file = fopen(argv[1], "wb");
	FILE *keylog = argc == 3 ? fopen(argv[2], "w") : NULL;

	if (keylog != NULL)
		wh_seal_set_keylog(log_key, keylog);

	bool written = file != NULL && (argc == 2 || keylog != NULL) && write_samples(file, keylog);

	if (keylog != NULL && fclose(keylog) != 0)
		written = false;
	if (file != NULL && fclose(file) != 0)
		written = false;
	if (!written)
		perror(argv[1]);
	return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
