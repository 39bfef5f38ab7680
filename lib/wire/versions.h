/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_WIRE_VERSIONS_H
#define WH_WIRE_VERSIONS_H

/*
 * What every version of the format, past and to come, has in common, so that two ends which speak
 * different ones can say so. Of any packet the first byte is the version, never 0. OPEN and ASK are
 * the types (the second byte) WH_PACKET_OPEN and WH_PACKET_ASK and have WH_VERSIONS_BYTES at least.
 * A listener answers one of them of a version that it does not speak with this, and keeps nothing:
 *
 *    0  none    u8    0: of no version
 *    1  kind    u8    1
 *    2  least   u8    the listener speaks the versions from `least` ...
 *    3  most    u8    ... to `most`
 *    4  zero    4 B
 *    8  echo    88 B  the first bytes of what it answers
 *
 * The answer is no longer than what it answers, and being neither it is never answered itself. The
 * echo proves that it comes from where that went: its sender knows what it wrote.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WH_VERSIONS_BYTES 96

/* An answer to an OPEN or an ASK of ours. */
struct wh_versions {
	uint8_t least;
	uint8_t most;
	bool asked; /* ASK */
	/* Of what it answers. */
	uint64_t greeting;
	uint32_t initiator_lci;
	uint64_t first_serial;
};

/* Writes the answer to a packet of a version that is not ours; false: none is due. */
bool wh_versions_answer(const uint8_t *bytes, size_t length, uint8_t answer[WH_VERSIONS_BYTES]);

/* False: no such answer, or one that makes no sense. */
bool wh_versions_read(const uint8_t *bytes, size_t length, struct wh_versions *versions);

#endif
