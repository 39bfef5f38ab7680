/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/gcm.h"
#include "seal/seal.h"
#include "unit.h"

const char wh_suite_name[] = "gcm_seal";

#define BODY         100
#define EPOCH        (UINT64_C(1) << 24)
#define KEY_AT       WH_KEY_OFFSET
#define PACKET_BYTES (WH_HEAD_BYTES + BODY)

/* The two ends of one direction. */
struct direction {
	struct wh_seal closing;
	struct wh_seal opening;
	void *memory[2];
};

static size_t memory_bytes(bool to_acceptor)
{
	return wh_seal_gcm.memory_bytes[to_acceptor];
}

static void begin(struct wh_seal *seal, uint8_t first, bool to_acceptor, void **memory)
{
	const struct wh_seal_direction direction = {.cid = 0x1234, .to_acceptor = to_acceptor};
	const struct wh_seal_secret secret = {.secret = {first}, .cipher = WH_CIPHER_AES_128_GCM};

	*memory = wh_secret_alloc(memory_bytes(to_acceptor));
	CU_ASSERT_PTR_NOT_NULL_FATAL(*memory);
	CU_ASSERT_FATAL(wh_seal_begin(seal, &wh_seal_gcm, &direction, &secret, *memory));
}

static void begin_way(struct direction *direction, bool to_acceptor)
{
	begin(&direction->closing, 1, to_acceptor, &direction->memory[0]);
	begin(&direction->opening, 1, to_acceptor, &direction->memory[1]);
}

static void end_way(struct direction *direction, bool to_acceptor)
{
	wh_seal_end(&direction->closing);
	wh_seal_end(&direction->opening);
	wh_secret_free(direction->memory[0], memory_bytes(to_acceptor));
	wh_secret_free(direction->memory[1], memory_bytes(to_acceptor));
}

static void write_packet(uint8_t *packet, enum wh_packet_type type, uint64_t pn, uint64_t number)
{
	memset(packet, 0, PACKET_BYTES);
	packet[0] = WH_WIRE_VERSION;
	packet[1] = (uint8_t)type;
	memcpy(packet + 8, &pn, sizeof(pn));
	memcpy(packet + 16, &number, sizeof(number));
	for (uint32_t i = 0; i < BODY; i++)
		packet[WH_HEAD_BYTES + i] = (uint8_t)(3 * i);
}

static void close_data(struct direction *direction, uint64_t transmission, uint8_t *packet)
{
	write_packet(packet, WH_PACKET_DATA, 7, transmission);
	wh_seal_close_packet(&direction->closing, packet, PACKET_BYTES);
}

static bool opens(struct direction *direction, const uint8_t *packet)
{
	uint8_t copy[PACKET_BYTES], clear[PACKET_BYTES];

	memcpy(copy, packet, sizeof(copy));
	if (wh_seal_open_packet(&direction->opening, copy, sizeof(copy)) != WH_WIRE_OK)
		return false;
	write_packet(clear, WH_PACKET_DATA, 0, 0);
	CU_ASSERT_EQUAL(memcmp(copy + WH_HEAD_BYTES, clear + WH_HEAD_BYTES, BODY), 0);
	return true;
}

static void test_round(void)
{
	uint8_t packet[PACKET_BYTES], again[PACKET_BYTES];
	struct direction direction;

	begin_way(&direction, true);
	close_data(&direction, 0, packet);
	CU_ASSERT_EQUAL(packet[KEY_AT], WH_KEY_SEALED);
	CU_ASSERT_NOT_EQUAL(packet[WH_HEAD_BYTES + 1], 3);
	CU_ASSERT(opens(&direction, packet));
	/* A retransmission: the same packet number and body, and nothing of it is the same. */
	close_data(&direction, 1, again);
	CU_ASSERT(opens(&direction, again));
	for (uint32_t at = WH_TAG_OFFSET; at < PACKET_BYTES; at += 16)
		CU_ASSERT_NOT_EQUAL(
			memcmp(packet + at, again + at, at + 16 < PACKET_BYTES ? 16 : 4), 0);
	for (uint32_t bit = 0; bit < 8 * PACKET_BYTES; bit++) {
		packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CU_ASSERT_FALSE(opens(&direction, packet));
		packet[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	CU_ASSERT(opens(&direction, packet));
	end_way(&direction, true);
}

/* Made by hand: the nonce and the keys are what the head of this file's subject says. */
static void test_by_hand(void)
{
	uint8_t packet[PACKET_BYTES], expected[PACKET_BYTES], secret[WH_SECRET_BYTES] = {1};
	uint8_t of_data[WH_SECRET_BYTES], bytes[44], nonce[12];
	const char epoch_2[13] = {'e', 'p', 'o', 'c', 'h', 2};
	uint64_t transmission = 2 * EPOCH + 5;
	struct wh_gcm_key key;
	struct direction direction;

	begin_way(&direction, true);
	close_data(&direction, transmission, packet);
	wh_hkdf_expand(of_data, sizeof(of_data), secret, "to acceptor, data", 17);
	wh_hkdf_expand(bytes, sizeof(bytes), of_data, epoch_2, sizeof(epoch_2));
	memcpy(nonce, bytes, sizeof(nonce));
	nonce[0] ^= WH_PACKET_DATA;
	for (uint32_t i = 0; i < 8; i++)
		nonce[4 + i] ^= (uint8_t)(transmission >> 8 * i);
	write_packet(expected, WH_PACKET_DATA, 7, transmission);
	expected[KEY_AT] = WH_KEY_SEALED + 2;

	const struct wh_gcm_message message = {nonce, expected, WH_TAG_OFFSET,
		expected + WH_HEAD_BYTES, BODY, expected + WH_HEAD_BYTES};

	CU_ASSERT_FATAL(wh_gcm_begin(&key, wh_gcm_unit_by(0), WH_CIPHER_AES_128_GCM, bytes + 12));
	wh_gcm_encrypt(&key, &message, expected + WH_TAG_OFFSET);
	CU_ASSERT_EQUAL(memcmp(packet, expected, sizeof(packet)), 0);
	wh_gcm_end(&key);
	end_way(&direction, true);
}

/* Around a border packets overtake each other; two epochs may be lost; older ones are refused. */
static void test_epochs(void)
{
	static const struct {
		uint64_t epoch;
		int64_t from_border;
		bool opens;
	} steps[] = {
		{0, 5, true},
		{1, 0, true},
		{1, -1, true},
		{1, 3, true},
		{1, -2, true},
		{2, 1, true},
		{2, -1, true},
		{0, 9, false},
		{4, 2, true},
		{3, 1, true},
		{2, 7, false},
		{7, 0, false},
		{6, 0, true},
		{5, 0, true},
		{6, 1, true},
	};
	static uint8_t packet[8 * 20][PACKET_BYTES];
	struct direction direction;

	begin_way(&direction, true);
	/* In the order in which they are sent, which is that of transmissions. */
	for (uint64_t epoch = 0; epoch < 8; epoch++)
		for (uint64_t i = 0; i < 20; i++)
			if (epoch > 0 || i >= 10)
				close_data(
					&direction, epoch * EPOCH + i - 10, packet[epoch * 20 + i]);
	/* The first few open the way to the next two. */
	for (uint64_t i = 10; i < 13; i++)
		CU_ASSERT(opens(&direction, packet[i]));
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const uint8_t *one =
			packet[steps[i].epoch * 20 + (uint64_t)(10 + steps[i].from_border)];

		CU_ASSERT_EQUAL(opens(&direction, one), steps[i].opens);
		opens(&direction, one);
		opens(&direction, one); /* keys ahead are made one by one */
	}
	end_way(&direction, true);
}

/* Control packets have a row of keys for all types, by how many there were. */
static void test_control(void)
{
	uint8_t packet[PACKET_BYTES], early[PACKET_BYTES];
	struct wh_seal kept, kept_early;
	struct direction direction;

	begin_way(&direction, false);
	for (uint64_t i = 0; i < EPOCH + 3; i++) {
		write_packet(packet, i % 2 == 0 ? WH_PACKET_RCV_REPORT : WH_PACKET_NAK, i / 2, 0);
		wh_seal_close(&direction.closing, packet, packet + WH_HEAD_BYTES, 1,
			packet + WH_HEAD_BYTES);
		if (packet[KEY_AT] != WH_KEY_SEALED + (i >= EPOCH))
			CU_FAIL_FATAL("the key of another epoch");
	}
	write_packet(early, WH_PACKET_RELEASE, 0, 0);
	wh_seal_close_packet(&direction.closing, early, PACKET_BYTES);
	wh_seal_gcm.keep(&direction.opening, &kept_early);
	CU_ASSERT_FALSE(opens(&direction, early)); /* of an epoch that is not awaited yet */
	for (uint64_t i = 0; i < 3; i++) {
		struct direction other = direction;
		void *memory;

		begin(&other.closing, 1, false, &memory);
		write_packet(packet, WH_PACKET_ACK2, i, 0);
		wh_seal_close_packet(&other.closing, packet, PACKET_BYTES);
		CU_ASSERT(opens(&direction, packet));
		wh_seal_end(&other.closing);
		wh_secret_free(memory, memory_bytes(false));
	}
	CU_ASSERT(opens(&direction, early));
	wh_seal_gcm.keep(&direction.opening, &kept);
	CU_ASSERT_EQUAL(wh_seal_open_packet(&kept_early, early, PACKET_BYTES), WH_WIRE_KEY);
	CU_ASSERT_EQUAL(wh_seal_open_packet(&kept, early, PACKET_BYTES), WH_WIRE_OK);
	end_way(&direction, false);
}

/* One's own packets do not open, nor data where none may come, nor those of another secret. */
static void test_strangers(void)
{
	uint8_t packet[PACKET_BYTES];
	struct direction there, back;
	struct wh_seal other;
	void *memory;

	begin_way(&there, true);
	begin_way(&back, false);
	write_packet(packet, WH_PACKET_NAK, 0, 0);
	wh_seal_close_packet(&there.closing, packet, PACKET_BYTES);
	CU_ASSERT_FALSE(opens(&back, packet));
	close_data(&there, 3, packet);
	CU_ASSERT_FALSE(opens(&back, packet));
	begin(&other, 2, true, &memory);
	CU_ASSERT_EQUAL(wh_seal_open_packet(&other, packet, PACKET_BYTES), WH_WIRE_TAG);
	CU_ASSERT_EQUAL(
		wh_seal_open_packet(&wh_seal_to_listener, packet, PACKET_BYTES), WH_WIRE_KEY);
	packet[KEY_AT] = WH_KEY_SEALED + WH_KEYS_SEALED;
	CU_ASSERT_EQUAL(wh_seal_open_packet(&there.opening, packet, PACKET_BYTES), WH_WIRE_KEY);
	packet[KEY_AT] = 0;
	CU_ASSERT_EQUAL(wh_seal_open_packet(&there.opening, packet, PACKET_BYTES), WH_WIRE_KEY);
	wh_seal_end(&other);
	wh_secret_free(memory, memory_bytes(true));
	end_way(&there, true);
	end_way(&back, false);
}

static char logged[4][128];
static uint32_t lines;

static void take_line(void *context, const char *line)
{
	CU_ASSERT_PTR_EQUAL(context, logged);
	CU_ASSERT_FATAL(lines < 4);
	strcpy(logged[lines++], line);
}

static void test_keylog(void)
{
	uint8_t secret[WH_SECRET_BYTES] = {1}, use[WH_SECRET_BYTES];
	char hex[65];
	struct direction direction;

	wh_seal_set_keylog(take_line, logged);
	begin_way(&direction, true);
	wh_seal_set_keylog(NULL, NULL);
	wh_hkdf_expand(use, sizeof(use), secret, "to acceptor, data", 17);
	for (uint32_t i = 0; i < sizeof(use); i++)
		snprintf(hex + 2 * i, 3, "%02x", use[i]);
	CU_ASSERT_EQUAL(lines, 4); /* two of each end */
	CU_ASSERT_EQUAL(strncmp(logged[0], "00001234 aes-128-gcm control ", 29), 0);
	CU_ASSERT_EQUAL(strncmp(logged[1], "00001234 aes-128-gcm data ", 26), 0);
	CU_ASSERT_STRING_EQUAL(logged[1] + 26, hex);
	end_way(&direction, true);
}

CU_TestInfo wh_tests[] = {
	{"round", test_round},
	{"by hand", test_by_hand},
	{"epochs", test_epochs},
	{"control", test_control},
	{"strangers", test_strangers},
	{"keylog", test_keylog},
	CU_TEST_INFO_NULL,
};
