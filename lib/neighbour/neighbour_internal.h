/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Shared by the files of wh_neighbour only. */

#include "base/assert.h"
#include "base/clock.h"
#include "neighbour/frame.h"

static inline uint64_t wh_neighbour_ms_to_tsc(const struct wh_neighbour *neighbour, uint32_t ms)
{
	return wh_us_to_tsc(neighbour->config.hz, (uint64_t)ms * 1000);
}

static inline const struct wh_neighbour_subnet *wh_neighbour_subnet(
	const struct wh_neighbour_config *config, uint8_t family)
{
	return family == WH_IPV4 ? &config->ipv4 : &config->ipv6;
}

/* own_address.c */

static inline bool wh_neighbour_has_gateway(
	const struct wh_neighbour_subnet *subnet, uint8_t family)
{
	static const uint8_t none[16];

	return memcmp(subnet->gateway, none, wh_ip_address_bytes(family)) != 0;
}

struct wh_address wh_neighbour_address(uint8_t family, const uint8_t *ip);
bool wh_neighbour_on_link(
	const struct wh_neighbour_config *config, uint8_t family, const uint8_t *ip);

/* Whether it can be a host's address, as far as our subnet tells. */
bool wh_neighbour_is_host(
	const struct wh_neighbour_config *config, uint8_t family, const uint8_t *ip);
bool wh_neighbour_is_own(const struct wh_neighbour *neighbour, uint8_t family, const uint8_t *ip);

/* Our source address for that target. */
const uint8_t *wh_neighbour_source_ip(
	const struct wh_neighbour *neighbour, uint8_t family, const uint8_t *target_ip);

/* A frame claims our address for that MAC. Defends the address; returns WH_NEIGHBOUR_CONFLICT. */
enum wh_neighbour_reason wh_neighbour_meet_double(struct wh_neighbour *neighbour, uint64_t now_tsc,
	uint8_t family, const uint8_t *ip, const uint8_t mac[6]);

/* True: the conflict will be reported. False: one of its kind was reported recently. */
bool wh_neighbour_note_conflict(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_neighbour_conflict *conflict);

/* answers.c */

/*
 * Rate limits by kind of answer (paid_tsc) and by MAC; NULL: by kind only. _is_limited: whether
 * answers already given forbid another one now. _charge: one is given.
 */
bool wh_neighbour_is_limited(const struct wh_neighbour *neighbour, uint64_t now_tsc,
	uint64_t paid_tsc, const uint8_t mac[6]);
void wh_neighbour_charge(
	struct wh_neighbour *neighbour, uint64_t now_tsc, uint64_t *paid_tsc, const uint8_t mac[6]);

/*
 * Charges the asker of an ARP or NDP question, and returns room for the answer; or NULL, and why.
 */
struct wh_slot *wh_neighbour_admit(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *asker, const uint8_t mac[6], enum wh_neighbour_reason *reason);

/*
 * _begin returns a frame to write an answer into; NULL: `most` answers are waiting already. _end
 * queues the frame with its length.
 */
struct wh_slot *wh_neighbour_answer_begin(struct wh_neighbour *neighbour, uint32_t most);
void wh_neighbour_answer_end(
	struct wh_neighbour *neighbour, uint64_t now_tsc, struct wh_slot *slot, size_t bytes);

/* neighbour_table.c */

struct wh_neighbour_entry *wh_neighbour_find(
	const struct wh_neighbour *neighbour, const struct wh_address *address);

/* Records a lookup of a host on the link, and starts asking if necessary. */
enum wh_neighbour_result wh_neighbour_use(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *address, uint8_t mac[6]);

/*
 * Processes the claim that this MAC has that address. `answers`: the frame looks like an answer to
 * a question of ours. OK, CONTESTED, or NOT_ASKED if the address is unknown or was not asked for.
 */
enum wh_neighbour_reason wh_neighbour_hear(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *address, const uint8_t mac[6], bool answers);

/* Whether that is the known MAC of the address. */
bool wh_neighbour_knows(const struct wh_neighbour *neighbour, const struct wh_address *address,
	const uint8_t mac[6]);

/* Memory for config.entries: 0 or -ENOMEM. */
int wh_neighbour_table_init(struct wh_neighbour *neighbour);
void wh_neighbour_table_free(struct wh_neighbour *neighbour);

bool wh_neighbour_entry_has_mac(const struct wh_neighbour_entry *entry);

/* Fails entries that did not answer; returns the entry to ask for now, or NULL. */
struct wh_neighbour_entry *wh_neighbour_next_ask(struct wh_neighbour *neighbour, uint64_t now_tsc);

/*
 * _asks_itself: whether the next question goes to the neighbour itself; otherwise it goes to the
 * whole link. _asked: that question is being sent.
 */
bool wh_neighbour_asks_itself(const struct wh_neighbour_entry *entry);
void wh_neighbour_asked(
	struct wh_neighbour *neighbour, uint64_t now_tsc, struct wh_neighbour_entry *entry);

/* arp.c */

enum wh_neighbour_reason wh_neighbour_input_arp(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard);
size_t wh_neighbour_write_arp_question(const struct wh_neighbour *neighbour,
	const struct wh_neighbour_entry *entry, uint8_t *frame);
size_t wh_neighbour_write_arp_announcement(const struct wh_neighbour *neighbour, uint8_t *frame);

/* ndp.c */

enum wh_neighbour_reason wh_neighbour_input_solicitation(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard);
enum wh_neighbour_reason wh_neighbour_input_advertisement(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard);
size_t wh_neighbour_write_ndp_question(const struct wh_neighbour *neighbour,
	const struct wh_neighbour_entry *entry, uint8_t *frame);
size_t wh_neighbour_write_ndp_announcement(
	const struct wh_neighbour *neighbour, const uint8_t own_ip[16], uint8_t *frame);

/* echo.c */

enum wh_neighbour_reason wh_neighbour_input_echo(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard);

/* error.c: whether the message is an error about another packet; and takes such an error. */
bool wh_neighbour_is_error(const struct wh_heard *heard);
enum wh_neighbour_reason wh_neighbour_input_error(
	struct wh_neighbour *neighbour, const struct wh_heard *heard);

size_t wh_neighbour_output_echo(struct wh_neighbour *neighbour, uint64_t now_tsc, uint8_t *frame);

/* A MAC was resolved or failed: a waiting echo tries again. */
static inline void wh_neighbour_wake_echo(struct wh_neighbour *neighbour)
{
	if (neighbour->echo.state == WH_NEIGHBOUR_ECHO_WAITS)
		neighbour->echo.due_tsc = 0;
}
