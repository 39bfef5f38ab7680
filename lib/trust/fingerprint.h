/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_FINGERPRINT_H
#define WH_TRUST_FINGERPRINT_H

/*
 * Three notations of an identity, a SHA-256. To read out or compare: 20 letters and digits, the
 * first 100 bits. To picture: four scenes of four words, the 96 bits from bit 128 on; each place
 * has 64 words, so that a scene is always a sentence, as "calm otter paints ladders". A forgery
 * must match that many bits of whichever is compared. In files: all 256 bits in hexadecimal.
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
