/* SPDX-License-Identifier: BSD-3-Clause */

/* Before there is a connection, and how to end those of others. */

#include <net/ethernet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "attacker.h"
#include "peer.h"

#define ADDRESSES_FIRST 20
#define ADDRESSES       230
#define FLOOD_OPENS     400000
#define FLOOD_BURST     64
#define GUESSES_BACK    4096
#define GUESSES_AHEAD   4096
#define FAR_PKTS        64

static void packet_to_server(
	struct wh_attacker *attacker, const struct wh_address *from, const struct wh_packet *packet)
{
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];

	wh_attack_to_server(attacker, from, bytes, wh_attack_encode(packet, 0, bytes));
}

static void many_addresses(struct wh_attacker *attacker)
{
	struct wh_packet packet = wh_attack_example(WH_PACKET_OPEN, 0);

	for (uint32_t i = 0; wh_attack_goes_on(attacker); i++) {
		struct wh_address from = wh_attack_beside(
			&attacker->server, (uint8_t)(ADDRESSES_FIRST + i % ADDRESSES));

		packet.open.params.initiator_cid = 1 + i;
		packet_to_server(attacker, &from, &packet);
	}
}

/* Addresses beyond the subnet, who would be answered by way of the gateway, and refused. */
static void far_addresses(struct wh_attacker *attacker)
{
	struct wh_packet packet = wh_attack_example(WH_PACKET_OPEN, 0);

	for (uint32_t i = 0; wh_attack_goes_on(attacker); i++) {
		struct wh_address from = attacker->server;
		uint32_t drawn = (uint32_t)wh_prng_u64(&attacker->prng);

		memcpy(from.ip + 1, &drawn, 3);
		from.ip[0] = 11;
		packet.open.params.initiator_cid = 1 + i;
		packet_to_server(attacker, &from, &packet);
	}
}

/* The same OPEN as often as the line takes it, in bursts of one system call. */
static void flood(struct wh_attacker *attacker)
{
	uint64_t count = attacker->count > 0 ? attacker->count : FLOOD_OPENS;
	struct wh_packet packet = wh_attack_example(WH_PACKET_OPEN, 0);
	uint8_t bytes[WH_ATTACK_FRAME_BYTES], frame[WH_ATTACK_FRAME_BYTES];
	size_t packet_bytes = wh_attack_encode(&packet, 0, bytes);
	struct wh_flow flow = {.source = attacker->own, .target = attacker->server};
	struct mmsghdr burst[FLOOD_BURST] = {0};
	struct wh_encap encap;

	memcpy(flow.source_mac, attacker->own_mac, sizeof(flow.source_mac));
	memcpy(flow.target_mac, attacker->server_mac, sizeof(flow.target_mac));
	wh_encap_init(&encap, &flow);
	wh_encap_write(&encap, frame, bytes, packet_bytes, NULL, 0);
	memcpy(frame + encap.bytes, bytes, packet_bytes);

	struct iovec whole = {.iov_base = frame, .iov_len = encap.bytes + packet_bytes};

	for (int i = 0; i < FLOOD_BURST; i++)
		burst[i].msg_hdr = (struct msghdr){.msg_iov = &whole, .msg_iovlen = 1};
	while (attacker->sent_pkts < count && wh_attack_goes_on(attacker)) {
		int sent = sendmmsg(attacker->raw, burst, FLOOD_BURST, 0);

		if (sent <= 0) {
			wh_attack_sleep_ms(1);
			continue;
		}
		attacker->sent_pkts += (uint64_t)sent;
		attacker->sent_bytes += (uint64_t)sent * whole.iov_len;
	}
}

/* One OPEN, and what comes within that time; the peer is to be freed. */
static struct wh_peer ask_once(struct wh_attacker *attacker, uint32_t ms)
{
	struct wh_packet packet = {.type = WH_PACKET_OPEN};
	struct wh_peer peer;

	wh_peer_init(&peer, attacker, 0);
	packet.open.params = peer.params;
	wh_peer_send(&peer, &packet);
	wh_peer_pump(&peer, ms);
	return peer;
}

/* Says what an answer gives away. */
static uint32_t ask(struct wh_attacker *attacker)
{
	struct wh_peer peer = ask_once(attacker, 30);
	uint8_t gift = 0;

	for (int i = 0; i < WH_COOKIE_BYTES; i++)
		gift |= peer.cookie[i];
	wh_attack_note(attacker, "answers", peer.got_pkts);
	wh_attack_note(attacker, "refused", peer.refused);
	wh_attack_note(attacker, "identifier", peer.acceptor_cid);
	wh_attack_note(attacker, "cookie", gift != 0);
	wh_attack_note(attacker, "answer_bytes", peer.got_bytes);
	wh_peer_free(&peer);
	return peer.acceptor_cid;
}

static void identifiers(struct wh_attacker *attacker)
{
	ask(attacker);
}

static void both_ways(struct wh_attacker *attacker, const struct wh_packet *packet)
{
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];

	wh_attack_both_ways(attacker, bytes, wh_attack_encode(packet, attacker->token, bytes));
}

/* Ends connections of the peer whose identifiers are around one that was given to us. */
static void aborts(struct wh_attacker *attacker)
{
	struct wh_packet packet = wh_attack_example(WH_PACKET_RELEASE, 0);

	do {
		uint32_t known = ask(attacker);

		for (uint32_t i = 0; i < GUESSES_BACK + GUESSES_AHEAD; i++) {
			packet.cid = known - GUESSES_BACK + i;
			packet.pn = 1000 + i;
			packet_to_server(attacker, &attacker->peer, &packet);
		}
	} while (wh_attack_goes_on(attacker));
}

/* A state that says no more than was said already. */
static void say_heard(struct wh_packet *packet, uint64_t pn)
{
	if (packet->type == WH_PACKET_RCV_REPORT) {
		packet->rcv_report.lower = packet->rcv_report.highest_end = pn;
		packet->rcv_report.cover_first = packet->rcv_report.cover_end = pn;
		packet->rcv_report.upper = pn + 1024;
	} else if (packet->type == WH_PACKET_TRANS_REPORT) {
		packet->trans_report.lower = packet->trans_report.upper = pn;
	} else if (packet->type == WH_PACKET_ACK2) {
		packet->ack2.lower = pn;
	} else if (packet->type == WH_PACKET_DELAY_WARNING) {
		packet->delay_warning.highest_end = pn;
	} else if (packet->type == WH_PACKET_BITMAP) {
		packet->bitmap.first = pn;
	} else if (packet->type == WH_PACKET_NAK) {
		packet->nak.base = pn;
	}
}

/*
 * With the right address and an overheard identifier: packet numbers that no honest end would use.
 */
static void far_pns(struct wh_attacker *attacker)
{
	static const enum wh_packet_type types[] = {WH_PACKET_RCV_REPORT, WH_PACKET_TRANS_REPORT,
		WH_PACKET_ACK2, WH_PACKET_DELAY_WARNING, WH_PACKET_BITMAP, WH_PACKET_NAK};

	for (uint32_t i = 0; i < FAR_PKTS; i++) {
		for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
			struct wh_packet packet = wh_attack_example(types[t], attacker->cid);

			packet.pn = WH_PN_MAX - 1 - i;
			say_heard(&packet, attacker->pn);
			both_ways(attacker, &packet);
		}
	}
}

/*
 * The same with packet numbers just ahead, and a content that contradicts all that was said before.
 */
static void near_pns(struct wh_attacker *attacker)
{
	while (wh_attack_goes_on(attacker)) {
		struct wh_packet packet = wh_attack_example(WH_PACKET_RCV_REPORT, attacker->cid);

		packet.pn = wh_prng_below(&attacker->prng, 2000);
		packet.rcv_report.lower = WH_PN_MAX / 2;
		packet.rcv_report.upper = packet.rcv_report.highest_end =
			packet.rcv_report.cover_first = packet.rcv_report.cover_end =
				packet.rcv_report.lower;
		both_ways(attacker, &packet);
		packet = wh_attack_example(WH_PACKET_TRANS_REPORT, attacker->cid);
		packet.pn = wh_prng_below(&attacker->prng, 2000);
		packet.trans_report.lower = packet.trans_report.upper = WH_PN_MAX / 2;
		both_ways(attacker, &packet);
	}
}

/* A connection that is over, and its CONFIRM again some time later, from where it came. */
static void replay(struct wh_attacker *attacker)
{
	struct wh_peer peer;

	wh_peer_init(&peer, attacker, 0);
	if (wh_peer_open(&peer)) {
		wh_peer_pump(&peer, 100);
		wh_peer_release(&peer, WH_RELEASE_ABORT, WH_STATUS_INTERRUPTED);
		wh_attack_note(attacker, "reports_before", peer.reports);
		while (wh_attack_goes_on(attacker))
			wh_peer_pump(&peer, 100);
		peer.reports = 0;
		wh_peer_confirm(&peer);
		wh_peer_pump(&peer, 500);
		wh_attack_note(attacker, "reports_after", peer.reports);
	}
	wh_attack_note(attacker, "opened", peer.open);
	wh_peer_free(&peer);
}

/* A cookie that was made for us, kept for a time, used for the first time then. */
static void late_confirm(struct wh_attacker *attacker)
{
	struct wh_peer peer = ask_once(attacker, 50);

	while (wh_attack_goes_on(attacker))
		wh_attack_sleep_ms(50);
	peer.got_pkts = 0;
	if (peer.open)
		wh_peer_confirm(&peer);
	wh_peer_pump(&peer, 500);
	wh_attack_note(attacker, "opened", peer.open);
	wh_attack_note(attacker, "reports_after", peer.reports);
	wh_peer_give_up(&peer);
}

/* Questions for a cookie, and trains and questions of who has made up his. */
static void probes(struct wh_attacker *attacker)
{
	static const uint8_t flags[] = {WH_FLAG_ASK, 0, WH_FLAG_ECHO, WH_FLAG_FETCH};
	static const uint16_t paddings[] = {16, 1400, 0, 1024};
	struct wh_packet packet = wh_attack_example(WH_PACKET_PROBE, 0);
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];

	for (uint32_t i = 0; wh_attack_goes_on(attacker); i++) {
		uint64_t token = i % 4 == 0 ? 0 : wh_prng_u64(&attacker->prng);

		packet.flags = flags[i % 4];
		packet.probe.padding_bytes = paddings[i % 4];
		packet.probe.stamp_ns = packet.pn = i;
		/* Any moment since the server has started. */
		packet.probe.made_us = i % 4 == 0 ? 0 : wh_prng_below(&attacker->prng, UINT32_MAX);
		packet.probe.count = 1000;
		packet.probe.index = i % 1000;
		packet.probe.train = (uint16_t)(i / 1000);
		wh_attack_to_server(
			attacker, &attacker->own, bytes, wh_attack_encode(&packet, token, bytes));
	}
}

const struct wh_attack wh_attacks_opens[] = {
	{"many-addresses", 4, "OPEN from every address of the subnet", many_addresses},
	{"far-addresses", 4, "OPEN from addresses all over the world", far_addresses},
	{"flood", 5, "the same OPEN as often as the line takes it", flood},
	{"identifiers", 7, "what the answer to an OPEN gives away", identifiers},
	{"aborts", 7, "releases in the peer's name, around an identifier that was given", aborts},
	{"far-pns", 7, "control packets of the last packet number there is", far_pns},
	{"near-pns", 7, "reports that contradict what was said before", near_pns},
	{"replay", 6, "the CONFIRM of a connection that is over", replay},
	{"probes", 6, "probes without a cookie, and questions for one", probes},
	{"late-confirm", 6, "a cookie long after it was made", late_confirm},
	{0},
};
