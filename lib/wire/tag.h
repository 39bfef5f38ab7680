/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_WIRE_TAG_H
#define WH_WIRE_TAG_H

/*
 * The 16-byte tag that says that a packet arrived as it was sent.
 *
 * With key number 0 it is a checksum and not a proof of origin: 8 bytes of XXH3-64 of the head's
 * first 48 bytes, seeded with XXH3-64 of the body, then 8 bytes of zero. Head and body are hashed
 * apart so that a payload may stay in chunk memory while its head is written into a packet. Keys
 * from 1 on are for sealed packets (AES-GCM: the head is the associated data, the body is
 * encrypted), and need all 16 bytes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void wh_tag_write(uint8_t *head, const uint8_t *body, size_t body_bytes);
bool wh_tag_agrees(const uint8_t *head, const uint8_t *body, size_t body_bytes);

/* The same while the body is copied; where the tag does not agree, `to` has its bytes even so. */
void wh_tag_write_copy(uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to);
bool wh_tag_agrees_copy(const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to);

#endif
