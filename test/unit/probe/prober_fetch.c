/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers that are lies, that do not come, and that are anything at all. */
#include "base/prng.h"
#include "probe_rig.h"
#include "unit.h"

const char wh_suite_name[] = "prober_fetch";

/* What the server says, changed and closed again as only the server could. */
static void retell(
	struct probe_rig *rig, uint8_t *bytes, uint32_t *length, struct wh_packet *packet)
{
	const struct wh_seal *seal = &rig->server.answerer.place[0].seal;

	*length = wh_packet_encode(packet, bytes, WH_CONTROL_BYTES_MAX);
	wh_seal_close_packet(seal, bytes, *length);
}

static bool decode(uint8_t *bytes, uint32_t length, uint8_t flags, struct wh_packet *packet)
{
	return wh_packet_decode(bytes, length, packet) == WH_WIRE_OK && packet->flags == flags &&
	       packet->type == WH_PACKET_PROBE_ANSWER;
}

static enum {
	LIE_INDEX,
	LIE_BACKWARDS,
	LIE_TOTAL,
	LIE_HEARD,
	LIE_FEWER_WORDS,
	LIE_SHRINKS,
	LIE_ECHOES,
	LIES,
} lie;

static bool tell_lies(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	bool echoes = lie == LIE_ECHOES;
	struct wh_packet packet;
	struct wh_probe_answer *answer = &packet.probe_answer;

	if (to_server || !decode(bytes, *length, echoes ? WH_FLAG_ECHO : WH_FLAG_FETCH, &packet))
		return true;
	switch (lie) {
	case LIE_INDEX:
		if (answer->n_words > 0)
			answer->words[answer->n_words - 1] |= 0xffff;
		break;
	case LIE_BACKWARDS:
		answer->words[0] = UINT64_MAX << 32;
		break;
	case LIE_TOTAL:
		answer->total = rig->server.answerer.config.room_pkts + 1;
		answer->heard = answer->total;
		answer->n_words = WH_PROBE_WORDS_MAX;
		break;
	case LIE_HEARD:
		answer->heard = answer->total - 1;
		break;
	case LIE_FEWER_WORDS:
		answer->n_words -= answer->n_words > 0;
		break;
	case LIE_SHRINKS:
		if (answer->index > 0)
			answer->total--;
		break;
	default:
		answer->heard = 1;
	}
	retell(rig, bytes, length, &packet);
	return true;
}

static void lying_server(void)
{
	for (uint32_t i = 0; i < LIES; i++) {
		struct probe_rig rig;

		lie = i;
		probe_rig_init(&rig);
		rig.meddle = tell_lies;
		CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_CONTRADICTS);
		probe_rig_close(&rig);
	}
}

static uint64_t told_span_ns;

/* All packets arrived, it says, evenly within that time. */
static bool tell_times(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	struct wh_packet packet;
	struct wh_probe_answer *answer = &packet.probe_answer;

	if (to_server || !decode(bytes, *length, WH_FLAG_FETCH, &packet) || answer->total < 2)
		return true;
	for (uint32_t i = 0; i < answer->n_words; i++) {
		uint64_t at_ns = (answer->index + i) * told_span_ns / (answer->total - 1);

		answer->words[i] = at_ns << 32 | (uint32_t)answer->words[i];
	}
	retell(rig, bytes, length, &packet);
	return true;
}

/*
 * A line of 1 Gb/s: nothing arrives faster than it was sent. All at one moment, or so slowly that
 * trains remain short, tells less than the truth. The round trip is ours to measure.
 */
static void lies_of_times(void)
{
	static const struct {
		uint64_t span_ns;
		double least_bps, most_bps;
	} cases[] = {
		{0, 0, 0},
		{1, 1e9, 1e9},
		{1000000, 1e9, 1e9},
		{1280000000, 63 * 8 * 1538 / 1.281, 63 * 8 * 1538 / 1.279},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct probe_rig rig;

		told_span_ns = cases[i].span_ns;
		probe_rig_init(&rig);
		rig.meddle = tell_times;
		CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);

		const struct wh_findings *found = &rig.prober.findings;

		CU_ASSERT(found->trains_bps >= cases[i].least_bps);
		CU_ASSERT(found->trains_bps <= cases[i].most_bps);
		CU_ASSERT_EQUAL(found->rtt_min_ns, 20000000 + 2 * 1040);
		CU_ASSERT(found->burst_pkts <= WH_PROBE_PKTS_MAX);
		probe_rig_close(&rig);
	}
}

/* From some packet on. */
static uint64_t silent_from;

static bool fall_silent(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	(void)bytes;
	(void)length;
	return to_server || rig->number < silent_from;
}

static void silent_server(void)
{
	static const uint64_t from[] = {0, 3, 50, 203, 400, 1000};

	for (uint32_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		struct probe_rig rig;

		silent_from = from[i];
		probe_rig_init(&rig);
		rig.meddle = fall_silent;

		enum wh_prober_end end = probe_rig_run(&rig);

		CU_ASSERT(end == (i == 0 ? WH_PROBER_NO_ANSWER : WH_PROBER_SILENT));
		CU_ASSERT(rig.now_tsc < 10 * PROBE_RIG_HZ);
		probe_rig_close(&rig);
	}
}

static struct wh_prng prng;

/* Bits of what the server says turn over, behind its seal; whatever comes of it, it ends. */
static bool turn_bits(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	struct wh_packet packet;

	if (to_server || wh_prng_below(&prng, 40) != 0)
		return true;
	for (uint64_t i = wh_prng_below(&prng, 3); i < 3; i++)
		bytes[16 + wh_prng_below(&prng, *length - 16)] ^=
			(uint8_t)(1u << wh_prng_below(&prng, 8));
	if (wh_packet_decode(bytes, *length, &packet) == WH_WIRE_OK && packet.flags != WH_FLAG_ASK)
		wh_seal_close_packet(&rig->server.answerer.place[0].seal, bytes, *length);
	return true;
}

static void any_answers(void)
{
	uint32_t ends[WH_PROBER_ENDS] = {0};

	wh_prng_init(&prng, 5);
	for (uint32_t i = 0; i < 60; i++) {
		struct probe_rig rig;

		probe_rig_init(&rig);
		rig.config.train_pkts = 512;
		rig.meddle = turn_bits;
		ends[probe_rig_run(&rig)]++;
		CU_ASSERT(rig.now_tsc < 40 * PROBE_RIG_HZ);
		probe_rig_close(&rig);
	}
	CU_ASSERT_EQUAL(ends[WH_PROBER_RUNNING], 0);
	CU_ASSERT(ends[WH_PROBER_CONTRADICTS] > 0 && ends[WH_PROBER_DONE] > 0);
}

CU_TestInfo wh_tests[] = {
	{"a lying server", lying_server},
	{"lies of times", lies_of_times},
	{"a silent server", silent_server},
	{"any answers", any_answers},
	CU_TEST_INFO_NULL,
};
