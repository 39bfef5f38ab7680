/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_WIRE_TAG_H
#define WH_WIRE_TAG_H

/*
 * The 16-byte tag that says that a packet arrived as it was sent.
 *
 * With key number 0 it is a checksum and a token, and no proof of origin to who can read the path.
 * First come 8 bytes of XXH3-64 of the head's first 48 bytes, seeded with XXH3-64 of the body, and
 * XORed with the token, so that damage to either shows. Head and body are hashed apart so that a
 * payload may stay in chunk memory while its head is written into a packet.
 *
 * Then come the 8 bytes of the token, which the end that receives has chosen for the connection
 * (OPEN tells the initiator's, and half of ACCEPT's cookie is the acceptor's). Who cannot read the
 * path has to guess it: each forged packet is taken with a probability of 2^-64, and a million
 * of them a second for a year bring one through with a probability of 2 in a million.
 *
 * Keys from 1 on are for sealed packets (AES-GCM: the head is the associated data, the body is
 * encrypted), and need all 16 bytes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The token stands in the head already. */
void wh_tag_write(uint8_t *head, const uint8_t *body, size_t body_bytes);
bool wh_tag_agrees(const uint8_t *head, const uint8_t *body, size_t body_bytes);

/* The same while the body is copied; where the tag does not agree, `to` has its bytes even so. */
void wh_tag_write_copy(uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to);
bool wh_tag_agrees_copy(const uint8_t *head, const uint8_t *body, size_t body_bytes, uint8_t *to);

#endif
