/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Two hosts that make a handshake over a line that loses, repeats, changes and delays. */

#include "base/prng.h"
#include "trust/pending.h"
#include "unit.h"

#define HZ UINT64_C(1000000000)
#define MS (HZ / 1000)

/* What each end of a line does to what it carries. */
struct line {
	uint64_t delay_tsc;
	uint32_t lost_percent;
	uint32_t twice_percent;
	uint32_t late_percent; /* by as much again, and more */
	uint32_t changed_percent;
};

struct flying {
	uint64_t at_tsc;
	uint32_t to;
	struct wh_handshake_datagram datagram;
};

struct host {
	struct wh_identity identity;
	struct wh_sadb sadb;
	struct wh_handshakes handshakes;
	struct wh_address address;
	enum wh_authorization authorization;
	bool knows; /* where the other one is */
	uint32_t asked;
	uint32_t told;
	uint32_t told_broken; /* of these, with a reason why there is no verdict */
	struct wh_handshakes_news news;
};

extern struct host hosts[2];
extern struct line line;
extern struct wh_prng prng;
extern uint64_t now_tsc;
extern bool busy; /* datagrams to host 1 wait for its core, and most of a flood are lost */
extern const uint8_t told_to_both[WH_COOKIE_BYTES]; /* which host 1 takes like its own */
extern bool thrown_back; /* each datagram comes to its sender, from the address it was for */

struct wh_address address_of(uint32_t host);
void open_hosts(bool same_key, bool believe_each_other);
void close_hosts(void);

/* As an endpoint of the host does with a datagram that has a cookie of its own. */
void post(uint32_t to, const struct wh_handshake_datagram *datagram);

/* A millisecond, or several. */
void step(void);
void run(uint32_t ms);

/* Host 0 looks for host 1 until it knows how that stands, or so long; how long it took, in ms. */
uint32_t meet(uint32_t ms, struct wh_attempt *attempt);

/* An SA that the host keeps; NULL: none. */
struct wh_sa *kept(uint32_t host);

/* Both have the same SA; that of the attempt is let go. */
void assert_has_sa(const struct wh_attempt *attempt);

/* The first bytes of a handshake, by somebody at `address` who says no more. */
struct wh_handshake_datagram half_open(const struct wh_address *address, uint64_t number);
struct wh_address stranger(uint32_t number);

/* So many at once in the eyes of the server; its answers go nowhere. */
void crowd_in(uint32_t from, uint32_t count);
