/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A probe under an SA, and who owns the path beside it: what he repeats, changes and invents
 * counts for nothing, is not answered, and changes no finding.
 */
#include <inttypes.h>

#include "base/prng.h"
#include "closed.h"
#include "probe_rig.h"
#include "unit.h"

const char wh_suite_name[] = "sealed probe";

#define RECORDS 40000

static const struct wh_address stranger = {.family = WH_IPV4, .ip = {10, 0, 0, 66}, .port = 1};

/* Of one run. */
static struct {
	uint8_t *packet[RECORDS]; /* to the server */
	uint32_t length[RECORDS];
	uint32_t packets;
	uint64_t next_pn[2]; /* each way: none comes twice */
	struct wh_prng prng;
} seen;

static void forget(void)
{
	for (uint32_t i = 0; i < seen.packets; i++)
		free(seen.packet[i]);
	memset(&seen, 0, sizeof(seen));
	wh_prng_init(&seen.prng, 3);
}

static void assert_sealed(bool to_server, const uint8_t *bytes, uint32_t length)
{
	uint64_t pn;

	CU_ASSERT_FATAL(length >= WH_HEAD_BYTES);
	CU_ASSERT_EQUAL(bytes[WH_KEY_OFFSET], WH_KEY_SEALED);
	memcpy(&pn, bytes + 8, sizeof(pn));
	CU_ASSERT(pn >= seen.next_pn[to_server]);
	seen.next_pn[to_server] = pn + 1;
}

static bool record(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	(void)rig;
	assert_sealed(to_server, bytes, *length);
	if (!to_server)
		return true;
	CU_ASSERT_FATAL(seen.packets < RECORDS);
	seen.packet[seen.packets] = malloc(*length);
	memcpy(seen.packet[seen.packets], bytes, *length);
	seen.length[seen.packets++] = *length;
	return true;
}

/* What was recorded comes again, from there. */
static void replay(struct probe_rig *rig, const struct wh_address *from)
{
	static uint8_t bytes[WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];

	for (uint32_t i = 0; i < seen.packets; i++) {
		memcpy(bytes, seen.packet[i], seen.length[i]);
		probe_rig_inject(rig, bytes, seen.length[i], from);
	}
}

static void assert_plain(const struct probe_rig *rig, uint32_t duplicates)
{
	const struct wh_findings *found = &rig->prober.findings;

	CU_ASSERT_EQUAL(found->echoes_heard, 100);
	CU_ASSERT_EQUAL(found->echoes_got, 100);
	CU_ASSERT_EQUAL(found->rtt_min_ns, 20000000 + 2 * 1040);
	CU_ASSERT_EQUAL(found->mtu_bytes, 1500);
	CU_ASSERT_EQUAL(found->burst_end, WH_BURST_LONGEST);
	CU_ASSERT_EQUAL(found->burst_pkts, rig->config.train_pkts);
	CU_ASSERT_EQUAL(found->steady_lost, 0);
	CU_ASSERT_EQUAL(found->duplicate_pkts, duplicates);
}

static void open_rig(struct probe_rig *rig)
{
	forget();
	probe_rig_init(rig);
	rig->config.train_pkts = 1024;
	rig->sealed = true;
}

static uint64_t replies(const struct probe_rig *rig)
{
	return wh_slot_fifo_count(&rig->server.replies) + rig->server.stats.replies_dropped_pkts;
}

#define LINES 16

static char logged[LINES][160];
static uint32_t lines;

static void take_line(void *context, const char *line)
{
	CU_ASSERT_PTR_EQUAL(context, logged);
	CU_ASSERT_FATAL(lines < LINES);
	strcpy(logged[lines++], line);
}

/* Whether a line's key opens it. */
static bool opens(const char *line, const uint8_t *packet, uint32_t length)
{
	static uint8_t bytes[WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];
	uint8_t secret[WH_SECRET_BYTES];
	char use[16], hex[2 * WH_SECRET_BYTES + 1];
	uint64_t about = 0;
	struct wh_gcm_raw raw;

	CU_ASSERT_FATAL(sscanf(line, "%*x aes-128-gcm %15s %64s %" SCNx64, use, hex, &about) >= 2);
	CU_ASSERT_EQUAL(about != 0, strcmp(use, "probe") == 0);
	for (uint32_t i = 0; i < WH_SECRET_BYTES; i++)
		sscanf(hex + 2 * i, "%2hhx", &secret[i]);
	wh_gcm_derive(&raw, WH_CIPHER_AES_128_GCM, secret, about);
	memcpy(bytes, packet, length);
	return wh_gcm_open_packet(&raw, bytes, length);
}

/* All that a prober says opens by a line of his, and by one of the answerer's. */
static void keylog(void)
{
	struct probe_rig rig;

	open_rig(&rig);
	lines = 0;
	rig.meddle = record;
	wh_seal_set_keylog(take_line, logged);
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	wh_seal_set_keylog(NULL, NULL);
	/* Both SAs have two, the prober three, who answers two. */
	CU_ASSERT_EQUAL(lines, 9);
	CU_ASSERT(seen.packets > 1000);
	for (uint32_t i = 0; i < seen.packets; i++) {
		uint32_t keys = 0;

		for (uint32_t line = 0; line < lines; line++)
			keys += opens(logged[line], seen.packet[i], seen.length[i]);
		CU_ASSERT_EQUAL(keys, 2);
	}
	probe_rig_close(&rig);
}

/* As without a seal; afterwards nothing of it opens anything, wherever it comes from. */
static void plain_lambda(void)
{
	static const struct wh_address moved = {.family = WH_IPV4, .ip = {10, 0, 0, 1}, .port = 2};
	struct wh_answerer_stats before;
	struct probe_rig rig;

	open_rig(&rig);
	rig.meddle = record;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	assert_plain(&rig, 0);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.probes, 1);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.asks, 1);
	before = rig.server.answerer.stats;
	replay(&rig, &rig.client_address);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.replayed_pkts, seen.packets);
	/* A place that nobody uses any more is not taken by what was recorded. */
	rig.now_tsc += (WH_ANSWERER_PATIENCE_S + 1) * PROBE_RIG_HZ;
	rig.server.answerer.place[0].made_us = 0;
	for (uint32_t i = 0; i < 4; i++, rig.now_tsc += PROBE_RIG_HZ)
		replay(&rig, &rig.client_address);
	replay(&rig, &moved);
	replay(&rig, &stranger);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.probes, before.probes);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.asks, before.asks);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.answers, before.answers);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.train_pkts, before.train_pkts);
	CU_ASSERT_EQUAL(replies(&rig), 0);
	probe_rig_close(&rig);
}

/* Both ways each packet comes twice. */
static bool double_it(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	static uint8_t again[WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];
	struct wh_endpoint *endpoint = to_server ? &rig->server : &rig->client;
	const struct wh_address *from = to_server ? &rig->client_address : &rig->server_address;

	memcpy(again, bytes, *length);
	wh_endpoint_input(endpoint, rig->now_tsc, rig->now_tsc, again, *length, from);
	return true;
}

static void twice(void)
{
	struct probe_rig rig;

	open_rig(&rig);
	rig.meddle = double_it;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	/* Each packet of the trains once more; questions that came again had no answer. */
	assert_plain(&rig, rig.server.answerer.stats.train_pkts);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.replayed_pkts, rig.heard_pkts);
	CU_ASSERT_EQUAL(
		rig.said_pkts, rig.server.answerer.stats.answers + rig.server.answerer.stats.asks);
	probe_rig_close(&rig);
}

/* Of each packet copies with a bit flipped go before it, all over the head and the body. */
static bool flip(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	static uint8_t changed[WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];
	struct wh_endpoint *endpoint = to_server ? &rig->server : &rig->client;
	const struct wh_address *from = to_server ? &rig->client_address : &rig->server_address;

	for (uint32_t i = 0; i < 3; i++) {
		memcpy(changed, bytes, *length);
		changed[wh_prng_below(&seen.prng, i == 0 ? *length : WH_HEAD_BYTES)] ^=
			(uint8_t)(1u << wh_prng_below(&seen.prng, 8));
		wh_endpoint_input(endpoint, rig->now_tsc, rig->now_tsc, changed, *length, from);
	}
	return true;
}

static void each_bit(void)
{
	struct probe_rig rig;

	open_rig(&rig);
	rig.meddle = flip;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	assert_plain(&rig, 0);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.replayed_pkts, 0);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.probes, 1);
	CU_ASSERT(rig.server.stats.bad[WH_WIRE_TAG] > rig.heard_pkts);
	CU_ASSERT(rig.server.answerer.stats.no_sa_pkts > 0);
	CU_ASSERT(rig.server.answerer.stats.unsealed_pkts > 0);
	CU_ASSERT_EQUAL(
		rig.said_pkts, rig.server.answerer.stats.answers + rig.server.answerer.stats.asks);
	probe_rig_close(&rig);
}

/* Another probe under the same SA; what the first one said does not disturb it. */
static bool replay_first(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	static uint8_t again[WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];
	uint32_t i = (uint32_t)rig->number % seen.packets;

	(void)bytes;
	(void)length;
	if (to_server) {
		memcpy(again, seen.packet[i], seen.length[i]);
		probe_rig_inject(rig, again, seen.length[i], &rig->client_address);
	}
	return true;
}

static void next_probe(void)
{
	struct probe_rig rig;

	open_rig(&rig);
	rig.meddle = record;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	rig.meddle = replay_first;
	CU_ASSERT_EQUAL(probe_rig_run_again(&rig), WH_PROBER_DONE);
	assert_plain(&rig, 0);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.probes, 2);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.asks, 2);
	probe_rig_close(&rig);
}

/* Nobody without an SA hears a word, whatever he knows of what goes by. */
static void strangers(void)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	struct wh_packet packet = {.type = WH_PACKET_PROBE,
		.flags = WH_FLAG_ASK,
		.probe = {.stamp_ns = 5, .count = 1, .padding_bytes = 16}};
	const struct wh_answerer_stats *stats;
	struct probe_rig rig;
	uint32_t length;

	open_rig(&rig);
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	stats = &rig.server.answerer.stats;
	length = closed_encode(&packet, 0, bytes, sizeof(bytes));
	probe_rig_inject(&rig, bytes, length, &stranger);
	CU_ASSERT_EQUAL(stats->unsealed_pkts, 1);
	bytes[WH_KEY_OFFSET] = WH_KEY_SEALED;
	probe_rig_inject(&rig, bytes, length, &stranger);
	CU_ASSERT_EQUAL(stats->no_sa_pkts, 1);
	packet.probe.sa = rig.config.sa->config.peer_number;
	length = closed_encode(&packet, 0, bytes, sizeof(bytes));
	bytes[WH_KEY_OFFSET] = WH_KEY_SEALED;
	probe_rig_inject(&rig, bytes, length, &stranger);
	CU_ASSERT_EQUAL(rig.server.stats.bad[WH_WIRE_TAG], 1);
	/* With a moment that could be one of ours: a key is worked out for him now and then. */
	packet.flags = WH_FLAG_ECHO;
	packet.probe.made_us = rig.prober.made_us;
	length = closed_encode(&packet, 0, bytes, sizeof(bytes));
	bytes[WH_KEY_OFFSET] = WH_KEY_SEALED;
	for (uint32_t i = 0; i < 1000; i++, rig.now_tsc += PROBE_RIG_HZ / 10000)
		probe_rig_inject(&rig, bytes, length, &stranger);
	CU_ASSERT_EQUAL(stats->hurried_pkts, 1000 - 99 - 17);
	CU_ASSERT_EQUAL(rig.server.stats.bad[WH_WIRE_TAG], 1 + 99 + 17);
	CU_ASSERT_EQUAL(stats->asks, 1);
	CU_ASSERT_EQUAL(stats->probes, 1);
	CU_ASSERT_EQUAL(replies(&rig), 0);
	probe_rig_close(&rig);
}

static bool revoke(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	(void)bytes;
	(void)length;
	if (to_server && rig->server.answerer.stats.train_pkts > 300)
		wh_sa_revoke(rig->sadb.sa[1]);
	return true;
}

/* Who is trusted no more is not heard any more, in the middle of a train. */
static void revoked(void)
{
	struct probe_rig rig;

	open_rig(&rig);
	rig.meddle = revoke;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_SILENT);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.train_pkts, 301);
	CU_ASSERT(rig.server.answerer.stats.no_sa_pkts > 0);
	probe_rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"a plain lambda", plain_lambda},
	{"twice", twice},
	{"each bit", each_bit},
	{"next probe", next_probe},
	{"keylog", keylog},
	{"strangers", strangers},
	{"revoked", revoked},
	CU_TEST_INFO_NULL,
};
