/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What all versions of the format have in common, past and future, so that two ends with different
 * versions can tell each other. The first byte of any packet is the version, never 0. OPEN and ASK
 * have the types (second byte) WH_PACKET_OPEN and WH_PACKET_ASK and at least WH_VERSIONS_BYTES. If
 * a listener does not speak the version of an OPEN or ASK, it sends the following answer, and keeps
 * nothing:
 *
 *    0  none    u8    0: of no version
 *    1  kind    u8    1
 *    2  least   u8    the listener speaks the versions from `least` ...
 *    3  most    u8    ... to `most`
 *    4  zero    4 B
 *    8  echo    88 B  the first bytes of the packet that is answered
 *
 * The answer is no longer than what it answers, and is never answered itself. The echo proves that
 * the answer comes from the path of the original packet: the sender compares it with what it sent.
 *
 * Version 255 is spoken by nobody: an ASK of it has any length, and asks for this answer alone. So
 * a client learns how long packets may be that reach a server.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WH_VERSIONS_BYTES   96
#define WH_VERSIONS_NOBODYS 255

/* An answer to our OPEN or ASK. */
struct wh_versions {
	uint8_t least;
	uint8_t most;
	bool asked; /* to an ASK */
	/* From the echo. */
	uint64_t handshake;
	uint32_t initiator_cid;
	uint64_t first_pn;
};

/* Writes the answer to a packet of another version; false: it needs none. */
bool wh_versions_answer(const uint8_t *bytes, size_t length, uint8_t answer[WH_VERSIONS_BYTES]);

/* False: not such an answer, or an inconsistent one. */
bool wh_versions_read(const uint8_t *bytes, size_t length, struct wh_versions *versions);

/* Writes a question of that length, at least WH_VERSIONS_BYTES; nobody else knows the number. */
void wh_versions_ask(uint8_t *bytes, uint32_t length, uint64_t number);

/* Whether that answers a question with this number; *asked_bytes is that one's length. */
bool wh_versions_answers(
	const uint8_t *bytes, size_t length, uint64_t number, uint32_t *asked_bytes);
