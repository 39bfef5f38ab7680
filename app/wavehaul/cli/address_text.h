/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"

#define WH_ADDRESS_TEXT_BYTES 64

/* Size of a host as written, with its terminator. */
#define WH_HOST_BYTES 256

/* "192.0.2.1" or "2001:db8::1", without the port; returns text. */
const char *wh_address_text(const struct wh_address *address, char text[WH_ADDRESS_TEXT_BYTES]);

/* Parses exactly such a text. False: it is not one. */
bool wh_address_parse(const char *text, struct wh_address *address);

struct wh_subnet {
	struct wh_address address; /* port 0; family 0: not given */
	uint8_t prefix_bits;
};

/* ADDRESS/BITS, with at least low_bits; false: invalid. Modifies the text. */
bool wh_subnet_parse(char *text, uint64_t low_bits, struct wh_subnet *subnet);

/* Whether `address` (any port) is in the subnet. */
bool wh_subnet_has(const struct wh_subnet *subnet, const struct wh_address *address);

/*
 * HOST as an operator writes it: an address, or a name that the system resolves to a family that we
 * have. 0 and the address (port 0); or -EINVAL and one sentence on stderr, which names `peers` as
 * the folder in which it was looked for before.
 */
int wh_address_resolve(
	const char *host, bool ipv4, bool ipv6, const char *peers, struct wh_address *address);

/* HOST as the operator wrote it, and behind a name its address: "dtn2 (192.0.2.2)". */
#define WH_HOST_TEXT_BYTES (WH_HOST_BYTES + WH_ADDRESS_TEXT_BYTES)
const char *wh_host_text(
	const char *host, const struct wh_address *address, char text[WH_HOST_TEXT_BYTES]);

/*
 * The path in an operand HOST:PATH or [HOST]:PATH, as a pointer into the text; "." if empty. `host`
 * is empty, or the host of the previous operands: all must name the same. NULL after one sentence.
 */
const char *wh_remote_path(const char *text, char host[WH_HOST_BYTES]);
