/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/sa.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "seal/seal.h"

/*
 * State of a place: the number in the upper half, flags and the count of holders below. 0: vacant.
 * Only its owner touches a reserved place. An SA whose count is 0, or that is over, gets no new
 * holders. So the holder that brings the count to 0 is alone with the SA and may wipe it.
 */
#define RESERVED (UINT64_C(1) << 31)
#define OVER     (UINT64_C(1) << 30)
#define HOLDERS  (OVER - 1)

static uint64_t word_of(uint32_t number, uint64_t low)
{
	return (uint64_t)number << 32 | low;
}

static uint32_t number_in(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

int wh_sadb_init(struct wh_sadb *sadb, uint32_t places)
{
	WH_ASSERT(places >= WH_SA_PLACES_MIN && places <= WH_SA_PLACES_MAX);
	WH_ASSERT((places & (places - 1)) == 0);
	*sadb = (struct wh_sadb){.places = places};
	sadb->sa = wh_secret_alloc(places * sizeof(*sadb->sa));
	return sadb->sa == NULL ? -ENOMEM : 0;
}

void wh_sadb_free(struct wh_sadb *sadb)
{
	wh_secret_free(sadb->sa, sadb->places * sizeof(*sadb->sa));
	*sadb = (struct wh_sadb){0};
}

static struct wh_sa *at(const struct wh_sadb *sadb, uint32_t number)
{
	return &sadb->sa[number & (sadb->places - 1)];
}

uint32_t wh_sadb_reserve(struct wh_sadb *sadb, uint32_t random)
{
	uint32_t mask = sadb->places - 1;

	for (uint32_t i = 0; i < sadb->places; i++) {
		uint32_t place = __atomic_fetch_add(&sadb->cursor, 1, __ATOMIC_RELAXED) & mask;
		uint32_t number = (random & ~mask) | place;
		uint64_t vacant = 0;

		if (number == 0)
			number = sadb->places;
		if (atomic_compare_exchange_strong(
			    &sadb->sa[place].state, &vacant, word_of(number, RESERVED)))
			return number;
	}
	return 0;
}

void wh_sadb_cancel(struct wh_sadb *sadb, uint32_t number)
{
	struct wh_sa *sa = at(sadb, number);

	WH_ASSERT(atomic_load(&sa->state) == word_of(number, RESERVED));
	atomic_store(&sa->state, 0);
}

/* An end of an SA. Both ends sort them alike: first the one that asked for the handshake. */
struct party {
	uint32_t number;
	uint8_t identity[WH_IDENTITY_BYTES];
} __attribute__((packed));

static void derive(const struct wh_sa_config *config, uint32_t number, const char *purpose,
	const void *transcript, size_t transcript_bytes, uint8_t secret[WH_SECRET_BYTES])
{
	uint32_t own = config->asked ? 0 : 1;
	uint8_t extracted[WH_SECRET_BYTES];
	struct {
		struct party party[2];
		uint8_t transcript[32];
	} __attribute__((packed)) salt;

	salt.party[own].number = number;
	salt.party[!own].number = config->peer_number;
	memcpy(salt.party[own].identity, config->own_identity, WH_IDENTITY_BYTES);
	memcpy(salt.party[!own].identity, config->peer_identity, WH_IDENTITY_BYTES);
	wh_sha256(salt.transcript, transcript, transcript_bytes);
	wh_hkdf_extract(extracted, &salt, sizeof(salt), config->secret, sizeof(config->secret));
	wh_hkdf_expand(secret, WH_SECRET_BYTES, extracted, purpose, strlen(purpose));
	wh_secret_wipe(extracted, sizeof(extracted));
}

void wh_sa_derive(const struct wh_sa *sa, const char *purpose, const void *transcript,
	size_t transcript_bytes, uint8_t secret[WH_SECRET_BYTES])
{
	derive(&sa->config, wh_sa_number(sa), purpose, transcript, transcript_bytes, secret);
}

/* Keys of packets that the SA itself seals, one secret per direction. */
static void make_keys(struct wh_sa *sa, uint32_t number)
{
	static const char *const purposes[2] = {"bond, to asked", "bond, to asker"};
	const struct wh_sa_config *config = &sa->config;

	for (uint32_t by_us = 0; by_us < 2; by_us++) {
		const char *purpose = purposes[config->asked != (by_us == 1)];

		derive(config, number, purpose, NULL, 0, sa->secret[by_us]);
		wh_gcm_derive(&sa->raw[by_us], config->cipher, sa->secret[by_us], 0);
	}
}

void wh_sa_key(const struct wh_sa *sa, bool by_us, uint64_t about, struct wh_gcm_raw *raw)
{
	if (about == 0)
		*raw = sa->raw[by_us];
	else
		wh_gcm_derive(raw, sa->config.cipher, sa->secret[by_us], about);
}

bool wh_sa_close(const struct wh_sa *sa, uint64_t about, uint8_t *packet, size_t packet_bytes)
{
	struct wh_gcm_raw raw;

	wh_sa_key(sa, true, about, &raw);

	bool closed = wh_gcm_close_packet(&raw, packet, packet_bytes);

	wh_secret_wipe(&raw, sizeof(raw));
	return closed;
}

void wh_sa_log_key(
	const struct wh_sa *sa, bool by_us, uint64_t about, const char *use, uint32_t identifier)
{
	wh_seal_log_secret(identifier, sa->config.cipher, use, sa->secret[by_us], about);
}

bool wh_sa_open(const struct wh_sa *sa, uint64_t about, uint8_t *packet, size_t packet_bytes)
{
	struct wh_gcm_raw raw;

	wh_sa_key(sa, false, about, &raw);

	bool opened = wh_gcm_open_packet(&raw, packet, packet_bytes);

	wh_secret_wipe(&raw, sizeof(raw));
	return opened;
}

bool wh_sa_begin_seals(const struct wh_sa *sa, uint64_t about, struct wh_seal *closing,
	struct wh_seal *opening, uint8_t *memory)
{
	struct wh_gcm_raw raw;

	if (sa == NULL) {
		wh_seal_begin_checksum(closing, about);
		wh_seal_begin_checksum(opening, about);
		return true;
	}
	wh_sa_key(sa, true, about, &raw);

	bool begun = wh_seal_begin_raw(closing, &raw, memory);

	wh_sa_key(sa, false, about, &raw);
	begun = begun && wh_seal_begin_raw(opening, &raw, memory + WH_SEAL_RAW_BYTES);
	wh_secret_wipe(&raw, sizeof(raw));
	wh_sa_log_key(sa, false, about, "probe", 0);
	wh_sa_log_key(sa, true, about, "probe", 0);
	return begun;
}

struct wh_sa *wh_sadb_fill(struct wh_sadb *sadb, uint32_t number, const struct wh_sa_config *config)
{
	struct wh_sa *sa = at(sadb, number);

	WH_ASSERT(atomic_load(&sa->state) == word_of(number, RESERVED));
	WH_ASSERT(config->cipher > 0 && config->cipher < WH_CIPHERS);
	sa->config = *config;
	atomic_store(&sa->sent, 0);
	sa->probed_end = 0;
	atomic_store(&sa->hinted, false);
	atomic_store(&sa->doubted_tsc, 0);
	atomic_store(&sa->successor, 0);
	atomic_store(&sa->offer_taken, config->offer.offered.cid == 0);
	atomic_store(&sa->revoked, false);
	make_keys(sa, number);
	wh_sa_log_key(sa, false, 0, "sa", number);
	wh_sa_log_key(sa, true, 0, "sa", config->peer_number);
	atomic_store_explicit(&sa->state, word_of(number, 1), memory_order_release);
	return sa;
}

struct wh_sa *wh_sadb_hold(struct wh_sadb *sadb, uint32_t number)
{
	struct wh_sa *sa = at(sadb, number);
	uint64_t word = atomic_load(&sa->state);

	do {
		if (number_in(word) != number || (word & (RESERVED | OVER)) != 0 ||
			(word & HOLDERS) == 0 || (word & HOLDERS) == HOLDERS)
			return NULL;
	} while (!atomic_compare_exchange_weak(&sa->state, &word, word + 1));
	return sa;
}

bool wh_sadb_is_reserved(const struct wh_sadb *sadb, uint32_t number)
{
	return atomic_load(&at(sadb, number)->state) == word_of(number, RESERVED);
}

const struct wh_sa_offer *wh_sa_take_offer(
	struct wh_sa *sa, const struct wh_address *peer, uint32_t queue)
{
	const struct wh_sa_offer *offer = &sa->config.offer;

	if (offer->queue != queue || !wh_address_equal(&offer->peer, peer) ||
		atomic_exchange(&sa->offer_taken, true))
		return NULL;
	return offer;
}

void wh_sa_share(struct wh_sa *sa)
{
	uint64_t before = atomic_fetch_add(&sa->state, 1);

	WH_ASSERT((before & HOLDERS) > 0 && (before & HOLDERS) < HOLDERS);
}

static void wipe(struct wh_sa *sa)
{
	wh_secret_wipe(&sa->config, sizeof(sa->config));
	wh_secret_wipe(sa->secret, sizeof(sa->secret));
	wh_secret_wipe(sa->raw, sizeof(sa->raw));
	atomic_store(&sa->state, 0);
}

void wh_sa_let_go(struct wh_sa *sa)
{
	if (sa == NULL)
		return;

	uint64_t before = atomic_fetch_sub(&sa->state, 1);

	WH_ASSERT((before & RESERVED) == 0 && (before & HOLDERS) > 0);
	if ((before & HOLDERS) == 1)
		wipe(sa);
}

void wh_sa_end(struct wh_sa *sa)
{
	atomic_fetch_or(&sa->state, OVER);
}

void wh_sa_revoke(struct wh_sa *sa)
{
	atomic_store(&sa->revoked, true);
	wh_sa_end(sa);
}

/* The result belongs to this doubt only, not to a later one. */
void wh_sa_clear_doubt(struct wh_sa *sa, uint64_t doubted_tsc)
{
	WH_ASSERT(doubted_tsc != 0);
	atomic_compare_exchange_strong(&sa->doubted_tsc, &doubted_tsc, 0);
}

void wh_sa_confirm_doubt(struct wh_sa *sa, uint64_t doubted_tsc)
{
	WH_ASSERT(doubted_tsc != 0);
	if (atomic_compare_exchange_strong(&sa->doubted_tsc, &doubted_tsc, WH_TSC_NEVER))
		wh_sa_end(sa);
}

bool wh_sa_is_alive(const struct wh_sa *sa)
{
	uint64_t word = atomic_load(&sa->state);

	return (word & HOLDERS) > 0 && (word & (RESERVED | OVER)) == 0;
}

uint32_t wh_sa_holders(const struct wh_sa *sa)
{
	return (uint32_t)(atomic_load(&sa->state) & HOLDERS);
}

uint32_t wh_sa_number(const struct wh_sa *sa)
{
	return number_in(atomic_load(&sa->state));
}
