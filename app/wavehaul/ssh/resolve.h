/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The addresses that the host of USER@HOST has here, with that port: of its name, or else of the
 * name that ssh's configuration has for it (`ssh -G`). ssh may reach it in another way, through
 * others: there may be none, which is no failure.
 */

#include <stdint.h>

#include "wire/encap.h"

uint32_t wh_ssh_resolve(const char *ssh, const char *host, uint16_t port,
	struct wh_address *address, uint32_t room);
