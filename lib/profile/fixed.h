/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_FIXED_H
#define WH_PROFILE_FIXED_H

#include "profile/profile.h"

extern const struct wh_profile wh_profile_fixed;

#endif
