/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "peer_seal.h"
#include "wire/cookie.h"

#define OPEN_TRIES     5
#define OPEN_WAIT_MS   200
#define CHUNK_TRIES    8
#define CHUNK_WAIT_MS  100
#define BEGIN_TRIES    40
#define BEGIN_WAIT_MS  50
#define TELL_NS        UINT64_C(10000000)
#define BURST_PKTS     128
#define RECEIVE_BYTES  (8 << 20)
#define CHUNK_BUFFERS  32
#define OWN_CID_OFFSET 0x40000000

void wh_peer_init(struct wh_peer *peer, struct wh_attacker *attacker, uint16_t port)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in there = {
		.sin_family = AF_INET, .sin_port = htons(attacker->server.port)};
	int bytes = RECEIVE_BYTES;

	*peer = (struct wh_peer){.attacker = attacker};
	wh_hasher_init(&peer->hasher);
	peer->socket = socket(AF_INET, SOCK_DGRAM, 0);
	memcpy(&there.sin_addr, attacker->server.ip, 4);
	WH_ASSERT(peer->socket >= 0);
	setsockopt(peer->socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(peer->socket, SOL_SOCKET, SO_NO_CHECK, &(int){1}, sizeof(int));
	if (bind(peer->socket, (const struct sockaddr *)&here, sizeof(here)) != 0 ||
		connect(peer->socket, (const struct sockaddr *)&there, sizeof(there)) != 0) {
		perror("attacker: a socket");
		exit(1);
	}
	peer->params = wh_attack_params(1 + (uint32_t)wh_prng_below(&attacker->prng, 1u << 30));
	peer->params.initiator_token = wh_prng_u64(&attacker->prng);
	peer->reply = wh_prng_u64(&attacker->prng);
	peer->in_cid = peer->params.initiator_cid ^ OWN_CID_OFFSET;
}

void wh_peer_free(struct wh_peer *peer)
{
	close(peer->socket);
	wh_peer_seal_free(peer);
	free(peer->in_has);
	for (uint32_t i = 0; i < WH_PEER_IN_CHUNKS; i++)
		free(peer->in[i].bytes);
}

void wh_peer_send_bytes(struct wh_peer *peer, const uint8_t *bytes, size_t count)
{
	/* An error is the news of an earlier packet; what is lost is sent again by who cares. */
	if (send(peer->socket, bytes, count, 0) < 0)
		return;
	peer->attacker->sent_pkts++;
	peer->attacker->sent_bytes += count + WH_ETHER_BYTES + WH_IPV4_BYTES + WH_UDP_BYTES;
}

void wh_peer_send_closed(struct wh_peer *peer, uint8_t *bytes, uint32_t count)
{
	if (wh_peer_close(peer, bytes, count))
		wh_peer_send_bytes(peer, bytes, count);
}

void wh_peer_send(struct wh_peer *peer, struct wh_packet *packet)
{
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];

	packet->pn = peer->pn[packet->type]++;
	wh_peer_address(peer, packet);
	wh_peer_send_closed(peer, bytes, wh_attack_encode(packet, 0, bytes));
}

void wh_peer_confirm(struct wh_peer *peer)
{
	struct wh_packet packet = {
		.type = WH_PACKET_CONFIRM,
		.confirm = {.params = peer->params, .acceptor_cid = peer->acceptor_cid},
	};

	memcpy(packet.confirm.cookie, peer->cookie, sizeof(peer->cookie));
	wh_peer_send(peer, &packet);
}

static void send_open(struct wh_peer *peer)
{
	struct wh_packet packet = {.type = WH_PACKET_OPEN, .open.params = peer->params};

	peer->next_pn = peer->params.first_pn;
	peer->acked = peer->params.first_pn;
	wh_peer_send(peer, &packet);
}

static void take_accept(struct wh_peer *peer, const struct wh_packet *packet)
{
	if (packet->cid != peer->params.initiator_cid || peer->open)
		return;
	peer->acceptor_cid = packet->accept.acceptor_cid;
	peer->refused = packet->accept.refused;
	memcpy(peer->cookie, packet->accept.cookie, sizeof(peer->cookie));
	peer->acceptor_token = wh_cookie_token(peer->cookie);
	peer->open = peer->refused == 0;
	if (peer->open)
		wh_peer_seal_ours(peer);
}

/* The server's stream to us: taken with all the room that it may ask for. */
static void take_open(struct wh_peer *peer, const struct wh_packet *packet)
{
	char name[32];
	struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.cid = packet->open.params.initiator_cid,
		.accept = {.acceptor_cid = peer->in_cid,
			.stamp_us = packet->open.stamp_us,
			.buffer_chunks = CHUNK_BUFFERS},
	};

	snprintf(name, sizeof(name), "reply %016" PRIx64, peer->reply);
	if (strcmp(packet->open.params.name, name) != 0)
		return;
	if (!peer->in_open) {
		peer->theirs = packet->open.params;
		peer->in_lower = peer->in_end = peer->theirs.first_pn;
		peer->in_has = calloc(WH_PEER_IN_PKTS, 1);
		peer->in_open = true;
		wh_peer_seal_theirs(peer);
	}
	wh_peer_send(peer, &accept);
}

/* The first chunks are kept, the others only noted. */
static void keep(struct wh_peer *peer, const struct wh_packet *packet)
{
	const struct wh_data_fields *data = &packet->data;
	size_t place = (size_t)data->index * peer->theirs.payload_bytes;
	struct wh_peer_chunk *chunk;

	if (data->chunk >= WH_PEER_IN_CHUNKS ||
		place + data->payload_bytes > peer->theirs.chunk_bytes)
		return;
	chunk = &peer->in[data->chunk];
	if (chunk->bytes == NULL)
		chunk->bytes = calloc(1, peer->theirs.chunk_bytes);
	memcpy(chunk->bytes + place, packet->payload, data->payload_bytes);
	chunk->k = data->k;
	chunk->have++;
	chunk->length += data->payload_bytes;
}

static void take_data(struct wh_peer *peer, const struct wh_packet *packet)
{
	uint64_t at = packet->pn - peer->theirs.first_pn;

	if (!peer->in_open || at >= WH_PEER_IN_PKTS || peer->in_has[at])
		return;
	keep(peer, packet);
	if (packet->data.chunk >= peer->in_chunks)
		peer->in_chunks = packet->data.chunk + 1;
	peer->in_has[at] = 1;
	if (packet->pn >= peer->in_end)
		peer->in_end = packet->pn + 1;
	while (peer->in_lower < peer->in_end &&
		peer->in_has[peer->in_lower - peer->theirs.first_pn])
		peer->in_lower++;
}

static void take_report(struct wh_peer *peer, const struct wh_packet *packet)
{
	struct wh_packet echo = {
		.type = WH_PACKET_ACK2,
		.cid = peer->acceptor_cid,
		.ack2 = {.ack_pn = packet->pn, .lower = packet->rcv_report.lower},
	};

	if (packet->cid != peer->params.initiator_cid)
		return;
	peer->reports++;
	if (packet->rcv_report.lower > peer->acked)
		peer->acked = packet->rcv_report.lower;
	wh_peer_send(peer, &echo);
}

static void take(struct wh_peer *peer, uint8_t *bytes, size_t count)
{
	struct wh_packet packet;

	peer->got_pkts++;
	peer->got_bytes += count;
	if (!wh_peer_open_packet(peer, bytes, count) ||
		wh_packet_decode(bytes, count, &packet) != WH_WIRE_OK)
		return;
	switch (packet.type) {
	case WH_PACKET_ACCEPT:
		take_accept(peer, &packet);
		break;
	case WH_PACKET_OPEN:
		take_open(peer, &packet);
		break;
	case WH_PACKET_DATA:
		take_data(peer, &packet);
		break;
	case WH_PACKET_RCV_REPORT:
		take_report(peer, &packet);
		break;
	case WH_PACKET_RELEASE:
		peer->releases++;
		peer->released_as = packet.release.status;
		break;
	default:
		break;
	}
}

/* What is missing of the server's stream, in as many ranges as a packet has room for. */
static void put_holes(const struct wh_peer *peer, struct wh_rcv_report *report)
{
	for (uint64_t pn = report->cover_first;
		pn < report->cover_end && report->n_holes < WH_RANGES_MAX; pn++) {
		struct wh_range *last = &report->holes[report->n_holes];
		uint32_t offset = (uint32_t)(pn - report->cover_first);

		if (peer->in_has[pn - peer->theirs.first_pn])
			continue;
		if (report->n_holes > 0 && last[-1].offset + last[-1].count == offset)
			last[-1].count++;
		else
			report->holes[report->n_holes++] = (struct wh_range){offset, 1};
	}
}

static void tell_in_report(struct wh_peer *peer)
{
	struct wh_packet packet = {
		.type = WH_PACKET_RCV_REPORT,
		.cid = peer->theirs.initiator_cid,
	};
	struct wh_rcv_report *report = &packet.rcv_report;
	uint64_t now_ns = wh_attack_now_ns();

	if (!peer->in_open || now_ns - peer->in_told_ns < TELL_NS)
		return;
	peer->in_told_ns = now_ns;
	report->lower = report->cover_first = peer->in_lower;
	report->cover_end = report->highest_end = peer->in_end;
	report->upper = peer->in_lower + (peer->full ? 0 : peer->theirs.window_pkts);
	report->chunk_upper = peer->in_chunks + (peer->full ? 0 : CHUNK_BUFFERS);
	report->buffer_chunks = CHUNK_BUFFERS;
	report->rtt_us = 1000;
	put_holes(peer, report);
	if (report->n_holes == WH_RANGES_MAX)
		report->cover_end = report->cover_first + report->holes[WH_RANGES_MAX - 1].offset +
				    report->holes[WH_RANGES_MAX - 1].count;
	wh_peer_send(peer, &packet);
}

void wh_peer_pump(struct wh_peer *peer, uint32_t ms)
{
	uint64_t end_ns = wh_attack_now_ns() + ms * UINT64_C(1000000);
	uint8_t bytes[WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];

	for (;;) {
		struct pollfd waits = {.fd = peer->socket, .events = POLLIN};
		uint64_t now_ns = wh_attack_now_ns();
		uint64_t left_ms = now_ns < end_ns ? (end_ns - now_ns + 999999) / 1000000 : 0;
		ssize_t count;

		if (poll(&waits, 1, (int)(left_ms < 10 ? left_ms : 10)) > 0)
			while ((count = recv(peer->socket, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
				take(peer, bytes, (size_t)count);
		tell_in_report(peer);
		if (left_ms == 0)
			return;
	}
}

bool wh_peer_open(struct wh_peer *peer)
{
	for (uint32_t i = 0; i < OPEN_TRIES && !peer->open && peer->refused == 0; i++) {
		send_open(peer);
		for (uint32_t ms = 0; ms < OPEN_WAIT_MS && !peer->open && peer->refused == 0; ms++)
			wh_peer_pump(peer, 1);
	}
	if (peer->open)
		wh_peer_confirm(peer);
	return peer->open;
}

void wh_peer_data(struct wh_peer *peer, uint64_t pn, const struct wh_data_fields *fields,
	const uint8_t *payload)
{
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];
	struct wh_packet packet = {
		.type = WH_PACKET_DATA,
		.cid = peer->acceptor_cid,
		.pn = pn,
		.payload = payload,
		.data = *fields,
	};

	packet.data.transmission = peer->pn[WH_PACKET_DATA]++;
	wh_peer_send_closed(peer, bytes, wh_attack_encode(&packet, 0, bytes));
}

void wh_peer_state(struct wh_peer *peer)
{
	struct wh_packet packet = {
		.type = WH_PACKET_TRANS_REPORT,
		.cid = peer->acceptor_cid,
		.trans_report = {.lower = peer->acked, .upper = peer->next_pn},
	};

	if (peer->acked > peer->next_pn)
		packet.trans_report.lower = peer->next_pn;
	wh_peer_send(peer, &packet);
}

static void send_chunk(
	struct wh_peer *peer, uint64_t pn, uint32_t number, const uint8_t *bytes, uint32_t count)
{
	uint32_t full = peer->params.payload_bytes;
	uint32_t k = (count + full - 1) / full;

	for (uint32_t i = 0; i < k; i++) {
		uint32_t part = count - i * full < full ? count - i * full : full;
		struct wh_data_fields fields = {
			.chunk = number,
			.index = (uint16_t)i,
			.k = (uint16_t)k,
			.payload_bytes = (uint16_t)part,
		};

		wh_peer_data(peer, pn + i, &fields, bytes + (size_t)i * full);
		if (i % BURST_PKTS == BURST_PKTS - 1)
			wh_peer_pump(peer, 1);
	}
	wh_peer_state(peer);
}

bool wh_peer_chunk(struct wh_peer *peer, const uint8_t *bytes, uint32_t count)
{
	uint64_t pn = peer->next_pn;
	uint32_t full = peer->params.payload_bytes;

	peer->next_pn += (count + full - 1) / full;
	for (uint32_t i = 0; i < CHUNK_TRIES; i++) {
		send_chunk(peer, pn, peer->next_chunk, bytes, count);
		for (uint32_t ms = 0; ms < CHUNK_WAIT_MS; ms += 2) {
			wh_peer_pump(peer, 2);
			if (peer->acked >= peer->next_pn) {
				peer->next_chunk++;
				return true;
			}
			if (peer->releases > 0)
				return false;
		}
		if (i == 0)
			wh_peer_confirm(peer);
	}
	return false;
}

bool wh_peer_pack(struct wh_peer *peer, uint8_t *bytes, uint32_t count)
{
	struct wh_digest digest;

	wh_hasher_add(&peer->hasher, bytes, count);
	wh_hasher_digest(&peer->hasher, &digest);
	digest.bytes[0] ^= peer->forges;
	memcpy(bytes + count, &digest, WH_SEAL_BYTES);
	return wh_peer_chunk(peer, bytes, count + (uint32_t)WH_SEAL_BYTES);
}

/* HELLO comes before the bundle, and has no seal. */
bool wh_peer_say(struct wh_peer *peer, const struct wh_record *record)
{
	uint32_t room = wh_record_bytes(record);
	uint8_t *bytes = calloc(1, room + WH_SEAL_BYTES);
	uint32_t count = wh_record_encode(record, bytes, room);
	bool said = false;

	if (count > 0)
		said = record->type == WH_RECORD_HELLO ? wh_peer_chunk(peer, bytes, count)
						       : wh_peer_pack(peer, bytes, count);
	free(bytes);
	return said;
}

void wh_peer_release(
	struct wh_peer *peer, enum wh_release_stage stage, enum wh_release_status status)
{
	struct wh_packet packet = {
		.type = WH_PACKET_RELEASE,
		.cid = peer->acceptor_cid,
		.release = {.stage = (uint8_t)stage,
			.status = (uint8_t)status,
			.chunks = peer->next_chunk,
			.pn_end = peer->next_pn},
	};

	wh_peer_send(peer, &packet);
}

/* Twice, for one may be lost. */
void wh_peer_give_up(struct wh_peer *peer)
{
	for (int i = 0; i < 2; i++)
		wh_peer_release(peer, WH_RELEASE_ABORT, WH_STATUS_INTERRUPTED);
	wh_peer_free(peer);
}

void wh_peer_linger(struct wh_peer *peer)
{
	while (wh_attack_goes_on(peer->attacker)) {
		wh_peer_state(peer);
		wh_peer_pump(peer, 100);
	}
}

struct wh_hello wh_peer_hello(struct wh_peer *peer, enum wh_job_verb verb, const char *path)
{
	struct wh_hello hello = {
		.version = WH_BUNDLE_VERSION,
		.verb = (uint8_t)verb,
		.recursive = true,
		.profile = peer->params.profile,
		.lanes = 1,
		.payload_bytes = 1408,
		.rate_bps = UINT64_MAX,
		.reply = peer->reply,
	};

	if (path != NULL) {
		hello.paths = 1;
		hello.path[0] = path;
		hello.path_bytes[0] = (uint16_t)strlen(path);
	}
	return hello;
}

bool wh_peer_begin(struct wh_peer *peer, const struct wh_hello *hello)
{
	struct wh_record record = {.type = WH_RECORD_HELLO, .hello = *hello};

	if (!wh_peer_open(peer) || !wh_peer_say(peer, &record))
		return false;
	for (uint32_t i = 0; i < BEGIN_TRIES && !peer->in_open && peer->releases == 0; i++)
		wh_peer_pump(peer, BEGIN_WAIT_MS);
	return peer->in_open;
}

bool wh_peer_answer(
	const struct wh_peer *peer, uint32_t *chunk, uint32_t *at, struct wh_record *record)
{
	while (*chunk < WH_PEER_IN_CHUNKS) {
		const struct wh_peer_chunk *in = &peer->in[*chunk];
		uint32_t length;

		if (in->k == 0 || in->have < in->k)
			return false;
		length = *at < in->length
				 ? wh_record_decode(in->bytes + *at, in->length - *at, record)
				 : 0;
		if (length > 0) {
			*at += length;
			return true;
		}
		(*chunk)++;
		*at = 0;
	}
	return false;
}
