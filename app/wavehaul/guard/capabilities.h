/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Capabilities of the calling thread, one bit each: capabilities(7). Makes only system calls. */

#include <stdint.h>

#define WH_CAPABILITY(number) (UINT64_C(1) << (number))

uint64_t wh_capabilities(void);

/* 0 or a negative errno. */
int wh_capabilities_keep(uint64_t keep);
