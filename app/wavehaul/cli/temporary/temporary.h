/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* The first usual place for temporary files with this much space; NULL: none. */
const char *wh_temporary_place(uint64_t bytes);
