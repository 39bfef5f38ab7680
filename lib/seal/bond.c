/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/bond.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "seal/seal.h"

/*
 * State of a place: the number in the upper half, flags and the count of holders below. 0: vacant.
 * Only its owner touches a reserved place, and a bond whose count is 0 or that is over gets no new
 * holders. So whoever brings the count to 0 has it alone and may wipe it.
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

int wh_bonds_init(struct wh_bonds *bonds, uint32_t places)
{
	WH_ASSERT(places >= WH_BOND_PLACES_MIN && places <= WH_BOND_PLACES_MAX);
	WH_ASSERT((places & (places - 1)) == 0);
	*bonds = (struct wh_bonds){.places = places};
	bonds->bond = wh_secret_alloc(places * sizeof(*bonds->bond));
	return bonds->bond == NULL ? -ENOMEM : 0;
}

void wh_bonds_free(struct wh_bonds *bonds)
{
	wh_secret_free(bonds->bond, bonds->places * sizeof(*bonds->bond));
	*bonds = (struct wh_bonds){0};
}

static struct wh_bond *at(const struct wh_bonds *bonds, uint32_t number)
{
	return &bonds->bond[number & (bonds->places - 1)];
}

uint32_t wh_bonds_reserve(struct wh_bonds *bonds, uint32_t random)
{
	uint32_t mask = bonds->places - 1;

	for (uint32_t i = 0; i < bonds->places; i++) {
		uint32_t place = __atomic_fetch_add(&bonds->cursor, 1, __ATOMIC_RELAXED) & mask;
		uint32_t number = (random & ~mask) | place;
		uint64_t vacant = 0;

		if (number == 0)
			number = bonds->places;
		if (atomic_compare_exchange_strong(
			    &bonds->bond[place].state, &vacant, word_of(number, RESERVED)))
			return number;
	}
	return 0;
}

void wh_bonds_cancel(struct wh_bonds *bonds, uint32_t number)
{
	struct wh_bond *bond = at(bonds, number);

	WH_ASSERT(atomic_load(&bond->state) == word_of(number, RESERVED));
	atomic_store(&bond->state, 0);
}

/* Both ends, in the same order at each: the one that asked for the handshake first. */
struct party {
	uint32_t number;
	uint8_t identity[WH_IDENTITY_BYTES];
} __attribute__((packed));

static void derive(const struct wh_bond_config *config, uint32_t number, const char *purpose,
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

void wh_bond_derive(const struct wh_bond *bond, const char *purpose, const void *transcript,
	size_t transcript_bytes, uint8_t secret[WH_SECRET_BYTES])
{
	derive(&bond->config, wh_bond_number(bond), purpose, transcript, transcript_bytes, secret);
}

/* Keys of packets that the bond itself seals, one secret per direction. */
static void make_keys(struct wh_bond *bond, uint32_t number)
{
	static const char *const purposes[2] = {"bond, to asked", "bond, to asker"};
	const struct wh_bond_config *config = &bond->config;

	for (uint32_t by_us = 0; by_us < 2; by_us++) {
		const char *purpose = purposes[config->asked != (by_us == 1)];

		derive(config, number, purpose, NULL, 0, bond->secret[by_us]);
		wh_gcm_derive(&bond->raw[by_us], config->cipher, bond->secret[by_us], 0);
	}
}

/* The key for packets about a number. */
static void key_about(
	const struct wh_bond *bond, bool by_us, uint64_t about, struct wh_gcm_raw *raw)
{
	if (about == 0)
		*raw = bond->raw[by_us];
	else
		wh_gcm_derive(raw, bond->config.cipher, bond->secret[by_us], about);
}

bool wh_bond_close(const struct wh_bond *bond, uint64_t about, uint8_t *packet, size_t packet_bytes)
{
	struct wh_gcm_raw raw;

	key_about(bond, true, about, &raw);

	bool closed = wh_gcm_close_packet(&raw, packet, packet_bytes);

	wh_secret_wipe(&raw, sizeof(raw));
	return closed;
}

void wh_bond_opening_key(const struct wh_bond *bond, uint64_t about, struct wh_gcm_raw *raw)
{
	key_about(bond, false, about, raw);
}

void wh_bond_log_key(const struct wh_bond *bond, bool by_us, uint64_t about, const char *use,
	uint32_t identifier)
{
	wh_seal_log_secret(identifier, bond->config.cipher, use, bond->secret[by_us], about);
}

void wh_bond_closing_key(const struct wh_bond *bond, uint64_t about, struct wh_gcm_raw *raw)
{
	key_about(bond, true, about, raw);
}

bool wh_bond_open(const struct wh_bond *bond, uint64_t about, uint8_t *packet, size_t packet_bytes)
{
	struct wh_gcm_raw raw;

	key_about(bond, false, about, &raw);

	bool opened = wh_gcm_open_packet(&raw, packet, packet_bytes);

	wh_secret_wipe(&raw, sizeof(raw));
	return opened;
}

struct wh_bond *wh_bonds_fill(
	struct wh_bonds *bonds, uint32_t number, const struct wh_bond_config *config)
{
	struct wh_bond *bond = at(bonds, number);

	WH_ASSERT(atomic_load(&bond->state) == word_of(number, RESERVED));
	WH_ASSERT(config->cipher > 0 && config->cipher < WH_CIPHERS);
	bond->config = *config;
	atomic_store(&bond->sent, 0);
	bond->probed_end = 0;
	atomic_store(&bond->hinted, false);
	atomic_store(&bond->doubted_tsc, 0);
	atomic_store(&bond->successor, 0);
	atomic_store(&bond->offer_taken, config->offer.offered.lci == 0);
	atomic_store(&bond->revoked, false);
	make_keys(bond, number);
	wh_bond_log_key(bond, false, 0, "bond", number);
	wh_bond_log_key(bond, true, 0, "bond", config->peer_number);
	atomic_store_explicit(&bond->state, word_of(number, 1), memory_order_release);
	return bond;
}

struct wh_bond *wh_bonds_hold(struct wh_bonds *bonds, uint32_t number)
{
	struct wh_bond *bond = at(bonds, number);
	uint64_t word = atomic_load(&bond->state);

	do {
		if (number_in(word) != number || (word & (RESERVED | OVER)) != 0 ||
			(word & HOLDERS) == 0 || (word & HOLDERS) == HOLDERS)
			return NULL;
	} while (!atomic_compare_exchange_weak(&bond->state, &word, word + 1));
	return bond;
}

bool wh_bonds_is_reserved(const struct wh_bonds *bonds, uint32_t number)
{
	return atomic_load(&at(bonds, number)->state) == word_of(number, RESERVED);
}

const struct wh_bond_offer *wh_bond_take_offer(
	struct wh_bond *bond, const struct wh_address *peer, uint32_t queue)
{
	const struct wh_bond_offer *offer = &bond->config.offer;

	if (offer->queue != queue || !wh_address_equal(&offer->peer, peer) ||
		atomic_exchange(&bond->offer_taken, true))
		return NULL;
	return offer;
}

void wh_bond_share(struct wh_bond *bond)
{
	uint64_t before = atomic_fetch_add(&bond->state, 1);

	WH_ASSERT((before & HOLDERS) > 0 && (before & HOLDERS) < HOLDERS);
}

static void wipe(struct wh_bond *bond)
{
	wh_secret_wipe(&bond->config, sizeof(bond->config));
	wh_secret_wipe(bond->secret, sizeof(bond->secret));
	wh_secret_wipe(bond->raw, sizeof(bond->raw));
	atomic_store(&bond->state, 0);
}

void wh_bond_let_go(struct wh_bond *bond)
{
	if (bond == NULL)
		return;

	uint64_t before = atomic_fetch_sub(&bond->state, 1);

	WH_ASSERT((before & RESERVED) == 0 && (before & HOLDERS) > 0);
	if ((before & HOLDERS) == 1)
		wipe(bond);
}

void wh_bond_end(struct wh_bond *bond)
{
	atomic_fetch_or(&bond->state, OVER);
}

void wh_bond_revoke(struct wh_bond *bond)
{
	atomic_store(&bond->revoked, true);
	wh_bond_end(bond);
}

/* The result belongs to this doubt only, not to a later one. */
void wh_bond_clear_doubt(struct wh_bond *bond, uint64_t doubted_tsc)
{
	WH_ASSERT(doubted_tsc != 0);
	atomic_compare_exchange_strong(&bond->doubted_tsc, &doubted_tsc, 0);
}

void wh_bond_confirm_doubt(struct wh_bond *bond, uint64_t doubted_tsc)
{
	WH_ASSERT(doubted_tsc != 0);
	if (atomic_compare_exchange_strong(&bond->doubted_tsc, &doubted_tsc, WH_TSC_NEVER))
		wh_bond_end(bond);
}

bool wh_bond_is_alive(const struct wh_bond *bond)
{
	uint64_t word = atomic_load(&bond->state);

	return (word & HOLDERS) > 0 && (word & (RESERVED | OVER)) == 0;
}

uint32_t wh_bond_holders(const struct wh_bond *bond)
{
	return (uint32_t)(atomic_load(&bond->state) & HOLDERS);
}

uint32_t wh_bond_number(const struct wh_bond *bond)
{
	return number_in(atomic_load(&bond->state));
}
