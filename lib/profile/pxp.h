/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_PXP_H
#define WH_PROFILE_PXP_H

#include "profile/profile.h"

extern const struct wh_profile wh_profile_pxp;

#endif
