/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_PACK_H
#define WH_PROFILE_PACK_H

#include "profile/profile.h"

extern const struct wh_profile wh_profile_pack;

#endif
