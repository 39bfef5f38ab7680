/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_FINGERPRINT_H
#define WH_TRUST_FINGERPRINT_H

/*
 * Three notations of an identity, which is a SHA-256:
 *
 *   text    to read out or compare: the first 100 bits, 20 characters of Crockford's Base32
 *   scenes  to picture: the 96 bits from bit 128 on, four scenes of four words. Each place of a
 *           scene has 64 words, so that a scene is always a sentence: "calm otter paints ladders"
 *   id      in files: all 256 bits in hexadecimal
 *
 * A forgery must match all bits of the notation that is compared.
 */

#include <stdbool.h>
#include <stdint.h>

#include "trust/identity.h"

#define WH_FINGERPRINT_BITS  100
#define WH_FINGERPRINT_BYTES 25 /* five groups of four, four '-', the end */
#define WH_SCENES            4
#define WH_SCENE_WORDS       4
#define WH_SCENE_BITS        (WH_SCENES * WH_SCENE_WORDS * 6)
#define WH_SCENE_BYTES       48
#define WH_ID_TEXT_BYTES     (sizeof("sha256:") + 2 * WH_IDENTITY_BYTES)

/* Each returns the text that it has written. */
const char *wh_fingerprint_text(
	const uint8_t id[WH_IDENTITY_BYTES], char text[WH_FINGERPRINT_BYTES]);
const char *wh_fingerprint_scene(
	const uint8_t id[WH_IDENTITY_BYTES], uint32_t scene, char text[WH_SCENE_BYTES]);

/* "sha256:" and 64 digits. wh_id_read returns false for any other text. */
const char *wh_id_text(const uint8_t id[WH_IDENTITY_BYTES], char text[WH_ID_TEXT_BYTES]);
bool wh_id_read(const char *text, uint8_t id[WH_IDENTITY_BYTES]);

#endif
