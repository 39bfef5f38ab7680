/* SPDX-License-Identifier: BSD-3-Clause */
/* What ends of different versions have in common. */
#include "wire/versions.h"

#include "packet_samples.h"
#include "unit.h"
#include "wire/packet.h"

const char wh_suite_name[] = "versions";

#define OTHER (WH_WIRE_VERSION + 1)

/* An OPEN as an end of that version would write it, as far as it is fixed; the rest is ours. */
static size_t make_open(uint8_t version, enum sample_size size, uint8_t *bytes)
{
	struct wh_packet packet;

	sample_make(WH_PACKET_OPEN, size, &packet);

	size_t length = sample_encode(&packet, bytes);

	bytes[0] = version;
	return length;
}

static void answer_bytes(void)
{
	uint8_t open[WH_CONTROL_BYTES_MAX], answer[WH_VERSIONS_BYTES];
	size_t length = make_open(OTHER, SAMPLE_LEAST, open);

	CU_ASSERT_TRUE_FATAL(wh_versions_answer(open, length, answer));
	CU_ASSERT_EQUAL(answer[0], 0);
	CU_ASSERT_EQUAL(answer[1], 1);
	CU_ASSERT_EQUAL(answer[2], WH_WIRE_VERSION);
	CU_ASSERT_EQUAL(answer[3], WH_WIRE_VERSION);
	CU_ASSERT_EQUAL(memcmp(answer + 4, "\0\0\0", 4), 0);
	CU_ASSERT_EQUAL(memcmp(answer + 8, open, 88), 0);
	CU_ASSERT(length >= sizeof(answer));
}

/* To an OPEN of another version, as long as the answer at least, and to nothing else. */
static void answered(void)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX], answer[WH_VERSIONS_BYTES];
	size_t length = make_open(OTHER, SAMPLE_USUAL, bytes);

	for (uint32_t version = 0; version < 256; version++) {
		bytes[0] = (uint8_t)version;
		CU_ASSERT_EQUAL(wh_versions_answer(bytes, length, answer),
			version != 0 && version != WH_WIRE_VERSION);
	}
	bytes[0] = OTHER;
	for (size_t cut = 0; cut <= length; cut++)
		CU_ASSERT_EQUAL(wh_versions_answer(bytes, cut, answer), cut >= WH_VERSIONS_BYTES);
	for (uint32_t type = 0; type < 256; type++) {
		bytes[1] = (uint8_t)type;
		CU_ASSERT_EQUAL(wh_versions_answer(bytes, length, answer), type == 9 || type == 15);
	}
	/* Nor to an answer. */
	bytes[1] = 9;
	CU_ASSERT_TRUE_FATAL(wh_versions_answer(bytes, length, answer));
	CU_ASSERT_FALSE(wh_versions_answer(answer, sizeof(answer), bytes));
}

/* The answer that an end of another version gives to our OPEN. */
static void make_answer(uint8_t least, uint8_t most, uint8_t answer[WH_VERSIONS_BYTES])
{
	uint8_t open[WH_CONTROL_BYTES_MAX];

	make_open(WH_WIRE_VERSION, SAMPLE_USUAL, open);
	memset(answer, 0, 8);
	answer[1] = 1;
	answer[2] = least;
	answer[3] = most;
	memcpy(answer + 8, open, 88);
}

static void answer_is_read(void)
{
	uint8_t answer[WH_VERSIONS_BYTES];
	struct wh_versions versions;

	make_answer(OTHER, OTHER + 3, answer);
	CU_ASSERT_TRUE_FATAL(wh_versions_read(answer, sizeof(answer), &versions));
	CU_ASSERT_EQUAL(versions.least, OTHER);
	CU_ASSERT_EQUAL(versions.most, OTHER + 3);
	CU_ASSERT_EQUAL(versions.initiator_cid, 0xa1a2a3a4);
	CU_ASSERT_EQUAL(versions.first_pn, UINT64_C(0x0102030405060708));
}

static void nonsense(void)
{
	uint8_t answer[WH_VERSIONS_BYTES + 1] = {0};
	struct wh_versions versions;

	make_answer(OTHER, OTHER, answer);
	CU_ASSERT_FALSE(wh_versions_read(answer, sizeof(answer), &versions));
	CU_ASSERT_FALSE(wh_versions_read(answer, WH_VERSIONS_BYTES - 1, &versions));
	CU_ASSERT_FALSE(wh_versions_read(answer, 0, &versions));
	/* Each byte that is fixed, and the version and type in the echo. */
	for (uint32_t at = 0; at < 10; at++) {
		make_answer(OTHER, OTHER, answer);
		answer[at] ^= 0x80;
		CU_ASSERT_EQUAL(wh_versions_read(answer, WH_VERSIONS_BYTES, &versions), at == 3);
	}
	make_answer(0, OTHER, answer);
	CU_ASSERT_FALSE(wh_versions_read(answer, WH_VERSIONS_BYTES, &versions));
	make_answer(OTHER + 1, OTHER, answer);
	CU_ASSERT_FALSE(wh_versions_read(answer, WH_VERSIONS_BYTES, &versions));
	make_answer(WH_WIRE_VERSION, OTHER, answer);
	CU_ASSERT_FALSE(wh_versions_read(answer, WH_VERSIONS_BYTES, &versions));
	/* What we would answer to another's OPEN is none to ours. */
	answer[8] = OTHER;
	CU_ASSERT_FALSE(wh_versions_read(answer, WH_VERSIONS_BYTES, &versions));
}

/* Questions of any length are answered, and each answer tells which one it is for. */
static void nobodys_version(void)
{
	static uint8_t question[9216];
	uint8_t answer[WH_VERSIONS_BYTES];
	uint32_t asked_bytes;
	struct wh_versions versions;

	for (uint32_t length = WH_VERSIONS_BYTES; length <= sizeof(question); length += 1140) {
		wh_versions_ask(question, length, 7);
		CU_ASSERT_TRUE_FATAL(wh_versions_answer(question, length, answer));
		CU_ASSERT_TRUE(wh_versions_answers(answer, sizeof(answer), 7, &asked_bytes));
		CU_ASSERT_EQUAL(asked_bytes, length);
		CU_ASSERT_FALSE(wh_versions_answers(answer, sizeof(answer), 8, &asked_bytes));
		CU_ASSERT_FALSE(wh_versions_answers(answer, sizeof(answer) - 1, 7, &asked_bytes));
		/* Nobody takes it for an answer to his OPEN or ASK. */
		CU_ASSERT_FALSE(wh_versions_read(answer, sizeof(answer), &versions));
	}
	for (uint32_t at = 0; at < sizeof(answer); at++) {
		bool is_fixed = at < 2 || (at >= 8 && (at < 24 || at >= 28));

		wh_versions_ask(question, 1472, 7);
		CU_ASSERT_TRUE(wh_versions_answer(question, 1472, answer));
		answer[at] ^= 0x80;
		if (is_fixed)
			CU_ASSERT_FALSE(
				wh_versions_answers(answer, sizeof(answer), 7, &asked_bytes));
	}
}

CU_TestInfo wh_tests[] = {
	{"bytes of an answer", answer_bytes},
	{"what is answered", answered},
	{"an answer is read", answer_is_read},
	{"nonsense", nonsense},
	{"of nobody's version", nobodys_version},
	CU_TEST_INFO_NULL,
};
