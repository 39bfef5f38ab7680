/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The seal that authenticates and encrypts: AES-GCM (NIST SP 800-38D), with keys that change.
 *
 * Each direction of a session has one secret for data and repair packets and one for control
 * packets. Each secret has an endless row of keys, one per epoch of 2^24 packets. Any of them
 * derives from its number, without communication. The epoch of a data packet is that of its
 * transmission number; that of a control packet is that of the number of control packets sealed
 * before. The lower bits of the epoch are the key number in the head. The receiving end keeps four
 * keys: of the latest authenticated epoch, of the one before, and of the next two. Keys ahead are
 * derived after a packet was processed, one at a time.
 *
 * The nonce is the epoch's iv, XORed with the packet's type and counter. Both are the same only for
 * packets repeated byte by byte.
 */

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_branch_prediction.h>

#include "base/assert.h"
#include "base/hex.h"
#include "seal/gcm.h"
#include "seal/seal.h"

#define EPOCH_SHIFT 24
#define EPOCHS      WH_KEYS_SEALED
#define AHEAD       2 /* of the latest authenticated epoch */

/* Offsets in a head of the numbers in the nonce. */
#define TYPE_AT         1
#define PN_AT           8
#define TRANSMISSION_AT 16

struct epoch {
	uint64_t number;
	uint8_t iv[WH_GCM_NONCE_BYTES];
	struct wh_gcm_key key;
};

/* Keys of data, or of control packets. Used by one core. */
struct row {
	uint8_t secret[WH_SECRET_BYTES];
	enum wh_cipher cipher;
	uint64_t closed;    /* number of packets sealed */
	uint64_t latest;    /* latest epoch used or authenticated */
	uint64_t ready_end; /* epochs below this are derived */
	struct epoch epoch[EPOCHS];
};

enum use {
	USE_CONTROL,
	USE_DATA, /* towards the acceptor only */
	USES,
};

static wh_keylog_fn keylog;
static void *keylog_context;

bool wh_seal_has_keylog(void)
{
	return keylog != NULL;
}

void wh_seal_set_keylog(wh_keylog_fn fn, void *context)
{
	keylog = fn;
	keylog_context = context;
}

void wh_seal_log_secret(uint32_t identifier, enum wh_cipher cipher, const char *use,
	const uint8_t secret[WH_SECRET_BYTES], uint64_t about)
{
	char line[160];
	size_t used;

	if (keylog == NULL)
		return;
	used = (size_t)snprintf(
		line, sizeof(line), "%08x %s %s ", identifier, wh_cipher_name(cipher), use);
	WH_ASSERT(used + 2 * WH_SECRET_BYTES + sizeof(" 0123456789abcdef") <= sizeof(line));
	wh_hex_write(secret, WH_SECRET_BYTES, line + used);
	used += 2 * WH_SECRET_BYTES;
	if (about != 0)
		snprintf(line + used, sizeof(line) - used, " %016" PRIx64, about);
	keylog(keylog_context, line);
	wh_secret_wipe(line, sizeof(line));
}

void wh_gcm_derive(struct wh_gcm_raw *raw, enum wh_cipher cipher,
	const uint8_t secret[WH_SECRET_BYTES], uint64_t number)
{
	struct {
		char what[5];
		uint64_t number;
	} __attribute__((packed)) purpose = {{'e', 'p', 'o', 'c', 'h'}, number};
	uint8_t bytes[WH_GCM_NONCE_BYTES + WH_GCM_KEY_BYTES_MAX];

	wh_hkdf_expand(bytes, sizeof(bytes), secret, &purpose, sizeof(purpose));
	raw->cipher = (uint8_t)cipher;
	memcpy(raw->iv, bytes, sizeof(raw->iv));
	memcpy(raw->key, bytes + sizeof(raw->iv), sizeof(raw->key));
	wh_secret_wipe(bytes, sizeof(bytes));
}

static bool begin_epoch(struct row *row, uint64_t number)
{
	struct epoch *epoch = &row->epoch[number % EPOCHS];
	struct wh_gcm_raw raw;

	wh_gcm_end(&epoch->key);
	wh_gcm_derive(&raw, row->cipher, row->secret, number);
	epoch->number = number;
	memcpy(epoch->iv, raw.iv, sizeof(epoch->iv));

	bool begun = wh_gcm_begin(&epoch->key, wh_gcm_unit(), row->cipher, raw.key);

	wh_secret_wipe(&raw, sizeof(raw));
	return begun;
}

/*
 * Derives the next key. If memory is short this is tried again after each packet, or when
 * close_body needs the key. Without the key open_body refuses its packets.
 */
static void prepare(struct row *row)
{
	if (begin_epoch(row, row->ready_end))
		row->ready_end++;
}

/* A packet of this epoch was sent, or authenticated. */
static inline void note(struct row *row, uint64_t number)
{
	if (unlikely(number > row->latest))
		row->latest = number;
	if (unlikely(row->ready_end <= row->latest + AHEAD))
		prepare(row);
}

struct state {
	struct row *row;
	uint32_t rows;
};

static_assert(sizeof(struct state) <= WH_SEAL_STATE_BYTES, "it has room");

static const struct state *state_of(const struct wh_seal *seal)
{
	return (const struct state *)seal->state;
}

static bool is_data(const uint8_t *head)
{
	return head[TYPE_AT] == WH_PACKET_DATA || head[TYPE_AT] == WH_PACKET_REPAIR;
}

static uint64_t counter_of(const uint8_t *head)
{
	uint64_t counter;

	memcpy(&counter, head + (is_data(head) ? TRANSMISSION_AT : PN_AT), sizeof(counter));
	return counter;
}

/*
 * The library loads all 16 bytes and masks those behind WH_GCM_NONCE_BYTES, so they are written by
 * one store. The CPU cannot forward two stores to one load: the load would wait until both are in
 * the cache, behind the stores of the previous packet, and all of AES would wait for the load.
 */
union nonce {
	uint64_t word __attribute__((vector_size(16)));
	uint8_t bytes[16];
};

static union nonce make_nonce(const uint8_t iv[WH_GCM_NONCE_BYTES], const uint8_t *head)
{
	uint64_t counter = counter_of(head);
	uint64_t low;
	uint32_t high;

	memcpy(&low, iv, sizeof(low));
	memcpy(&high, iv + sizeof(low), sizeof(high));
	low ^= head[TYPE_AT] | counter << 32;
	high ^= (uint32_t)(counter >> 32);
	return (union nonce){.word = {low, high}};
}

static const char *const purposes[2][USES] = {
	{"to initiator, control", NULL},
	{"to acceptor, control", "to acceptor, data"},
};

static bool begin(struct wh_seal *seal, const struct wh_seal_direction *direction,
	const void *shared, void *memory)
{
	const struct wh_seal_secret *secret = shared;
	struct state *state = (struct state *)seal->state;

	seal->key = WH_KEY_SEALED;
	seal->keys = WH_KEYS_SEALED;
	*state = (struct state){.row = memory, .rows = direction->to_acceptor ? USES : USES - 1};
	for (uint32_t use = 0; use < state->rows; use++) {
		const char *purpose = purposes[direction->to_acceptor][use];
		struct row *row = &state->row[use];

		row->cipher = secret->cipher;
		wh_hkdf_expand(
			row->secret, sizeof(row->secret), secret->secret, purpose, strlen(purpose));
		wh_seal_log_secret(direction->cid, row->cipher,
			use == USE_DATA ? "data" : "control", row->secret, 0);
		for (uint32_t i = 0; i < EPOCHS; i++)
			row->epoch[i].number = UINT64_MAX;
		prepare(row);
		if (row->ready_end == 0)
			return false;
	}
	return true;
}

static void end(struct wh_seal *seal)
{
	const struct state *state = state_of(seal);

	for (uint32_t use = 0; use < state->rows; use++)
		for (uint32_t i = 0; i < EPOCHS; i++)
			wh_gcm_end(&state->row[use].epoch[i].key);
}

static void close_body(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	bool data = is_data(head);
	struct row *row = &state_of(seal)->row[data ? USE_DATA : USE_CONTROL];
	uint64_t number = (data ? counter_of(head) : row->closed) >> EPOCH_SHIFT;
	struct epoch *epoch = &row->epoch[number % EPOCHS];

	WH_DEBUG_ASSERT(!data || state_of(seal)->rows == USES);
	if (unlikely(epoch->number != number)) {
		bool begun = begin_epoch(row, number);

		WH_ASSERT(begun); /* a few hundred bytes, without which nothing can be sent */
		row->ready_end = number + 1;
	}
	head[WH_KEY_OFFSET] = (uint8_t)(WH_KEY_SEALED + number % EPOCHS);

	union nonce nonce = make_nonce(epoch->iv, head);
	const struct wh_gcm_message message = {
		nonce.bytes, head, WH_TAG_OFFSET, body, body_bytes, to};

	wh_gcm_encrypt(&epoch->key, &message, head + WH_TAG_OFFSET);
	row->closed++;
	note(row, number);
}

static bool open_body(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	const struct state *state = state_of(seal);
	uint32_t use = is_data(head) ? USE_DATA : USE_CONTROL;
	struct row *row = &state->row[use];

	if (unlikely(use >= state->rows))
		return false; /* only the initiator sends data */

	struct epoch *epoch = &row->epoch[head[WH_KEY_OFFSET] - WH_KEY_SEALED];

	if (unlikely(epoch->key.unit == NULL))
		return false;

	union nonce nonce = make_nonce(epoch->iv, head);
	const struct wh_gcm_message message = {
		nonce.bytes, head, WH_TAG_OFFSET, body, body_bytes, to};

	if (!wh_gcm_decrypt(&epoch->key, &message, head + WH_TAG_OFFSET))
		return false;
	note(row, epoch->number);
	return true;
}

static const struct wh_seal_ops kept_ops;

/* The packets that may still come are expected in the epoch of the latest one. */
static void keep(const struct wh_seal *seal, struct wh_seal *kept)
{
	const struct row *row = &state_of(seal)->row[USE_CONTROL];

	static_assert(sizeof(struct wh_gcm_raw) <= WH_SEAL_STATE_BYTES, "it has room");
	*kept = (struct wh_seal){
		.ops = &kept_ops,
		.key = (uint8_t)(WH_KEY_SEALED + row->latest % EPOCHS),
		.keys = 1,
	};
	wh_gcm_derive((struct wh_gcm_raw *)kept->state, row->cipher, row->secret, row->latest);
}

const struct wh_seal_ops wh_seal_gcm = {
	.name = "aes-gcm",
	.encrypts = true,
	.memory_bytes = {sizeof(struct row), USES * sizeof(struct row)},
	.begin = begin,
	.end = end,
	.keep = keep,
	.close = close_body,
	.open = open_body,
};

static bool use_once(struct wh_gcm_key *key, const struct wh_gcm_raw *raw)
{
	return wh_gcm_begin(key, wh_gcm_unit(), (enum wh_cipher)raw->cipher, raw->key);
}

bool wh_gcm_close_packet(const struct wh_gcm_raw *raw, uint8_t *packet, size_t packet_bytes)
{
	union nonce nonce = make_nonce(raw->iv, packet);
	uint8_t *body = packet + WH_HEAD_BYTES;
	const struct wh_gcm_message message = {
		nonce.bytes, packet, WH_TAG_OFFSET, body, packet_bytes - WH_HEAD_BYTES, body};
	struct wh_gcm_key key;

	packet[WH_KEY_OFFSET] = WH_KEY_SEALED;
	if (!use_once(&key, raw))
		return false;
	wh_gcm_encrypt(&key, &message, packet + WH_TAG_OFFSET);
	wh_gcm_end(&key);
	return true;
}

static bool open_once(const struct wh_gcm_raw *raw, const uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	union nonce nonce = make_nonce(raw->iv, head);
	const struct wh_gcm_message message = {
		nonce.bytes, head, WH_TAG_OFFSET, body, body_bytes, to};
	struct wh_gcm_key key;

	if (!use_once(&key, raw))
		return false;

	bool opened = wh_gcm_decrypt(&key, &message, head + WH_TAG_OFFSET);

	wh_gcm_end(&key);
	return opened;
}

bool wh_gcm_open_packet(const struct wh_gcm_raw *raw, uint8_t *packet, size_t packet_bytes)
{
	uint8_t *body = packet + WH_HEAD_BYTES;

	return packet[WH_KEY_OFFSET] == WH_KEY_SEALED &&
	       open_once(raw, packet, body, packet_bytes - WH_HEAD_BYTES, body);
}

static bool open_kept(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	return open_once((const struct wh_gcm_raw *)seal->state, head, body, body_bytes, to);
}

static const struct wh_seal_ops kept_ops = {
	.name = "aes-gcm, kept",
	.encrypts = true,
	.open = open_kept,
};

/* A raw key that is used often, expanded. */
struct often {
	uint8_t iv[WH_GCM_NONCE_BYTES];
	struct wh_gcm_key key;
};

static_assert(sizeof(struct often) <= WH_SEAL_RAW_BYTES, "it has room");
static_assert(WH_SEAL_RAW_BYTES % _Alignof(struct often) == 0, "in a row");

static struct often *often_of(const struct wh_seal *seal)
{
	struct often *often;

	memcpy(&often, seal->state, sizeof(often));
	return often;
}

static void close_often(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	struct often *often = often_of(seal);
	union nonce nonce = make_nonce(often->iv, head);
	const struct wh_gcm_message message = {
		nonce.bytes, head, WH_TAG_OFFSET, body, body_bytes, to};

	wh_gcm_encrypt(&often->key, &message, head + WH_TAG_OFFSET);
}

static bool open_often(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	struct often *often = often_of(seal);
	union nonce nonce = make_nonce(often->iv, head);
	const struct wh_gcm_message message = {
		nonce.bytes, head, WH_TAG_OFFSET, body, body_bytes, to};

	return wh_gcm_decrypt(&often->key, &message, head + WH_TAG_OFFSET);
}

static void end_often(struct wh_seal *seal)
{
	wh_gcm_end(&often_of(seal)->key);
}

static const struct wh_seal_ops often_ops = {
	.name = "aes-gcm, of no session",
	.encrypts = true,
	.end = end_often,
	.close = close_often,
	.open = open_often,
};

bool wh_seal_begin_raw(struct wh_seal *seal, const struct wh_gcm_raw *raw, void *memory)
{
	struct often *often = memory;

	WH_ASSERT((uintptr_t)memory % _Alignof(struct often) == 0);
	*seal = (struct wh_seal){.key = WH_KEY_SEALED, .keys = 1};
	memcpy(seal->state, &often, sizeof(often));
	memcpy(often->iv, raw->iv, sizeof(often->iv));
	if (!wh_gcm_begin(&often->key, wh_gcm_unit(), (enum wh_cipher)raw->cipher, raw->key))
		return false;
	seal->ops = &often_ops;
	return true;
}
