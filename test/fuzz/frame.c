/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: frames. The first byte says in which state a host of the link hears the rest; then
 * no entry appears or moves but by an answer to a question, what is answered is short and goes to
 * one, and a packet of ours lies within its frame.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fuzz.h"
#include "neighbour_rig.h"
#include "wire/internet.h"

#define ENTRIES        4
#define ANSWER_BYTES   90 /* what discovery answers on a VLAN: the longest but for an echo */
#define OUTPUT_AT_ONCE (WH_NEIGHBOUR_ANSWERS + 2 * WH_NEIGHBOUR_OWN_MAX + ENTRIES)

/* What the rig finds wrong ends the run: there is no suite to count it. */
CU_BOOL CU_assertImplementation(CU_BOOL value, unsigned int line, const char *condition,
	const char *file, const char *function, CU_BOOL fatal)
{
	(void)function;
	(void)fatal;
	if (!value)
		fprintf(stderr, "%s:%u: %s\n", file, line, condition);
	WH_ASSERT(value);
	return value;
}

/* What the host knows of its two peers: the states between which questions and time move it. */
enum mood {
	MOOD_REACHABLE,
	MOOD_PROBE_ALONE,
	MOOD_PROBE_ALL, /* the known MAC was silent: who answers now is believed */
	MOOD_ASKED,
	MOOD_FAILED,
	MOOD_TAGGED, /* reachable, on a VLAN */
	MOODS,
};

static struct host {
	struct rig rig;
	struct wh_neighbour image; /* what it is put back to before each frame */
	struct wh_neighbour_entry entries[ENTRIES];
} hosts[MOODS];

static uint64_t reasons[WH_NEIGHBOUR_REASONS];
static uint64_t encap_reasons[WH_ENCAP_REASONS];

static void look_up_peers(struct rig *rig)
{
	struct wh_address peers[] = {rig_ip4(10, 0, 0, 2), rig_ip6(rig_peer6)};
	uint8_t mac[6];

	for (uint32_t i = 0; i < 2; i++)
		(void)wh_neighbour_lookup(&rig->host, rig->now, &peers[i], mac);
}

/* Lets time go by while the peers are looked up and nobody answers. */
static void wait_in_vain(struct rig *rig, uint64_t span)
{
	for (uint64_t end = rig->now + span; rig->now < end; rig->now += 50 * RIG_MS) {
		look_up_peers(rig);
		(void)rig_take_all(rig);
	}
}

/* A frame in the tag of that host's VLAN. */
static size_t tag(const struct rig *rig, uint8_t *frame, size_t bytes)
{
	uint16_t vlan = rig->host.config.vlan;

	if (vlan == 0 || bytes < 12)
		return bytes;
	memmove(frame + 16, frame + 12, bytes - 12);
	frame[12] = 0x81;
	frame[13] = 0;
	frame[14] = (uint8_t)(vlan >> 8);
	frame[15] = (uint8_t)vlan;
	return bytes + WH_VLAN_BYTES;
}

static void answer_us(struct rig *rig)
{
	uint8_t frame[RIG_BYTES];

	(void)rig_feed(rig, frame, tag(rig, frame, rig_arp_reply(frame)));
	(void)rig_feed(rig, frame, tag(rig, frame, rig_advertisement(frame)));
}

static void open_host(struct host *host, enum mood mood)
{
	struct wh_neighbour_config config = rig_config();
	struct rig *rig = &host->rig;

	config.entries = ENTRIES;
	config.vlan = mood == MOOD_TAGGED ? 7 : 0;
	rig_open(rig, &config);
	look_up_peers(rig);
	(void)rig_take_all(rig);
	if (mood == MOOD_FAILED)
		wait_in_vain(rig, 3100 * RIG_MS);
	else if (mood != MOOD_ASKED)
		answer_us(rig);
	if (mood == MOOD_PROBE_ALONE)
		wait_in_vain(rig, 5600 * RIG_MS);
	if (mood == MOOD_PROBE_ALL)
		wait_in_vain(rig, 7000 * RIG_MS);
	host->image = rig->host;
	memcpy(host->entries, rig->host.entry, sizeof(host->entries));
}

static bool has_mac(const struct wh_neighbour_entry *entry)
{
	return entry->state == WH_NEIGHBOUR_REACHABLE || entry->state == WH_NEIGHBOUR_PROBE;
}

static void open_hosts(void)
{
	static const enum wh_neighbour_state states[MOODS] = {WH_NEIGHBOUR_REACHABLE,
		WH_NEIGHBOUR_PROBE, WH_NEIGHBOUR_PROBE, WH_NEIGHBOUR_INCOMPLETE,
		WH_NEIGHBOUR_FAILED, WH_NEIGHBOUR_REACHABLE};

	for (enum mood mood = 0; mood < MOODS; mood++) {
		open_host(&hosts[mood], mood);
		for (uint32_t i = 0; i < 2; i++)
			WH_ASSERT(hosts[mood].entries[i].state == states[mood]);
		WH_ASSERT(hosts[mood].entries[2].state == WH_NEIGHBOUR_FREE);
	}
	WH_ASSERT(hosts[MOOD_PROBE_ALONE].entries[0].asks <= WH_NEIGHBOUR_ASKS);
	WH_ASSERT(hosts[MOOD_PROBE_ALL].entries[0].asks > WH_NEIGHBOUR_ASKS);
}

/* What a frame may change of the table: nothing but by an answer that was asked for. */
static void check_entries(const struct host *host, enum mood mood)
{
	for (uint32_t i = 0; i < ENTRIES; i++) {
		const struct wh_neighbour_entry *was = &host->entries[i];
		const struct wh_neighbour_entry *is = &host->rig.host.entry[i];

		WH_ASSERT(wh_address_equal(&was->address, &is->address));
		WH_ASSERT((was->state == WH_NEIGHBOUR_FREE) == (is->state == WH_NEIGHBOUR_FREE));
		if (has_mac(was) && mood != MOOD_PROBE_ALL)
			WH_ASSERT(has_mac(is) && memcmp(was->mac, is->mac, 6) == 0);
		if (mood == MOOD_FAILED)
			WH_ASSERT(!has_mac(is));
		if (has_mac(is))
			WH_ASSERT((is->mac[0] & 1) == 0 && memcmp(is->mac, rig_us, 6) != 0);
	}
}

/* Everything that comes out, which is from us and hardly longer than what came in. */
static void drain(struct rig *rig, size_t heard_bytes)
{
	uint8_t frame[RIG_BYTES];
	uint32_t frames = 0;
	size_t bytes;

	while ((bytes = wh_neighbour_output(&rig->host, rig->now, frame, sizeof(frame))) > 0) {
		WH_ASSERT(memcmp(frame + 6, rig_us, 6) == 0);
		WH_ASSERT(bytes <= ANSWER_BYTES || bytes <= heard_bytes);
		WH_ASSERT(++frames <= OUTPUT_AT_ONCE);
	}
}

static void hear(const uint8_t *frame, size_t bytes, enum mood mood)
{
	struct host *host = &hosts[mood];
	struct rig *rig = &host->rig;

	rig->host = host->image;
	memcpy(rig->host.entry, host->entries, sizeof(host->entries));

	enum wh_neighbour_reason reason = wh_neighbour_input(&rig->host, rig->now, frame, bytes);

	WH_ASSERT(reason < WH_NEIGHBOUR_REASONS);
	reasons[reason]++;
	check_entries(host, mood);
	drain(rig, bytes);
}

/* The same frame as one with a packet of ours. */
static void find_packet(const uint8_t *frame, size_t bytes, enum mood mood, bool ipv6)
{
	static const struct wh_address any;
	struct wh_address local = ipv6 ? rig_ip6(rig_us6) : rig_ip4(10, 0, 0, 1);
	struct wh_address from = any;
	struct wh_encap_known known = {0};
	const uint8_t *packet = NULL;
	size_t packet_bytes = 0;

	local.port = WH_UDP_PORT_DEFAULT;

	enum wh_encap_reason reason = wh_encap_read(frame, bytes, &local,
		hosts[mood].rig.host.config.vlan, true, &packet, &packet_bytes, &from);

	encap_reasons[reason]++;
	if (reason != WH_ENCAP_OK)
		return;
	WH_ASSERT(from.family == local.family);
	WH_ASSERT(packet > frame && packet_bytes <= bytes);
	WH_ASSERT(packet + packet_bytes <= frame + bytes);
	wh_encap_know(&known, frame, packet, packet_bytes, &from);
	if (known.header_bytes == 0)
		return;
	WH_ASSERT(wh_encap_is_known(&known, frame, bytes));
	WH_ASSERT(frame + known.header_bytes == packet && known.packet_bytes == packet_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static bool open;

	if (length == 0)
		return 0;
	if (!open)
		open_hosts();
	open = true;

	enum mood mood = bytes[0] % MOODS;

	hear(bytes + 1, length - 1, mood);
	find_packet(bytes + 1, length - 1, mood, false);
	find_packet(bytes + 1, length - 1, mood, true);
	return 0;
}

static size_t udp_frame(struct wh_prng *prng, uint8_t *frame)
{
	struct wh_flow flow = {.source = rig_ip4(10, 0, 0, 2), .target = rig_ip4(10, 0, 0, 1)};
	uint8_t packet[128];
	size_t packet_bytes = wh_prng_below(prng, sizeof(packet));
	struct wh_encap encap;

	if (wh_prng_below(prng, 2) == 0) {
		flow.source = rig_ip6(rig_peer6);
		flow.target = rig_ip6(rig_us6);
	}
	flow.source.port = flow.target.port = WH_UDP_PORT_DEFAULT;
	memcpy(flow.source_mac, rig_peer, 6);
	memcpy(flow.target_mac, rig_us, 6);
	memset(packet, 1, sizeof(packet));
	wh_encap_init(&encap, &flow);
	wh_encap_write(&encap, frame, packet, packet_bytes, NULL, 0);
	memcpy(frame + encap.bytes, packet, packet_bytes);
	return encap.bytes + packet_bytes;
}

/* About one of our packets, which it repeats. */
static size_t error_frame(struct wh_prng *prng, uint8_t *frame)
{
	uint8_t said[RIG_BYTES];
	size_t said_bytes = udp_frame(prng, said);
	bool ipv6 = said[12] == 0x86;
	size_t bytes = ipv6 ? rig_echo6(frame, (uint8_t)wh_prng_below(prng, 5), rig_peer, rig_peer6,
				      rig_us6, said_bytes)
			    : rig_echo4(frame, (uint8_t)wh_prng_below(prng, 13), rig_peer,
				      rig_peer4, rig_us4, said_bytes);

	memcpy(frame + (ipv6 ? 62 : 42), said + WH_ETHER_BYTES, said_bytes - WH_ETHER_BYTES);
	rig_resum(frame, bytes);
	return bytes;
}

/* Of every kind that a host may hear; discovery with types that only routers send, too. */
static size_t any_frame(struct wh_prng *prng, uint8_t *frame)
{
	struct rig_ndp ndp = {
		.type = (uint8_t)(133 + wh_prng_below(prng, 5)),
		.flags = (uint8_t)(wh_prng_below(prng, 8) << 5),
		.option = (uint8_t)wh_prng_below(prng, 4),
		.mac = rig_other,
		.ip = wh_prng_below(prng, 2) == 0 ? rig_peer6 : rig_gate6,
		.to = wh_prng_below(prng, 2) == 0 ? rig_us6 : rig_all6,
		.target = wh_prng_below(prng, 2) == 0 ? rig_peer6 : rig_us6,
	};

	switch (wh_prng_below(prng, 9)) {
	case 0:
		return rig_arp_request(frame);
	case 1:
		return rig_arp(frame, rig_us, (uint8_t)(1 + wh_prng_below(prng, 2)), rig_other,
			rig_peer4, rig_us, rig_us4);
	case 2:
		return rig_solicitation(frame);
	case 3:
		return rig_advertisement(frame);
	case 4:
		return rig_ndp(frame, &ndp);
	case 5:
		return rig_echo4(frame, 8, rig_peer, rig_peer4, rig_us4,
			wh_prng_below(prng, wh_prng_below(prng, 16) == 0 ? 2000 : 200));
	case 6:
		return rig_echo6(
			frame, 128, rig_peer, rig_peer6, rig_us6, wh_prng_below(prng, 200));
	case 7:
		return error_frame(prng, frame);
	default:
		return udp_frame(prng, frame);
	}
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	struct wh_prng prng;

	WH_ASSERT(room >= 1 + RIG_BYTES);
	if (number >= 200)
		return 0;
	wh_prng_init(&prng, number);
	bytes[0] = (uint8_t)(number % MOODS);
	return 1 + any_frame(&prng, bytes + 1);
}

/* A few bytes of the headers changed, and mostly sums that are right all the same. */
size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const uint8_t odd[] = {0, 1, 2, 7, 8, 0x7f, 0x80, 0xfe, 0xff};
	uint8_t *frame = bytes + 1;
	size_t length = any_frame(prng, frame);

	WH_ASSERT(room >= 1 + RIG_BYTES);
	bytes[0] = (uint8_t)wh_prng_below(prng, MOODS);
	for (uint64_t left = wh_prng_below(prng, 4); left > 0; left--) {
		uint8_t *at = frame + wh_prng_below(prng, length < 90 ? length : 90);

		*at = wh_prng_below(prng, 2) == 0 ? odd[wh_prng_below(prng, sizeof(odd))]
						  : (uint8_t)wh_prng_u64(prng);
	}
	if (wh_prng_below(prng, 8) != 0)
		rig_resum(frame, length);
	if (bytes[0] == MOOD_TAGGED && wh_prng_below(prng, 8) != 0)
		length = tag(&hosts[MOOD_TAGGED].rig, frame, length);
	if (wh_prng_below(prng, 16) == 0)
		length = wh_prng_below(prng, length + 1);
	return 1 + length;
}

void wh_fuzz_report(void)
{
	printf("neighbours:");
	for (uint32_t i = 0; i < WH_NEIGHBOUR_REASONS; i++)
		printf(" %s %" PRIu64, wh_neighbour_reason_name(i), reasons[i]);
	printf("\nIP and UDP:");
	for (uint32_t i = 0; i < WH_ENCAP_REASONS; i++)
		printf(" %s %" PRIu64, i == 0 ? "taken" : wh_encap_reason_name(i),
			encap_reasons[i]);
	printf("\n");
}
