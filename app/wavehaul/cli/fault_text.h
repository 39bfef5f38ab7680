/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "bundle/record.h"
#include "session/session.h"

/*
 * What is wrong with a file and what to do, to follow its path and a colon: "is a folder; -r takes
 * it with all that is in it". `error` is an errno, of either sign. Written to `text`, which is
 * returned.
 */
#define WH_FAULT_TEXT_BYTES 200
const char *wh_fault_text(char text[WH_FAULT_TEXT_BYTES], enum wh_doing doing, int error);

/* Why a transfer stalled, from the sender's last limit. */
const char *wh_stall_text(enum wh_limit limit);
